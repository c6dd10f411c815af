"""One pass of online softmax by torch operations, on any device and in float64 too; not for finishing statistics.

Online softmax: Milakov and Gimelshein, 2018 (arXiv:1805.02867). The entropy sum and its merge: r is kept relative
to the running maximum, see :mod:`softlookup.attention.row_sums`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from softlookup.attention.row_sums import RowSums
from softlookup.attention.tiles import ScoreTile, row_tiles, score_tiles, tile_shape, tile_values

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.attention.stats import StatsRequest


def torch_row_pass(
    inputs: AttentionInputs,
    request: StatsRequest | None,
    *,
    with_output: bool,
    q_tile: int | None = None,
    kv_tile: int | None = None,
) -> tuple[RowSums, torch.Tensor | None]:
    """The row sums that ``request`` needs, and with ``with_output`` sum exp(s - m) v as [B, Hq, Tq, Dv].

    Both in the compute dtype. Memory beside the result is a few tiles of ``q_tile`` x ``kv_tile`` scores over
    all heads; NaN in what a row sees stays NaN in its sums.
    """
    q_tile = q_tile or tile_shape(inputs, inputs.q_length)[0]
    kv_tile = kv_tile or tile_shape(inputs, min(q_tile, inputs.q_length))[1]
    sums = _blank(inputs, request)
    output = None
    if with_output:
        shape = (inputs.batch, inputs.heads, inputs.q_length, inputs.value.shape[-1])
        output = inputs.query.new_zeros(shape, dtype=inputs.compute_dtype)
    sink_keys = _sink_positions(inputs, request)
    for rows in row_tiles(torch.arange(inputs.q_length, device=inputs.query.device), q_tile):
        first, stop = int(rows[0]), int(rows[-1]) + 1
        block = _rows_of(sums, first, stop)
        for tile in score_tiles(inputs, rows, kv_tile, unscaled=sums.unscaled is not None):
            shares, factor = _add_tile(block, tile, sink_keys)
            if output is not None:
                part = output[:, :, first:stop]
                part.mul_(factor[..., None]).add_(_weighted_values(inputs, tile, shares))
    return sums, output


def _blank(inputs: AttentionInputs, request: StatsRequest | None) -> RowSums:
    like = inputs.query.new_zeros((inputs.batch, inputs.heads, inputs.q_length), dtype=inputs.compute_dtype)
    sums = RowSums(torch.full_like(like, -torch.inf), like)
    if request is not None:
        sums.centred = torch.zeros_like(like) if request.entropy or request.normalized_entropy else None
        sums.argmax = torch.full_like(like, -1, dtype=torch.int64) if request.argmax else None
        sums.sink = torch.zeros_like(like) if request.sink_keys(inputs.kv_length) is not None else None
        sums.position = torch.zeros_like(like) if request.distance else None
        sums.unscaled = torch.zeros_like(like) if request.max_score else None
    return sums


def _rows_of(sums: RowSums, first: int, stop: int) -> RowSums:
    """Views of the rows first..stop-1."""
    fields = (sums.maximum, sums.total, sums.centred, sums.argmax, sums.sink, sums.position, sums.unscaled)
    return RowSums(*(None if field is None else field[..., first:stop] for field in fields))  # type: ignore[arg-type]


def _sink_positions(inputs: AttentionInputs, request: StatsRequest | None) -> torch.Tensor | None:
    positions = None if request is None else request.sink_keys(inputs.kv_length)
    return None if positions is None else torch.tensor(sorted(positions), dtype=torch.int64)


def _add_tile(sums: RowSums, tile: ScoreTile, sink_keys: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Add a tile in place; returns exp(s - m) [B, Hq, R, K] and the factor [B, Hq, R] for what is summed already."""
    highest = tile.scores.amax(-1)
    maximum = torch.maximum(sums.maximum, highest)
    base = torch.where(maximum == -torch.inf, 0.0, maximum)  # never -inf - -inf
    before = sums.total != 0  # also NaN
    drop = torch.where(before, sums.maximum - base, 0.0)
    factor = torch.where(before, torch.exp(drop), 0.0)
    if sums.argmax is not None:
        here = torch.where(tile.scores == highest[..., None], tile.keys, tile.stop).amin(-1)
        sums.argmax.copy_(torch.where(highest > sums.maximum, here, sums.argmax))
    if sums.unscaled is not None and tile.unscaled is not None:
        largest = tile.unscaled.abs()
        if tile.visible is not None:
            largest = torch.where(tile.visible, largest, 0.0)
        sums.unscaled.copy_(torch.maximum(sums.unscaled, largest.amax(-1)))
    shifted = tile.scores - base[..., None]
    shares = torch.exp(shifted)
    if sums.centred is not None:
        terms = shifted.mul_(shares)
        if tile.visible is not None:
            terms = torch.where(tile.visible, terms, 0.0)
        sums.centred.add_(drop * sums.total).mul_(factor).add_(terms.sum(-1))
    sums.total.mul_(factor).add_(shares.sum(-1))
    if sums.sink is not None and sink_keys is not None:
        inside = sink_keys[(sink_keys >= tile.start) & (sink_keys < tile.stop)] - tile.start
        sums.sink.mul_(factor).add_(shares[..., inside.to(shares.device)].sum(-1))
    if sums.position is not None:
        sums.position.mul_(factor).add_(shares @ tile.keys.to(shares.dtype))
    sums.maximum.copy_(maximum)
    return shares, factor


def _weighted_values(inputs: AttentionInputs, tile: ScoreTile, shares: torch.Tensor) -> torch.Tensor:
    """Sum exp(s - m) v over the tile's keys: [B, Hq, R, Dv]."""
    batch, heads, rows, keys = shares.shape
    grouped = shares.view(batch, inputs.kv_heads, inputs.group * rows, keys)
    return (grouped @ tile_values(inputs, tile)).view(batch, heads, rows, -1)
