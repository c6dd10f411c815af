"""The lie detector: published and planted timings that cannot be true are told, true ones are left alone."""

from __future__ import annotations

import pytest

from softlookup.cost.model.presets import preset_shape
from softlookup.cost.seconds import DecodeTraffic, weights_read
from softlookup.cost.timing.implied import (
    Peak,
    calibrated_token,
    check_cache_is_read,
    check_decode,
    check_growth,
    check_prefill,
    implied_tokens,
)
from softlookup.cost.timing.measuring import measure
from softlookup.cost.timing.prediction import cache_bytes
from timed_machine import SHAPE, Machine, subject

A100, H100_BYTES = Peak(312e12, measured=False), Peak(3350e9, measured=False)
LLAMA = preset_shape("Llama-3-8B")
CPU = Peak(Machine.flops, measured=True)


@pytest.fixture(scope="module")
def calibration():
    return measure(Machine(), subject()).calibration


def severities(findings):
    return [finding.severity for finding in findings]


def test_a_missing_synchronise_that_was_reported_in_public():
    """MInference#84: 50,000 tokens in 2.5 s on an A100; the real time was 9.6 s."""
    (finding,) = check_prefill(LLAMA, 50_000, 2.5, A100)
    assert finding.severity == "impossible"
    assert "imply 5.4" in finding.what
    assert "nominal peak of 3.12e+14" in finding.what
    assert finding.causes[0].endswith("(missing synchronise)")
    assert check_prefill(LLAMA, 50_000, 9.6, A100) == []


@pytest.mark.parametrize(("tokens", "seconds"), [(10_000, 0.832), (100_000, 21.73), (300_000, 169.6)])
def test_published_timings_are_left_alone(tokens, seconds):
    assert check_prefill(LLAMA, tokens, seconds, A100) == []


def test_little_above_a_measured_peak_is_only_suspicious():
    """An RTX 5090 log reaches 177 TFLOP/s where the best measured product reached 167; its nominal peak is 209."""
    shape = preset_shape("Qwen3-4B-2507")
    assert severities(check_prefill(shape, 91_056, 17.6, Peak(167e12, measured=True))) == ["suspicious"]
    assert severities(check_prefill(shape, 91_056, 17.6, Peak(209.5e12, measured=False))) == []
    assert severities(check_prefill(shape, 91_056, 12.0, Peak(167e12, measured=True))) == ["impossible"]


def test_a_truncated_prefill_tells_its_length(calibration):
    machine = Machine()
    (finding,) = check_prefill(SHAPE, 8192, machine.read(2000), CPU, calibration=calibration)
    assert finding.severity == "impossible"
    assert "at the calibrated rates that is 2,0" in finding.what or "that is 1,99" in finding.what
    # below the peak only the calibration tells
    (finding,) = check_prefill(SHAPE, 8192, machine.read(5500), Peak(1e15, measured=False), calibration=calibration)
    assert finding.severity == "suspicious"
    assert "the prompt was cut" in finding.causes
    assert check_prefill(SHAPE, 8192, machine.read(8192), CPU, calibration=calibration) == []


def test_an_engine_that_tells_how_much_it_read():
    """Ollama's log once said 16,384 of a longer prompt."""
    (finding,) = check_prefill(LLAMA, 40_000, 100.0, A100, reported=16_384)
    assert (finding.severity, finding.causes[0]) == ("impossible", "the prompt was cut")
    assert check_prefill(LLAMA, 40_000, 100.0, A100, reported=40_000) == []


def test_implied_tokens_inverts_the_prediction(calibration):
    for tokens in (1, 100, 4096, 100_000):
        assert implied_tokens(SHAPE, calibration, Machine().read(tokens)) == pytest.approx(tokens, abs=2, rel=1e-3)
    assert implied_tokens(SHAPE, calibration, 0.0) == 0


@pytest.mark.parametrize(("factor", "expected"), [(1.0, []), (2.5, []), (3.5, ["slow"]), (20.0, ["slow"])])
def test_far_below_the_calibration_is_told(factor, expected, calibration):
    seconds = factor * Machine().read(4096)
    found = check_prefill(SHAPE, 4096, seconds, CPU, calibration=calibration)
    assert severities(found) == expected
    traffic, token = calibrated_token(calibration, SHAPE, 4096)
    assert token == pytest.approx(Machine().token(4096), rel=1e-3)
    decoded = check_decode(traffic, factor * token, Peak(Machine.bandwidth, measured=True), expected=token)
    assert severities(decoded) == expected
    assert all("offload" in finding.causes[0] for finding in (*found, *decoded))


def test_a_decode_that_does_not_read_the_cache():
    """Llama-3-8B at 100,000 tokens: 16 GB of weights alone in 5.5 ms are possible, with 13 GB of KV they are not."""
    traffic = DecodeTraffic(weights_read(LLAMA), cache_bytes(LLAMA, 100_000, "bf16"))
    (finding,) = check_decode(traffic, 5.5e-3, H100_BYTES)
    assert finding.severity == "impossible"
    assert "not read in full" in finding.causes[1]
    assert check_decode(traffic, 11e-3, H100_BYTES) == []


def test_a_longer_cache_must_cost_more():
    peak, points = Peak(20e9, measured=True), [(23_000_000, 0.0120), (190_000_000, 0.0239)]
    assert check_cache_is_read(points, peak) == []
    (finding,) = check_cache_is_read([(23_000_000, 0.0120), (190_000_000, 0.0121)], peak)
    assert finding.severity == "impossible"
    assert "not read in full" in finding.causes[0]
    # a cache that is small beside the weights: what it costs drowns in what a token varies by
    assert severities(check_cache_is_read([(1000, 0.0120), (9_000_000, 0.0119)], peak)) == ["suspicious"]
    assert check_cache_is_read([(5, 0.1), (5, 0.2)], peak) == []


def test_longer_prompts_must_take_longer():
    machine = Machine()
    healthy = [(tokens, machine.read(tokens) - machine.fixed) for tokens in (512, 2304, 4096)]
    assert check_growth(SHAPE, healthy) == []
    (finding,) = check_growth(SHAPE, [*healthy[:2], (4096, healthy[1][1])])
    assert finding.severity == "impossible"
    assert "4,096 tokens" in finding.what


def test_a_finding_is_one_line_and_json():
    (finding,) = check_prefill(LLAMA, 50_000, 2.5, A100)
    assert "\n" not in str(finding)
    assert str(finding).startswith("impossible: 50,000 tokens in 2.5 s")
    assert finding.to_dict() == {"severity": "impossible", "what": finding.what, "causes": list(finding.causes)}
