"""Finds footnotes: smaller lines at the foot of a page that begin with a number or a mark; moves nothing."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Sequence

from softlookup.documents.readers.pdf.lines import Line, Page

_SMALL = 0.94  # of the size of the body
_MARK = re.compile(
    r"\s{0,3}(?:[*†‡§]{1,3}|\[?(?P<number>\d{1,3})\]?)[.)]?(?:\s{0,3}(?=[^\W\d]|[\[“\"*])|\s{1,3}(?=\())"
)
_STEP = 5  # by which the numbers may go up
_INDENT = 40.0  # points, at most, of the line that begins one
_COMMON = 0.15  # of the characters
_LONGEST = 0.95  # share of a page's lines that may be footnotes

Place = tuple[int, int]


def footnotes(pages: Sequence[Page], removed: Container[Place]) -> dict[Place, bool]:
    """(page, line index) of the lines of footnotes; True where one begins."""
    usual = usual_size(pages)
    found: dict[Place, bool] = {}
    last = 0  # number of a footnote
    goes_on = False  # a footnote of the page before may end on this one
    for page in pages:
        kept = [
            (i, line)
            for i, line in enumerate(page.lines)
            if line.aside is None and (page.number, i) not in removed and line.top > line.bottom
        ]
        notes = _foot(kept, usual)
        first = next((at for at, (_, line) in enumerate(notes) if _MARK.match(line.text)), None)
        if first is None or (first > 0 and not goes_on):
            notes = notes[first:] if first is not None else []
        if not notes or len(notes) > _LONGEST * len(kept):
            goes_on = False
            continue
        left = min(line.left for _, line in notes)
        for index, line in notes:
            number = _number(line.text, last) if line.left < left + _INDENT else None
            found[page.number, index] = number is not None
            last = last if number is None else number
        goes_on = True
    return found


def usual_size(pages: Sequence[Page]) -> float:
    """Size of the lines of the body: the largest that is common, for footnotes may hold most of the words."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            if line.aside is None:
                sizes[round(2 * _size(line)) / 2] += len(line.text)
    common = [size for size, count in sizes.items() if count >= _COMMON * sizes.total()]
    return max(common, default=0.0)


def _number(text: str, last: int) -> int | None:
    """Number of the footnote that begins with ``text`` (``last`` again for a mark); None when none begins."""
    match = _MARK.match(text)
    if match is None:
        return None
    number = int(match["number"] or last)
    return number if number == 1 or last <= number <= last + _STEP or not last else None


def _size(line: Line) -> float:
    return line.size or line.height


def _foot(kept: Sequence[tuple[int, Line]], usual: float) -> list[tuple[int, Line]]:
    """The small lines that stand below all others, in their order."""
    floor = min((line.bottom for _, line in kept if _size(line) > _SMALL * usual), default=None)
    if floor is None:
        return []
    return [(i, line) for i, line in kept if _size(line) <= _SMALL * usual and line.top <= floor + 0.5 * line.height]
