"""Span mass, column sums and top-k: tiles of any size, ties, shards of the keys, long inputs in bounded memory."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.memory import peak_bytes
from attention.oracle import Case, Oracle, assert_equal, assert_statistics, assert_within, column_sums
from attention.strategies import cases, every_statistic, numbers, property_test, rich_case
from softlookup.attention import StatsRequest, key_mass, second_pass, tiles
from softlookup.attention.inputs import check_inputs
from softlookup.errors import UsageError


@property_test
@given(cases(dtypes=(torch.float64,), max_keys=65), st.integers(2, 9), st.integers(3, 50))
def test_tiles_of_any_size_give_the_same(case, q_tile, kv_tile):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(second_pass, "tile_shape", lambda inputs, rows: (q_tile, kv_tile))
        request = every_statistic(case, top_k=3)
        assert_statistics(case.run("tiled", request).stats, case, request)


def shards(case: Case, lse: torch.Tensor, *cuts: int, **changes) -> torch.Tensor:
    """Key mass of the keys cut into parts, each part by itself."""
    whole = case.key.shape[2]
    offset = whole - case.query.shape[2] if case.q_offset is None else case.q_offset
    parts = []
    for start, stop in zip((0, *cuts), (*cuts, whole), strict=True):
        mask = case.mask if case.mask is None or case.mask.shape[-1] == 1 else case.mask[..., start:stop]
        rules = {**case.rules, "q_offset": offset - start, "mask": mask, **changes}
        del rules["sinks"]
        parts.append(key_mass(case.query, case.key[:, :, start:stop], lse, **rules))
    return torch.cat(parts, dim=-1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("rows", [None, [0, 12, 3]])
def test_key_mass_of_shards_is_that_of_the_whole(dtype, rows, generator):
    case = rich_case(generator, dtype=dtype)
    lse = case.run("tiled", StatsRequest()).stats.lse
    oracle = Oracle(case)
    got = shards(case, lse, 7, 8, 25, rows=rows)
    want, bound = column_sums(oracle, list(range(13)) if rows is None else rows, oracle.weight_error)
    assert got.dtype == lse.dtype
    assert_within("key mass", got, want, bound)


def lse_of_each_part(case, lse):
    """Column sums by the part's own lse, as if the part were all."""
    return torch.cat([shards(case, lse - 0.1, 7)[..., :7], shards(case, lse, 7)[..., 7:]], -1)


def alignment_of_each_part(case, lse):
    return shards(case, lse, 7, q_offset=None)


def sinks_left_out(case, lse):
    return shards(case, case.run("tiled", StatsRequest()).stats.lse_without_sinks, 7)


@pytest.mark.parametrize("mutant", [lse_of_each_part, alignment_of_each_part, sinks_left_out])
def test_wrong_shards_are_caught(mutant, generator):
    case = rich_case(generator, mask=None)
    oracle = Oracle(case)
    got = mutant(case, case.run("tiled", StatsRequest()).stats.lse)
    with pytest.raises(AssertionError):
        assert_within("key mass", got, *column_sums(oracle, list(range(13)), oracle.weight_error))


def test_key_mass_refuses_what_does_not_fit(generator):
    case = rich_case(generator, sinks=None)
    lse = case.run("tiled", StatsRequest()).stats.lse
    rules = {name: value for name, value in case.rules.items() if name != "sinks"}
    empty = torch.where(case.run("tiled", StatsRequest()).stats.visible_keys > 1, lse, -torch.inf)
    for wrong, message in (
        (lse[:, :, 1:], r"lse must be floats \[B, Hq, Tq\] = \[2, 6, 13\], got torch.float32 \[2, 6, 12\]"),
        (lse.long(), "lse must be floats"),
        (None, "got NoneType"),
        (lse * torch.nan, "lse must not be NaN"),
        (lse + torch.inf, r"NaN or \+inf"),
        (torch.full_like(lse, -torch.inf), "sees keys here; pass the lse over all parts"),
        (empty, "sees keys here") if bool((empty != lse).any()) else (None, "NoneType"),
    ):
        with pytest.raises(UsageError, match=message):
            key_mass(case.query, case.key, wrong, **rules)
    with pytest.raises(UsageError, match="rows"):
        key_mass(case.query, case.key, lse, rows=[13], **rules)
    with pytest.raises(UsageError, match="key must be finite"):
        key_mass(case.query, case.key + torch.inf, lse, **rules)
    assert_equal("no rows", key_mass(case.query, case.key, lse, rows=[], **rules), torch.zeros(2, 6, 37))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("k", [1, 2, 5, 8])
def test_top_k_takes_the_first_of_equals(k, dtype, generator, monkeypatch):
    """Few different scores, so that equals lie on both sides of every cut and in different tiles."""
    monkeypatch.setattr(second_pass, "tile_shape", lambda inputs, rows: (2, 7))
    key = torch.randint(0, 3, (1, 1, 30, 1), generator=generator).to(dtype)
    query = torch.ones(1, 2, 5, 1, dtype=dtype)
    visible = torch.rand(5, 30, generator=generator) < 0.5
    visible[0] = False
    inputs = check_inputs(query, key, key, mask=visible, scale=1.0)
    got = second_pass.top_k(inputs, torch.zeros(1, 2, 5, dtype=dtype), k)
    for row in range(5):
        best = sorted((-float(key[0, 0, j]), j) for j in range(30) if visible[row, j])[:k]
        want = [j for _, j in best] + [-1] * (k - len(best))
        assert got.index[0, :, row].tolist() == [want, want]
        assert got.score[0, 0, row].tolist() == [-minus for minus, _ in best] + [-torch.inf] * (k - len(best))


def test_top_k_may_exceed_the_keys(generator):
    case = rich_case(generator, kv_length=14)
    request = every_statistic(case, top_k=20)
    assert_statistics(case.run("tiled", request).stats, case, request)


def test_spans_without_keys_and_rows(generator):
    case = rich_case(generator)
    for spans, rows, shape in (([], None, (13, 0)), ([(3, 3), (0, 0)], [1], (1, 2)), ([(0, 37)], [], (0, 1))):
        got = case.run("tiled", StatsRequest(span_mass=spans, span_rows=rows)).stats
        assert got.span_mass.shape == (2, 6, *shape)
        assert not got.span_mass.any()


def test_many_spans_over_long_keys_in_bounded_memory(generator):
    """128 rows, 500 spans, nested and overlapping, in less than their 12 MiB of weights twice."""
    length, rows = 4096, 128
    query = numbers(generator, (1, 6, rows, 8), torch.float32)
    key = numbers(generator, (1, 3, length, 8), torch.float32)
    starts = torch.randint(0, length - 400, (498,), generator=generator).tolist()
    spans = [(start, start + start % 397) for start in starts] + [(0, length), (length // 2, length)]
    case = Case(query, key, key, causal=True)
    inputs = check_inputs(query, key, key, causal=True)
    oracle = Oracle(case)
    lse = oracle.lse.float()
    # the answer, the weights per segment, and a few tiles
    assert peak_bytes(lambda: second_pass.span_mass(inputs, lse, spans, range(rows))) <= 24 * 2**20
    got = second_pass.span_mass(inputs, lse, spans, range(rows))
    bounds = torch.nn.functional.pad(oracle.weights.cumsum(-1), (1, 0))
    want = torch.stack([bounds[..., stop] - bounds[..., start] for start, stop in spans], -1)
    assert_within("span mass", got, want, oracle.weight_error[..., None] * want + oracle.underflow + length * 2**-52)


def test_column_sums_of_many_rows_lose_no_digits(generator, monkeypatch):
    """A row's weight is 1: the column of one key is the number of rows, also where float32 sums stop at 2^24."""
    monkeypatch.setattr(tiles, "TILE_SCORES", 2**22)
    monkeypatch.setattr(tiles, "Q_TILE", 2**12)
    query = torch.zeros(1, 1, 2**18, 1)
    inputs = check_inputs(query, query[:, :, :1], query[:, :, :1])
    assert float(second_pass.column_sums(inputs, torch.zeros(1, 1, 2**18), None)) == 2**18


def test_key_mass_does_not_drop_gradients_silently(generator):
    query, key = (numbers(generator, (1, 2, 6, 8), torch.float32) for _ in range(2))
    with pytest.raises(UsageError, match="computes no gradients"):
        key_mass(query.requires_grad_(), key, torch.zeros(1, 2, 6))
