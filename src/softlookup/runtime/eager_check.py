"""Eager attention is code of the model's own file: one row of its weights must be what our statistics take them for.

Not a test of the statistics, and not needed for SDPA, whose code is known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

from softlookup.attention.api import attention
from softlookup.attention.stats import StatsRequest
from softlookup.errors import ModelError, UsageError
from softlookup.runtime.visibility import shown

if TYPE_CHECKING:
    from softlookup.runtime.attention_hook import LayerCall
    from softlookup.runtime.visibility import VisibilityReader

_LARGEST = StatsRequest(lse=False, entropy=False, argmax=False, sink_mass=None, max_score=True)


def check_weights(call: LayerCall, reader: VisibilityReader) -> None:
    """Compare the largest weight of the last row with the model's own. Raises ``ModelError`` where they differ."""
    weights = call.weights
    if weights is None:
        return
    last = call.query.shape[-2] - 1
    visible = shown(reader.read(call, last, last + 1), 0, 1, call.key.shape[-2], call.key.device)
    ours, score, seen = _largest(call, visible)
    difference = (weights[:, :, last].amax(-1).to(ours.dtype) - ours).abs()
    if bool((difference > _rounding(call, score) * ours)[seen].any()):
        raise ModelError(
            f"layer {call.layer} weighs its keys otherwise than by softmax(scale q k): its largest weight is off "
            f"by {float(difference[seen].max()):.2g}",
            "use a model whose eager attention is plain",
        )


def _largest(call: LayerCall, visible: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Largest weight and score of the last row and whether it sees a key, each [B, Hq]."""
    sinks = call.arguments.get("s_aux")
    try:
        with torch.no_grad(), torch.autocast(call.query.device.type, enabled=False):
            stats = attention(
                call.query[:, :, -1:], call.key, call.key, mask=visible, scale=call.arguments.get("scaling"),
                softcap=call.arguments.get("softcap"), sinks=sinks, stats=_LARGEST, impl="reference",
            ).stats  # fmt: skip
    except UsageError as error:
        raise ModelError(f"layer {call.layer} cannot be observed: {error.message}", "check the model") from error
    if stats is None or stats.max_weight is None or stats.max_score is None:
        raise AssertionError("asked for")
    return stats.max_weight[..., 0], stats.max_score[..., 0], stats.visible_keys[..., 0] > 0


def _rounding(call: LayerCall, score: torch.Tensor) -> torch.Tensor:
    """Bound of the relative error of a weight [B, Hq] that two computations in the model's dtype may differ by.

    A score is a sum of D products in float32, then rounded to the dtype up to four times; a weight is exp of the
    difference of two scores.
    """
    scale = call.arguments.get("scaling") or call.query.shape[-1] ** -0.5
    norms = call.query[:, :, -1].float().norm(dim=-1).amax() * call.key.float().norm(dim=-1).amax() * scale
    dtype = torch.finfo(call.query.dtype).eps
    error = torch.finfo(torch.float32).eps * (call.query.shape[-1] + 8) * norms + 4 * dtype * (1 + score.abs())
    return torch.expm1((2 * error).clamp(max=math.log(2.0))) + 4 * dtype
