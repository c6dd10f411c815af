"""Puts the lines of a page with columns of text in reading order; leaves tables and plain pages alone.

pdfium gives lines in the order in which they are drawn. Where that order keeps jumping over the space between two
columns, each band of the page is read column by column instead, and the page is flagged, since no rule is sure.
Columns differ from a table in that their lines fill their width. Right-to-left pages keep their order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from softlookup.documents.readers.pdf.lines import Line, Page

_LEAST_LINES = 6  # in each column
_LEAST_HEIGHT = 0.6  # of the height of the text, for the space between columns
_LEAST_WIDTH = 0.15  # of the page width, for each column
_FILLED = 0.8  # a line as long as this share of its column fills it
_FILL = 0.6  # of the lines of a column fill it
_CROSSING = 0.35  # of the lines may run over the space: titles and the like
_STEP = 3.0  # points
_MOST_COLUMNS = 4
_MOST_LINES = 3_000


def in_reading_order(page: Page) -> Page:
    """The page with its lines column by column when they are drawn across columns, else unchanged."""
    body = [line for line in page.lines if line.aside is None and line.top > line.bottom]
    if len(body) < _LEAST_LINES or len(body) > _MOST_LINES:
        return page
    parts = [part for line in page.lines for part in _parts(line)]
    gutters = _gutters(page, [part for part in parts if part.aside is None and part.top > part.bottom])
    if not gutters:
        return page
    drawn = [part for line in page.lines for part in _split(line, gutters)]
    ordered = _by_column(drawn, gutters)
    if _jumps(drawn, gutters) <= _jumps(ordered, gutters):
        return page
    return replace(page, lines=tuple(ordered), flags=(*page.flags, "order_doubtful"))


def _parts(line: Line) -> list[Line]:
    """The line cut at all its wide gaps."""
    return _cut(line, [at for at, _, _ in line.gaps])


def _split(line: Line, gutters: Sequence[float]) -> list[Line]:
    """The line cut where one of its gaps lies over a gutter."""
    return _cut(line, [at for at, end, start in line.gaps if any(end <= g <= start for g in gutters)])


def _cut(line: Line, places: Sequence[int]) -> list[Line]:
    if not places:
        return [line]
    gaps = {at: (end, start) for at, end, start in line.gaps}
    found: list[Line] = []
    bounds = [0, *places, len(line.text)]
    for begin, stop in itertools.pairwise(bounds):
        end = begin + len(line.text[begin:stop].rstrip(" \t"))
        if end <= begin:
            continue
        part = line.part(begin, end)
        if not part.edges:  # the gaps tell the sides
            left = gaps[begin][1] if begin else line.left
            right = gaps[stop][0] if stop < len(line.text) else line.right
            part = replace(part, left=left, right=right)
        found.append(part)
    return found


def _gutters(page: Page, parts: Sequence[Line]) -> list[float]:
    """Where the columns part, from left to right; none for a page without columns."""
    left, right = min(p.left for p in parts), max(p.right for p in parts)
    if right - left < 3 * _LEAST_WIDTH * page.width:
        return []
    free = _free(parts, left, right)
    chosen = [x for x in free if _has_sides(parts, x)]
    for count in range(min(len(chosen), _MOST_COLUMNS - 1), 0, -1):
        for gutters in itertools.islice(itertools.combinations(chosen, count), 50):
            if _are_columns(page, parts, gutters, left, right):
                return list(gutters)
    return []


def _free(parts: Sequence[Line], left: float, right: float) -> list[float]:
    """Middles of the widest vertical strips that few lines cross."""
    steps = int((right - left) / _STEP) + 1
    crossed = [0] * (steps + 2)
    for part in parts:
        crossed[max(0, int((part.left - left) / _STEP))] += 1
        crossed[min(steps, int((part.right - left) / _STEP)) + 1] -= 1
    counts = list(itertools.accumulate(crossed))[:steps]
    strips: list[tuple[int, int]] = []
    for is_free, group in itertools.groupby(range(steps), key=lambda i: counts[i] <= _CROSSING * len(parts)):
        run = list(group)
        if is_free and run[0] > 0 and run[-1] < steps - 1:
            least = min(counts[i] for i in run)
            best = [i for i in run if counts[i] == least]
            strips.append((best[0], best[-1]))
    strips.sort(key=lambda strip: strip[0] - strip[1])
    return sorted(left + (a + b + 1) / 2 * _STEP for a, b in strips[:6])


def _has_sides(parts: Sequence[Line], x: float) -> bool:
    """True when enough lines stand on either side of ``x``, beside each other over most of the text's height."""
    sides = [[p for p in parts if p.right <= x], [p for p in parts if p.left >= x]]
    if min(len(side) for side in sides) < _LEAST_LINES:
        return False
    tops = [max(p.top for p in side) for side in sides]
    bottoms = [min(p.bottom for p in side) for side in sides]
    shared = min(tops) - max(bottoms)
    return shared >= _LEAST_HEIGHT * (max(p.top for p in parts) - min(p.bottom for p in parts))


def _are_columns(page: Page, parts: Sequence[Line], gutters: Sequence[float], left: float, right: float) -> bool:
    """True when every strip between the gutters is a column whose lines fill it."""
    sides = [left - 1, *gutters, right + 1]
    for start, stop in itertools.pairwise(sides):
        inside = [p for p in parts if p.left >= start and p.right <= stop]
        if len(inside) < _LEAST_LINES:
            return False
        rights = sorted(p.right for p in inside)
        width = rights[int(0.95 * (len(rights) - 1))] - min(p.left for p in inside)
        filled = sum(p.right - p.left >= _FILLED * width for p in inside)
        if width < _LEAST_WIDTH * page.width or filled < _FILL * len(inside):
            return False
    return True


def _column(line: Line, gutters: Sequence[float]) -> int | None:
    """The column of a line; None for one that runs over a gutter or has no place."""
    if any(line.left < g < line.right for g in gutters) or line.top <= line.bottom:
        return None
    return sum(line.left >= g for g in gutters)


def _jumps(lines: Sequence[Line], gutters: Sequence[float]) -> int:
    """How often the order goes from one column to another."""
    columns = [_column(line, gutters) for line in lines if line.aside is None]
    return sum(a != b for a, b in itertools.pairwise(columns) if a is not None and b is not None)


def _by_column(lines: Sequence[Line], gutters: Sequence[float]) -> list[Line]:
    """Lines from top to bottom in bands between full-width lines, each band column by column."""
    wide = sorted(
        (line for line in lines if _column(line, gutters) is None and line.top > line.bottom), key=lambda x: -x.top
    )
    tops = [line.bottom + 0.3 * line.height for line in wide]
    keyed: list[tuple[tuple[float, ...], Line]] = []
    last: tuple[float, ...] = (0.0, 0.0, 0.0)
    for line in lines:
        if line.top > line.bottom:
            middle = (line.top + line.bottom) / 2
            band = float(sum(middle < top for top in tops))
            column = _column(line, gutters)
            last = (band + 0.5, 0.0, -middle) if column is None else (band, float(column), -middle)
        keyed.append((last, line))
    return [line for _, line in sorted(keyed, key=lambda item: item[0])]
