"""A calibration recovers the rates of a simulated machine, predicts it within 15 %, and doubts planted faults."""

from __future__ import annotations

import math

import pytest

from softlookup.cost.model.presets import preset_shape
from softlookup.cost.timing.measuring import LONG, SHORT, measure
from softlookup.cost.timing.prediction import interval_width, predicted_observed, predicted_prefill, predicted_token
from timed_machine import (
    OBSERVED_LAYERS,
    SHAPE,
    Asynchronous,
    ForgetsAttention,
    IgnoresCache,
    KeepsPrefix,
    Machine,
    Truncates,
    TruncatesAndTells,
    WrongModel,
    subject,
)


def calibrated(machine, **changes):
    measured = measure(machine, subject(**changes))
    assert measured.calibration is not None, measured.findings
    return measured.calibration


def test_the_rates_of_a_machine_are_recovered():
    found = calibrated(Machine())
    assert found.fixed_seconds == pytest.approx(Machine.fixed, rel=1e-3)
    for name in ("linear", "attention", "observe_linear", "observe_attention"):
        assert getattr(found, f"{name}_rate") == pytest.approx(getattr(Machine, name), rel=1e-3), name
    assert found.weight_bandwidth == pytest.approx(Machine.weight_rate, rel=1e-3)
    assert found.kv_bandwidth == pytest.approx(Machine.kv_rate, rel=1e-3)
    assert (found.start_seconds, found.peak_flops) == (Machine.start, Machine.flops)
    assert max(found.residual_prefill, found.residual_decode, found.residual_observe) < 1e-3
    assert not found.one_rate
    assert found.longest("prefill") == LONG
    assert found.longest("observe") == 8192 - 384 - 24  # a longer cache needs no longer prefill
    assert {timing.phase for timing in found.timings} == {"prefill", "decode", "observe"}


def test_a_healthy_machine_raises_no_doubt():
    assert measure(Machine(), subject()).findings == ()


@pytest.mark.parametrize("seed", range(8))
def test_predictions_hold_beyond_the_timed_lengths_in_spite_of_noise(seed):
    """3 % of noise, and products that are 10 % faster while they fit the processor's caches: within 15 % to 8k."""
    machine = Machine(noise=0.03, seed=seed, cached=1024, speedup=1.1)
    found = calibrated(machine)
    for tokens in (512, 1024, 2048, 4096, 8192):
        error = abs(predicted_prefill(found, SHAPE, tokens) / machine.read(tokens) - 1)
        assert error < 0.15
        assert error <= interval_width(found, "prefill", tokens)
    for tokens in (1024, 4096, 8192):
        assert predicted_token(found, SHAPE, tokens) == pytest.approx(machine.token(tokens), rel=0.15)
        assert predicted_observed(found, SHAPE, 600, tokens) == pytest.approx(machine.look(600, tokens), rel=0.15)


def test_the_residual_is_that_of_a_length_that_took_no_part():
    """A middle that is a fifth slower shows as such, whatever the fit makes of it."""

    class Bends(Machine):
        def read(self, tokens):
            return super().read(tokens) * (1.2 if 1000 < tokens < 4000 else 1.0)

    assert calibrated(Bends()).residual_prefill == pytest.approx(1 - 1 / 1.2, abs=0.01)


def test_a_slow_machine_times_shorter_prompts():
    slow = Machine(linear=5e9, attention=4e9, flops=6e9)
    found = calibrated(slow)
    assert SHORT // 8 <= found.longest("prefill") < LONG
    assert sum(slow.read(tokens) for tokens in slow.lengths) < 120
    assert found.width("prefill") < interval_width(found, "prefill", 8192)


def test_lengths_keep_within_the_window():
    machine = Machine()
    found = calibrated(machine, window=1024)
    assert max(machine.lengths) == found.longest("prefill") < 1024 - 24
    with pytest.raises(ValueError, match="window with room"):
        measure(Machine(), subject(window=100))


def test_a_model_without_much_attention_has_one_rate():
    """Llama-3.1-8B at a few hundred tokens: attention is a percent of the work and its rate cannot be told."""
    shape = preset_shape("Llama-3.1-8B")
    machine = Machine(shape=shape, weights=8 * 10**9)
    found = calibrated(machine, shape=shape, weight_bytes=8 * 10**9, observed_layers=OBSERVED_LAYERS)
    assert found.one_rate
    assert found.linear_rate == found.attention_rate == pytest.approx(machine.linear, rel=0.05)
    assert found.width("prefill") >= 0.25


def test_a_cache_too_small_to_be_timed_is_read_at_memory_speed():
    """Without noise one could tell; with it the slope is none, and no rate may be infinite or negative."""
    shape = preset_shape("gemma-3-1b")
    machine = Machine(shape=shape, weights=10**9, kv_rate=20e9, noise=0.05, seed=3)
    found = calibrated(machine, shape=shape, weight_bytes=10**9)
    assert 0 < found.kv_bandwidth < math.inf
    assert predicted_token(found, shape, 4096) == pytest.approx(machine.token(4096), rel=0.15)


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        (Truncates, ("above the measured peak", "missing synchronise", "the prompt was cut")),
        (TruncatesAndTells, ("left 1,024 in the cache", "the prompt was cut")),
        (KeepsPrefix, ("above the measured peak", "a cached prefix was not computed again")),
        (ForgetsAttention, ("above the measured peak", "a wrong mask left attention out")),
        (IgnoresCache, ("more of KV cost", "the cache is not read in full")),
        (Asynchronous, ("above the measured peak", "missing synchronise")),
        (WrongModel, ("above the measured peak", "the model is smaller than stated")),
    ],
)
def test_planted_faults_are_told_and_nothing_is_kept(machine, words):
    measured = measure(machine(), subject())
    assert measured.calibration is None
    told = " ".join(map(str, measured.findings))
    for piece in words:
        assert piece in told


def test_a_slow_machine_that_truncates_is_told_without_a_peak():
    """Far below the peak nothing is impossible by its rate; that longer prompts take no longer is."""
    measured = measure(Truncates(linear=15e9, attention=13e9), subject(), longest=8192, budget=1000)
    assert measured.calibration is None
    assert "times as long as" in " ".join(map(str, measured.findings))


def test_the_causes_come_in_the_order_in_which_they_are_checked():
    (first, *_) = measure(Truncates(), subject()).findings
    order = ("missing synchronise", "cached prefix", "cut", "mask", "smaller")
    places = [str(first).index(word) for word in order]
    assert places == sorted(places)


def test_a_restless_machine_is_told_and_has_wide_intervals():
    measured = measure(Machine(noise=0.3, seed=4), subject())
    (finding,) = [each for each in measured.findings if "differ by" in each.what]
    assert (finding.severity, finding.causes[0][:15]) == ("suspicious", "another program")
    assert measured.calibration is None or measured.calibration.width("prefill") > 0.1


def test_progress_ends_at_one():
    seen = []
    measure(Machine(), subject(), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)
