"""Undoes page layout: wrapped lines and cut words become paragraphs; works on lines with boxes.

Knows nothing of PDF or pdfium. Offsets inside a paragraph are in characters.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from softlookup.documents.model import BlockKind
from softlookup.documents.readers.pdf.breaks import (
    HAN,
    continues_cell,
    is_next_label,
    pitch_of,
    right_margin,
    starts,
    starts_after_break,
)
from softlookup.documents.readers.pdf.hyphens import MARKS, Hyphens
from softlookup.documents.readers.pdf.lines import Line, Page

_FILLED = 0.88  # of the way to the right margin
_TABLE_ROWS = 3  # rows one after another


Place = tuple[int, int]  # page number, index of the line


@dataclass(frozen=True, slots=True)
class Piece:
    """A line at its place in a paragraph: ``length`` characters of it from ``offset`` on."""

    offset: int
    length: int
    line: Line
    page: Page


@dataclass(frozen=True, slots=True)
class Beside:
    """A line that stays out of the text, and where it stood: in paragraph ``paragraph`` at ``offset``."""

    line: Line
    page: Page
    kind: BlockKind
    paragraph: int
    offset: int


@dataclass(slots=True)
class Paragraph:
    """Joined lines; ``joins`` are the offsets of blanks that replace a line end."""

    page: int
    kind: BlockKind = "paragraph"
    parts: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    joins: list[int] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.parts)

    def add(self, text: str, line: Line, page: Page) -> None:
        """Append a line as it is."""
        self.pieces.append(Piece(self.length, len(text), line, page))
        self.parts.append(text)
        self.length += len(text)

    def replace_end(self, taken: int, put: str) -> None:
        """Replace the last ``taken`` characters, which belong to the last line, by as many or none."""
        last = self.pieces[-1]
        self.parts[-1] = self.parts[-1][: len(self.parts[-1]) - taken] + put
        self.length += len(put) - taken
        self.pieces[-1] = replace(last, length=last.length - taken + len(put))

    def blank(self) -> None:
        """Append the blank that stands for a line end."""
        self.joins.append(self.length)
        self.parts.append(" ")
        self.length += 1


@dataclass(slots=True)
class Layout:
    """Paragraphs of a document and what stands beside them, both in order; ``cut`` hyphens were taken off."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)


def paragraphs(
    pages: Sequence[Page], removed: Mapping[Place, BlockKind], notes: Mapping[Place, bool] | None = None
) -> Layout:
    """Paragraphs of all pages in order; one may run on over a page break.

    ``notes`` are the lines of footnotes, True where one begins: they follow the paragraph that they interrupt.
    """
    notes = notes or {}
    hyphens = Hyphens(line.text for page in pages for line in page.lines)
    layout = Layout()
    body, foot = _Flow(hyphens, layout.cut), _Flow(hyphens, layout.cut)
    after: list[int] = []  # the last paragraph before each footnote
    for page in pages:
        places = [(page.number, i) for i in range(len(page.lines))]
        kept = [i for i, line in enumerate(page.lines) if places[i] not in removed and line.aside is None]
        body.open(page, [page.lines[i] for i in kept if places[i] not in notes])
        foot.open(page, [page.lines[i] for i in kept if places[i] in notes])
        for place, line in zip(places, page.lines, strict=True):
            if place in removed or line.aside is not None or not line.text.strip(" \t\u00ad\ufffe"):
                layout.beside.append(body.beside(line, removed.get(place, "paragraph")))
                if place in removed:
                    body.interrupt(line)
            elif place in notes:
                foot.take(line, begins=notes[place], kind="footnote")
            else:
                body.take(line)
        after += [len(body.paragraphs) - 1] * (len(foot.paragraphs) - len(after))
        body.close()
        foot.close()
    _merge(layout, body.paragraphs, foot.paragraphs, after)
    return layout


def _merge(layout: Layout, body: Sequence[Paragraph], foot: Sequence[Paragraph], after: Sequence[int]) -> None:
    """Put each footnote behind its paragraph, and what stands beside where its paragraph is now."""
    waiting = sorted(range(len(foot)), key=lambda i: (after[i], i), reverse=True)
    moved: list[int] = []
    for index in range(-1, len(body)):
        if index >= 0:
            moved.append(len(layout.paragraphs))
            layout.paragraphs.append(body[index])
        while waiting and after[waiting[-1]] == index:
            layout.paragraphs.append(foot[waiting.pop()])
    layout.beside[:] = [b if b.paragraph < 0 else replace(b, paragraph=moved[b.paragraph]) for b in layout.beside]
    for paragraph in layout.paragraphs:
        _without_marks(paragraph)


class _Flow:
    """Joins the lines of the body, or those of the footnotes, to paragraphs."""

    def __init__(self, hyphens: Hyphens, cut: dict[int, int]) -> None:
        self.paragraphs: list[Paragraph] = []
        self._hyphens = hyphens
        self._cut = cut
        self._before: Line | None = None
        self._fills = False  # the last line reaches the right margin
        self._broken: Line | None = None  # what was left of a page break after the last line

    def open(self, page: Page, lines: Sequence[Line]) -> None:
        """Begin a page, whose lines in this flow are ``lines``."""
        self._page = page
        self._pitch, self._right = pitch_of(lines), right_margin(lines)
        self._rows = _table_rows(lines)
        self._at = -1
        self._after_row = False

    def close(self) -> None:
        """End the page."""
        self._broken = None
        if self._at >= 0 and self._before is not None:
            self._fills = self._right > 0 and self._before.right >= _FILLED * self._right

    def beside(self, line: Line, kind: BlockKind) -> Beside:
        """A line that stays out of the text at this place."""
        offset = self.paragraphs[-1].length if self.paragraphs else 0
        return Beside(line, self._page, kind, len(self.paragraphs) - 1, offset)

    def interrupt(self, line: Line) -> None:
        """A running line inside the page: an earlier print had a page break here."""
        self._broken = line

    def take(self, line: Line, *, begins: bool = False, kind: BlockKind = "paragraph") -> None:
        """Append the next line."""
        self._at += 1
        text = line.text.strip(" \t")
        in_table = self._at in self._rows
        ends_row = self._after_row and self._before is not None and not continues_cell(self._before, line)
        if begins or in_table or ends_row or self._starts(line, text):
            self.paragraphs.append(Paragraph(self._page.number, "table_cell" if in_table else kind))
            self.paragraphs[-1].add(text, line, self._page)
        else:
            self._join(text, line)
        self._before, self._after_row, self._broken = line, in_table, None

    def _starts(self, line: Line, text: str) -> bool:
        before = self._before
        if before is None or before.flag != line.flag:
            return True
        if self._at == 0:
            return starts_after_break(before.text, text, filled=self._fills)
        if self._broken is not None and before.bottom > self._broken.bottom > line.bottom:
            filled = self._right > 0 and before.right >= _FILLED * self._right
            return starts_after_break(before.text, text, filled=filled)
        opening = self.paragraphs[-1].pieces[0].line
        return starts(before, line, text, self._pitch, self._right) or is_next_label(opening, before, line)

    def _join(self, text: str, line: Line) -> None:
        """A wrapped line: a word cut at the line end is joined, Chinese runs on, else a blank."""
        paragraph = self.paragraphs[-1]
        head = paragraph.parts[-1]
        cut = self._hyphens.join(head, text)
        if cut is not None:
            paragraph.replace_end(*cut)
            if not cut[1]:
                where = paragraph.pieces[-1].page.number
                self._cut[where] = self._cut.get(where, 0) + 1
        elif not (HAN.match(head[-1]) and HAN.match(text[0])):
            paragraph.blank()
        paragraph.add(text, line, self._page)


def _table_rows(lines: Sequence[Line]) -> set[int]:
    """Indices of lines with tabs that stand one after another: rows of a table."""
    found: set[int] = set()
    for has_tab, group in itertools.groupby(range(len(lines)), key=lambda i: "\t" in lines[i].text):
        run = list(group)
        if has_tab and len(run) >= _TABLE_ROWS:
            found.update(run)
    return found


def _without_marks(paragraph: Paragraph) -> None:
    for mark in MARKS:
        if any(mark in part for part in paragraph.parts):
            paragraph.parts = [part.replace(mark, "-") for part in paragraph.parts]
