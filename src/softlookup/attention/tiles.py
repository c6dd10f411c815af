"""Scores of one tile of (query rows, keys): what every pass over the keys in bounded memory walks through.

A tile holds the scores of some rows, all heads, over a range of keys; nothing here keeps more than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from softlookup.attention.masks import key_bounds, visible_tile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from softlookup.attention.inputs import AttentionInputs

# scores of one tile over all heads: 4 MiB in float32, a few of which live at once
TILE_SCORES = 2**20
Q_TILE = 256


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTile:
    """Scores [B, Hq, R, K] of R rows over the keys start..stop-1, -inf where not visible.

    ``visible`` bool, broadcastable to scores, None when every row sees every key; ``unscaled`` q.k before
    scale and cap, only where asked for.
    """

    start: int
    stop: int
    scores: torch.Tensor
    visible: torch.Tensor | None
    unscaled: torch.Tensor | None

    @property
    def keys(self) -> torch.Tensor:
        """Positions [K]."""
        return torch.arange(self.start, self.stop, device=self.scores.device)


def tile_shape(inputs: AttentionInputs, rows: int) -> tuple[int, int]:
    """Rows and keys of a tile, so that it holds about ``TILE_SCORES`` scores over all heads and batch entries."""
    planes = inputs.batch * inputs.heads
    q_tile = max(1, min(rows, Q_TILE, TILE_SCORES // (planes * Q_TILE)))
    return q_tile, max(1, min(inputs.kv_length, TILE_SCORES // (planes * q_tile)))


def row_tiles(rows: torch.Tensor, q_tile: int) -> Iterator[torch.Tensor]:
    """The rows [R] in groups of ``q_tile``; nothing for no rows."""
    if len(rows):
        yield from torch.split(rows, q_tile)


def score_tiles(
    inputs: AttentionInputs,
    rows: torch.Tensor,
    kv_tile: int,
    *,
    keys: tuple[int, int] | None = None,
    unscaled: bool = False,
) -> Iterator[ScoreTile]:
    """Tiles of the query rows [R] over ascending keys; keys that no row sees by position are not visited.

    ``keys``: half-open range to stay within. Query head h reads key head h // group, without repeating keys:
    the group's rows are stacked as rows of one product.
    """
    first, last = int(rows.min()), int(rows.max())
    start, stop = key_bounds(inputs, first, last)
    if keys is not None:
        start, stop = max(start, keys[0]), min(stop, keys[1])
    if start >= stop:
        return
    query = inputs.query[:, :, rows].to(inputs.compute_dtype)
    # scale folded into the query saves a pass over the scores
    query = query if unscaled else query * inputs.scale
    grouped = query.reshape(inputs.batch, inputs.kv_heads, inputs.group * len(rows), -1)  # [B, Hkv, group R, D]
    for tile_start in range(start, stop, kv_tile):
        tile_stop = min(tile_start + kv_tile, stop)
        key = inputs.key[:, :, tile_start:tile_stop].to(inputs.compute_dtype)
        product = (grouped @ key.transpose(-1, -2)).view(inputs.batch, inputs.heads, len(rows), -1)
        scores = inputs.scale * product if unscaled else product
        if inputs.softcap is not None:
            scores = (scores / inputs.softcap).tanh_().mul_(inputs.softcap)
        visible = _visible(inputs, rows, (first, last), (tile_start, tile_stop))
        if visible is not None:
            scores = torch.where(visible, scores, -torch.inf)
        yield ScoreTile(tile_start, tile_stop, scores, visible, product if unscaled else None)


def tile_values(inputs: AttentionInputs, tile: ScoreTile) -> torch.Tensor:
    """Values of the tile's keys in the compute dtype: [B, Hkv, K, Dv]."""
    return inputs.value[:, :, tile.start : tile.stop].to(inputs.compute_dtype)


def _visible(
    inputs: AttentionInputs, rows: torch.Tensor, row_range: tuple[int, int], keys: tuple[int, int]
) -> torch.Tensor | None:
    """As ``visible_tile``, but None for a tile well inside the visible band, which most tiles are."""
    if inputs.mask is None:
        past = not inputs.causal or keys[1] - 1 <= row_range[0] + inputs.q_offset
        near = inputs.sliding_window is None or keys[0] > row_range[1] + inputs.q_offset - inputs.sliding_window
        if past and near:
            return None
    return visible_tile(inputs, rows, torch.arange(*keys, device=rows.device))
