"""The benchmark of costs computes everything anew, and its table says when a bar is broken."""

from __future__ import annotations

import ast
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from softlookup.session.readings import Readings

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def cost():
    spec = importlib.util.spec_from_file_location("cost_of_trust", BENCHMARKS / "cost_of_trust.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["cost_of_trust"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def costs(cost):
    return cost.Costs(prefill=10.0, calibrate=3.0, evidence=0.5, answer=2.0, first_answer=15.5, extra_question=0.4)


def test_a_table_has_a_row_per_size_and_keeps_nothing(cost, tiny_folder, contract, isolated_cache):
    session = cost.open_session(tiny_folder)
    rows = cost.cost_table(session, contract, [150, 300], 2)
    assert [(row["tokens"], row["rounds"]) for row in rows] == [(150, 2), (300, 2)]
    for row in rows:
        parts = row["prefill_s"] + row["calibrate_s"] + row["evidence_s"] + row["answer_s"]
        assert row["calibrate_s"] > 0
        assert 0 < row["extra_question_s"] < row["first_answer_s"]
        assert parts == pytest.approx(row["first_answer_s"], rel=0.5)
        assert row["trust_over_prefill"] > 0
    assert not (isolated_cache / "calibrations").exists()


def test_the_whole_text_is_read_although_a_user_would_have_less_room(cost, tiny_folder, contract, tmp_path):
    session = cost.open_session(tiny_folder)
    window = session.source.window
    path = tmp_path / "long.txt"
    path.write_text(cost.text_of_length(session, contract, window - 300), "utf-8")
    document = session.open(path)
    assert document.strategy.strategy == "retrieval"
    read = []
    real = Readings.read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Readings, "read", lambda self, context, **k: (read.append(context), real(self, context, **k))[1])
        cost.measure(session, path)
    assert [context.text for context in read] == [document.document.text]


def test_medians_and_bars(cost, costs):
    slow = replace(costs, calibrate=30.0)
    row = cost.cost_row(4000, [costs, slow, costs])
    assert (row["calibrate_s"], row["trust_over_prefill"], row["trust_kept"]) == (3.0, 0.35, True)
    assert (row["extra_over_first"], row["extra_kept"]) == (round(0.4 / 15.5, 4), True)
    assert cost.cost_row(4000, [costs, slow, slow])["trust_kept"] is False
    assert cost.cost_row(8000, [costs] * 3)["trust_kept"] is False  # .35 is beyond the bar of .15
    assert cost.cost_row(8000, [replace(costs, calibrate=1.0)] * 3)["trust_kept"] is True
    assert cost.cost_row(4000, [replace(costs, extra_question=0.5)])["extra_kept"] is False
    assert cost.cost_row(600, [costs])["trust_kept"] is None


def sessions_that_may_use_the_cache(source):
    """Lines of a benchmark that open a session without ``Options(..., cache=False)``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Session":
            options = next((k.value for k in node.keywords if k.arg == "options"), None)
            given = {k.arg: ast.unparse(k.value) for k in getattr(options, "keywords", [])}
            if given.get("cache") != "False":
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_no_benchmark_is_flattered_by_what_an_earlier_run_kept(path):
    assert sessions_that_may_use_the_cache(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "source",
    ["session = Session()", "Session(model, options=Options(alpha=0.1))", "Session(options=Options(cache=True))"],
)
def test_a_benchmark_that_uses_the_cache_is_found(source):
    assert sessions_that_may_use_the_cache(source) == [1]
