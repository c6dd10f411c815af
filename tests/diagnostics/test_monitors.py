"""Monitors: silent on a healthy run, and each one fires on the fault that it is for."""

from __future__ import annotations

import pytest
import torch

from softlookup.diagnostics.monitors import Alert, AttentionMonitor
from softlookup.runtime.attention_calls import AttentionCall
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH, KINDS


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [CONTRACT, CONTRACT_ZH], ids=["en", "zh"])
def test_a_healthy_run_is_silent(kind, text, tiny_loaded):
    loaded = tiny_loaded(kind)
    reading = prefill(loaded, PromptTemplate(loaded.tokenizer), text)
    suffix = reading.template.suffix("Who repairs the jetty?")
    monitor = AttentionMonitor(suffix.question_length)
    reading.answer(suffix, max_new_tokens=1, callback=monitor)
    assert monitor.alerts() == ()
    assert set(monitor.sink_mass) == set(monitor.normalized_entropy) == set(monitor.max_unscaled_score) == {0, 1, 2}
    assert all(0 <= value <= 1 for value in (*monitor.sink_mass.values(), *monitor.normalized_entropy.values()))


def test_nothing_observed_is_no_alert():
    assert AttentionMonitor(3).alerts() == ()


def test_random_attention_is_silent(generator):
    assert alerts_of(*(make_call(generator, layer=layer) for layer in range(3))) == ()


@pytest.mark.parametrize(
    ("fault", "names"),
    [
        ({"size": 0.0}, {"uniform_attention"}),
        ({"size": 40.0}, {"entropy_collapse"}),
        ({"size": 0.3, "sink": 9.0}, {"attention_sink", "entropy_collapse"}),
        ({"size": 400.0}, {"entropy_collapse", "fp16_headroom"}),
        ({"size": 400.0, "softcap": 3.0}, {"fp16_headroom"}),  # the cap hides it from the scores, not from fp16
        ({"size": 1e25}, {"attention_overflow"}),
    ],
)
def test_a_fault_raises_its_own_alert(fault, names, generator):
    found = alerts_of(*(make_call(generator, layer=layer, **fault) for layer in range(3)))
    assert {alert.monitor for alert in found} == names
    for alert in found:
        assert alert.value > alert.threshold or alert.monitor == "entropy_collapse"


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
@pytest.mark.parametrize("where", ["query", "key"])
def test_scores_that_are_not_finite_raise_an_alert_with_their_layer(value, where, generator):
    healthy, broken = make_call(generator), make_call(generator, layer=1)
    getattr(broken, where)[0, 2, 3] = value
    found = alerts_of(healthy, broken)
    assert [(alert.monitor, alert.layer) for alert in found] == [("attention_overflow", 1)]


def test_one_bad_layer_is_no_collapse_of_the_whole_model(generator):
    calls = [make_call(generator, layer=layer) for layer in range(4)]
    assert "entropy_collapse" not in {a.monitor for a in alerts_of(*calls, make_call(generator, layer=4, size=40.0))}


def test_rows_after_the_question_are_not_looked_at(generator):
    call = make_call(generator)
    call.query[:, 3:] *= 1e9
    assert alerts_of(call, rows=3) == ()
    assert alerts_of(call, rows=5) != ()


def test_alerts_are_one_readable_line():
    alert = Alert("attention_sink", 0.97123, 0.95, None, "nearly all attention is on the first token")
    assert str(alert) == "attention_sink: nearly all attention is on the first token (0.971, threshold 0.95)"
    assert " in layer 3: " in str(Alert("fp16_headroom", 7e4, 65504.0, 3, "m"))
