"""The hybrid strategy end to end on a tiny model: all of a long document seen, answers from the best clauses."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from softlookup import Session
from softlookup.documents.model import Span
from softlookup.errors import CapacityError
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime import prefilled, prefix_store
from softlookup.session import Options
from tiny_models import save_folder

QUESTIONS = ["Who feeds heron number 9?", "Who feeds salmon number 61?"]
ANIMALS = ("otter", "heron", "badger", "falcon", "weasel", "salmon", "beaver", "magpie")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny model with room for 1,280 tokens of text."""
    return save_folder(tmp_path_factory.mktemp("window") / "tiny", window=2048)


@pytest.fixture(autouse=True)
def roomy(monkeypatch):
    monkeypatch.setattr(prefix_store, "LEAST_FREE_BYTES", 0)


@pytest.fixture
def farm(tmp_path: Path) -> Path:
    lines = ["FARM AGREEMENT", ""]
    for number in range(1, 161):
        animal = ANIMALS[number % len(ANIMALS)]
        lines += [f"{number}. The Keeper feeds {animal} number {number} with {number + 3} buckets a day.", ""]
    path = tmp_path / "farm.txt"
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture
def prefills(monkeypatch):
    """Texts that were asked of ``prefill``, and how many passes through the model they took."""
    texts, passes = [], []
    real, forward = prefilled.prefill, prefilled.Prefilled._forward

    def counted(loaded, template, text, **arguments):
        texts.append(text)
        return real(loaded, template, text, **arguments)

    def passed(self, ids, *arguments, **keywords):
        passes.append(len(ids))
        return forward(self, ids, *arguments, **keywords)

    monkeypatch.setattr(prefilled, "prefill", counted)
    monkeypatch.setattr(prefilled.Prefilled, "_forward", passed)
    return texts, passes


def options(**changes):
    return Options(**{"max_answer_tokens": 2, **changes})


def found(document, question, *, looked_at):
    """Plant evidence of ``question`` at the passage with these words, and none anywhere else."""
    from softlookup.evidence.abstention import decide
    from softlookup.evidence.reading import QuestionEvidence

    hybrid = document._readings.hybrid
    chunks = hybrid.windows.chunks
    text = document.document.text
    scores = np.array([3.0 * (looked_at in text[c.span.start : c.span.end]) for c in chunks])
    decision = decide(scores, np.linspace(0.1, 1.0, 39), 0.05)
    hybrid._known[question] = QuestionEvidence(chunks, scores, decision)


def test_a_document_beyond_the_window_is_seen_whole(folder, farm, prefills):
    document = Session(folder, options=options()).open(farm)
    strategy = document.strategy
    assert strategy.strategy == "hybrid"
    assert strategy.window_tokens == 2048 - 768 < strategy.document_tokens
    answers = list(document.ask_all(QUESTIONS))
    windows = document._readings.hybrid.windows
    texts, _ = prefills
    seen = "".join(texts[: len(windows.windows)])
    assert all(f"number {number} " in seen for number in range(1, 161))
    assert len(texts) == len(windows.windows) + sum(answer.outcome != "no_evidence" for answer in answers)
    for question, answer in zip(QUESTIONS, answers, strict=True):
        json.dumps(answer.to_dict(), allow_nan=False)
        assert answer.question == question
        assert answer.plan.strategy == "hybrid"
        assert answer.coverage.tokens_seen == answer.coverage.tokens_total == strategy.document_tokens
        assert 0 < answer.p_value <= 1
        assert [p.score for p in answer.ranking] == sorted((p.score for p in answer.ranking), reverse=True)
    assert answers[0].seconds.prefill > 0
    assert answers[0].seconds.calibrate > 0


def test_an_answer_comes_from_the_clauses_that_the_windows_point_to(folder, farm, prefills):
    document = Session(folder, options=options()).open(farm)
    found(document, QUESTIONS[0], looked_at="number 133 ")
    answer = document.ask(QUESTIONS[0])
    texts, _ = prefills
    assert len(texts) == 1  # evidence was planted: no window was read
    assert "number 133 " in texts[0]
    assert answer.outcome != "no_evidence"
    assert "133" in [citation.clause for citation in answer.citations]
    assert 0 < answer.coverage.tokens_read <= document.strategy.context_tokens
    fed = document.fed(QUESTIONS[0])
    assert any(span.overlap(Span(c.start, c.end)) for span in fed for c in answer.citations)
    assert answer.coverage.clauses_not_fed
    assert "133" not in answer.coverage.clauses_not_fed
    for label in answer.coverage.clauses_not_fed:
        assert f"\n{label}. The Keeper" not in "\n" + texts[0]


def test_without_evidence_nothing_more_is_read(folder, farm, prefills):
    document = Session(folder, options=options()).open(farm)
    found(document, QUESTIONS[0], looked_at="no such words")
    answer = document.ask(QUESTIONS[0])
    assert (answer.outcome, answer.answer, answer.citations) == ("no_evidence", "", ())
    assert prefills[0] == []
    assert document.fed(QUESTIONS[0]) == ()
    assert answer.coverage.tokens_seen == answer.coverage.tokens_total
    assert "only the retrieved clauses" not in answer.reason


def test_a_further_question_reads_no_window_again(folder, farm, prefills):
    document = Session(folder, options=options()).open(farm)
    document.ask(QUESTIONS[0])
    _, passes = prefills
    windows = len(document._readings.hybrid.windows.windows)
    passes.clear()
    document.ask(QUESTIONS[1])
    longest = max(passes, default=0)
    assert longest < document.strategy.context_tokens + 64  # at most the final context
    assert sum(length > 600 for length in passes) <= 1
    passes.clear()
    document.ask(QUESTIONS[0])
    assert sum(passes) < windows * 600


def test_a_second_run_finds_the_windows_on_disk_and_answers_the_same(folder, farm, prefills):
    first = Session(folder, options=options()).open(farm).ask(QUESTIONS[0])
    _, passes = prefills
    read = sum(passes)
    passes.clear()
    second = Session(folder, options=options()).open(farm).ask(QUESTIONS[0])
    assert sum(passes) < read / 2
    left, right = ({**answer.to_dict(), "seconds": None} for answer in (first, second))
    assert left == right


def test_without_the_cache_nothing_is_kept(folder, farm, isolated_cache):
    Session(folder, options=options(cache=False)).open(farm).ask(QUESTIONS[0])
    assert not (isolated_cache / "prefixes").exists()
    assert not (isolated_cache / "calibrations").exists()


def test_questions_together_are_answered_as_alone(folder, farm):
    together = list(Session(folder, options=options()).open(farm).ask_all(QUESTIONS))
    for question, answer in zip(QUESTIONS, together, strict=True):
        alone = Session(folder, options=options(cache=False)).open(farm).ask(question)
        assert alone.p_value == answer.p_value
        assert alone.ranking[0].clause == answer.ranking[0].clause
        assert alone.evidence_score == pytest.approx(answer.evidence_score, rel=1e-3)


@pytest.mark.parametrize("strategy", ["full_context", "retrieval", "hybrid"])
def test_a_strategy_can_be_asked_for(strategy, folder, contract, prefills):
    document = Session(folder, options=options(strategy=strategy)).open(contract)
    answer = document.ask("Who repairs the jetty?")
    assert answer.plan.strategy == strategy
    assert prefills[0]


def test_full_context_that_does_not_fit_is_refused(folder, farm):
    with pytest.raises(CapacityError, match="full_context is not possible"):
        Session(folder, options=options(strategy="full_context")).open(farm).ask(QUESTIONS[0])


def test_windows_that_would_be_too_short_are_refused(tmp_path, farm):
    small = save_folder(tmp_path / "small", window=1200)
    with pytest.raises(CapacityError, match="too short to be read one by one"):
        Session(small, options=options(strategy="hybrid")).open(farm).ask(QUESTIONS[0])


def test_a_limit_of_the_user_is_kept_by_retrieval(folder, farm):
    document = Session(folder, options=options(max_context_tokens=400)).open(farm)
    assert document.strategy.strategy == "retrieval"


def test_inspect_and_diagnose_look_at_the_final_context(folder, farm):
    document = Session(folder, options=options()).open(farm)
    found(document, QUESTIONS[0], looked_at="number 133 ")
    inspection = document.inspect(QUESTIONS[0])
    assert inspection.layers
    diagnosis = document.diagnose(QUESTIONS[0], "9", answer="He.")
    assert diagnosis.verdict
    missing = document.diagnose(QUESTIONS[0], "77", answer="He.")
    assert missing.to_dict() != diagnosis.to_dict()


def test_off_topic_questions_rank_like_the_bank(folder, farm):
    """The rank test holds for the document as a whole: of the bank's own questions few find evidence."""
    document = Session(folder, options=options()).open(farm)
    bank = question_bank("en").compared
    evidence = document._readings.hybrid.evidence(bank)
    assert sum(each.decision.p_value <= 0.05 for each in evidence) <= 0.15 * len(bank)
