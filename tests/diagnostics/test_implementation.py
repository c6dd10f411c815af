"""Scale, mask and output tests of one layer's call: silent on a right one, each fault told by name."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import transformers as hf

from softlookup.attention.rows import row_weights
from softlookup.diagnostics.implementation import expected_scale, implementation_alerts
from softlookup.runtime.attention_calls import AttentionCall

ROWS = slice(0, 4)


def make_call(generator, *, rows=6, keys=30, window=None, softcap=None):
    query = torch.randn(4, rows, 8, generator=generator)
    key, value = (torch.randn(2, keys, 8, generator=generator) for _ in range(2))
    visible = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)
    if window:
        visible &= torch.ones(rows, keys, dtype=torch.bool).triu(keys - rows - window + 1)
    call = AttentionCall(2, query, key, visible, 8**-0.5, softcap, window, value)
    return dataclasses.replace(call, output=output_of(call))


def output_of(call, weights=None):
    weights = row_weights(call.query, call.key, call.visible, call.scale, call.softcap) if weights is None else weights
    return weights @ call.value.repeat_interleave(2, 0)


def names(call, config=None):
    return [alert.monitor for alert in implementation_alerts(call, ROWS, config)]


@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("softcap", [None, 2.0])
def test_a_right_call_is_silent(window, softcap, generator):
    assert names(make_call(generator, window=window, softcap=softcap), hf.LlamaConfig()) == []


def test_the_last_row_may_see_everything_without_a_mask(generator):
    call = make_call(generator, rows=1)
    assert names(dataclasses.replace(call, visible=None)) == []


@pytest.mark.parametrize("scale", [1.0, 1 / 8])
def test_a_scale_that_the_configuration_does_not_state(scale, generator):
    call = dataclasses.replace(make_call(generator), scale=scale, output=None)
    assert names(call, hf.LlamaConfig()) == ["wrong_scale"]
    (alert,) = implementation_alerts(call, ROWS, hf.LlamaConfig())
    assert (alert.layer, alert.value) == (2, scale)
    assert alert.threshold == pytest.approx(8**-0.5)
    assert names(call) == []  # nothing to compare with


def test_the_scale_that_a_configuration_states():
    assert expected_scale(hf.LlamaConfig(), 64) == 64**-0.5
    assert expected_scale(hf.Gemma2Config(query_pre_attn_scalar=256), 64) == 1 / 16
    assert expected_scale(hf.GraniteConfig(attention_multiplier=0.015625), 64) == 0.015625
    assert expected_scale(hf.DeepseekV3Config(), 64) is None  # yarn changes it in the model's code
    assert expected_scale(hf.GPT2Config(), 64) is None


def test_the_upper_triangle_instead_of_the_lower(generator):
    call = make_call(generator)
    wrong = dataclasses.replace(call, visible=~call.visible | torch.eye(6, 30, dtype=torch.bool), output=None)
    assert names(wrong) == ["mask_future", "mask_past"]


def test_no_mask_shows_later_keys(generator):
    assert names(dataclasses.replace(make_call(generator), visible=None, output=None)) == ["mask_future"]


def test_a_mask_aligned_to_the_upper_left_hides_the_document(generator):
    visible = torch.ones(6, 30, dtype=torch.bool).tril()
    (alert,) = implementation_alerts(dataclasses.replace(make_call(generator), visible=visible, output=None), ROWS)
    assert (alert.monitor, alert.value) == ("mask_past", 24)


def test_a_window_that_is_too_narrow(generator):
    call = make_call(generator, window=5)
    assert names(dataclasses.replace(call, sliding_window=6)) == ["mask_past"]


def test_rows_behind_the_question_are_not_tested(generator):
    call = make_call(generator)
    visible = call.visible.clone()
    visible[4] = True
    assert names(dataclasses.replace(call, visible=visible)) == []


@pytest.mark.parametrize("fault", ["mask after softmax", "scale", "heads", "upper"])
def test_a_kernel_that_computes_something_else(fault, generator):
    call = make_call(generator)
    if fault == "mask after softmax":
        weights = row_weights(call.query, call.key, None, call.scale) * call.visible
    elif fault == "scale":
        weights = row_weights(call.query, call.key, call.visible, 1.0)
    elif fault == "heads":  # query head h reads key head h modulo Hkv
        weights = row_weights(call.query, call.key[[0, 1, 0, 1]], call.visible, call.scale)
    else:
        weights = row_weights(call.query, call.key, ~call.visible | torch.eye(6, 30, dtype=torch.bool), call.scale)
    (alert,) = implementation_alerts(dataclasses.replace(call, output=output_of(call, weights)), ROWS)
    assert (alert.monitor, alert.layer) == ("kernel_mismatch", 2)
    assert alert.value > alert.threshold
    assert alert.head is not None


def test_one_wrong_head_is_named(generator):
    call = make_call(generator)
    call.output[3] *= 1.01
    (alert,) = implementation_alerts(call, ROWS)
    assert (alert.head, alert.heads) == (3, 1)


def test_rounding_of_bfloat16_is_no_fault(generator):
    call = make_call(generator)
    half = {name: getattr(call, name).bfloat16() for name in ("query", "key", "value")}
    half["output"] = output_of(dataclasses.replace(call, **{k: v.float() for k, v in half.items()})).bfloat16()
    assert names(dataclasses.replace(call, **half)) == []


def test_an_output_that_is_not_finite(generator):
    call = make_call(generator)
    call.output[1, 0, 0] = torch.inf
    (alert,) = implementation_alerts(call, ROWS)
    assert (alert.monitor, alert.head) == ("non_finite", 1)
