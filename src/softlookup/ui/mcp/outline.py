"""What ``read_document`` tells: the clause tree with terms, or one clause with what to read with it; in parts.

No model. Every text of the document is shortened to what a row can hold, except that of the clause that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from softlookup.documents.addresses import clauses_named
from softlookup.documents.model import Clause, Document, Span
from softlookup.errors import UsageError
from softlookup.evidence.citation import clause_label, quote_span
from softlookup.ui.mcp.parts import chosen_part, parts_of, pieces_of
from softlookup.ui.mcp.rows import (
    NOTICE,
    ClauseRow,
    ClauseText,
    CoverageFacts,
    NeededText,
    ReadResult,
    TermRow,
    cut,
)
from softlookup.ui.mcp.schemas import shown

if TYPE_CHECKING:
    from softlookup.ui.mcp.shelf import Shelved

MOST = 16_000  # characters of JSON in one part, beside coverage and notes
_PIECE = 2_000  # of a clause's text in one item: as escapes it is seven times as long
_BEGINS = 80
_ROWS = 20  # of the coverage
Row = ClauseRow | TermRow | ClauseText | NeededText


def read_result(shelved: Shelved, asked: str | None, part: int) -> ReadResult:
    """Part ``part`` of the tree, or of the clause ``asked``. Raises ``UsageError`` for one that is not there."""
    document = shelved.document
    named = () if asked is None else named_clauses(document, asked)
    rows = _tree(document) if asked is None else _clause_rows(shelved, named)
    parts = parts_of([len(json.dumps(shown(asdict(row)), ensure_ascii=False)) for row in rows], MOST)
    chosen = _joined([rows[place] for place in chosen_part(parts, part)])

    def of(kind: type[Any]) -> tuple[Any, ...]:
        return tuple(row for row in chosen if isinstance(row, kind))

    return ReadResult(
        NOTICE, document.source.path, document.source.sha256, document.source.format, part, len(parts), asked,
        len(document.clauses), len(document.terms), _coverage(document), of(ClauseRow), of(TermRow), of(ClauseText),
        of(NeededText), _referring(document, named),
    )  # fmt: skip


def named_clauses(document: Document, wanted: str) -> tuple[Clause, ...]:
    """Clauses that ``wanted`` names; "#N" is the one with index N. Raises ``UsageError``."""
    if wanted.startswith("#") and wanted[1:].isdecimal():
        index = int(wanted[1:])
        if index >= len(document.clauses):
            raise UsageError(f"the last clause has index {len(document.clauses) - 1}, got {index}", "see the tree")
        return (document.clauses[index],)
    try:
        return clauses_named(document, wanted)
    except UsageError as error:
        meant = error.remedy if error.remedy.startswith("did you mean") else "read_document without clause lists them"
        raise UsageError(error.message, meant) from error


def _tree(document: Document) -> Sequence[Row]:
    rows: list[Row] = [_clause_row(document, clause) for clause in document.clauses]
    rows += [
        TermRow(cut(term.term), _address(document, term.clause), term.span.start, term.span.end, len(term.uses))
        for term in document.terms
    ]
    return rows


def _clause_row(document: Document, clause: Clause) -> ClauseRow:
    begins = (
        document.text[clause.span.start : min(clause.span.end, clause.span.start + 400)] if not clause.heading else ""
    )
    begins = begins.lstrip().removeprefix(clause.label)
    return ClauseRow(
        clause.index, cut(clause.path), cut(clause.heading), cut(begins, _BEGINS), clause.level, clause.page,
        clause.span.start, clause.span.end, tuple(clause.flags),
    )  # fmt: skip


def _clause_rows(shelved: Shelved, named: Sequence[Clause]) -> Sequence[Row]:
    document = shelved.document
    rows: list[Row] = []
    for clause in named:
        inside = Span(clause.span.start, clause.span.start + len(_text(document, clause.span).rstrip()))
        rows += [
            ClauseText(
                cut(clause.path), cut(clause.heading), document.page_at(piece.start), piece.start, piece.end,
                _text(document, piece), more=piece.end < inside.end,
            )
            for piece in pieces_of(document.text, inside, _PIECE)
        ]  # fmt: skip
        for item in shelved.graph.closure([clause.index]).added:
            target, span = document.clauses[item.clause], quote_span(document.text, item.span)
            rows.append(
                NeededText(
                    _address(document, item.clause),
                    cut(target.heading),
                    cut(item.why),
                    document.page_at(span.start),
                    span.start,
                    span.end,
                    _text(document, span),
                    more=bool(document.text[span.end : target.span.end].strip()),
                )
            )
    return rows


def _joined(rows: Sequence[Row]) -> Sequence[Row]:
    """``rows`` with neighbouring pieces of one text as one."""
    found: list[Row] = []
    for row in rows:
        last = found[-1] if found else None
        if isinstance(row, ClauseText) and isinstance(last, ClauseText) and last.more and last.end == row.start:
            found[-1] = replace(last, end=row.end, text=last.text + row.text, more=row.more)
        else:
            found.append(row)
    return found


def _address(document: Document, index: int) -> str:
    """The printed number of a clause, else its index."""
    return cut(clause_label(document, index)) or f"#{index}"


def _text(document: Document, span: Span) -> str:
    return document.text[span.start : span.end]


def _referring(document: Document, named: Sequence[Clause]) -> tuple[str, ...]:
    """Labels of the clauses outside that refer to one of ``named``, in document order, the first 50."""
    found: dict[str, None] = {}
    for clause in named:
        for reference in document.references:
            if clause.index in reference.targets and not clause.span.overlap(reference.span):
                found.setdefault(_address(document, reference.source_clause))
    return tuple(found)[:50]


def _coverage(document: Document) -> CoverageFacts:
    coverage = document.coverage
    return CoverageFacts(
        coverage.complete, coverage.pages, len(document.text),
        tuple(cut(str(row)) for row in coverage.skipped[:_ROWS]), len(coverage.skipped),
        tuple(cut(note) for note in coverage.notes[:_ROWS]),
    )  # fmt: skip
