"""The definition of attention and of every statistic, by materialised weights; for small inputs and as the oracle.

Memory is B x Hq x Tq x Tk. With float64 inputs everything is computed in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from softlookup.attention.inputs import raise_for_non_finite
from softlookup.attention.masks import visible_tile
from softlookup.attention.stats import AttentionOutput, AttentionStats, TopK

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.attention.stats import StatsRequest


def reference_attention(inputs: AttentionInputs, request: StatsRequest | None) -> AttentionOutput:
    """softmax(scale Q K^T, masked) V, and statistics of the weights. NaN or infinite inputs: ``UsageError``."""
    raise_for_non_finite(inputs)
    unscaled = unscaled_scores(inputs)  # [B, Hq, Tq, Tk]
    visible = visibility(inputs)
    scores = inputs.scale * unscaled
    if inputs.softcap is not None:
        scores = inputs.softcap * torch.tanh(scores / inputs.softcap)
    scores = torch.where(visible, scores, -torch.inf)
    lse = torch.logsumexp(scores, dim=-1)  # [B, Hq, Tq]
    total = lse if inputs.sinks is None else torch.logaddexp(lse, _per_head(inputs, lse).expand_as(lse))
    log_share = _log_softmax(scores, visible)
    # with a learned sink the weights of the keys sum to exp(lse - total)
    share = torch.where(visible, torch.exp(log_share), 0.0)
    weights = share if inputs.sinks is None else share * torch.exp(lse - _finite(total))[..., None]
    value = inputs.value.to(scores.dtype).repeat_interleave(inputs.group, dim=1)
    output = (weights @ value).to(inputs.dtype)
    count = visible.sum(-1)
    empty = int((count == 0).sum())
    if request is None:
        return AttentionOutput(output, None, empty)
    return AttentionOutput(
        output, _statistics(inputs, request, unscaled, scores, log_share, weights, lse, total), empty
    )


def _log_softmax(scores: torch.Tensor, visible: torch.Tensor) -> torch.Tensor:
    """Ln of the shares over the keys, 0 where not visible.

    By differences to the largest score: subtracting the lse of scores near 1e4 would lose four digits.
    """
    centred = scores - _finite(scores.amax(-1, keepdim=True))
    return torch.where(visible, centred - torch.log(torch.exp(centred).sum(-1, keepdim=True)), 0.0)


def unscaled_scores(inputs: AttentionInputs) -> torch.Tensor:
    """q.k in the compute dtype [B, Hq, Tq, Tk]; query head h reads key head h // group."""
    key = inputs.key.to(inputs.compute_dtype).repeat_interleave(inputs.group, dim=1)
    return inputs.query.to(inputs.compute_dtype) @ key.transpose(-1, -2)


def visibility(inputs: AttentionInputs) -> torch.Tensor:
    """Bool [B, Hq, Tq, Tk], True = attend."""
    device = inputs.query.device
    rows, keys = torch.arange(inputs.q_length, device=device), torch.arange(inputs.kv_length, device=device)
    tile = visible_tile(inputs, rows, keys)
    shape = (inputs.batch, inputs.heads, inputs.q_length, inputs.kv_length)
    return torch.ones(shape, dtype=torch.bool, device=device) if tile is None else tile.expand(shape)


def _statistics(
    inputs: AttentionInputs,
    request: StatsRequest,
    unscaled: torch.Tensor,
    scores: torch.Tensor,
    log_share: torch.Tensor,
    weights: torch.Tensor,
    lse: torch.Tensor,
    total: torch.Tensor,
) -> AttentionStats:
    visible = scores > -torch.inf
    count = visible.sum(-1)
    seen = count > 0

    def defined(value: torch.Tensor) -> torch.Tensor:
        return torch.where(seen, value, torch.nan)

    share = torch.where(visible, torch.exp(log_share), 0.0)  # over the keys alone
    entropy = defined(-(share * log_share).sum(-1))
    keys = torch.arange(inputs.kv_length, device=scores.device)
    rows = torch.arange(inputs.q_length, device=scores.device) + inputs.q_offset
    sink_keys = request.sink_keys(inputs.kv_length)
    wanted_entropy = request.entropy or request.normalized_entropy
    return AttentionStats(
        visible_keys=count,
        kv_length=inputs.kv_length,
        sinks=inputs.sinks,
        lse=total if request.lse else None,
        lse_without_sinks=lse if inputs.sinks is not None and request.lse else None,
        entropy=entropy if wanted_entropy else None,
        normalized_entropy=(
            torch.where(count > 1, entropy / torch.log(count.clamp(min=2).to(entropy.dtype)), torch.nan)
            if request.normalized_entropy
            else None
        ),
        max_weight=defined(weights.amax(-1)) if request.max_weight else None,
        # argmax of equal scores: the first, which torch.argmax does not promise
        argmax=torch.where(seen, _first_maximum(scores, keys), -1) if request.argmax else None,
        top_k=_top_k(scores, weights, request.top_k) if request.top_k else None,
        max_score=defined(scores.amax(-1)) if request.max_score else None,
        max_unscaled_score=(defined(torch.where(visible, unscaled.abs(), 0.0).amax(-1)) if request.max_score else None),
        sink_mass=defined(weights[..., list(sink_keys)].sum(-1)) if sink_keys is not None else None,
        sink_count=request.sink_count,
        learned_sink_mass=None if inputs.sinks is None else torch.exp(_per_head(inputs, total) - total),
        distance=defined((share * (rows[:, None] - keys[None])).sum(-1)) if request.distance else None,
        span_mass=_span_mass(request, weights) if request.span_mass is not None else None,
        span_rows=request.chosen_span_rows(inputs.q_length) if request.span_mass is not None else None,
        key_mass=_key_mass(request, weights) if request.key_mass else None,
        key_mass_rows=None if request.key_mass_rows is None else tuple(int(row) for row in request.key_mass_rows),
    )


def _per_head(inputs: AttentionInputs, like: torch.Tensor) -> torch.Tensor:
    if inputs.sinks is None:
        raise AssertionError("only called with sinks")
    return inputs.sinks.to(like.dtype)[None, :, None]


def _finite(lse: torch.Tensor) -> torch.Tensor:
    return torch.where(lse > -torch.inf, lse, 0.0)


def _first_maximum(scores: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    best = scores == scores.amax(-1, keepdim=True)
    return torch.where(best, keys, len(keys)).amin(-1)


def _top_k(scores: torch.Tensor, weights: torch.Tensor, k: int) -> TopK:
    missing = max(0, k - scores.shape[-1])  # k columns also where there are fewer keys
    scores, weights = (
        torch.nn.functional.pad(t, (0, missing), value=v) for t, v in ((scores, -torch.inf), (weights, 0))
    )
    order = torch.sort(scores, dim=-1, descending=True, stable=True).indices[..., :k]
    best = scores.gather(-1, order)
    seen = best > -torch.inf
    return TopK(torch.where(seen, order, -1), torch.where(seen, weights.gather(-1, order), 0.0), best)


def _span_mass(request: StatsRequest, weights: torch.Tensor) -> torch.Tensor:
    chosen = weights[:, :, list(request.chosen_span_rows(weights.shape[2]))]
    masses = [chosen[..., start:stop].sum(-1) for start, stop in request.span_mass or ()]
    return torch.stack(masses, dim=-1) if masses else chosen.new_zeros(*chosen.shape[:3], 0)


def _key_mass(request: StatsRequest, weights: torch.Tensor) -> torch.Tensor:
    rows = slice(None) if request.key_mass_rows is None else [int(row) for row in request.key_mass_rows]
    return weights[:, :, rows].sum(2)
