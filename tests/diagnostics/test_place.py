"""The expected place: a clause, a quote, words outside the text, nothing; never a guess between several."""

from __future__ import annotations

import dataclasses

import pytest

from softlookup.diagnostics.place import expected_place
from softlookup.documents.coverage import CoverageRow
from softlookup.documents.model import Aside
from softlookup.documents.read import read_document
from softlookup.errors import UsageError
from tiny_models import CONTRACT_ZH


@pytest.fixture
def document(contract):
    return read_document(contract)


def text_of(document, place):
    return document.text[place.span.start : place.span.end]


def test_a_clause_is_found_by_its_number(document):
    place = expected_place(document, "clause 4.1")
    assert place.label == "4.1"
    assert not place.is_quote
    assert text_of(document, place).startswith("4.1 Either party")
    assert text_of(document, place) == text_of(document, place).strip()


@pytest.mark.parametrize(
    "quote", ["within thirty days", "WITHIN  thirty\ndays", "“within thirty days”", "ｗithin thirty days"]
)
def test_a_quote_is_found_whatever_its_blanks_width_and_case(document, quote):
    place = expected_place(document, quote)
    assert place.is_quote
    assert place.label == "3"
    assert text_of(document, place) == "within thirty days"


def test_a_chinese_quote(tmp_path):
    path = tmp_path / "cangku.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    document = read_document(path)
    place = expected_place(document, "三十日内 修理屋顶")
    assert text_of(document, place) == "三十日内修理屋顶"
    assert place.label == "第三条"
    assert expected_place(document, "第四条").label == "第四条"
    assert expected_place(document, "无") is None


def test_nothing_is_expected(document):
    assert expected_place(document, "none") is None


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ("the Keeper", "occur"),
        ("12", "no clause"),  # stands inside an amount
        ("第九十九条", "no clause"),
        ("clause 99", "no clause"),
        ("a flying carpet", "neither"),
        ("  ", "empty"),
        ("zz", "neither"),
    ],
)
def test_what_is_not_one_place_is_refused(document, expect, words):
    with pytest.raises(UsageError, match=words):
        expected_place(document, expect)


def test_a_number_that_is_printed_twice_is_refused(tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text("1. Rent. The rent is 5.\n\n2. Term. One year.\n\n2. Deposit. It is 7.\n", "utf-8")
    with pytest.raises(UsageError, match="2 clauses are printed"):
        expected_place(read_document(path), "2")


def test_words_that_the_reader_kept_out_are_told_as_such(document):
    hidden = dataclasses.replace(document, aside=(Aside("The fee is  900.", "paragraph", 10, ("hidden",)),))
    place = expected_place(hidden, "the fee is 900")
    assert place.span is None
    assert (place.elsewhere.kind, place.elsewhere.where) == ("aside", "hidden, paragraph")


def test_words_may_stand_on_a_page_that_was_not_read(document):
    rows = (*document.coverage.rows, CoverageRow("page 3", "scanned", 0, "a picture"))
    scanned = dataclasses.replace(document, coverage=dataclasses.replace(document.coverage, rows=rows))
    place = expected_place(scanned, "a flying carpet")
    assert (place.elsewhere.kind, place.elsewhere.where) == ("unread", "page 3: scanned (a picture)")
    pictures = (*document.coverage.rows, CoverageRow("image1.png", "skipped", 0, "a picture"))
    decorated = dataclasses.replace(document, coverage=dataclasses.replace(document.coverage, rows=pictures))
    with pytest.raises(UsageError, match="neither"):
        expected_place(decorated, "a flying carpet")
