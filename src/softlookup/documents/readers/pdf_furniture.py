"""Finds running headers, footers and page numbers, which are no part of the text of a contract.

A title that stands on the first line of many pages looks like a running header; but text runs on over a header
from one page to the next, and never over a title.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from softlookup.documents.model import BlockKind
from softlookup.documents.readers.pdf_breaks import opens_label, starts_after_break
from softlookup.documents.readers.pdf_lines import Line, Page

_DIGITS = re.compile(r"\d+")
_ROMAN_END = re.compile(r"(?<![^\s\-–—|])[ivxlc]{1,7}(?![^\s\-–—|])")
_PAGE_NUMBER = re.compile(
    r"\s{0,9}(?P<dash>[-–—~]\s{0,3})?(?P<word>(?:page|pg\.?|p\.)\s{0,3})?"
    r"(?P<number>\d{1,4}|[ivxlc]{1,7}|(?P<part>[A-Z]{1,2}[-–]\d{1,3}))"
    r"(?P<total>\s{0,3}(?:of|/)\s{0,3}(?:\d{1,4}|[ivxlc]{1,7}))?(?:\s{0,3}[-–—~])?\s*\Z"
    r"|\s{0,9}(?P<zh>第\s{0,3}[\d一二三四五六七八九十百零〇]{1,5}\s{0,3}页).{0,12}\Z",
    re.I,
)
# the page number of an earlier print may stand anywhere on the page
_OLD_MARK = re.compile(r"(?P<before>.{0,80}?)\bpage\s+(?P<number>\d{1,4})\s+of\s+(?P<total>\d{1,4})\s*\Z", re.I)
_BAND = 0.14  # share of the page height, at each end, where they stand
_DEPTH = 2  # lines at the top and bottom of a page where running headers stand
_ROUNDS = 3  # what stands below a header that was found may be one too
_EVERYWHERE = 0.7  # share of the pages; a line on so many is no title
_LONG_RUN = 20  # pages one after another; the same
_TURNS = 4  # left or right pages, each with the same line: no title either
_LONGEST = 300  # characters; a longer line is text

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


def kind_of(line: Line, page: Page) -> BlockKind:
    """Header for a line in the upper half of the page, else footer."""
    return "header" if line.top + line.bottom > page.height else "footer"


def _old_marks(pages: Sequence[Page]) -> Iterator[tuple[Place, str]]:
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


def _round(pages: Sequence[Page], removed: dict[Place, str]) -> dict[Place, str]:
    edges = _edges(pages, removed)
    places: dict[str, dict[int, int]] = defaultdict(dict)
    for (number, index), pattern in edges.items():
        places[pattern].setdefault(number, index)
    recurring = {pattern for pattern, on in places.items() if _recurs(pattern, on)}
    kept = {
        page.number: [
            (i, line.text.strip())
            for i, line in enumerate(page.lines)
            if line.aside is None
            and (page.number, i) not in removed
            and edges.get((page.number, i)) not in recurring
            and line.text.strip()
            and not (len(line.text) < 40 and _PAGE_NUMBER.match(line.text))
        ]
        for page in pages
    }
    running = {p for p in recurring if _is_steady(places[p], pages) or _runs_on(places[p], kept)}
    lines = {(page.number, index): line.text for page in pages for index, line in enumerate(page.lines)}
    numbers = _page_numbers(pages, edges, lines)
    found = {place: pattern for place, pattern in edges.items() if place in numbers}
    seen: set[str] = set()
    for place, pattern in sorted(edges.items()):
        text = lines[place].strip()
        if pattern in running and (text in seen or not opens_label(text)):
            found[place] = pattern
        seen.add(text)  # where a label stands first, it may be the heading itself
    return found


def _edges(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    """Patterns of the outermost lines of each page that were not taken out yet."""
    edges: dict[Place, str] = {}
    for page in pages:
        order = [i for i, line in enumerate(page.lines) if (page.number, i) not in removed and line.aside is None]
        order.sort(key=lambda i: (-page.lines[i].top, page.lines[i].left))
        chosen = order if len(order) <= 2 * _DEPTH else order[:_DEPTH] + order[-_DEPTH:]
        for index in chosen:
            line = page.lines[index]
            if _in_band(line, page.height) and len(line.text) <= _LONGEST:
                edges[page.number, index] = _pattern(line.text)
    return edges


def _pattern(text: str) -> str:
    """The line without its numbers: what recurs from page to page."""
    return _DIGITS.sub("#", _ROMAN_END.sub("#", " ".join(text.split())))


def _page_numbers(pages: Sequence[Page], edges: Mapping[Place, str], lines: Mapping[Place, str]) -> set[Place]:
    """Places of page numbers: what says so itself, counts with the pages, or is the outermost line of its page."""
    found: set[Place] = set()
    counting: dict[Place, int] = {}
    for place in edges:
        match = _PAGE_NUMBER.match(lines[place])
        if match is None:
            continue
        if match["zh"] or match["word"] or match["dash"] or match["total"] or match["part"]:
            found.add(place)
        else:
            counting[place] = (_value(match["number"]) or 0) - place[0]
    offsets = Counter(counting.values())
    outermost = {place for page in pages for place in _outermost(page, edges)}
    found |= {place for place, offset in counting.items() if offsets[offset] >= 2 or place in outermost}
    return found


def _outermost(page: Page, edges: Mapping[Place, str]) -> set[Place]:
    """The highest and the lowest line of the page among ``edges``."""
    own = [(page.number, i) for i in range(len(page.lines)) if (page.number, i) in edges]
    if not own:
        return set()
    return {max(own, key=lambda p: page.lines[p[1]].top), min(own, key=lambda p: page.lines[p[1]].bottom)}


def _value(number: str) -> int | None:
    if number.isdecimal():
        return int(number)
    digits = [{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}[letter] for letter in number.lower()]
    return sum(-d if d < max(digits[i:]) else d for i, d in enumerate(digits))


def _recurs(pattern: str, on: dict[int, int]) -> bool:
    return len(on) >= 3 and len(on) >= 0.3 * (max(on) - min(on) + 1) and _names(pattern)


def _is_steady(on: dict[int, int], pages: Sequence[Page]) -> bool:
    """True for a line on so many pages, or on so many left or right pages one after another, that it is no title."""
    run = max(on) - min(on) + 1
    in_a_row = len(on) >= _LONG_RUN and len(on) >= 0.9 * run
    sides = {number % 2 for number in on}
    one_sided = len(sides) == 1 and len(on) >= _TURNS and len(on) >= 0.9 * (run + 1) / 2
    return in_a_row or one_sided or len(on) >= _EVERYWHERE * len(pages)


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
