"""Gives every paragraph, line and aside its place in the text; nothing is decided here."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from softlookup.documents.model import Aside, Block, BlockKind, Box, Flag, Mark, Span, TextLine
from softlookup.documents.readers.pdf.account import PageAccount
from softlookup.documents.readers.pdf.frames import Note
from softlookup.documents.readers.pdf.geometry import Geometry, unturned
from softlookup.documents.readers.pdf.layout import Beside, Layout, Piece
from softlookup.documents.readers.pdf.lines import Line, Page


@dataclass(slots=True)
class Assembled:
    """The parts of a reader's result that hold offsets."""

    text: str = ""
    blocks: list[Block] = field(default_factory=list)
    generated: list[Span] = field(default_factory=list)
    lines: list[TextLine] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


def assemble(layout: Layout, accounts: Sequence[PageAccount]) -> Assembled:
    """The text with everything that points into it; tells each page's account how much of it is where."""
    by_number = {account.number: account for account in accounts}
    for number, count in layout.cut.items():
        by_number[number].beside += count
    done = Assembled()
    starts: list[int] = []
    texts: list[str] = []
    length = 0
    for paragraph in layout.paragraphs:
        text = paragraph.text
        starts.append(length)
        texts.append(text)
        span = Span(length, length + len(text))
        done.blocks.append(Block(span, kind=paragraph.kind, page=paragraph.page, flags=_flags(paragraph.pieces)))
        done.generated.extend(Span(length + at, length + at + 1) for at in paragraph.joins)
        for piece in paragraph.pieces:
            done.lines.append(_text_line(piece, length))
            by_number[piece.page.number].in_text += piece.length
        done.marks.extend(_marks(paragraph.pieces, length))
        length += len(text) + 1
    done.text = "\n".join(texts)
    ends = [start + len(text) for start, text in zip(starts, texts, strict=True)]
    for (number, _, _), group in itertools.groupby(layout.beside, key=_sort):
        beside = list(group)
        done.asides.append(_aside(beside, starts, ends))
        by_number[number].beside += sum(len(one.line.text) for one in beside)
    for account in accounts:
        if account.lines:
            account.beside += account.lines.doubled
        done.asides.extend(_notes(account, done))
    done.asides.sort(key=lambda aside: (aside.anchor, aside.page or 0))
    return done


def _flags(pieces: Sequence[Piece]) -> tuple[Flag, ...]:
    """What is true of every line of a paragraph."""
    common = set(_line_flags(pieces[0].line, pieces[0].page))
    for piece in pieces[1:]:
        common &= set(_line_flags(piece.line, piece.page))
    return tuple(sorted(common))


def _line_flags(line: Line, page: Page) -> tuple[Flag, ...]:
    return page.flags if line.flag is None else (line.flag, *page.flags)


def _text_line(piece: Piece, start: int) -> TextLine:
    line, page = piece.line, piece.page
    span = Span(start + piece.offset, start + piece.offset + piece.length)
    sides = unturned((line.left, line.bottom, line.right, line.top), page.turn, page.width, page.height)
    edges = b"" if page.turn else line.edges[: 8 * piece.length]
    return TextLine(span, Box(page.number, *sides), edges)


def _marks(pieces: Sequence[Piece], start: int) -> list[Mark]:
    """Marks over neighbouring lines of which the same is true."""
    found: list[Mark] = []
    flags = {flag for piece in pieces for flag in _line_flags(piece.line, piece.page)}
    for flag in sorted(flags):
        for is_so, group in itertools.groupby(pieces, key=lambda p: _detail(p, flag)):
            run = list(group)
            if is_so is not None:
                span = Span(start + run[0].offset, start + run[-1].offset + run[-1].length)
                found.append(Mark(span, flag, is_so))
    return found


def _detail(piece: Piece, flag: Flag) -> str | None:
    if flag == piece.line.flag:
        return piece.line.detail
    return "" if flag in piece.page.flags else None


def _sort(beside: Beside) -> tuple[int, str, tuple[Flag, ...]]:
    return beside.page.number, beside.kind, beside.line.aside or ()


def _aside(beside: Sequence[Beside], starts: Sequence[int], ends: Sequence[int]) -> Aside:
    first = beside[0]
    anchor = 0
    if first.paragraph >= 0:
        anchor = min(starts[first.paragraph] + first.offset, ends[first.paragraph])
    text = "\n".join(one.line.text for one in beside)
    page = first.page.number
    return Aside(text, first.kind, anchor, first.line.aside or (), page, f"page {page}")


def _notes(account: PageAccount, done: Assembled) -> list[Aside]:
    """Annotations of a page, each anchored at the line beside which it stands."""
    if account.frame is None or not account.frame.notes:
        return []
    here = [line for line in done.lines if line.box.page == account.number]
    before = [line for line in done.lines if line.box.page < account.number]
    default = before[-1].span.end if before else 0
    where = f"page {account.number} annotation"
    found = []
    for note in account.frame.notes:
        middle = _middle(note, Geometry.of(account.frame))
        near = min(here, key=lambda line: abs((line.box.bottom + line.box.top) / 2 - middle), default=None)
        anchor = near.span.start if near else default
        kind: BlockKind = "textbox" if note.kind == "text" else "comment"
        found.append(Aside(note.text, kind, anchor, (), account.number, where))
    return found


def _middle(note: Note, geometry: Geometry) -> float:
    """Height on the displayed page at which the annotation stands."""
    left, bottom, right, top = note.where
    x1, y1, x2, y2 = geometry.bounds
    across, up = (left + right) / 2, (bottom + top) / 2
    return (up - y1, x2 - across, y2 - up, across - x1)[geometry.rotation]
