"""Writes LLVM IR for loops over vectors of floats: the small language in which the kernels are written.

Addresses are byte pointers (``i64`` in the parameter array); offsets count elements of the type loaded.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from llvmlite import ir

__all__ = ["F16", "F32", "F64", "I1", "I8", "I16", "I32", "I64", "MINUS_INF", "Value", "Variable", "VectorCode", "ir"]

I1, I8, I16, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64)
F16, F32, F64 = ir.HalfType(), ir.FloatType(), ir.DoubleType()
MINUS_INF = float("-inf")

# 2^f on [-1/2, 1/2]: minimax polynomial, relative error 7.5e-8, about one unit in the last place
_EXP2 = (
    1.0000000716546567,
    0.693146967063863,
    0.2402211972393381,
    0.0555071327496241,
    0.009675541330687367,
    0.0013276471519235841,
)
# adding 1.5 * 2^23 rounds a float of this size to an integer and leaves that in its low bits
_ROUND = 12582912.0
# below this 2^x is no normal number and counts as 0
_LOWEST = -126.0

# left to itself the processor reads long arrays at two thirds of the speed (measured on a Xeon, one thread)
_AHEAD_BYTES = 4096
_LINE_BYTES = 64

Value = Any  # llvmlite's values carry no types


class VectorCode:
    """One function ``void name(i64* parameters)`` under construction.

    ``lanes``: floats of a vector. Values are llvmlite values; Python ints become ``i64``.
    """

    def __init__(self, name: str, lanes: int) -> None:
        self.lanes = lanes
        self.module = ir.Module(name)
        self.function = ir.Function(self.module, ir.FunctionType(ir.VoidType(), [I64.as_pointer()]), name)
        self._entry = self.function.append_basic_block("entry")
        self.b = ir.IRBuilder(self.function.append_basic_block("body"))
        self.vector = ir.VectorType(F32, lanes)
        self._intrinsics: dict[str, ir.Function] = {}

    def finish(self) -> str:
        """The module's IR."""
        self.b.ret_void()
        ir.IRBuilder(self._entry).branch(self.function.basic_blocks[1])
        return str(self.module)

    # --- integers and control flow

    def parameter(self, index: int) -> Value:
        """Entry ``index`` of the parameter array."""
        return self.b.load(self.b.gep(self.function.args[0], [self.i64(index)]))

    def i64(self, value: Value) -> Value:
        """An ``i64`` constant, or the value itself."""
        return ir.Constant(I64, value) if isinstance(value, int) else value

    def add(self, a: Value, b: Value) -> Value:
        """The sum a + b."""
        return self.b.add(self.i64(a), self.i64(b))

    def sub(self, a: Value, b: Value) -> Value:
        """The difference a - b."""
        return self.b.sub(self.i64(a), self.i64(b))

    def mul(self, a: Value, b: Value) -> Value:
        """The product a * b."""
        return self.b.mul(self.i64(a), self.i64(b))

    def smaller(self, a: Value, b: Value) -> Value:
        """min(a, b), signed."""
        a, b = self.i64(a), self.i64(b)
        return self.b.select(self.b.icmp_signed("<", a, b), a, b)

    def larger(self, a: Value, b: Value) -> Value:
        """max(a, b), signed."""
        a, b = self.i64(a), self.i64(b)
        return self.b.select(self.b.icmp_signed(">", a, b), a, b)

    def round_down(self, value: Value, step: int) -> Value:
        """Largest multiple of ``step`` that is at most ``value`` (>= 0)."""
        return self.mul(self.b.sdiv(self.i64(value), self.i64(step)), step)

    def round_up(self, value: Value, step: int) -> Value:
        """Smallest multiple of ``step`` that is at least ``value`` (>= 0)."""
        return self.round_down(self.add(value, step - 1), step)

    def less(self, a: Value, b: Value) -> Value:
        """Whether a < b, signed."""
        return self.b.icmp_signed("<", self.i64(a), self.i64(b))

    @contextlib.contextmanager
    def loop(self, start: Value, stop: Value, step: int = 1) -> Iterator[Value]:
        """Loop over start, start + step, ... < stop."""
        block = self.function.append_basic_block
        head, body, end = block("loop"), block("loop.body"), block("loop.end")
        before = self.b.block
        self.b.branch(head)
        self.b.position_at_end(head)
        counter = self.b.phi(I64)
        counter.add_incoming(self.i64(start), before)
        self.b.cbranch(self.less(counter, stop), body, end)
        self.b.position_at_end(body)
        yield counter
        counter.add_incoming(self.add(counter, step), self.b.block)
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextlib.contextmanager
    def repeat(self, condition: Callable[[], Value]) -> Iterator[None]:
        """Loop as long as ``condition``, computed before each round, is true."""
        block = self.function.append_basic_block
        head, body, end = block("repeat"), block("repeat.body"), block("repeat.end")
        self.b.branch(head)
        self.b.position_at_end(head)
        self.b.cbranch(condition(), body, end)
        self.b.position_at_end(body)
        yield
        self.b.branch(head)
        self.b.position_at_end(end)

    @contextlib.contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Run the block only where ``condition`` is true."""
        body, end = self.function.append_basic_block("then"), self.function.append_basic_block("end")
        self.b.cbranch(condition, body, end)
        self.b.position_at_end(body)
        yield
        self.b.branch(end)
        self.b.position_at_end(end)

    def variable(self, initial: Value) -> Variable:
        """A mutable value; LLVM keeps it in a register."""
        slot = ir.IRBuilder(self._entry).alloca(initial.type)
        variable = Variable(self, slot)
        variable.set(initial)
        return variable

    # --- memory

    def pointer(self, address: Value, kind: Any, offset: Value = 0) -> Value:
        """Typed pointer to element ``offset`` at a byte address."""
        return self.b.gep(self.b.inttoptr(address, kind.as_pointer()), [self.i64(offset)])

    def load(self, address: Value, kind: Any, offset: Value = 0) -> Value:
        """One element."""
        return self.b.load(self.pointer(address, kind, offset))

    def store(self, value: Value, address: Value, offset: Value = 0) -> None:
        """One element of the value's type."""
        self.b.store(value, self.pointer(address, value.type, offset))

    def load_vector(self, address: Value, offset: Value = 0, kind: Any = F32) -> Value:
        """``lanes`` elements of ``kind``, not necessarily aligned."""
        pointer = self.pointer(address, kind, offset)
        loaded = self.b.load(self.b.bitcast(pointer, ir.VectorType(kind, self.lanes).as_pointer()))
        loaded.align = _bytes(kind)
        return loaded

    def store_vector(self, value: Value, address: Value, offset: Value = 0) -> None:
        """``lanes`` elements of the vector's element type."""
        kind = value.type.element
        pointer = self.pointer(address, kind, offset)
        stored = self.b.store(value, self.b.bitcast(pointer, value.type.as_pointer()))
        stored.align = _bytes(kind)

    def prefetch(self, address: Value, size: int) -> None:
        """Ask for ``size`` bytes that a loop over memory from a byte address on will need soon.

        No harm beyond the end of an allocation.
        """
        name = "llvm.prefetch.p0"
        if name not in self._intrinsics:
            signature = ir.FunctionType(ir.VoidType(), [I8.as_pointer(), I32, I32, I32])
            self._intrinsics[name] = ir.Function(self.module, signature, name)
        for line in range(0, size, _LINE_BYTES):
            # a read, to be kept in every level, of data
            arguments = [self.pointer(address, I8, _AHEAD_BYTES + line), I32(0), I32(3), I32(1)]
            self.b.call(self._intrinsics[name], arguments)

    # --- vectors of floats

    def constant(self, value: float, kind: Any = F32) -> Value:
        """A vector that holds ``value`` in every lane."""
        return ir.Constant(ir.VectorType(kind, self.lanes), [value] * self.lanes)

    def splat(self, scalar: Value) -> Value:
        """A vector that holds ``scalar`` in every lane."""
        kind = ir.VectorType(scalar.type, self.lanes)
        first = self.b.insert_element(ir.Constant(kind, ir.Undefined), scalar, ir.Constant(I32, 0))
        zeros = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        return self.b.shuffle_vector(first, ir.Constant(kind, ir.Undefined), zeros)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """The sum a * b + c with one rounding."""
        return self._call("fma", a.type, [a, b, c])

    def absolute(self, a: Value) -> Value:
        """|a|."""
        return self._call("fabs", a.type, [a])

    def square_root(self, a: Value) -> Value:
        """The square root; NaN of negative numbers."""
        return self._call("sqrt", a.type, [a])

    def maximum(self, a: Value, b: Value) -> Value:
        """Larger of both; a where either is NaN."""
        return self.b.select(self.b.fcmp_ordered("<", a, b), b, a)

    def sum_lanes(self, a: Value) -> Value:
        """The sum of a vector's lanes, a power of two of them, added in pairs."""
        return self.fold_lanes(a, self.b.fadd)

    def max_lanes(self, a: Value) -> Value:
        """The largest of a vector's lanes, a power of two of them."""
        return self.fold_lanes(a, self.maximum)

    def fold_lanes(self, a: Value, pair: Callable[[Value, Value], Value]) -> Value:
        """A vector's lanes, a power of two of them, joined by ``pair``: halves first, down to one number."""
        lanes = self.lanes
        while lanes > 1:
            lanes //= 2
            order = ir.Constant(ir.VectorType(I32, self.lanes), [(i + lanes) % self.lanes for i in range(self.lanes)])
            a = pair(a, self.b.shuffle_vector(a, ir.Constant(a.type, ir.Undefined), order))
        return self.first_lane(a)

    def first_lane(self, a: Value) -> Value:
        """Lane 0 of a vector."""
        return self.b.extract_element(a, I32(0))

    def any(self, condition: Value) -> Value:
        """Whether a lane of a vector of ``i1`` is true."""
        bits = self.b.bitcast(condition, ir.IntType(self.lanes))
        return self.b.icmp_unsigned("!=", bits, ir.Constant(ir.IntType(self.lanes), 0))

    def round(self, x: Value) -> Value:
        """The nearest whole number, even on a tie; for |x| < 2^22."""
        return self.b.fsub(self.b.fadd(x, self.constant(_ROUND)), self.constant(_ROUND))

    def exp2(self, x: Value) -> Value:
        """2^x for x < 127; 0 below -126; NaN stays NaN."""
        return self.exp2_and_clamped(x)[0]

    def exp2_and_clamped(self, x: Value) -> tuple[Value, Value]:
        """2^x as :meth:`exp2`, and max(x, -126).

        x = k + f with integer k: a polynomial gives 2^f, adding k to the exponent bits multiplies by 2^k.
        """
        b = self.b
        low = self.constant(_LOWEST)
        clamped = b.select(b.fcmp_ordered("<", x, low), low, x)
        shifted = b.fadd(clamped, self.constant(_ROUND))
        fraction = b.fsub(clamped, b.fsub(shifted, self.constant(_ROUND)))
        power = self.constant(_EXP2[-1])
        for coefficient in reversed(_EXP2[:-1]):
            power = self.fma(power, fraction, self.constant(coefficient))
        integers = ir.VectorType(I32, self.lanes)
        exponent = b.shl(b.bitcast(shifted, integers), ir.Constant(integers, [23] * self.lanes))
        scaled = b.bitcast(b.add(b.bitcast(power, integers), exponent), self.vector)
        return b.select(b.fcmp_ordered("<", x, low), self.constant(0.0), scaled), clamped

    def _call(self, name: str, kind: Any, arguments: Sequence[Value]) -> Value:
        full = f"llvm.{name}.{_suffix(kind)}"
        if full not in self._intrinsics:
            signature = ir.FunctionType(kind, [kind] * len(arguments))
            self._intrinsics[full] = ir.Function(self.module, signature, full)
        return self.b.call(self._intrinsics[full], arguments)


class Variable:
    """A mutable value of a :class:`VectorCode`."""

    def __init__(self, code: VectorCode, slot: Value) -> None:
        self._code, self._slot = code, slot

    def get(self) -> Value:
        """Its value now."""
        return self._code.b.load(self._slot)

    def set(self, value: Value) -> None:
        """Give it a new value."""
        self._code.b.store(value, self._slot)


def _bytes(kind: Any) -> int:
    if isinstance(kind, ir.IntType):
        return int(kind.width) // 8
    return 2 if isinstance(kind, ir.HalfType) else 8 if isinstance(kind, ir.DoubleType) else 4


def _suffix(kind: Any) -> str:
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{_suffix(kind.element)}"
    return f"f{8 * _bytes(kind)}"
