"""The running sums of an online softmax, and what they become at the end; shared by the implementations.

One row over one block of keys: m the largest score, l = sum exp(s - m),
r = sum exp(s - m) (s - m), which is centred so that large scores lose no digits of the entropy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from softlookup.attention.masks import visible_keys
from softlookup.attention.stats import AttentionStats

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.attention.stats import StatsRequest, TopK


@dataclass(slots=True, eq=False)
class RowSums:
    """Each [B, Hq, Tq] in natural-log units; ``maximum`` is -inf and ``total`` 0 for a row that saw no key.

    ``centred`` r, ``argmax`` int64 or None, ``sink`` = sum over sink keys of exp(s - m), ``position`` =
    sum exp(s - m) j, ``unscaled`` = max |q.k|; None where not asked for.
    """

    maximum: torch.Tensor
    total: torch.Tensor
    centred: torch.Tensor | None = None
    argmax: torch.Tensor | None = None
    sink: torch.Tensor | None = None
    position: torch.Tensor | None = None
    unscaled: torch.Tensor | None = None


def row_lse(sums: RowSums) -> torch.Tensor:
    """Lse, ln sum exp(s), over the keys, without learned sinks; -inf for a row that saw none."""
    return torch.where(sums.total > 0, sums.maximum + torch.log(sums.total), -torch.inf)


def with_sinks(lse: torch.Tensor, sinks: torch.Tensor | None) -> torch.Tensor:
    """The lse [B, Hq, Tq] with one more key of logit ``sinks`` [Hq]."""
    return lse if sinks is None else torch.logaddexp(lse, sinks.to(lse.dtype)[None, :, None].expand_as(lse))


def output_scale(sums: RowSums, sinks: torch.Tensor | None) -> torch.Tensor:
    """Factor [B, Hq, Tq] that turns sum exp(s - m) v into the output; 0 for a row that saw no key."""
    lse = row_lse(sums)
    total = with_sinks(lse, sinks)
    # exp(m - L*): the same as 1 / l without sinks
    return torch.where(sums.total > 0, torch.exp(sums.maximum - total), 0.0)


def finalize(
    sums: RowSums,
    inputs: AttentionInputs,
    request: StatsRequest,
    *,
    top_k: TopK | None = None,
    span_mass: torch.Tensor | None = None,
    key_mass: torch.Tensor | None = None,
) -> AttentionStats:
    """The statistics that ``request`` asks for: H = ln l - r / l, max weight exp(m - lse), NaN for empty rows."""
    visible = visible_keys(inputs).expand(inputs.batch, inputs.heads, inputs.q_length)
    seen = visible > 0
    keys_lse = row_lse(sums)
    lse = with_sinks(keys_lse, inputs.sinks)
    share = torch.exp(torch.where(seen, sums.maximum, 0.0) - torch.where(seen, lse, 0.0))  # weight of the largest

    def defined(value: torch.Tensor) -> torch.Tensor:
        return torch.where(seen, value, torch.nan)

    entropy = normalized = distance = None
    if sums.centred is not None:
        entropy = defined(torch.log(sums.total) - sums.centred / sums.total)
        if request.normalized_entropy:
            normalized = torch.where(
                visible > 1, entropy / torch.log(visible.clamp(min=2).to(entropy.dtype)), torch.nan
            )
    if sums.position is not None:
        rows = torch.arange(inputs.q_length, device=lse.device) + inputs.q_offset
        distance = defined(rows.to(lse.dtype) - sums.position / sums.total)
    sinks = inputs.sinks
    return AttentionStats(
        visible_keys=visible,
        kv_length=inputs.kv_length,
        sinks=sinks,
        lse=lse if request.lse else None,
        lse_without_sinks=keys_lse if sinks is not None and request.lse else None,
        entropy=entropy,
        normalized_entropy=normalized,
        max_weight=defined(share) if request.max_weight else None,
        argmax=torch.where(seen, sums.argmax, -1) if sums.argmax is not None else None,
        top_k=top_k,
        max_score=defined(sums.maximum) if request.max_score else None,
        max_unscaled_score=defined(sums.unscaled) if sums.unscaled is not None else None,
        sink_mass=defined(share * sums.sink) if sums.sink is not None else None,
        sink_count=request.sink_count,
        learned_sink_mass=None if sinks is None else torch.exp(sinks.to(lse.dtype)[None, :, None] - lse),
        distance=distance,
        span_mass=span_mass,
        span_rows=request.chosen_span_rows(inputs.q_length) if span_mass is not None else None,
        key_mass=key_mass,
        key_mass_rows=None if request.key_mass_rows is None else tuple(int(row) for row in request.key_mass_rows),
    )
