"""Baselines: ranges over healthy runs, what counts as out of range, storage tied to model and template."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
import torch

from softlookup.diagnostics.baseline import (
    baseline_alerts,
    baseline_from,
    baseline_of,
    baselines_directory,
    load_baseline,
    merged,
    outside_share,
    save_baseline,
)
from softlookup.diagnostics.head_statistics import head_statistics
from softlookup.errors import ModelError
from softlookup.runtime.attention_calls import AttentionCall
from statistics_runs import run_of

MODEL, TEMPLATE = "a" * 64, "b" * 64


@pytest.fixture(scope="module")
def baseline():
    return baseline_of([run_of(seed) for seed in range(6)], model_sha256=MODEL, template_sha256=TEMPLATE)


def test_ranges_are_those_of_the_runs(baseline):
    runs = [run_of(seed) for seed in range(6)]
    values = np.array([[run[layer].normalized_entropy for layer in range(2)] for run in runs])
    np.testing.assert_allclose(baseline.normalized_entropy.mean, values.mean(0))
    np.testing.assert_allclose(baseline.normalized_entropy.low, values.min(0))
    np.testing.assert_allclose(baseline.normalized_entropy.high, values.max(0))
    assert (baseline.runs, baseline.shape) == (6, (2, 4))


@pytest.mark.parametrize("seed", range(20, 40))
def test_healthy_runs_of_other_seeds_are_silent(seed, baseline):
    assert list(baseline_alerts(baseline, run_of(seed))) == []


@pytest.mark.parametrize(("size", "name"), [(8.0, "head_entropy_low"), (0.0, "head_entropy_high")])
def test_all_heads_out_of_range_are_one_alert_per_layer_with_their_number(size, name, baseline):
    found = [alert for alert in baseline_alerts(baseline, run_of(50, size=size)) if alert.monitor == name]
    if name == "head_entropy_high":  # random heads are wide already: nearly uniform is within the margin
        assert outside_share(baseline, run_of(50, size=size), "normalized_entropy")[0] == 0
        return
    assert [(alert.layer, alert.heads) for alert in found] == [(0, 4), (1, 4)]
    assert all(alert.value < alert.threshold for alert in found)


def test_one_head_far_out_is_named(baseline):
    found = list(baseline_alerts(baseline, run_of(60, changed=[(1, 2, 30.0)])))
    assert [(alert.monitor, alert.layer, alert.head, alert.heads) for alert in found] == [("head_entropy_low", 1, 2, 1)]


def test_a_sink_that_is_gone_and_one_that_is_new(baseline):
    def with_first(mass):
        run = run_of(70)
        for layer in run.values():
            layer.first_token[:] = mass
        return run

    high = {alert.monitor for alert in baseline_alerts(baseline, with_first(0.99))}
    assert high == {"head_sink_high"}
    sunk = baseline_of([with_first(0.9), with_first(0.95)])
    assert {alert.monitor for alert in baseline_alerts(sunk, with_first(0.01))} == {"head_sink_low"}
    assert list(baseline_alerts(sunk, with_first(0.93))) == []


def test_shares_of_heads_out_of_range(baseline):
    assert outside_share(baseline, run_of(80), "normalized_entropy") == (0.0, 0.0)
    assert outside_share(baseline, run_of(80, size=8.0), "normalized_entropy") == (1.0, 0.0)
    assert outside_share(baseline, {}, "entropy") == (0.0, 0.0)


def test_a_text_shorter_than_all_of_the_baseline_is_not_judged(baseline):
    run = run_of(80, size=8.0)
    short = {number: dataclasses.replace(layer, visible_keys=120.0) for number, layer in run.items()}
    assert list(baseline_alerts(baseline, run))
    assert list(baseline_alerts(baseline, short)) == []
    assert outside_share(baseline, short, "normalized_entropy") == (0.0, 0.0)
    # one layer that sees enough tells the length: a window hides it in the others
    mixed = {**short, 0: run[0]}
    assert {alert.layer for alert in baseline_alerts(baseline, mixed)} == {0, 1}


def test_another_shape_is_not_compared(baseline):
    deeper = run_of(80, size=8.0, layers=3)
    assert {alert.layer for alert in baseline_alerts(baseline, deeper)} == {0, 1}


def test_runs_that_are_not_finite_are_left_out_and_nothing_else_is_refused():
    broken = run_of(1)
    generator = torch.Generator().manual_seed(1)
    query = torch.randn(4, 6, 8, generator=generator)
    query[0, 0, 0] = torch.nan
    broken[1] = head_statistics(AttentionCall(1, query, query[:2], None, 1.0, None, None), slice(0, 6))
    assert baseline_of([run_of(0), broken]).runs == 1
    with pytest.raises(ValueError, match="at least one run"):
        baseline_of([broken])


def test_stored_and_found_again_by_model_and_template(baseline):
    assert load_baseline(MODEL, TEMPLATE) is None
    path = save_baseline(baseline)
    assert path.parent == baselines_directory()
    found = load_baseline(MODEL, TEMPLATE)
    assert found is not None
    np.testing.assert_allclose(found.first_token.high, baseline.first_token.high, atol=6e-4)
    assert load_baseline("c" * 64, TEMPLATE) is None
    assert load_baseline(MODEL, "c" * 64) is None
    assert list(baseline_alerts(found, run_of(90))) == []


def test_a_baseline_of_another_model_under_this_name_is_refused(baseline):
    path = save_baseline(baseline)
    data = json.loads(path.read_text("utf-8"))
    data["model_sha256"] = "a" * 63 + "0"
    path.write_text(json.dumps(data), "utf-8")
    with pytest.raises(ModelError, match="another model"):
        load_baseline(MODEL, TEMPLATE)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1}', "not json"])
def test_a_damaged_baseline_is_refused(text, baseline):
    path = save_baseline(baseline)
    path.write_text(text, "utf-8")
    with pytest.raises(ModelError, match="baseline"):
        load_baseline(MODEL, TEMPLATE)


def test_parts_of_different_shapes_are_refused(baseline):
    data = baseline.to_dict()
    data["entropy"]["low"] = [[0.0]]
    with pytest.raises(ModelError, match="schema"):
        baseline_from(data, "x")


def test_merged_ranges_are_those_of_all_runs(baseline):
    more = baseline_of([run_of(seed) for seed in range(6, 10)], model_sha256=MODEL, template_sha256=TEMPLATE)
    both = baseline_of([run_of(seed) for seed in range(10)], model_sha256=MODEL, template_sha256=TEMPLATE)
    found = merged(baseline, more)
    assert found.runs == 10
    for part in ("mean", "low", "high"):
        np.testing.assert_allclose(getattr(found.entropy, part), getattr(both.entropy, part))
    with pytest.raises(ModelError, match="different models"):
        merged(baseline, dataclasses.replace(more, model_sha256="c" * 64))
