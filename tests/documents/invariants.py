"""Rules that every Document keeps, whatever the file held; used by the fuzzer, by property and real-file tests."""

from __future__ import annotations

import json
import unicodedata

from softlookup.cli.escape import json_line
from softlookup.cli.render_document import document_object, document_text, references_lines, terms_lines
from softlookup.documents.findings import find_findings
from softlookup.documents.model import Document, Span
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.expand import ClauseGraph

_CLOSURES = 4  # clauses whose closure is taken: it is the same work for each


def check_document(document: Document) -> None:
    """Raise ``AssertionError`` for a Document that breaks a rule of ``softlookup.documents.model``."""
    _check_clauses(document)
    _check_blocks(document)
    _check_places(document)
    _check_coverage(document)
    _check_readers_of_documents(document)
    as_dict = document_object(document)
    line = json_line(as_dict)
    assert json.loads(line) == json.loads(json.dumps(as_dict)), "the escaped JSON form differs"
    check_harmless(line)
    findings = find_findings(document)
    tables = [*terms_lines(document, findings), *references_lines(document, findings)]
    check_harmless("\n".join([document_text(document), *tables]))


def check_harmless(shown: str) -> None:
    """Raise for a character that a terminal would obey or hide; line ends, tabs and white space are harmless."""
    bad = {c for c in set(shown) if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t", "\u00ad"}
    bad -= set(map(chr, (*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2)))  # printed signs of scripts
    bad = {c for c in bad if not 0x110BD <= ord(c) <= 0x1D17A}
    assert not bad, f"raw {sorted(map(hex, map(ord, bad)))} in the output"


def _check_readers_of_documents(document: Document) -> None:
    """What retrieval and a careful reader make of it."""
    for finding in find_findings(document):
        assert finding.span.end <= len(document.text)
        assert 0 <= finding.clause < len(document.clauses)
    for chunk in passages(document):
        assert 0 <= chunk.span.start < chunk.span.end <= len(document.text)
    if document.clauses:
        graph = ClauseGraph(document)
        for index in range(0, len(document.clauses), max(1, len(document.clauses) // _CLOSURES)):
            assert all(0 <= addition.clause < len(document.clauses) for addition in graph.closure([index]).added)


def _check_clauses(document: Document) -> None:
    size = len(document.text)
    cursor = 0
    for index, span in document.own_spans():
        assert span.start == cursor, f"own spans leave a gap or overlap at {cursor}: {span}"
        assert document.clauses[index].span.overlap(span) == len(span), "own text outside its clause"
        cursor = span.end
    assert cursor == size, f"own spans end at {cursor} of {size}"
    paths: set[str] = set()
    previous = 0
    for place, clause in enumerate(document.clauses):
        assert clause.index == place
        assert previous <= clause.span.start <= clause.span.end <= size
        previous = clause.span.start
        if clause.parent is None:
            assert clause.level == 0
        else:
            parent = document.clauses[clause.parent]
            assert parent.index < clause.index
            assert parent.level == clause.level - 1
            assert parent.span.start <= clause.span.start
            assert clause.span.end <= parent.span.end
        assert not clause.path or clause.path not in paths, f"two clauses have the path {clause.path!r}"
        paths.add(clause.path)


def _check_blocks(document: Document) -> None:
    cursor = 0
    for block in document.blocks:
        assert cursor <= block.span.start < block.span.end <= len(document.text), f"block out of order: {block}"
        between = document.text[cursor : block.span.start]
        assert not between.strip(), f"text outside every block: {between[:80]!r}"
        cursor = block.span.end
    assert not document.text[cursor:].strip(), "text after the last block"


def _check_places(document: Document) -> None:
    size, count = len(document.text), len(document.clauses)
    _check_sorted(document.generated, size)
    for term in document.terms:
        assert term.term.strip()
        assert 0 <= term.clause < count
        assert term.span.end <= size
        _check_sorted(term.uses, size)
    _check_sorted([reference.span for reference in document.references], size, apart=False)
    for reference in document.references:
        assert 0 <= reference.source_clause < count
        assert all(0 <= target < count for target in reference.targets)
        assert (reference.status in ("dangling", "external")) == (not reference.targets) or reference.targets == ()
    assert all(mark.span.end <= size for mark in document.marks)
    assert all(link.span.end <= size and 0 <= link.target <= size for link in document.links)
    assert all(0 <= aside.anchor <= size for aside in document.aside)
    for line in document.lines:
        assert line.span.end <= size
        assert len(line.edges) in (0, 8 * len(line.span)), "edges are two floats a character"


def _check_sorted(spans: list[Span] | tuple[Span, ...], size: int, *, apart: bool = True) -> None:
    previous = Span(0, 0)
    for span in spans:
        assert span.start >= (previous.end if apart else previous.start), f"{span} after {previous}"
        assert span.end <= size, f"{span} outside a text of {size}"
        previous = span


def _check_coverage(document: Document) -> None:
    rows = document.coverage.rows
    assert rows
    assert all(row.characters >= 0 and row.characters_aside >= 0 for row in rows)
    if document.coverage.pages is not None and all(row.unit.startswith("page ") for row in rows):
        assert len({row.unit for row in rows}) == len(rows), "a page in two states"
