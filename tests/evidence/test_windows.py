"""Evidence from windows: one scale for all of them, each passage once, the rank test on the whole document."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.documents.read import read_document
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.reading import Reading
from softlookup.evidence.windows import DocumentWindows, WindowReader
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import full_context
from softlookup.retrieval.windows import Window, document_windows
from softlookup.runtime import prefilled
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTIONS = ("Who repairs the jetty?", "Which law governs?")
PROFILE = HeadProfile(((0, 1), (1, 0)), (1.0, 0.5), profiled=True)
ALPHA = 0.05


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "contract.txt"
    path.write_text(CONTRACT, "utf-8")
    return read_document(path)


@pytest.fixture
def opened(tiny_loaded, document):
    """The windows of the contract; ``tokens`` of each."""

    def open_(tokens=200, *, windows=None, **reader):
        loaded = tiny_loaded("llama")
        template = PromptTemplate(loaded.tokenizer)
        chunks = passages(document, 120)
        cut = windows or document_windows(document, chunks, count_tokens=template.count, window_tokens=tokens)
        return DocumentWindows(document, chunks, cut, WindowReader(loaded, template, PROFILE, **reader))

    return open_


def test_one_window_ranks_and_decides_as_the_whole_reading_does(opened, tiny_loaded, document):
    windows = opened(4000)
    assert len(windows.windows) == 1
    loaded = tiny_loaded("llama")
    context = full_context(document)
    whole = Reading(
        prefill(loaded, PromptTemplate(loaded.tokenizer), context.text.strip()),
        context,
        windows.chunks,
        PROFILE,
        one_scale=True,
    )
    for question, found in zip(QUESTIONS, windows.evidence(QUESTIONS, alpha=ALPHA), strict=True):
        alone, _ = whole.ask(question, alpha=ALPHA, max_new_tokens=1)
        assert np.allclose(found.scores, alone.scores, atol=1e-4 * np.abs(alone.scores).max())
        assert found.decision.p_value == alone.decision.p_value
        assert found.decision.best == alone.decision.best


def test_every_passage_is_scored_once_and_an_overlap_is_the_mean(opened, document):
    chunks = passages(document, 120)
    middle = len(chunks) // 2

    def window(first, last):
        return Window(first, last, type(chunks[0].span)(chunks[first].span.start, chunks[last - 1].span.end))

    left, right = window(0, middle + 2), window(middle - 1, len(chunks))
    both = opened(windows=(left, right)).evidence(QUESTIONS, alpha=ALPHA)[0].scores
    first = opened(windows=(left,)).evidence(QUESTIONS, alpha=ALPHA)[0].scores
    last = opened(windows=(right,)).evidence(QUESTIONS, alpha=ALPHA)[0].scores
    assert np.allclose(both[: middle - 1], first[: middle - 1])
    assert np.allclose(both[middle + 2 :], last[middle + 2 :])
    shared = slice(middle - 1, middle + 2)
    assert np.allclose(both[shared], (first[shared] + last[shared]) / 2)


def test_a_passage_that_no_window_holds_is_below_everything(opened, document):
    chunks = passages(document, 120)
    part = Window(2, 5, type(chunks[0].span)(chunks[2].span.start, chunks[4].span.end))
    scores = opened(windows=(part,)).evidence(QUESTIONS, alpha=ALPHA)[0].scores
    assert scores[[0, 1, 5]].max() <= scores[2:5].min()


def test_the_rank_test_is_made_on_the_best_of_all_windows(opened):
    """An off-topic question that is asked has a p-value of about its rank among the others."""
    windows = opened()
    assert len(windows.windows) >= 2
    bank = question_bank("en").compared
    found = windows.evidence(bank, alpha=ALPHA)
    values = sorted(each.decision.p_value for each in found)
    wanted = [(rank + 1) / (len(bank) + 1) for rank in range(1, len(bank) + 1)]
    # the factor that leaves a bank question out of its own null moves neighbours, not the distribution
    assert np.abs(np.array(values) - np.array(wanted)).max() <= 4 / (len(bank) + 1)


def test_windows_of_different_spread_share_one_scale(opened, monkeypatch):
    """Planted: one window whose masses are ten times as large must not win every question."""
    plain = opened()
    expected = plain.evidence(QUESTIONS, alpha=ALPHA)
    real, numbers = Reading.mass, {}

    def scaled(self, questions, progress=None):
        mass = real(self, questions, progress)
        loud = self.context.spans[0].start == plain.windows[1].span.start
        numbers[loud] = True
        return 10 * mass if loud else mass

    monkeypatch.setattr(Reading, "mass", scaled)
    planted = opened().evidence(QUESTIONS, alpha=ALPHA)
    assert set(numbers) == {True, False}
    for before, after in zip(expected, planted, strict=True):
        assert np.allclose(before.scores, after.scores, rtol=1e-9)


def test_questions_of_both_languages_have_their_own_bank(opened):
    english, chinese = opened().evidence(["Who repairs the jetty?", "谁修理屋顶？"], alpha=ALPHA)
    alone = opened().evidence(["谁修理屋顶？"], alpha=ALPHA)[0]
    assert np.allclose(chinese.scores, alone.scores)
    assert not np.allclose(english.scores, chinese.scores)


def test_the_bank_runs_once_per_window_and_questions_do_not_influence_one_another(opened, monkeypatch):
    windows = opened()
    sizes = []
    real = prefilled.Prefilled.observe_packed
    monkeypatch.setattr(
        prefilled.Prefilled, "observe_packed", lambda self, *a, **k: (sizes.append(len(a[0])), real(self, *a, **k))
    )
    first = windows.evidence([QUESTIONS[0]], alpha=ALPHA)[0]
    bank = len(question_bank("en").questions)
    assert sizes == [bank, 1] * len(windows.windows)
    sizes.clear()
    later = windows.evidence([QUESTIONS[1], QUESTIONS[0]], alpha=ALPHA)[1]
    assert sizes == [2] * len(windows.windows)
    assert np.allclose(first.scores, later.scores, atol=1e-5 * np.abs(first.scores).max())


def test_only_the_layers_of_the_evidence_run(opened, monkeypatch):
    depths = []
    real = prefill

    def watched(*arguments, **keywords):
        result = real(*arguments, **keywords)
        depths.append(len(result.cache.held()))
        return result

    monkeypatch.setattr(prefilled, "prefill", watched)
    opened().evidence(QUESTIONS, alpha=ALPHA)
    assert set(depths) == {2}  # of three layers


def test_seconds_and_progress_are_told(opened):
    phases, seen = {}, []
    windows = opened(
        spend=lambda phase, start: phases.update({phase: start}),
        progress=lambda phase, fraction: seen.append((phase, fraction)),
    )
    windows.evidence(QUESTIONS, alpha=ALPHA)
    assert set(phases) == {"prefill", "calibrate", "question"}
    for phase in ("prefill", "calibrate"):
        fractions = [fraction for name, fraction in seen if name == phase]
        assert fractions == sorted(fractions)
        assert fractions[-1] == 1.0


def test_a_chinese_contract_is_read_in_windows(tiny_loaded, tmp_path):
    path = tmp_path / "zh.txt"
    path.write_text(CONTRACT_ZH * 3, "utf-8")
    document = read_document(path)
    loaded = tiny_loaded("llama")
    template = PromptTemplate(loaded.tokenizer)
    chunks = passages(document, 60)
    cut = document_windows(document, chunks, count_tokens=template.count, window_tokens=150)
    windows = DocumentWindows(document, chunks, cut, WindowReader(loaded, template, PROFILE))
    (found,) = windows.evidence(["谁修理屋顶？"], alpha=ALPHA)
    assert len(cut) > 2
    assert np.isfinite(found.scores).all()
    assert len(found.scores) == len(chunks)
