"""Finds what is left of the pages of an earlier print: page ends, with a footer, wherever they stand on a page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from softlookup.documents.readers.pdf.gaps import Gaps
from softlookup.documents.readers.pdf.lines import Line, Page
from softlookup.documents.readers.pdf.page_numbers import names_itself
from softlookup.documents.readers.pdf.patterns import is_label, pattern_of, recurs

_NUMBER = re.compile(r"\s{0,9}(\d{1,4})\s*\Z")
_LONGEST = 300  # characters; a longer line is text
_SAME_PLACE = 3.0  # points
_FLOATING = 5  # pages with the same line above their page number
_LONG_RUN = 20  # pages that end with the same line, with or without a number
_ROUNDS = 3
_APART = 0.6  # of them, on which it is apart from the body

Place = tuple[int, int]


def page_ends(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    """Lines that end pages wherever these end, apart from the body: page after page, or above a page number."""
    found: dict[Place, str] = {}
    for _ in range(_ROUNDS):
        known = {**removed, **found}
        groups = _last_lines(pages, known)
        gaps = Gaps(pages, {*known, *(place for on in groups.values() for place in on.items())})
        more: dict[Place, str] = {}
        for (pattern, _), on in groups.items():
            if sum(gaps.is_apart(place, {place}, is_header=False) for place in on.items()) >= _APART * len(on):
                more.update(dict.fromkeys(on.items(), pattern))
        if not more:
            break
        found.update(more)
    return found


def _last_lines(pages: Sequence[Page], known: Mapping[Place, str]) -> dict[tuple[str, int], dict[int, int]]:
    """(pattern, middle) of what recurs as the lowest line of a page above those ``known``: page -> line index."""
    groups: dict[tuple[str, int], dict[int, int]] = defaultdict(dict)
    below: set[Place] = set()  # above a line that is known
    named: set[str] = set()  # patterns of what can be nothing but a page number
    for page in pages:
        seen = [i for i, line in enumerate(page.lines) if line.aside is None and line.top > line.bottom]
        order = sorted(seen, key=lambda i: page.lines[i].bottom)
        at = next((at for at, i in enumerate(order) if (page.number, i) not in known), None)
        if at is None or len(page.lines[order[at]].text) > _LONGEST:
            continue
        line = page.lines[order[at]]
        groups[pattern_of(line.text), _middle(line)][page.number] = order[at]
        if names_itself(line.text):
            named.add(pattern_of(line.text))
        if at:
            below.add((page.number, order[at]))
    return {
        key: on
        for key, on in groups.items()
        if key[0] in named
        or (
            recurs(key[0], on)
            and not is_label(key[0])
            and (len(on) >= _LONG_RUN or sum(place in below for place in on.items()) >= _FLOATING)
        )
    }


def inner_marks(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    """Page ends of the earlier print inside a page: bare numbers, one more than that of the page before.

    They stand in one column with the numbers that end pages and are apart from the body; so is their footer.
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
                if any(gaps.is_apart(place, group, is_header=side) for side in (True, False)):
                    found.update({one: pattern_of(lines[one].text) for one in group})
                    last += 1
    return found


def _middle(line: Line) -> int:
    return round((line.left + line.right) / 2 / _SAME_PLACE)
