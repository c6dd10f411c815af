"""The language of the kernels, each operation as a compiled function against numpy in float64."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from softlookup.kernels.compiler import compile_function, host_shape
from softlookup.kernels.vector_code import F32, I32, VectorCode

LANES = (4, 8, 16)
EPS = float(np.finfo(np.float32).eps)


def call(code, *numbers):
    function = compile_function(code.finish(), code.function.name)
    function((ctypes.c_int64 * len(numbers))(*numbers))


def mapped(lanes, operation, numbers):
    """``operation`` on every vector of ``numbers`` (float32, a multiple of ``lanes``)."""
    code = VectorCode("mapped", lanes)
    source, target, count = (code.parameter(index) for index in range(3))
    with code.loop(0, count, lanes) as at:
        code.store_vector(operation(code, code.load_vector(source, at)), target, at)
    numbers = np.ascontiguousarray(numbers, dtype=np.float32)
    result = np.zeros_like(numbers)
    call(code, numbers.ctypes.data, result.ctypes.data, len(numbers))
    return result


@pytest.mark.parametrize("lanes", LANES)
def test_exp2_is_right_to_two_units_in_the_last_place(lanes, seed):
    random = np.random.default_rng(seed)
    numbers = np.concatenate([random.uniform(-126, 0, 4096), random.uniform(-1, 1, 4096), np.arange(-126.0, 6)])
    numbers = numbers[: len(numbers) // lanes * lanes].astype(np.float32)
    exact = np.exp2(numbers.astype(np.float64))
    error = np.abs(mapped(lanes, VectorCode.exp2, numbers) / exact - 1)
    assert error.max() <= 2 * EPS


def test_exp2_below_the_normal_numbers_is_zero_and_nan_stays_nan():
    numbers = [-126.0, -126.5, -127.0, -1e4, -np.inf, np.nan, 0.0, 1.0]
    result = mapped(8, VectorCode.exp2, numbers)
    assert result[0] == pytest.approx(2.0**-126, rel=2 * EPS)
    assert result[1:5].tolist() == [0.0] * 4
    assert np.isnan(result[5])
    assert result[6:].tolist() == pytest.approx([1.0, 2.0], rel=2 * EPS)


def test_the_clamped_argument_is_finite_where_exp2_is_zero():
    result = mapped(8, lambda code, x: code.exp2_and_clamped(x)[1], [-np.inf, -500.0, -126.0, -3.5, 0, 1, 2, 3])
    assert result.tolist() == [-126.0, -126.0, -126.0, -3.5, 0, 1, 2, 3]


@pytest.mark.parametrize("lanes", LANES)
def test_maximum_ignores_a_nan_on_the_right(lanes):
    def against_zero(code, x):
        return code.maximum(code.constant(0.0), x)

    numbers = np.tile(np.array([np.nan, -1.0, 2.0, 0.0], dtype=np.float32), lanes)
    assert mapped(lanes, against_zero, numbers).tolist() == [0.0, 0.0, 2.0, 0.0] * lanes


def test_fused_multiply_add_rounds_once():
    a = np.float32(1 + 2**-12)
    product = float(a) * float(a)  # needs 25 bits

    def residue(code, x):
        return code.fma(x, x, code.constant(-float(np.float32(product))))

    assert mapped(4, residue, [a] * 4)[0] == np.float32(product - float(np.float32(product))) != 0


def test_any_looks_at_every_lane():
    def flagged(code, x):
        some = code.any(code.b.fcmp_ordered(">", x, code.constant(0.0)))
        return code.splat(code.b.uitofp(some, F32))

    for lane in range(8):
        numbers = np.zeros(16, dtype=np.float32)
        numbers[lane] = 1.0
        assert mapped(8, flagged, numbers).tolist() == [1.0] * 8 + [0.0] * 8


def test_loops_conditions_variables_and_rounding():
    code = VectorCode("control", 4)
    target, stop = code.parameter(0), code.parameter(1)
    total = code.variable(code.i64(0))
    with code.loop(3, stop, 2) as i, code.when(code.less(i, 8)):
        total.set(code.add(total.get(), code.mul(i, 10)))
    code.store(total.get(), target, 0)
    code.store(code.round_down(stop, 4), target, 1)
    code.store(code.round_up(stop, 4), target, 2)
    code.store(code.smaller(code.sub(2, stop), code.larger(stop, 5)), target, 3)
    result = np.zeros(4, dtype=np.int64)
    call(code, result.ctypes.data, 13)
    assert result.tolist() == [10 * (3 + 5 + 7), 12, 16, -11]


def test_loops_may_run_zero_times():
    code = VectorCode("nothing", 4)
    with code.loop(5, 5):
        code.store(code.i64(1), code.parameter(0))
    result = np.zeros(1, dtype=np.int64)
    call(code, result.ctypes.data)
    assert result[0] == 0


def test_unaligned_vectors_of_integers():
    code = VectorCode("integers", 8)
    loaded = code.load_vector(code.parameter(0), 1, I32)
    code.store_vector(code.b.add(loaded, code.constant(5, I32)), code.parameter(1), 3)
    source, target = np.arange(9, dtype=np.int32), np.zeros(11, dtype=np.int32)
    call(code, source.ctypes.data, target.ctypes.data)
    assert target.tolist() == [0, 0, 0, *range(6, 14)]


def test_invalid_code_is_refused_before_it_runs():
    code = VectorCode("broken", 4)
    with pytest.raises(RuntimeError, match="expected instruction"):
        compile_function(code.finish().replace("ret void", ""), "broken")


def test_the_register_tile_fits_some_processor():
    shape = host_shape()
    registers = {8: 16, 16: 32}[shape.lanes]
    assert shape.vectors * shape.unroll + shape.vectors + 1 <= registers
    assert shape.rows == shape.lanes * shape.vectors
