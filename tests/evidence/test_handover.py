"""What a hand-over gathers: passages with their own text, clauses that the model did not read, what was not tested."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from softlookup.documents.model import CoverageRow, Span
from softlookup.documents.read import read_document
from softlookup.evidence.answer import RankedPassage
from softlookup.evidence.handover import MOST_NEAREST, NOT_TESTED, Handover, question_record
from softlookup.retrieval.chunks import passages
from tiny_answers import ANSWER
from tiny_models import CONTRACT


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "contract.txt"
    path.write_text(CONTRACT, "utf-8")
    return read_document(path)


def answer_on(document, **changes):
    ranking = tuple(
        RankedPassage(c.span.start, c.span.end, document.clauses[c.clause].path, 1.0) for c in passages(document, 120)
    )
    return replace(ANSWER, question="Who pays?", ranking=ranking, **changes)


def test_nearest_passages_carry_their_text(document):
    record = question_record(document, answer_on(document), [Span(0, len(document.text))])
    assert len(record.nearest) == MOST_NEAREST
    for passage in record.nearest:
        assert document.text[passage.start : passage.end] == passage.text
    assert record.not_fed == ()
    assert record.language == "en"
    assert record.off_topic == 39
    assert question_record(document, answer_on(document, alpha=0.01), []).off_topic == 119


def test_clauses_that_the_model_did_not_read_are_named(document):
    from_repairs = document.text.index("3. Repairs")
    record = question_record(document, answer_on(document), [Span(from_repairs, len(document.text))])
    assert record.not_fed == ("1", "2", "2.1", "2.2")
    half = document.text.index("(", from_repairs) if "(" in document.text[from_repairs:] else from_repairs + 40
    partly = question_record(document, answer_on(document), [Span(from_repairs + 5, half + 400)])
    assert "3" not in partly.not_fed  # most of it was read
    nothing = question_record(document, answer_on(document), [])
    assert {"1", "2.1", "3", "4.2", "6"} <= set(nothing.not_fed)


def test_a_question_without_a_p_value_compares_with_nothing(document):
    record = question_record(document, answer_on(document, p_value=None), [])
    assert record.off_topic is None


def test_the_json_has_the_answer_the_gaps_and_what_was_not_tested(document):
    rows = (*document.coverage.rows, CoverageRow("page 2", "scanned", 0, "a picture"))
    document = replace(document, coverage=replace(document.coverage, rows=rows))
    record = question_record(document, answer_on(document), [])
    whole = json.loads(json.dumps(Handover(document, (record,), "2026-01-02T03:04:05+00:00", "1.2").to_dict()))
    assert whole["coverage"]["rows"][-1]["reason"] == "a picture"
    assert whole["coverage"]["complete"] is False
    (question,) = whole["questions"]
    assert question["nearest"][0]["text"] == record.nearest[0].text
    assert question["not_read_by_model"] == list(record.not_fed)
    assert question["not_tested"] == list(NOT_TESTED["en"])
    assert question["off_topic_questions"] == 39
    assert question["model"]["template_sha256"] == "2" * 64
    assert question["p_value"] == 0.025
    assert whole["document"]["sha256"] == document.source.sha256


def test_both_languages_list_the_same_number_of_things_not_tested():
    assert len(NOT_TESTED["en"]) == len(NOT_TESTED["zh"]) >= 5
    for words in NOT_TESTED["en"]:
        assert "verified" not in words.replace("unverified", "")
