"""Finds the codes of weights that lie on a grid, and writes them in panels; refuses weights that do not.

Weights that were dequantised from 4 to 8 bits are ``scale * code + offset`` in every group of 16 or 32 inputs of a
row. The step of the grid is the range of the group, or its largest weight with the sign turned round, divided by a
whole number n, which the kernel looks for: the candidates come from the caller, likely ones first. The weight that
a code stands for is computed as :mod:`softlookup.kernels.matvec` computes it, and compared with the original.

A task of :mod:`softlookup.kernels.tasks`.
"""

from __future__ import annotations

import functools
from typing import Any

from softlookup.kernels.compiler import CompiledFunction, compile_function
from softlookup.kernels.matvec import PANEL_ROWS, PanelFormat
from softlookup.kernels.vector_code import F16, F32, I32, I64, Value, Variable, VectorCode, ir

# of a task, after the address of its function. weights: float32 rows; panels: where to write;
# candidates: ``count`` floats n; tolerance: float32, the largest error in units of the group's largest weight;
# failed, inexact: int64 cells set to 1 where a group fits no candidate, and where a weight changes at all
PARAMETERS = ("weights", "panels", "inputs", "rows", "candidates", "count", "tolerance", "failed", "inexact")
_INDEX = {name: index for index, name in enumerate(PARAMETERS, 1)}

_WORDS = ir.VectorType(I32, PANEL_ROWS)


@functools.cache
def packing_kernel(form: PanelFormat) -> CompiledFunction:
    """The kernel of one format with 4 or 8 bits; made once per process."""
    return compile_function(_Packing(form).emit(), "packing")


class _Packing:
    def __init__(self, form: PanelFormat) -> None:
        self.form = form
        self.c = VectorCode("packing", PANEL_ROWS)
        self.p = {name: self.c.parameter(index) for name, index in _INDEX.items()}

    def emit(self) -> str:
        c, p, form = self.c, self.p, self.form
        tolerance = c.load(p["tolerance"], F32)
        groups = c.b.sdiv(p["inputs"], c.i64(form.group))
        with c.loop(0, c.round_up(p["rows"], PANEL_ROWS)) as row:
            lane = c.b.srem(row, c.i64(PANEL_ROWS))
            panel = c.mul(c.b.sdiv(row, c.i64(PANEL_ROWS)), groups)
            # after a failure nobody needs the rest; rows behind the last stay 0
            wanted = c.b.and_(c.b.icmp_signed("==", c.load(p["failed"], I64), c.i64(0)), c.less(row, p["rows"]))
            with c.when(wanted), c.loop(0, groups) as number:
                line = c.add(c.mul(row, p["inputs"]), c.mul(number, form.group))
                target = c.add(p["panels"], c.mul(c.add(panel, number), form.group_bytes))
                self._group(line, target, lane, tolerance)
        return c.finish()

    def _group(self, line: Value, target: Value, lane: Value, tolerance: Value) -> None:
        """One group of one row."""
        c, form = self.c, self.form
        weights = [c.load_vector(self.p["weights"], c.add(line, at)) for at in range(0, form.group, PANEL_ROWS)]
        low, high = (self._extreme(weights, sign) for sign in ("<", ">"))
        size = self._larger(c.absolute(low), c.absolute(high))
        base = self._stored(low) if form.offsets else F32(0.0)
        # the largest weight gets the lowest code, since codes reach one step further below the middle than above
        farthest = c.b.select(c.b.fcmp_ordered("<", c.absolute(low), c.absolute(high)), high, low)
        span = c.b.fsub(high, low) if form.offsets else c.b.fneg(farthest)
        allowed = c.splat(c.b.fmul(size, tolerance))
        step = c.variable(F32(0.0))
        codes = [c.variable(c.constant(0.0)) for _ in weights]
        fits, changed, tries = c.variable(_BIT(0)), c.variable(_BIT(0)), c.variable(c.i64(0))
        with self._while_unfit(fits, tries):
            step.set(self._stored(c.b.fdiv(span, c.load(self.p["candidates"], F32, tries.get()))))
            wrong, other = self._try(weights, base, step.get(), allowed, codes)
            fits.set(c.b.not_(wrong))
            changed.set(other)
            tries.set(c.add(tries.get(), 1))
        with c.when(c.b.not_(fits.get())):
            c.store(c.i64(1), self.p["failed"])
        with c.when(changed.get()):
            c.store(c.i64(1), self.p["inexact"])
        kind = F16 if form.half_scales else F32
        for place, number in enumerate((step.get(), base) if form.offsets else (step.get(),)):
            stored = c.b.fptrunc(number, F16) if kind is F16 else number
            c.store(stored, target, c.add(lane, place * PANEL_ROWS))
        self._words([code.get() for code in codes], c.add(target, form.scale_bytes), lane)

    def _while_unfit(self, fits: Variable, tries: Variable) -> Any:
        """A loop as long as a candidate is left and none has fitted."""
        c = self.c
        return c.repeat(lambda: c.b.and_(c.b.not_(fits.get()), c.less(tries.get(), self.p["count"])))

    def _try(
        self, weights: list[Value], base: Value, step: Value, allowed: Value, codes: list[Variable]
    ) -> tuple[Value, Value]:
        """Codes for one step; whether one of them is wrong, and whether a weight changes at all."""
        c, bits = self.c, self.form.bits
        middle = 0.0 if self.form.offsets else float(1 << (bits - 1))
        none = c.b.fcmp_ordered("==", step, F32(0.0))
        inverse = c.splat(c.b.select(none, F32(0.0), c.b.fdiv(F32(1.0), step)))
        scale = c.b.fmul(step, F32(float(1 << bits)))
        offset = c.b.fsub(base, scale) if self.form.offsets else c.b.fmul(scale, F32(-1.5))
        wrong, other = _BIT(0), _BIT(0)
        for weight, code in zip(weights, codes, strict=True):
            steps = c.round(c.b.fmul(c.b.fsub(weight, c.splat(base)), inverse))
            number = c.b.fadd(steps, c.constant(middle))
            code.set(number)
            value = c.fma(number, c.constant(1.0 / (1 << bits)), c.constant(1.0))
            again = c.fma(value, c.splat(scale), c.splat(offset))
            near = c.b.fcmp_ordered("<=", c.absolute(c.b.fsub(again, weight)), allowed)
            inside = c.b.and_(
                c.b.fcmp_ordered(">=", number, c.constant(0.0)),
                c.b.fcmp_ordered("<=", number, c.constant(float((1 << bits) - 1))),
            )
            wrong = c.b.or_(wrong, c.any(c.b.not_(c.b.and_(near, inside))))
            other = c.b.or_(other, c.any(c.b.fcmp_unordered("!=", again, weight)))
        return wrong, other

    def _words(self, codes: list[Value], target: Value, lane: Value) -> None:
        """Join the codes of neighbouring inputs to words, and store each at its row."""
        c, bits, per_word = self.c, self.form.bits, self.form.inputs_per_word
        places = ir.Constant(_WORDS, [bits * (i % per_word) for i in range(PANEL_ROWS)])
        for part, code in enumerate(codes):
            words = c.b.shl(c.b.fptosi(code, _WORDS), places)
            distance = 1
            while distance < per_word:
                order = ir.Constant(_WORDS, [i ^ distance for i in range(PANEL_ROWS)])
                words = c.b.or_(words, c.b.shuffle_vector(words, ir.Constant(_WORDS, ir.Undefined), order))
                distance *= 2
            for first in range(0, PANEL_ROWS, per_word):
                word = c.b.extract_element(words, I32(first))
                number = (part * PANEL_ROWS + first) // per_word
                c.store(word, target, c.add(lane, number * PANEL_ROWS))

    def _stored(self, number: Value) -> Value:
        """As it is after storing it."""
        if not self.form.half_scales:
            return number
        return self.c.b.fpext(self.c.b.fptrunc(number, F16), F32)

    def _extreme(self, vectors: list[Value], sign: str) -> Value:
        c = self.c

        def better(a: Value, b: Value) -> Value:
            return c.b.select(c.b.fcmp_ordered(sign, b, a), b, a)

        return c.fold_lanes(functools.reduce(better, vectors), better)

    def _larger(self, a: Value, b: Value) -> Value:
        return self.c.b.select(self.c.b.fcmp_ordered("<", a, b), b, a)


def _BIT(value: int) -> Value:  # noqa: N802 - a constant like I32(value)
    return ir.Constant(ir.IntType(1), value)
