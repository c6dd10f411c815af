"""Takes characters, boxes and what matters of the drawing from one page with pdfium; runs in its process only.

There are up to a million characters to ask about, one call each: the calls go through prototypes that take plain
addresses and write into one array, which is ten times as fast as the usual wrappers. No layout is undone here.
"""

from __future__ import annotations

import ctypes
import itertools
import math
from array import array
from collections import deque
from typing import Any

import pypdfium2 as pdfium

from softlookup.documents.readers.pdf.scene import Scene, scene

raw = pdfium.raw
MAX_SIDE = 14_400.0  # points; the largest page the format allows
MAX_CHARACTERS = 400_000  # on one page
_MAX_NOTES = 500  # annotations on one page
_MAX_NOTE_LENGTH = 20_000
_FEW_CHARACTERS = 300  # with fewer, the page may be a picture
_SAMPLED = 16  # every so many characters is asked whether it has a Unicode value
_TINY = 1.3  # points; text in a smaller box is small whatever its font says
_INVISIBLE = 3  # text render mode
_WHITE = 245  # of 255
_FREE_TEXT, _NOTES = 3, (1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14)  # annotation subtypes whose words are comments
_WIDGET = 20
_HIDDEN_NOTE = 0x2  # annotation flag

_POINTER, _INT, _FLOAT, _UINT = ctypes.c_void_p, ctypes.c_int, ctypes.c_float, ctypes.c_uint


def _native(function: Any, result: Any, *arguments: Any) -> Any:
    """The same pdfium function, called with plain numbers for pointers."""
    address = ctypes.cast(function, _POINTER).value or 0
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


class Extractor:
    """Reads pages of one open document."""

    def __init__(self, document: pdfium.PdfDocument) -> None:
        self._document = document
        self._has_forms = document.get_formtype() != 0
        if self._has_forms:
            document.init_forms()
        self._box = _native(raw.FPDFText_GetLooseCharBox, _INT, _POINTER, _INT, _POINTER)
        self._unicode = _native(raw.FPDFText_GetUnicode, _UINT, _POINTER, _INT)
        self._unmapped = _native(raw.FPDFText_HasUnicodeMapError, _INT, _POINTER, _INT)
        self._owner = _native(raw.FPDFText_GetTextObject, _POINTER, _POINTER, _INT)
        self._matrix = _native(raw.FPDFText_GetMatrix, _INT, _POINTER, _INT, _POINTER)
        self._size = _native(raw.FPDFText_GetFontSize, ctypes.c_double, _POINTER, _INT)
        self._mode = _native(raw.FPDFTextObj_GetTextRenderMode, _INT, _POINTER)
        self._fill = _native(raw.FPDFPageObj_GetFillColor, _INT, *[_POINTER] * 5)

    def page(self, number: int) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        """Head and body of the frame of page ``number`` (from 0)."""
        page = self._document[number]
        fields, notes = _annotations(page, printed_too=not self._has_forms)
        if self._has_forms:  # field values become text only when the page is flattened and opened again
            raw.FPDFPage_Flatten(page, 0)
            page.close()
            page = self._document[number]
        width, height = page.get_size()
        if not 0 < max(width, height) <= MAX_SIDE:
            return {"failed": f"a page of {width:.0f} x {height:.0f} points"}, ()
        textpage = page.get_textpage()
        try:
            head, body = self._characters(page, textpage)
        finally:
            textpage.close()
        bounds = raw.FS_RECTF()
        raw.FPDF_GetPageBoundingBox(page, bounds)
        head |= {
            "bounds": [bounds.left, bounds.bottom, bounds.right, bounds.top],
            "rotation": page.get_rotation(),
            "label": _label(self._document, number),
            "fields": fields,
            "notes": notes,
        }
        page.close()
        return head, body

    def _characters(
        self, page: pdfium.PdfPage, textpage: pdfium.PdfTextPage
    ) -> tuple[dict[str, Any], tuple[bytes, ...]]:
        handle = ctypes.cast(textpage.raw, _POINTER).value
        total = textpage.count_chars()
        count = min(total, MAX_CHARACTERS)
        boxes = (_FLOAT * (4 * count))()
        start = ctypes.addressof(boxes)
        same = itertools.repeat(handle)
        deque(map(self._box, same, range(count), range(start, start + 16 * count, 16)), maxlen=0)
        codes = self._codes(textpage, handle, count, cut=total > count)
        drawn = list(map(self._owner, same, range(count)))
        texts, owners = self._texts(handle, drawn, boxes)
        asked = range(0, count, _SAMPLED)
        unmapped = sum(map(self._unmapped, same, asked)) / max(1, len(asked))
        painted = sum(1 for owner in drawn if owner)
        seen = self._scene(page, texts, painted)
        head = {
            "texts": texts,
            "unmapped": round(unmapped, 4),
            "images": seen.images,
            "grounds": seen.grounds,
            "paths": seen.segments,
            "pictures": len(seen.images),
            "cut": total > count,
        }
        return head, (codes, bytes(boxes), owners.tobytes())

    def _codes(self, textpage: pdfium.PdfTextPage, handle: int | None, count: int, *, cut: bool) -> bytes:
        """32-bit code points, one per character of pdfium's count."""
        if not cut:
            text = textpage.get_text_range()
            if len(text) == count:
                return bytes(text.encode("utf-32-le", "surrogatepass"))
        return array("I", map(self._unicode, itertools.repeat(handle), range(count))).tobytes()

    def _texts(self, handle: int | None, drawn: list[int | None], boxes: Any) -> tuple[list[list[Any]], array[int]]:
        """[render mode, fill colour, direction across and up, size, is small] per drawn string; whose each one is."""
        index: dict[int | None, int] = {None: -1}
        texts: list[list[Any]] = []
        matrix, colour = raw.FS_MATRIX(), (_UINT * 4)()
        to_matrix, to_colour = ctypes.addressof(matrix), ctypes.addressof(colour)
        for first, owner in enumerate(drawn):
            if owner in index:
                continue
            index[owner] = len(texts)
            fill = None
            if self._fill(owner, to_colour, to_colour + 4, to_colour + 8, to_colour + 12):
                fill = list(colour)
            self._matrix(handle, first, to_matrix)
            length = math.hypot(matrix.a, matrix.b) or 1.0
            left, top, right, bottom = boxes[4 * first : 4 * first + 4]
            size = round(self._size(handle, first) * math.hypot(matrix.c, matrix.d), 3)
            is_small = max(abs(right - left), abs(top - bottom)) < _TINY
            way = (round(matrix.a / length, 3), round(matrix.b / length, 3))
            texts.append([self._mode(owner), fill, *way, size, is_small])
        return texts, array("i", map(index.__getitem__, drawn))

    def _scene(self, page: pdfium.PdfPage, texts: list[list[Any]], painted: int) -> Scene:
        """Pictures and painted areas, looked for only where something depends on them."""
        doubtful = any(text[0] == _INVISIBLE or (text[1] and min(text[1][:3]) >= _WHITE) for text in texts)
        return scene(page) if doubtful or painted < _FEW_CHARACTERS else Scene()


def _label(document: pdfium.PdfDocument, number: int) -> str:
    try:
        return str(document.get_page_label(number))[:40]
    except (pdfium.PdfiumError, UnicodeError, ValueError):
        return ""


def _annotations(page: pdfium.PdfPage, *, printed_too: bool) -> tuple[int, list[list[Any]]]:
    """(number of form fields, [kind, text, box] per annotation with words); ``printed_too``: FreeText as well."""
    fields = 0
    notes: list[list[Any]] = []
    for index in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_NOTES)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        subtype = raw.FPDFAnnot_GetSubtype(annotation)
        fields += subtype == _WIDGET
        printed = subtype == _FREE_TEXT and printed_too
        if printed or subtype in _NOTES:
            text = _contents(annotation)
            if text.strip() and not raw.FPDFAnnot_GetFlags(annotation) & _HIDDEN_NOTE:
                box = raw.FS_RECTF()
                raw.FPDFAnnot_GetRect(annotation, box)
                where = [box.left, box.bottom, box.right, box.top]
                notes.append(["text" if printed else "note", text, where])
        raw.FPDFPage_CloseAnnot(annotation)
    return fields, notes


def _contents(annotation: Any) -> str:
    length = min(raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0), 2 * _MAX_NOTE_LENGTH)
    if length <= 2:
        return ""
    buffer = (raw.FPDF_WCHAR * (length // 2))()
    raw.FPDFAnnot_GetStringValue(annotation, b"Contents", buffer, length)
    return bytes(buffer)[: length - 2].decode("utf-16-le", "replace")
