"""The benchmark over public libraries: what is missing is said, what differs from the findings page fails."""

import importlib
import sys
from pathlib import Path

import pytest

from conformance import functions
from softlookup.conformance import Adapter, find_contract

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def benchmark(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("conformance_libraries", "library_functions", "functions_torch", "functions_elsewhere", "functions_rotary")
    yield importlib.import_module("conformance_libraries")
    for name in names:
        sys.modules.pop(name, None)


def entry(benchmark, function, known=(), package="numpy"):
    def build():
        return function, find_contract("standard"), Adapter(framework="numpy")

    return benchmark.Entry("mine", package, build, known=known)


def test_a_library_that_is_not_installed_is_said_and_fails_nothing(benchmark):
    row, report = benchmark.checked(entry(benchmark, functions.right, package="no-such-package"), 30.0)
    assert row["outcome"].startswith("not installed: no-such-package")
    assert row["unexpected"] == []
    assert report is None


@pytest.mark.parametrize(
    ("function", "known", "unexpected"),
    [
        (functions.right, (), []),
        (functions.top_left, (), ["causal.align=top_left(want=bottom_right)"]),
        (functions.top_left, ("causal.align=top_left(want=bottom_right)",), []),
        (functions.right, ("gqa.tile",), ["gqa.tile"]),
    ],
    ids=["right", "new finding", "known finding", "finding that is gone"],
)
def test_only_what_the_findings_page_does_not_say_fails(benchmark, function, known, unexpected):
    row, _ = benchmark.checked(entry(benchmark, function, known), 30.0)
    assert row["unexpected"] == unexpected


def test_the_findings_page_names_every_known_finding(benchmark):
    text = (BENCHMARKS.parent / "docs" / "findings.md").read_text("utf-8")
    known = {code for entry in benchmark.entries() for code in entry.known}
    assert known
    assert all(f"`{code}`" in text for code in known)


def test_torch_as_it_is_installed_here(benchmark):
    chosen = [entry for entry in benchmark.entries() if entry.name == "torch SDPA default"]
    row, _ = benchmark.checked(*chosen, 60.0)
    assert row["unexpected"] == [], row
