"""The text of a DOCX in the making: lines, blocks and the places in them; no XML here.

Where something ends up in the text is known only when its paragraph is complete (paragraphs join, a number is put
before them, blanks are cut). A :class:`Point` stands for a place until then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from softlookup.documents.model import Aside, Block, BlockKind, Flag, Mark, Span

_EDGES = "\n\r\t \u3000"


@dataclass(slots=True, eq=False)
class Point:
    """A place in the text; ``offset`` is right once the line that holds it has been written."""

    offset: int = 0


@dataclass(slots=True)
class _SetAside:
    """Words that are not in the text, and the point where they stood."""

    pieces: list[str]
    kind: BlockKind
    anchor: Point
    flags: tuple[Flag, ...]
    where: str


@dataclass(slots=True)
class Line:
    """One paragraph in the making, or several that join."""

    pieces: list[str] = field(default_factory=list)
    length: int = 0
    points: list[tuple[int, Point]] = field(default_factory=list)
    has_contents: bool = False  # some of it is an entry of a table of contents
    _open: _SetAside | None = None  # the words put aside last, while nothing followed them

    def add(self, text: str) -> None:
        """Append ``text``."""
        self.pieces.append(text)
        self.length += len(text)
        self._open = None

    def point(self) -> Point:
        """The place after what is there so far."""
        found = Point()
        self.points.append((self.length, found))
        return found

    def is_blank(self) -> bool:
        """True when nothing can be seen of it."""
        return not any(piece.strip() for piece in self.pieces)


@dataclass(slots=True)
class Output:
    """Lines written so far, what was set aside, and what is true of their words."""

    blocks: list[Block] = field(default_factory=list)
    length: int = 0
    gap: str = "\n"  # what parts the next line from the last one
    in_row: bool = False  # the cells of a table row share a line
    _chunks: list[str] = field(default_factory=list)
    _waiting: list[Point] = field(default_factory=list)  # points of lines that came to nothing
    _asides: list[_SetAside] = field(default_factory=list)
    _marks: list[tuple[Point, Point, Flag, str]] = field(default_factory=list)
    _generated: list[tuple[Point, Point]] = field(default_factory=list)

    def write(self, line: Line, kind: BlockKind, *, lead: str = "", block: Block | None = None) -> bool:
        """Add ``line`` as one block; ``lead`` goes before it and is recorded as generated.

        ``block`` gives the other fields. A line without words is written only when the block has a label,
        because Word prints the number of an empty paragraph too. False when nothing was written.
        """
        raw = "".join(line.pieces)
        body = raw.strip() if lead else raw.strip(_EDGES)
        if not body:
            if block is None or not block.label:
                self._waiting += [point for _, point in line.points]
                return False
            lead = lead.rstrip()
        gap = self.gap or "\n"
        gap = gap if self._chunks else gap.lstrip("\n")
        start = self.length + len(gap)
        cut = raw.find(body) if body else 0
        for point in self._waiting:
            point.offset = start
        self._waiting.clear()
        for place, point in line.points:
            point.offset = start + len(lead) + min(max(place - cut, 0), len(body))
        if lead:
            self._generated.append((Point(start), Point(start + len(lead))))
        self._chunks += [gap, lead, body]
        span = Span(start, start + len(lead) + len(body))
        self.blocks.append(Block(span, kind) if block is None else replace(block, span=span, kind=kind))
        self.length = span.end
        self.gap = "" if self.in_row else "\n"
        return True

    def point(self) -> Point:
        """The place where the next line will begin."""
        found = Point()
        self._waiting.append(found)
        return found

    def set_aside(self, line: Line | None, text: str, kind: BlockKind, flags: tuple[Flag, ...], where: str) -> None:
        """Keep ``text`` beside the text, anchored at the end of ``line`` or before the next one."""
        last = line._open if line is not None else None
        if last is not None and (last.kind, last.flags, last.where) == (kind, flags, where):
            last.pieces.append(text)
            return
        anchor = self.point() if line is None else line.point()
        self.set_aside_at(anchor, text, kind, flags, where)
        if line is not None:
            line._open = self._asides[-1]

    def set_aside_at(self, anchor: Point, text: str, kind: BlockKind, flags: tuple[Flag, ...], where: str) -> None:
        """Keep ``text`` beside the text, anchored at ``anchor``."""
        self._asides.append(_SetAside([text], kind, anchor, flags, where))

    def mark(self, start: Point, end: Point, flag: Flag, detail: str = "") -> None:
        """Say ``flag`` of the words between two points."""
        self._marks.append((start, end, flag, detail))

    def is_generated(self, start: Point, end: Point) -> None:
        """Say that the characters between two points are not in the file."""
        self._generated.append((start, end))

    def close(self) -> None:
        """Place the points that no line followed; call it once all is written."""
        for point in self._waiting:
            point.offset = self.length
        self._waiting.clear()

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._chunks)

    def generated(self) -> tuple[Span, ...]:
        """Spans of characters that are not in the file, in order."""
        return tuple(sorted({Span(a.offset, b.offset) for a, b in self._generated if a.offset < b.offset}))

    def marks(self) -> tuple[Mark, ...]:
        """Marks in order, neighbours that say the same made one."""
        found = sorted((a.offset, b.offset, flag, detail) for a, b, flag, detail in self._marks if a.offset < b.offset)
        found.sort(key=lambda m: (m[2], m[3], m[0]))
        merged: list[Mark] = []
        for start, end, flag, detail in found:
            last = merged[-1] if merged else None
            if last is not None and last.flag == flag != "field" and last.detail == detail and last.span.end == start:
                merged[-1] = replace(last, span=Span(last.span.start, end))
            else:
                merged.append(Mark(Span(start, end), flag, detail))
        return tuple(sorted(merged, key=lambda m: (m.span, m.flag)))

    def asides(self) -> Iterator[Aside]:
        """What was set aside and is not blank, by anchor and then in the order of the file."""
        ordered = sorted(self._asides, key=lambda a: a.anchor.offset)
        for aside in ordered:
            text = "".join(aside.pieces)
            if text.strip():
                yield Aside(text.strip(_EDGES), aside.kind, aside.anchor.offset, aside.flags, where=aside.where)

    def absorb(self, other: Output, anchor: Point) -> None:
        """Take over what ``other`` (a header, a comment) set aside, anchored here."""
        for aside in other._asides:
            self.set_aside_at(anchor, "".join(aside.pieces), aside.kind, aside.flags, aside.where)
