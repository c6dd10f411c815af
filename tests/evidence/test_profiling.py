"""Choosing heads: planted good heads are found, noise is refused, held-out contracts decide, local layers are out."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.errors import UsageError
from softlookup.evidence import profiling
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.profile_texts import parse_planted, planted_contracts
from softlookup.evidence.profiling import (
    FEWEST_HEADS,
    MOST_HEADS,
    PlantedMass,
    binomial_tail,
    choose_heads,
    judge,
    limited,
    planted_mass,
    profile_model,
    reciprocal_ranks,
)
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime.prompt import PromptTemplate

LAYERS, PER_LAYER, PASSAGES, QUESTIONS = 12, 4, 15, 10
HEADS = tuple((layer, head) for layer in range(LAYERS) for head in range(PER_LAYER))
MIDDLE = HeadProfile(tuple(h for h in HEADS if 4 <= h[0] < 8), (1.0,) * 16, profiled=False)


def planted(good, *, languages=("en", "en", "zh", "zh"), lift=3.0, seed=0, spoiled=()):
    """Noise, in which the heads ``good`` favour the right passage, except in the ``spoiled`` languages."""
    random = np.random.default_rng(seed)
    masses = []
    for language in languages:
        gold = random.integers(PASSAGES, size=QUESTIONS)
        lifted = random.normal(size=(QUESTIONS, len(HEADS), PASSAGES))
        for head in () if language in spoiled else good:
            lifted[np.arange(QUESTIONS), HEADS.index(head), gold] += lift
        masses.append(PlantedMass(language, lifted, gold))
    return masses


# --- the texts


def test_there_are_enough_questions_of_different_kinds_in_both_languages():
    contracts = planted_contracts()
    for language in ("en", "zh"):
        own = [c for c in contracts if c.language == language]
        questions = [question for contract in own for question in contract.questions]
        assert len(own) >= 3
        assert len(questions) >= 24
        assert 0.3 < sum(question.paraphrased for question in questions) / len(questions) < 0.7
        assert len({question.text for question in questions}) == len(questions)
        # no question is a null or off-topic question itself
        assert not {question.text for question in questions} & set(question_bank(language).questions)


def test_every_contract_has_distractors_and_its_passages_are_its_text():
    for contract in planted_contracts():
        gold = {question.gold for question in contract.questions}
        assert len(gold) == len(contract.questions)
        assert len(contract.passages) - len(gold) >= 5
        texts = [contract.text[span.start : span.end] for span in contract.passages]
        assert "\n\n".join(texts) == contract.text
        assert not any(question.text in contract.text for question in contract.questions)
        assert all(line[0] not in "?？" for line in contract.text.splitlines() if line)


def test_parsing():
    contract = parse_planted("en_x", "TITLE\n\n1. A.\n? Who?\n?~ How?\n\n2. B.\n")
    assert contract.text == "TITLE\n\n1. A.\n\n2. B."
    assert [(q.text, q.gold, q.paraphrased) for q in contract.questions] == [("Who?", 1, False), ("How?", 1, True)]
    with pytest.raises(ValueError, match="below no paragraph"):
        parse_planted("en_x", "? Who?\n\n1. A.")


def test_fewer_questions_come_from_all_contracts():
    small = limited(planted_contracts(), 8)
    for language in ("en", "zh"):
        own = [c for c in small if c.language == language]
        assert sum(len(c.questions) for c in own) == 8
        assert len(own) == len([c for c in planted_contracts() if c.language == language])
    assert limited(planted_contracts(), None) == planted_contracts()
    assert limited(planted_contracts(), 500) == planted_contracts()


# --- ranks and chance


def test_ranks_count_ties_and_nan_against_the_passage():
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 2.0], [1.0, np.nan, 0.0]])
    found = reciprocal_ranks(scores, np.array([0, 0, 1, 0, 0]))
    assert found.tolist() == [1.0, 1 / 2, 1 / 3, 1 / 3, 1 / 2]
    heads = np.stack([scores, scores[:, ::-1]])
    assert reciprocal_ranks(heads, np.array([0, 0, 1, 0, 0])).shape == (2, 5)


@pytest.mark.parametrize(("hits", "expected"), [(0, 1.0), (1, 0.875), (3, 0.125)])
def test_the_tail_of_a_fair_coin(hits, expected):
    assert binomial_tail(hits, 3, 0.5) == pytest.approx(expected)


# --- the choice


def test_good_heads_are_chosen_and_weigh_most():
    good = ((2, 1), (9, 0), (9, 3))
    indices, weights = choose_heads(planted(good))
    assert {HEADS[i] for i in indices[:3]} == set(good)
    assert weights.max() == 1.0
    assert weights[:3].min() > weights[3:].max()
    assert FEWEST_HEADS <= len(indices) <= MOST_HEADS


def test_a_head_without_spread_is_never_worth_anything():
    masses = planted(((2, 1),))
    for mass in masses:
        mass.lifted[:, HEADS.index((0, 0))] = 0.0
    indices, weights = choose_heads(masses)
    chosen = {HEADS[i]: weight for i, weight in zip(indices, weights, strict=True)}
    assert chosen.get((0, 0), 0.0) == 0.0
    assert np.isfinite(weights).all()


def test_chosen_heads_outside_the_middle_beat_it():
    report = judge(planted(((1, 0), (1, 2), (10, 1)), lift=4.0), HEADS, MIDDLE)
    assert report.kind == "profiled"
    assert report.profile.profiled
    assert {(1, 0), (1, 2), (10, 1)} <= set(report.profile.heads)
    assert report.profile.languages == ("en", "zh")
    assert len(report.quality) == len(report.profile.heads)
    assert [score.recall_at_1 for score in report.chosen] > [score.recall_at_1 for score in report.middle]
    assert report.profile.note == ""


def test_the_middle_layers_are_kept_where_no_choice_beats_them():
    """All middle heads are weakly right: summing all sixteen beats a choice that is made on thirty questions."""
    report = judge(planted(MIDDLE.heads, lift=1.0), HEADS, MIDDLE)
    assert report.kind == "middle layers"
    assert report.profile.heads == MIDDLE.heads
    assert report.profile.profiled
    assert report.profile.serves("en")


@pytest.mark.parametrize("seed", range(6))
def test_noise_is_no_evidence_although_the_best_heads_look_good_on_their_own_questions(seed):
    masses = planted((), seed=seed)
    quality = np.concatenate([mass.reciprocal_ranks for mass in masses]).mean(axis=0)
    assert quality.max() > 1.15 * quality.mean()  # what a choice without held-out contracts would praise
    report = judge(masses, HEADS, MIDDLE)
    assert report.kind == "unavailable"
    assert report.profile.languages == ()
    assert "chance" in report.profile.note


def test_a_language_that_does_not_beat_chance_is_left_out():
    report = judge(planted(((1, 0), (1, 2)), lift=5.0, spoiled=("zh",)), HEADS, MIDDLE)
    assert report.profile.languages == ("en",)
    assert report.kind == "profiled"


def test_choosing_on_the_judged_contracts_would_be_caught(monkeypatch):
    """Planted fault: the choice sees the held-out questions, and noise looks like evidence."""
    masses = planted((), seed=1)
    peeked = [PlantedMass(m.language, m.lifted[:4], m.gold[:4]) for m in masses]  # few questions: much to overfit
    honest = judge(peeked, HEADS, MIDDLE)
    monkeypatch.setattr(profiling, "choose_heads", lambda _: choose_heads(peeked))
    cheating = judge(peeked, HEADS, MIDDLE)
    assert np.mean([s.mean_reciprocal_rank for s in cheating.chosen]) > 1.3 * np.mean(
        [s.mean_reciprocal_rank for s in honest.chosen]
    )


# --- a model


@pytest.mark.parametrize(("kind", "layers"), [("llama", {0, 1, 2}), ("gemma3", {1})])
def test_a_model_is_profiled_on_layers_that_see_the_document(kind, layers, tiny_loaded, monkeypatch):
    read = []
    real = planted_mass

    def small(loaded, template, contract, heads):
        read.append({layer for layer, _ in heads})
        return real(loaded, template, contract, heads)

    monkeypatch.setattr(profiling, "planted_mass", small)
    monkeypatch.setattr(profiling, "planted_contracts", lambda: planted_contracts()[3:5])
    loaded = tiny_loaded(kind)
    steps = []
    report = profile_model(
        loaded, PromptTemplate(loaded.tokenizer), questions=8, progress=lambda _, done: steps.append(done)
    )
    assert read == [layers, layers]
    assert {layer for layer, _ in report.profile.heads} <= layers
    assert report.profile.profiled
    assert [score.questions for score in report.chosen] == [8, 8]
    assert steps == [0.5, 1.0]


def test_a_model_of_windows_alone_is_not_measured(tiny_loaded, monkeypatch):
    monkeypatch.setattr(profiling, "planted_mass", None)
    loaded = tiny_loaded("mistral")
    report = profile_model(loaded, PromptTemplate(loaded.tokenizer))
    assert report.kind == "unavailable"
    assert "sliding window" in report.profile.note


def test_too_few_questions_are_refused(tiny_loaded):
    loaded = tiny_loaded("llama")
    with pytest.raises(UsageError, match="at least 8"):
        profile_model(loaded, PromptTemplate(loaded.tokenizer), questions=3)
