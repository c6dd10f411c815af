"""Hostile and awkward files in memory, one builder per kind; no assertions here. Harmless outside a parser."""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

import hashlib
import io
import random
import struct
import warnings
import zipfile
import zlib

from .builders import docx, paragraph
from .fuzz_seeds import assembled

RENT = "1. Rent. The tenant pays ten a month.", "2. Term. The lease runs for a year."
LEASE = "".join(paragraph(line) for line in RENT)
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
BILLION = '<!DOCTYPE x [<!ENTITY a "ha">{}]>'.format(
    "".join('<!ENTITY {} "{}">'.format(b, f"&{a};" * 10) for a, b in zip("abcdefgh", "bcdefghi", strict=True))
)


def with_members(data: bytes, members: list[tuple[str, bytes]]) -> bytes:
    """The zip ``data`` with further members, of the same name too."""
    buffer = io.BytesIO(data)
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")  # zipfile warns of duplicate names
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def related(body: str, relations: list[tuple[str, str]], members: dict[str, str | bytes], **options: str) -> bytes:
    """A DOCX whose main part has ``relations`` (kind, target); ``members`` are further parts."""
    outside = ' TargetMode="External"'
    rows = "".join(
        f'<Relationship Id="r{at}" Type="{_REL}/{kind}" Target="{target}"{outside if "://" in target else ""}/>'
        for at, (kind, target) in enumerate(relations, 1)
    )
    rels = f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{rows}</Relationships>'
    return docx(body, {"word/_rels/document.xml.rels": rels, **members}, **options)  # type: ignore[dict-item]


def zip_of_zips(depth: int) -> bytes:
    """Zips in zips, ten copies on each level; the innermost holds 10 MB of zeros."""
    content = bytes(10_000_000)
    for _ in range(depth):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for copy in range(10):
                archive.writestr(f"{copy}.zip", content)
        content = buffer.getvalue()
    return content


def lying_sizes(data: bytes, name: str, size: int) -> bytes:
    """The zip ``data`` whose directories say that member ``name`` has ``size`` bytes unpacked."""
    out = bytearray(data)
    encoded = name.encode()
    for mark, at_size, at_name in ((b"PK\x03\x04", 22, 30), (b"PK\x01\x02", 24, 46)):
        place = 0
        while (place := out.find(mark, place)) >= 0:
            if out[place + at_name : place + at_name + len(encoded)] == encoded:
                out[place + at_size : place + at_size + 4] = struct.pack("<I", size)
            place += 4
    return bytes(out)


def overlapping(copies: int) -> bytes:
    """A DOCX whose directory names one compressed member of 30 MB ``copies`` times: it unpacks to far more."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", "x" * 7_000_000)
        original = archive.filelist[0]
        for copy in range(copies):
            info = zipfile.ZipInfo(f"word/{copy}.xml")
            for attribute in ("header_offset", "CRC", "compress_size", "file_size", "compress_type"):
                setattr(info, attribute, getattr(original, attribute))
            archive.filelist.append(info)
        archive._didModify = True
    return buffer.getvalue()


def long_text_node(megabytes: int) -> str:
    """Text that deflate packs about 60 to 1, below what counts as a bomb."""
    source = random.Random(3)
    block = "".join(source.choices("abcdefghij klmnop", k=600)) + "rent " * 19_880
    return block * (megabytes * 1_000_000 // len(block))


def deep(tag: str, depth: int, inner: str = "") -> str:
    """``inner`` inside ``depth`` elements."""
    return f"<{tag}>" * depth + inner + f"</{tag}>" * depth


def nested_tables(depth: int) -> str:
    """A table in a cell of a table ..., each with one paragraph of its own."""
    body = paragraph("1. innermost")
    for at in range(depth):
        body = f"<w:tbl><w:tr><w:tc>{paragraph(f'cell {at}')}{body}{paragraph()}</w:tc></w:tr></w:tbl>"
    return body


# --- PDF ---------------------------------------------------------------------------------------------------------

FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"


def stream(content: bytes, entries: bytes = b"", *, flate: int = 0) -> bytes:
    """A stream object, compressed ``flate`` times."""
    for _ in range(flate):
        content = zlib.compress(content, 9)
    how = b" /Filter [%s]" % (b" /FlateDecode" * flate) if flate else b""
    return b"<< /Length %d%s%s >>\nstream\n%s\nendstream" % (len(content), how, entries, content)


def drawn(*lines: tuple[float, float, str], size: float = 11) -> bytes:
    """Content that prints each (x, y, text) in Helvetica."""
    text = "".join(f"BT /F1 {size:g} Tf {x:g} {y:g} Td ({_escaped(t)}) Tj ET\n" for x, y, t in lines)
    return text.encode("latin-1")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def pdf_pages(
    contents: list[bytes], *, entries: bytes = b"", box: bytes = b"[0 0 612 792]", extra: tuple[bytes, ...] = (),
    resources: bytes = b"", trailer: bytes = b"", catalog: bytes = b"", pages: bytes = b"", font: bytes = FONT,
) -> bytes:  # fmt: skip
    """One page per content object (a stream, or drawing operators).

    Objects: 1 catalogue, 2 page tree, 3 font, then ``extra`` from 4, then content and page of every page.
    """
    objects = [b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog, b"", font, *extra]
    kids = []
    for content in contents:
        objects.append(content if content.endswith(b"endstream") else stream(content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox %s /Contents %d 0 R %s /Resources << /Font << /F1 3 0 R >> %s >> >>"
            % (box, len(objects), entries, resources)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = pages or b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    return assembled(objects, trailer=trailer)


def image(width: int, height: int, data: bytes = b"\x80", *, flate: int = 0) -> bytes:
    """A grey picture object that claims ``width`` times ``height`` pixels."""
    return stream(
        data,
        b" /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceGray /BitsPerComponent 8" % (width, height),
        flate=flate,
    )  # fmt: skip


WHOLE_PAGE_IMAGE = b"q 612 0 0 792 0 0 cm /Im1 Do Q\n"
IMAGE_RESOURCE = b"/XObject << /Im1 4 0 R >>"


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    at = 0
    for place in range(256):
        at = (at + state[place] + key[place % len(key)]) % 256
        state[place], state[at] = state[at], state[place]
    out, first, second = bytearray(), 0, 0
    for byte in data:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        out.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(out)


_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def encrypted_pdf(line: str, *, user: str = "", owner: str = "secret") -> bytes:
    """A PDF of one line under the 40-bit standard security handler; it opens with ``user``."""
    permissions = -64  # nothing but viewing
    padded_user = (user.encode("latin-1") + _PADDING)[:32]
    owner_key = hashlib.md5((owner.encode("latin-1") + _PADDING)[:32]).digest()[:5]
    owner_entry = _rc4(owner_key, padded_user)
    identifier = b"0123456789abcdef"
    key = hashlib.md5(padded_user + owner_entry + struct.pack("<i", permissions) + identifier).digest()[:5]
    user_entry = _rc4(key, _PADDING)
    number = 4  # of the content object: each object has its own key
    object_key = hashlib.md5(key + struct.pack("<I", number)[:3] + b"\0\0").digest()[:10]
    content = stream(_rc4(object_key, drawn((72, 700, line))))
    encrypt = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P %d >>" % (
        owner_entry.hex().encode(), user_entry.hex().encode(), permissions,
    )  # fmt: skip
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [5 0 R] >>", FONT, content,
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 3 0 R >> >> >>",
        encrypt,
    ]  # fmt: skip
    hexed = identifier.hex().encode()
    return assembled(objects, trailer=b"/Encrypt 6 0 R /ID [<%s> <%s>]" % (hexed, hexed))


def mapped_font(codes: dict[int, int]) -> tuple[bytes, bytes]:
    """(font, its ToUnicode stream as object 4): byte codes that mean other characters."""
    rows = b"".join(b"<%02X> <%04X>\n" % pair for pair in codes.items())
    cmap = (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <FF> endcodespacerange\n%d beginbfchar\n%sendbfchar\n"
        b"endcmap CMapName currentdict /CMap defineresource pop end end" % (len(codes), rows)
    )
    return b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 4 0 R >>", stream(cmap)


# --- others ------------------------------------------------------------------------------------------------------

OLE2 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
WORD_LOCK = b"\x04Alma" + b" " * 49 + b"\x04\0" + "Alma".encode("utf-16-le") + b" \0" * 50
OFFICE_LOCK = b",alma,desk,30.11.2026 06:00,file:///home/alma/.config/libreoffice/4;"


def truncations(data: bytes) -> list[bytes]:
    """``data`` cut after every sixteenth of it."""
    return [data[: len(data) * part // 16] for part in range(1, 16)]
