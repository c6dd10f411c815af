"""The benchmark of reference rows: all within tolerance, and planted faults of the model make it fail."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from softlookup.cost import flops, kv_cache
from softlookup.cost.model import config_weights, shapes

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import cost_reference

sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]


@pytest.fixture
def reference(shared_data, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_SHARED", str(shared_data.parent))
    return json.loads((shared_data / "cost" / "reference.json").read_text("utf-8"))


def test_every_row_is_within_its_tolerance(reference, capsys):
    assert cost_reference.main([]) == 0
    out = capsys.readouterr().out
    assert f"{len(reference)} of {len(reference)} rows within tolerance" in out
    for group in {row["group"] for row in reference}:
        assert group in out


def test_counts_are_exact(reference):
    for outcome in cost_reference.outcomes(reference):
        if outcome.row["group"] == "params":
            assert outcome.predicted == outcome.row["value"]


def test_rows_that_were_fitted_are_marked(reference):
    ids = {row["id"] for row in reference}
    assert ids >= cost_reference.FITTED | cost_reference.STORED
    shown = cost_reference.line(cost_reference.outcomes(reference)[-1])
    assert "throughput-03*" in shown


def missed(reference):
    return {outcome.row["id"] for outcome in cost_reference.outcomes(reference) if not outcome.ok}


def wrong_divisor(patch):
    original = kv_cache.layer_kv_bytes
    patch.setattr(
        kv_cache, "layer_kv_bytes",
        lambda layer, *rest: original(replace(layer, kv_heads=layer.query_heads), *rest),
    )  # fmt: skip


def tied_twice(patch):
    original = shapes.ModelShape.parameters.fget
    patch.setattr(
        shapes.ModelShape, "parameters",
        property(lambda shape: original(shape) + (shape.head_weights if shape.tied else 0)),
    )  # fmt: skip


def weights_forgotten(patch):
    patch.setattr(cost_reference, "weights_read", lambda *_: 1)


def head_dim_by_division(patch):
    patch.setattr(config_weights, "head_dim", lambda _, width, heads: max(1, width // heads))


def causal_half_lost(patch):
    patch.setattr(flops, "seen_keys", lambda new, cached, window=None: new * (cached + new))


FAULTS = {
    causal_half_lost: {"prefill-01", "prefill-10", "prefill-21"},
    wrong_divisor: {"kv-01", "kv-02", "kv-09"},
    tied_twice: {"params-06", "params-16"},
    weights_forgotten: {"decode-01", "decode-03"},
    head_dim_by_division: {"params-06", "params-09", "kv-22"},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_planted_faults_miss_rows(reference, monkeypatch, fault):
    assert not missed(reference)
    fault(monkeypatch)
    assert missed(reference) >= FAULTS[fault]


def test_a_missed_row_fails_the_run(reference, monkeypatch, capsys):
    weights_forgotten(monkeypatch)
    assert cost_reference.main([]) == 1
    assert "MISS decode-01" in capsys.readouterr().out


def test_without_the_rows_it_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("SOFTLOOKUP_SHARED", str(tmp_path))
    assert cost_reference.main([]) == 0
    assert capsys.readouterr().out.startswith("skipped: no reference rows")
