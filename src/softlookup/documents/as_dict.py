"""JSON-ready form of a document; schema 1, described in docs/json.md. Fields are added, never changed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from softlookup.documents.model import Clause, Coverage, CrossReference, DefinedTerm, Document, Span


def document_dict(document: Document) -> dict[str, Any]:
    """The document without its text: source, clauses, terms, references, what stands aside, coverage."""
    source = document.source
    return {
        "schema": 1,
        "document": {
            "path": source.path, "sha256": source.sha256, "format": source.format, "view": document.view,
        },
        "characters": len(document.text),
        "clauses": [_clause(document, clause) for clause in document.clauses],
        "terms": [_term(term) for term in document.terms],
        "references": [_reference(reference) for reference in document.references],
        "aside": [
            {
                "kind": a.kind, "flags": list(a.flags), "anchor": a.anchor, "page": a.page, "where": a.where,
                "text": a.text,
            }
            for a in document.aside
        ],
        "marks": [{**_span(m.span), "flag": m.flag, "detail": m.detail} for m in document.marks],
        "generated": [[span.start, span.end] for span in document.generated],
        "coverage": coverage_dict(document.coverage),
    }  # fmt: skip


def coverage_dict(coverage: Coverage) -> dict[str, Any]:
    """The account of what was read."""
    return {
        "pages": coverage.pages,
        "complete": coverage.complete,
        "rows": [
            {
                "unit": r.unit, "state": r.state, "characters": r.characters,
                "characters_aside": r.characters_aside, "reason": r.reason,
            }
            for r in coverage.rows
        ],
        "counts": coverage.counts.to_dict(),
        "notes": list(coverage.notes),
    }  # fmt: skip


def _span(span: Span) -> dict[str, int]:
    return {"start": span.start, "end": span.end}


def _clause(document: Document, clause: Clause) -> dict[str, Any]:
    heading = clause.span.start + min(len(clause.span), 200)
    return {
        "index": clause.index, "number": clause.number, "label": clause.label, "values": list(clause.values),
        "heading": clause.heading, "path": clause.path, "level": clause.level, "parent": clause.parent,
        **_span(clause.span), "page": clause.page, "label_source": clause.label_source, "flags": list(clause.flags),
        "boxes": [
            asdict(box)
            for box in document.boxes(Span(clause.span.start, heading))[:1]  # where it begins; a clause has many lines
        ],
    }  # fmt: skip


def _term(term: DefinedTerm) -> dict[str, Any]:
    return {
        "term": term.term, "clause": term.clause, **_span(term.span), "kind": term.kind,
        "aliases": list(term.aliases), "uses": [[span.start, span.end] for span in term.uses],
    }  # fmt: skip


def _reference(reference: CrossReference) -> dict[str, Any]:
    return {
        **_span(reference.span), "source": reference.source_clause, "targets": list(reference.targets),
        "kind": reference.kind, "status": reference.status, "effect": reference.effect,
    }  # fmt: skip
