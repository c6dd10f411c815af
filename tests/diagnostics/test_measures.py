"""The numbers of rungs 2 to 5 against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.diagnostics.measures import NULL_ANSWERS, Measures
from softlookup.evidence.abstention import decide
from softlookup.evidence.question_bank import question_bank

ANSWER = "The Owner repairs it."


@pytest.fixture
def measured(make_case):
    case = make_case("3")
    return case, Measures(case, ANSWER, 0.05, 6)


def test_the_place_is_ranked_among_the_same_place_of_off_topic_questions(measured):
    case, measures = measured
    off_topic = case.reading.calibration("en").off_topic
    passages = list(case.passages)
    assert passages
    assert all(case.reading.chunks[i].span.overlap(case.span) for i in passages)
    best = max(measures.scores[i] for i in passages)
    at_least = sum(max(scores[i] for i in passages) >= best for scores in off_topic)
    assert measures.place_p_value == (1 + at_least) / (len(question_bank("en").off_topic) + 1)


def test_a_small_alpha_ranks_among_the_larger_sample(measured):
    case, _ = measured
    measures = Measures(case, "Within thirty days.", 0.01, 4)
    for p_value in (measures.place_p_value, measures.decision.p_value):
        assert p_value * 120 == pytest.approx(round(p_value * 120), abs=1e-9)
    calibration = case.reading.calibration("en", alpha=0.01)
    assert measures.decision.p_value == decide(measures.scores, calibration.off_topic_maxima, 0.01).p_value


def test_scores_are_those_of_ask(measured):
    case, measures = measured
    evidence, _ = case.reading.ask(case.question, alpha=0.05, max_new_tokens=2)
    assert np.allclose(measures.scores, evidence.scores, atol=1e-5)
    assert measures.decision.p_value == evidence.decision.p_value


def full_logits(case, ids, hidden):
    """Logits of one plain pass in which the rows behind the prefix do not see ``hidden``."""
    start = len(case.reading.prefilled.prefix)
    length = start + len(ids)
    visible = torch.ones(length, length, dtype=torch.bool).tril()
    visible[start:, hidden] = False
    with torch.inference_mode():
        whole = torch.tensor([[*case.reading.prefilled.prefix.ids, *ids]])
        return case.loaded.model(whole, attention_mask=visible[None, None]).logits[0, start:].double()


def expected_logprob(case, answer, hidden):
    ids = (*case.suffix.ids, *answer)
    rows = full_logits(case, ids, hidden).log_softmax(-1)
    first = len(case.suffix) - 1
    return float(np.mean([float(rows[first + i, token]) for i, token in enumerate(answer)]))


def test_the_drop_is_that_of_hiding_the_keys_of_the_place(measured):
    case, measures = measured
    answer = measures.answer_ids
    assert case.loaded.tokenizer.decode(answer) == ANSWER
    owners = np.isin(case.reading.passage_map.passage_of_token, case.passages)
    passages = np.flatnonzero(owners) + case.prefix.document[0]
    assert set(case.place_columns) <= set(passages)
    seen, hidden = (expected_logprob(case, answer, columns) for columns in ([], passages))
    assert measures.rows.logprob == pytest.approx(seen, abs=1e-4)
    assert measures.rows.drop == pytest.approx(seen - hidden, abs=1e-4)
    assert abs(measures.rows.drop) > 1e-4  # the tiny model looks at every clause


def test_hiding_nothing_changes_nothing_and_leaves_nothing(measured):
    case, measures = measured
    prefilled = case.reading.prefilled
    before = prefilled.logprobs(case.suffix, measures.answer_ids)
    prefilled.logprobs(case.suffix, measures.answer_ids, hidden=[5, 6])
    assert np.array_equal(before, prefilled.logprobs(case.suffix, measures.answer_ids))


def test_rows_of_an_answer_begin_before_its_first_token(measured):
    case, measures = measured
    from softlookup.evidence.attribution import PassageMass

    reading, ids = case.reading, (*case.suffix.ids, *measures.answer_ids)
    collector = PassageMass(reading.profile, reading.passage_map, 1)
    rows = slice(len(case.suffix) - 1, len(ids) - 1)
    from softlookup.runtime.prompt import Suffix

    reading.prefilled.answer(
        Suffix(ids, 1), max_new_tokens=1, callback=lambda c: collector.collect(c, [(0, rows)]), wanted=lambda: False
    )
    assert np.allclose(measures.rows.mass, collector.mass[0], atol=1e-5)


def test_the_null_of_answers_is_made_of_off_topic_answers(measured):
    case, measures = measured
    assert 1 <= len(measures.null_rows) <= NULL_ANSWERS
    drops = [abs(rows.drop) for rows in measures.null_rows]
    assert min(drops) <= measures.drop_threshold <= max(drops)
    assert measures.answer_scores.shape == (len(case.reading.chunks),)


def test_without_an_answer_the_model_s_own_is_taken(make_case):
    case = make_case("3")
    measures = Measures(case, None, 0.05, 4)
    decoded = case.reading.prefilled.answer(case.suffix, max_new_tokens=4)
    assert measures.answer_ids == decoded.ids
    assert measures.answer == decoded.text
