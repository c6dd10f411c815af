"""Which characters of a page nobody sees, and why: white, tiny, off the page, or painted without ink.

Hidden text may carry instructions to whoever reads a contract by machine; it must neither reach the reading text
nor vanish. What it says is not judged here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from softlookup.documents.model import Flag
from softlookup.documents.readers.pdf.frames import DrawnText, PageFrame, Rectangle
from softlookup.documents.readers.pdf.geometry import Geometry, Sides

SEEN = 0
_NO_INK, _LOW_CONTRAST, _TINY, _OFF_PAGE, _OCR_LAYER = 1, 2, 3, 4, 5
FLAGS: tuple[Flag | None, ...] = (None, "hidden", "low_contrast", "tiny", "offpage", "ocr_layer")
_INVISIBLE_MODES = (3, 7)  # neither fills nor strokes
_FILL_MODES = (0, 4)
_WHITE = 245
_LEAST_SIZE = 1.0  # points
_MOST_AREAS = 2_000  # pictures and painted areas that are looked at


def visibility(
    frame: PageFrame, owners: NDArray[np.int32], boxes: NDArray[np.float32], sides: Sides, geometry: Geometry
) -> NDArray[np.int8]:
    """Per character: 0 for seen, else the place of its reason in ``FLAGS``; ``boxes`` as in the frame."""
    if not frame.texts:
        return np.zeros(len(owners), np.int8)
    kinds = np.array([_kind(text) for text in frame.texts] + [SEEN], np.int8)  # the last is for owner -1
    found = kinds[owners]
    if kinds.any():
        across, up = (boxes[:, 0] + boxes[:, 2]) / 2, (boxes[:, 1] + boxes[:, 3]) / 2
        no_ink = np.flatnonzero(found == _NO_INK)
        found[no_ink[_within(across[no_ink], up[no_ink], frame.images)]] = _OCR_LAYER
        white = np.flatnonzero(found == _LOW_CONTRAST)
        found[white[_within(across[white], up[white], frame.grounds)]] = SEEN
    left, bottom, right, top = sides
    outside = (right < 0) | (left > geometry.width) | (top < 0) | (bottom > geometry.height)
    outside &= owners >= 0
    if outside.any():
        found[_whole_words(outside, np.frombuffer(frame.codes, "<u4"))] = _OFF_PAGE
    return found


def _whole_words(outside: NDArray[np.bool_], codes: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """``outside`` without the words that are partly on the page."""
    blank = codes <= 0x20
    starts = np.ones(len(codes), np.bool_)
    starts[1:] = blank[1:] | blank[:-1]
    words = np.logical_and.reduceat(outside, np.flatnonzero(starts))
    found: NDArray[np.bool_] = words[np.cumsum(starts) - 1]
    return found


def _kind(text: DrawnText) -> int:
    colour = text.colour
    if text.mode in _INVISIBLE_MODES or (text.mode in _FILL_MODES and colour is not None and colour[3] == 0):
        return _NO_INK
    if text.is_small and text.size < _LEAST_SIZE:
        return _TINY
    if text.mode in _FILL_MODES and colour is not None and min(colour[:3]) >= _WHITE:
        return _LOW_CONTRAST
    return SEEN


def _within(across: NDArray[np.floating], up: NDArray[np.floating], areas: tuple[Rectangle, ...]) -> NDArray[np.bool_]:
    """Which points lie in one of ``areas``."""
    found = np.zeros(len(across), np.bool_)
    for left, bottom, right, top in areas[:_MOST_AREAS]:
        found |= (across >= left) & (across <= right) & (up >= bottom) & (up <= top)
    return found


def image_cover(frame: PageFrame) -> float:
    """Share of the visible page that pictures cover, at most 1; overlaps count twice."""
    left, bottom, right, top = frame.bounds
    area = max(1e-9, (right - left) * (top - bottom))
    covered = 0.0
    for x1, y1, x2, y2 in frame.images:
        covered += max(0.0, min(x2, right) - max(x1, left)) * max(0.0, min(y2, top) - max(y1, bottom))
    return min(1.0, covered / area)
