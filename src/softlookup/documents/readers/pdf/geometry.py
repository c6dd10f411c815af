"""Turns the coordinates of a PDF file into those of the page as displayed; no text here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from softlookup.documents.readers.pdf.frames import PageFrame, Rectangle

Floats = NDArray[np.float32]
Sides = tuple[Floats, Floats, Floats, Floats]  # left, bottom, right, top

UPRIGHT = 0
TURNED = 3  # 1 to 3: by as many quarters, counter-clockwise
SLANTED = 4
_STRAIGHT = 0.15  # sine of the angle up to which a line counts as straight


@dataclass(frozen=True, slots=True)
class Geometry:
    """The visible part of a page (in the file's coordinates) and how often it is shown turned by 90 degrees."""

    bounds: Rectangle
    rotation: int  # quarters, clockwise

    @classmethod
    def of(cls, frame: PageFrame) -> Geometry:
        """The geometry that the file states."""
        return cls(frame.bounds, (frame.rotation // 90) % 4)

    @property
    def width(self) -> float:
        """Of the page as displayed, in points."""
        left, bottom, right, top = self.bounds
        return top - bottom if self.rotation % 2 else right - left

    @property
    def height(self) -> float:
        """Of the page as displayed, in points."""
        left, bottom, right, top = self.bounds
        return right - left if self.rotation % 2 else top - bottom

    def turned(self, quarters: int) -> Geometry:
        """The same page turned clockwise by ``quarters`` more, so that text running upwards runs to the right."""
        return Geometry(self.bounds, (self.rotation + quarters) % 4)

    def displayed(self, boxes: Floats) -> Sides:
        """Sides of boxes given as (left, top, right, bottom) in the file's coordinates."""
        left, bottom, right, top = self.bounds
        x1, y1, x2, y2 = boxes[:, 0], boxes[:, 3], boxes[:, 2], boxes[:, 1]
        x1, x2 = np.minimum(x1, x2), np.maximum(x1, x2)
        y1, y2 = np.minimum(y1, y2), np.maximum(y1, y2)
        if self.rotation == 0:
            return x1 - left, y1 - bottom, x2 - left, y2 - bottom
        if self.rotation == 1:
            return y1 - bottom, right - x2, y2 - bottom, right - x1
        if self.rotation == 2:
            return right - x2, top - y2, right - x1, top - y1
        return top - y2, x1 - left, top - y1, x2 - left


def unturned(box: Rectangle, turn: int, width: float, height: float) -> Rectangle:
    """Box on the displayed page of a box on the page turned clockwise by ``turn`` more, ``width`` x ``height``."""
    left, bottom, right, top = box
    if turn == 1:
        return height - top, left, height - bottom, right
    if turn == 2:
        return width - right, height - top, width - left, height - bottom
    if turn == 3:
        return bottom, width - right, top, width - left
    return box


def directions(frame: PageFrame, rotation: int) -> NDArray[np.int8]:
    """Per drawn text: quarters counter-clockwise by which it is turned on the displayed page; 4 for slanted."""
    if not frame.texts:
        return np.zeros(0, np.int8)
    found = []
    for text in frame.texts:
        across, up = text.direction
        for _ in range(rotation):
            across, up = up, -across
        if abs(up) <= _STRAIGHT:
            found.append(0 if across >= 0 else 2)
        elif abs(across) <= _STRAIGHT:
            found.append(1 if up > 0 else 3)
        else:
            found.append(SLANTED)
    return np.array(found, np.int8)
