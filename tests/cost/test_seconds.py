"""Devices, efficiencies, seconds: published timings, intervals, and faults that must be seen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cost.devices import device_names, find_device
from softlookup.cost.efficiency import efficiency_of, fit_rates
from softlookup.cost.figures import Figure, exact, weakest
from softlookup.cost.flops import model_flops
from softlookup.cost.kv_cache import kv_bytes
from softlookup.cost.model.presets import preset_shape
from softlookup.cost.seconds import (
    DecodeTraffic,
    bound_by,
    decode_figure,
    distinct_experts,
    prefill_figure,
    weights_read,
)
from softlookup.errors import UsageError


def prefill(name, tokens, device, engine=""):
    found = find_device(device)
    return prefill_figure(model_flops(preset_shape(name), tokens), tokens, found, efficiency_of(found, engine))


def decode(name, tokens, device, *, dtype="bf16"):
    shape, found = preset_shape(name), find_device(device)
    traffic = DecodeTraffic(weights_read(shape, dtype), kv_bytes(shape, tokens))
    return decode_figure(traffic, len(shape.layers), found, efficiency_of(found))


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("nvidia H100 SXM", "H100"), ("a100", "A100-80GB"), ("geforce rtx 4090", "RTX-4090"), ("m4 max", "M4-Max"),
     ("Ryzen 9 7950X", "Ryzen-7950X")],
)  # fmt: skip
def test_spellings_of_a_device(spelling, name):
    assert find_device(spelling).name == name


def test_unknown_devices_name_near_ones():
    with pytest.raises(UsageError, match=r"'H101' is not in the table; use auto, or a name such as .*H100"):
        find_device("H101")
    with pytest.raises(UsageError, match="is not in the table"):
        find_device("0xH100")


def test_the_table_is_plausible():
    for name in device_names():
        device = find_device(name)
        assert device.name == name
        assert 10 < device.ridge < 500
        assert device.fp32_flops <= device.flops
    assert find_device("H100").ridge == pytest.approx(295, abs=1)
    this = find_device()
    assert this.flops > 1e10
    assert this.memory > 1e8


def test_several_devices_share_a_prefill():
    one, many = prefill("Llama-3.1-405B", 10**6, "H100").value, prefill("Llama-3.1-405B", 10**6, "128xH100").value
    assert one == pytest.approx(128 * many)
    assert many == pytest.approx(77, rel=0.15)  # Meta's context parallel run, arXiv 2411.01783


@pytest.mark.parametrize(
    ("name", "tokens", "engine", "seconds"),
    [("Llama-3-8B", 10_000, "vllm", 0.832), ("Llama-3-8B", 100_000, "vllm", 21.73),
     ("Llama-3-8B", 300_000, "transformers", 169.6), ("Llama-3.1-8B", 65_536, "transformers dense", 11.2)],
)  # fmt: skip
def test_published_prefills_on_an_a100(name, tokens, engine, seconds):
    found = prefill(name, tokens, "A100-80GB", engine)
    assert found.low < seconds < found.high
    assert found.value == pytest.approx(seconds, rel=0.15)


def test_intervals_widen_beyond_the_longest_timing():
    near, far = (prefill("Llama-3-8B", tokens, "A100-80GB", "vllm") for tokens in (100_000, 800_000))
    assert far.high / far.value > near.high / near.value + 0.1
    prior = prefill("Llama-3-8B", 100_000, "A100-80GB")
    assert prior.kind == "prior"
    assert prior.low < 21.73 < prior.high  # vLLM's and transformers' timings both
    assert prior.low < 24.88 < prior.high


def test_a_processor():
    """README: prefills of the embedded model on 2 cores, 10.1 s for 4,000 tokens and 27.9 s for 8,000."""
    two_cores = replace(find_device(), flops=190e9, fp32_flops=190e9)
    for tokens, seconds in ((4000, 10.1), (8000, 27.9)):
        flops = model_flops(preset_shape("SmolLM2-135M"), tokens)
        found = prefill_figure(flops, tokens, two_cores, efficiency_of(two_cores), "f32")
        assert found.low < seconds < found.high
        assert found.value == pytest.approx(seconds, rel=0.2)


def test_decode_reads_weights_and_cache():
    """Qwen3-4B at 91,056 tokens on an RTX 5090: 70.7 tokens per second logged."""
    found = decode("Qwen3-4B-2507", 91_056, "RTX-5090")
    assert 1e3 / found.value == pytest.approx(70.7, rel=0.1)
    assert found.low < 1e3 / 70.7 < found.high


@pytest.mark.parametrize("forgotten", ["weights", "kv"])
def test_what_is_forgotten_in_decode_is_found(forgotten):
    """Planted faults: each half alone misses the logged speed by more than its tolerance."""
    shape, device = preset_shape("Qwen3-4B-2507"), find_device("RTX-5090")
    parts = {"weights": weights_read(shape), "kv": kv_bytes(shape, 91_056)}
    parts[forgotten] = 0
    found = decode_figure(DecodeTraffic(**parts), 36, device, efficiency_of(device))
    assert abs(1e3 / found.value / 70.7 - 1) > 0.3


def test_the_lm_head_is_read_even_when_tied():
    tied = preset_shape("SmolLM2-135M")
    assert weights_read(tied) == pytest.approx(2 * tied.parameters, rel=1e-4)
    untied = preset_shape("Llama-3.1-8B")
    assert weights_read(untied) == pytest.approx(2 * (untied.parameters - untied.head_weights), rel=1e-4)


def test_a_batch_reads_more_experts():
    mixtral = preset_shape("Mixtral-8x7B")
    assert weights_read(mixtral) < 0.3 * 2 * mixtral.parameters
    assert weights_read(mixtral, batch=64) > 0.95 * 2 * (mixtral.parameters - mixtral.head_weights)
    assert distinct_experts(8, 2, 1) == 2
    assert weights_read(preset_shape("Llama-3.1-8B"), batch=8) == pytest.approx(
        weights_read(preset_shape("Llama-3.1-8B")), rel=1e-5
    )


def test_roofline():
    device = find_device("H100")
    assert bound_by(1.0, 1.0, device) == "bandwidth"
    assert bound_by(1000.0, 1.0, device) == "compute"


@given(st.floats(1e12, 1e15), st.floats(1e12, 1e15), st.floats(0.01, 0.4), st.floats(0.5, 3))
def test_rates_are_recovered_from_two_timings(linear, attention, short, long):
    work = [(1e15, share * 1e15) for share in (short, long)]
    timings = [(a, b, a / linear + b / attention) for a, b in work]
    assert fit_rates(timings) == pytest.approx((linear, attention), rel=1e-3)


@pytest.mark.parametrize(
    ("timings", "message"),
    [([(1.0, 1.0, 1.0)], "two prefills"), ([(1.0, 1.0, 1.0), (2.0, 2.0, 2.0)], "two prefills"),
     ([(10.0, 0.1, 1.0), (20.0, 40.0, 1.5)], "not positive")],
)  # fmt: skip
def test_timings_that_determine_nothing(timings, message):
    with pytest.raises(ValueError, match=message):
        fit_rates(timings)


def test_figures():
    assert weakest("exact", "prior", "measured") == "prior"
    assert exact(3, "B").to_dict() == {"value": 3, "unit": "B", "kind": "exact"}
    for bad in ((2.0, 3.0, 4.0), (float("nan"), 0.0, 1.0)):
        with pytest.raises(ValueError, match=r"lies outside|must be finite"):
            Figure(bad[0], "s", "prior", bad[1], bad[2])
    with pytest.raises(ValueError, match="no interval"):
        Figure(1.0, "s", "exact", 0.5, 2.0)
