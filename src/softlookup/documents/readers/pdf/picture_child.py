"""The process that draws pages: a PDF on stdin, one frame with grey levels per page on stdout; nothing else.

It is started by ``pictures.py`` with limits on memory and time, as the one that reads the text is. Run as
``python -m softlookup.documents.readers.pdf.picture_child SECONDS BYTES``, with a line of JSON (password, page numbers,
dots per inch) before the PDF on stdin.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
from typing import Any, BinaryIO

import pypdfium2 as pdfium

from softlookup.documents.readers.pdf import frames as pdf_frames
from softlookup.documents.readers.pdf.child import frames_only, limit
from softlookup.documents.readers.pdf.extract import MAX_SIDE

MAX_PIXELS = 6_000_000  # of one page; a page larger than A2 is drawn more coarsely


def main() -> int:
    """Read stdin, write frames to stdout; the exit status tells only a crash from an end."""
    limit(int(sys.argv[1]), int(sys.argv[2]))
    with frames_only() as out:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        try:
            request = json.loads(sys.stdin.buffer.readline())
            _draw(sys.stdin.buffer.read(), request, out)
        except BrokenPipeError:
            os._exit(0)
    return 0


def _draw(data: bytes, request: dict[str, Any], out: BinaryIO) -> None:
    try:
        document = pdfium.PdfDocument(data, password=request["password"])
    except pdfium.PdfiumError as error:
        pdf_frames.write(out, {"error": str(error)[:200]})
        return
    if document.get_formtype() != 0:
        document.init_forms()  # else what is filled in is not drawn
    for number in request["pages"]:
        try:
            head, levels = _page(document, number, request["dpi"])
        except (pdfium.PdfiumError, ValueError, OSError, MemoryError, IndexError) as error:
            head, levels = {"failed": str(error)[:200]}, b""
        pdf_frames.write(out, {"page": number, **head}, levels)
    pdf_frames.write(out, {"end": True})


def _page(document: pdfium.PdfDocument, number: int, dpi: float) -> tuple[dict[str, Any], bytes]:
    """Size in points and pixels, and one byte per pixel, row by row."""
    if not 1 <= number <= len(document):
        raise IndexError(f"there are {len(document)} pages")
    page = document[number - 1]
    width, height = page.get_size()
    if min(width, height) <= 0 or max(width, height) > MAX_SIDE:
        raise ValueError(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(dpi / 72, math.sqrt(MAX_PIXELS / (width * height)))
    grey = page.render(scale=scale, grayscale=True).to_numpy()
    rows, columns = grey.shape[:2]
    page.close()
    return {"width": width, "height": height, "columns": columns, "rows": rows}, grey.tobytes()


if __name__ == "__main__":
    sys.exit(main())
