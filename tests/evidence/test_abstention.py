"""The rank test: exact p-values, no evidence for what is like the off-topic questions, and wrong rules are caught."""

from __future__ import annotations

import math

import numpy as np
import pytest

from softlookup.evidence.abstention import decide

ALPHA = 0.05


@pytest.mark.parametrize(
    ("best", "expected"),
    [(10.0, 1 / 5), (4.0, 2 / 5), (3.5, 2 / 5), (3.0, 3 / 5), (1.0, 5 / 5), (0.0, 1.0)],
)
def test_p_values_are_exact_and_ties_count_against_evidence(best, expected):
    off_topic = np.array([1.0, 2.0, 3.0, 4.0])
    decision = decide(np.array([-1.0, best, -2.0]), off_topic, 0.5)
    assert decision.p_value == pytest.approx(expected, abs=0)
    assert decision.best == 1
    assert decision.evidence_score == best
    assert decision.found == (expected <= 0.5)
    assert decision.passage_p_values.tolist() == [1.0, expected, 1.0]


def test_a_p_value_equal_to_alpha_is_evidence():
    decision = decide(np.array([5.0]), np.arange(4.0), 0.2)
    assert decision.p_value == 0.2
    assert decision.found


def test_an_alpha_that_can_never_find_anything_is_refused():
    off_topic = np.arange(9.0)
    assert decide(np.array([99.0]), off_topic, 0.1).found
    with pytest.raises(ValueError, match=r"alpha 0\.09 is below the smallest p-value 0\.1000 of 9 questions"):
        decide(np.array([99.0]), off_topic, 0.09)
    with pytest.raises(ValueError, match="0 questions"):
        decide(np.array([99.0]), np.array([]), 0.5)


def test_passage_p_values_fall_with_the_score():
    random = np.random.default_rng(3)
    scores, off_topic = random.normal(size=50), random.normal(1, 1, 39)
    decision = decide(scores, off_topic, ALPHA)
    order = np.argsort(-scores)
    assert (np.diff(decision.passage_p_values[order]) >= 0).all()
    assert decision.p_value == decision.passage_p_values.min()


@pytest.mark.parametrize("where", ["scores", "off_topic"])
def test_scores_that_are_no_numbers_are_no_evidence(where):
    scores, off_topic = np.array([3.0, 1.0]), np.arange(39.0)
    (scores if where == "scores" else off_topic)[:] = np.nan
    decision = decide(scores, off_topic, ALPHA)
    assert not decision.found
    assert decision.p_value == 1.0


def false_evidence_rate(rule, seed, *, trials=4000, questions=39, passages=12):
    """Share of trials with evidence when the user's question is just another off-topic one."""
    random = np.random.default_rng(seed)
    # passages share their questions' moods, and passages differ: maxima are dependent and skewed
    found = 0
    for _ in range(trials):
        attraction = random.normal(size=passages)
        scores = random.gumbel(size=(questions + 1, passages)) * random.gamma(2, size=(questions + 1, 1)) + attraction
        found += rule(scores[0], scores[1:].max(-1), ALPHA)
    return found / trials


def upper_limit(trials=4000):
    """Five standard deviations above alpha: one false alarm in three million runs."""
    return ALPHA + 5 * math.sqrt(ALPHA * (1 - ALPHA) / trials)


def check_rate(rule, seed, questions=39):
    rate = false_evidence_rate(rule, seed, questions=questions)
    assert rate <= upper_limit(), f"false evidence in {rate:.3f}"


def test_false_evidence_is_as_rare_as_promised(seed):
    check_rate(lambda *arguments: decide(*arguments).found, seed)


def test_the_rule_is_not_needlessly_strict(seed):
    rate = false_evidence_rate(lambda *arguments: decide(*arguments).found, seed)
    # with 39 questions p takes steps of 1/40, so alpha is reached exactly
    assert rate >= ALPHA - 5 * math.sqrt(ALPHA * (1 - ALPHA) / 4000)


def mean_instead_of_rank(scores, maxima, alpha):
    return scores.max() > maxima.mean()


def no_plus_one(scores, maxima, alpha):
    return (maxima >= scores.max()).mean() <= alpha


def per_passage_without_the_maximum(scores, maxima, alpha):
    """Compares the best passage with typical passages: the more passages, the more evidence."""
    return (maxima - np.log(12) * 2 >= scores.max()).mean() <= alpha


@pytest.mark.parametrize("rule", [mean_instead_of_rank, no_plus_one, per_passage_without_the_maximum])
def test_wrong_rules_are_caught(rule, seed):
    check_rate(lambda *arguments: decide(*arguments).found, seed, questions=20)
    with pytest.raises(AssertionError, match="false evidence"):
        check_rate(rule, seed, questions=20)
