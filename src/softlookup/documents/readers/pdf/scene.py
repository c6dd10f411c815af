"""What a page shows besides text: pictures and painted areas, in pdfium's process; nothing is rendered.

It answers three questions: is the page a picture of text, does a picture lie under invisible text, and is there
anything behind white text. Objects inside a form count with the form's box.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

import pypdfium2 as pdfium

raw = pdfium.raw
_MAX_OBJECTS = 20_000
_DEPTH = 3  # forms in forms
_WHITE = 245


@dataclass(slots=True)
class Scene:
    """Boxes [left, bottom, right, top] of pictures and of painted areas that are not white; count of path segments."""

    images: list[list[float]] = field(default_factory=list)
    grounds: list[list[float]] = field(default_factory=list)
    segments: int = 0


def scene(page: pdfium.PdfPage) -> Scene:
    """Pictures and painted areas of ``page``."""
    seen = Scene()
    for index in range(min(raw.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        item = raw.FPDFPage_GetObject(page, index)
        image, ground = _kind(item, seen, _DEPTH)
        if not (image or ground):
            continue
        box = _bounds(item)
        if image:
            seen.images.append(box)
        if ground:
            seen.grounds.append(box)
    return seen


def _kind(item: Any, seen: Scene, depth: int) -> tuple[bool, bool]:
    """(shows a picture, covers what lies under it); counts the segments of paths on the way."""
    kind = raw.FPDFPageObj_GetType(item)
    if kind == raw.FPDF_PAGEOBJ_IMAGE:
        return True, True
    if kind == raw.FPDF_PAGEOBJ_SHADING:
        return False, True
    if kind == raw.FPDF_PAGEOBJ_PATH:
        seen.segments += max(0, raw.FPDFPath_CountSegments(item))
        return False, _is_painted(item)
    image = ground = False
    if kind == raw.FPDF_PAGEOBJ_FORM and depth:
        for index in range(min(raw.FPDFFormObj_CountObjects(item), _MAX_OBJECTS)):
            inner_image, inner_ground = _kind(raw.FPDFFormObj_GetObject(item, index), seen, depth - 1)
            image, ground = image or inner_image, ground or inner_ground
    return image, ground


def _is_painted(path: Any) -> bool:
    """True for a path that is filled with anything but white."""
    mode, stroke = ctypes.c_int(), ctypes.c_int()
    if not raw.FPDFPath_GetDrawMode(path, mode, stroke) or mode.value == 0:
        return False
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not raw.FPDFPageObj_GetFillColor(path, red, green, blue, alpha):
        return True  # a pattern
    return alpha.value > 0 and min(red.value, green.value, blue.value) < _WHITE


def _bounds(item: Any) -> list[float]:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(item, left, bottom, right, top):
        return [0.0, 0.0, 0.0, 0.0]
    return [round(side.value, 2) for side in (left, bottom, right, top)]
