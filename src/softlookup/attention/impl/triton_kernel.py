"""The fused forward kernel of ``impl="triton"``: output and row sums in one pass; not for checks and launching.

One program computes ``block_m`` rows of one query head: FlashAttention-2 (Dao, 2023, arXiv:2307.08691) with the sums
of :class:`softlookup.attention.row_sums.RowSums`. Scores are in base 2 (times log2 e) inside, as the hardware has
exp2, and in natural-log units in what is stored. Triton decides on import whether the kernel is compiled or
interpreted (TRITON_INTERPRET=1).

What keeps the statistics cheap:

- Sums are kept per lane: columns 8i + 2l and 8i + 2l + 1 of a score tile belong to lane l of 4, which is one thread
  in the layout of the tensor cores, so that only the row maximum needs an exchange between threads.
- The loop does not look for the argmax. Per row and group of columns it remembers the first tile of the largest
  score, and at the end the group that won is computed again (:func:`_first_maximum`).
- The sink keys are a few columns, computed once more when the maximum is known (:func:`_sink_mass`).
"""

from __future__ import annotations

import triton
import triton.language as tl

from softlookup.attention.impl.triton_tiles import (
    GROUPS,
    NO_KEY,
    PARTS,
    Config,
    Limits,
    Plane,
    State,
    Strided,
    Sums,
    add_all_tiles,
    load_tile,
    log2_scores,
    sees,
)

__all__ = ["Config", "Strided", "Sums", "forward"]

_LOG2_E = tl.constexpr(1.4426950408889634)
_LN_2 = tl.constexpr(0.6931471805599453)


# not specialized: a new length must not compile a new kernel
@triton.jit(do_not_specialize=["sink_count", "q_length", "kv_length", "start_shift", "stop_shift", "row_shift"])
def forward(
    query: Strided,
    key: Strided,
    value: Strided,
    mask: Strided,  # bytes
    sinks: tl.tensor,  # pointer to fp32 [Hq], or None
    sink_keys: tl.tensor,  # pointer to int32 [sink_count]
    sink_count: int,
    output: tl.tensor,  # pointer to [B, Hq, Tq, Dv], contiguous
    sums: Sums,
    flag: tl.tensor,  # pointer to int32: set to 1 when an output is not finite
    heads: int,
    group: int,
    q_length: int,
    kv_length: int,
    start_shift: int,
    stop_shift: int,
    row_shift: int,
    scale: float,
    cap: float,
    config: tl.constexpr,
) -> None:
    """A program per block of rows of a batch entry and query head, all on the grid's axis 0.

    Row i sees the keys from i + start_shift (windowed) to before i + stop_shift (causal); ``scale`` and ``cap`` are
    such that scores come out in base 2, see :func:`log2_scores`.
    """
    limits = Limits(q_length, kv_length, start_shift, stop_shift, row_shift, scale, cap)
    # the last rows of a causal call see the most keys: they start first
    blocks = tl.cdiv(limits.q_length, config.block_m)
    first_row = (blocks - 1 - tl.program_id(0) % blocks) * config.block_m
    rows = first_row + tl.arange(0, config.block_m)
    number = tl.program_id(0) // blocks
    batch = (number // heads).to(tl.int64)  # 64 bits: offsets pass 2^31 elements
    head = (number % heads).to(tl.int64)
    plane = Plane(
        _part(query, batch, head),
        _part(key, batch, head // group),
        _part(value, batch, head // group),
        _part(mask, batch, head),
        limits,
    )
    inside = rows < limits.q_length
    q = load_tile(plane.query, 0, rows, inside, config.dim, config.block_d, True)
    state = add_all_tiles(q, first_row, rows, plane, sums, config)

    base = tl.where(state.maximum == float("-inf"), 0.0, state.maximum)
    first_at = number.to(tl.int64) * limits.q_length
    at = first_at + rows
    total = tl.sum(state.total, 1)
    tl.store(sums.maximum + at, state.maximum * _LN_2, mask=inside)
    tl.store(sums.total + at, total, mask=inside)
    if sums.centred is not None:
        tl.store(sums.centred + at, tl.sum(state.centred, 1) * _LN_2, mask=inside)
    if sums.distance is not None:
        tl.store(sums.distance + at, tl.sum(state.distance, 1), mask=inside)
    if sums.unscaled is not None:
        tl.store(sums.unscaled + at, state.unscaled, mask=inside)
    logit = None if sinks is None else tl.load(sinks + head)
    _store_output(state.output, total, base, logit, output + first_at * config.value_dim, rows, inside, flag, config)
    if sums.sink is not None:
        tl.store(sums.sink + at, _sink_mass(q, base, rows, plane, sink_keys, sink_count, config), mask=inside)
    if sums.argmax is not None:
        tl.store(sums.argmax + at, _first_maximum(state, rows, inside, plane, config), mask=inside)


@triton.jit
def _part(tensor: Strided, batch: tl.tensor, head: tl.tensor) -> Strided:
    """The tensor from one batch entry and head on."""
    part = tensor
    if tensor.pointer is not None:
        part = Strided(tensor.pointer + batch * tensor.strides[0] + head * tensor.strides[1], tensor.strides)
    return part


@triton.jit
def _store_output(
    weighted: tl.tensor,
    total: tl.tensor,
    base: tl.tensor,
    logit: tl.tensor,
    output: tl.tensor,
    rows: tl.tensor,
    inside: tl.tensor,
    flag: tl.tensor,
    config: tl.constexpr,
) -> None:
    """Store sum exp(s - m) v over the sum of weights, ``logit`` among them; 0 for a row without keys."""
    empty = total == 0.0  # also false for NaN
    if logit is not None:
        total += tl.exp2(logit * _LOG2_E - base)
    result = weighted * tl.where(empty, 0.0, 1.0 / tl.where(empty, 1.0, total))[:, None]
    bad = tl.where(tl.abs(result) < float("inf"), 0, 1)
    tl.store(flag, 1, mask=tl.max(tl.max(bad, 1), 0) > 0)
    dims = tl.arange(0, config.block_dv)
    at = output + rows.to(tl.int64)[:, None] * config.value_dim + dims[None, :]
    stored = inside[:, None] & (dims < config.value_dim)[None, :]
    tl.store(at, result.to(output.dtype.element_ty), mask=stored)


@triton.jit
def _sink_mass(
    q: tl.tensor,
    base: tl.tensor,
    rows: tl.tensor,
    plane: Plane,
    sink_keys: tl.tensor,
    sink_count: tl.tensor,
    config: tl.constexpr,
) -> tl.tensor:
    """Sum of exp(s - m) over the sink keys, [rows]."""
    mass = tl.zeros([config.block_m], tl.float32)
    for first in tl.range(0, sink_count, 16):  # 16: the least that tl.dot takes
        slots = first + tl.arange(0, 16)
        keys = tl.load(sink_keys + slots, mask=slots < sink_count, other=NO_KEY)
        k = load_tile(plane.key, 0, keys, keys < plane.limits.kv_length, config.dim, config.block_d, True)
        scores = log2_scores(tl.dot(q, tl.trans(k), input_precision=config.precision), plane.limits, config)
        if config.folded:
            scores = scores * plane.limits.scale
        visible = sees(rows[:, None], keys[None, :], plane, config)
        mass += tl.sum(tl.where(visible, tl.exp2(scores - base[:, None]), 0.0), 1)
    return mass


@triton.jit
def _first_maximum(state: State, rows: tl.tensor, inside: tl.tensor, plane: Plane, config: tl.constexpr) -> tl.tensor:
    """The first key of the largest score, [rows]: looks at the columns of the groups that hold it.

    A row has one such group unless scores tie, so that the loop seldom turns twice.
    """
    width: tl.constexpr = config.block_n // PARTS  # columns of a part
    found = tl.full([config.block_m], NO_KEY, tl.int32)
    numbers = tl.arange(0, GROUPS)
    holds = (state.best == state.maximum[:, None]) & inside[:, None] & (state.best_tile < NO_KEY)
    tile = tl.min(tl.where(holds, state.best_tile, NO_KEY), 1)
    waiting = (holds & (state.best_tile == tile[:, None])).to(tl.int32)
    # not the query tile of the main loop, which would have to stay in registers
    q = load_tile(plane.query, 0, rows, inside, config.dim, config.block_d, True).to(tl.float32)
    while tl.max(tl.max(waiting, 1), 0) > 0:
        number = tl.min(tl.where(waiting > 0, numbers[None, :], GROUPS), 1)
        active = number < GROUPS
        first = tile + number // 4 * width + number % 4 * 2
        largest = tl.full([config.block_m], float("-inf"), tl.float32)
        where = tl.full([config.block_m], NO_KEY, tl.int32)
        keys = tl.where(active, first, NO_KEY)
        k = load_tile(plane.key, 0, keys, keys < plane.limits.kv_length, config.dim, config.block_d, True)
        for step in tl.range(1, width // 4 + 1):
            # the next column is on its way while this one is multiplied; the last one is not used
            next_keys = tl.where(active, first + step // 2 * 8 + step % 2, NO_KEY)
            inside_next = next_keys < plane.limits.kv_length
            next_k = load_tile(plane.key, 0, next_keys, inside_next, config.dim, config.block_d, True)
            scores = log2_scores(tl.sum(q * k.to(tl.float32), 1), plane.limits, config)
            scores = tl.where(sees(rows, keys, plane, config), scores, float("-inf"))
            where = tl.where(scores > largest, keys, where)
            largest = tl.maximum(largest, scores)
            keys = next_keys
            k = next_k
        found = tl.minimum(found, where)
        waiting = tl.where(numbers[None, :] == number[:, None], 0, waiting)
    return found
