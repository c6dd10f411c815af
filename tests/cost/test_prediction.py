"""Predicted beside measured seconds, and a plan with measured rates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from softlookup.cost.devices import find_device
from softlookup.cost.figures import Figure
from softlookup.cost.flops import model_flops
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
from softlookup.cost.model.model_source import find_model
from softlookup.cost.plan.estimate import estimate
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.timing.calibrated import FLOAT32_LIMIT, running_dtype, wanted_key, with_calibration
from softlookup.cost.timing.calibration_files import keep_calibration
from softlookup.cost.timing.measuring import measure
from softlookup.cost.timing.prediction import (
    QuestionRun,
    compare,
    compare_all,
    observed_share,
    observed_work,
    predicted_seconds,
)
from timed_machine import SHAPE, WEIGHTS, Machine, subject

FINGERPRINT = "ab" * 32
PREDICTED = Figure(10.3, "s", "measured", 9.5, 11.1, source="measured rates of 2026-05-02")


@pytest.fixture(scope="module")
def calibration():
    """Of the embedded model on a machine with this one's name."""
    return measure(Machine(), subject(key=wanted_key(FINGERPRINT, "f32"))).calibration


@pytest.fixture
def folder(tmp_path, calibration):
    keep_calibration(tmp_path, calibration)
    return tmp_path


def request(name=None, tokens=6000, **changes):
    return PlanRequest(find_model(name), tokens, find_device(), **changes)


@pytest.mark.parametrize(
    ("seconds", "ending"),
    [
        (9.8, "(measured rates of 2026-05-02)"),
        (12.0, "outside 9.5 to 11.1 s"),
        (40.0, "outside 9.5 to 11.1 s: the machine was busy or throttled, or the calibration no longer holds"),
        (3.0, "outside 9.5 to 11.1 s: too fast to be the same work; was the document read in full?"),
    ],
)
def test_one_line_says_what_happened_and_what_was_predicted(seconds, ending):
    line = compare(PREDICTED, seconds)
    assert line.startswith(f"prefill {seconds:.3g} s, predicted 10.3 s (measured rates of 2026-05-02)")
    assert line.endswith(ending)
    assert "\n" not in line


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1.0])
def test_seconds_that_are_none_are_refused(seconds):
    with pytest.raises(ValueError, match="finite"):
        compare(PREDICTED, seconds)


def test_the_phases_of_a_question(calibration):
    machine = Machine()
    run = QuestionRun(prefix=4000, read=True, bank_rows=600, question_rows=30, answer_tokens=40)
    found = predicted_seconds(calibration, SHAPE, run)
    assert found["prefill"].value == pytest.approx(machine.read(4000), rel=1e-3)
    assert found["calibrate"].value == pytest.approx(machine.look(600, 4000), rel=1e-3)
    assert found["answer"].value == pytest.approx(machine.start + 40 * machine.token(4050), rel=1e-3)
    work = model_flops(SHAPE, 30, 4000)
    question = machine.fixed + work.linear / machine.observe_linear + work.attention / machine.observe_attention
    assert found["question"].value == pytest.approx(question, rel=1e-3)
    assert all(figure.kind == "measured" and figure.low < figure.value < figure.high for figure in found.values())
    lines = compare_all(found, {"prefill": machine.read(4000), "answer": 1.0, "calibrate": 0.0})
    assert [line.split()[0] for line in lines] == ["prefill", "answer"]


def test_a_pass_that_ends_inside_a_layer_makes_queries_keys_and_values_alone():
    layer = SHAPE.layers[0]
    whole = layer.projection_weights + layer.ffn_weights
    assert observed_share(SHAPE, 1) == pytest.approx(576 * (576 + 2 * 192) / (30 * whole))
    assert observed_share(SHAPE, 19) == pytest.approx(18 / 30 + observed_share(SHAPE, 1))
    linear, attention = observed_work(SHAPE, 10, 100, 1)
    assert linear == pytest.approx(2 * 10 * 576 * (576 + 2 * 192))
    assert attention == pytest.approx(4 * 9 * 64 * 10 * 110.5)


def test_what_was_paid_for_earlier_costs_nothing(calibration):
    run = QuestionRun(prefix=4000, read=False, bank_rows=0, question_rows=30, answer_tokens=0)
    found = predicted_seconds(calibration, SHAPE, run)
    assert [name for name, figure in found.items() if figure.value] == ["question"]
    assert compare_all(found, {"prefill": 3.0, "question": 0.2})[0].startswith("question 0.2 s")


def test_more_than_one_pass_of_rows(calibration):
    one, many = (
        predicted_seconds(
            calibration, SHAPE, QuestionRun(1000, read=False, bank_rows=rows, question_rows=1, answer_tokens=0)
        )["calibrate"].value
        for rows in (768, 3 * 768)
    )
    assert many == pytest.approx(3 * one)


def test_the_interval_widens_beyond_the_timed_lengths(calibration):
    near, far = (
        predicted_seconds(
            calibration, SHAPE, QuestionRun(tokens, read=True, bank_rows=0, question_rows=1, answer_tokens=0)
        )["prefill"]
        for tokens in (4096, 32768)
    )
    assert far.high / far.value == pytest.approx(near.high / near.value + 3 * 0.05)


def test_a_plan_for_the_timed_model(folder):
    plain = request()
    found = with_calibration(plain, folder, FINGERPRINT)
    machine, figures = Machine(), estimate(found.request).figures
    assert found.same_model
    assert found.notices[0].startswith("seconds from rates measured on 2026-05-02")
    assert figures["prefill_seconds"].kind == figures["decode_ms_per_token"].kind == "measured"
    assert figures["prefill_seconds"].value == pytest.approx(machine.read(6000), rel=2e-3)
    # answers of 80: the middle stands 40 tokens behind the document; the cache is in float32, as the program keeps it
    assert figures["decode_ms_per_token"].value == pytest.approx(1e3 * machine.token(6040), rel=1e-3)
    assert figures["kv_bytes_per_token"].value == 46_080
    assert estimate(found.request).traffic.weights == pytest.approx(WEIGHTS, rel=1e-6)
    assert found.request.device.ridge == pytest.approx(Machine.flops / Machine.bandwidth)
    assert estimate(plain).figures["prefill_seconds"].kind == "prior"


def test_a_plan_for_another_model_has_a_wide_interval(folder):
    name = "SmolLM2-360M"
    found = with_calibration(request(name), folder, None)
    own = with_calibration(request(), folder, FINGERPRINT)
    assert found.calibration is not None
    assert not found.same_model
    assert "with SmolLM2" in found.notices[0]
    wide, narrow = (estimate(each.request).figures["prefill_seconds"] for each in (found, own))
    assert wide.kind == "measured"
    assert wide.high / wide.value > narrow.high / narrow.value + 0.4
    assert wide.low / wide.value < narrow.low / narrow.value
    assert "with SmolLM2" in wide.source
    decode = estimate(found.request).figures["decode_ms_per_token"]
    assert decode.low < decode.value < decode.high


def test_the_cache_that_was_asked_for_stays(folder):
    asked = request(kv=KVDtypes("q8_0", "q8_0"))
    assert with_calibration(asked, folder, FINGERPRINT, keep_kv=True).request.kv == asked.kv


@pytest.mark.parametrize("engine", ["vllm", "llama.cpp"])
def test_rates_of_this_program_say_nothing_about_other_engines(engine, folder):
    asked = request(engine=EnginePolicy(engine))
    found = with_calibration(asked, folder, FINGERPRINT)
    assert (found.request, found.calibration) == (asked, None)


def test_a_model_that_runs_in_another_format_gets_no_rates(folder):
    """Llama-3.1-8B would run in bfloat16; the rates are those of float32."""
    asked = request("Llama-3.1-8B")
    found = with_calibration(asked, folder, None)
    assert found.request == asked
    assert "the number format differs" in found.notices[0]


def test_without_a_calibration_nothing_changes(tmp_path):
    asked = request()
    found = with_calibration(asked, tmp_path, FINGERPRINT)
    assert (found.request, found.calibration, found.notices) == (asked, None, ())


def test_the_number_format_follows_the_loader():
    from softlookup.runtime import load

    assert load._FP32_LIMIT_BYTES == FLOAT32_LIMIT
    small, large = find_model("Qwen3-0.6B"), find_model("Qwen3-4B")
    assert (running_dtype(small), running_dtype(large)) == ("f32", "bf16")
    assert running_dtype(replace(large, origin="gguf")) == "f32"
