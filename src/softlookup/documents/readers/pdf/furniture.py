"""Finds running headers, footers and page numbers, which are no part of the text of a contract.

A line that recurs may be one of the body: a form that is printed four times has the same words at the top of four
pages. A running line stands at one place, nearer to the edge of the page than any line of the body, and is apart
from the body or small, or the text runs on over it from one page to the next, as it never does over a title.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from softlookup.documents.model import BlockKind
from softlookup.documents.readers.pdf.breaks import opens_label, starts_after_break
from softlookup.documents.readers.pdf.gaps import Gaps
from softlookup.documents.readers.pdf.lines import Line, Page
from softlookup.documents.readers.pdf.old_print import inner_marks, page_ends
from softlookup.documents.readers.pdf.page_numbers import is_page_number, names_itself, old_marks, page_numbers
from softlookup.documents.readers.pdf.patterns import BARE, is_label, pattern_of, recurs

_BAND = 0.14  # share of the page height, at each end, where they stand
_DEPTH = 4  # lines at the top and bottom of a page where running headers stand
_ROUNDS = 3  # what stands below a header that was found may be one too
_EVERYWHERE = 0.7  # share of the pages; a line on so many is no title
_LONG_RUN = 20  # pages one after another; the same
_TURNS = 4  # left or right pages, each with the same line: no title either
_LONGEST = 300  # characters; a longer line is text
_SAME_PLACE = 3.0  # points
_INTRUDERS = 0.1  # share of its pages; on no more others may the body reach the place of a running line
_MANY = 8  # pages; of a line on fewer, the pages before and behind are asked too
_APART = 0.6  # of its pages, on which a running line is apart from the body
_SMALL = 0.94  # of the size of the body

Place = tuple[int, int]
Kept = dict[int, list[tuple[int, str]]]


@dataclass(frozen=True, slots=True)
class _Group:
    """Lines with one pattern at one place of several pages: page number -> line index."""

    pattern: str
    is_header: bool
    on: dict[int, int]

    @property
    def places(self) -> set[Place]:
        return set(self.on.items())


def furniture(pages: Sequence[Page]) -> dict[Place, str]:
    """(page, line index) -> pattern of the lines that are running headers, footers or page numbers."""
    removed: dict[Place, str] = {}
    if len(pages) < 2:
        return _on_one_page(pages, Gaps(pages))
    removed.update(old_marks(pages))
    removed.update(page_ends(pages, removed))
    removed.update(inner_marks(pages, removed))
    for _ in range(_ROUNDS):
        found = _round(pages, removed)
        if not found:
            break
        removed.update(found)
    return removed


def kind_of(line: Line, page: Page) -> BlockKind:
    """Header for a line in the upper half of the page, else footer."""
    return "header" if _is_upper(line, page) else "footer"


def _is_upper(line: Line, page: Page) -> bool:
    return line.top + line.bottom > page.height


def _on_one_page(pages: Sequence[Page], gaps: Gaps) -> dict[Place, str]:
    """Page numbers of a single page, where nothing recurs: at its edge, apart, and with a word or dashes."""
    return {
        place: pattern_of(line.text)
        for page in pages
        for place, line in _edges(page, {}, 1).items()
        if names_itself(line.text) and gaps.is_apart(place, {place}, is_header=_is_upper(line, page))
    }


def _round(pages: Sequence[Page], removed: Mapping[Place, str]) -> dict[Place, str]:
    edges = {place: line for page in pages for place, line in _edges(page, removed).items()}
    groups = _groups(pages, edges)
    recurring = {place for group in groups for place in group.places}
    gaps = Gaps(pages, recurring | set(removed))
    kept: Kept = {
        page.number: [
            (i, line.text.strip())
            for i, line in enumerate(page.lines)
            if line.aside is None
            and (page.number, i) not in removed
            and (page.number, i) not in recurring
            and line.text.strip()
            and not is_page_number(line.text)
        ]
        for page in pages
    }
    numbers = _numbers(pages, removed, gaps)
    found = {place: pattern_of(edges[place].text) for place in numbers}
    likely = [g for g in groups if _is_outside(g, pages, kept) and (_is_steady(g.on, pages) or _runs_on(g.on, kept))]
    beside = {place for group in likely for place in group.places} | set(removed)
    beside |= {place for place, line in edges.items() if is_page_number(line.text)}
    running = {place: g.pattern for g in likely if _is_running(g, edges, kept, beside, gaps) for place in g.places}
    seen: set[str] = set()
    for place, line in sorted(edges.items(), key=lambda item: item[0]):
        text = line.text.strip()
        if place in running and (text in seen or not is_label(text)):
            found[place] = running[place]
        seen.add(text)  # where a label stands first, it may be the heading itself
    return found


def _numbers(pages: Sequence[Page], removed: Mapping[Place, str], gaps: Gaps) -> set[Place]:
    """Page numbers among the two outermost lines at each end of a page."""
    edges = {place: line for page in pages for place, line in _edges(page, removed, 2).items()}
    outermost = {place for page in pages for place in _edges(page, removed, 1)}
    apart = {
        place
        for page in pages
        for place, line in _edges(page, removed, 1).items()
        if gaps.is_apart(place, {*removed, place}, is_header=_is_upper(line, page))
    }
    return page_numbers(edges, outermost, apart)


def _edges(page: Page, removed: Mapping[Place, str], depth: int = _DEPTH) -> dict[Place, Line]:
    """The ``depth`` outermost lines at each end of a page that were not taken out yet."""
    order = [i for i, line in enumerate(page.lines) if (page.number, i) not in removed and line.aside is None]
    order.sort(key=lambda i: (-page.lines[i].top, page.lines[i].left))
    chosen = order if len(order) <= 2 * depth else order[:depth] + order[-depth:]
    lines = {(page.number, i): page.lines[i] for i in chosen}
    return {p: line for p, line in lines.items() if _in_band(line, page.height) and len(line.text) <= _LONGEST}


def _groups(pages: Sequence[Page], edges: Mapping[Place, Line]) -> list[_Group]:
    """Lines that recur at the same place of several pages."""
    by_number = {page.number: page for page in pages}
    lines: dict[tuple[str, bool], list[tuple[float, Place]]] = defaultdict(list)
    for place, line in edges.items():
        page = by_number[place[0]]
        is_header = _is_upper(line, page)
        lines[pattern_of(line.text), is_header].append((_distance(line, page, is_header=is_header), place))
    groups: list[_Group] = []
    for (pattern, is_header), found in lines.items():
        found.sort()
        on: dict[int, int] = {}
        for at, (distance, (number, index)) in enumerate(found):
            if at and distance - found[at - 1][0] > _SAME_PLACE:
                groups.append(_Group(pattern, is_header, on))
                on = {}
            on.setdefault(number, index)
        groups.append(_Group(pattern, is_header, on))
    return [g for g in groups if recurs(g.pattern, g.on) and _counts(g, edges)]


def _distance(line: Line, page: Page, *, is_header: bool) -> float:
    """From the upper or lower edge of the page to the foot of the line."""
    return page.height - line.bottom if is_header else line.bottom


def _counts(group: _Group, edges: Mapping[Place, Line]) -> bool:
    """False for bare numbers before the same words that do not go up with the pages: those are labels."""
    if not opens_label(edges[next(iter(group.on.items()))].text):
        return True
    numbers = [(BARE.match(edges[place].text), place[0]) for place in group.on.items()]
    return len({int(match[0]) - page for match, page in numbers if match}) <= 1


def _is_outside(group: _Group, pages: Sequence[Page], kept: Kept) -> bool:
    """True when hardly any line of the body stands as near to the edge of its page as the lines of the group."""
    by_number = {page.number: page for page in pages}
    near = 1 if len(group.on) < _MANY else 0
    first, last = min(group.on) - near, max(group.on) + near
    reach = max(_distance(by_number[n].lines[i], by_number[n], is_header=group.is_header) for n, i in group.on.items())
    intruders = 0
    for page in pages:
        if page.number not in group.on and first <= page.number <= last:
            lines = [page.lines[i] for i, _ in kept[page.number] if page.lines[i].height > 0]
            intruders += any(_distance(line, page, is_header=group.is_header) <= reach + 1 for line in lines)
    return intruders <= _INTRUDERS * len(group.on)


def _is_running(group: _Group, edges: Mapping[Place, Line], kept: Kept, beside: Collection[Place], gaps: Gaps) -> bool:
    """True when the lines are small or apart from the body, or text without a label runs on over them."""
    small = sum(0 < edges[place].size < _SMALL * gaps.size for place in group.places)
    apart = sum(gaps.is_apart(place, beside, is_header=group.is_header) for place in group.places)
    if max(small, apart) >= _APART * len(group.on):
        return True
    return not is_label(group.pattern) and (len(group.on) >= _LONG_RUN or _runs_on(group.on, kept))


def _is_steady(on: Mapping[int, int], pages: Sequence[Page]) -> bool:
    """True for a line on so many pages, or on so many left or right pages one after another, that it is no title."""
    run = max(on) - min(on) + 1
    in_a_row = len(on) >= _LONG_RUN and len(on) >= 0.9 * run
    sides = {number % 2 for number in on}
    one_sided = len(sides) == 1 and len(on) >= _TURNS and len(on) >= 0.9 * (run + 1) / 2
    return in_a_row or one_sided or len(on) >= _EVERYWHERE * len(pages)


def _runs_on(on: Mapping[int, int], kept: Kept) -> bool:
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
