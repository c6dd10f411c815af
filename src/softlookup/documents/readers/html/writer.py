"""Collects the lines of a page while its elements are walked; knows no element. ``html_compose.py`` joins them.

Blanks are collapsed as text is added, so that every place is known when it is met: a mark, a link or a hidden
passage refers to (line, offset in the line) until the lines are joined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from softlookup.documents.model import BlockKind, Flag

# a blank alone is left as it is: the pattern must not match it, for speed
_SPACE = re.compile(" ?[\t\r\n\f\v\xa0\u2002\u2003\u2009][ \t\r\n\f\v\xa0\u2002\u2003\u2009]*| {2,}")
_CURRENCY = ("$", "€", "£", "¥", "￥", "(", "US$", "RMB", "HK$")
_CLOSING = (")", "%", ")%", "%)")
Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Context:
    """What kind of text is being added, by the elements around it."""

    kind: BlockKind = "paragraph"
    level: int | None = None
    origin: str = ""


@dataclass(slots=True)
class Line:
    """A line with what is known of it; ``raw`` lines keep their blanks and are cut into paragraphs later."""

    text: str
    context: Context
    label: str = ""
    level: int | None = None
    list_id: str = ""
    generated: tuple[tuple[int, int], ...] = ()
    raw: bool = False


@dataclass(slots=True)
class Writer:
    """The line that is open, the lines before it, and what was met at which place."""

    lines: list[Line] = field(default_factory=list)
    breaks: list[tuple[int, bool]] = field(default_factory=list)
    asides: list[tuple[Place, str, BlockKind, tuple[Flag, ...], str]] = field(default_factory=list)
    spans: list[tuple[Place, Place, Flag]] = field(default_factory=list)
    links: list[tuple[Place, Place, str]] = field(default_factory=list)
    anchors: dict[str, Place] = field(default_factory=dict)
    cell_fresh: bool = False
    _pieces: list[str] = field(default_factory=list)
    _length: int = 0
    _context: Context = Context()
    _generated: list[tuple[int, int]] = field(default_factory=list)
    _label: tuple[str, int | None, str] = ("", None, "")  # of the open line
    _due: tuple[str, int | None, str] | None = None  # of the next line
    _break_due: bool = False
    _tab_due: bool = False
    _aside: list[str] = field(default_factory=list)
    _aside_key: tuple[BlockKind, tuple[Flag, ...], str] = ("paragraph", (), "")
    _aside_at: Place = (0, 0)

    @property
    def place(self) -> Place:
        """Where the next character will stand, as far as it is known."""
        return (len(self.lines) + 1, 0) if self._break_due and self._length else (len(self.lines), self._length)

    def add(self, text: str, context: Context, *, generated: bool = False, mark: Flag | None = None) -> None:
        """Add visible text to the line; runs of blanks become one."""
        text = text if generated else _SPACE.sub(" ", text)
        if not text.strip(" "):
            if text and self._length and not self._break_due and not self._tab_due and not self._ends_blank():
                self._append(" ")
            return
        self._flush_aside()
        if self._break_due:
            self.flush()
        if not self._length:
            self._context = context
            text = text.lstrip(" ")
            if self._due is not None:
                self._label, self._due = self._due, None
                self._append(f"{self._label[0]} ", generated=True)
        elif self._tab_due:
            text = text.lstrip(" ")
            self._separate(text)
        elif self._ends_blank() and not generated:
            text = text.lstrip(" ")
        self._tab_due = self.cell_fresh = False
        start = self.place
        self._append(text, generated=generated)
        if mark is not None:
            self.spans.append((start, self.place, mark))

    def _separate(self, text: str) -> None:
        """Put a tab between two cells, except where a sign was given a cell of its own."""
        while self._pieces and self._pieces[-1].endswith(" "):
            self._length -= len(self._pieces[-1]) - len(self._pieces[-1].rstrip(" "))
            self._pieces[-1] = self._pieces[-1].rstrip(" ")
            if not self._pieces[-1]:
                self._pieces.pop()
        last = "".join(self._pieces[-3:]).rsplit("\t", 1)[-1]
        if last not in _CURRENCY and text.strip() not in _CLOSING:
            self._append("\t")

    def _ends_blank(self) -> bool:
        return bool(self._pieces) and self._pieces[-1][-1:] in (" ", "\t")

    def _append(self, text: str, *, generated: bool = False) -> None:
        if generated:
            self._generated.append((self._length, self._length + len(text)))
        self._pieces.append(text)
        self._length += len(text)

    def gap(self) -> None:
        """Room between two words that the page makes by its style, not by a blank."""
        if self._length and not (self._break_due or self._tab_due or self._ends_blank()):
            self._append(" ", generated=True)

    def add_raw(self, text: str, context: Context, mark: Flag | None = None) -> None:
        """Add preformatted text: line ends and blanks stay."""
        if text.strip():
            self._flush_aside()
        first, *rest = text.split("\n")
        start = self.place
        self._context = context
        self._append(first)
        for line in rest:
            self._end_raw()
            self._append(line)
        if mark is not None:
            self.spans.append((start, self.place, mark))

    def _end_raw(self) -> None:
        text = "".join(self._pieces).rstrip()
        if text or (self.lines and self.lines[-1].text):  # one blank line says as much as many
            self.lines.append(Line(text, self._context, raw=True))
        self._reset()

    def end_raw(self) -> None:
        """End preformatted text."""
        if self._length:
            self._end_raw()

    def hide(self, text: str, flag: Flag | None, kind: BlockKind = "paragraph", where: str = "") -> None:
        """Put text aside that is not read, anchored here."""
        key = (kind, () if flag is None else (flag,), where)
        if key != self._aside_key:
            self._flush_aside()
        if not self._aside:
            if not text.strip():
                return
            self._aside_at, self._aside_key = self.place, key
        self._aside.append(text)

    def _flush_aside(self) -> None:
        if self._aside:
            text = "\n".join(" ".join(line.split()) for line in "".join(self._aside).split("\n") if line.strip())
            kind, flags, where = self._aside_key
            if text:
                self.asides.append((self._aside_at, text, kind, flags, where))
            self._aside.clear()

    def number(self, label: str, level: int, list_id: str) -> None:
        """The next line carries an automatic number; one that is still due gets a line of its own."""
        self.flush()
        if self._due is not None:
            self._label = self._due
            self._append(self._due[0], generated=True)
            self._due = None
            self.flush()
        self._due = (label, level, list_id)

    def state_label(self, label: str, level: int, list_id: str) -> None:
        """The open line carries a number that the page has as text."""
        self._label = (label, level, list_id)

    def drop_number(self) -> None:
        """An item ended without text: its number is not shown."""
        self._due = None

    def end_block(self) -> None:
        """The next text begins a new line, unless it is the first of a table cell."""
        if self._aside:
            self._aside.append("\n")
        if not self.cell_fresh:
            self._break_due = True

    def begin_cell(self, *, same_line: bool) -> None:
        """The next text stands in the next cell of a row: after a tab, or on a line of its own."""
        if self._length:
            self._break_due = not same_line
            self._tab_due = same_line
        self.cell_fresh = True
        if self._aside:
            self._aside.append("\t")

    def page_break(self, *, hard: bool) -> None:
        """A new page begins; ``hard`` when nothing else can be meant."""
        self.flush()
        self.breaks.append((len(self.lines), hard))

    def flush(self) -> None:
        """End the open line."""
        if self._length:
            text = "".join(self._pieces).rstrip(" \t")
            label, level, list_id = self._label
            generated = tuple((s, min(e, len(text))) for s, e in self._generated if s < len(text))
            self.lines.append(Line(text, self._context, label, level, list_id, generated))
        self._reset()

    def _reset(self) -> None:
        self._pieces.clear()
        self._generated.clear()
        self._length = 0
        self._label = ("", None, "")
        self._break_due = self._tab_due = self.cell_fresh = False

    def finish(self) -> None:
        """End the open line and what stands aside."""
        self.flush()
        self._flush_aside()
