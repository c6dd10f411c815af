"""Lines that are drawn out of order go where they stand: what is above and over another line comes first.

Programs draw a page number before the text, or a heading after the table below it. Lines beside each other keep the
order in which they are drawn, so that columns and cells stay whole.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from softlookup.documents.readers.pdf_layout import Line, Page

_MOST_LINES = 800
_OVERLAP = 0.25  # share of the lower height that lines above each other may share


def top_down(page: Page) -> Page:
    """The page with every line after all lines that stand above it; unchanged when it is so already."""
    placed = [line for line in page.lines if _is_placed(line)]
    if len(placed) > _MOST_LINES or not _goes_up(placed):
        return page
    followers: list[list[Line]] = []  # what has no place of its own follows the line before it
    leading: list[Line] = []
    for line in page.lines:
        if _is_placed(line):
            followers.append([])
        else:
            (followers[-1] if followers else leading).append(line)
    ordered = list(leading)
    for index in _order(placed):
        ordered += [placed[index], *followers[index]]
    return replace(page, lines=tuple(ordered))


def _is_placed(line: Line) -> bool:
    return line.aside is None and line.flag != "rotated" and line.top > line.bottom


def _goes_up(lines: Sequence[Line]) -> bool:
    """True when some line stands clearly above one that is drawn before it, and over it."""
    floor = float("inf")
    for index, line in enumerate(lines):
        if line.bottom > floor:
            for before in lines[:index]:
                if line.bottom >= before.top - _OVERLAP * min(line.height, before.height) and (
                    min(line.right, before.right) > max(line.left, before.left)
                ):
                    return True
        floor = min(floor, line.bottom)
    return False


def _order(lines: Sequence[Line]) -> list[int]:
    """Indices such that lines above come first; else as drawn."""
    sides = np.array([(line.left, line.bottom, line.right, line.top) for line in lines])
    left, bottom, right, top = sides.T
    height = top - bottom
    shared = _OVERLAP * np.minimum(height[:, None], height[None, :])
    above = bottom[:, None] >= top[None, :] - shared
    over = np.minimum(right[:, None], right[None, :]) > np.maximum(left[:, None], left[None, :])
    first = above & over & ~(above & over).T
    waiting = first.sum(axis=0)
    ready = [int(i) for i in np.flatnonzero(waiting == 0)]
    heapq.heapify(ready)
    found: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        found.append(index)
        for later in np.flatnonzero(first[index]):
            waiting[later] -= 1
            if waiting[later] == 0:
                heapq.heappush(ready, int(later))
    placed = set(found)
    return found + [i for i in range(len(lines)) if i not in placed]
