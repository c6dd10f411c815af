"""Observation changes nothing, and its statistics are those of the model's own eager weights; mutants are caught."""

from __future__ import annotations

import dataclasses
import json
import math

import pytest
import torch

from eager_oracle import (
    EPS,
    LENGTH,
    PASSES,
    Bounds,
    assert_close,
    assert_same_rows,
    expected_rows,
    largest_scores,
    left_padding,
    model_bound,
    run_passes,
    visible_keys,
    whole_weights,
    window_of,
)
from softlookup.attention import StatsRequest
from softlookup.runtime import observed_rows as rows_module
from softlookup.runtime.attention_hook import hook_attention
from softlookup.runtime.observation import REDUCED
from softlookup.runtime.observe import observe
from tiny_models import LAYERS, OBSERVED_KINDS, SLIDING_WINDOW, SOFTCAP, VOCABULARY, build_model

SPANS = [(2, 9), (30, LENGTH)]
EVERYTHING = StatsRequest(
    normalized_entropy=True, distance=True, max_score=True, key_mass=True, top_k=3, span_mass=SPANS
)
PLAIN = StatsRequest(normalized_entropy=True, distance=True, max_score=True)


@pytest.fixture(scope="module")
def models():
    """Tiny models by kind and implementation (None: the kind's own); nobody may change them."""
    built = {}

    def get(kind, implementation=None):
        if (kind, implementation) not in built:
            built[kind, implementation] = build_model(kind, VOCABULARY)
            if implementation is not None:
                built[kind, implementation].set_attn_implementation(implementation)
        return built[kind, implementation]

    return get


def tokens(batch, generator, length=LENGTH):
    return torch.randint(2, 1000, (batch, length), generator=generator)


def check_layer(layer, weights, seen, pads, bounds):
    """Rows, reductions, key mass and counts of one layer against its eager weights [B, Hq, T, T]."""
    want = expected_rows(weights, seen, [range(pad, pad + 4) for pad in pads])
    weights, rows = want["weights"], layer.rows
    assert layer.row_positions == tuple(range(weights.shape[2]))
    assert torch.equal(rows.visible_keys, want["visible_keys"])
    assert_close(rows.entropy, want["entropy"], bounds.entropy, "entropy")
    assert_close(rows.normalized_entropy, want["normalized_entropy"], 2 * bounds.entropy, "normalized_entropy")
    assert_close(rows.max_weight, want["max_weight"], bounds.weight, "max_weight")
    assert_close(rows.sink_mass, want["sink_mass"], bounds.weight, "sink_mass")
    assert_close(rows.distance, want["distance"], bounds.distance, "distance")
    live = want["visible_keys"] > 0
    at_argmax = weights.gather(-1, rows.argmax.clamp(min=0)[..., None])[..., 0]
    assert bool((at_argmax >= weights.amax(-1) - bounds.weight)[live].all()), "argmax is another key"
    assert bool((rows.argmax == -1)[~live].all())
    best = rows.top_k
    off = (weights.gather(-1, best.index.clamp(min=0)) - best.weight).abs()[best.index >= 0]
    assert float(off.max()) <= bounds.weight, "top_k"
    assert torch.equal((best.index >= 0).sum(-1), want["visible_keys"].clamp(max=3))
    for number, (start, stop) in enumerate(SPANS):
        mass = torch.where(live, weights[..., start:stop].sum(-1), torch.nan)
        assert_close(rows.span_mass[..., number], mass, bounds.weight, f"span {number}")
    # scores are not in the weights, but exp(score - lse) is
    relation = torch.where(live, torch.exp(rows.max_score.double() - rows.lse), torch.nan)
    assert_close(relation, want["max_weight"], bounds.weight + 64 * EPS, "max_score and lse")
    assert_close(layer.key_mass, weights.sum(2), bounds.weight * weights.shape[2], "key_mass")
    if rows.sinks is not None:
        own, theirs = (torch.where(live, p, 0.0) for p in (rows.learned_sink_mass, want["learned_sink_mass"]))
        assert_close(own, theirs, bounds.weight, "learned_sink_mass")
    check_reductions(layer, rows, live, pads)


def check_reductions(layer, rows, live, pads):
    """Reductions are means and extremes of the rows that were checked before."""
    length = live.shape[2]
    assert layer.padded_rows == sum(pads)
    assert layer.empty_rows == 0
    assert layer.live_rows == len(pads) * length - sum(pads)
    for name in REDUCED:
        values = getattr(rows, name)
        reduction = getattr(layer, name)
        assert (values is None) == (reduction is None), name
        if values is None:
            continue
        for head in range(values.shape[1]):
            kept = values[:, head][live[:, head] & ~values[:, head].isnan()].double()
            assert int(reduction.count[head]) == len(kept)
            # two runs of the same rows: alone, and among all rows, where tiles may be cut otherwise
            bound = 64 * EPS * (1 + float(kept.abs().max()) * math.log2(length))
            assert abs(float(reduction.mean[head]) - float(kept.mean())) <= bound, name
            assert abs(float(reduction.minimum[head]) - float(kept.min())) <= bound, name
            assert abs(float(reduction.maximum[head]) - float(kept.max())) <= bound, name
    for name in ("max_score", "max_unscaled_score"):
        values = getattr(rows, name)
        largest = torch.stack([values[:, head][live[:, head]].max() for head in range(values.shape[1])]).double()
        assert_close(getattr(layer, name), largest, 64 * EPS * (1 + float(largest.abs().max())), name)


def observe_eager(model, ids, passes):
    pads, splits = PASSES[passes]
    padding = left_padding(pads, ids.shape[1]) if any(pads) else None
    with observe(model, EVERYTHING, rows=range(ids.shape[1]), reductions=True) as run:
        outputs = run_passes(model, ids, splits, padding=padding, output_attentions=True)
    return run, outputs, padding


def check_eager(model, passes, generator):
    pads, _ = PASSES[passes]
    ids = tokens(len(pads), generator)
    run, outputs, padding = observe_eager(model, ids, passes)
    magnitudes = largest_scores(model, ids, padding)
    assert sorted(run.layers) == list(range(LAYERS))
    for number, layer in run.layers.items():
        window = window_of(model, number)
        seen = visible_keys(LENGTH, window, padding)
        weights = whole_weights(outputs, number, LENGTH)
        check_layer(layer, weights, seen, pads, Bounds.of(magnitudes[number], LENGTH))
    assert run.result.positions == (0, LENGTH)
    assert run.result.batch == len(pads)


@pytest.mark.parametrize("passes", ["prefill", "chunks", "padded chunks and decode"])
@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_statistics_are_those_of_the_models_eager_weights(kind, passes, models, generator):
    check_eager(models(kind, "eager"), passes, generator)


@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_scores_and_lse_are_those_of_the_queries_and_keys(kind, models, generator):
    """Weights say nothing about a constant that all scores share."""
    model, ids, calls = models(kind), tokens(1, generator), {}
    with torch.inference_mode(), hook_attention(model, lambda call: calls.update({call.layer: call})):
        model(ids, use_cache=False)
    with torch.inference_mode(), observe(model, PLAIN, rows=range(LENGTH)) as run:
        model(ids, use_cache=False)
    magnitudes = largest_scores(model, ids)
    for number, call in calls.items():
        key = call.key.double().repeat_interleave(call.query.shape[1] // call.key.shape[1], dim=1)
        unscaled = call.query.double() @ key.transpose(-1, -2)
        seen = visible_keys(LENGTH, window_of(model, number))[:, None]
        scores = unscaled * call.arguments["scaling"]
        if kind == "gemma2":
            scores = SOFTCAP * torch.tanh(scores / SOFTCAP)
        scores = torch.where(seen, scores, -torch.inf)
        lse = scores.logsumexp(-1)
        if kind == "gpt_oss":
            lse = torch.logaddexp(lse, call.module.sinks.detach().double()[None, :, None].expand_as(lse))
        rows, bound = run.layers[number].rows, model_bound(magnitudes[number], LENGTH)
        assert_close(rows.max_score, scores.amax(-1), bound, "max_score")
        assert_close(rows.lse, lse, bound, "lse")
        largest = torch.where(seen, unscaled.abs(), 0.0).amax(-1)
        assert_close(rows.max_unscaled_score, largest, bound / call.arguments["scaling"], "max_unscaled_score")


@pytest.mark.parametrize("passes", ["prefill", "padded chunks and decode"])
@pytest.mark.parametrize("kind", [kind for kind in OBSERVED_KINDS if kind not in ("gemma2", "gpt_oss")])
def test_sdpa_shows_what_eager_shows(kind, passes, models, generator):
    pads, splits = PASSES[passes]
    ids = tokens(len(pads), generator)
    padding = left_padding(pads, LENGTH) if any(pads) else None
    found = []
    for implementation in ("sdpa", "eager"):
        model = models(kind, implementation)
        with observe(model, PLAIN, rows=range(LENGTH)) as run:
            run_passes(model, ids, splits, padding=padding)
        assert run.result.implementation == implementation
        found.append(run)
    magnitudes = largest_scores(models(kind, "eager"), ids, padding)
    for number in range(LAYERS):
        one, other = (run.layers[number].rows for run in found)
        assert_same_rows(one, other, model_bound(magnitudes[number], LENGTH), f"layer {number}")


@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_chunks_and_decoding_show_the_rows_of_the_whole_prefill(kind, models, generator):
    model = models(kind)
    ids = tokens(1, generator)
    magnitudes = largest_scores(model, ids)
    request = dataclasses.replace(PLAIN, key_mass=True)
    with observe(model, request, rows=range(LENGTH)) as whole:
        run_passes(model, ids, (LENGTH,))
    for splits in ((40, LENGTH - 40), (1, 1, LENGTH - 4, 1, 1), (SLIDING_WINDOW, 2, 46)):
        with observe(model, request, rows=range(LENGTH)) as parts:
            run_passes(model, ids, splits)
        for number in range(LAYERS):
            bound = model_bound(magnitudes[number], LENGTH)
            assert_same_rows(parts.layers[number].rows, whole.layers[number].rows, bound, f"{splits}, layer {number}")
            mass = whole.layers[number].key_mass.double()
            assert_close(parts.layers[number].key_mass, mass, LENGTH * bound, f"{splits}: key mass")


@pytest.mark.parametrize("passes", ["prefill", "chunks", "padded chunks and decode"])
@pytest.mark.parametrize("kind", OBSERVED_KINDS)
def test_logits_are_equal_bit_for_bit(kind, passes, models, generator):
    model = models(kind)
    before = model.config._attn_implementation
    pads, splits = PASSES[passes]
    ids = tokens(len(pads), generator)
    padding = left_padding(pads, LENGTH) if any(pads) else None
    plain = run_passes(model, ids, splits, padding=padding)
    with observe(model, PLAIN, rows=range(40), reductions=True):
        watched = run_passes(model, ids, splits, padding=padding)
    after = run_passes(model, ids, splits, padding=padding)
    for off, on, again in zip(plain, watched, after, strict=True):
        assert torch.equal(off.logits, on.logits)
        assert torch.equal(off.logits, again.logits)
    assert model.config._attn_implementation == before
    assert not any(module._forward_pre_hooks for module in model.modules())


# --- planted faults: each changes what the statistics are computed from


def wrong(monkeypatch, **changes):
    """``attention_statistics`` with some arguments changed by functions of all arguments."""
    real = rows_module.attention_statistics

    def mutant(query, key, **arguments):
        arguments |= {name: change(arguments) for name, change in changes.items() if name != "key"}
        return real(query, changes["key"](query, key) if "key" in changes else key, **arguments)

    monkeypatch.setattr(rows_module, "attention_statistics", mutant)


MUTANTS = {
    "heads in tile order": ("llama", "prefill", {"key": lambda q, k: k.repeat(1, q.shape[1] // k.shape[1], 1, 1)}),
    "no window": ("mistral", "prefill", {"sliding_window": lambda a: None}),
    "a window one too wide": (
        "gemma3", "prefill", {"sliding_window": lambda a: a["sliding_window"] and a["sliding_window"] + 1}
    ),
    "no softcap": ("gemma2", "prefill", {"softcap": lambda a: None}),
    "no learned sinks": ("gpt_oss", "prefill", {"sinks": lambda a: None}),
    "own scale": ("gemma2", "prefill", {"scale": lambda a: a["scale"] * 1.01}),
    "offset one too large": ("llama", "chunks", {"q_offset": lambda a: a["q_offset"] + 1}),
    "offset one too small": ("llama", "chunks", {"q_offset": lambda a: max(0, a["q_offset"] - 1)}),
    "not causal": ("qwen3", "prefill", {"causal": lambda a: False}),
    "padding seen": ("phi3", "padded", {"mask": lambda a: None}),
    "sinks from column 0": (
        "llama", "padded", {"stats": lambda a: dataclasses.replace(a["stats"], sink_mass=[0, 1, 2, 3])}
    ),
    "positions of the cache, not of the sequence": ("mistral", "decode", None),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_misread_call_is_caught(mutant, models, generator, monkeypatch):
    kind, passes, changes = MUTANTS[mutant]
    if changes is None:
        monkeypatch.setattr(rows_module, "_in_columns", lambda stats, call: stats)
    else:
        wrong(monkeypatch, **changes)
    # the check of eager weights must not be what catches it
    monkeypatch.setattr("softlookup.runtime.observation_run.check_weights", lambda call, reader: None)
    with pytest.raises(AssertionError):
        check_eager(models(kind, "eager"), passes, generator)


def test_json(models, generator):
    with observe(models("gpt_oss"), EVERYTHING, layers=[0, 2], rows=[3, 9, 10], reductions=True) as run:
        run_passes(models("gpt_oss"), tokens(1, generator, 12), (12,))
    found = json.loads(json.dumps(run.result.to_dict(), allow_nan=False))
    assert [layer["layer"] for layer in found["layers"]] == [0, 2]
    assert found["layers"][0]["row_positions"] == [3, 9, 10]
    assert found["layers"][0]["entropy"]["mean"] == pytest.approx(run.layers[0].entropy.mean.tolist())
    assert found["request"]["span_mass"] == [list(span) for span in SPANS]
    assert found["layers"][0]["rows"]["top_k"]["index"] == run.layers[0].rows.top_k.index.tolist()
    assert (found["model"], found["implementation"], found["positions"]) == ("GptOssForCausalLM", "eager", [0, 12])
