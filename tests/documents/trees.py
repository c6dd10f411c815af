"""What the tests of the clause tree share: the tree of a text, its paths, and the invariants of every tree."""

from __future__ import annotations

from softlookup.documents.model import Clause, Coverage, Document, Source
from softlookup.documents.readers.text import paragraphs
from softlookup.documents.tree.structure import build_clauses


def tree(text: str) -> tuple[Clause, ...]:
    clauses = build_clauses(text, paragraphs(text))
    check_invariants(text, clauses)
    return clauses


def paths(text: str) -> list[str]:
    return [clause.path for clause in tree(text) if clause.number]


def by_path(text: str) -> dict[str, Clause]:
    return {clause.path: clause for clause in tree(text) if clause.path}


def words_of(text: str, path: str) -> str:
    span = by_path(text)[path].span
    return text[span.start : span.end]


def check_invariants(text: str, clauses: tuple[Clause, ...]) -> None:
    """Children nest, parents come first, levels count, paths are unique, and the own texts tile the text."""
    for index, clause in enumerate(clauses):
        assert clause.index == index
        assert clause.number or not clause.label
        if clause.parent is None:
            assert clause.level == 0
        else:
            parent = clauses[clause.parent]
            assert clause.parent < index
            assert parent.span.start <= clause.span.start <= clause.span.end <= parent.span.end
            assert clause.level == parent.level + 1
    printed = [clause.path for clause in clauses if clause.path]
    assert len(set(printed)) == len(printed)
    document = Document(text, Source("x", "", "text", 0), (), clauses, Coverage(()))
    position = 0
    for _, span in document.own_spans():
        assert span.start == position
        position = span.end
    assert position == len(text)
