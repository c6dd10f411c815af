"""Puts the lines of a page with columns of text in reading order; leaves tables and plain pages alone.

A page may print the columns row by row; the two halves then come as one line with a wide gap. Columns differ from
a table in that the lines on both sides fill their width.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from softlookup.documents.readers.pdf_layout import Line, Page

_LEAST_LINES = 6
_LEAST_SHARE = 0.5  # of the lines of the page
_LEAST_WIDTH = 0.22  # of the page width, for each column
_FILLED = 0.8  # a line as long as this share of its column fills it


def in_reading_order(page: Page) -> Page:
    """The page with its lines column by column when it is printed in columns row by row, else unchanged."""
    rows = [_halves(line) for line in page.lines]
    gutter = _gutter(page, [row for row in rows if len(row) == 2])
    if gutter is None:
        return page
    done: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line, row in zip(page.lines, rows, strict=True):
        halves = row if len(row) == 2 and row[0].right <= gutter <= row[1].left else [line]
        if len(halves) == 1 and line.left < gutter < line.right:  # a line over both columns ends them
            done += [*left, *right, line]
            left, right = [], []
            continue
        for half in halves:
            (left if half.right <= gutter else right).append(half)
    return replace(page, lines=(*done, *left, *right))


def _halves(line: Line) -> list[Line]:
    """The two parts of a line at its widest gap; the line itself when it has no gap."""
    if not line.gaps:
        return [line]
    at, end, start = max(line.gaps, key=lambda gap: gap[2] - gap[1])
    first, second = line.text[:at].rstrip(), line.text[at:].lstrip()
    if not first or not second:
        return [line]
    return [replace(line, text=first, right=end, gaps=()), replace(line, text=second, left=start, gaps=())]


def _gutter(page: Page, rows: Sequence[Sequence[Line]]) -> float | None:
    """Where the columns part; None for a page without columns."""
    if len(rows) < _LEAST_LINES or len(rows) < _LEAST_SHARE * len(page.lines):
        return None
    end, start = max(row[0].right for row in rows), min(row[1].left for row in rows)
    if end >= start:
        return None
    sides = [[row[side] for row in rows] for side in (0, 1)]
    for lines in sides:
        width = max(line.right for line in lines) - min(line.left for line in lines)
        filled = sum(line.right - line.left >= _FILLED * width for line in lines)
        if width < _LEAST_WIDTH * page.width or filled < 0.6 * len(lines):
            return None
    return (end + start) / 2
