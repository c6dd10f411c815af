"""Models that run on tiled attention compute what they compute eagerly, and are observed in the same pass."""

from __future__ import annotations

import contextlib

import pytest
import torch

from eager_oracle import LENGTH, PASSES, left_padding, run_passes
from softlookup.attention import StatsRequest
from softlookup.errors import ModelError, UsageError
from softlookup.runtime import observed_rows as rows_module
from softlookup.runtime import tiled_layer
from softlookup.runtime.observe import observe
from softlookup.runtime.tiled_attention import tiled_attention
from tiny_models import OBSERVED_KINDS, VOCABULARY, build_model


@pytest.fixture(scope="module")
def exact():
    """Models on eager attention, in float64 so that only a wrong rule makes a difference.

    Padding needs float32: the lowest float64 is -inf for their float32 softmax. gpt-oss mixes float32 in.
    """
    built = {}

    def get(kind, dtype=torch.float64):
        dtype = torch.float32 if kind == "gpt_oss" else dtype
        if (kind, dtype) not in built:
            built[kind, dtype] = build_model(kind, VOCABULARY).to(dtype)
            built[kind, dtype].set_attn_implementation("eager")
        return built[kind, dtype]

    return get


def tokens(batch, generator):
    return torch.randint(2, 1000, (batch, LENGTH), generator=generator)


def logits(model, ids, pads, splits):
    padding = left_padding(pads, ids.shape[1]) if any(pads) else None
    outputs = run_passes(model, ids, splits, padding=padding)
    whole = torch.cat([output.logits for output in outputs], dim=1)
    return whole if padding is None else whole[padding.bool()]


def float32_softmax(whole):
    """Eager attention of most models casts its softmax to float32: logits of a few tens differ by that, not more."""
    return 1e3 * torch.finfo(torch.float32).eps * float(whole.abs().max())


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_logits_are_those_of_eager_attention(kind, passes, exact, generator):
    pads, splits = PASSES[passes]
    model = exact(kind, torch.float32 if any(pads) else torch.float64)
    ids = tokens(len(pads), generator)
    want = logits(model, ids, pads, splits)
    with tiled_attention(model):
        got = logits(model, ids, pads, splits)
    assert model.config._attn_implementation == "eager"
    assert float((got - want).abs().max()) <= float32_softmax(want)


@pytest.mark.parametrize("fault", ["top left", "no window", "no softcap", "no sinks", "scale"])
def test_planted_faults_are_far_outside(fault, exact, generator, monkeypatch):
    kind = {"no softcap": "gemma2", "no sinks": "gpt_oss"}.get(fault, "mistral")
    model, ids = exact(kind), tokens(1, generator)
    want = logits(model, ids, *PASSES["chunks"])
    original = tiled_layer.attention

    def wrong(query, key, value, **rules):
        changes = {
            "top left": {"q_offset": 0, "causal": True},
            "no window": {"sliding_window": None},
            "no softcap": {"softcap": None},
            "no sinks": {"sinks": None},
            "scale": {"scale": 2 * (rules["scale"] or 1)},
        }
        return original(query, key, value, **(rules | changes[fault]))

    monkeypatch.setattr(tiled_layer, "attention", wrong)
    with tiled_attention(model):
        got = logits(model, ids, *PASSES["chunks"])
    assert float((got - want).abs().max()) > 10 * float32_softmax(want)


@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_observation_is_in_the_same_pass_and_changes_no_bit(kind, generator, monkeypatch):
    model, ids = build_model(kind, VOCABULARY), tokens(1, generator)
    request = StatsRequest(normalized_entropy=True, distance=True, max_score=True)
    with torch.inference_mode(), tiled_attention(model):
        plain = model(ids).logits
        with observe(model, request, rows=[3, 40], reductions=False) as chosen:
            rows = model(ids).logits
        monkeypatch.setattr(rows_module, "attention_statistics", None)  # a second pass would fail
        with observe(model, request) as run:
            seen = model(ids).logits
    assert torch.equal(seen, plain)
    assert torch.equal(rows, plain)
    monkeypatch.undo()
    with torch.inference_mode(), observe(model, request) as apart:
        model(ids)
    for layer, found in run.layers.items():
        other = apart.layers[layer]
        assert chosen.layers[layer].row_positions == (3, 40)
        spread = float((other.entropy.maximum - other.entropy.minimum).max())
        assert float((found.entropy.mean - other.entropy.mean).abs().max()) <= 1e-3 * spread
        assert found.live_rows == other.live_rows == LENGTH
    assert run.result.implementation == "softlookup_tiled"


def test_masks_that_repeat_the_rules_become_arguments(exact, generator, monkeypatch):
    """No tile of a mask is read for a chunk behind a cache; a packed mask is used as it is."""
    model, ids = exact("llama"), tokens(1, generator)
    seen = []
    original = tiled_layer.attention

    def note(query, key, value, **rules):
        seen.append(rules.get("mask") is not None)
        return original(query, key, value, **rules)

    monkeypatch.setattr(tiled_layer, "attention", note)
    with tiled_attention(model):
        logits(model, ids, *PASSES["chunks"])
        assert not any(seen)
        packed = torch.block_diag(*[torch.ones(LENGTH // 2, LENGTH // 2)] * 2).tril().bool()[None, None]
        with torch.inference_mode():
            model(ids, attention_mask=packed)
    assert seen[-1]


def test_the_model_is_restored_after_an_error(exact):
    model = exact("llama")
    with contextlib.suppress(ZeroDivisionError), tiled_attention(model):
        assert model.config._attn_implementation == "softlookup_tiled"
        raise ZeroDivisionError
    assert model.config._attn_implementation == "eager"


def test_what_it_cannot_do_is_refused(exact, generator):
    model, ids = exact("llama"), tokens(1, generator)
    with tiled_attention(model), pytest.raises(UsageError, match="gradients"):
        model(ids)
    with pytest.raises(UsageError, match="needs a transformers"), tiled_attention(torch.nn.Linear(2, 2)):
        pass
    dropped = build_model("llama", VOCABULARY)
    dropped.config.attention_dropout = 0.5
    for layer in dropped.model.layers:
        layer.self_attn.attention_dropout = 0.5
    with tiled_attention(dropped.train()), torch.no_grad(), pytest.raises(ModelError, match="dropout"):
        dropped(ids)
