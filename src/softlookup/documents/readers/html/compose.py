"""Puts the lines of a page together: text, blocks, and everything that refers to them by its offset."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from softlookup.documents.model import Aside, Block, Flag, Link, Mark, Span
from softlookup.documents.readers.html.writer import Line, Place, Writer
from softlookup.documents.readers.page_map import PageMap, map_pages
from softlookup.documents.readers.pages import goes_on
from softlookup.documents.readers.text import is_hard_wrapped, paragraphs


@dataclass(frozen=True, slots=True)
class Composed:
    """The text of the page with everything that refers to it."""

    text: str
    blocks: tuple[Block, ...]
    generated: tuple[Span, ...]
    aside: tuple[Aside, ...]
    marks: tuple[Mark, ...]
    links: tuple[Link, ...]
    pages: int | None


def compose(writer: Writer) -> Composed:
    """The text with everything that refers to it; page numbers and running lines go aside."""
    writer.finish()
    pages = map_pages([line.text for line in writer.lines], writer.breaks, _navigation(writer))
    kept: list[int] = []
    for at, line in enumerate(writer.lines):
        if at not in pages.furniture and (line.text or (kept and writer.lines[kept[-1]].text)):
            kept.append(at)
    if kept and not writer.lines[kept[-1]].text:
        kept.pop()
    kept = _without_page_gaps(writer.lines, kept, pages)
    starts: dict[int, int] = {}
    position = 0
    for at in kept:
        starts[at] = position
        position += len(writer.lines[at].text) + 1
    length = max(0, position - 1)
    text = "\n".join(writer.lines[at].text for at in kept)

    def offset(place: Place) -> int:
        at, column = place
        if at in starts:
            return min(starts[at] + min(column, len(writer.lines[at].text)), length)
        following = bisect_right(kept, at)
        return starts[kept[following]] if following < len(kept) else length

    blocks = _blocks(text, writer.lines, kept, starts, pages)
    return Composed(
        text=text,
        blocks=blocks,
        generated=tuple(Span(starts[at] + s, starts[at] + e) for at in kept for s, e in writer.lines[at].generated),
        aside=_asides(writer, pages, offset),
        marks=tuple(_marks(writer.spans, offset)),
        links=_links(writer, blocks, offset),
        pages=pages.count,
    )


def _without_page_gaps(lines: list[Line], kept: list[int], pages: PageMap) -> list[int]:
    """``kept`` without the empty lines between two pages in the middle of a preformatted paragraph."""
    result: list[int] = []
    for place, at in enumerate(kept):
        if not lines[at].text and 0 < place < len(kept) - 1 and not pages.same_page(kept[place - 1], kept[place + 1]):
            above = lines[kept[place - 2]].text if place > 1 else ""
            if goes_on(lines[kept[place - 1]].text, lines[kept[place + 1]].text, above):
                continue
        result.append(at)
    return result


def _navigation(writer: Writer) -> frozenset[int]:
    """Lines that are a link and nothing else, and stand on the page again and again: "Table of Contents"."""
    linked = {
        start[0]
        for start, end, _ in writer.links
        if start[0] < len(writer.lines) and start[1] == 0 and end[1] >= len(writer.lines[start[0]].text)
    }
    texts = Counter(writer.lines[at].text for at in linked)
    return frozenset(at for at in linked if texts[writer.lines[at].text] > 1)


def _links(writer: Writer, blocks: tuple[Block, ...], offset: Callable[[Place], int]) -> tuple[Link, ...]:
    """Links to anchors of the page; one whose anchor is missing is left out."""
    ends = [block.span.end for block in blocks]
    links: list[Link] = []
    for start, end, name in writer.links:
        target = writer.anchors.get(name)
        words = Span(offset(start), max(offset(start), offset(end)))
        if target is not None and len(words) and blocks:
            at = min(bisect_right(ends, offset(target)), len(blocks) - 1)
            links.append(Link(words, blocks[at].span.start))
    return tuple(links)


def _asides(writer: Writer, pages: PageMap, offset: Callable[[Place], int]) -> tuple[Aside, ...]:
    """What was hidden and what is page furniture, in order."""
    asides = [
        Aside(words, kind, offset(place), flags, pages.page_of(place[0]), where)
        for place, words, kind, flags, where in writer.asides
    ]
    asides += [
        Aside(writer.lines[at].text.strip(), kind, offset((at, 0)), (), pages.page_of(at), "page furniture")
        for at, kind in sorted(pages.furniture.items())
        if writer.lines[at].text.strip()
    ]
    return tuple(sorted(asides, key=lambda aside: aside.anchor))


def _marks(spans: list[tuple[Place, Place, Flag]], offset: Callable[[Place], int]) -> list[Mark]:
    """Marks of neighbouring runs of one flag as one."""
    merged: list[Mark] = []
    for start, end, flag in spans:
        first, last = offset(start), offset(end)
        if first >= last:
            continue
        if merged and merged[-1].flag == flag and merged[-1].span.end == first:
            merged[-1] = Mark(Span(merged[-1].span.start, last), flag)
        else:
            merged.append(Mark(Span(first, last), flag))
    return merged


def _blocks(text: str, lines: list[Line], kept: list[int], starts: dict[int, int], pages: PageMap) -> tuple[Block, ...]:
    """A block for every line, for every paragraph of preformatted lines; one for a paragraph on two pages."""
    blocks: list[Block] = []
    is_wrapped = is_hard_wrapped("\n".join(lines[at].text for at in kept if lines[at].raw))
    index = 0
    while index < len(kept):
        at = kept[index]
        last = index
        if lines[at].raw:
            while last + 1 < len(kept) and lines[kept[last + 1]].raw and pages.same_page(at, kept[last + 1]):
                last += 1
        span = Span(starts[at], starts[kept[last]] + len(lines[kept[last]].text))
        for block in _blocks_of(text, lines[at], span, pages.page_of(at), is_wrapped=is_wrapped):
            if blocks and _is_one(text, blocks[-1], block):
                blocks[-1] = replace(blocks[-1], span=Span(blocks[-1].span.start, block.span.end))
            else:
                blocks.append(block)
        index = last + 1
    return tuple(blocks)


def _blocks_of(text: str, line: Line, span: Span, page: int | None, *, is_wrapped: bool) -> list[Block]:
    context = line.context
    if line.raw:
        found = paragraphs(text[span.start : span.end], span.start, is_wrapped=is_wrapped)
        return [Block(block.span, context.kind, page=page, origin=context.origin) for block in found]
    level = line.level if line.label else context.level
    span = Span(span.start + len(line.text) - len(line.text.lstrip()), span.end)
    if not len(span):  # a blank line is kept as text between paragraphs
        return []
    return [Block(span, context.kind, line.label, level, page, line.list_id, origin=context.origin)]


def _is_one(text: str, before: Block, after: Block) -> bool:
    """True when a paragraph goes on across a page break."""
    return (
        before.page != after.page
        and not after.label
        and {before.kind, after.kind} <= {"paragraph", "list_item"}
        and goes_on(_last_line(text, before.span), _first_line(text, after.span))
    )


def _last_line(text: str, span: Span) -> str:
    return text[max(span.start, text.rfind("\n", span.start, span.end) + 1) : span.end]


def _first_line(text: str, span: Span) -> str:
    end = text.find("\n", span.start, span.end)
    return text[span.start : end if end >= 0 else span.end]
