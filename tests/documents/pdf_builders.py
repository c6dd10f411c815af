"""A small PDF writer for tests: every construct that the reader must know, as plain text in a few lines.

Not for general use: fonts are the standard ones (and one Chinese font by name), nothing is compressed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

LETTER = (0.0, 0.0, 612.0, 792.0)
# widths of Helvetica in thousandths, as every viewer has them: blank to tilde
HELVETICA = (
    "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 "
    "584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 "
    "667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 "
    "278 556 500 722 500 500 500 334 260 334 584"
)
_WIDTHS = tuple(int(width) for width in HELVETICA.split())
PAD = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def width(text: str, size: float = 11.0) -> float:
    """Advance of ``text`` in Helvetica, in points."""
    return sum(_WIDTHS[ord(character) - 32] for character in text) * size / 1000


@dataclass(frozen=True)
class Words:
    """Text at (x, y), turned by ``matrix`` (a, b, c, d).

    ``font`` is F1 (Helvetica), F2 (Chinese), F3 (no map) or F4 (any).
    """

    x: float
    y: float
    text: str
    size: float = 11.0
    mode: int = 0
    colour: tuple[float, float, float] | None = None
    matrix: tuple[float, float, float, float] = (1, 0, 0, 1)
    font: str = "F1"

    def drawn(self) -> bytes:
        colour = b"" if self.colour is None else b"%g %g %g rg " % self.colour
        place = b"%g %g %g %g %g %g Tm " % (*self.matrix, self.x, self.y)
        if self.font == "F1":
            shown = (
                b"("
                + self.text.encode("cp1252")
                .translate(None)
                .replace(b"\\", b"\\\\")
                .replace(b"(", b"\\(")
                .replace(b")", b"\\)")
                + b")"
            )
        else:
            shown = b"<" + self.text.encode("utf-16-be").hex().encode() + b">"
        head = b"q BT %s/%s %g Tf %d Tr %s" % (colour, self.font.encode(), self.size, self.mode, place)
        return head + shown + b" Tj ET Q\n"


@dataclass
class Sheet:
    """A page: drawn words, then raw operators; ``extra`` are further entries of its dictionary."""

    words: list[Words] = field(default_factory=list)
    before: bytes = b""  # drawn under the words
    after: bytes = b""
    box: tuple[float, float, float, float] = LETTER
    crop: tuple[float, float, float, float] | None = None
    rotate: int = 0
    extra: bytes = b""
    image: tuple[float, float, float, float] | None = None  # x, y, width, height of a grey picture under the words


def sheet(lines: list[tuple[float, float, str]], **more: object) -> Sheet:
    """A page of Helvetica lines (x, y, text)."""
    return Sheet([Words(x, y, text) for x, y, text in lines], **more)  # type: ignore[arg-type]


@dataclass
class Writer:
    """Collects objects; numbers count from 1. Objects 1 to 9 are the catalogue, the page tree and resources."""

    objects: list[bytes] = field(default_factory=lambda: [b""] * 9)
    catalogue: bytes = b""
    trailer: bytes = b""

    def add(self, body: bytes) -> int:
        self.objects.append(body)
        return len(self.objects)

    def stream(self, content: bytes, entries: bytes = b"") -> int:
        return self.add(b"<< /Length %d %s>>\nstream\n%s\nendstream" % (len(content), entries, content))

    def finish(self) -> bytes:
        out = bytearray(b"%PDF-1.7\n")
        offsets = []
        for number, body in enumerate(self.objects, 1):
            offsets.append(len(out))
            out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
        start = len(out)
        out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(self.objects) + 1)
        out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
        out += b"trailer << /Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n" % (
            len(self.objects) + 1,
            self.trailer,
            start,
        )
        return bytes(out)


def build(
    sheets: list[Sheet], *, catalogue: bytes = b"", writer: Writer | None = None, count: int | None = None
) -> bytes:
    """The PDF of ``sheets``; ``catalogue`` are further entries of the document catalogue."""
    pdf = writer or Writer()
    resources = b"<< /Font << /F1 3 0 R /F2 4 0 R /F3 6 0 R /F4 8 0 R >> /XObject << /Im1 7 0 R >> >>"
    kids = []
    for page in sheets:
        drawn = page.before
        if page.image:
            x, y, wide, high = page.image
            drawn += b"q %g 0 0 %g %g %g cm /Im1 Do Q\n" % (wide, high, x, y)
        drawn += b"".join(words.drawn() for words in page.words) + page.after
        content = pdf.stream(drawn)
        crop = b"" if page.crop is None else b"/CropBox [%g %g %g %g] " % page.crop
        kids.append(
            pdf.add(
                b"<< /Type /Page /Parent 2 0 R /MediaBox [%g %g %g %g] %s/Rotate %d /Contents %d 0 R /Resources %s %s>>"
                % (*page.box, crop, page.rotate, content, resources, page.extra)
            )
        )
    pdf.objects[0] = b"<< /Type /Catalog /Pages 2 0 R %s >>" % (catalogue + pdf.catalogue)
    pages = b" ".join(b"%d 0 R" % kid for kid in kids)
    pdf.objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids) if count is None else count, pages)
    pdf.objects[2] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    pdf.objects[3] = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /UniGB-UCS2-H /DescendantFonts [5 0 R] >>"
    )
    pdf.objects[4] = (
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 4 >> "
        b"/FontDescriptor << /Type /FontDescriptor /FontName /STSong-Light /Flags 6 /FontBBox [-25 -254 1000 880] "
        b"/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 880 /StemV 93 >> >>"
    )
    pdf.objects[5] = (
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Lost /Encoding /Identity-H /DescendantFonts [<< /Type /Font "
        b"/Subtype /CIDFontType2 /BaseFont /Lost /DW 600 "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
    )
    pdf.objects[7] = pdf.objects[5].replace(b"/Encoding", b"/ToUnicode 9 0 R /Encoding").replace(b"Lost", b"Any")
    ranges = b"1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfrange <0000> <FFFF> <0000> endbfrange"
    pdf.objects[8] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(ranges), ranges)
    pdf.objects[6] = (
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length 1 >>\nstream\n\x80\nendstream"
    )
    return pdf.finish()


def rc4(key: bytes, data: bytes) -> bytes:
    """RC4, which the oldest PDF encryption uses."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out = bytearray()
    i = j = 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def encrypted(sheets: list[Sheet], *, user: bytes = b"", owner: bytes = b"owner") -> bytes:
    """The PDF of ``sheets`` behind 40-bit encryption; with an empty ``user`` password it opens for everyone."""
    pdf = Writer()
    build(sheets, writer=pdf)
    identity = b"0123456789abcdef"
    padded = (user + PAD)[:32]
    sealed = rc4(hashlib.md5((owner + PAD)[:32]).digest()[:5], padded)
    rights = -64
    key = hashlib.md5(padded + sealed + rights.to_bytes(4, "little", signed=True) + identity).digest()[:5]
    for number, body in enumerate(pdf.objects, 1):
        if b"stream\n" in body:
            head, _, rest = body.partition(b"stream\n")
            content = rest[: -len(b"\nendstream")]
            own = hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10]
            pdf.objects[number - 1] = head + b"stream\n" + rc4(own, content) + b"\nendstream"
    lock = pdf.add(
        b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d >>"
        % (sealed.hex().encode(), rc4(key, PAD).hex().encode(), rights)
    )
    pdf.trailer = b"/Encrypt %d 0 R /ID [<%s> <%s>] " % (lock, identity.hex().encode(), identity.hex().encode())
    return pdf.finish()


def long_contract(pages: int = 200, characters: int = 4000) -> bytes:
    """A contract of ``pages`` dense pages, some ``characters`` on each, with running header and page number."""
    line = "the tenant shall pay rent for each boat that lies in the house and keep it clean dry and safe"
    words = line.split()
    sheets = []
    at = 0
    for number in range(1, pages + 1):
        drawn = [Words(72, 775, "Reed Quay Lease of a Boat House", 8), Words(300, 20, f"Page {number} of {pages}", 8)]
        y, total, clause = 755.0, 0, 1
        while y > 30 and total < characters:
            line = f"{number}.{clause} Duty." if total % 5 == 0 or not drawn[2:] else ""
            clause += bool(line)
            while width(f"{line} {words[at % len(words)]}", 7) < 468:
                line = f"{line} {words[at % len(words)]}".strip()
                at += 7 if at % 3 else 5
            drawn.append(Words(72, y, line + ("." if at % 4 == 0 else ""), 7))
            total += len(line)
            y -= 8.6
        sheets.append(Sheet(drawn))
    return build(sheets)
