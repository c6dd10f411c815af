"""Takes wrapped cells that stand side by side apart, when a file draws them line by line; knows no ruled lines.

Without rules nothing tells two rows of a table from two lines of one row but the words: the lines of a cell fill its
width, and each goes on with the sentence of the one above. Where that is not so in every cell, lines stay rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from softlookup.documents.readers.pdf.breaks import HAN, opens_label, right_margin
from softlookup.documents.readers.pdf.lines import Line, Page

_FINAL = tuple('.;:!?。；：！？”"')
_SAME_LEFT = 3.0  # points
_LEADING = 1.6  # line heights, at most, from one line of a cell to the next
_ROOM = 4.0  # line heights that a filled line leaves free at most
_SHORTEST = 12  # characters of a line that fills its cell


def cell_by_cell(page: Page) -> Page:
    """The page with the lines of such cells one cell after the other."""
    right = right_margin([line for line in page.lines if line.aside is None])
    found: list[Line] = []
    run: list[Line] = []
    for line in page.lines:
        if run and _goes_on(run[-1], line, right):
            run.append(line)
            continue
        found += _apart(run)
        run = [line]
    found += _apart(run)
    return page if len(found) == len(page.lines) else replace(page, lines=tuple(found))


def _cells(line: Line) -> list[Line]:
    places = [0, *(at for at, _, _ in line.gaps if line.text[at - 1 : at] == "\t"), len(line.text)]
    pieces = [(a, a + len(line.text[a:b].rstrip())) for a, b in itertools.pairwise(places)]
    return [line.part(a, b) for a, b in pieces if b > a]


def _goes_on(before: Line, line: Line, right: float) -> bool:
    """True when every cell of ``line`` goes on with the one above it."""
    if "\t" not in before.text or "\t" not in line.text or not before.edges or not line.edges:
        return False
    if before.aside is not None or line.aside is not None or before.flag != line.flag:
        return False
    if not 0 < before.bottom - line.bottom <= _LEADING * line.height:
        return False
    above, here = _cells(before), _cells(line)
    if len(above) != len(here):
        return False
    ends = [*(cell.left for cell in above[1:]), right]
    return all(
        abs(a.left - b.left) <= _SAME_LEFT
        and len(a.text) >= _SHORTEST
        and end - a.right <= _ROOM * a.height
        and _continues(a.text, b.text)
        for a, b, end in zip(above, here, ends, strict=True)
    )


def _continues(before: str, text: str) -> bool:
    if before.endswith(_FINAL) or opens_label(text):
        return False
    return text[0].islower() or bool(HAN.match(text[0]) and HAN.match(before[-1]))


def _apart(run: Sequence[Line]) -> list[Line]:
    """The lines of each column one after another; a single line as it is."""
    if len(run) < 2:
        return list(run)
    return [cell for column in zip(*(_cells(line) for line in run), strict=True) for cell in column]
