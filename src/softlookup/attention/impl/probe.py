"""Statistics read off torch's own fused attention by changing the values; not for what no stock kernel tells.

The output is ``scaled_dot_product_attention``'s. The same kernel with other values gives the statistics, so that
they check the tiled implementation by code that shares nothing with it: with values := keys the entropy is
lse - q . output; values that mark some keys give the mass of those keys; a further key of known score and a
value that marks it give the lse; queries and keys exchanged, with -lse added to the scores, give column sums.
Statistics are computed in float32 (float64 for float64) whatever the inputs' dtype.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch.nn.functional import pad, scaled_dot_product_attention

from softlookup.attention.inputs import raise_for_non_finite
from softlookup.attention.masks import key_bounds, visible_keys, visible_tile
from softlookup.attention.row_sums import RowSums, finalize
from softlookup.attention.stats import AttentionOutput, AttentionStats
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.attention.stats import StatsRequest

# elements of a mask that is built for some rows at a time
_MASK_ELEMENTS = 2**22
_NOT_OFFERED = ("max_weight", "argmax", "top_k", "max_score")


def probe_attention(inputs: AttentionInputs, request: StatsRequest | None) -> AttentionOutput:
    """Output of torch's kernel, and the statistics that it can be made to tell.

    Raises ``UsageError`` for softcap and learned sinks, which the kernel does not have, and for the largest weight,
    score and its key: no change of the values tells these.
    """
    _refuse(inputs, request)
    raise_for_non_finite(inputs)
    if inputs.scale <= 0:  # the kernel scales after masking: -inf times 0 or less is no -inf any more
        sign = -1.0 if inputs.scale < 0 else 0.0
        inputs = replace(inputs, query=inputs.query * sign, scale=abs(inputs.scale) or 1.0)
    seen = (visible_keys(inputs) > 0).expand(inputs.batch, inputs.heads, inputs.q_length)
    output = _attend(inputs, inputs.query, inputs.key, inputs.value, inputs.scale)
    # what a kernel makes of a row without keys depends on its version
    output = torch.where(seen[..., None], output, 0.0)
    if not bool(torch.isfinite(output).all()):
        raise UsageError(f"scores must fit torch's kernel for {inputs.dtype}, they overflow", 'use impl="tiled"')
    stats = None if request is None else _statistics(inputs, request, seen)
    return AttentionOutput(output, stats, int((~seen).sum()))


def _refuse(inputs: AttentionInputs, request: StatsRequest | None) -> None:
    for name, value in (("softcap", inputs.softcap), ("sinks", inputs.sinks)):
        if value is not None:
            raise UsageError(f'impl="probe" takes no {name}: torch\'s kernel has none', 'use impl="tiled"')
    asked = [] if request is None else [name for name in _NOT_OFFERED if getattr(request, name)]
    if asked:
        given = ", ".join(f"{name}={getattr(request, name)}" for name in asked)
        off = ", ".join(f"{name}={0 if name == 'top_k' else False}" for name in asked)
        raise UsageError(
            f'impl="probe" cannot give {", ".join(asked)}: torch\'s kernel tells only sums over keys, '
            f"got StatsRequest({given})",
            f'use impl="tiled", or StatsRequest({off})',
        )


def _statistics(inputs: AttentionInputs, request: StatsRequest, seen: torch.Tensor) -> AttentionStats:
    """Row sums relative to the lse, so that they are the statistics themselves."""
    dtype = inputs.compute_dtype
    query, key = inputs.query.to(dtype) * inputs.scale, inputs.key.to(dtype)
    sums = RowSums(maximum=torch.zeros_like(seen, dtype=dtype), total=seen.to(dtype))
    wants_entropy = request.entropy or request.normalized_entropy
    if request.lse or wants_entropy or request.key_mass:
        mean_score = torch.where(seen, (query * _attend(inputs, query, key, key, 1.0)).sum(-1), 0.0)
        sums.maximum = _lse(inputs, query, key, mean_score)
        sums.centred = torch.where(seen, mean_score - sums.maximum, 0.0) if wants_entropy else None
    keys = torch.arange(inputs.kv_length, device=key.device)
    if request.distance:
        sums.position = _attend(inputs, query, key, keys.to(dtype)[:, None], 1.0)[..., 0]
    sink_keys = request.sink_keys(inputs.kv_length)
    if sink_keys is not None:
        marks = torch.isin(keys, torch.tensor(sink_keys, dtype=keys.dtype, device=keys.device))
        sums.sink = _attend(inputs, query, key, marks.to(dtype)[:, None], 1.0)[..., 0]
    return finalize(
        sums,
        inputs,
        request,
        span_mass=_span_mass(inputs, request, query, key, seen) if request.span_mass is not None else None,
        key_mass=_key_mass(inputs, request, query, key, sums.maximum) if request.key_mass else None,
    )


def _lse(inputs: AttentionInputs, query: torch.Tensor, key: torch.Tensor, mean_score: torch.Tensor) -> torch.Tensor:
    """Lse [B, Hq, Tq], -inf for a row without keys: one more key, of score c in row i, gets the weight a of the whole.

    Then lse = c + ln((1 - a) / a). H = lse - mean score lies in 0..ln(visible keys): with c half-way neither share
    is small. 1 - a is a column of its own, not a difference.
    """
    known = mean_score + 0.5 * torch.log(visible_keys(inputs).clamp(min=1).to(mean_score.dtype))
    query = torch.cat((query, known[..., None]), dim=-1)
    key = pad(key, (0, 1, 1, 0))
    key[:, :, 0, -1] = 1.0
    shares = _attend(inputs, query, key, _one_or_other(inputs.kv_length, key), 1.0, further_key=True)
    return known + torch.log(shares[..., 1]) - torch.log(shares[..., 0])


def _one_or_other(length: int, like: torch.Tensor) -> torch.Tensor:
    """Values [1 + length, 2]: the first key in column 0, all others in column 1."""
    value = pad(like.new_ones(length, 1), (1, 0, 1, 0))
    value[0, 0] = 1.0
    return value


def _span_mass(
    inputs: AttentionInputs, request: StatsRequest, query: torch.Tensor, key: torch.Tensor, seen: torch.Tensor
) -> torch.Tensor:
    """Values that mark the keys of a span, as many spans a call as the key has dimensions."""
    rows = torch.tensor(request.chosen_span_rows(inputs.q_length), dtype=torch.int64, device=key.device)
    spans = request.span_mass or ()
    if not spans:
        return query.new_zeros(inputs.batch, inputs.heads, len(rows), 0)
    keys = torch.arange(inputs.kv_length, device=key.device)[:, None]
    bounds = torch.tensor(spans, dtype=torch.int64, device=key.device)
    masses = []
    for part in torch.split(bounds, key.shape[-1]):
        marks = (keys >= part[:, 0]) & (keys < part[:, 1])
        masses.append(_attend(inputs, query, key, marks.to(key.dtype), 1.0, rows=rows))
    return torch.where(seen[:, :, rows, None], torch.cat(masses, dim=-1), 0.0)


def _key_mass(
    inputs: AttentionInputs, request: StatsRequest, query: torch.Tensor, key: torch.Tensor, lse: torch.Tensor
) -> torch.Tensor:
    """Column sums [B, Hq, Tk]: queries and keys exchanged and -lse added to the scores, the new lse is their ln.

    With a further key of score 0 and weight a, that is (1 - a) / a. Masks are built for some keys at a time.
    """
    rows = range(inputs.q_length) if request.key_mass_rows is None else request.key_mass_rows
    chosen = torch.tensor([int(row) for row in rows], dtype=torch.int64, device=key.device)
    result = query.new_zeros(inputs.batch, inputs.heads, inputs.kv_length)
    if not len(chosen):
        return result
    bias = torch.where(lse > -torch.inf, -lse, 0.0)[..., chosen, None]  # rows without keys are masked everywhere
    as_keys = pad(torch.cat((query[:, :, chosen], bias), dim=-1), (0, 0, 1, 0))  # the further key is zeros
    value = _one_or_other(len(chosen), key)
    for part in torch.split(torch.arange(inputs.kv_length, device=key.device), _rows_at_a_time(inputs, len(chosen))):
        as_queries = pad(key[:, :, part], (0, 1), value=1.0).repeat_interleave(inputs.group, dim=1)
        visible = visible_tile(inputs, chosen, part)
        if visible is not None:
            visible = visible.expand(-1, -1, len(chosen), len(part)).transpose(-1, -2)
            visible = pad(visible, (1, 0), value=True)
        shares = _fused(as_queries, as_keys, value, visible, 1.0)
        result[..., part] = shares[..., 1] / shares[..., 0]
    return result


def _attend(
    inputs: AttentionInputs,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scale: float,
    *,
    rows: torch.Tensor | None = None,
    further_key: bool = False,
) -> torch.Tensor:
    """Torch's kernel under the rules of ``inputs``, for ``rows`` [R] (None: all): [B, Hq, R, width of value].

    ``further_key``: key and value start with one more position, which every row sees. ``value`` may be [Tk, C], the
    same for all heads.
    """
    further = int(further_key)
    plain = inputs.mask is None and inputs.sliding_window is None and rows is None
    if plain and not inputs.causal:
        return _fused(query, key, value, None, scale)
    if plain and inputs.q_offset == 0:  # torch's own alignment: row i sees the first i + 1 keys
        return _fused(pad(query, (0, 0, further, 0)), key, value, None, scale, causal=True)[:, :, further:]
    chosen = torch.arange(inputs.q_length, device=query.device) if rows is None else rows
    result = query.new_zeros(*query.shape[:2], len(chosen), value.shape[-1])
    done = 0
    for part in torch.split(chosen, _rows_at_a_time(inputs, inputs.kv_length)) if len(chosen) else ():
        start, stop = key_bounds(inputs, int(part.min()), int(part.max()))
        start = min(start, stop)
        keys = torch.arange(start, stop, device=query.device)
        visible = visible_tile(inputs, part, keys)
        if visible is not None:
            visible = pad(visible.expand(-1, -1, len(part), len(keys)), (further, 0), value=True)
        kept = slice(start + further, stop + further)
        part_key, part_value = key[:, :, kept], value[..., kept, :]
        if further:
            part_key = torch.cat((key[:, :, :1], part_key), dim=2)
            part_value = torch.cat((value[..., :1, :], part_value), dim=-2)
        if part_key.shape[2]:
            result[:, :, done : done + len(part)] = _fused(query[:, :, part], part_key, part_value, visible, scale)
        done += len(part)
    return result


def _rows_at_a_time(inputs: AttentionInputs, keys: int) -> int:
    planes = 1 if inputs.mask is None else inputs.mask.shape[0] * inputs.mask.shape[1]
    return max(1, _MASK_ELEMENTS // (planes * max(keys, 1)))


def _fused(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    visible: torch.Tensor | None,
    scale: float,
    *,
    causal: bool = False,
) -> torch.Tensor:
    """One call. Widths are made equal by zeros, and a multiple of 8: for others some kernels hold all scores."""
    columns = value.shape[-1]
    width = -(-max(query.shape[-1], columns) // 8) * 8
    value = value.expand(*key.shape[:2], *value.shape[-2:])
    query, key, value = (
        tensor if tensor.shape[-1] == width else pad(tensor, (0, width - tensor.shape[-1]))
        for tensor in (query, key, value)
    )
    output = scaled_dot_product_attention(
        query, key, value, attn_mask=visible, is_causal=causal, scale=scale, enable_gqa=query.shape[1] != key.shape[1]
    )
    return output[..., :columns]
