"""Attention of one query row against float64: any shape, first key, mask; the same on any number of threads."""

from __future__ import annotations

import math

import numpy as np
import pytest

from softlookup.kernels.row_attention import PIECE_KEYS, RowShape, row_tasks
from softlookup.kernels.tasks import TaskTeam, phase_of

U = 2.0**-24
# (kv heads, group, dim, keys, first key)
SHAPES = [(3, 3, 64, 600, 0), (2, 2, 8, 77, 0), (1, 7, 80, 513, 300), (4, 1, 128, 256, 0), (2, 2, 20, 1, 0)]


class Case:
    """Random inputs in storage that is longer than the keys in use."""

    def __init__(self, kv_heads, group, dim, keys, first, random, *, masked=False, size=1.0):
        self.shape = RowShape(dim, group, masked)
        self.kv_heads, self.keys, self.first = kv_heads, keys, first
        self.room = keys + 30
        self.query = (size * random.normal(size=(kv_heads * group, dim))).astype(np.float32)
        self.key, self.value = random.normal(size=(2, kv_heads, self.room, dim)).astype(np.float32)
        # what lies behind the last key must not be looked at
        self.key[:, keys:] = self.value[:, keys:] = np.nan
        self.mask = random.random(self.room) < 0.6 if masked else None
        if masked:
            self.mask[keys - 1] = True
        self.scale = dim**-0.5

    def run(self, threads=1, shift=0):
        pieces = -(-self.room // PIECE_KEYS) + 1
        heads, dim = self.query.shape
        output = np.full((heads, dim), np.nan, dtype=np.float32)
        state = np.full((heads, pieces, self.shape.state_floats), np.nan, dtype=np.float32)
        cells = np.array([self.first, self.keys + shift], dtype=np.int64)
        factor = np.array([self.scale * math.log2(math.e)], dtype=np.float32)
        tasks, joins = row_tasks(
            self.shape, self.kv_heads, pieces, state=state.ctypes.data, first=cells.ctypes.data,
            last=cells.ctypes.data + 8, factor=factor.ctypes.data,
        )  # fmt: skip
        head = np.tile(np.arange(self.kv_heads), pieces)
        tasks[:, 1] += self.query.ctypes.data
        tasks[:, 2] = self.key.ctypes.data + self.key.strides[0] * head
        tasks[:, 3] = self.value.ctypes.data + self.value.strides[0] * head
        tasks[:, 9:11] = dim
        tasks[:, 12] = 0 if self.mask is None else self.mask.ctypes.data
        joins[:, 2] += output.ctypes.data
        used = tasks[: self.kv_heads * -(-self.keys // PIECE_KEYS)]
        with TaskTeam(threads) as team:
            team.run(np.array([phase_of(used), phase_of(joins)], dtype=np.int64))
        return output

    def exact(self):
        """Output in float64, and the largest error that float32 may make."""
        seen = slice(self.first, self.keys)
        group = self.shape.group
        query, key, value = (a.astype(np.float64) for a in (self.query, self.key[:, seen], self.value[:, seen]))
        key, value = key.repeat(group, 0), value.repeat(group, 0)
        scores = np.einsum("hd,htd->ht", query, key) * self.scale
        sizes = np.einsum("hd,htd->ht", np.abs(query), np.abs(key)) * self.scale
        if self.mask is not None:
            scores = np.where(self.mask[seen], scores, -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        # a score has a rounding per product, of the scale, of subtracting the maximum, of 2^x (one unit of it);
        # weights and their sum, and a rounding per key of a piece and per piece
        of_a_weight = (query.shape[1] + 8) * U * sizes.max() + 4 * U
        of_sums = (PIECE_KEYS + self.keys / PIECE_KEYS + 8) * U
        bound = 2 * (of_a_weight + of_sums) * np.abs(value).max()
        return np.einsum("ht,htd->hd", weights, value), bound


def check(case, **changes):
    exact, bound = case.exact()
    error = np.abs(case.run(**changes) - exact).max()
    assert error <= bound, f"off by {error}, allowed {bound}"


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_row_equals_the_exact_softmax(shape, masked, seed):
    check(Case(*shape, np.random.default_rng(seed), masked=masked))


def test_large_scores_do_not_overflow(seed):
    check(Case(2, 2, 64, 700, 0, np.random.default_rng(seed), size=300.0))


def test_a_piece_whose_keys_are_all_hidden_counts_for_nothing(seed):
    case = Case(2, 3, 16, 3 * PIECE_KEYS, 0, np.random.default_rng(seed), masked=True)
    case.mask[PIECE_KEYS : 2 * PIECE_KEYS] = False
    check(case)


def test_threads_change_no_bit(seed):
    case = Case(3, 3, 64, 1500, 0, np.random.default_rng(seed))
    alone = case.run(1)
    assert all(np.array_equal(case.run(threads), alone) for threads in (2, 3))


def test_one_key_too_few_is_caught(seed):
    case = Case(2, 2, 8, 20, 0, np.random.default_rng(seed))
    with pytest.raises(AssertionError, match="off by"):
        check(case, shift=-1)


@pytest.mark.parametrize("part", ["query", "key", "value"])
def test_nan_comes_through(part, seed):
    case = Case(1, 2, 16, 300, 0, np.random.default_rng(seed))
    array = getattr(case, part)
    array[(0,) * array.ndim] = np.nan
    assert np.isnan(case.run()[0, 0])
