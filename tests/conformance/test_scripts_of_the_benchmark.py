"""Counterexamples for functions as people write them: every one runs as printed and shows the difference."""

import contextlib
import importlib
import io
import sys
import types
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def benchmark():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("human_functions")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.mark.parametrize(
    "name", ["course_numpy", "gpt_fused", "einsum_embed", "cached_rotary", "padding", "tiny_fill", "bthd_cache"]
)
def test_the_script_runs_as_printed(benchmark, name, monkeypatch):
    entry = benchmark.written_functions()[name]
    report, row = benchmark.checked(name, entry)
    assert row["named"]
    assert len(row["codes"]) == 1
    mine = types.ModuleType("mine")
    setattr(mine, name, entry.function)
    monkeypatch.setitem(sys.modules, "mine", mine)
    script = report.serious[0].script
    assert "= ..." not in script
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script, name, "exec"), {"__name__": "pasted"})
    got, want = (line.split(" ", 1)[1].strip() for line in printed.getvalue().splitlines()[:2])
    assert got != want
