"""A document in numbers: token positions, and what a context leaves unread, against counting by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.errors import UsageError
from softlookup.retrieval.context import full_context
from softlookup.session import outline
from softlookup.session.outline import document_outline, token_positions, unread_of

TEXT = (
    "AGREEMENT\n\n1. Duties\n1.1 The Contractor shall keep the site dry and clean at all times.\n"
    "1.2 The Contractor shall report under clause 2.1 every week.\n"
    "2. Payment\n2.1 The Customer shall pay within thirty days of the invoice.\n"
    "2.2 Clause 1.1 applies to the invoice, and clause 2.1 to its payment.\n"
)


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("outline") / "c.txt"
    path.write_text(TEXT, "utf-8")
    return read_document(path)


def words(text):
    return len(text.split())


def clause(document, path):
    return next(clause for clause in document.clauses if clause.path == path)


def test_the_contract_is_read_as_it_is_meant(document):
    assert [clause.path for clause in document.clauses if clause.number] == ["1", "1.1", "1.2", "2", "2.1", "2.2"]
    assert [[document.clauses[i].path for i in r.targets] for r in document.references] == [["2.1"], ["1.1"], ["2.1"]]


def test_nothing_and_everything(document):
    assert unread_of(document, ()) == (len(document.clauses), 0, 0)
    assert unread_of(document, (Span(0, len(document.text)),)) == (0, 3, 0)


def test_one_clause(document):
    """2.2 alone: both of its references point outside, and all other clauses are unread."""
    assert unread_of(document, (clause(document, "2.2").span,)) == (len(document.clauses) - 1, 2, 2)
    both = (clause(document, "1.1").span, clause(document, "2.2").span)
    assert unread_of(document, both) == (len(document.clauses) - 2, 2, 1)


def test_a_clause_whose_smaller_half_was_read_is_unread(document):
    span = clause(document, "2.1").span
    for share, expected in ((0.4, 0), (0.6, 1)):
        part = Span(span.start, span.start + int(share * len(span)))
        assert len(document.clauses) - unread_of(document, (part,))[0] == expected


def test_a_heading_above_a_passage_is_not_its_children(document):
    heading = Span(document.text.index("1. Duties"), document.text.index("1.1 "))
    assert unread_of(document, (heading,))[0] == len(document.clauses) - 1


def test_positions_count_the_words_before(document):
    place = token_positions(document, words)
    for path in ("1", "1.1", "2", "2.2"):
        start = clause(document, path).span.start
        assert place(start) == words(document.text[:start])
    assert place(0) == 0


@given(st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
def test_positions_never_fall(document, first, second):
    place = token_positions(document, words)
    first, second = sorted((first, second))
    assert 0 <= place(first) <= place(second) <= words(document.text)


def test_the_outline_averages_over_usual_questions(document):
    read = {"a": "1.1", "b": "2.2", "c": "1.2"}
    asked = []

    def retrieve(question, tokens):
        asked.append((question, tokens))
        context = full_context(document)
        return type(context)(context.text, (clause(document, read[question]).span,), context.pieces)

    found = document_outline(document, words, retrieve, ["a", "b", "c"])
    assert found.clauses == len(document.clauses)
    assert len(found.references) == 3
    unread = found.unread(10)
    # references in 1.1: none; in 2.2: two, both cut; in 1.2: one, cut
    assert (unread.clauses, unread.references, unread.cut) == (len(document.clauses) - 1, 1, 1)
    assert found.unread(10) is unread  # measured once
    assert asked == [("a", 10), ("b", 10), ("c", 10)]


def test_a_context_that_holds_no_passage_reads_nothing(document):
    def refuse(question, tokens):
        raise UsageError("a context needs room", "raise it")

    found = document_outline(document, words, refuse, ["a", "b", "c", "d"]).unread(1)
    assert (found.clauses, found.references, found.cut) == (len(document.clauses), 0, 0)


def test_a_wrong_overlap_is_found(document, monkeypatch):
    """Planted fault: spans that begin where the clause ends count as touching it."""
    monkeypatch.setattr(outline, "_touching", lambda spans, span: spans)
    assert unread_of(document, (clause(document, "2.2").span,)) != (len(document.clauses) - 1, 2, 2)
