"""The document model: immutable text, blocks, clause tree, terms, references; no parsing here.

Offsets are half-open Python code-point offsets into ``Document.text``, never bytes or tokens.
``Document.text`` is what the model reads and what quotes are compared with: ``text[start:end] == quote``.
What a file holds beside the reading text (running headers, hidden and deleted words, comments) is in
``Document.aside``, so that nothing is lost and nothing that is not contract text reaches an answer.
``coverage.py`` has the account of what was read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

# fmt: off
# part of the model, so they are offered here too
from softlookup.documents.coverage import Coverage as Coverage  # noqa: PLC0414
from softlookup.documents.coverage import CoverageCounts as CoverageCounts  # noqa: PLC0414
from softlookup.documents.coverage import CoverageRow as CoverageRow  # noqa: PLC0414
from softlookup.documents.coverage import CoverageState as CoverageState  # noqa: PLC0414

# fmt: on

BlockKind = Literal[
    "paragraph", "heading", "list_item", "table_cell", "footnote", "endnote", "textbox", "toc",
    "header", "footer", "comment",  # these three stand in ``Document.aside`` only
]  # fmt: skip
Flag = Literal[
    # why words are not in the reading text, or how they came into it
    "deleted", "inserted", "moved", "hidden", "tiny", "offpage", "low_contrast", "field", "stale_ref",
    "ocr", "ocr_layer", "garbled", "rotated", "order_doubtful", "redacted", "control_chars", "template_code",
    # about clause numbers, which are kept as printed
    "duplicate_number", "out_of_order", "gap_before", "confusable",
]  # fmt: skip
View = Literal["final", "original", "markup"]
LabelSource = Literal["typed", "auto", "inferred"]
ReferenceKind = Literal["explicit", "list", "range", "relative", "anaphora", "external", "field"]
ReferenceStatus = Literal["resolved", "dangling", "external", "ambiguous", "inferred"]
# how clause ``CrossReference.source_clause`` stands to its target
ReferenceEffect = Literal["refers", "subject_to", "overrides", "exception_to", "same_as_preceding"]
TermKind = Literal["means", "meaning_given_in", "parenthetical", "short_name"]


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
class Box:
    """Rectangle on a page in points, origin at the lower left of the page as displayed; pages count from 1."""

    page: int
    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class TextLine:
    """A printed line: ``box`` surrounds ``text[span]``.

    ``edges`` holds ``len(span)`` pairs (left, right) of 32-bit floats in native order, in points, one per
    character; empty when only the box of the line is known. A blank that the reader put in has left == right.
    """

    span: Span
    box: Box
    edges: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Mark:
    """Something true of ``text[span]``: inserted or deleted words of the markup view, a stale field, OCR."""

    span: Span
    flag: Flag
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """The file itself says that the words at ``span`` point to the paragraph at offset ``target``.

    From REF fields with bookmarks (DOCX) and internal anchors (HTML, PDF). ``computed`` is the label that the
    target has, when the printed words disagree with it (a field that was not updated); else "".
    """

    span: Span
    target: int
    computed: str = ""


@dataclass(frozen=True, slots=True)
class Aside:
    """Words of the file that are not in ``Document.text``, with their reason.

    ``kind`` and ``flags`` say what they are (a running header; hidden, deleted, off the page); ``anchor`` is the
    offset in ``Document.text`` where they stood. ``where`` names the place in the file ("word/header1.xml").
    """

    text: str
    kind: BlockKind
    anchor: int
    flags: tuple[Flag, ...] = ()
    page: int | None = None
    where: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph-like unit of the source, in reading order.

    ``label`` is the printed clause label when the format carries it outside the running text
    (automatic numbering in DOCX); it then also stands at the start of the block's text.
    ``level`` is the outline or list level (0 = outermost) when the format states one.
    ``list_id`` names the automatic list that ``label`` counts in ("" for none); labels of one list are
    nested by ``level``. ``origin`` leads back into the file ("word/document.xml p12", "page 3 line 7").
    """

    span: Span
    kind: BlockKind = "paragraph"
    label: str = ""
    level: int | None = None
    page: int | None = None
    list_id: str = ""
    flags: tuple[Flag, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Clause:
    """A node of the clause tree; ``index`` is its position in ``Document.clauses`` (document order).

    ``span`` covers the label, the heading, the own text and every descendant. ``label`` is the label as printed
    ("8.2.", "(a)", "Section 4.", "第三条"), ``number`` the same without trailing punctuation; both empty for text
    that carries none. ``values`` is the normalised number: (8, 2) for "8.2", (4,) for "Section IV" and "第四条",
    (2,) for "(b)". ``path`` joins the labels of the ancestors: "8.2(a)", "Schedule 2/3.1", "第三条（一）".
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
    label: str = ""
    values: tuple[int, ...] = ()
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True)
class DefinedTerm:
    """A term and the place that defines it; ``clause`` is the innermost clause that holds ``span``.

    ``uses`` are the places outside the definition that use it, in document order.
    """

    term: str
    span: Span
    clause: int
    kind: TermKind
    aliases: tuple[str, ...] = ()
    uses: tuple[Span, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class CrossReference:
    """The words at ``span`` point from ``source_clause`` to ``targets`` (clause indices).

    ``status`` is "ambiguous" when several clauses carry the number and nothing decides between them: then all
    are targets; "inferred" when the target is the likely antecedent of "such X".
    """

    span: Span
    source_clause: int
    targets: tuple[int, ...]
    status: ReferenceStatus
    effect: ReferenceEffect = "refers"
    kind: ReferenceKind = "explicit"


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
    aside: tuple[Aside, ...] = field(default=(), repr=False)
    marks: tuple[Mark, ...] = field(default=(), repr=False)
    links: tuple[Link, ...] = field(default=(), repr=False)
    lines: tuple[TextLine, ...] = field(default=(), repr=False)
    view: View = "final"

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

    def boxes(self, span: Span) -> tuple[Box, ...]:
        """One box per printed line that ``span`` touches, in reading order; () for formats without pages.

        Exact to the character where the line has ``edges``, else the box of the whole line.
        """
        at = max(0, bisect_right(self.lines, span.start, key=lambda line: line.span.start) - 1)
        found: list[Box] = []
        for line in self.lines[at:]:
            if line.span.start >= span.end:
                break
            if line.span.overlap(span):
                found.append(_part_of(line, span))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form without the text; see ``as_dict.py``."""
        from softlookup.documents.as_dict import document_dict

        return document_dict(self)


def _part_of(line: TextLine, span: Span) -> Box:
    """Box of the characters of ``line`` that ``span`` covers."""
    if not line.edges or (span.start <= line.span.start and line.span.end <= span.end):
        return line.box
    edges = memoryview(line.edges).cast("f")
    first = max(span.start, line.span.start) - line.span.start
    last = min(span.end, line.span.end) - line.span.start
    return replace(line.box, left=min(edges[2 * first : 2 * last : 2]), right=max(edges[2 * first + 1 : 2 * last : 2]))
