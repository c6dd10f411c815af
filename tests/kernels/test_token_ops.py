"""Norm, rotary placement and gate against float64, at sizes that are and are not multiples of a vector."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.kernels.tasks import TaskTeam, phase_of, tasks_of
from softlookup.kernels.token_ops import gate_kernel, norm_kernel, place_kernel

U = 2.0**-24
SIZES = (3, 16, 37, 576)


def run(kernel, *parameters):
    task = tasks_of(kernel, 1)
    task[0, 1 : 1 + len(parameters)] = parameters
    with TaskTeam(1) as team:
        team.run(np.array([phase_of(task)], dtype=np.int64))


def numbers(random, *size, factor=1.0):
    return (factor * random.normal(size=size)).astype(np.float32)


def check_norm(x, weight, epsilon, given):
    y = np.zeros_like(x)
    stored = np.array([given], dtype=np.float32)
    run(norm_kernel(), x.ctypes.data, weight.ctypes.data, y.ctypes.data, len(x), stored.ctypes.data)
    wide = x.astype(np.float64)
    exact = weight * wide / np.sqrt((wide**2).mean() + epsilon)
    # a rounding per square of a lane's chain and per addition of the lanes, of which the root keeps half; 5 more
    bound = (len(x) / 2 + 5 + 5) * U * np.abs(exact).max()
    assert np.abs(y - exact).max() <= bound, f"off by {np.abs(y - exact).max()}, allowed {bound}"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("factor", [1e-4, 1.0, 1e4])
def test_norm(size, factor, seed):
    random = np.random.default_rng(seed)
    check_norm(numbers(random, size, factor=factor), numbers(random, size), 1e-5, 1e-5)


def test_a_norm_without_its_epsilon_is_caught(seed):
    random = np.random.default_rng(seed)
    with pytest.raises(AssertionError, match="off by"):
        check_norm(numbers(random, 64, factor=1e-3), numbers(random, 64), 1e-5, 0.0)


@pytest.mark.parametrize("size", SIZES)
def test_gate(size, seed):
    random = np.random.default_rng(seed)
    gate, up, y = numbers(random, size, factor=20.0), numbers(random, size), np.zeros(size, dtype=np.float32)
    run(gate_kernel(), gate.ctypes.data, up.ctypes.data, y.ctypes.data, size)
    wide = gate.astype(np.float64)
    exact = wide / (1 + np.exp(-wide)) * up
    # the exponent is rounded, which e^x multiplies by its size; e^x itself, the sum, the quotient, the product
    assert (np.abs(y - exact) <= (2 * np.abs(wide) + 8) * U * np.abs(exact)).all()


def test_gate_of_extreme_numbers():
    gate = np.array([-1e30, 1e30, np.inf, np.nan, 0.0], dtype=np.float32)
    up, y = np.ones(5, dtype=np.float32), np.zeros(5, dtype=np.float32)
    run(gate_kernel(), gate.ctypes.data, up.ctypes.data, y.ctypes.data, 5)
    assert abs(y[0]) <= 1e30 * 2.0**-125
    assert y[1] == np.float32(1e30)
    assert y[2] == np.inf
    assert np.isnan(y[3])
    assert y[4] == 0


def place(random, heads, dim, *, turned, position=7):
    """Source, cache [heads, 10, dim] after the call, cos, sin."""
    source, cos, sin = numbers(random, heads, dim), numbers(random, dim), numbers(random, dim)
    cache = np.zeros((heads, 10, dim), dtype=np.float32)
    cell = np.array([position], dtype=np.int64)
    run(
        place_kernel(), source.ctypes.data, cache.ctypes.data, heads, dim, 10 * dim, dim, cell.ctypes.data,
        cos.ctypes.data if turned else 0, sin.ctypes.data,
    )  # fmt: skip
    return source, cache, cos, sin


@pytest.mark.parametrize("dim", [8, 20, 64, 96])
def test_heads_are_turned_into_their_place(dim, seed):
    source, cache, cos, sin = (a.astype(np.float64) for a in place(np.random.default_rng(seed), 3, dim, turned=True))
    half = dim // 2
    turned = np.concatenate([-source[:, half:], source[:, :half]], 1)
    exact, size = source * cos + turned * sin, np.abs(source * cos) + np.abs(turned * sin)
    assert (np.abs(cache[:, 7] - exact) <= 2 * U * size).all()
    cache[:, 7] = 0
    assert not cache.any()


@pytest.mark.parametrize("dim", [8, 20, 64])
def test_heads_are_copied_into_their_place(dim, seed):
    source, cache, _, _ = place(np.random.default_rng(seed), 2, dim, turned=False)
    assert np.array_equal(cache[:, 7], source)
    cache[:, 7] = 0
    assert not cache.any()


def test_heads_are_turned_in_place(seed):
    random = np.random.default_rng(seed)
    heads, cos, sin = numbers(random, 3, 24), numbers(random, 24), numbers(random, 24)
    before = heads.astype(np.float64)
    cell = np.array([5], dtype=np.int64)
    run(
        place_kernel(), heads.ctypes.data, heads.ctypes.data, 3, 24, 24, 0, cell.ctypes.data, cos.ctypes.data,
        sin.ctypes.data,
    )  # fmt: skip
    turned = np.concatenate([-before[:, 12:], before[:, :12]], 1)
    assert np.abs(heads - (before * cos + turned * sin)).max() <= 4 * U * np.abs(before).max() * 4
