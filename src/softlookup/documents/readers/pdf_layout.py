"""Undoes page layout: wrapped lines and cut words become paragraphs; works on lines with boxes.

Knows nothing of PDF or pdfium. Offsets inside a paragraph are in characters.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from softlookup.documents.model import BlockKind
from softlookup.documents.readers.pdf_breaks import HAN, pitch_of, right_margin, starts, starts_after_break
from softlookup.documents.readers.pdf_hyphens import MARKS, Hyphens
from softlookup.documents.readers.pdf_lines import Line, Page

_TABLE_ROWS = 3  # rows one after another


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


def paragraphs(pages: Sequence[Page], removed: Mapping[tuple[int, int], BlockKind]) -> Layout:
    """Paragraphs of all pages in order; one may run on over a page break."""
    hyphens = Hyphens(line.text for page in pages for line in page.lines)
    layout = Layout()
    before: Line | None = None
    fills = False  # the last line of the page before reaches the right margin
    for page in pages:
        kept = [line for i, line in enumerate(page.lines) if (page.number, i) not in removed and line.aside is None]
        pitch, right = pitch_of(kept), right_margin(kept)
        rows = _table_rows(kept)
        first = True
        at = -1
        for index, line in enumerate(page.lines):
            kind = removed.get((page.number, index))
            if kind is not None or line.aside is not None:
                _put_beside(layout, line, page, kind or "paragraph")
                continue
            at += 1
            text = line.text.strip(" \t")
            if not text.strip(" \u00ad\ufffe"):
                _put_beside(layout, line, page, "paragraph")
                continue
            in_table = at in rows
            if before is None or in_table or before.flag != line.flag or (at - 1 in rows and not first):
                starts_here = True
            elif first:
                starts_here = starts_after_break(before.text, text, filled=fills)
            else:
                starts_here = starts(before, line, text, pitch, right)
            if starts_here:
                layout.paragraphs.append(Paragraph(page.number, "table_cell" if in_table else "paragraph"))
                layout.paragraphs[-1].add(text, line, page)
            else:
                _join(layout, text, line, page, hyphens)
            before, first = line, False
        fills = before is not None and right > 0 and before.right >= right - 0.12 * right
    for paragraph in layout.paragraphs:
        _without_marks(paragraph)
    return layout


def _put_beside(layout: Layout, line: Line, page: Page, kind: BlockKind) -> None:
    last = len(layout.paragraphs) - 1
    offset = layout.paragraphs[-1].length if layout.paragraphs else 0
    layout.beside.append(Beside(line, page, kind, last, offset))


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


def _join(layout: Layout, text: str, line: Line, page: Page, hyphens: Hyphens) -> None:
    """Append a wrapped line: a word cut at the line end is joined, Chinese runs on, else a blank."""
    paragraph = layout.paragraphs[-1]
    head = paragraph.parts[-1]
    cut = hyphens.join(head, text)
    if cut is not None:
        paragraph.replace_end(*cut)
        if not cut[1]:
            where = paragraph.pieces[-1].page.number
            layout.cut[where] = layout.cut.get(where, 0) + 1
    elif not (HAN.match(head[-1]) and HAN.match(text[0])):
        paragraph.blank()
    paragraph.add(text, line, page)
