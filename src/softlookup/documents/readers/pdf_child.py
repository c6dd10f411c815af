"""The process that runs pdfium: PDF bytes on stdin, one JSON line per page on stdout; nothing else.

It is started by ``pdf.py`` with limits on memory and time, because a hostile file may crash or hang pdfium.
No other module imports this one, so pdfium stays out of every other process.
Run as ``python -m softlookup.documents.readers.pdf_child SECONDS BYTES``.
"""

from __future__ import annotations

import json
import re
import resource
import sys
from typing import Any

import pypdfium2 as pdfium

_MAX_PAGES = 20_000
_MAX_SIDE = 14_400.0  # points; the largest page the format allows
_FEW_CHARACTERS = 20
_WIDE_GAP = 8.0  # points
_BLANK = re.compile(r"(?<=\S)[ \xa0]+(?=\S)")
_GLUED_LABEL = re.compile(r"\s*(?:\d{1,3}(?:\.\d{1,3})*\.?|\([a-zA-Z0-9]{1,5}\)|[a-zA-Z][.)])(?=[A-Za-z\"“(\[])")


def main() -> int:
    """Read stdin, write pages to stdout; the exit status tells only a crash from an end."""
    seconds, size = int(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    data = sys.stdin.buffer.read()
    try:
        _read(data)
    except MemoryError:
        _write({"error": "memory"})
    return 0


def _write(row: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(row) + "\n")
    sys.stdout.flush()


def _read(data: bytes) -> None:
    try:
        document = pdfium.PdfDocument(data)
        count = len(document)
    except pdfium.PdfiumError as error:
        _write(
            {
                "error": "password" if getattr(error, "err_code", 0) == 4 else "damaged",
                "detail": str(error)[:200],
            }
        )
        return
    _write({"pages": count, "protected": _is_protected(document), "attachments": _attachments(document)})
    has_forms = _init_forms(document)
    for number in range(min(count, _MAX_PAGES)):
        try:
            _write({"page": number + 1, **_page(document, number, has_forms=has_forms)})
        except (pdfium.PdfiumError, ValueError, OSError, UnicodeError) as error:
            _write({"page": number + 1, "state": "failed", "reason": str(error)[:200], "lines": []})
    _write({"end": True})


def _is_protected(document: pdfium.PdfDocument) -> bool:
    return int(pdfium.raw.FPDF_GetSecurityHandlerRevision(document)) >= 0


def _attachments(document: pdfium.PdfDocument) -> int:
    return int(document.count_attachments())


def _init_forms(document: pdfium.PdfDocument) -> bool:
    if document.get_formtype() == 0:
        return False
    document.init_forms()
    return True


def _page(document: pdfium.PdfDocument, number: int, *, has_forms: bool) -> dict[str, Any]:
    page = document[number]
    if has_forms:  # field values become text only when the page is flattened and opened again
        pdfium.raw.FPDFPage_Flatten(page, 0)
        page.close()
        page = document[number]
    width, height = page.get_size()
    if max(width, height) > _MAX_SIDE:
        return {"state": "failed", "reason": f"page of {width:.0f} x {height:.0f} points", "lines": []}
    textpage = page.get_textpage()
    lines = _lines(textpage)
    row: dict[str, Any] = {"width": width, "height": height, "lines": lines, "state": "read"}
    characters = sum(len(line[0].strip()) for line in lines)
    if characters < _FEW_CHARACTERS:
        cover = _image_cover(page, width * height)
        row["state"] = "scanned" if cover >= 0.5 else ("empty" if characters == 0 else "read")
    textpage.close()
    page.close()
    return row


def _lines(textpage: pdfium.PdfTextPage) -> list[list[Any]]:
    """[text, left, bottom, right, top, gaps] per line, in points from the lower left corner.

    A gap is [place in the text, right end before it, left end after it] of a blank much wider than a character.
    """
    text = textpage.get_text_range()
    aligned = textpage.count_chars() == len(text)
    found: list[list[Any]] = []
    offset = 0
    for raw in re.split(r"(?<=[\n\ufffe])", text):  # pdfium prints no line end after a word cut by a hyphen
        line = raw.rstrip("\r\n")
        if line.strip() and aligned:
            box = _box(textpage, line, offset)
            height = box[3] - box[1]
            gaps = _gaps(textpage, line, offset, height)
            at = _lost_blank(textpage, line, offset, height)
            if at:
                line = f"{line[:at]} {line[at:]}"
                gaps = [(place + 1, end, start) for place, end, start in gaps]
            found.append([line, *box, gaps])
        elif line.strip():
            found.append([line, 0.0, 0.0, 0.0, 0.0, []])
        offset += len(raw)
    return found


def _gaps(textpage: pdfium.PdfTextPage, line: str, offset: int, height: float) -> list[tuple[int, float, float]]:
    found: list[tuple[int, float, float]] = []
    for match in _BLANK.finditer(line):
        end, start = _around(textpage, offset + match.start(), offset + match.end())
        if start - end > max(_WIDE_GAP, 0.8 * height):
            found.append((match.end(), round(end, 1), round(start, 1)))
    return found


def _lost_blank(textpage: pdfium.PdfTextPage, line: str, offset: int, height: float) -> int:
    """End of the line's label where the page shows a blank after it but has no character for it; else 0."""
    label = _GLUED_LABEL.match(line)
    if label is None:
        return 0
    end, start = _around(textpage, offset + label.end(), offset + label.end())
    return label.end() if start - end > max(0.3, 0.05 * height) else 0


def _around(textpage: pdfium.PdfTextPage, first: int, last: int) -> tuple[float, float]:
    """Right end of the character before ``first`` and left end of the one at ``last``."""
    return textpage.get_charbox(first - 1, loose=True)[2], textpage.get_charbox(last, loose=True)[0]


def _box(textpage: pdfium.PdfTextPage, line: str, offset: int) -> tuple[float, float, float, float]:
    first = offset + len(line) - len(line.lstrip())
    last = offset + len(line.rstrip()) - 1
    left, bottom, _, top = textpage.get_charbox(first, loose=True)
    _, _, right, _ = textpage.get_charbox(last, loose=True)
    return round(left, 1), round(bottom, 1), round(right, 1), round(top, 1)


def _image_cover(page: pdfium.PdfPage, area: float) -> float:
    covered = 0.0
    for item in page.get_objects(filter=[pdfium.raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        left, bottom, right, top = item.get_bounds() if hasattr(item, "get_bounds") else item.get_pos()
        covered += max(0.0, right - left) * max(0.0, top - bottom)
    return covered / area if area > 0 else 0.0


if __name__ == "__main__":
    sys.exit(main())
