"""Finds what is left of the pages of an earlier print: page ends, with a footer, wherever they stand on a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from softlookup.documents.readers.pdf_gaps import Gaps
from softlookup.documents.readers.pdf_lines import Line, Page
from softlookup.documents.readers.pdf_patterns import is_label, pattern_of, recurs

_NUMBER = re.compile(r"\s{0,9}(\d{1,4})\s*\Z")
_LONGEST = 300  # characters; a longer line is text
_SAME_PLACE = 3.0  # points
_FLOATING = 5  # pages with the same line above their page number
_APART = 0.6  # of them, on which it is apart from the body

Place = tuple[int, int]


def above_marks(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    """Lines that stand, apart from the body, right above page numbers of an earlier print."""
    groups: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    for page in pages:
        seen = [i for i, line in enumerate(page.lines) if line.aside is None and line.top > line.bottom]
        order = sorted(seen, key=lambda i: page.lines[i].bottom)
        if len(order) < 2 or (page.number, order[0]) not in removed:
            continue
        line = page.lines[order[1]]
        if len(line.text) <= _LONGEST:
            middle = round((line.left + line.right) / 2 / _SAME_PLACE)
            groups[pattern_of(line.text), middle][page.number] = order[1]
    groups = {
        key: on for key, on in groups.items() if len(on) >= _FLOATING and recurs(key[0], on) and not is_label(key[0])
    }
    gaps = Gaps(pages, {*removed, *(place for on in groups.values() for place in on.items())})
    found: dict[Place, str] = {}
    for (pattern, _), on in groups.items():
        if sum(gaps.is_apart(place, {place}, is_header=False) for place in on.items()) >= _APART * len(on):
            found.update(dict.fromkeys(on.items(), pattern))
    return found


def inner_marks(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    """Page ends of the earlier print inside a page: bare numbers, one more than that of the page before.

    They stand below each other with the numbers that end pages, and apart from the body; so does their footer.
    """
    lines = {(page.number, i): line for page in pages for i, line in enumerate(page.lines)}
    marks = {p: m for p in removed if (m := _NUMBER.match(lines[p].text))}
    if not marks:
        return {}
    usual = Counter(_middle(lines[place]) for place in marks).most_common(1)[0][0]
    footers = {(lines[p].text.strip(), _middle(lines[p])) for p in removed if p not in marks}
    gaps = Gaps(pages, removed)
    found: dict[Place, str] = {}
    last = 0
    for page in pages:
        order = sorted(range(len(page.lines)), key=lambda i: -page.lines[i].bottom)
        for at, index in enumerate(order):
            place, match = (page.number, index), _NUMBER.match(page.lines[index].text)
            if place in marks:
                last = int(marks[place][1])
            elif match and int(match[1]) == last + 1 > 1 and abs(_middle(page.lines[index]) - usual) <= 1:
                above = (page.number, order[at - 1])
                line = page.lines[above[1]]
                group = {place, above} if at and (line.text.strip(), _middle(line)) in footers else {place}
                if all(gaps.is_apart(place, group, is_header=side) for side in (True, False)):
                    found.update({one: pattern_of(lines[one].text) for one in group})
                    last += 1
    return found


def _middle(line: Line) -> int:
    return round((line.left + line.right) / 2 / _SAME_PLACE)
