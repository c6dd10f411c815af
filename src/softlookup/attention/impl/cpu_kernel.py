"""The tiled CPU kernel as LLVM IR: attention of a block of query rows of one key/value head, with statistics.

Rows of a block are (query, head of the group) pairs, heads fastest; a panel of R of them fills the lanes of the
vectors, so that maxima, sums and rescaling need no work across lanes. Keys and values are read as they lie in
memory, one number broadcast at a time (contiguous float32), or from a tile copied beside the others.

For each tile of keys and each panel: S = K Q^T by a register-tiled product, masks, softcap, maximum; then one
pass over S computes exp2, its sum and the statistics; then O = alpha O + V^T P by a second product. Scores are in
units of log2, as the scale and log2(e) are folded into the query. Sums that run over all tiles are float64.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from softlookup.kernels.compiler import CompiledFunction, VectorShape, compile_function
from softlookup.kernels.vector_code import F16, F32, F64, I8, I16, I32, I64, MINUS_INF, Value, VectorCode

PARAMETERS = (
    # addresses; 0 = absent. query, output and mask at the first head of the group
    "query", "key", "value", "output", "mask", "sinks", "sink_keys",
    # results [rows of the call]: float32 except argmax int64; indexed like output
    "maximum", "total", "centred", "sink", "position", "unscaled", "argmax",
    # scratch
    "q_panels", "o_panels", "scores", "key_tile", "value_tile", "mask_tile",
    "row_maximum", "row_total", "row_centred", "row_sink", "row_position", "row_unscaled", "row_argmax",
    "row_limit", "row_low", "row_alpha", "row_mask", "row_logit",
    # sizes
    "group", "first_row", "last_row", "panels", "first_key", "last_key", "tile", "sink_count", "copy",
    # visibility: key <= query + to_limit, key >= query + to_low, key < kv_length
    "to_limit", "to_low", "kv_length",
    # strides in elements
    "query_t", "query_h", "query_d", "key_t", "key_d", "value_t", "value_d",
    "output_t", "output_h", "mask_t", "mask_h", "mask_k", "stat_h",
    # address of (query scale, softcap factor), and the flag set where a number is not finite
    "factors", "not_finite",
)  # fmt: skip
_INDEX = {name: index for index, name in enumerate(PARAMETERS)}


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """What a kernel is compiled for. ``kind``: "float32", "bfloat16" or "float16"; ``value_dim`` 0: no output."""

    shape: VectorShape
    kind: str
    dim: int
    value_dim: int
    entropy: bool
    argmax: bool
    sink_mass: bool
    distance: bool
    unscaled: bool
    softcap: bool
    mask: bool


@functools.cache
def attention_kernel(spec: KernelSpec) -> CompiledFunction:
    """The compiled kernel; made once per process and spec, in about 0.1 s."""
    return compile_function(_Kernel(spec).emit(), "attention")


class _Kernel:
    def __init__(self, spec: KernelSpec) -> None:
        self.spec = spec
        self.shape = spec.shape
        self.c = VectorCode("attention", spec.shape.lanes)
        self.p: dict[str, Value] = {}

    def emit(self) -> str:
        c = self.c
        self.p = {name: c.parameter(index) for name, index in _INDEX.items()}
        self.bad = c.variable(c.constant(0.0))
        with c.loop(0, self.p["panels"]) as panel:
            self._begin(panel)
        self._tiles()
        with c.loop(0, self.p["panels"]) as panel:
            self._finish(panel)
        with c.when(c.any(c.b.fcmp_unordered("!=", self.bad.get(), c.constant(0.0)))):
            c.store(c.i64(1), self.p["not_finite"])
        return c.finish()

    # --- the parts of a row's state, R values each

    def _row(self, name: str, panel: Value, part: int) -> tuple[Value, Value]:
        c = self.c
        return self.p["row_" + name], c.add(c.mul(panel, self.shape.rows), part * self.shape.lanes)

    def _get(self, name: str, panel: Value, part: int, kind: Any = F32) -> Value:
        return self.c.load_vector(*self._row(name, panel, part), kind)

    def _set(self, value: Value, name: str, panel: Value, part: int) -> None:
        self.c.store_vector(value, *self._row(name, panel, part))

    def _parts(self) -> range:
        return range(self.shape.vectors)

    # --- start of a block

    def _begin(self, panel: Value) -> None:
        """Pack the panel's queries as [D][R], scaled, and reset its state."""
        c, p, rows = self.c, self.p, self.shape.rows
        scale = c.load(p["factors"], F32)
        with c.loop(0, rows) as lane:
            query, head = self._query_and_head(panel, lane)
            at = c.add(c.mul(panel, rows), lane)
            source = c.add(c.mul(query, p["query_t"]), c.mul(head, p["query_h"]))
            target = c.add(c.mul(panel, rows * self.spec.dim), lane)
            with c.loop(0, self.spec.dim) as d:
                number = self._load(p["query"], c.add(source, c.mul(d, p["query_d"])))
                c.store(c.b.fmul(number, scale), p["q_panels"], c.add(target, c.mul(d, rows)))
                self._look_at(c.splat(number))
            limit = c.smaller(c.add(query, p["to_limit"]), c.sub(p["kv_length"], 1))
            c.store(c.b.trunc(c.larger(limit, -1), I32), p["row_limit"], at)
            low = c.smaller(c.larger(c.add(query, p["to_low"]), 0), p["kv_length"])
            c.store(c.b.trunc(low, I32), p["row_low"], at)
            if self.spec.mask:
                c.store(c.add(c.mul(query, p["mask_t"]), c.mul(head, p["mask_h"])), p["row_mask"], at)
            c.store(c.load(p["sinks"], F32, head), p["row_logit"], at)
        for part in self._parts():
            self._set(c.constant(MINUS_INF), "maximum", panel, part)
            self._set(c.constant(0.0), "unscaled", panel, part)
            self._set(c.constant(-1, I32), "argmax", panel, part)
            for name in ("total", "centred", "sink", "position"):
                self._set(c.constant(0.0, F64), name, panel, part)
        if self.spec.value_dim:
            start = c.mul(panel, rows * self.spec.value_dim)
            with c.loop(0, rows * self.spec.value_dim, self.shape.lanes) as at:
                c.store_vector(c.constant(0.0), p["o_panels"], c.add(start, at))

    def _query_and_head(self, panel: Value, lane: Value) -> tuple[Value, Value]:
        """Of a lane; lanes behind the last row repeat it."""
        c, p = self.c, self.p
        row = c.add(c.add(p["first_row"], c.mul(panel, self.shape.rows)), lane)
        row = c.smaller(row, c.sub(p["last_row"], 1))
        return c.b.sdiv(row, p["group"]), c.b.srem(row, p["group"])

    def _load(self, address: Value, offset: Value) -> Value:
        """One number of the inputs' kind as float32."""
        c = self.c
        if self.spec.kind == "float32":
            return c.load(address, F32, offset)
        if self.spec.kind == "float16":
            return c.b.fpext(c.load(address, F16, offset), F32)
        wide = c.b.zext(c.load(address, I16, offset), I32)
        return c.b.bitcast(c.b.shl(wide, wide.type(16)), F32)

    # --- the keys

    def _tiles(self) -> None:
        c, p, unroll = self.c, self.p, self.shape.unroll
        tiles = c.b.sdiv(c.add(c.sub(p["last_key"], p["first_key"]), c.sub(p["tile"], 1)), p["tile"])
        with c.loop(0, tiles) as number:
            first = c.add(p["first_key"], c.mul(number, p["tile"]))
            count = c.smaller(p["tile"], c.sub(p["kv_length"], first))
            ragged = c.b.icmp_signed("!=", c.b.srem(count, c.i64(unroll)), c.i64(0))
            copied = c.b.or_(ragged, c.b.icmp_signed("!=", p["copy"], c.i64(0)))
            key = self._tile("key", self.spec.dim, first, count, copied)
            value = self._tile("value", self.spec.value_dim, first, count, copied) if self.spec.value_dim else None
            self._look_at_tile(key, count, self.spec.dim)
            if value is not None:
                self._look_at_tile(value, count, self.spec.value_dim)
            with c.loop(0, p["panels"]) as panel:
                self._panel(panel, first, count, key, value)

    def _tile(self, name: str, dim: int, first: Value, count: Value, copied: Value) -> tuple[Value, Value]:
        """Byte address of the tile's first number and its row stride in floats."""
        c, p = self.c, self.p
        source, stride = p[name], p[name + "_t"]
        target = p[name + "_tile"]
        with c.when(copied):
            with c.loop(0, count) as row:
                base = c.mul(c.add(first, row), stride)
                with c.loop(0, dim) as d:
                    number = self._load(source, c.add(base, c.mul(d, p[name + "_d"])))
                    c.store(number, target, c.add(c.mul(row, dim), d))
            # rows up to a multiple of the unroll are read; they are masked, but 0 * NaN would be NaN
            with c.loop(c.mul(count, dim), c.mul(c.round_up(count, self.shape.unroll), dim)) as at:
                c.store(F32(0.0), target, at)
        direct = c.add(source, c.mul(c.mul(first, stride), 4))
        return c.b.select(copied, target, direct), c.b.select(copied, c.i64(dim), stride)

    def _look_at(self, numbers: Value) -> None:
        """Note numbers that are not finite: 0 times them is NaN."""
        self.bad.set(self.c.fma(numbers, self.c.constant(0.0), self.bad.get()))

    def _look_at_tile(self, tile: tuple[Value, Value], count: Value, dim: int) -> None:
        """Once per block of rows; a softcap or a mask could hide them from the scores."""
        c, lanes = self.c, self.shape.lanes
        address, stride = tile
        with c.loop(0, count) as row:
            line = c.mul(row, stride)
            with c.loop(0, dim // lanes * lanes, lanes) as d:
                self._look_at(c.load_vector(address, c.add(line, d)))
            with c.loop(dim // lanes * lanes, dim) as d:
                self._look_at(c.splat(c.load(address, F32, c.add(line, d))))

    def _panel(
        self, panel: Value, first: Value, count: Value, key: tuple[Value, Value], value: tuple[Value, Value] | None
    ) -> None:
        """One panel x one tile. Positions j0 <= j < j1 count keys from ``first``."""
        c = self.c
        least, most = self._ends("limit", panel)  # limits grow with the lane
        least_low, most_low = self._ends("low", panel)
        j0 = c.round_down(c.larger(c.sub(least_low, first), 0), self.shape.unroll)
        j1 = c.round_up(c.smaller(c.larger(c.sub(c.add(most, 1), first), 0), count), self.shape.unroll)
        with c.when(c.less(j0, j1)):
            self._scores(panel, j0, j1, key)
            with c.loop(c.larger(j0, c.sub(c.add(least, 1), first)), j1) as j:
                self._hide(panel, j, first, "limit", ">=")
            with c.loop(j0, c.smaller(j1, c.sub(most_low, first))) as j:
                self._hide(panel, j, first, "low", "<=")
            if self.spec.mask:
                self._mask(panel, j0, c.smaller(j1, count), first)
            if self.spec.unscaled:
                self._unscaled(panel, j0, j1)
            if self.spec.softcap:
                self._softcap(j0, j1)
            maximum = self._maximum(panel, j0, j1, first)
            self._weights(panel, j0, j1, first, maximum)
            if value is not None:
                self._output(panel, j0, j1, value)

    def _ends(self, name: str, panel: Value) -> tuple[Value, Value]:
        c, rows = self.c, self.shape.rows
        at = c.mul(panel, rows)
        address = self.p["row_" + name]
        first, last = c.load(address, I32, at), c.load(address, I32, c.add(at, rows - 1))
        return c.b.sext(first, I64), c.b.sext(last, I64)

    def _score(self, j: Value, part: int) -> tuple[Value, Value]:
        return self.p["scores"], self.c.add(self.c.mul(j, self.shape.rows), part * self.shape.lanes)

    def _scores(self, panel: Value, j0: Value, j1: Value, key: tuple[Value, Value]) -> None:
        """S[j][R] = sum over d of K[j][d] Q[d][R]."""
        c, rows, dim = self.c, self.shape.rows, self.spec.dim
        query = c.mul(panel, rows * dim)
        address, stride = key
        with c.loop(j0, j1, self.shape.unroll) as j:
            lines = [c.mul(c.add(j, u), stride) for u in range(self.shape.unroll)]
            sums = [[c.variable(c.constant(0.0)) for _ in self._parts()] for _ in lines]
            with c.loop(0, dim) as d:
                at = c.add(query, c.mul(d, rows))
                vectors = [
                    c.load_vector(self.p["q_panels"], c.add(at, part * self.shape.lanes)) for part in self._parts()
                ]
                for line, row in zip(lines, sums, strict=True):
                    number = c.splat(c.load(address, F32, c.add(line, d)))
                    for vector, total in zip(vectors, row, strict=True):
                        total.set(c.fma(vector, number, total.get()))
            for u, row in enumerate(sums):
                for part, total in enumerate(row):
                    c.store_vector(total.get(), *self._score(c.add(j, u), part))

    def _hide(self, panel: Value, j: Value, first: Value, name: str, keep: str) -> None:
        c = self.c
        position = c.splat(c.b.trunc(c.add(first, j), I32))
        for part in self._parts():
            seen = c.b.icmp_signed(keep, self._get(name, panel, part, I32), position)
            score = c.load_vector(*self._score(j, part))
            c.store_vector(c.b.select(seen, score, c.constant(MINUS_INF)), *self._score(j, part))

    def _mask(self, panel: Value, j0: Value, j1: Value, first: Value) -> None:
        """Bytes of the mask, transposed into the tile's layout, then applied."""
        c, p, rows = self.c, self.p, self.shape.rows
        with c.loop(0, rows) as lane:
            base = c.load(p["row_mask"], I64, c.add(c.mul(panel, rows), lane))
            with c.loop(j0, j1) as j:
                seen = c.load(p["mask"], I8, c.add(base, c.mul(c.add(first, j), p["mask_k"])))
                c.store(seen, p["mask_tile"], c.add(c.mul(j, rows), lane))
        with c.loop(j0, j1) as j:
            for part in self._parts():
                at = c.add(c.mul(j, rows), part * self.shape.lanes)
                seen = c.b.icmp_signed("!=", c.load_vector(p["mask_tile"], at, I8), c.constant(0, I8))
                score = c.load_vector(*self._score(j, part))
                c.store_vector(c.b.select(seen, score, c.constant(MINUS_INF)), *self._score(j, part))

    def _unscaled(self, panel: Value, j0: Value, j1: Value) -> None:
        """Largest |score| of the visible keys, before the softcap."""
        c = self.c
        largest = [c.variable(self._get("unscaled", panel, part)) for part in self._parts()]
        with c.loop(j0, j1) as j:
            for part, best in enumerate(largest):
                score = c.load_vector(*self._score(j, part))
                hidden = c.b.fcmp_ordered("==", score, c.constant(MINUS_INF))
                size = c.b.select(hidden, c.constant(0.0), c.absolute(score))
                best.set(c.maximum(best.get(), size))
        for part, best in enumerate(largest):
            self._set(best.get(), "unscaled", panel, part)

    def _softcap(self, j0: Value, j1: Value) -> None:
        """Softcap, cap tanh(s / cap): the scores arrive as u = 2 log2(e) s / cap, and tanh = 1 - 2 / (1 + 2^u)."""
        c = self.c
        factor = c.splat(c.load(self.p["factors"], F32, 1))
        with c.loop(j0, j1) as j:
            for part in self._parts():
                score = c.load_vector(*self._score(j, part))
                top = c.constant(126.0)
                power = c.exp2(c.b.select(c.b.fcmp_ordered(">", score, top), top, score))
                quotient = c.b.fdiv(c.constant(2.0), c.b.fadd(c.constant(1.0), power))
                capped = c.b.fmul(factor, c.b.fsub(c.constant(1.0), quotient))
                hidden = c.b.fcmp_ordered("==", score, c.constant(MINUS_INF))
                c.store_vector(c.b.select(hidden, score, capped), *self._score(j, part))

    def _maximum(self, panel: Value, j0: Value, j1: Value, first: Value) -> list[Value]:
        """New running maxima; keeps alpha = 2^(old - new) and the argmax."""
        c = self.c
        tops = [c.variable(self._get("maximum", panel, part)) for part in self._parts()]
        with c.loop(j0, j1) as j:
            for part, top in enumerate(tops):
                top.set(c.maximum(top.get(), c.load_vector(*self._score(j, part))))
        result = []
        for part, top in enumerate(tops):
            old, new = self._get("maximum", panel, part), top.get()
            if self.spec.argmax:
                self._argmax(panel, part, j0, j1, first, new, c.b.fcmp_ordered(">", new, old))
            self._set(new, "maximum", panel, part)
            # a row that has seen nothing yet: -inf - -inf would be NaN
            safe = c.b.select(c.b.fcmp_ordered("==", new, c.constant(MINUS_INF)), c.constant(0.0), new)
            shift = c.maximum(c.constant(-150.0), c.b.fsub(old, safe))
            c.store_vector(c.exp2(shift), self.p["row_alpha"], part * self.shape.lanes)
            c.store_vector(shift, self.p["row_alpha"], self.shape.rows + part * self.shape.lanes)
            result.append(safe)
        return result

    def _argmax(self, panel: Value, part: int, j0: Value, j1: Value, first: Value, new: Value, moved: Value) -> None:
        """Where the maximum moved: the smallest position that attains it."""
        c = self.c
        with c.when(c.any(moved)):
            best = c.variable(self._get("argmax", panel, part, I32))
            with c.loop(j0, j1) as step:
                j = c.sub(c.sub(c.add(j0, j1), 1), step)  # from the last key to the first
                here = c.b.and_(moved, c.b.fcmp_ordered("==", c.load_vector(*self._score(j, part)), new))
                best.set(c.b.select(here, c.splat(c.b.trunc(c.add(first, j), I32)), best.get()))
            self._set(best.get(), "argmax", panel, part)

    def _weights(self, panel: Value, j0: Value, j1: Value, first: Value, maximum: list[Value]) -> None:
        """S becomes P = 2^(S - m); the sums of the tile join those of the row."""
        c, spec = self.c, self.spec
        names = ["total"] + ["centred"] * spec.entropy + ["position"] * spec.distance
        sums = {name: [c.variable(c.constant(0.0)) for _ in self._parts()] for name in names}
        with c.loop(j0, j1) as j:
            for part, top in enumerate(maximum):
                shifted = c.b.fsub(c.load_vector(*self._score(j, part)), top)
                power, finite = c.exp2_and_clamped(shifted)
                c.store_vector(power, *self._score(j, part))
                sums["total"][part].set(c.b.fadd(sums["total"][part].get(), power))
                if spec.entropy:
                    # not `shifted`: -inf of a hidden key times 0 would be NaN
                    sums["centred"][part].set(c.fma(power, finite, sums["centred"][part].get()))
                if spec.distance:
                    position = c.splat(c.b.sitofp(j, F32))
                    sums["position"][part].set(c.fma(power, position, sums["position"][part].get()))
        if spec.sink_mass:
            sums["sink"] = self._sink(j0, j1, first)
        for part in self._parts():
            self._join(panel, part, first, {name: parts[part].get() for name, parts in sums.items()})

    def _sink(self, j0: Value, j1: Value, first: Value) -> list[Any]:
        """Sum of the weights of the tile's sink keys."""
        c = self.c
        sums = [c.variable(c.constant(0.0)) for _ in self._parts()]
        with c.loop(0, self.p["sink_count"]) as number:
            j = c.sub(c.load(self.p["sink_keys"], I64, number), first)
            inside = c.b.and_(c.b.icmp_signed(">=", j, j0), c.less(j, j1))
            with c.when(inside):
                for part, total in enumerate(sums):
                    total.set(c.b.fadd(total.get(), c.load_vector(*self._score(j, part))))
        return sums

    def _join(self, panel: Value, part: int, first: Value, tile: dict[str, Value]) -> None:
        """Row sums, rescaled to the new maximum, plus those of the tile; r also moves with it: r + shift l."""
        c = self.c
        wide = {name: self._wide(value) for name, value in tile.items()}
        alpha = self._wide(c.load_vector(self.p["row_alpha"], part * self.shape.lanes))
        old = self._get("total", panel, part, F64)
        if "centred" in wide:
            shift = self._wide(c.load_vector(self.p["row_alpha"], self.shape.rows + part * self.shape.lanes))
            moved = c.fma(shift, old, self._get("centred", panel, part, F64))
            self._set(c.fma(alpha, moved, wide["centred"]), "centred", panel, part)
        if "position" in wide:
            start = c.splat(c.b.sitofp(first, F64))
            here = c.fma(start, wide["total"], wide["position"])
            self._set(c.fma(alpha, self._get("position", panel, part, F64), here), "position", panel, part)
        if "sink" in wide:
            self._set(c.fma(alpha, self._get("sink", panel, part, F64), wide["sink"]), "sink", panel, part)
        self._set(c.fma(alpha, old, wide["total"]), "total", panel, part)

    def _wide(self, value: Value) -> Value:
        from llvmlite import ir

        return self.c.b.fpext(value, ir.VectorType(F64, self.shape.lanes))

    def _output(self, panel: Value, j0: Value, j1: Value, value: tuple[Value, Value]) -> None:
        """O[c][R] = alpha O[c][R] + sum over j of V[j][c] P[j][R]."""
        width, unroll = self.spec.value_dim, self.shape.unroll
        whole = width // unroll * unroll
        if whole:
            with self.c.loop(0, whole, unroll) as column:
                self._columns(panel, column, unroll, j0, j1, value)
        if width > whole:
            self._columns(panel, self.c.i64(whole), width - whole, j0, j1, value)

    def _columns(
        self, panel: Value, column: Value, width: int, j0: Value, j1: Value, value: tuple[Value, Value]
    ) -> None:
        c, rows, lanes = self.c, self.shape.rows, self.shape.lanes
        address, stride = value
        start = c.mul(c.add(c.mul(panel, self.spec.value_dim), column), rows)
        places = [[c.add(start, u * rows + part * lanes) for part in self._parts()] for u in range(width)]
        alpha = [c.load_vector(self.p["row_alpha"], part * lanes) for part in self._parts()]
        sums = [
            [
                c.variable(c.b.fmul(c.load_vector(self.p["o_panels"], place), factor))
                for place, factor in zip(line, alpha, strict=True)
            ]
            for line in places
        ]
        with c.loop(j0, j1) as j:
            powers = [c.load_vector(*self._score(j, part)) for part in self._parts()]
            line = c.add(c.mul(j, stride), column)
            for u, row in enumerate(sums):
                number = c.splat(c.load(address, F32, c.add(line, u)))
                for power, total in zip(powers, row, strict=True):
                    total.set(c.fma(power, number, total.get()))
        for line, row in zip(places, sums, strict=True):
            for place, total in zip(line, row, strict=True):
                c.store_vector(total.get(), self.p["o_panels"], place)

    # --- the end of a block

    def _finish(self, panel: Value) -> None:
        """Normalise with the learned sink (added once, here) and write rows and statistics."""
        c, p, lanes = self.c, self.p, self.shape.lanes
        for part in self._parts():
            top = self._get("maximum", panel, part)
            total = c.b.fptrunc(self._get("total", panel, part, F64), c.vector)
            nothing = c.b.fcmp_ordered("==", top, c.constant(MINUS_INF))
            logit = self._get("logit", panel, part)
            above = c.b.fsub(logit, c.b.select(nothing, c.constant(0.0), top))
            ceiling = c.constant(126.0)
            sink = c.exp2(c.b.select(c.b.fcmp_ordered(">", above, ceiling), ceiling, above))
            factor = c.b.fdiv(c.constant(1.0), c.b.fadd(total, sink))
            factor = c.b.select(nothing, c.constant(0.0), factor)
            c.store_vector(factor, p["row_alpha"], part * lanes)
            self._look_at(total)
        if self.spec.value_dim:
            start = c.mul(panel, self.shape.rows * self.spec.value_dim)
            with c.loop(0, self.spec.value_dim) as column:
                for part in self._parts():
                    place = c.add(start, c.add(c.mul(column, self.shape.rows), part * lanes))
                    number = c.b.fmul(c.load_vector(p["o_panels"], place), c.load_vector(p["row_alpha"], part * lanes))
                    c.store_vector(number, p["o_panels"], place)
                    self._look_at(number)
        done = c.add(p["first_row"], c.mul(panel, self.shape.rows))
        with c.loop(0, c.smaller(self.shape.rows, c.sub(p["last_row"], done))) as lane:
            self._write(panel, lane)

    def _write(self, panel: Value, lane: Value) -> None:
        c, p, rows = self.c, self.p, self.shape.rows
        query, head = self._query_and_head(panel, lane)
        at = c.add(c.mul(panel, rows), lane)
        stat = c.add(query, c.mul(head, p["stat_h"]))
        c.store(c.load(p["row_maximum"], F32, at), p["maximum"], stat)
        wanted = {
            "total": True,
            "centred": self.spec.entropy,
            "sink": self.spec.sink_mass,
            "position": self.spec.distance,
        }
        for name in (name for name, asked in wanted.items() if asked):
            c.store(c.b.fptrunc(c.load(p["row_" + name], F64, at), F32), p[name], stat)
        if self.spec.unscaled:
            c.store(c.load(p["row_unscaled"], F32, at), p["unscaled"], stat)
        if self.spec.argmax:
            c.store(c.b.sext(c.load(p["row_argmax"], I32, at), I64), p["argmax"], stat)
        if self.spec.value_dim:
            source = c.add(c.mul(panel, rows * self.spec.value_dim), lane)
            target = c.add(c.mul(query, p["output_t"]), c.mul(head, p["output_h"]))
            with c.loop(0, self.spec.value_dim) as column:
                number = c.load(p["o_panels"], F32, c.add(source, c.mul(column, rows)))
                self._store(number, c.add(target, column))

    def _store(self, number: Value, offset: Value) -> None:
        """One float32 in the outputs' kind, rounded to nearest even."""
        c = self.c
        if self.spec.kind == "float32":
            c.store(number, self.p["output"], offset)
        elif self.spec.kind == "float16":
            c.store(c.b.fptrunc(number, F16), self.p["output"], offset)
        else:
            bits = c.b.bitcast(number, I32)
            odd = c.b.and_(c.b.lshr(bits, I32(16)), I32(1))
            rounded = c.b.add(bits, c.b.add(odd, I32(0x7FFF)))
            c.store(c.b.trunc(c.b.lshr(rounded, I32(16)), I16), self.p["output"], offset)
