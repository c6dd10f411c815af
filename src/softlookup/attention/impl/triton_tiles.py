"""The pass over the tiles of keys for one block of rows; part of the kernel in triton_kernel, which see.

Scores are in base 2 here (times log2 e), as the hardware has exp2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import triton
import triton.language as tl

NO_KEY = tl.constexpr(2**31 - 1)
# groups of columns whose largest score is tracked: parts of the tile x lanes
PARTS = tl.constexpr(2)
GROUPS = tl.constexpr(2 * 4)


class Strided(NamedTuple):
    """A tensor of 4 dimensions in memory: pointer (None where there is none) and strides."""

    pointer: Any
    strides: Any


class Sums(NamedTuple):
    """Pointers to the results [B, Hq, Tq], None for what is not wanted; as in ``RowSums``, but for the distance.

    That is sum exp(s - m) (i + row_shift - j), which loses no digits for nearby keys of far rows.
    """

    maximum: Any
    total: Any
    centred: Any
    argmax: Any
    sink: Any
    distance: Any
    unscaled: Any


class Config(NamedTuple):
    """What the kernel is compiled for.

    ``folded``: scores are a positive factor times q.k, applied together with the subtraction of the maximum.
    """

    dim: int
    value_dim: int
    block_m: int
    block_n: int
    block_d: int
    block_dv: int
    causal: bool
    windowed: bool
    folded: bool
    capped: bool
    precision: str


class Limits(NamedTuple):
    """Numbers of the call, as in :func:`forward`."""

    q_length: Any
    kv_length: Any
    start_shift: Any
    stop_shift: Any
    row_shift: Any
    scale: Any
    cap: Any


class Plane(NamedTuple):
    """One batch entry and head: pointers to its first elements."""

    query: Strided
    key: Strided
    value: Strided
    mask: Strided
    limits: Limits


class State(NamedTuple):
    """Running sums of the rows; those per lane, [block_m, 4], are added up at the end."""

    output: Any  # [block_m, block_dv]
    maximum: Any  # [block_m]
    total: Any  # per lane
    centred: Any  # per lane
    distance: Any  # per lane
    unscaled: Any  # [block_m]
    best: Any  # [block_m, groups]: the largest score, and the first key of its tile
    best_tile: Any


@triton.jit
def add_all_tiles(
    q: tl.tensor,
    first_row: tl.tensor,
    rows: tl.tensor,
    plane: Plane,
    sums: Sums,
    config: tl.constexpr,
) -> State:
    """Sums over the tiles that some row sees; those that all rows see whole need no visibility, and are most of them.

    With a mask every tile is looked at.
    """
    limits = plane.limits
    start = 0
    full_start = 0
    stop = limits.kv_length
    full_stop = limits.kv_length
    if config.windowed:
        start = tl.maximum(first_row + limits.start_shift, 0) // config.block_n * config.block_n
        last_start = tl.maximum(first_row + config.block_m - 1 + limits.start_shift, 0)
        full_start = tl.cdiv(last_start, config.block_n) * config.block_n
    if config.causal:
        stop = tl.minimum(stop, tl.minimum(first_row + config.block_m, limits.q_length) - 1 + limits.stop_shift)
        full_stop = tl.minimum(full_stop, first_row + limits.stop_shift)
    full_stop = tl.maximum(full_stop, 0) // config.block_n * config.block_n
    full_start = tl.minimum(full_start, tl.maximum(full_stop, start))
    full_stop = tl.maximum(full_stop, full_start)
    state = _empty_state(config)
    if plane.mask.pointer is None:
        if config.windowed:
            state = _add_tiles(state, start, full_start, q, rows, plane, sums, config, True)
        state = _add_tiles(state, full_start, full_stop, q, rows, plane, sums, config, False)
        state = _add_tiles(state, full_stop, stop, q, rows, plane, sums, config, True)
    else:
        state = _add_tiles(state, start, stop, q, rows, plane, sums, config, True)
    return state


@triton.jit
def _empty_state(config: tl.constexpr) -> State:
    sums = tl.zeros([config.block_m, 4], tl.float32)
    return State(
        tl.zeros([config.block_m, config.block_dv], tl.float32),
        tl.full([config.block_m], float("-inf"), tl.float32),
        sums,
        sums,
        sums,
        tl.zeros([config.block_m], tl.float32),
        tl.full([config.block_m, GROUPS], float("-inf"), tl.float32),
        tl.full([config.block_m, GROUPS], NO_KEY, tl.int32),
    )


@triton.jit
def _add_tiles(
    state: State,
    start: tl.tensor,
    stop: tl.tensor,
    q: tl.tensor,
    rows: tl.tensor,
    plane: Plane,
    sums: Sums,
    config: tl.constexpr,
    bounded: tl.constexpr,
) -> State:
    """Add the tiles from ``start``, a multiple of block_n, to ``stop``; ``bounded``: not every row sees all of them."""
    limits = plane.limits
    columns = tl.arange(0, config.block_n)
    for first in tl.range(start, stop, config.block_n):
        tile = tl.multiple_of(first, config.block_n)
        inside = tile + columns < limits.kv_length
        k = load_tile(plane.key, tile, columns, inside, config.dim, config.block_d, bounded)
        products = tl.dot(q, tl.trans(k), input_precision=config.precision)
        scores = log2_scores(products, limits, config)
        magnitudes = tl.abs(products)
        if bounded:
            visible = sees(rows[:, None], (tile + columns)[None, :], plane, config)
            scores = tl.where(visible, scores, float("-inf"))
            magnitudes = tl.where(visible, magnitudes, 0.0)
        unscaled = state.unscaled
        if sums.unscaled is not None:
            unscaled = tl.maximum(unscaled, tl.max(magnitudes, 1))

        best = state.best
        best_tile = state.best_tile
        largest = _largest(scores, limits, config)  # [block_m, groups]
        if sums.argmax is not None:
            best_tile = tl.where(largest > best, tile, best_tile)
            best = tl.maximum(best, largest)
        maximum = tl.maximum(state.maximum, tl.max(largest, 1))
        base = maximum
        if bounded:
            base = tl.where(maximum == float("-inf"), 0.0, maximum)  # never -inf - -inf
        shifted = tl.fma(scores, limits.scale, -base[:, None]) if config.folded else scores - base[:, None]
        weights = tl.exp2(shifted)
        drop = state.maximum - base
        factor = tl.exp2(drop)[:, None]
        tile_total = _lane_sums(weights, config)
        centred = state.centred
        if sums.centred is not None:
            if bounded:
                shifted = tl.maximum(shifted, -200.0)  # 0 times -inf is not 0; exp2(-200) is
            drop = tl.where(state.maximum == float("-inf"), 0.0, drop)[:, None]
            centred = factor * (centred + drop * state.total) + _lane_sums(weights * shifted, config)
        distance = state.distance
        if sums.distance is not None:
            # from the start of the tile, where the numbers are small, to its columns
            far = (rows + limits.row_shift - tile).to(tl.float32)[:, None] * tile_total
            near = _lane_sums(weights * columns.to(tl.float32)[None, :], config)
            distance = factor * distance + (far - near)
        v = load_tile(plane.value, tile, columns, inside, config.value_dim, config.block_dv, bounded)
        output = tl.dot(weights.to(v.dtype), v, state.output * factor, input_precision=config.precision)
        total = factor * state.total + tile_total
        state = State(output, maximum, total, centred, distance, unscaled, best, best_tile)
    return state


@triton.jit
def load_tile(
    tensor: Strided,
    start: tl.tensor,
    rows: tl.tensor,
    inside: tl.tensor,
    dim: tl.constexpr,
    block: tl.constexpr,
    bounded: tl.constexpr,
) -> tl.tensor:
    """Rows start + rows as [rows, block]; zeros beyond ``dim``, and with ``bounded`` where not ``inside``."""
    dims = tl.arange(0, block)
    offsets = rows.to(tl.int64)[:, None] * tensor.strides[2] + dims.to(tl.int64)[None, :] * tensor.strides[3]
    at = tensor.pointer + tl.cast(start, tl.int64) * tensor.strides[2] + offsets
    if bounded and dim != block:
        tile = tl.load(at, mask=inside[:, None] & (dims < dim)[None, :], other=0.0)
    elif bounded:
        tile = tl.load(at, mask=inside[:, None], other=0.0)
    elif dim != block:
        tile = tl.load(at, mask=(dims < dim)[None, :], other=0.0)
    else:
        tile = tl.load(at)
    return tile


@triton.jit
def sees(rows: tl.tensor, keys: tl.tensor, plane: Plane, config: tl.constexpr) -> tl.tensor:
    """Bool: the rows see the keys, positions of shapes that broadcast."""
    limits = plane.limits
    visible = keys < limits.kv_length
    if config.causal:
        visible = visible & (keys < rows + limits.stop_shift)
    if config.windowed:
        visible = visible & (keys >= rows + limits.start_shift)
    if plane.mask.pointer is not None:
        at = rows.to(tl.int64) * plane.mask.strides[2] + keys.to(tl.int64) * plane.mask.strides[3]
        inside = (rows < limits.q_length) & (keys < limits.kv_length)
        visible = visible & (tl.load(plane.mask.pointer + at, mask=inside, other=0) != 0)
    return visible


@triton.jit
def log2_scores(products: tl.tensor, limits: Limits, config: tl.constexpr) -> tl.tensor:
    """Scores in base 2 from q.k, up to the factor of :func:`_largest` when folded.

    Capped: c tanh(x) = c - 2c / (1 + e^2x) with e^2x = exp2(q.k scale); e^2x = inf and 0 give c and -c.
    """
    scores = products
    if config.capped:
        scores = limits.cap - 2.0 * limits.cap / (1.0 + tl.exp2(products * limits.scale))
    elif not config.folded:
        scores = products * limits.scale
    return scores


@triton.jit
def _largest(scores: tl.tensor, limits: Limits, config: tl.constexpr) -> tl.tensor:
    """The largest score of each group of columns [rows, groups] of a tile, in base 2."""
    parts = tl.reshape(scores, [config.block_m, PARTS, config.block_n // (8 * PARTS), 4, 2])
    largest = tl.reshape(tl.max(tl.max(parts, 4), 2), [config.block_m, GROUPS])
    if config.folded:
        largest = largest * limits.scale
    return largest


@triton.jit
def _lane_sums(tile: tl.tensor, config: tl.constexpr) -> tl.tensor:
    """Sum of each lane's columns: [rows, block_n] to [rows, 4]."""
    lanes = tl.reshape(tile, [config.block_m, config.block_n // 8, 4, 2])
    return tl.sum(tl.sum(lanes, 3), 1)
