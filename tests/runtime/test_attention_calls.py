"""Observed calls change nothing and show what the model computes: compared with the model's own attention weights."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from transformers import DynamicCache

from softlookup.attention.rows import row_scores, row_weights
from softlookup.errors import ModelError, UsageError
from softlookup.runtime import attention_calls as calls_module
from softlookup.runtime.attention_calls import observe_calls
from tiny_models import KINDS, SLIDING_WINDOW, VOCABULARY, build_model

LENGTH = 3 * SLIDING_WINDOW


def tokens(length, generator):
    return torch.randint(2, 1000, (1, length), generator=generator)


def nothing(_call):
    return None


def packed_mask(prefix, sizes, dtype=None):
    """Bool [1, 1, Tq, Tk] of suffixes that see the prefix and themselves; additive with a ``dtype``."""
    rows = sum(sizes)
    visible = torch.zeros(rows, prefix + rows, dtype=torch.bool)
    visible[:, :prefix] = True
    start = 0
    for size in sizes:
        block = slice(start, start + size)
        visible[block, prefix + start : prefix + start + size] = torch.ones(size, size, dtype=torch.bool).tril()
        start += size
    mask = visible[None, None]
    return mask if dtype is None else torch.where(mask, 0.0, torch.finfo(dtype).min).to(dtype)


def three_passes(model, ids, tail, step):
    """Logits of prefill, of a packed pass on its cache, and of one decoding step."""
    cache = DynamicCache()  # no sliding layers: all keys stay, as in softlookup's own cache
    with torch.inference_mode():
        first = model(ids, cache=cache, use_cache=True).logits
        eager = "eager" in model.config._attn_implementation
        mask = packed_mask(ids.shape[1], (3, 4), torch.float32 if eager else None)
        positions = torch.tensor([[*range(ids.shape[1], ids.shape[1] + 3), *range(ids.shape[1], ids.shape[1] + 4)]])
        packed = model(tail, cache=cache, use_cache=True, attention_mask=mask, position_ids=positions).logits
        cache.crop(-7)
        decoded = model(step, cache=cache, use_cache=True).logits
    return first, packed, decoded


@pytest.mark.parametrize("implementation", ["sdpa", "eager"])
def test_logits_are_equal_bit_for_bit(implementation, tiny_loaded, eager, generator):
    model = tiny_loaded("llama").model
    if implementation == "eager":
        eager(model)
    ids, tail, step = tokens(40, generator), tokens(7, generator), tokens(1, generator)
    plain = three_passes(model, ids, tail, step)
    calls = []
    with observe_calls(model, calls.append):
        observed = three_passes(model, ids, tail, step)
    assert len(calls) == 3 * 3
    for phase, off, on in zip(("prefill", "packed", "decode"), plain, observed, strict=True):
        assert torch.equal(off, on), f"{phase} differs"


@pytest.mark.parametrize("kind", KINDS)
def test_logits_of_every_kind_are_equal_bit_for_bit(kind, tiny_loaded, generator):
    model = tiny_loaded(kind).model
    ids = tokens(LENGTH, generator)
    with torch.inference_mode():
        off = model(ids).logits
        with observe_calls(model, nothing):
            on = model(ids).logits
    assert torch.equal(off, on)


def weights_of(call):
    return row_weights(call.query, call.key, call.visible, call.scale, call.softcap, call.sinks)


@pytest.mark.parametrize("kind", [*KINDS, "gpt_oss"])
def test_observed_rows_reproduce_the_models_own_weights(kind, tiny_loaded, eager, generator):
    model = tiny_loaded(kind).model
    ids = tokens(LENGTH, generator)
    calls = []
    with torch.inference_mode(), observe_calls(model, calls.append):
        model(ids)
    eager(model)
    with torch.inference_mode():
        own = model(ids, output_attentions=True).attentions
    assert [call.layer for call in calls] == [0, 1, 2]
    for call, weights in zip(calls, own, strict=True):
        got = weights_of(call)
        # two fp32 computations of the same layer, after up to two layers that differ in rounding
        largest = float(row_scores(call.query, call.key, None, call.scale, call.softcap).abs().max())
        bound = torch.finfo(torch.float32).eps * 64 * (largest + math.log(LENGTH))
        assert (got - weights[0]).abs().max() <= bound, f"layer {call.layer}"


def test_sliding_layers_show_their_window(tiny_loaded, generator):
    model = tiny_loaded("gemma3").model
    calls = []
    with torch.inference_mode(), observe_calls(model, calls.append):
        model(tokens(LENGTH, generator))
    row = LENGTH - 1
    for call, kind in zip(calls, model.config.layer_types, strict=True):
        seen = LENGTH if kind == "full_attention" else SLIDING_WINDOW
        assert int(call.visible[row].sum()) == seen
        assert bool(call.visible[row, row])
        assert (call.sliding_window is None) == (kind == "full_attention")


def test_a_window_that_ignores_its_own_row_is_caught(tiny_loaded, eager, generator, monkeypatch):
    """Planted fault: every sliding row sees one key too many."""
    real = calls_module._visible

    def too_wide(call):
        visible = real(call)
        return visible | torch.roll(visible, -1, dims=-1) & torch.ones_like(visible).tril()

    monkeypatch.setattr(calls_module, "_visible", too_wide)
    with pytest.raises(AssertionError, match="layer 0"):
        test_observed_rows_reproduce_the_models_own_weights("gemma3", tiny_loaded, eager, generator)


def test_a_callback_may_stop_the_pass_and_the_model_is_restored(tiny_loaded, generator):
    model = tiny_loaded("llama").model
    ids = tokens(12, generator)
    with torch.inference_mode():
        before = model(ids).logits
    seen = []

    def stop(call):
        seen.append(call.layer)
        if call.layer == 1:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"), torch.inference_mode(), observe_calls(model, stop):
        model(ids)
    assert seen == [0, 1]
    assert model.config._attn_implementation == "sdpa"
    with torch.inference_mode():
        assert torch.equal(model(ids).logits, before)
    assert seen == [0, 1]  # the callback is gone


def test_two_models_may_be_observed_in_turn(tiny_loaded, generator):
    first, second = tiny_loaded("llama").model, tiny_loaded("mistral").model
    ids = tokens(9, generator)
    ours, theirs = [], []
    with torch.inference_mode():
        with observe_calls(first, ours.append):
            first(ids)
        with observe_calls(second, theirs.append):
            second(ids)
            first(ids)  # not observed: its implementation is its own again
    assert len(ours) == 3
    assert len(theirs) == 3


def test_an_unsupported_implementation_is_refused(tiny_loaded, monkeypatch):
    model = tiny_loaded("llama").model
    monkeypatch.setattr(model.config, "_attn_implementation_internal", "flash_attention_2")
    with pytest.raises(ModelError, match="flash_attention_2"), observe_calls(model, nothing):
        pass
    monkeypatch.undo()
    with observe_calls(model, nothing), pytest.raises(UsageError, match="observed"), observe_calls(model, nothing):
        pass  # an observed model is not wrapped twice


def test_a_learned_sink_that_is_left_out_would_show(generator):
    model = build_model("gpt_oss", VOCABULARY)
    calls = []
    with torch.inference_mode(), observe_calls(model, calls.append):
        model(tokens(LENGTH, generator))
    for call in calls:
        assert call.sinks.shape == call.query.shape[:1]
        missing = 1 - weights_of(call).sum(-1)
        assert float(missing.mean()) > 1e-3, "the sink took nothing: leaving it out would pass unseen"
        whole = weights_of(replace(call, sinks=None)).sum(-1)
        assert torch.allclose(whole, torch.ones(()), atol=1e-5)
