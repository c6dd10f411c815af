"""The small steps between the matrices when one token is decoded: norm, rotary positions, gate.

Each is a task of :mod:`softlookup.kernels.tasks` and takes well under a microsecond at common sizes. Sizes need
not be multiples of the vector length; an output may be its own input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

from softlookup.kernels.compiler import CompiledFunction, compile_function, host_shape
from softlookup.kernels.vector_code import F32, I64, Value, VectorCode

# of each task, after the address of its function: addresses of float32, sizes in floats
NORM_PARAMETERS = ("x", "weight", "y", "size", "epsilon")
# heads of ``size`` numbers; target is at head 0 of position 0 and its strides are those of a cache; the position
# is an int64 cell. cos and sin [size] of the position; cos 0 = copy
PLACE_PARAMETERS = ("source", "target", "heads", "size", "target_h", "target_t", "position", "cos", "sin")
GATE_PARAMETERS = ("gate", "up", "y", "size")

_LOG2E = math.log2(math.e)


@functools.cache
def norm_kernel() -> CompiledFunction:
    """RMS norm: y = weight x / sqrt(mean(x^2) + epsilon), Zhang and Sennrich 2019 (arXiv 1910.07467)."""
    c, p = _begin("norm", NORM_PARAMETERS)
    size = p["size"]
    squares = c.variable(c.constant(0.0))
    whole = c.round_down(size, c.lanes)
    with c.loop(0, whole, c.lanes) as at:
        x = c.load_vector(p["x"], at)
        squares.set(c.fma(x, x, squares.get()))
    total = c.variable(c.sum_lanes(squares.get()))
    with c.loop(whole, size) as at:
        x = c.load(p["x"], F32, at)
        total.set(c.fma(x, x, total.get()))
    mean = c.b.fdiv(total.get(), c.b.sitofp(size, F32))
    root = c.square_root(c.b.fadd(mean, c.load(p["epsilon"], F32)))
    factor = c.b.fdiv(F32(1.0), root)

    def scaled(x: Value, weight: Value) -> Value:
        return c.b.fmul(weight, c.b.fmul(x, factor if x.type == F32 else c.splat(factor)))

    _elementwise(c, size, [p["x"], p["weight"]], p["y"], scaled)
    return compile_function(c.finish(), "norm")


@functools.cache
def place_kernel() -> CompiledFunction:
    """Heads into a cache, or in place, at their rotary position.

    With halves a and b of a head: (a cos - b sin, b cos + a sin), as in GPT-NeoX and Llama; or copied unchanged.
    """
    c, p = _begin("place", PLACE_PARAMETERS)
    half = c.b.sdiv(p["size"], c.i64(2))
    row = c.mul(c.load(p["position"], I64), p["target_t"])
    rotated = c.b.icmp_signed("!=", p["cos"], c.i64(0))
    with c.loop(0, p["heads"]) as head:
        source = c.add(p["source"], c.mul(c.mul(head, p["size"]), 4))
        target = c.add(p["target"], c.mul(c.add(row, c.mul(head, p["target_h"])), 4))
        with c.when(rotated):
            _rotate(c, p, source, target, half)
        with c.when(c.b.not_(rotated)):
            _elementwise(c, p["size"], [source], target, lambda x: x)
    return compile_function(c.finish(), "place")


def _rotate(c: VectorCode, p: dict[str, Value], source: Value, target: Value, half: Value) -> None:
    for at, load, store in _steps(c, half):
        behind = c.add(at, half)
        a, b = load(source, at), load(source, behind)
        near = c.b.fsub(c.b.fmul(a, load(p["cos"], at)), c.b.fmul(b, load(p["sin"], at)))
        far = c.b.fadd(c.b.fmul(b, load(p["cos"], behind)), c.b.fmul(a, load(p["sin"], behind)))
        store(near, target, at)
        store(far, target, behind)


@functools.cache
def gate_kernel() -> CompiledFunction:
    """Gated unit: y = silu(gate) up, silu(z) = z / (1 + exp(-z)): Shazeer 2020 (arXiv 2002.05202)."""
    c, p = _begin("gate", GATE_PARAMETERS)

    def gated(gate: Value, up: Value) -> Value:
        wide = gate if gate.type != F32 else c.splat(gate)
        # 2^126 for very negative gates: the quotient is then as good as 0
        exponent = c.b.fmul(wide, c.constant(-_LOG2E))
        top = c.constant(126.0)
        power = c.exp2(c.b.select(c.b.fcmp_ordered(">", exponent, top), top, exponent))
        silu = c.b.fdiv(wide, c.b.fadd(c.constant(1.0), power))
        return c.b.fmul(silu if gate.type != F32 else c.first_lane(silu), up)

    _elementwise(c, p["size"], [p["gate"], p["up"]], p["y"], gated)
    return compile_function(c.finish(), "gate")


def _begin(name: str, parameters: Sequence[str]) -> tuple[VectorCode, dict[str, Value]]:
    c = VectorCode(name, host_shape().lanes)
    return c, {parameter: c.parameter(index) for index, parameter in enumerate(parameters, 1)}


def _elementwise(
    c: VectorCode, size: Value, inputs: Sequence[Value], output: Value, function: Callable[..., Value]
) -> None:
    """output[i] = function(inputs[i]) on vectors, then on what is left of them one by one."""
    for at, load, store in _steps(c, size):
        store(function(*(load(address, at) for address in inputs)), output, at)


def _steps(c: VectorCode, size: Value) -> Iterator[tuple[Value, Callable[..., Value], Callable[..., None]]]:
    """Two loops, over whole vectors and over single numbers: the place, and how to load and store there."""
    whole = c.round_down(size, c.lanes)
    with c.loop(0, whole, c.lanes) as at:
        yield at, c.load_vector, c.store_vector
    with c.loop(whole, size) as at:
        yield at, lambda address, offset: c.load(address, F32, offset), c.store
