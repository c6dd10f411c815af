"""Old EDGAR members, plain text in 80 columns: page marks become pages, column tables stay lines; no clauses.

Unlike a plain text file, such a member loses what its printer put between two pages: the ``<PAGE>`` mark, the page
number and running lines. A paragraph that a page broke is one again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from softlookup.documents.model import Aside, Block, BlockKind, Coverage, CoverageCounts, CoverageRow
from softlookup.documents.readers import ReaderResult
from softlookup.documents.readers.page_map import PageMap, map_pages
from softlookup.documents.readers.pages import goes_on
from softlookup.documents.readers.text import is_hard_wrapped, paragraphs
from softlookup.documents.readers.text_marks import find_marks

_PAGE = re.compile(r"<PAGE>", re.I)
# marks of tables and columns, and of revised passages, alone on their line
_MARKUP = re.compile(
    r"[ \t]{0,200}(?:</?(?:TABLE|CAPTION|S|C|FN|F\d{1,2}|R|BTB|ETB|TEXT|LEGEND|MULTIPLIER)>[ \t]{0,200}){1,40}", re.I
)
_TABLE = re.compile(r"[ \t]{0,200}<(?P<end>/?)TABLE>", re.I)


@dataclass(slots=True)
class _Member:
    """Lines of the member without marks; ``in_table`` tells which stand in a column table."""

    lines: list[str] = field(default_factory=list)
    in_table: list[bool] = field(default_factory=list)
    breaks: list[tuple[int, bool]] = field(default_factory=list)
    tables: int = 0


def read_edgar_text(body: str, unit: str) -> ReaderResult:
    """Text of a plain text member of a submission, with the coverage row ``unit``."""
    member = _without_marks(body)
    pages = map_pages(member.lines, member.breaks)
    text, starts = _joined(member, pages)
    is_wrapped = is_hard_wrapped(text)
    blocks = _blocks(text, member, starts, pages, is_wrapped=is_wrapped)
    marks, notes = find_marks(text)
    asides = _asides(member, pages, starts, len(text))
    kinds = [aside.kind for aside in asides]
    row = CoverageRow(unit, "read", len(text), characters_aside=sum(len(aside.text) for aside in asides))
    counts = CoverageCounts(tables=member.tables, headers=kinds.count("header"), footers=kinds.count("footer"))
    coverage = Coverage((row,), pages=pages.count, notes=notes, counts=counts)
    return ReaderResult(text=text, blocks=blocks, coverage=coverage, aside=asides, marks=marks)


def _without_marks(body: str) -> _Member:
    member = _Member()
    inside = False
    for line in body.split("\n"):
        table = _TABLE.match(line)
        if table is not None:
            inside = not table["end"]
            member.tables += inside
        if _MARKUP.fullmatch(line):
            continue
        pieces = _PAGE.split(line)
        for number, piece in enumerate(pieces):
            if number:
                member.breaks.append((len(member.lines), True))
            if len(pieces) == 1 or piece.strip():
                member.lines.append(piece.rstrip())
                member.in_table.append(inside)
    return member


def _joined(member: _Member, pages: PageMap) -> tuple[str, dict[int, int]]:
    """The text and the offset of each line in it; pages are parted by a blank line or joined without one."""
    kept = [at for at in range(len(member.lines)) if at not in pages.furniture]
    pieces: list[str] = []
    starts: dict[int, int] = {}
    position = 0
    last = -1  # the last line with words
    blanks = 0
    for at in kept:
        line = member.lines[at]
        if not line.strip():
            blanks += last >= 0
            continue
        if last >= 0:
            parted = "\n" * (blanks + 1)
            if not pages.same_page(last, at):
                above = member.lines[last - 1] if last else ""
                continues = goes_on(member.lines[last], line, above) and not member.in_table[at]
                parted = "\n" if continues else "\n\n"
            pieces.append(parted)
            position += len(parted)
        pieces.append(line)
        starts[at] = position
        position += len(line)
        last, blanks = at, 0
    return "".join(pieces), starts


def _blocks(
    text: str, member: _Member, starts: dict[int, int], pages: PageMap, *, is_wrapped: bool
) -> tuple[Block, ...]:
    order = sorted(starts)
    blocks: list[Block] = []
    index = 0
    while index < len(order):
        last = index
        while last + 1 < len(order) and member.in_table[order[last + 1]] == member.in_table[order[index]]:
            last += 1
        begin, end = starts[order[index]], starts[order[last]] + len(member.lines[order[last]])
        in_table = member.in_table[order[index]]
        kind: BlockKind = "table_cell" if in_table else "paragraph"
        found = paragraphs(text[begin:end], begin, is_wrapped=is_wrapped and not in_table)
        blocks += [Block(block.span, kind) for block in found]
        index = last + 1
    return _placed(blocks, starts, pages)


def _placed(blocks: list[Block], starts: dict[int, int], pages: PageMap) -> tuple[Block, ...]:
    """``blocks`` with the page and the line of the member that each begins on."""
    order = sorted(starts)
    placed: list[Block] = []
    at = 0
    for block in blocks:
        while at + 1 < len(order) and starts[order[at + 1]] <= block.span.start:
            at += 1
        line = order[at]
        placed.append(replace(block, page=pages.page_of(line), origin=f"line {line + 1}"))
    return tuple(placed)


def _asides(member: _Member, pages: PageMap, starts: dict[int, int], length: int) -> tuple[Aside, ...]:
    """Page numbers and running lines, anchored at the line that follows them."""
    order = sorted(starts)
    found: list[Aside] = []
    following = 0
    for at in sorted(pages.furniture):
        while following < len(order) and order[following] < at:
            following += 1
        anchor = starts[order[following]] if following < len(order) else length
        words = member.lines[at].strip()
        if words:
            found.append(Aside(words, pages.furniture[at], anchor, (), pages.page_of(at), "page furniture"))
    return tuple(found)
