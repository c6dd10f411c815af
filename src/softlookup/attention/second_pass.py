"""Statistics that need each row's final lse, or a second look at the keys, tile by tile.

A key's weight is not known before every key of its row is summed, and each row then has its own factor: column and
span sums cannot be corrected afterwards, so the scores are computed once more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from softlookup.attention.inputs import check_inputs, check_positions, raise_for_non_finite
from softlookup.attention.masks import visible_keys
from softlookup.attention.stats import TopK
from softlookup.attention.tiles import ScoreTile, row_tiles, score_tiles, tile_shape
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softlookup.attention.inputs import AttentionInputs


def key_mass(  # noqa: PLR0913 - as attention()
    query: torch.Tensor,
    key: torch.Tensor,
    lse: torch.Tensor,
    *,
    causal: bool = False,
    q_offset: int | None = None,
    sliding_window: int | None = None,
    mask: torch.Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    rows: Sequence[int] | None = None,
) -> torch.Tensor:
    """Sum over ``rows`` (None: all) of the weights of every key, [B, Hq, Tk], given each row's final lse.

    For keys in parts: ``lse`` [B, Hq, Tq] is that over all parts (see ``AttentionStats.merge``), learned sinks
    included if there are any, and ``key`` one part; the results of the parts then follow one another.
    For a part that starts at key p, ``q_offset`` is the whole's minus p: its default holds for the whole only.
    Other arguments as in :func:`softlookup.attention.attention`. float32 (float64 for float64 inputs).

    Raises ``UsageError`` for arguments that do not fit, NaN or infinite inputs, or an lse of -inf for a row that
    sees keys here.
    """
    inputs = check_inputs(
        query, key, key, causal=causal, q_offset=q_offset, sliding_window=sliding_window,
        mask=mask, scale=scale, softcap=softcap,
    )  # fmt: skip
    raise_for_non_finite(inputs, names=("query", "key"))
    if rows is not None:
        check_positions("rows", rows, inputs.q_length)
    checked = _checked_lse(inputs, lse)
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (query, key, lse)):
        raise UsageError("key_mass computes no gradients", "call it under torch.no_grad(), or detach the inputs")
    return column_sums(inputs, checked, rows)


def column_sums(inputs: AttentionInputs, lse: torch.Tensor, rows: Sequence[int] | None) -> torch.Tensor:
    """Sum over ``rows`` (None: all) of exp(s - lse): [B, Hq, Tk]; tiles are added up in float64."""
    chosen = _positions(inputs, range(inputs.q_length) if rows is None else rows)
    sums = inputs.query.new_zeros((inputs.batch, inputs.heads, inputs.kv_length), dtype=torch.float64)
    q_tile, kv_tile = tile_shape(inputs, len(chosen))
    for part in row_tiles(chosen, q_tile):
        for tile in score_tiles(inputs, part, kv_tile):
            sums[..., tile.start : tile.stop] += _weights(tile, lse[..., part]).sum(2)
    return sums.to(inputs.compute_dtype)


def span_mass(
    inputs: AttentionInputs, lse: torch.Tensor, spans: Sequence[tuple[int, int]], rows: Sequence[int]
) -> torch.Tensor:
    """Sum of exp(s - lse) over each span of keys (start, stop), [B, Hq, rows, spans]; spans may overlap.

    The keys are cut at every start and stop, so that each score is added once whatever the number of spans.
    """
    device, dtype = inputs.query.device, inputs.compute_dtype
    chosen = _positions(inputs, rows)
    cuts = torch.tensor(sorted({position for span in spans for position in span}), dtype=torch.int64, device=device)
    result = inputs.query.new_zeros((inputs.batch, inputs.heads, len(chosen), len(spans)), dtype=dtype)
    if len(cuts) < 2:  # no spans, or only empty ones
        return result
    belongs = _segments_of_spans(cuts, spans).to(dtype)  # [segments, spans]
    q_tile, kv_tile = tile_shape(inputs, len(chosen))
    done = 0
    for part in row_tiles(chosen, q_tile):
        segments = result.new_zeros((inputs.batch, inputs.heads, len(part), len(cuts) - 1))
        for tile in score_tiles(inputs, part, kv_tile, keys=(int(cuts[0]), int(cuts[-1]))):
            of_key = torch.bucketize(tile.keys, cuts, right=True) - 1  # segment of each key
            first, last = int(of_key[0]), int(of_key[-1])
            inside = torch.arange(first, last + 1, device=device)
            one_hot = (of_key[:, None] == inside).to(dtype)  # [K, segments of this tile]
            segments[..., first : last + 1] += _weights(tile, lse[..., part]) @ one_hot
        result[:, :, done : done + len(part)] = segments @ belongs
        done += len(part)
    return result


def top_k(inputs: AttentionInputs, lse: torch.Tensor, k: int) -> TopK:
    """The k keys of the largest scores of every row, and their weights exp(s - lse)."""
    shape = (inputs.batch, inputs.heads, inputs.q_length, k)
    scores = inputs.query.new_full(shape, -torch.inf, dtype=inputs.compute_dtype)
    index = inputs.query.new_full(shape, -1, dtype=torch.int64)
    rows = _positions(inputs, range(inputs.q_length))
    q_tile, kv_tile = tile_shape(inputs, inputs.q_length)
    for part in row_tiles(rows, q_tile):
        best, where = scores[:, :, part], index[:, :, part]
        for tile in score_tiles(inputs, part, kv_tile):
            # earlier keys come first: equal scores are taken in the order of their positions
            best, where = _largest(
                torch.cat((best, tile.scores), -1), torch.cat((where, tile.keys.expand(tile.scores.shape)), -1), k
            )
        scores[:, :, part], index[:, :, part] = best, where
    seen = scores > -torch.inf
    weight = torch.where(seen, torch.exp(scores - _finite(lse)[..., None]), 0.0)
    return TopK(torch.where(seen, index, -1), weight, scores)


def _largest(scores: torch.Tensor, index: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The k largest along the last dimension, best first, the earlier of equals first (torch.topk takes any)."""
    found = torch.topk(scores, min(k + 1, scores.shape[-1]), dim=-1)
    last = found.values[..., k - 1 : k]
    if bool(((found.values[..., k:] == last) & (last > -torch.inf)).any()):  # equals on both sides of the cut: rare
        above, equal = scores > last, scores == last
        room = k - above.sum(-1, keepdim=True)
        chosen = above | (equal & (equal.cumsum(-1) <= room))  # exactly k in every row
        places = (
            torch.arange(scores.shape[-1], device=scores.device).expand_as(scores)[chosen].view(*last.shape[:-1], k)
        )
    else:
        places = found.indices[..., :k].sort(-1).values
    order = torch.sort(scores.gather(-1, places), dim=-1, descending=True, stable=True)
    return order.values, index.gather(-1, places.gather(-1, order.indices))


def _weights(tile: ScoreTile, lse: torch.Tensor) -> torch.Tensor:
    """exp(s - lse) of a tile, 0 where not visible; uses up its scores."""
    return tile.scores.sub_(_finite(lse)[..., None]).exp_()


def _finite(lse: torch.Tensor) -> torch.Tensor:
    """A row without keys has scores of -inf only: any finite lse gives it weights of 0."""
    return torch.where(lse > -torch.inf, lse, 0.0)


def _segments_of_spans(cuts: torch.Tensor, spans: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Bool [segments, spans]: segment cuts[i]..cuts[i+1] lies in the span."""
    bounds = torch.tensor(spans, dtype=torch.int64, device=cuts.device)
    return (cuts[:-1, None] >= bounds[:, 0]) & (cuts[1:, None] <= bounds[:, 1])


def _positions(inputs: AttentionInputs, rows: Sequence[int]) -> torch.Tensor:
    if isinstance(rows, range):
        return torch.arange(rows.start, rows.stop, device=inputs.query.device)
    return torch.tensor([int(row) for row in rows], dtype=torch.int64, device=inputs.query.device)


def _checked_lse(inputs: AttentionInputs, lse: torch.Tensor) -> torch.Tensor:
    shape = (inputs.batch, inputs.heads, inputs.q_length)
    if not isinstance(lse, torch.Tensor) or not lse.is_floating_point() or tuple(lse.shape) != shape:
        came = f"{lse.dtype} {list(lse.shape)}" if isinstance(lse, torch.Tensor) else type(lse).__name__
        raise UsageError(f"lse must be floats [B, Hq, Tq] = {list(shape)}, got {came}", "pass stats.lse of all keys")
    if lse.device != inputs.query.device:
        raise UsageError(f"lse is on {lse.device}, query on {inputs.query.device}", "move it to the same device")
    lse = lse.to(inputs.compute_dtype)
    if not bool((lse < torch.inf).all()):
        raise UsageError("lse must not be NaN or +inf", "pass stats.lse of all keys")
    if bool(((lse == -torch.inf) & (visible_keys(inputs) > 0)).any()):
        raise UsageError(
            "lse is -inf for a query row that sees keys here", "pass the lse over all parts, see AttentionStats.merge"
        )
    return lse
