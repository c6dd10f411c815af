"""A document cut into parts that a browser loads when they are scrolled to, and its clause tree by branches."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from softlookup.documents.language import Language, language_of
from softlookup.documents.model import Clause, Document, Span
from softlookup.ui.document_view import Highlight, Piece, document_pieces
from softlookup.ui.report.cells import Cell, document_cells
from softlookup.ui.report.words import WORDS

if TYPE_CHECKING:
    from softlookup.documents.model import TextLine

_PART = 6_000  # characters of a part: about two printed pages
_MOST_CELLS = 600  # of a strip
_SNIPPET = 70
BRANCH = 200  # clauses of one level that are sent at once


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of text, or a page of a PDF; ``first`` is the first clause that begins in it or later."""

    number: int
    start: int
    end: int
    first: int
    page: int | None
    last_page: int | None


@dataclass(frozen=True, slots=True)
class TreeItem:
    """A line of the clause tree. ``place`` and ``size``: which of how many on its level it is."""

    index: int
    label: str
    name: str
    has_heading: bool
    level: int
    place: int
    size: int
    children: int


class ShownDocument:
    """What the page needs of a document again and again; built once, in a thread."""

    def __init__(self, document: Document, count_tokens: Callable[[str], int] | None = None) -> None:
        self.document = document
        self._count_tokens = count_tokens
        self._starts = [clause.span.start for clause in document.clauses]
        self._children: dict[int | None, list[int]] = {}
        for clause in document.clauses:
            self._children.setdefault(clause.parent, []).append(clause.index)
        self.parts, self._html = self._cut()

    @property
    def is_pdf(self) -> bool:
        """Whether there are pages to show."""
        return self.document.source.format == "pdf" and bool(self.document.coverage.pages)

    @cached_property
    def lang(self) -> str:
        """The language of the text, as HTML names it."""
        return "zh-CN" if language_of(self.document.text) == "zh" else "en"

    @cached_property
    def sheets(self) -> tuple[Part, ...]:
        """The pages of a PDF."""
        starts = self._page_starts()
        found: list[Part] = []
        for page in range(1, (self.document.coverage.pages or 0) + 1):
            start = starts.get(page, found[-1].end if found else 0)
            end = starts.get(page + 1, start)
            found.append(Part(page, start, end, self._first_clause(start), page, page))
        return tuple(found)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Cells of the strip."""
        return document_cells(self.document, self._count_tokens or len, _MOST_CELLS)

    def unit(self, language: Language) -> str:
        """What the length of a cell counts."""
        return WORDS[language]["tokens" if self._count_tokens else "characters"]

    @cached_property
    def lines(self) -> dict[int, list[TextLine]]:
        """Printed lines by page."""
        found: dict[int, list[TextLine]] = {}
        for line in self.document.lines:
            found.setdefault(line.box.page, []).append(line)
        return found

    def part_html(self, number: int, highlights: Sequence[Highlight] = ()) -> str:
        """The paragraphs of a part. Raises ``IndexError`` when there is no such part."""
        part = self.parts[number]
        mine = [h for h in highlights if h.span.start < part.end and part.start < h.span.end]
        if not mine:
            return self._html[number]
        return _joined(document_pieces(self.document, mine, within=[Span(part.start, part.end)]))

    def part_at(self, offset: int) -> int:
        """Number of the part that holds a character."""
        return max(0, bisect_right(self.parts, offset, key=lambda part: part.start) - 1)

    def branch(self, parent: int | None, offset: int = 0) -> tuple[tuple[TreeItem, ...], int]:
        """Clauses below ``parent`` (None: outermost) from number ``offset`` on, and how many there are."""
        all_of_it = self._children.get(parent, [])
        chosen = all_of_it[offset : offset + BRANCH]
        items = tuple(self._item(index, offset + n, len(all_of_it)) for n, index in enumerate(chosen, 1))
        return items, len(all_of_it)

    def path_to(self, index: int) -> tuple[int, ...]:
        """Clause ``index`` and those around it, outermost first."""
        return (*reversed([clause.index for clause in self.document.ancestors(index)]), index)

    def name_of(self, clause: Clause) -> str:
        """Heading of a clause, or its first words."""
        if clause.heading:
            return clause.heading
        at = clause.span.start + (
            len(clause.label) if self.document.text.startswith(clause.label, clause.span.start) else 0
        )
        words = " ".join(self.document.text[at : min(clause.span.end, at + 2 * _SNIPPET)].split())
        return words if len(words) <= _SNIPPET else words[: _SNIPPET - 1].rstrip() + "…"

    def _item(self, index: int, place: int, size: int) -> TreeItem:
        clause = self.document.clauses[index]
        return TreeItem(
            index, clause.label, self.name_of(clause), bool(clause.heading), clause.level, place, size,
            len(self._children.get(index, ())),
        )  # fmt: skip

    def _cut(self) -> tuple[tuple[Part, ...], tuple[str, ...]]:
        parts: list[Part] = []
        html: list[str] = []
        group: list[Piece] = []
        for piece in document_pieces(self.document):
            if group and piece.end - group[0].start > _PART:
                self._close(group, parts, html)
                group = []
            group.append(piece)
        if group:
            self._close(group, parts, html)
        return tuple(parts), tuple(html)

    def _close(self, group: Sequence[Piece], parts: list[Part], html: list[str]) -> None:
        pages = [piece.page for piece in group if piece.page is not None]
        start = group[0].start
        parts.append(
            Part(
                len(parts), start, group[-1].end, self._first_clause(start),
                pages[0] if pages else None, pages[-1] if pages else None,
            )
        )  # fmt: skip
        html.append(_joined(group))

    def _first_clause(self, offset: int) -> int:
        return bisect_right(self._starts, offset - 1)

    def _page_starts(self) -> dict[int, int]:
        """Offset of the first character of every page that has any; of an empty one that of the next."""
        starts: dict[int, int] = {}
        for block in self.document.blocks:
            if block.page is not None:
                starts[block.page] = min(block.span.start, starts.get(block.page, block.span.start))
        return starts


def _joined(pieces: Iterable[Piece]) -> str:
    """Paragraphs, each with its clause and its place."""
    found = []
    for piece in pieces:
        clause = "" if piece.clause is None else f' data-clause="{piece.clause}"'
        found.append(f'<p data-at="{piece.start}"{clause}{piece.html.removeprefix("<p")}')
    return "\n".join(found)
