"""A reading on a tiny model: masses equal a dense recomputation from the model's own attention weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.documents.read import read_document
from softlookup.evidence import reading as reading_module
from softlookup.evidence.attribution import TEMPER
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.question_rows import content_rows
from softlookup.evidence.reading import Reading
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import full_context, select_context
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTION = "Who repairs the jetty?"


def read(tmp_path, text):
    path = tmp_path / "contract.txt"
    path.write_text(text, "utf-8")
    return read_document(path)


def open_reading(loaded, document, context=None):
    template = PromptTemplate(loaded.tokenizer)
    context = context or full_context(document)
    return Reading(prefill(loaded, template, context.text), context, passages(document, 120))


def partial_context(document, loaded):
    """Two excerpts: the second and the last but one passage."""
    chunks = passages(document, 120)
    ranking = np.zeros(len(chunks))
    ranking[[2, -2]] = 1.0
    template = PromptTemplate(loaded.tokenizer)
    context = select_context(document, chunks, [ranking], count_tokens=template.count, max_context_tokens=260)
    assert 1 < len(context.spans) < len(chunks)
    return context


def document_offset(reading, token):
    """Place in the document of the middle of a token of the context, None inside a separator."""
    start, end = (int(x) for x in reading.prefilled.prefix.offsets[token])
    return reading.context.to_document(min((start + end) // 2, max(end - 1, start)))


def dense_masses(reading, questions, model):
    """Tempered mass [questions, heads, passages]: a full eager pass per question, sums by loops."""
    start, stop = reading.prefilled.prefix.document
    members = np.zeros((stop - start, len(reading.chunks)))
    for token in range(stop - start):
        place = document_offset(reading, token)
        for number, chunk in enumerate(reading.chunks):
            if place is not None and chunk.span.start <= place < chunk.span.end:
                members[token, number] = 1.0
    result = []
    for question in questions:
        suffix = reading.prefilled.template.suffix(question)
        ids = torch.tensor([[*reading.prefilled.prefix.ids, *suffix.ids[: suffix.question_length]]])
        with torch.inference_mode():
            attentions = model(ids, output_attentions=True).attentions
        offsets = reading.prefilled.template.question_offsets(question)
        rows = [len(reading.prefilled.prefix) + row for row in content_rows(question, offsets)]
        mass = [attentions[layer][0, head, rows, start:stop].double().numpy() for layer, head in reading.profile.heads]
        result.append([((weights @ members) ** TEMPER).mean(axis=0) for weights in mass])
    return np.array(result)


def check_reading(loaded, eager, document, context=None, questions=(QUESTION,)):
    reading = open_reading(loaded, document, context)
    language = "zh" if document.text is CONTRACT_ZH or "甲方" in document.text else "en"
    bank = question_bank(language)
    calibration = reading.calibration(language)
    asked = [
        reading.ask(question, alpha=0.1, max_new_tokens=1)[0].scores for question in questions
    ]  # before the model is switched to eager
    dense = dense_masses(reading, (*bank.questions, *questions), eager(loaded.model))
    # tiny masses under a fourth root: fp32 noise of 1e-7 becomes at most a few thousandths near zero
    tolerance = 5e-3
    size = len(bank.questions)
    null = dense[:size].mean(axis=0)
    np.testing.assert_allclose(calibration.null, null, atol=tolerance)
    assert calibration.null.shape == (len(reading.profile.heads), len(reading.chunks))
    weights = np.asarray(reading.profile.weights) / np.sum(reading.profile.weights)
    others = (dense[:size].sum(axis=0) - dense[:size]) / (size - 1)  # null without the question itself
    off_topic = np.einsum("qhp,h->qp", (dense[:size] - others)[len(bank.ordinary) :], weights)
    np.testing.assert_allclose(calibration.off_topic_maxima, off_topic.max(axis=-1), atol=tolerance)
    for number, scores in enumerate(asked):
        np.testing.assert_allclose(scores, np.einsum("hp,h->p", dense[size + number] - null, weights), atol=tolerance)


@pytest.mark.parametrize("kind", ["llama", "gemma3", "gpt_oss"])
def test_scores_equal_a_dense_recomputation(kind, tiny_loaded, eager, tmp_path):
    check_reading(tiny_loaded(kind), eager, read(tmp_path, CONTRACT))


def test_scores_equal_a_dense_recomputation_in_chinese(tiny_loaded, eager, tmp_path):
    check_reading(tiny_loaded("llama"), eager, read(tmp_path, CONTRACT_ZH), questions=("谁修理屋顶？",))


def test_scores_equal_a_dense_recomputation_on_excerpts(tiny_loaded, eager, tmp_path):
    document, loaded = read(tmp_path, CONTRACT), tiny_loaded("llama")
    check_reading(loaded, eager, document, partial_context(document, loaded))


def check_further(reading, eager):
    """Standard scores stay; further ones are plain differences from the same null: they are no part of it."""
    standard, more = reading.calibration("en"), reading.calibration("en", alpha=0.01)
    bank = question_bank("en", 0.01)
    assert np.array_equal(more.null, standard.null)
    assert np.array_equal(more.off_topic[: len(standard.off_topic)], standard.off_topic)
    further = more.off_topic[len(standard.off_topic) :]
    assert more.off_topic_maxima.shape == (len(bank.compared),) == (119,)
    chosen = (0, 7, len(bank.further) - 1)
    eager(reading.prefilled.loaded.model)
    dense = dense_masses(reading, [bank.further[place] for place in chosen], reading.prefilled.loaded.model)
    weights = np.asarray(reading.profile.weights) / np.sum(reading.profile.weights)
    expected = np.einsum("qhp,h->qp", dense - standard.null, weights)
    np.testing.assert_allclose(further[list(chosen)], expected, atol=FURTHER_TOLERANCE)


# the null is taken as it is: float32 noise of three questions alone
FURTHER_TOLERANCE = 1e-4


def test_a_small_alpha_runs_further_questions_against_the_same_null(tiny_loaded, eager, tmp_path):
    check_further(open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT)), eager)


def factor_for_all(reading, bank, progress):
    """Planted fault: the factor of the bank's own questions on the further ones too."""
    result = REAL_RUN(reading, bank, progress)
    if bank.further:
        result.off_topic[len(bank.off_topic) :] *= len(bank.questions) / (len(bank.questions) - 1)
    return result


def null_of_all(reading, bank, progress):
    """Planted fault: the further questions enter the null, so that scores depend on alpha."""
    if not bank.further:
        return REAL_RUN(reading, bank, progress)
    mass = reading.mass([*bank.questions, *bank.further])
    null = mass.mean(axis=0)
    scores = reading_module.passage_scores(mass[len(bank.ordinary) :], null, reading.profile.weights)
    return reading_module.Calibration(null, scores, np.ones(len(null)))


REAL_RUN = Reading._run_bank


@pytest.mark.parametrize("fault", [factor_for_all, null_of_all])
def test_wrong_scores_of_further_questions_are_caught(fault, tiny_loaded, eager, tmp_path, monkeypatch):
    monkeypatch.setattr(Reading, "_run_bank", fault)
    with pytest.raises(AssertionError):
        check_further(open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT)), eager)


def test_scores_do_not_depend_on_alpha_and_p_values_do(tiny_loaded, tmp_path):
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    usual, _ = reading.ask(QUESTION, alpha=0.05, max_new_tokens=1)
    strict, _ = reading.ask(QUESTION, alpha=0.01, max_new_tokens=1)
    assert np.array_equal(usual.scores, strict.scores)
    for evidence, compared in ((usual, 39), (strict, 119)):
        reached = round(evidence.decision.p_value * (compared + 1))
        assert evidence.decision.p_value == pytest.approx(reached / (compared + 1), abs=1e-12)


def test_progress_of_a_small_alpha_rises_from_start_to_end(tiny_loaded, tmp_path):
    seen = []
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    reading.calibration("en", lambda phase, fraction: seen.append((phase, fraction)), alpha=0.01)
    fractions = [fraction for _, fraction in seen]
    assert {phase for phase, _ in seen} == {"calibrate"}
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert any(fraction < 0.5 for fraction in fractions)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_evidence_of_a_question_is_decided_once(most, tiny_loaded, tmp_path, monkeypatch):
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    reading.calibration("en")
    decided, real = [], reading_module.decide
    monkeypatch.setattr(reading_module, "decide", lambda *a: (decided.append(a[0]), real(*a))[1])
    evidence, decoded = reading.ask(QUESTION, alpha=0.999, max_new_tokens=most)
    assert evidence.decision.found
    assert len(decoded.ids) <= most
    # one for the question, one more for the rows of an answer where there is one
    assert len(decided) == (2 if decoded.ids else 1)
    assert np.array_equal(decided[0], evidence.scores)


def test_passages_shifted_by_a_separator_are_caught(tiny_loaded, eager, tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "SEPARATOR", "")
    document, loaded = read(tmp_path, CONTRACT), tiny_loaded("llama")
    with pytest.raises(AssertionError):
        check_reading(loaded, eager, document, partial_context(document, loaded))


@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH], ids=["en", "zh"])
def test_every_token_belongs_to_the_passage_of_its_middle(text, tiny_loaded, tmp_path):
    document, loaded = read(tmp_path, text), tiny_loaded("llama")
    for context in (None, partial_context(document, loaded) if text is CONTRACT else None):
        reading = open_reading(loaded, document, context)
        owner = reading.passage_map.passage_of_token
        assert len(owner) == len(reading.prefilled.prefix.offsets)
        assert set(owner) - {-1} == set(range(len(reading.chunks)))
        for token, passage in enumerate(owner):
            place = document_offset(reading, token)
            inside = [
                number
                for number, chunk in enumerate(reading.chunks)
                if place is not None and chunk.span.start <= place < chunk.span.end
            ]
            assert ([] if passage < 0 else [passage]) == inside


def test_only_passages_that_were_fed_are_ranked(tiny_loaded, tmp_path):
    document, loaded = read(tmp_path, CONTRACT), tiny_loaded("llama")
    context = partial_context(document, loaded)
    reading = open_reading(loaded, document, context)
    assert 0 < len(reading.chunks) < len(passages(document, 120))
    for chunk in reading.chunks:
        assert sum(chunk.span.overlap(span) for span in context.spans) >= len(chunk.span) / 2


def test_the_bank_runs_once_per_language(tiny_loaded, tmp_path, monkeypatch):
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    runs = []
    real = reading.prefilled.observe_packed
    monkeypatch.setattr(reading.prefilled, "observe_packed", lambda *a, **k: (runs.append(len(a[0])), real(*a, **k)))
    first = reading.calibration("en")
    assert reading.calibration("en") is first
    reading.ask(QUESTION, alpha=0.1, max_new_tokens=1)
    assert runs == [len(question_bank("en").questions)]
    reading.ask("谁修理屋顶？", alpha=0.1, max_new_tokens=1)
    assert runs == [len(question_bank("en").questions), len(question_bank("zh").questions)]


def test_questions_do_not_influence_one_another(tiny_loaded, tmp_path):
    document = read(tmp_path, CONTRACT)
    reading, fresh = (open_reading(tiny_loaded("llama"), document) for _ in range(2))
    reading.ask("Which law governs?", alpha=0.1, max_new_tokens=5)
    later, later_words = reading.ask(QUESTION, alpha=0.1, max_new_tokens=5)
    alone, alone_words = fresh.ask(QUESTION, alpha=0.1, max_new_tokens=5)
    assert np.array_equal(later.scores, alone.scores)
    assert later_words.ids == alone_words.ids
    assert later.answer_span == alone.answer_span


def test_a_monitor_sees_every_layer_and_the_answer_is_the_plain_one(tiny_loaded, tmp_path):
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    layers, heard = [], []
    evidence, decoded = reading.ask(
        QUESTION, alpha=0.95, max_new_tokens=4, monitor=lambda call: layers.append(call.layer), on_token=heard.append
    )
    assert layers == [0, 1, 2]
    assert heard == [decoded.ids[: count + 1] for count in range(len(decoded.ids))]
    plain = reading.prefilled.answer(reading.prefilled.template.suffix(QUESTION), max_new_tokens=4)
    assert plain.ids == decoded.ids
    assert len(evidence.scores) == len(reading.chunks)
    assert evidence.decision.evidence_score == evidence.scores.max()


def test_a_question_of_the_bank_does_not_find_evidence_by_its_own_presence(tiny_loaded, tmp_path):
    """Asking the k-th best off-topic question gives a p-value of about k / (M + 1)."""
    reading = open_reading(tiny_loaded("llama"), read(tmp_path, CONTRACT))
    bank = question_bank("en")
    maxima = reading.calibration("en").off_topic_maxima
    worst = bank.off_topic[int(maxima.argmin())]
    evidence, _ = reading.ask(worst, alpha=0.1, max_new_tokens=1)
    assert not evidence.decision.found
    assert evidence.decision.p_value >= 0.9
