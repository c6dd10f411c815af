"""The process that renders scanned pages and recognises their text: a PDF on stdin, one frame per page on stdout.

It is started by ``pdf_ocr.py``. The models lie inside the ``rapidocr`` package of the optional extra ``[ocr]``;
nothing is fetched. Run as ``python -m softlookup.documents.readers.pdf.ocr_child SECONDS BYTES RECOGNISER``, with a
line of JSON (password and page numbers) before the PDF on stdin.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pypdfium2 as pdfium

from softlookup.documents.readers.pdf import frames as pdf_frames
from softlookup.documents.readers.pdf.child import frames_only, limit
from softlookup.documents.readers.pdf.extract import MAX_SIDE

_LONG_SIDE = 2000.0  # pixels; the recogniser looks at no more
_MOST_SCALE = 4.0  # pixels per point
_INK = 200  # of 255; darker is ink
_MARGIN = 24  # pixels left around the ink
_SURE = 0.8  # mean score below which the page may be turned


@dataclass(frozen=True, slots=True)
class Word:
    """What was recognised in a box of the picture: left, top, right, bottom in pixels from the upper left."""

    text: str
    score: float
    box: tuple[float, float, float, float]


Recogniser = Callable[[Any], Sequence[Word]]


def main() -> int:
    """Read stdin, write frames to stdout."""
    limit(int(sys.argv[1]), int(sys.argv[2]))
    module, _, name = sys.argv[3].partition(":")
    with frames_only() as out:
        request = json.loads(sys.stdin.buffer.readline())
        data = sys.stdin.buffer.read()
        try:
            recognise: Recogniser = getattr(importlib.import_module(module), name)()
            _read(data, request, recognise, out)
        except BrokenPipeError:
            os._exit(0)
    return 0


def _read(data: bytes, request: dict[str, Any], recognise: Recogniser, out: BinaryIO) -> None:
    document = pdfium.PdfDocument(data, password=request["password"])
    for number in request["pages"]:
        try:
            turn, lines = _page(document[number - 1], recognise)
        except (pdfium.PdfiumError, ValueError, OSError, MemoryError, RuntimeError) as error:
            pdf_frames.write(out, {"page": number, "failed": str(error)[:200]})
            continue
        pdf_frames.write(out, {"page": number, "turn": turn, "lines": lines})
    pdf_frames.write(out, {"end": True})


def _page(page: pdfium.PdfPage, recognise: Recogniser) -> tuple[int, list[list[Any]]]:
    """How often the page has to be turned (by 90 degrees, clockwise) to be read, and what stands on it.

    That is [text, score, left, bottom, right, top] in points on the page as displayed.
    """
    width, height = page.get_size()
    if not 0 < max(width, height) <= MAX_SIDE:
        raise ValueError(f"a page of {width:.0f} x {height:.0f} points")
    scale = min(_MOST_SCALE, _LONG_SIDE / max(width, height))
    picture = page.render(scale=scale).to_numpy()[:, :, :3]
    found = []
    turn, words = upright(np.ascontiguousarray(picture), recognise)
    for word in words:
        left, top, right, bottom = (side / scale for side in word.box)
        box = [round(side, 2) for side in (left, height - bottom, right, height - top)]
        found.append([word.text, round(word.score, 4), *box])
    return turn, found


def upright(picture: Any, recognise: Recogniser) -> tuple[int, list[Word]]:
    """Words of the picture in its own coordinates; a page scanned sideways or upside down is turned first.

    The number tells by how many quarters, clockwise.
    """
    left, top, inked = _trimmed(picture)
    if inked is None:
        return 0, []
    best = list(recognise(inked))
    turn = 0
    for quarters in (1, 3, 2) if _is_doubtful(best) else ():
        words = list(recognise(np.ascontiguousarray(np.rot90(inked, quarters))))
        if _worth(words) > 1.1 * _worth(best):
            best, turn = words, quarters
    high, wide = inked.shape[:2]
    words = [Word(w.text, w.score, _shifted(_turned_back(w.box, turn, wide, high), left, top)) for w in best]
    return (4 - turn) % 4, words


def _trimmed(picture: Any) -> tuple[int, int, Any]:
    """(left, top, the part with ink); a few words on an empty page are missed otherwise."""
    ink = picture.min(axis=2) < _INK
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return 0, 0, None
    top, left = max(0, int(rows[0]) - _MARGIN), max(0, int(columns[0]) - _MARGIN)
    bottom, right = int(rows[-1]) + _MARGIN, int(columns[-1]) + _MARGIN
    return left, top, np.ascontiguousarray(picture[top:bottom, left:right])


def _is_doubtful(words: Sequence[Word]) -> bool:
    if not words:
        return True
    tall = sum(w.box[3] - w.box[1] > 1.5 * (w.box[2] - w.box[0]) for w in words)
    sure = sum(w.score * len(w.text) for w in words) >= _SURE * sum(len(w.text) for w in words)
    return tall > 0.5 * len(words) or not sure


def _worth(words: Sequence[Word]) -> float:
    return sum(len(w.text) * w.score**4 for w in words)


Box = tuple[float, float, float, float]


def _turned_back(box: Box, quarters: int, wide: int, high: int) -> Box:
    """Box in the picture (``wide`` x ``high``) of a box in the one turned counter-clockwise by ``quarters``."""
    x1, y1, x2, y2 = box
    if quarters == 1:
        return wide - y2, x1, wide - y1, x2
    if quarters == 2:
        return wide - x2, high - y2, wide - x1, high - y1
    if quarters == 3:
        return y1, high - x2, y2, high - x1
    return box


def _shifted(box: Box, left: int, top: int) -> Box:
    return box[0] + left, box[1] + top, box[2] + left, box[3] + top


def rapid() -> Recogniser:
    """The recogniser of the ``rapidocr`` package (PP-OCR models, Chinese and English)."""
    from rapidocr import RapidOCR  # the extra [ocr]

    threads = max(1, min(8, os.cpu_count() or 1))
    settings = {
        "Global.log_level": "critical",
        "Global.use_cls": False,  # whole pages are turned here
        "EngineConfig.onnxruntime.intra_op_num_threads": threads,
    }
    engine = RapidOCR(params=settings)

    def recognise(picture: Any) -> list[Word]:
        result = engine(picture)
        if result.txts is None or result.boxes is None:
            return []
        words = []
        for text, score, corners in zip(result.txts, result.scores, result.boxes, strict=True):
            across, down = [float(c[0]) for c in corners], [float(c[1]) for c in corners]
            words.append(Word(str(text), float(score), (min(across), min(down), max(across), max(down))))
        return words

    return recognise


if __name__ == "__main__":
    sys.exit(main())
