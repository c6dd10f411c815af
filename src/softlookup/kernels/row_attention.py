"""Attention of one query row over all keys, for decoding: keys and values are read once.

The keys are cut into pieces of 256. One task computes one piece for the query heads that share a key/value head:
the largest score m, l = sum of 2^(s - m), and o = sum of 2^(s - m) v. A second task per query head joins the pieces
(online softmax: Milakov and Gimelshein 2018, arXiv 1805.02867). The pieces do not depend on the number of threads,
so neither does the result. Scores are in units of log2. Both are tasks of :mod:`softlookup.kernels.tasks`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.kernels.compiler import CompiledFunction, compile_function, host_shape
from softlookup.kernels.tasks import tasks_of
from softlookup.kernels.vector_code import F32, I8, I64, MINUS_INF, Value, VectorCode, ir

if TYPE_CHECKING:
    import numpy.typing as npt

PIECE_KEYS = 256

# of a piece, after the address of its function; addresses of float32 unless said otherwise
PIECE_PARAMETERS = (
    # at the first head of the group, key/value head and piece
    "query", "key", "value", "state",
    # number of the piece; int64 cells: keys first..last - 1 are seen
    "piece", "first", "last",
    # one factor: scale * log2(e)
    "factor",
    # row strides of key and value, and between the states of two heads, in floats
    "key_t", "value_t", "state_h",
    # bytes, one per key: 0 = hidden; only with a mask
    "mask",
)  # fmt: skip
JOIN_PARAMETERS = ("state", "output", "first", "last")


@dataclass(frozen=True, slots=True)
class RowShape:
    """What a kernel is compiled for: ``group`` query heads per key/value head, ``dim`` numbers per head."""

    dim: int
    group: int
    masked: bool = False

    @property
    def lanes(self) -> int:
        """Floats of a vector: a power of two that divides ``dim``, at most what the processor has."""
        lanes = host_shape().lanes
        while self.dim % lanes:
            lanes //= 2
        return lanes

    @property
    def state_floats(self) -> int:
        """Floats of the state of one head and piece: o, then m and l."""
        return self.dim + 2


@functools.cache
def piece_kernel(shape: RowShape) -> CompiledFunction:
    """The kernel of one piece; made once per process and shape."""
    return compile_function(_Piece(shape).emit(), "row_attention")


@functools.cache
def join_kernel(shape: RowShape) -> CompiledFunction:
    """The kernel that joins the pieces of one query head."""
    return compile_function(_Join(shape).emit(), "join")


def row_tasks(
    shape: RowShape, kv_heads: int, pieces: int, *, state: int, first: int, last: int, factor: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Tasks of up to ``pieces`` pieces, all heads of the first piece first, and tasks of the joins.

    The arguments after ``pieces`` are addresses; the state has [Hq, pieces, state_floats]. Columns 1 of the pieces
    (query) and 2 of the joins (output) are offsets, to which the caller adds the address; key, value, their strides
    and the mask are left to the caller.
    """
    piece, head = (part.ravel() for part in np.mgrid[:pieces, :kv_heads])
    floats, group = shape.state_floats, shape.group
    tasks = tasks_of(piece_kernel(shape), len(piece))
    tasks[:, 1] = 4 * shape.dim * group * head
    tasks[:, 4] = state + 4 * floats * (pieces * group * head + piece)
    tasks[:, 5] = piece
    tasks[:, 6:9] = first, last, factor
    tasks[:, 11] = pieces * floats
    heads = np.arange(kv_heads * group)
    joins = tasks_of(join_kernel(shape), len(heads))
    joins[:, 1] = state + 4 * floats * pieces * heads
    joins[:, 2] = 4 * shape.dim * heads
    joins[:, 3:5] = first, last
    return tasks, joins


class _Piece:
    def __init__(self, shape: RowShape) -> None:
        self.shape = shape
        self.c = VectorCode("row_attention", shape.lanes)
        self.p = {name: self.c.parameter(index) for index, name in enumerate(PIECE_PARAMETERS, 1)}
        self.parts = range(0, shape.dim, shape.lanes)

    def emit(self) -> str:
        c, p = self.c, self.p
        room = ir.ArrayType(F32, self.shape.group * PIECE_KEYS)
        slot = ir.IRBuilder(c.function.entry_basic_block).alloca(room)
        slot.align = 64
        self.scores = c.b.ptrtoint(slot, I64)
        start = c.mul(p["piece"], PIECE_KEYS)
        self.j0 = c.larger(c.load(p["first"], I64), start)
        self.j1 = c.smaller(c.load(p["last"], I64), c.add(start, PIECE_KEYS))
        self.start = start
        with c.when(c.less(self.j0, self.j1)):
            self._products()
            for head in range(self.shape.group):
                self._weights(head)
            width = max(1, host_shape().rows // c.lanes * 4 // len(self.parts))
            for head in range(0, self.shape.group, width):
                self._output(range(head, min(head + width, self.shape.group)))
        return c.finish()

    def _score_at(self, head: int, key: Value) -> Value:
        return self.c.add(self.c.sub(key, self.start), head * PIECE_KEYS)

    def _products(self) -> None:
        """Scores of every head: sum over d of q k, times the factor."""
        c, p, dim = self.c, self.p, self.shape.dim
        factor = c.load(p["factor"], F32)
        queries = [
            [c.load_vector(p["query"], head * dim + part) for part in self.parts] for head in range(self.shape.group)
        ]
        with c.loop(self.j0, self.j1) as key:
            line = c.mul(key, p["key_t"])
            c.prefetch(c.add(p["key"], c.mul(line, 4)), 4 * dim)
            numbers = [c.load_vector(p["key"], c.add(line, part)) for part in self.parts]
            for head, query in enumerate(queries):
                total = c.b.fmul(query[0], numbers[0])
                for a, b in zip(query[1:], numbers[1:], strict=True):
                    total = c.fma(a, b, total)
                score = c.b.fmul(c.sum_lanes(total), factor)
                if self.shape.masked:
                    seen = c.b.icmp_signed("!=", c.load(p["mask"], I8, key), ir.Constant(I8, 0))
                    score = c.b.select(seen, score, F32(MINUS_INF))
                c.store(score, self.scores, self._score_at(head, key))

    def _weights(self, head: int) -> None:
        """2^(s - m) in place of the scores; m and l into the state."""
        c = self.c
        first, stop = self._score_at(head, self.j0), self._score_at(head, self.j1)
        whole = c.add(first, c.round_down(c.sub(stop, first), c.lanes))
        top = c.variable(c.constant(MINUS_INF))
        with c.loop(first, whole, c.lanes) as at:
            top.set(c.maximum(top.get(), c.load_vector(self.scores, at)))
        maximum = c.variable(c.max_lanes(top.get()))
        with c.loop(whole, stop) as at:
            maximum.set(c.maximum(maximum.get(), c.load(self.scores, F32, at)))
        # all keys hidden: their weights shall be 0, not NaN
        none = c.b.fcmp_ordered("==", maximum.get(), F32(MINUS_INF))
        base = c.splat(c.b.select(none, F32(0.0), maximum.get()))
        sums = c.variable(c.constant(0.0))
        with c.loop(first, whole, c.lanes) as at:
            weight = c.exp2(c.b.fsub(c.load_vector(self.scores, at), base))
            c.store_vector(weight, self.scores, at)
            sums.set(c.b.fadd(sums.get(), weight))
        total = c.variable(c.sum_lanes(sums.get()))
        with c.loop(whole, stop) as at:
            wide = c.exp2(c.b.fsub(c.splat(c.load(self.scores, F32, at)), base))
            weight = c.first_lane(wide)
            c.store(weight, self.scores, at)
            total.set(c.b.fadd(total.get(), weight))
        state = c.add(c.mul(self.p["state_h"], head), self.shape.dim)
        c.store(maximum.get(), self.p["state"], state)
        c.store(total.get(), self.p["state"], c.add(state, 1))

    def _output(self, heads: range) -> None:
        """Outputs o of ``heads``: sum over the keys of weight times value."""
        c, p, dim = self.c, self.p, self.shape.dim
        sums = [[c.variable(c.constant(0.0)) for _ in self.parts] for _ in heads]
        with c.loop(self.j0, self.j1) as key:
            line = c.mul(key, p["value_t"])
            c.prefetch(c.add(p["value"], c.mul(line, 4)), 4 * dim)
            numbers = [c.load_vector(p["value"], c.add(line, part)) for part in self.parts]
            for head, row in zip(heads, sums, strict=True):
                weight = c.splat(c.load(self.scores, F32, self._score_at(head, key)))
                for number, total in zip(numbers, row, strict=True):
                    total.set(c.fma(number, weight, total.get()))
        for head, row in zip(heads, sums, strict=True):
            for part, total in zip(self.parts, row, strict=True):
                c.store_vector(total.get(), p["state"], c.add(c.mul(p["state_h"], head), part))


class _Join:
    def __init__(self, shape: RowShape) -> None:
        self.shape = shape
        self.c = VectorCode("join", shape.lanes)
        self.p = {name: self.c.parameter(index) for index, name in enumerate(JOIN_PARAMETERS, 1)}

    def emit(self) -> str:
        c, p, dim = self.c, self.p, self.shape.dim
        begin = c.b.sdiv(c.load(p["first"], I64), c.i64(PIECE_KEYS))
        end = c.b.sdiv(c.add(c.load(p["last"], I64), PIECE_KEYS - 1), c.i64(PIECE_KEYS))

        def state(piece: Value, at: int, kind: Any = F32) -> Value:
            return c.load(p["state"], kind, c.add(c.mul(piece, self.shape.state_floats), at))

        top = c.variable(F32(MINUS_INF))
        with c.loop(begin, end) as piece:
            top.set(c.maximum(top.get(), state(piece, dim)))
        total = c.variable(c.constant(0.0))
        sums = [c.variable(c.constant(0.0)) for _ in range(0, dim, c.lanes)]
        with c.loop(begin, end) as piece:
            share = c.exp2(c.splat(c.b.fsub(state(piece, dim), top.get())))
            total.set(c.fma(share, c.splat(state(piece, dim + 1)), total.get()))
            for number, part in zip(sums, range(0, dim, c.lanes), strict=True):
                at = c.add(c.mul(piece, self.shape.state_floats), part)
                number.set(c.fma(share, c.load_vector(p["state"], at), number.get()))
        for number, part in zip(sums, range(0, dim, c.lanes), strict=True):
            c.store_vector(c.b.fdiv(number.get(), total.get()), p["output"], part)
        return c.finish()
