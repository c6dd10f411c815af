"""Statistics of a model's own eager weights, by their definition in float64; the oracle of observation. No fixtures.

The weights come from ``output_attentions=True`` of the same forward passes, so that only the rounding of one
layer in float32 lies between them and what was observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch

from softlookup.runtime.attention_hook import hook_attention
from softlookup.runtime.observation import REDUCED
from tiny_models import SLIDING_WINDOW

EPS = torch.finfo(torch.float32).eps
LENGTH = 3 * SLIDING_WINDOW
# left padding of each batch entry, and the sizes of the passes
PASSES = {
    "prefill": ((0,), (LENGTH,)),
    "padded": ((0, 7, 30), (LENGTH,)),
    "chunks": ((0,), (10, SLIDING_WINDOW, LENGTH - 10 - SLIDING_WINDOW)),
    "decode": ((0,), (LENGTH - 3, 1, 1, 1)),
    "padded chunks and decode": ((0, 3, 30), (20, LENGTH - 22, 1, 1)),
}


def left_padding(pads, length):
    """2-D attention mask [B, T]: entry b begins with ``pads[b]`` padding columns."""
    return (torch.arange(length)[None] >= torch.tensor(pads)[:, None]).long()


def run_passes(model, ids, splits, *, padding=None, cache=None, **arguments):
    """Outputs of the forward passes over consecutive pieces of ``ids``, sizes ``splits``, with a cache."""
    from transformers import DynamicCache

    cache = DynamicCache(config=model.config) if cache is None else cache
    outputs, first = [], 0
    for size in splits:
        stop = first + size
        mask = None if padding is None else padding[:, :stop]
        with torch.inference_mode():
            outputs.append(model(ids[:, first:stop], attention_mask=mask, cache=cache, use_cache=True, **arguments))
        first = stop
    assert first == ids.shape[1]
    return outputs


def visible_keys(length, window=None, padding=None):
    """Bool [B, T, T] by definition: causal, the last ``window`` keys, no padding."""
    rows, keys = torch.arange(length)[:, None], torch.arange(length)[None]
    seen = (keys <= rows)[None]
    if window is not None:
        seen = seen & (keys > rows - window)
    if padding is not None:
        seen = seen & padding.bool()[:, None] & padding.bool()[:, :, None]
    return seen


def window_of(model, layer):
    """Sliding window of a layer by the model's configuration, None for all keys."""
    kinds = getattr(model.config, "layer_types", None)
    local = kinds is None or kinds[layer] == "sliding_attention"
    return getattr(model.config, "sliding_window", None) if local else None


def whole_weights(outputs, layer, length):
    """[B, Hq, T, T] float64 from the attentions of all passes; a cache that dropped keys holds the latest."""
    parts = [output.attentions[layer].double() for output in outputs]
    whole = torch.zeros(*parts[0].shape[:2], length, length, dtype=torch.float64)
    first = 0
    for part in parts:
        stop = first + part.shape[2]
        kept = min(part.shape[3], length)
        # a static cache has room behind the sequence, a sliding one has lost its beginning
        start = 0 if part.shape[3] >= length else stop - kept
        whole[:, :, first:stop, start : start + kept] = part[..., :kept]
        first = stop
    return whole


def largest_scores(model, ids, padding=None):
    """Per layer the largest |q| |k| scale: what the rounding of a score is a fraction of."""
    found = {}

    def note(call):
        scale = call.arguments["scaling"]
        norm = call.query.float().norm(dim=-1).amax() * call.key.float().norm(dim=-1).amax()
        found[call.layer] = float(norm * scale)

    with torch.inference_mode(), hook_attention(model, note):
        model(ids, attention_mask=padding, use_cache=False)
    return found


@dataclass(frozen=True)
class Bounds:
    """How far two float32 computations of one layer may be apart. ``weight`` is relative, the others absolute."""

    weight: float
    length: int

    @classmethod
    def of(cls, magnitude: float, length: int, dim: int = 8) -> Bounds:
        # a score: D products and sums, scale, cap, mask; a weight: exp of the difference of two scores over a sum
        score = (dim + 6) * EPS * magnitude
        return cls(2 * math.expm1(2 * score) + EPS * (math.log2(length) + 8), length)

    @property
    def entropy(self) -> float:
        return 2 * self.weight * (math.log(self.length) + 1)

    @property
    def distance(self) -> float:
        return 2 * (self.weight + 8 * EPS) * self.length


def model_bound(magnitude: float, length: int) -> float:
    """Of a statistic of two float32 computations of a layer, after up to two layers that differ in rounding."""
    return EPS * 64 * (magnitude + math.log(length)) * math.log(length)


def assert_close(got, want, bound, what):
    """Equal within ``bound``, and NaN at the same places."""
    assert got is not None, f"{what} is missing"
    assert torch.equal(torch.isnan(got), torch.isnan(want)), f"{what}: other rows are defined"
    difference = torch.nan_to_num(got.double() - want).abs()
    assert bool((difference <= bound).all()), f"{what} is off by {float(difference.max()):.3g}"


def assert_same_rows(one, other, bound, what):
    """Every per-row statistic of two observations of the same rows."""
    assert torch.equal(one.visible_keys, other.visible_keys), f"{what}: other keys are visible"
    for name in (*REDUCED, "max_score"):
        values, wanted = getattr(one, name), getattr(other, name)
        if values is not None:
            scale = int(one.kv_length) if name == "distance" else 1
            assert_close(values, wanted.double(), scale * bound, f"{what}: {name}")


def expected_rows(weights, seen, sink_columns) -> dict[str, Any]:
    """Per-row statistics [B, Hq, T] of ``weights`` [B, Hq, T, T]; sink columns per batch entry."""
    seen = seen[:, None].expand_as(weights)
    assert not weights[~seen & seen.any(-1, keepdim=True)].any(), "the model looks where the definition does not"
    weights = torch.where(seen, weights, 0.0)
    count = seen.sum(-1)
    total = weights.sum(-1)
    share = weights / total[..., None]
    live = count > 0
    rows, keys = torch.arange(seen.shape[2])[:, None], torch.arange(seen.shape[3])[None]

    def defined(values):
        return torch.where(live, values, torch.nan)

    entropy = defined(-torch.special.xlogy(share, share).sum(-1))
    sinks = torch.stack([weights[b][..., list(columns)].sum(-1) for b, columns in enumerate(sink_columns)])
    return {
        "visible_keys": count,
        "entropy": entropy,
        "normalized_entropy": torch.where(count > 1, entropy / count.double().log(), torch.nan),
        "max_weight": defined(weights.amax(-1)),
        "sink_mass": defined(sinks),
        "learned_sink_mass": 1 - total,
        "distance": defined((share * (rows - keys)).sum(-1)),
        "weights": weights,
    }
