"""Lines that are drawn out of order go where they stand: what is above and over another line comes first.

Programs draw a page number before the text, or a heading after the table below it. Lines beside each other keep the
order in which they are drawn, so that columns and cells stay whole; only what is filled into a form goes to the
words beside it. Pieces of one printed line, which a raised number has cut, become one.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from softlookup.documents.readers.pdf.hyphens import MARKS
from softlookup.documents.readers.pdf.lines import Line, Page

_MOST_LINES = 800
_ROW = 0.5  # share of the lower height that pieces of one printed line share
_WIDEST = 4.0  # line heights between pieces of one line
_NO_BLANK = 0.12
_TAB = 2.2
_GAP = 8.0  # points
_BESIDE = 0.2  # share of lines with another one beside them in a page of columns
_OVERLAP = 0.25  # share of the lower height that lines above each other may share


def top_down(page: Page) -> Page:
    """The page with every line after all lines that stand above it; unchanged when it is so already."""
    if page.has_fields:
        page = replace(page, lines=_filled(page.lines))
    page = replace(page, lines=tuple(_whole(page.lines)))
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


def _filled(lines: Sequence[Line]) -> tuple[Line, ...]:
    """The lines of a form: what is drawn after the page has been drawn goes behind the line that it stands in."""
    ordered: list[Line] = []
    for line in lines:
        at = len(ordered)
        if _is_placed(line) and ordered and line.bottom > ordered[-1].bottom + ordered[-1].height:
            beside = [i for i, other in enumerate(ordered) if _in_row(other, line) and other.left < line.left]
            at = max(beside, key=lambda i: ordered[i].right) + 1 if beside else at
        ordered.insert(at, line)
    return tuple(ordered)


def _in_row(one: Line, other: Line) -> bool:
    """True when the two stand beside each other."""
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return _is_placed(one) and shared >= _ROW * min(one.height, other.height)


def _whole(lines: Sequence[Line]) -> list[Line]:
    """Lines of which neighbouring pieces of one printed line have become one."""
    found: list[Line] = []
    for line in lines:
        before = found[-1] if found else None
        if before is not None and _continues(before, line):
            found[-1] = _one(before, line)
        else:
            found.append(line)
    return found


def _continues(before: Line, line: Line) -> bool:
    if before.flag != line.flag or not _is_placed(before) or not _is_placed(line) or before.text.endswith(MARKS):
        return False
    room = line.left - before.right
    return _in_row(before, line) and -1.0 <= room <= _WIDEST * max(before.height, line.height)


def _one(before: Line, line: Line) -> Line:
    """The two pieces as one line, with a blank or a tab where there is room for it."""
    room, height = line.left - before.right, max(before.height, line.height)
    between = "" if room < _NO_BLANK * height else "\t" if room > _TAB * height else " "
    edges = b""
    if before.edges and line.edges:
        edges = before.edges + len(between) * (before.edges[-4:] * 2) + line.edges
    at = len(before.text) + len(between)
    gaps = [*before.gaps, *((at + place, end, start) for place, end, start in line.gaps)]
    if room > _GAP:
        gaps.insert(len(before.gaps), (at, before.right, line.left))
    return replace(
        before,
        text=f"{before.text}{between}{line.text}",
        bottom=min(before.bottom, line.bottom),
        right=max(before.right, line.right),
        top=max(before.top, line.top),
        gaps=tuple(gaps),
        edges=edges,
    )


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
    level = np.minimum(top[:, None], top[None, :]) - np.maximum(bottom[:, None], bottom[None, :]) > shared
    beside = (level & ~over).any(axis=1)
    if beside.mean() <= _BESIDE:  # one column: a short last line comes before the centred heading below it
        over[:] = True
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
