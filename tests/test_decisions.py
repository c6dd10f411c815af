"""``benchmarks/decisions.py``: its scenarios are what they claim, and the table of docs/cost.md is its output."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def decisions():
    spec = importlib.util.spec_from_file_location("decisions", ROOT / "benchmarks" / "decisions.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["decisions"] = module
    spec.loader.exec_module(module)
    return module


def missing(lines, text):
    return [line for line in lines if line not in text.splitlines()]


def test_the_table_of_the_documentation_is_the_output(decisions):
    text = (ROOT / "docs" / "cost.md").read_text("utf-8")
    assert missing(decisions.table(), text) == []
    # planted fault: a second that changed is found
    row = decisions.table()[2]
    assert missing([row], text.replace(row, row.replace("1", "7"))) == [row]


def test_the_scenarios_cover_what_they_name(decisions):
    rows = list(decisions.scenarios())
    assert len(rows) == 12
    assert {row.document for row in rows} == {"short", "long", "200 pages"}
    assert {row.questions for row in rows} == {1, 50}
    assert len({row.device for row in rows}) == 3
    assert {row.heads.split()[0] for row in rows} == {"MHA", "GQA"}
    assert {row.plan.decision.strategy for row in rows} == {"full_context", "hybrid", "retrieval"}
    for row in rows:
        full = row.plan.strategies[0]
        assert (row.plan.decision.strategy == "full_context") == (not full.obstacle)


def test_evidence_layers_are_those_of_a_plan(decisions):
    from softlookup.cost.model.model_source import find_model
    from softlookup.evidence.profile_store import evidence_depth
    from softlookup.runtime import embedded

    for name, layers in decisions.EVIDENCE_LAYERS.items():
        weights = embedded.GGUF_SHA256 if name == "SmolLM2-135M" else ""
        assert evidence_depth(weights, find_model(name).shape) == layers
