"""Which keys a query sees: causal, sliding window and mask as one rule, for any tile; never for the whole [Tq, Tk]."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs

# rows of a mask that are counted at a time
_ROWS = 1024


def key_bounds(inputs: AttentionInputs, first_row: int, last_row: int) -> tuple[int, int]:
    """Half-open range of keys outside which no row of first_row..last_row sees anything (mask not considered)."""
    start, stop = 0, inputs.kv_length
    if inputs.causal:
        stop = min(stop, last_row + inputs.q_offset + 1)
    if inputs.sliding_window is not None:
        start = max(start, first_row + inputs.q_offset - inputs.sliding_window + 1)
    return min(start, inputs.kv_length), max(stop, 0)


def visible_tile(inputs: AttentionInputs, rows: torch.Tensor, keys: torch.Tensor) -> torch.Tensor | None:
    """Bool [1 or B, 1 or Hq, rows or 1, keys], True = attend; None when every row sees every key.

    rows [R], keys [K]: positions in 0..Tq-1 and 0..Tk-1.
    """
    visible: torch.Tensor | None = None
    at = (rows + inputs.q_offset)[:, None]
    if inputs.causal:
        visible = keys[None] <= at
    if inputs.sliding_window is not None:
        near = keys[None] > at - inputs.sliding_window
        visible = near if visible is None else visible & near
    if visible is not None:
        visible = visible[None, None]
    if inputs.mask is not None:
        mask = inputs.mask
        if mask.shape[2] > 1:
            mask = mask[:, :, rows]
        if mask.shape[3] > 1:
            mask = mask[..., keys]
        visible = mask if visible is None else visible & mask
    return visible


def visible_keys(inputs: AttentionInputs) -> torch.Tensor:
    """Number of keys that each query sees: int64 [1 or B, 1 or Hq, Tq]; O(Tq) memory beside the mask."""
    device = inputs.query.device
    rows = torch.arange(inputs.q_length, device=device)
    if inputs.mask is None:
        at = rows + inputs.q_offset
        stop = at + 1 if inputs.causal else torch.full_like(at, inputs.kv_length)
        start = torch.zeros_like(at) if inputs.sliding_window is None else at - inputs.sliding_window + 1
        stop, start = stop.clamp(0, inputs.kv_length), start.clamp(0, inputs.kv_length)
        return (stop - start).clamp(min=0)[None, None]
    keys = torch.arange(inputs.kv_length, device=device)
    counts = []
    for part in torch.split(rows, _ROWS):
        tile = visible_tile(inputs, part, keys)
        if tile is None:
            raise AssertionError("a mask always gives a tile")
        counts.append(tile.expand(*tile.shape[:2], len(part), len(keys)).sum(-1))
    return torch.cat(counts, dim=-1)
