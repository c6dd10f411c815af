"""Finds page numbers: what says so itself, what counts with the pages, marks of an earlier print; moves nothing."""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence

from softlookup.documents.readers.pdf.lines import Line, Page

PAGE_NUMBER = re.compile(
    r"\s{0,9}(?P<dash>[-–—~]\s{0,3})?(?P<word>(?:page|pg\.?|p\.)\s{0,3})?"
    r"(?P<number>\d{1,4}|[ivxlc]{1,7}|(?P<part>[A-Z]{1,2}[-–]\d{1,3}))"
    r"(?P<total>\s{0,3}(?:of|/)\s{0,3}(?:\d{1,4}|[ivxlc]{1,7}))?(?P<end>\s{0,3}[-–—~])?\s*\Z"
    r"|\s{0,9}(?P<zh>第\s{0,3}[\d一二三四五六七八九十百零〇]{1,5}\s{0,3}页).{0,12}\Z",
    re.I,
)
# the page number of an earlier print may stand anywhere on the page
_OLD_MARK = re.compile(r"(?P<before>.{0,80}?)\bpage\s+(?P<number>\d{1,4})\s+of\s+(?P<total>\d{1,4})\s*\Z", re.I)
_LONGEST = 300  # characters; a longer line is text

Place = tuple[int, int]


def is_page_number(text: str) -> bool:
    """True for a line that holds nothing but what may be a page number."""
    return len(text) < 40 and bool(PAGE_NUMBER.match(text))


def names_itself(text: str) -> bool:
    """True for "Page 3", "page 1 of 1", "- 3 -" and the like, which need no other page to be page numbers."""
    match = PAGE_NUMBER.match(text) if len(text) < 40 else None
    return match is not None and bool(
        match["zh"] or match["word"] or match["total"] or (match["dash"] and match["end"])
    )


def old_marks(pages: Sequence[Page]) -> Iterator[tuple[Place, str]]:
    """Lines "Page 3 of 80" anywhere and bare numbers that end a page, when their numbers go up all the way."""
    groups: dict[tuple[str, str], list[tuple[int, Place]]] = defaultdict(list)
    last_lines: list[tuple[int, Place]] = []
    for page in pages:
        for index, line in enumerate(page.lines):
            if line.aside is not None or len(line.text) > _LONGEST:
                continue
            if index == len(page.lines) - 1 and re.fullmatch(r"\s*\d{1,4}\s*", line.text):
                last_lines.append((int(line.text), (page.number, index)))
            match = _OLD_MARK.match(line.text)
            if match:
                groups[match["before"].strip(), match["total"]].append((int(match["number"]), (page.number, index)))
    if len(last_lines) >= 0.2 * len(pages) and _goes_up(last_lines):
        yield from ((place, "#") for _, place in last_lines)
    for (before, _), marks in groups.items():
        if _goes_up(marks):
            yield from ((place, f"{before} Page # of #".strip()) for _, place in marks)


def _goes_up(marks: Sequence[tuple[int, Place]]) -> bool:
    """True for at least three numbers that hardly ever go back, as page numbers do."""
    back = sum(after[0] <= here[0] for here, after in itertools.pairwise(marks))
    return len(marks) >= 3 and back <= 0.05 * len(marks)


def page_numbers(edges: Mapping[Place, Line], outermost: Collection[Place], apart: Collection[Place]) -> set[Place]:
    """Places of page numbers among the lines ``edges``: what says so itself or counts with the pages.

    Others must be the outermost line of their page, and a bare number one that stands ``apart`` from the text.
    """
    found: set[Place] = set()
    counting: dict[Place, int] = {}
    for place, line in edges.items():
        match = PAGE_NUMBER.match(line.text)
        if match is None:
            continue
        if match["dash"] or match["part"]:
            if place in outermost or names_itself(line.text):
                found.add(place)
        elif match["zh"] or match["word"] or match["total"]:
            found.add(place)
        else:
            counting[place] = (_value(match["number"]) or 0) - place[0]
    offsets = Counter(counting.values())
    alone = set(outermost) & set(apart)
    return found | {place for place, offset in counting.items() if offsets[offset] >= 2 or place in alone}


def _value(number: str) -> int | None:
    if number.isdecimal():
        return int(number)
    digits = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[letter] for letter in number.lower()]
    return sum(-d if d < max(digits[i:]) else d for i, d in enumerate(digits))
