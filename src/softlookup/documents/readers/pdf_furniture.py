"""Finds running headers, footers and page numbers, which are no part of the text of a contract.

A title that stands on the first line of many pages looks like a running header; but text runs on over a header
from one page to the next, and never over a title.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from softlookup.documents.readers.pdf_layout import Line, Page, opens_label, starts_after_break

_DIGITS = re.compile(r"\d+")
_PAGE_NUMBER = re.compile(
    r"\s*(?:[-–—]\s*)?(?:page\s*)?(?:\d{1,4}|[ivxlc]{1,6}|[A-Z]-\d{1,3})(?:\s*(?:of|/)\s*\d{1,4})?(?:\s*[-–—])?\s*\Z"
    r"|\s*第\s*\d+\s*页.{0,12}\Z",
    re.I,
)
# the page number of an earlier print may stand anywhere on the page
_OLD_MARK = re.compile(r"(?P<before>.{0,80}?)\bpage\s+(?P<number>\d{1,4})\s+of\s+(?P<total>\d{1,4})\s*\Z", re.I)
_BAND = 0.14  # share of the page height, at each end, where they stand
_DEPTH = 2  # lines at the top and bottom of a page where running headers stand
_ROUNDS = 3  # what stands below a header that was found may be one too
_EVERYWHERE = 0.7  # share of the pages; a line on so many is no title
_LONG_RUN = 20  # pages one after another; the same

Place = tuple[int, int]


def furniture(pages: Sequence[Page]) -> dict[Place, str]:
    """(page, line index) -> pattern of the lines that are running headers, footers or page numbers."""
    removed: dict[Place, str] = {}
    if len(pages) < 2:
        return removed
    removed.update(_old_marks(pages))
    for _ in range(_ROUNDS):
        found = _round(pages, removed)
        if not found:
            break
        removed.update(found)
    return removed


def _old_marks(pages: Sequence[Page]) -> Iterator[tuple[Place, str]]:
    """Lines "Page 3 of 80" anywhere and bare numbers that end a page, when their numbers go up all the way."""
    groups: dict[tuple[str, str], list[tuple[int, Place]]] = defaultdict(list)
    last_lines: list[tuple[int, Place]] = []
    for page in pages:
        for index, line in enumerate(page.lines):
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


def _round(pages: Sequence[Page], removed: dict[Place, str]) -> dict[Place, str]:
    edges: dict[Place, str] = {}
    for page in pages:
        order = [i for i in range(len(page.lines)) if (page.number, i) not in removed]
        order.sort(key=lambda i: (-page.lines[i].top, page.lines[i].left))
        chosen = order if len(order) <= 2 * _DEPTH else order[:_DEPTH] + order[-_DEPTH:]
        for index in (i for i in chosen if _in_band(page.lines[i], page.height)):
            edges[page.number, index] = _DIGITS.sub("#", " ".join(page.lines[index].text.split()))
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for (number, index), pattern in edges.items():
        places[pattern].setdefault(number, index)
    recurring = {pattern for pattern, on in places.items() if _recurs(pattern, on)}
    kept = {
        page.number: [
            (i, line.text.strip())
            for i, line in enumerate(page.lines)
            if (page.number, i) not in removed
            and edges.get((page.number, i)) not in recurring
            and line.text.strip()
            and not _PAGE_NUMBER.match(line.text)
        ]
        for page in pages
    }
    running = {p for p in recurring if _is_steady(places[p], len(pages)) or _runs_on(places[p], kept)}
    lines = {(page.number, index): line.text for page in pages for index, line in enumerate(page.lines)}
    return {
        place: pattern
        for place, pattern in edges.items()
        if _PAGE_NUMBER.match(lines[place]) or (pattern in running and not opens_label(lines[place].strip()))
    }


def _recurs(pattern: str, on: dict[int, int]) -> bool:
    return len(on) >= 3 and len(on) >= 0.3 * (max(on) - min(on) + 1) and _names(pattern)


def _is_steady(on: dict[int, int], pages: int) -> bool:
    in_a_row = len(on) >= _LONG_RUN and len(on) >= 0.9 * (max(on) - min(on) + 1)
    return in_a_row or len(on) >= _EVERYWHERE * pages


def _runs_on(on: dict[int, int], kept: dict[int, list[tuple[int, str]]]) -> bool:
    """True when the text runs on over the line on a quarter of its pages, as it does over a header or footer."""
    known = going = 0
    for number, index in on.items():
        here, before, after = kept[number], kept.get(number - 1), kept.get(number + 1)
        is_header = bool(here) and index < here[0][0]
        pair = (before, here) if is_header else (here, after)
        if pair[0] and pair[1]:
            known += 1
            going += not starts_after_break(pair[0][-1][1], pair[1][0][1])
    return going > 0 and going >= 0.25 * known


def _in_band(line: Line, height: float) -> bool:
    return height <= 0 or line.top == line.bottom or line.top > (1 - _BAND) * height or line.bottom < _BAND * height


def _names(pattern: str) -> bool:
    """False for what recurs by chance: "None", "Title:", redaction marks."""
    letters = sum(character.isalpha() for character in pattern)
    return (letters >= 6 and not pattern.endswith(":")) or ("#" in pattern and letters > 0)
