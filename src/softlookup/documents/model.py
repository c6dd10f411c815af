"""The document model: immutable text, blocks, clause tree, terms, references, coverage; no parsing here.

Offsets are half-open Python code-point offsets into ``Document.text``, never bytes or tokens.
``Document.text`` is what the model reads and what quotes are compared with: ``text[start:end] == quote``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

BlockKind = Literal["paragraph", "heading", "list_item", "table_cell", "footnote", "toc"]
LabelSource = Literal["typed", "auto", "inferred"]
ReferenceStatus = Literal["resolved", "dangling", "external", "inferred"]
# how clause ``CrossReference.source_clause`` stands to its target
ReferenceEffect = Literal["refers", "subject_to", "overrides", "exception_to", "same_as_preceding"]
TermKind = Literal["means", "meaning_given_in", "parenthetical", "short_name"]
CoverageState = Literal["read", "empty", "scanned", "failed", "skipped"]


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open code-point range ``[start, end)`` of ``Document.text``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"span needs 0 <= start <= end, got [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start

    def overlap(self, other: Span) -> int:
        """Number of characters that both spans cover."""
        return max(0, min(self.end, other.end) - max(self.start, other.start))


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph-like unit of the source, in reading order.

    ``label`` is the printed clause label when the format carries it outside the running text
    (automatic numbering in DOCX); it then also stands at the start of the block's text.
    ``level`` is the outline or list level (0 = outermost) when the format states one.
    ``list_id`` names the automatic list that ``label`` counts in ("" for none); labels of one list are
    nested by ``level``.
    """

    span: Span
    kind: BlockKind = "paragraph"
    label: str = ""
    level: int | None = None
    page: int | None = None
    list_id: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A node of the clause tree; ``index`` is its position in ``Document.clauses`` (document order).

    ``span`` covers the label, the heading, the own text and every descendant. ``number`` is the label
    as printed, without trailing punctuation ("8.2", "(a)", "Section 4", "第三条"); empty for text that
    carries none. ``path`` joins the labels of the ancestors: "8.2(a)", "Schedule 2/3.1", "第三条（一）".
    """

    index: int
    number: str
    heading: str
    span: Span
    parent: int | None
    level: int
    path: str
    page: int | None = None
    label_source: LabelSource = "typed"


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A term and the place that defines it; ``clause`` is the innermost clause that holds ``span``."""

    term: str
    span: Span
    clause: int
    kind: TermKind
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrossReference:
    """The words at ``span`` point from ``source_clause`` to ``targets`` (clause indices)."""

    span: Span
    source_clause: int
    targets: tuple[int, ...]
    status: ReferenceStatus
    effect: ReferenceEffect = "refers"


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """What became of one unit (a page, a part, a member): nothing is lost without a row."""

    unit: str
    state: CoverageState
    characters: int
    reason: str = ""

    def __str__(self) -> str:
        """Such as "page 3: scanned (a picture)"; a left-out part is named by its reason alone."""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.unit}{reason}" if self.state == "skipped" else f"{self.unit}: {self.state}{reason}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Account of everything in the file. ``pages`` is None for formats without pages."""

    rows: tuple[CoverageRow, ...]
    pages: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def skipped(self) -> tuple[CoverageRow, ...]:
        """Rows whose content is missing from ``Document.text``; an empty page is no loss."""
        return tuple(row for row in self.rows if row.state in ("scanned", "failed", "skipped"))

    @property
    def complete(self) -> bool:
        """True when nothing of the body was lost (``skipped`` decoration such as images is no loss)."""
        return not any(row.state in ("scanned", "failed") for row in self.rows)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the document came from."""

    path: str
    sha256: str
    format: str
    size: int


@dataclass(frozen=True, slots=True)
class Document:
    """An immutable document. Build it with :func:`softlookup.documents.read.read_document`."""

    text: str
    source: Source
    blocks: tuple[Block, ...]
    clauses: tuple[Clause, ...]
    coverage: Coverage
    terms: tuple[DefinedTerm, ...] = ()
    references: tuple[CrossReference, ...] = ()
    generated: tuple[Span, ...] = field(default=(), repr=False)

    def children(self, index: int) -> tuple[Clause, ...]:
        """Direct children of clause ``index`` in document order."""
        return tuple(clause for clause in self.clauses if clause.parent == index)

    def clause_at(self, offset: int) -> Clause:
        """Innermost clause whose span holds character ``offset``.

        Raises ``IndexError`` when no clause does (offset outside the text).
        """
        at = bisect_right(self.clauses, offset, key=lambda clause: clause.span.start) - 1
        while at >= 0:  # the last clause that starts before, or the first of its ancestors that reaches so far
            clause = self.clauses[at]
            if clause.span.start <= offset < clause.span.end:
                return clause
            at = -1 if clause.parent is None else clause.parent
        raise IndexError(f"no clause at offset {offset} of a text of {len(self.text)} characters")

    def ancestors(self, index: int) -> Iterator[Clause]:
        """Parent, grandparent, ... of clause ``index``."""
        parent = self.clauses[index].parent
        while parent is not None:
            yield self.clauses[parent]
            parent = self.clauses[parent].parent

    def own_spans(self) -> tuple[tuple[int, Span], ...]:
        """(clause index, own text) pairs that tile the text: each clause without its descendants.

        A clause whose text continues after a child appears more than once.
        """
        pieces: list[tuple[int, Span]] = []
        open_clauses: list[Clause] = []
        cursor = 0

        def take(index: int, end: int) -> None:
            nonlocal cursor
            if end > cursor:
                pieces.append((index, Span(cursor, end)))
                cursor = end

        for clause in self.clauses:  # pre-order: whoever is open gets the text up to the next start
            while open_clauses and open_clauses[-1].span.end <= clause.span.start:
                ended = open_clauses.pop()
                take(ended.index, ended.span.end)
            if open_clauses:
                take(open_clauses[-1].index, clause.span.start)
            cursor = clause.span.start
            open_clauses.append(clause)
        while open_clauses:
            ended = open_clauses.pop()
            take(ended.index, ended.span.end)
        return tuple(pieces)

    def page_at(self, offset: int) -> int | None:
        """Page (from 1) that holds ``offset``, None for formats without pages."""
        at = bisect_right(self.blocks, offset, key=lambda block: block.span.start) - 1
        while at >= 0 and self.blocks[at].page is None:
            at -= 1
        return self.blocks[at].page if at >= 0 else None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form without the text: source, clauses, terms, references, coverage."""
        return {
            "schema": 1,
            "document": {"path": self.source.path, "sha256": self.source.sha256, "format": self.source.format},
            "characters": len(self.text),
            "clauses": [
                {
                    "index": c.index,
                    "number": c.number,
                    "heading": c.heading,
                    "path": c.path,
                    "level": c.level,
                    "parent": c.parent,
                    "start": c.span.start,
                    "end": c.span.end,
                    "page": c.page,
                }
                for c in self.clauses
            ],
            "terms": [
                {"term": t.term, "clause": t.clause, "start": t.span.start, "end": t.span.end, "kind": t.kind}
                for t in self.terms
            ],
            "references": [
                {
                    "start": r.span.start,
                    "end": r.span.end,
                    "source": r.source_clause,
                    "targets": list(r.targets),
                    "status": r.status,
                    "effect": r.effect,
                }
                for r in self.references
            ],
            "coverage": {
                "pages": self.coverage.pages,
                "complete": self.coverage.complete,
                "rows": [
                    {"unit": r.unit, "state": r.state, "characters": r.characters, "reason": r.reason}
                    for r in self.coverage.rows
                ],
                "notes": list(self.coverage.notes),
            },
        }
