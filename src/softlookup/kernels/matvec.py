"""Matrix times one vector, y = W x, for decoding: the weights are read once and nothing else costs much.

Two layouts of W [N, K]:
- *rows*: float32 as it lies in memory, one row after the other.
- *panels*: 16 rows side by side, in the lanes of the vectors. A panel is a sequence of groups of ``group`` inputs;
  a group is [16 scales][16 offsets][words], and word [j][row] holds the next 32 / bits inputs of one row, the first
  in its lowest bits. With 16 bits a weight is the upper half of a float32 and there are no scales. With 4 or 8 bits
  it is ``scale * code + offset``, or ``scale * (code - 2^(bits - 1))`` where no offset is stored.

A code becomes a float without a conversion: put into the top bits of the mantissa of 1.0 it gives
v = 1 + code / 2^bits, and scale * code + offset = (2^bits scale) v + (offset - 2^bits scale), one fused operation.

Sums are float32, each over every fourth input, so that four chains run at once. Both kernels are tasks of
:mod:`softlookup.kernels.tasks`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from softlookup.kernels.compiler import CompiledFunction, compile_function, host_shape
from softlookup.kernels.vector_code import F16, F32, I32, Value, VectorCode, ir

# of a task, after the address of its function. weights at the first row of the task; bias and addend are added to
# y where they are not 0, and addend may be y itself
PARAMETERS = ("weights", "x", "y", "bias", "addend", "inputs", "rows")
_INDEX = {name: index for index, name in enumerate(PARAMETERS, 1)}

PANEL_ROWS = 16
_CHAINS = 4
_ROWS_AT_ONCE = 4
_MANTISSA_BITS = 23
_ONE_BITS = 0x3F800000


@dataclass(frozen=True, slots=True)
class PanelFormat:
    """How a panel stores its weights: ``bits`` 4, 8 or 16; ``half_scales``: scales and offsets are float16."""

    bits: int
    group: int
    half_scales: bool = False
    offsets: bool = False

    @property
    def inputs_per_word(self) -> int:
        """Weights in one 32-bit word."""
        return 32 // self.bits

    @property
    def scale_bytes(self) -> int:
        """Bytes of a group's scales and offsets."""
        if self.bits == 16:
            return 0
        return PANEL_ROWS * (2 if self.half_scales else 4) * (2 if self.offsets else 1)

    @property
    def group_bytes(self) -> int:
        """Bytes of a group of 16 rows."""
        return self.scale_bytes + PANEL_ROWS * self.group * self.bits // 8


class _Matvec:
    """What both kernels share: parameters, and the end of a row."""

    def __init__(self, name: str, lanes: int) -> None:
        self.c = VectorCode(name, lanes)
        self.p = {name: self.c.parameter(index) for name, index in _INDEX.items()}

    def addends(self, count: Value, load: Any, total: Any) -> None:
        """Add bias and addend, where present, to the variable ``total``."""
        c = self.c
        for name in ("bias", "addend"):
            with c.when(c.b.icmp_signed("!=", self.p[name], c.i64(0))):
                total.set(c.b.fadd(total.get(), load(self.p[name], count)))


@functools.cache
def panel_matvec(form: PanelFormat) -> CompiledFunction:
    """The kernel of panels; made once per process and format."""
    return compile_function(_Panels(form).emit(), "matvec")


class _Panels(_Matvec):
    def __init__(self, form: PanelFormat) -> None:
        super().__init__("matvec", PANEL_ROWS)
        self.form = form
        self.words = ir.VectorType(I32, PANEL_ROWS)

    def emit(self) -> str:
        c, p = self.c, self.p
        groups = c.b.sdiv(p["inputs"], c.i64(self.form.group))
        panel_bytes = c.mul(groups, self.form.group_bytes)
        # lanes behind the last row are computed like the others (their weights are 0) and not stored
        spare = ir.IRBuilder(c.function.entry_basic_block).alloca(c.vector)
        with c.loop(0, p["rows"], PANEL_ROWS) as row:
            panel = c.add(p["weights"], c.mul(c.b.sdiv(row, c.i64(PANEL_ROWS)), panel_bytes))
            sums = [c.variable(c.constant(0.0)) for _ in range(_CHAINS)]
            with c.loop(0, groups) as number:
                self._group(c.add(panel, c.mul(number, self.form.group_bytes)), number, sums)
            total = c.b.fadd(c.b.fadd(sums[0].get(), sums[1].get()), c.b.fadd(sums[2].get(), sums[3].get()))
            left = c.sub(p["rows"], row)
            with c.when(c.less(PANEL_ROWS - 1, left)):
                whole = c.variable(total)
                self.addends(row, c.load_vector, whole)
                c.store_vector(whole.get(), p["y"], row)
            with c.when(c.less(left, PANEL_ROWS)):
                c.b.store(total, spare)
                address = c.b.ptrtoint(spare, ir.IntType(64))
                with c.loop(0, left) as lane:
                    one = c.variable(c.load(address, F32, lane))
                    self.addends(c.add(row, lane), lambda base, at: c.load(base, F32, at), one)
                    c.store(one.get(), p["y"], c.add(row, lane))
        return c.finish()

    def _group(self, group: Value, number: Value, sums: list[Any]) -> None:
        c, form = self.c, self.form
        factors = self._factors(group) if form.bits < 16 else None
        codes = c.add(group, form.scale_bytes)
        c.prefetch(group, form.group_bytes)
        x = c.add(self.p["x"], c.mul(number, 4 * form.group))
        for word in range(form.group // form.inputs_per_word):
            packed = c.load_vector(codes, word * PANEL_ROWS, I32)
            for place in range(form.inputs_per_word):
                at = word * form.inputs_per_word + place
                weight = self._weight(packed, place, factors)
                chain = sums[at % _CHAINS]
                chain.set(c.fma(weight, c.splat(c.load(x, F32, at)), chain.get()))

    def _factors(self, group: Value) -> tuple[Value, Value]:
        """2^bits scale, and what is added to v times it."""
        c, form = self.c, self.form
        kind = F16 if form.half_scales else F32
        scale = c.b.fmul(self._floats(group, 0, kind), c.constant(float(1 << form.bits)))
        if form.offsets:
            return scale, c.b.fsub(self._floats(group, PANEL_ROWS, kind), scale)
        return scale, c.b.fmul(scale, c.constant(-1.5))

    def _floats(self, address: Value, offset: int, kind: Any) -> Value:
        loaded = self.c.load_vector(address, offset, kind)
        return self.c.b.fpext(loaded, self.c.vector) if kind is F16 else loaded

    def _weight(self, packed: Value, place: int, factors: tuple[Value, Value] | None) -> Value:
        c, bits = self.c, self.form.bits
        shift = (32 if factors is None else _MANTISSA_BITS) - bits - bits * place
        amount = ir.Constant(self.words, [abs(shift)] * PANEL_ROWS)
        moved = c.b.shl(packed, amount) if shift > 0 else c.b.lshr(packed, amount) if shift < 0 else packed
        if factors is None:
            upper = ir.Constant(self.words, [-65536] * PANEL_ROWS)
            return c.b.bitcast(c.b.and_(moved, upper), c.vector)
        field = ir.Constant(self.words, [((1 << bits) - 1) << (_MANTISSA_BITS - bits)] * PANEL_ROWS)
        one = ir.Constant(self.words, [_ONE_BITS] * PANEL_ROWS)
        value = c.b.bitcast(c.b.or_(c.b.and_(moved, field), one), c.vector)
        return c.fma(value, *factors)


@functools.cache
def row_matvec() -> CompiledFunction:
    """The kernel of float32 rows; made once per process."""
    return compile_function(_Rows().emit(), "matvec")


class _Rows(_Matvec):
    def __init__(self) -> None:
        super().__init__("matvec", host_shape().lanes)

    def emit(self) -> str:
        c, p = self.c, self.p
        whole = c.round_down(p["inputs"], c.lanes)
        with c.loop(0, p["rows"], _ROWS_AT_ONCE) as first:
            # rows behind the last repeat it
            rows = [c.smaller(c.add(first, number), c.sub(p["rows"], 1)) for number in range(_ROWS_AT_ONCE)]
            lines = [c.mul(row, p["inputs"]) for row in rows]
            sums = [c.variable(c.constant(0.0)) for _ in rows]
            with c.loop(0, whole, c.lanes) as at:
                x = c.load_vector(p["x"], at)
                for line, total in zip(lines, sums, strict=True):
                    total.set(c.fma(c.load_vector(p["weights"], c.add(line, at)), x, total.get()))
            totals = [c.variable(c.sum_lanes(total.get())) for total in sums]
            with c.loop(whole, p["inputs"]) as at:
                x = c.load(p["x"], F32, at)
                for line, total in zip(lines, totals, strict=True):
                    total.set(c.fma(c.load(p["weights"], F32, c.add(line, at)), x, total.get()))
            for row, total in zip(rows, totals, strict=True):
                self.addends(row, lambda base, at: c.load(base, F32, at), total)
            # stored last: the addend may be y itself, and a repeated row must not be added twice
            for row, total in zip(rows, totals, strict=True):
                c.store(total.get(), p["y"], row)
        return c.finish()
