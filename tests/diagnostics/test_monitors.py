"""Monitors: silent on a healthy run, and each one fires on the fault that it is for."""

from __future__ import annotations

import contextlib
import dataclasses

import pytest
import torch

from planted_attention import FAULTS, planted
from softlookup.diagnostics.baseline import baseline_of
from softlookup.diagnostics.monitors import BF16_MAX, AttentionMonitor
from softlookup.errors import ModelError
from softlookup.runtime.attention_calls import AttentionCall
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH, KINDS

QUESTIONS = ("Who repairs the jetty?", "When is the fee due?", "Which law governs?", "Who insures the barge?")


def make_call(generator, *, layer=0, size=1.0, keys=30, rows=5, sink=0.0, softcap=None):
    query = torch.randn(4, rows, 8, generator=generator) * size
    key = torch.randn(2, keys, 8, generator=generator) * size
    if sink:
        query[..., 0] = sink  # every query agrees with the first key along one direction
        key[..., 0] = 0.0
        key[:, 0, 0] = sink
    visible = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)
    return AttentionCall(layer, query, key, visible, 8**-0.5, softcap, None)


def alerts_of(*calls, rows=5):
    monitor = AttentionMonitor(rows)
    for call in calls:
        monitor(call)
    return monitor.alerts()


def names_of(*calls, rows=5):
    return {alert.monitor for alert in alerts_of(*calls, rows=rows)}


def monitored(loaded, text, question, baseline=None):
    """A monitor that saw one question; a model of NaN ends its run, which the monitor need not survive."""
    reading = prefill(loaded, PromptTemplate(loaded.tokenizer), text)
    suffix = reading.template.suffix(question)
    monitor = AttentionMonitor(suffix.question_length, loaded.model.config, baseline)
    with contextlib.suppress(ModelError):
        reading.answer(suffix, max_new_tokens=1, callback=monitor, wanted=lambda: False)
    return monitor


@pytest.fixture(scope="module")
def tiny_baseline(tiny_loaded):
    loaded = tiny_loaded("llama")
    return baseline_of([monitored(loaded, CONTRACT, question).layers for question in QUESTIONS[:3]])


@pytest.mark.parametrize("kind", [*KINDS, "gpt_oss"])
@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH], ids=["en", "zh"])
def test_a_healthy_run_is_silent(kind, text, tiny_loaded):
    monitor = monitored(tiny_loaded(kind), text, "Who repairs the jetty?")
    assert monitor.alerts() == ()
    assert set(monitor.layers) == {0, 1, 2}
    for layer in monitor.layers.values():
        assert layer.finite
        assert ((layer.normalized_entropy >= 0) & (layer.normalized_entropy <= 1)).all()
        assert ((layer.first_token >= 0) & (layer.first_token <= 1)).all()


def test_a_healthy_question_stays_within_the_baseline_of_others(tiny_loaded, tiny_baseline):
    assert monitored(tiny_loaded("llama"), CONTRACT, QUESTIONS[3], tiny_baseline).alerts() == ()


# what each planted fault must raise on the tiny Llama, whatever else it raises
EXPECTED = {
    "no 1/sqrt(d)": {"wrong_scale", "head_entropy_low"},
    "1/d": {"wrong_scale", "head_entropy_high"},
    "wrong triangle": {"kernel_mismatch"},
    "no mask": {"kernel_mismatch"},
    "mask after softmax": {"kernel_mismatch"},
    "collapsed keys": {"smoke_2_over_t", "layer_uniform", "heads_alike", "uniform_attention", "head_entropy_high"},
    "all-sink": {"head_sink_high", "head_entropy_low"},
    "overflow": {"non_finite", "attention_overflow"},
    "fp16": {"fp16_headroom", "bf16_precision"},
    "nan": {"non_finite"},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_planted_in_a_model_raises_its_alerts(fault, tiny_loaded, tiny_baseline):
    loaded = tiny_loaded("llama")
    with planted(loaded.model, fault):
        monitor = monitored(loaded, CONTRACT, QUESTIONS[3], tiny_baseline)
    assert EXPECTED[fault] <= {alert.monitor for alert in monitor.alerts()}
    assert monitored(loaded, CONTRACT, QUESTIONS[3], tiny_baseline).alerts() == ()  # the model is as it was


@pytest.mark.parametrize("fault", ["no 1/sqrt(d)", "1/d"])
def test_a_wrong_scale_hidden_in_the_weights_is_seen_against_the_baseline(fault, tiny_loaded, tiny_baseline):
    loaded = tiny_loaded("llama")
    factor = 8**0.5 if fault == "no 1/sqrt(d)" else 8**-0.5
    weights = [module.q_proj.weight for module in loaded.model.modules() if hasattr(module, "q_proj")]
    before = [weight.data for weight in weights]
    try:
        for weight in weights:
            weight.data = weight.data * factor
        found = {alert.monitor for alert in monitored(loaded, CONTRACT, QUESTIONS[3], tiny_baseline).alerts()}
    finally:
        for weight, kept in zip(weights, before, strict=True):
            weight.data = kept
    assert "wrong_scale" not in found
    assert ("head_entropy_low" if factor > 1 else "head_entropy_high") in found


def test_a_thorough_monitor_computes_the_output_of_every_layer_again(tiny_loaded):
    loaded = tiny_loaded("llama")
    found = {}
    with planted(loaded.model, "mask after softmax"):
        reading = prefill(loaded, PromptTemplate(loaded.tokenizer), CONTRACT)
        suffix = reading.template.suffix(QUESTIONS[0])
        for thorough in (False, True):
            monitor = AttentionMonitor(suffix.question_length, thorough=thorough)
            reading.answer(suffix, max_new_tokens=1, callback=monitor, wanted=lambda: False)
            found[thorough] = [alert.layer for alert in monitor.alerts() if alert.monitor == "kernel_mismatch"]
    assert found == {False: [0], True: [0, 1, 2]}


def test_nothing_observed_is_no_alert():
    assert AttentionMonitor(3).alerts() == ()


def test_random_attention_is_silent(generator):
    assert alerts_of(*(make_call(generator, layer=layer) for layer in range(3))) == ()


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        (
            {"size": 0.0, "keys": 600},
            {"uniform_attention", "layer_uniform", "heads_alike", "constant_rows", "smoke_2_over_t"},
        ),
        ({"size": 400.0}, {"entropy_collapse", "layer_collapse", "fp16_headroom", "fp16_overflow", "bf16_precision"}),
        ({"size": 1e25}, {"attention_overflow"}),
    ],
)
def test_a_fault_raises_its_own_alerts(fault, names, generator):
    found = alerts_of(*(make_call(generator, layer=layer, **fault) for layer in range(3)))
    assert {alert.monitor for alert in found} == names
    low = {"entropy_collapse", "layer_collapse", "heads_alike", "constant_rows", "smoke_2_over_t"}
    for alert in found:
        assert alert.value < alert.threshold if alert.monitor in low else alert.value > alert.threshold


def test_a_softcap_hides_large_scores_from_the_weights_and_not_from_the_monitor(generator):
    assert {"fp16_headroom", "fp16_overflow", "bf16_precision"} <= names_of(
        make_call(generator, size=400.0, softcap=3.0)
    )
    assert names_of(make_call(generator, softcap=3.0)) == set()


def test_everything_on_the_first_token_is_a_sink_and_one_key(generator):
    found = names_of(*(make_call(generator, layer=layer, size=0.3, sink=9.0) for layer in range(3)))
    assert {"attention_sink", "entropy_collapse", "one_key", "heads_alike", "constant_rows"} == found


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("where", ["query", "key"])
def test_numbers_that_are_not_finite_raise_an_alert_with_layer_and_head(value, where, generator):
    healthy, broken = make_call(generator), make_call(generator, layer=1)
    getattr(broken, where)[1, 2, 3] = value
    (alert,) = alerts_of(healthy, broken)
    assert (alert.monitor, alert.layer) == ("non_finite", 1)
    # two query heads read key head 1
    assert (alert.head, alert.heads) == ((1, 1) if where == "query" else (2, 2))


def test_overflow_names_the_heads_whose_scores_overflow(generator):
    call = make_call(generator)
    call.query[3] *= 1e25
    call.key[1] *= 1e25
    (alert,) = alerts_of(call)
    assert (alert.monitor, alert.head) == ("attention_overflow", 3)


def test_scores_between_the_largest_bfloat16_and_float32_are_a_bfloat16_overflow(generator):
    call = make_call(generator)
    call.query.zero_()
    call.key.zero_()
    call.query[2, :, 0] = 2.0**64
    call.key[1, 3, 0] = 1.84e19  # the product lies between both limits
    assert BF16_MAX < 2.0**64 * 1.84e19 < torch.finfo(torch.float32).max
    found = {alert.monitor: alert for alert in alerts_of(call)}
    assert found["bf16_overflow"].head == 2
    assert found["bf16_overflow"].value > BF16_MAX
    call.key[1, 3, 0] = 1.8e19
    assert "bf16_overflow" not in names_of(call)


@pytest.mark.parametrize(("score", "name"), [(60_000.0, None), (70_000.0, "fp16_headroom")])
def test_the_limit_of_fp16_is_that_of_the_unscaled_score(score, name, generator):
    call = make_call(generator)
    call.query[0, :, 1:] = 0.0
    call.query[0, :, 0] = score / 100
    call.key[0, :, 0] = 100.0
    found = {alert.monitor: alert for alert in alerts_of(call)}
    assert ("fp16_headroom" in found) == (name is not None)
    assert "fp16_overflow" not in found
    if name:
        assert (found[name].layer, found[name].head) == (0, 0)
    scaled = dataclasses.replace(call, scale=1.0)
    assert ("fp16_overflow" in names_of(scaled)) == (name is not None)


def test_one_uniform_head_raises_the_smoke_alarm_by_name_and_nothing_else(generator):
    call = make_call(generator)
    call.query[2] = 0.0
    (alert,) = alerts_of(call)
    assert (alert.monitor, alert.layer, alert.head, alert.heads) == ("smoke_2_over_t", 0, 2, 1)
    assert alert.value < alert.threshold
    assert alert.meaning.startswith("implementation smoke alarm")


def test_heads_that_look_alike_are_told_apart_from_heads_that_do_not(generator):
    call = make_call(generator)
    alike = dataclasses.replace(call, query=call.query[:1].expand(4, -1, -1), key=call.key[:1].expand(2, -1, -1))
    assert names_of(alike) == {"heads_alike"}
    nearly = call.query[:1] + 0.5 * torch.randn(4, 5, 8, generator=generator)
    assert names_of(dataclasses.replace(alike, query=nearly)) == set()


def test_rows_that_do_not_depend_on_the_query_are_told(generator):
    # the few keys that only later rows see are most of what differs, so that many keys are needed
    long = make_call(generator, keys=2000)
    long.key[:, -5:] = 0.0
    constant = dataclasses.replace(long, query=long.query[:, :1].expand(-1, 5, -1))
    assert names_of(constant) == {"constant_rows"}
    assert names_of(long) == set()


def test_one_bad_layer_is_no_collapse_of_the_whole_model(generator):
    calls = [make_call(generator, layer=layer) for layer in range(4)]
    found = alerts_of(*calls, make_call(generator, layer=4, size=400.0))
    assert {alert.layer for alert in found} == {4}
    assert "layer_collapse" in {alert.monitor for alert in found}


def test_rows_after_the_question_are_not_looked_at(generator):
    call = make_call(generator)
    call.query[:, 3:] *= 1e9
    assert alerts_of(call, rows=3) == ()
    assert alerts_of(call, rows=5) != ()
