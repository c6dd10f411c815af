"""Rungs 2 to 5 on planted numbers: each hit and each pass."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from softlookup.diagnostics import selection
from softlookup.diagnostics.hold import held_text
from softlookup.evidence.abstention import decide

ALPHA = 0.05
OFF_TOPIC = np.linspace(0.0, 0.1, 39)


@pytest.fixture
def planted(make_case):
    """A case on clause 3, and measures whose passages have the given scores by clause label."""

    def plant(answer="In ninety days.", *, question=None, rows=None, drop=0.5, limit=0.1, p=0.025, expect="3"):
        case = make_case(expect)
        labels = [case.document.clauses[chunk.clause].path for chunk in case.reading.chunks]

        def scored(by_label):
            return np.array([(by_label or {}).get(label, 0.0) for label in labels])

        scores = scored(question or {"3": 1.0})
        measures = SimpleNamespace(
            alpha=ALPHA, place_p_value=p, scores=scores, decision=decide(scores, OFF_TOPIC, ALPHA), answer=answer,
            answer_scores=scored(rows or {"3": 1.0}), rows=SimpleNamespace(drop=drop), drop_threshold=limit,
        )  # fmt: skip
        return case, measures

    return plant


def test_not_seen(planted):
    assert selection.not_seen(*planted(p=0.05)).hit is None
    step = selection.not_seen(*planted(p=0.075, question={"5": 1.0}))
    assert (step.hit.verdict, step.hit.variant) == ("not_seen", "")
    assert step.hit.facts["top"] == "5"
    assert step.tests[0].passed is False


def test_not_seen_but_reached_by_an_edge(planted):
    # clause 2.2 says "subject to clause 4.1"
    step = selection.not_seen(*planted(p=0.5, question={"2": 1.0, "2.1": 1.0, "2.2": 1.0}, expect="4.1"))
    assert step.hit.variant == "closure"
    assert "4.1" in step.hit.facts["via"] or "refer" in step.hit.facts["via"] or "subject" in step.hit.facts["via"]


def test_the_answer_s_rows_look_elsewhere_and_masking_changes_nothing(planted):
    step = selection.not_selected(*planted("Whenever it likes.", rows={"5": 1.0}, drop=0.1, limit=0.1))
    assert (step.hit.verdict, step.hit.facts["other"]) == ("not_selected", "5")


@pytest.mark.parametrize("drop", [0.2, -0.2])
def test_one_sign_of_use_is_enough(planted, drop):
    step = selection.not_selected(*planted("In 45 days.", rows={"5": 1.0}, drop=drop, limit=0.1))
    assert step.hit is None
    step = selection.not_selected(*planted("In 45 days.", rows={"3": 1.0}, drop=0.0, limit=0.1))
    assert step.hit is None


def test_a_value_that_stands_in_another_clause_names_it(planted):
    # "ninety days" is clause 4.1's, wherever the rows look
    case, measures = planted("In ninety days.")
    step = selection.not_selected(case, measures)
    assert step.hit.facts["other"].startswith("4")
    chunk = case.reading.chunks[int(step.hit.facts["passage"])]
    assert "ninety days" in case.document.text[chunk.span.start : chunk.span.end]


def test_a_place_that_was_used(planted):
    step = selection.not_selected(*planted("In 45 days."))
    assert step.hit is None
    assert all(test.passed for test in step.tests)


@pytest.mark.parametrize(("held", "variant"), [("Within thirty days.", "length"), ("Within 5 days.", "capacity")])
def test_the_re_ask_tells_length_from_capacity(planted, monkeypatch, held, variant):
    case, _ = planted()
    monkeypatch.setattr(selection, "hold", lambda *_: SimpleNamespace(answer=held, needed=()))
    hit = selection.misread(case, 4, given=False).hit
    assert (hit.verdict, hit.variant) == ("misread", variant)


def test_a_given_answer_is_not_laid_at_the_models_door(planted, monkeypatch):
    case, _ = planted()
    monkeypatch.setattr(selection, "hold", lambda *_: SimpleNamespace(answer="Within thirty days.", needed=()))
    assert selection.misread(case, 4, given=True).hit.variant == "given"


def test_the_re_ask_runs_on_the_place_alone(planted):
    case, _ = planted()
    step = selection.misread(case, 4, given=False)
    assert step.hit.verdict == "misread"
    assert step.tests[0].name == "hold_agrees"


def test_the_held_text_has_what_the_place_needs(make_case):
    text, needed = held_text(make_case("2.2"))
    assert "Late payment" in text
    assert "4.1 Either party" in text
    assert "Law. The laws of Ireland" not in text
    assert any(line.startswith("4.1: ") for line in needed)


def test_an_answer_without_evidence(planted):
    assert selection.unsupported_claim(*planted("In thirty days.", question={"3": 0.2}), given=True).hit is None
    case, measures = planted("In thirty days.", question={"3": 0.05})
    step = selection.unsupported_claim(case, measures, given=True)
    assert (step.hit.verdict, step.hit.variant) == ("unsupported_claim", "given")
    assert selection.unsupported_claim(case, measures, given=False).hit.variant == "own"


def test_values_that_no_passage_holds_which_stands_out(planted):
    # ninety days stands in clause 4.1, which the question did not look at
    step = selection.unsupported_claim(*planted("In ninety days.", question={"3": 0.2}), given=True)
    assert (step.hit.verdict, step.hit.variant, step.hit.facts["values"]) == ("unsupported_claim", "values", "90")
    assert [test.passed for test in step.tests] == [True, False]
    both = planted("In ninety days.", question={"3": 0.2, "4": 0.2, "4.1": 0.2})
    assert selection.unsupported_claim(*both, given=True).hit is None
    # what a passage needs counts with it: late payment is "subject to clause 4.1"
    needed = planted("In ninety days.", question={"2": 0.2, "2.1": 0.2, "2.2": 0.2})
    assert selection.unsupported_claim(*needed, given=True).hit is None


def test_a_value_of_a_definition_that_the_place_uses_agrees(make_case):
    case = make_case("2.1", "What does the Keeper pay?")
    assert selection.agrees(case, "310 a month").agrees  # the Mooring Fee, defined in clause 1
    assert not selection.agrees(case, "320 a month").agrees
