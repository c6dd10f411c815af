"""Numbers of the evidence benchmarks on planted rows; each measure meets a case that it must call bad."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import contract_nli
import evidence_metrics as metrics
import maud
from alignment import Alignment
from evidence_methods import filtered_sums
from results import append_result, code_digest, load_results, method_digest, scoring_modules

# benchmarks/attention.py would hide the tests of that name from processes that get this path
sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]


def row(group, *, rank=None, score=0.0, p=1.0, kind="off_topic"):
    """A question; ``rank`` None: unanswerable."""
    rank_or_none = metrics.MISSED if rank is None else rank
    return {
        "group": group,
        "answerable": rank is not None,
        "kind": "lookup" if rank is not None else kind,
        "rank": {"fused": rank_or_none, "BM25": rank_or_none},
        "best": {"attention": score, "BM25": -score},
        "p": p,
    }


ROWS = [
    row("a", rank=1, score=0.9, p=0.01),
    row("a", rank=3, score=0.6, p=0.04),
    row("a", score=0.1, p=0.5),
    row("b", rank=metrics.MISSED, score=0.2, p=0.3),
    row("b", score=0.7, p=0.05, kind="near_miss"),
]


def test_ranks_keep_the_order_of_equal_scores():
    scores = np.array([0.5, 2.0, 0.5, -np.inf, 3.0])
    assert metrics.ranks_of(scores).tolist() == [3, 2, 4, 5, 1]
    assert metrics.best_rank(scores, np.array([True, False, True, False, False])) == 3
    assert metrics.best_rank(scores, np.zeros(5, dtype=bool)) == metrics.MISSED
    # what was not fed comes after everything that was
    assert metrics.best_rank(np.array([-np.inf, -5.0, -7.0]), np.array([True, False, False])) == 3


def test_recall_and_reciprocal_rank():
    assert metrics.recall(ROWS, "fused", 1) == pytest.approx(1 / 3)
    assert metrics.recall(ROWS, "fused", 3) == pytest.approx(2 / 3)
    assert metrics.recall(ROWS, "fused", 998) == pytest.approx(2 / 3)
    assert metrics.mean_reciprocal_rank(ROWS, "fused") == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert math.isnan(metrics.recall([row("a")], "fused", 1))


def test_auroc_counts_pairs_and_halves_ties():
    assert metrics.auroc([3, 2], [1, 0]) == 1.0
    assert metrics.auroc([0, 1], [2, 3]) == 0.0
    assert metrics.auroc([1, 3], [1, 2]) == pytest.approx((0.5 + 0 + 1 + 1) / 4)
    assert math.isnan(metrics.auroc([], [1.0]))
    assert metrics.answerable_auroc(ROWS, "attention") == pytest.approx(4 / 6)
    assert metrics.answerable_auroc(ROWS, "BM25") == pytest.approx(2 / 6)
    assert metrics.answerable_auroc(ROWS, "attention", "off_topic") == 1.0
    assert metrics.answerable_auroc(ROWS, "attention", "near_miss") == pytest.approx(1 / 3)


def test_mean_of_documents_is_not_the_pooled_auroc():
    rows = [row("a", rank=1, score=0.9), row("a", score=0.8), row("b", rank=1, score=0.2), row("b", score=0.1)]
    assert metrics.answerable_auroc(rows, "attention") == pytest.approx(3 / 4)
    assert contract_nli.mean_document_auroc(rows, "attention") == 1.0
    assert contract_nli.mean_document_auroc([*rows, row("c", rank=1)], "attention") == 1.0


def test_error_rates_at_alpha():
    assert metrics.wrongly_abstained(ROWS, 0.05) == pytest.approx(1 / 3)
    assert metrics.wrongly_answered(ROWS, 0.05) == pytest.approx(1 / 2)
    assert metrics.wrongly_answered(ROWS, 0.01) == 0.0
    assert metrics.wrongly_abstained(ROWS, 0.01) == pytest.approx(2 / 3)
    assert metrics.claimed(ROWS, 0.05) == pytest.approx(3 / 5)


def test_alpha_needs_a_bank_that_is_large_enough():
    assert metrics.alpha_refused(0.05, 19) == ""
    assert "18 off-topic" in metrics.alpha_refused(0.05, 18)
    assert metrics.alpha_refused(0.01, 99) == ""
    assert "0.010" in metrics.alpha_refused(0.009, 99)


def test_coverage_and_risk():
    curve = metrics.coverage_risk([0.9, 0.8, 0.7, 0.1], [True, True, True, False])
    assert curve.risk.tolist() == pytest.approx([0, 0, 0, 0.25])
    assert curve.coverage.tolist() == pytest.approx([0.25, 0.5, 0.75, 1])
    assert curve.area == pytest.approx(0.0625)
    assert curve.at(0.5) == (0.5, 0.0)
    assert curve.at(0.8) == (1.0, 0.25)
    upside_down = metrics.coverage_risk([0.1, 0.2, 0.3, 0.9], [True, True, True, False])
    assert upside_down.area == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)


def test_equally_sure_questions_share_their_errors():
    for correct in ([True, False, True, False], [False, False, True, True]):
        assert metrics.coverage_risk([1, 1, 1, 1], correct).risk.tolist() == pytest.approx([0.5] * 4)
    assert metrics.coverage_risk([2, 1, 1], [True, False, True]).risk.tolist() == pytest.approx([0, 0.25, 1 / 3])


def test_an_answer_is_right_when_the_first_passage_is():
    by_score = metrics.answer_curve(ROWS, "score")
    assert by_score.risk.tolist() == pytest.approx([0, 1 / 2, 2 / 3, 3 / 4, 4 / 5])
    assert metrics.answer_curve(ROWS, "p").risk[0] == 0.0


def test_the_interval_draws_whole_groups():
    alike = [row("a", rank=1), row("a", rank=1), row("b", rank=1)]
    assert metrics.interval(alike, lambda r: metrics.recall(r, "fused", 1)) == (1.0, 1.0, 1.0)
    split = [row("a", rank=1)] * 30 + [row("b", rank=5)] * 30
    found = metrics.interval(split, lambda r: metrics.recall(r, "fused", 1))
    assert (found.value, found.low, found.high) == (0.5, 0.0, 1.0)
    single = [row(str(place), rank=1 if place % 2 else 5) for place in range(60)]
    narrow = metrics.interval(single, lambda r: metrics.recall(r, "fused", 1))
    assert 0.3 < narrow.low < 0.5 < narrow.high < 0.7
    assert str(metrics.interval([], lambda r: 1.0)).strip() == "-"


def test_wilson():
    found = metrics.wilson(0, 52)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.0688, abs=1e-3)
    assert metrics.wilson(50, 100)[1:] == pytest.approx((0.4038, 0.5962), abs=1e-3)
    assert math.isnan(metrics.wilson(0, 0).value)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("AcmeInc_20190509_10-Q_EX-10.2.txt", "acmeinc"),
        ("ACMEInc2019-EX.txt", "acmeinc"),
        ("2Wheels_2001_EX.txt", "2wheels"),
        ("ROE & CO,INC_01_EX.txt", "roe & co,inc"),
    ],
)
def test_the_company_of_a_file(file, name):
    assert metrics.company(file) == name


def test_a_company_is_in_one_half_only():
    order = ["A_1.txt", "B_1.txt", "C_1.txt", "a_2.txt", "D_1.txt", "E_1.txt"]
    assert metrics.halves(order) == (["A_1.txt", "C_1.txt", "D_1.txt"], ["B_1.txt", "E_1.txt"], ["a_2.txt"])
    assert metrics.halves(order, frozenset({"b"}))[1:] == (["E_1.txt"], ["B_1.txt", "a_2.txt"])


def test_tokens_far_below_their_passage_are_left_out():
    values = np.array([1.0] * 9 + [-100.0] + [2.0, 3.0] + [50.0])
    owner = np.array([0] * 10 + [1, 1] + [-1])
    assert filtered_sums(values, owner, 3).tolist() == pytest.approx([9.0, 5.0, 0.0])
    assert filtered_sums(np.array([4.0]), np.array([0]), 1).tolist() == [4.0]  # a single token is no NaN


def test_recall_of_all_pieces():
    rows = [{"pieces": {"BM25": [1, 30]}}, {"pieces": {"BM25": [4]}}]
    assert maud.piece_recall(rows, "BM25", 5) == pytest.approx(0.75)
    assert maud.piece_recall(rows, "BM25", 3) == pytest.approx(0.25)


def test_a_query_loses_the_words_that_name_the_agreement():
    for parties in ('between Parent "A, Inc." and Target "B; C, Inc."', "between 'A' and 'B'"):
        kind = "Acquisition" if "Parent" in parties else "Merger"
        query = f'Consider the {kind} Agreement {parties}; What is the Definition of "Pay"'
        assert maud.stripped(query) == 'What is the Definition of "Pay"'
    assert maud.stripped("Where is the clause; and why") == "Where is the clause; and why"


def test_pieces_are_far_apart_beyond_20000_characters():
    assert maud.Question("f", "q", ((0, 10), (20_011, 20_020))).far
    assert not maud.Question("f", "q", ((0, 10), (20_010, 20_020))).far
    assert not maud.Question("f", "q", ((5, 50_000),)).far


def test_a_span_is_moved_with_its_words():
    aligned = Alignment("one two\r\nthree four\r\nfive", "one two\nthree four\nfive")
    assert aligned.span(9, 19) == (8, 18)
    assert Alignment("one two", "one two").span(4, 7) == (4, 7)


def test_the_digest_follows_code_and_nothing_else():
    code = 'def f(x):\n    """Says."""\n    return x + 1  # why\n'
    assert code_digest(code) == code_digest("def f(x):\n\n    return x + 1\n")
    assert code_digest(code) != code_digest(code.replace("+ 1", "+ 2"))
    assert code_digest("WORDS = ('a',)") != code_digest("WORDS = ('b',)")
    assert method_digest(1) == method_digest(1) != method_digest(2)


def test_the_digest_covers_what_scores():
    names = {path.stem for path in scoring_modules()}
    assert {"attribution", "reading", "question_bank", "bm25", "chunks", "context", "prompt"} <= names
    assert "assembly" not in names
    assert all(path.is_file() for path in scoring_modules())


def test_results_of_another_method_are_not_reused(tmp_path):
    path = tmp_path / "out.jsonl"
    assert load_results(path, "m", None) == {}
    append_result(path, {"method": "m", "minilm": None, "file": "a"})
    append_result(path, {"method": "old", "minilm": "w", "file": "b"})
    append_result(path, {"method": "m", "minilm": "w", "file": "c"})
    assert set(load_results(path, "m", None)) == {"a", "c"}
    assert set(load_results(path, "m", "w")) == {"c"}


def test_one_question_that_is_always_claimed_widens_the_interval():
    """Groups alone see the same share on every contract; with other questions the share could be anything."""
    rows = [{"group": f"c{c}", "question": q, "p": 0.01 if q == 0 else 0.5} for c in range(20) for q in range(10)]
    found = metrics.crossed_interval(rows, 0.05)
    assert found.value == pytest.approx(0.1)
    narrow = metrics.interval(rows, lambda r: metrics.claimed(r, 0.05))
    assert narrow.high - narrow.low < 0.01
    assert found.low == 0.0
    assert found.high >= 0.2
