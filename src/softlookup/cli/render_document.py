"""Human and JSON forms of a document for ``softlookup read``; strings of the document are escaped here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from softlookup.cli.escape import printable, printable_line
from softlookup.documents.model import Span

if TYPE_CHECKING:
    from softlookup.documents.findings import Finding
    from softlookup.documents.model import Clause, CrossReference, Document

_ROWS_SHOWN = 12  # coverage rows with something to say; the rest is counted
_CHANGES = {"deleted": ("[-", "-]"), "inserted": ("{+", "+}"), "moved": ("{>", "<}")}
_WORDS_SHOWN = 60  # characters of a clause without a number


def document_object(document: Document) -> dict[str, Any]:
    """JSON of ``softlookup read``."""
    from softlookup.documents.findings import find_findings

    findings = [
        {"kind": f.kind, "start": f.span.start, "end": f.span.end, "clause": f.clause, "detail": f.detail}
        for f in find_findings(document)
    ]
    return {**document.to_dict(), "findings": findings}


def document_text(document: Document) -> str:
    """Clause tree, one line per clause, then what was and was not read."""
    first = (
        f"{printable_line(document.source.path)}: {document.source.format}, {len(document.text):,} characters, "
        f"{len(document.clauses)} clauses, {len(document.terms)} defined terms, {len(document.references)} references"
    )
    return "\n".join([first, *(_tree_line(document, clause) for clause in document.clauses), *coverage_lines(document)])


def _tree_line(document: Document, clause: Clause) -> str:
    name = printable_line(f"{clause.number} {clause.heading}").strip()
    if not name:
        end = min(clause.span.end, clause.span.start + _WORDS_SHOWN)
        above = "" if clause.parent is None else document.clauses[clause.parent].path
        place = clause.path.removeprefix(above).strip()  # "¶2", 第二款
        more = " ..." if end < clause.span.end else ""
        name = f"{place} {printable_line(document.text[clause.span.start : end])}".strip() + more
    page = "" if clause.page is None else f" page {clause.page}"
    flags = "" if not clause.flags else f"  ({', '.join(clause.flags).replace('_', ' ')})"
    return f"{'  ' * (clause.level + 1)}{name[:90]}  [{clause.span.start}:{clause.span.end}]{page}{flags}"


def coverage_lines(document: Document) -> Iterator[str]:
    """The account of what was read: one line, then one for each part with something to say."""
    coverage = document.coverage
    counts = {name: number for name, number in coverage.counts.to_dict().items() if number}
    aside = sum(row.characters_aside for row in coverage.rows)
    parts = [] if coverage.pages is None else [f"{coverage.pages} pages"]
    parts.append(f"{sum(row.characters for row in coverage.rows):,} characters read")
    parts += [f"{aside:,} set aside"] if aside else []
    parts += [f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items()]
    parts.append("nothing skipped" if not coverage.skipped else f"{len(coverage.skipped)} parts not read")
    yield f"coverage: {', '.join(parts)}"
    aside_only = [row for row in coverage.rows if row.state == "read" and row.characters_aside and not row.characters]
    rows = [row for row in coverage.rows if (row in coverage.skipped or row.reason) and row not in aside_only]
    for row in rows[:_ROWS_SHOWN]:
        yield f"  {printable_line(str(row))}"
    if len(rows) > _ROWS_SHOWN:
        states = Counter(row.state for row in rows[_ROWS_SHOWN:])
        more = ", ".join(f"{number} {state}" for state, number in states.items())
        yield f"  and {len(rows) - _ROWS_SHOWN} more: {more} (see --json)"
    for note in coverage.notes:
        yield f"  {printable_line(note)}"


def terms_lines(document: Document, findings: Sequence[Finding]) -> Iterator[str]:
    """Defined terms in alphabetical order, then terms to look at."""
    yield f"defined terms: {len(document.terms)}"
    width = min(32, max((len(term.term) for term in document.terms), default=0))
    for term in sorted(document.terms, key=lambda term: (term.term.lower(), term.span)):
        where = clause_address(document, term.clause)
        kind = term.kind.replace("_", " ")
        yield f"  {printable_line(term.term):{width}}  {where}, {kind}, {_times(len(term.uses))}"
    wanted = ("undefined_term", "unused_term", "term_defined_twice")
    yield from _finding_lines(document, [f for f in findings if f.kind in wanted])


def references_lines(document: Document, findings: Sequence[Finding]) -> Iterator[str]:
    """References in document order, then those that lead nowhere for certain."""
    by_status = Counter(reference.status for reference in document.references)
    summary = ", ".join(f"{number} {status}" for status, number in by_status.items())
    yield f"references: {len(document.references)}{' (' + summary + ')' if summary else ''}"
    for reference in document.references:
        yield f"  {_reference_line(document, reference)}"
    wanted = ("dangling_reference", "ambiguous_reference", "stale_reference")
    yield from _finding_lines(document, [f for f in findings if f.kind in wanted])


def _reference_line(document: Document, reference: CrossReference) -> str:
    words = printable_line(document.text[reference.span.start : reference.span.end])
    source = clause_address(document, reference.source_clause)
    targets = ", ".join(clause_address(document, target) for target in reference.targets[:6])
    targets += ", ..." if len(reference.targets) > 6 else ""
    effect = "" if reference.effect == "refers" else f", {reference.effect.replace('_', ' ')}"
    arrow = f" -> {targets}" if targets else ""
    status = "" if reference.status == "resolved" else f", {reference.status}"
    return f"{source}: {words}{arrow} ({reference.kind}{effect}{status})"


def _finding_lines(document: Document, findings: Sequence[Finding]) -> Iterator[str]:
    if findings:
        yield "to look at:"
    for finding in findings:
        words = printable_line(document.text[finding.span.start : finding.span.end])
        yield f"  {clause_address(document, finding.clause)}: {words} {finding.detail}"


def _with_changes(document: Document, span: Span) -> str:
    """Text of ``span``, escaped; in the markup view deleted words stand in [- -], inserted ones in {+ +}."""
    marks = [m for m in document.marks if m.flag in _CHANGES and m.span.overlap(span)]
    if document.view != "markup" or not marks:
        return printable(document.text[span.start : span.end])
    pieces, at = [], span.start
    for mark in sorted(marks, key=lambda mark: mark.span):
        start, end = max(at, mark.span.start), min(span.end, mark.span.end)
        if start < end:
            opening, closing = _CHANGES[mark.flag]
            words = printable(document.text[start:end])
            pieces += [printable(document.text[at:start]), opening, words, closing]
            at = end
    return "".join([*pieces, printable(document.text[at : span.end])])


def _times(number: int) -> str:
    return "unused" if not number else "used once" if number == 1 else f"used {number} times"


def clause_address(document: Document, index: int) -> str:
    """How a clause is called in a line of output; escaped."""
    from softlookup.retrieval.edge_wording import clause_name

    return printable_line(clause_name(document.clauses[index]))


def clauses_object(document: Document, wanted: str) -> dict[str, Any]:
    """JSON of ``softlookup read --clause``: the clauses that ``wanted`` names and what they need."""
    from softlookup.documents.addresses import clauses_named
    from softlookup.documents.as_dict import coverage_dict
    from softlookup.retrieval.expand import ClauseGraph

    graph = ClauseGraph(document)
    full = document.to_dict()
    rows = []
    for clause in clauses_named(document, wanted):
        inside, text = clause.span, document.text[clause.span.start : clause.span.end]
        needs = graph.closure([clause.index])
        pointing = [r for r in document.references if clause.index in r.targets and not inside.overlap(r.span)]
        rows.append({
            **full["clauses"][clause.index],
            "boxes": [asdict(box) for box in document.boxes(inside)],
            "text": text.rstrip(),
            "references": [r for r in full["references"] if inside.start <= r["start"] < inside.end],
            "referred_to_by": sorted({r.source_clause for r in pointing}),
            "needs": [
                {"clause": e.clause, "start": e.span.start, "end": e.span.end, "why": e.why} for e in needs.added
            ],
        })  # fmt: skip
    return {
        "schema": 1, "document": full["document"], "clauses": rows, "coverage": coverage_dict(document.coverage),
    }  # fmt: skip


def clauses_text(document: Document, found: dict[str, Any]) -> str:
    """Human form of :func:`clauses_object`."""
    lines: list[str] = []
    for row in found["clauses"]:
        clause = document.clauses[row["index"]]
        page = "" if clause.page is None else f", page {clause.page}"
        flags = "".join(f", {flag.replace('_', ' ')}" for flag in clause.flags)
        lines.append(f"{clause_address(document, clause.index)} [{clause.span.start}:{clause.span.end}]{page}{flags}")
        lines += ["", _with_changes(document, Span(row["start"], row["start"] + len(row["text"]))), ""]
        inside = [r for r in document.references if clause.span.start <= r.span.start < clause.span.end]
        if inside:
            lines += ["refers to:", *(f"  {_reference_line(document, r)}" for r in inside)]
        if row["referred_to_by"]:
            names = ", ".join(clause_address(document, index) for index in row["referred_to_by"])
            lines.append(f"referred to by: {names}")
        if row["needs"]:
            lines.append("read it with:")
            lines += [
                f"  {clause_address(document, n['clause'])} [{n['start']}:{n['end']}]: {printable_line(n['why'])}"
                for n in row["needs"]
            ]
        lines.append("")
    if len(found["clauses"]) > 1:
        lines.append(
            f"note: {len(found['clauses'])} clauses have this number; add what holds them, as in 'Exhibit A/1'"
        )
    return "\n".join(lines).rstrip()
