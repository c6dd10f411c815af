"""Absurd runs of white space cost no time and change no text."""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

from softlookup.documents.read import read_document
from softlookup.documents.tree.long_blanks import MARK, with_marks

from .builders import LEASE_EN
from .invariants import check_document


def test_ordinary_text_is_untouched():
    for text in (LEASE_EN, "a" + " " * 199 + "b", "", "\n" * 150):
        assert with_marks(text) == text


def test_long_runs_get_marks_and_keep_their_length():
    for blank in " \t\n\u3000\xa0":
        marked = with_marks(f"a{blank * 5000}b")
        assert len(marked) == 5002
        assert marked.count(MARK) == 50
        assert marked.replace(MARK, blank) == f"a{blank * 5000}b"


def test_a_contract_with_long_runs_keeps_its_text_and_clauses(tmp_path):
    text = f'1. Rent{" " * 700}of the house. Ten.\n\n2.{" " * 400}Term. "Year"{" " * 900}means 2027.\n\n3. Law. Section 1.\n'
    path = tmp_path / "wide.txt"
    path.write_text(text, "utf-8")
    document = read_document(path)
    check_document(document)
    assert document.text == text
    assert [clause.number for clause in document.clauses if clause.number] == ["1", "2", "3"]
    shown = [clause.heading for clause in document.clauses] + [term.term for term in document.terms]
    assert not any(MARK in words for words in shown)
