"""The scores of the evidence benchmarks are those of ``ask``; checked on a tiny model, read whole and retrieved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from softlookup import Session
from softlookup.session import Options

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from cuad import LabelledContract, LabelledQuestion
from evidence import citation_counts, report, run_contract
from evidence_methods import METHODS, Scorer, cited
from evidence_metrics import ranks_of
from evidence_questions import Question, ask_window

# benchmarks/attention.py would hide the tests of that name from processes that get this path
sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]

QUESTIONS = [f"Who feeds the heron number {number}?" for number in (9, 25, 41, 57, 73, 89)]


class Letters:
    """In place of MiniLM: counts of letters, as unit vectors."""

    def vectors(self, texts):
        counts = np.array([[text.count(letter) for letter in "abcdefghij0123456789"] for text in texts], dtype=float)
        return counts / np.maximum(1e-9, np.linalg.norm(counts, axis=1, keepdims=True))


@pytest.fixture
def farm(tmp_path):
    lines = [f"{n}. The Keeper feeds heron number {n} with {n + 3} buckets a day.\n" for n in range(1, 101)]
    path = tmp_path / "farm.txt"
    path.write_text("\n".join(["FARM AGREEMENT\n", *lines]), "utf-8")
    return path


def opened(tiny_folder, path, tokens):
    options = Options(max_answer_tokens=1, max_context_tokens=tokens)
    return Session(tiny_folder, options=options).open(path)


@pytest.mark.parametrize("tokens", [400, None], ids=["retrieved", "whole"])
def test_the_product_rows_are_what_ask_prints(tiny_folder, farm, tokens):
    if tokens is None:
        farm.write_text(farm.read_text("utf-8")[:1500], "utf-8")
    document = opened(tiny_folder, farm, tokens)
    assert document.strategy.strategy == ("retrieval" if tokens else "full_context")
    answers = list(document.ask_all(QUESTIONS))
    scorer = Scorer(document)
    found = list(scorer.score(QUESTIONS))
    assert [scored.question for scored in found] == QUESTIONS
    for answer, scored in zip(answers, found, strict=True):
        assert scored.decision.p_value == pytest.approx(answer.p_value, abs=1e-4)
        assert scored.decision.evidence_score == pytest.approx(answer.evidence_score, rel=1e-3, abs=1e-9)
        best = scored.scores["fused"].max()
        first = scorer.spans[int(scored.scores["fused"].argmax())]
        assert best == pytest.approx(answer.ranking[0].score, abs=2e-3)
        assert first == (answer.ranking[0].start, answer.ranking[0].end)
        assert {(c.start, c.end) for c in cited(document, scored)} == {(c.start, c.end) for c in answer.citations}


def test_what_was_not_fed_ranks_last_for_the_model_only(tiny_folder, farm):
    document = opened(tiny_folder, farm, 400)
    scorer = Scorer(document, minilm=Letters(), baselines=True)
    for scored in scorer.score(QUESTIONS[:2]):
        assert set(scored.scores) == set(METHODS)
        fed = np.isfinite(scored.scores["attention"])
        assert 0 < fed.sum() == len(scored.chunks) < len(scorer.spans)
        for name, values in scored.scores.items():
            alone = name in ("random", "BM25", "MiniLM", "BM25 + MiniLM")
            assert np.isfinite(values).all() == alone, name
            if not alone:
                assert ranks_of(values)[fed].max() == fed.sum() < ranks_of(values)[~fed].min()
            assert np.isfinite(scored.best[name])


def test_raw_attention_is_a_share_of_all_heads(tiny_folder, farm):
    """Each head of each layer gives every row mass 1 at most, and the document has most of the prompt's tokens."""
    farm.write_text(farm.read_text("utf-8")[:1500], "utf-8")
    document = opened(tiny_folder, farm, None)
    config = document.session.loaded.model.config
    heads = config.num_hidden_layers * config.num_attention_heads
    scored = next(Scorer(document, baselines=True).score(QUESTIONS[:1]))
    assert 0.3 * heads < scored.scores["raw attention"].sum() < heads
    assert abs(scored.scores["ICR"].sum()) < heads


def test_a_citation_beside_its_words_is_counted(tiny_folder, farm, monkeypatch):
    import evidence

    farm.write_text(farm.read_text("utf-8")[:1500], "utf-8")
    document = opened(tiny_folder, farm, None)
    text = document.document.text

    class Cited:
        def __init__(self, start, end, quote):
            self.start, self.end, self.quote = start, end, quote

    planted = (Cited(0, 4, text[0:4]), Cited(1, 5, text[0:4]))
    monkeypatch.setattr(evidence, "cited", lambda *_: planted)
    assert citation_counts(document, None, text) == {"made": 2, "in_text": 1, "in_file": 1, "plain": 2}
    assert citation_counts(document, None, "\r\n" + text)["in_file"] == 0
    assert citation_counts(document, None, None)["plain"] == 0


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["unix", "windows"])
def test_offsets_of_questions_count_the_line_ends_of_the_file(tiny_folder, farm, ends):
    """Passage n of the window is clause n + 20; a span of another clause would be another passage."""
    text = farm.read_text("utf-8").replace("\n", ends)
    farm.write_bytes(text.encode("utf-8"))
    window = (text.index("21. The Keeper"), text.index("41. The Keeper"))
    words = "feeds heron number 30 with 33 buckets"
    start = text.index(words)
    ids = {"answerable": True, "kind": "lookup", "split": "dev"}
    right = Question("1", "farm.txt", window, "Who feeds heron number 30?", spans=((start, start + len(words)),), **ids)
    lost = Question("2", "farm.txt", window, "Who feeds heron number 30?", spans=((5_000_000, 5_000_040),), **ids)
    first, second = ask_window(Session(tiny_folder), farm, [right, lost], None)
    assert (first["gold"], second["gold"]) == (1, 0)
    assert first["rank"]["BM25"] == 1
    assert second["rank"]["BM25"] == 999


@pytest.mark.parametrize("off_topic", [0, 5])
def test_a_long_contract_from_file_to_table(tiny_folder, farm, off_topic, capsys):
    text = farm.read_text("utf-8")
    starts = [text.index(f"heron number {number} ") for number in (9, 25, 41, 57, 73)]
    questions = [
        LabelledQuestion("A", question, ((start, start + 40),))
        for question, start in zip(QUESTIONS, starts, strict=False)
    ]
    questions.append(LabelledQuestion("B", "Who owns the yacht?", ()))
    session = Session(tiny_folder, options=Options(max_context_tokens=400))
    row = run_contract(session, LabelledContract(farm, tuple(questions)), Letters(), off_topic)
    row = json.loads(json.dumps(row))
    assert row["strategy"] == "retrieval"
    assert len(row["off_topic_p"]) == off_topic
    assert [question["answerable"] for question in row["questions"]] == [True] * 5 + [False]
    assert all(question["gold"] == 1 and question["rank"]["BM25"] == 1 for question in row["questions"][:5])
    assert row["questions"][5]["rank"]["BM25"] == 999
    report("report half", [row], bank=19)
    printed = capsys.readouterr().out
    assert "1 contracts were read in part" in printed
    assert all(f"  {method} " in printed for method in METHODS)
    assert ("none asked" in printed) == (off_topic == 0)
    assert "alpha 0.01: skipped, a bank of 19 off-topic questions" in printed
