"""The implementation for long inputs against the oracle: any call, sizes around every block, bounded memory.

The engine for CPUs is compiled anew for every head size and choice of statistics, which takes most of a second:
float64 draws from all of them, the other dtypes from a few.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import given

from attention.memory import peak_bytes
from attention.oracle import Case, assert_close_to_oracle, assert_statistics
from attention.strategies import (
    EDGES,
    cases,
    cases_with_requests,
    every_statistic,
    numbers,
    property_test,
    rich_case,
)
from softlookup.attention import StatsRequest, attention_statistics, tiles
from softlookup.attention.impl.tiled_torch import torch_row_pass
from softlookup.attention.inputs import check_inputs
from softlookup.attention.row_sums import finalize, output_scale
from softlookup.attention.second_pass import column_sums, span_mass, top_k
from softlookup.attention.stats import AttentionOutput

FEW_DIMS = ((17, 5),)


def check(case: Case, request: StatsRequest | None) -> None:
    assert_close_to_oracle(case.run("tiled", request), case, request)


@property_test
@given(cases_with_requests(dtypes=(torch.float64,)))
def test_any_call_equals_the_definition(drawn):
    check(*drawn)


@property_test
@given(cases(dtypes=(torch.float32,), dims=FEW_DIMS))
def test_any_float32_call_equals_the_definition(case):
    check(case, every_statistic(case))


@property_test
@given(cases(dtypes=(torch.bfloat16, torch.float16), dims=FEW_DIMS, softcaps=(None,)))
def test_any_half_precision_call_equals_the_definition(case):
    check(case, every_statistic(case))


@pytest.mark.parametrize("kv_length", EDGES)
def test_sizes_around_every_block(kv_length, generator):
    """Prefill, a chunk behind a cache, decoding, and more rows than keys."""
    for q_length, window in ((kv_length, None), (min(kv_length, 7), None), (1, 16), (min(kv_length, 40) + 9, 33)):
        query = numbers(generator, (1, 4, q_length, 17), torch.float32)
        key = numbers(generator, (1, 2, kv_length, 17), torch.float32)
        value = numbers(generator, (1, 2, kv_length, 5), torch.float32)
        case = Case(query, key, value, causal=True, sliding_window=window)
        check(case, every_statistic(case))


@pytest.mark.parametrize("request_of", [every_statistic, lambda case: None, lambda case: StatsRequest()])
def test_statistics_change_nothing_in_the_output(request_of, generator):
    case = rich_case(generator)
    output = case.run("tiled", request_of(case)).output
    assert torch.equal(output, case.run("tiled", every_statistic(case)).output)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_statistics_alone_are_the_same(dtype, generator):
    case = rich_case(generator, dtype=dtype)
    request = every_statistic(case)
    alone = attention_statistics(case.query, case.key, stats=request, **case.rules)
    assert_statistics(alone, case, request)


def by_torch(case: Case, request: StatsRequest, q_tile: int, kv_tile: int) -> AttentionOutput:
    """The engine for GPUs and float64 with tiles of this size."""
    inputs = check_inputs(case.query, case.key, case.value, **case.rules)
    sums, output = torch_row_pass(inputs, request, with_output=True, q_tile=q_tile, kv_tile=kv_tile)
    output = output * output_scale(sums, inputs.sinks)[..., None]
    bare = finalize(sums, inputs, StatsRequest())
    stats = finalize(
        sums,
        inputs,
        request,
        top_k=top_k(inputs, bare.lse, request.top_k),
        span_mass=span_mass(inputs, bare.lse, request.span_mass, request.span_rows),
        key_mass=column_sums(inputs, bare.lse, request.key_mass_rows),
    )
    return AttentionOutput(output.to(inputs.dtype), stats, stats.empty_rows)


TILES = [(5, 1), (1, 7), (3, 16), (4, 37), (13, 36), (13, 37), (100, 100)]


@pytest.mark.parametrize(("q_tile", "kv_tile"), TILES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_tiles_of_any_size_give_the_same(q_tile, kv_tile, dtype, generator, monkeypatch):
    monkeypatch.setattr(tiles, "tile_shape", lambda inputs, rows: (q_tile, kv_tile))
    monkeypatch.setattr("softlookup.attention.second_pass.tile_shape", lambda inputs, rows: (q_tile, kv_tile))
    for changes in ({}, {"mask": None, "sliding_window": 5, "sinks": None}, {"causal": False, "softcap": None}):
        case = rich_case(generator, dtype=dtype, **changes)
        request = every_statistic(case)
        assert_close_to_oracle(by_torch(case, request, q_tile, kv_tile), case, request)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_equal_scores_name_the_first_key(dtype, generator):
    """Scores of 0, in every tile and vector lane, with and without a mask that hides the first keys."""
    query = numbers(generator, (1, 2, 3, 17), dtype) * 0
    key, value = numbers(generator, (1, 1, 300, 17), dtype), numbers(generator, (1, 1, 300, 5), dtype)
    for first in (0, 1, 17, 150, 299):
        mask = torch.arange(300) >= first
        case = Case(query, key, value, mask=mask.expand(3, 300))
        stats = case.run("tiled", every_statistic(case)).stats
        assert torch.equal(stats.argmax, torch.full((1, 2, 3), first))
        want = torch.arange(first, first + 4).where(torch.arange(first, first + 4) < 300, -1)
        assert torch.equal(stats.top_k.index, want.expand(1, 2, 3, 4))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_first_of_two_largest_keys_is_named(dtype, generator):
    key = numbers(generator, (1, 1, 130, 17), dtype)
    key[:, :, [40, 41, 90, 129]] = 3 * torch.ones(17, dtype=dtype)
    query = torch.ones(1, 1, 2, 17, dtype=dtype)
    case = Case(query, key, key[..., :5])
    stats = case.run("tiled", every_statistic(case)).stats
    assert torch.equal(stats.argmax, torch.full((1, 1, 2), 40))
    assert torch.equal(stats.top_k.index, torch.tensor([40, 41, 90, 129]).expand(1, 1, 2, 4))


def test_no_rows_give_an_empty_answer(generator):
    for dtype in (torch.float32, torch.float64):
        case = rich_case(generator, dtype=dtype, mask=None)
        case = case.changed(query=case.query[:, :, :0])
        request = every_statistic(case)
        got = case.run("tiled", request)
        assert got.output.shape == (2, 6, 0, 5)
        assert_close_to_oracle(got, case, request)


def test_memory_grows_with_the_length_only(generator, monkeypatch):
    """The torch engine holds less than the 1024 x 1024 scores of one head, 8 MiB."""
    monkeypatch.setattr(tiles, "TILE_SCORES", 2**16)
    length = 1024
    query = numbers(generator, (1, 2, length, 4), torch.float64)
    case = Case(query, query[:, :1], query[:, :1], causal=True)
    request = StatsRequest(max_score=True, distance=True, key_mass=True, span_mass=[(0, 100)], span_rows=[5, 1000])
    assert 0 < peak_bytes(lambda: case.run("tiled", request)) <= 4 * 2**20
    assert peak_bytes(lambda: case.run("reference", request)) >= 8 * 2**20


@pytest.mark.parametrize(
    ("rows", "window", "band"), [((0, 4), None, (0, 24)), ((7, 9), 6, (22, 29)), ((0, 9), 3, (18, 29))]
)
def test_only_keys_that_a_row_can_see_are_visited(rows, window, band, generator):
    query = numbers(generator, (1, 2, 10, 8), torch.float64)
    key = numbers(generator, (1, 2, 50, 8), torch.float64)
    inputs = check_inputs(query, key, key, causal=True, q_offset=20, sliding_window=window)
    visited = [
        key for tile in tiles.score_tiles(inputs, torch.arange(rows[0], rows[1]), 4) for key in tile.keys.tolist()
    ]
    assert visited == list(range(*band))
