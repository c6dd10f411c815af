"""The compiled kernel in the register tiles of other processors, at tile borders, on threads, with planted faults."""

from __future__ import annotations

import threading

import pytest
import torch

from attention.oracle import Case, assert_close_to_oracle
from attention.strategies import numbers, rich_case
from softlookup.attention import StatsRequest
from softlookup.attention.impl import cpu_kernel, tiled_cpu
from softlookup.attention.impl.tiled_cpu import cpu_row_pass
from softlookup.attention.inputs import check_inputs
from softlookup.attention.row_sums import finalize
from softlookup.attention.stats import AttentionOutput
from softlookup.errors import UsageError
from softlookup.kernels.compiler import VectorShape, host_shape

# registers of SSE or NEON, AVX2 and AVX-512: LLVM splits what this machine lacks
SHAPES = (VectorShape(4, 2, 3), VectorShape(8, 2, 6), VectorShape(16, 3, 8))
FIRST_PASS = ("lse", "entropy", "max_weight", "argmax", "max_score", "sink_mass", "distance")


def first_pass(case: Case) -> StatsRequest:
    """Everything that the kernel itself computes."""
    keys = case.key.shape[2]
    return StatsRequest(
        normalized_entropy=True, max_score=True, distance=True, sink_mass=sorted({0, keys // 2, keys - 1})
    )


def by_kernel(case: Case, shape: VectorShape, tile: int) -> AttentionOutput:
    inputs = check_inputs(case.query, case.key, case.value, **case.rules)
    request = first_pass(case)
    sums, output = cpu_row_pass(inputs, request, with_output=True, shape=shape, tile=tile)
    stats = finalize(sums, inputs, request)
    return AttentionOutput(output, stats, stats.empty_rows)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.lanes}x{shape.vectors}x{shape.unroll}")
def test_register_tiles_of_other_processors(shape, generator):
    """One tile of keys, several, and ragged ends; every rule at once and each alone."""
    for changes in (
        {},
        {"mask": None, "softcap": None},
        {"mask": None, "sliding_window": None, "sinks": None},
        {"causal": False, "sliding_window": None, "softcap": None},
    ):
        for tile in (shape.unroll, 2 * shape.unroll, 40 * shape.unroll):
            case = rich_case(generator, dtype=torch.float32, **changes)
            assert_close_to_oracle(by_kernel(case, shape, tile), case, first_pass(case))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", SHAPES[1:])
def test_half_precision_in_every_register_tile(shape, dtype, generator):
    case = rich_case(generator, dtype=dtype)
    assert_close_to_oracle(by_kernel(case, shape, 2 * shape.unroll), case, first_pass(case))


@pytest.mark.parametrize("value_dim", [1, 7, 8, 9, 24])
def test_value_widths_beside_the_unroll(value_dim, generator):
    shape = host_shape()
    query, key = numbers(generator, (1, 3, 60, 8), torch.float32), numbers(generator, (1, 1, 60, 8), torch.float32)
    case = Case(query, key, numbers(generator, (1, 1, 60, value_dim), torch.float32), causal=True)
    assert_close_to_oracle(by_kernel(case, shape, 4 * shape.unroll), case, first_pass(case))


def test_any_number_of_threads_gives_the_same_bits(generator, monkeypatch):
    query = numbers(generator, (2, 6, 400, 8), torch.float32)
    key = numbers(generator, (2, 2, 400, 8), torch.float32)
    monkeypatch.setattr(tiled_cpu, "_SERIAL_WORK", 0)
    before, alive = torch.get_num_threads(), threading.active_count()
    results = []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            case = Case(query, key, key, causal=True)
            results.append(case.run("tiled", first_pass(case)))
            assert torch.get_num_threads() == threads, "the caller's setting was changed"
            assert threading.active_count() == alive, "a worker was left behind"
    finally:
        torch.set_num_threads(before)
    assert threading.active_count() == 1 or not any(
        t.name.startswith("Thread-") and t.is_alive() for t in threading.enumerate()
    )
    for other in results[1:]:
        assert torch.equal(other.output, results[0].output)
        for name in FIRST_PASS:
            assert torch.equal(getattr(other.stats, name), getattr(results[0].stats, name)), name


def test_an_error_of_a_worker_reaches_the_caller(generator, monkeypatch):
    monkeypatch.setattr(tiled_cpu, "_SERIAL_WORK", 0)
    case = rich_case(generator, dtype=torch.float32)
    monkeypatch.setattr(tiled_cpu._Call, "_of_task", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        case.run("tiled")


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_nan_is_refused_by_name(name, rows, generator):
    """Also in a single row over a cache, where only what the row sees is looked at."""
    query = numbers(generator, (1, 4, rows, 8), torch.float32)
    key, value = (numbers(generator, (1, 2, 50, 8), torch.float32) for _ in range(2))
    case = Case(query, key, value, causal=True, softcap=2.0)
    tensor = getattr(case, name).clone()
    tensor[0, -1, -1, 0] = torch.nan
    with pytest.raises(UsageError, match=f"{name} must be finite"):
        case.changed(**{name: tensor}).run("tiled", StatsRequest())


def test_scores_beyond_float32_are_refused(generator):
    case = rich_case(generator, dtype=torch.float32, softcap=None)
    with pytest.raises(UsageError, match="exceed float32"):
        case.changed(query=case.query * 1e30, key=case.key * 1e30).run("tiled")


def _no_rescale(kernel, panel, part, first, tile):
    """Row sums that forget to follow the maximum."""
    for name, value in tile.items():
        wide = kernel._wide(value)
        kernel._set(kernel.c.b.fadd(kernel._get(name, panel, part, cpu_kernel.F64), wide), name, panel, part)


def _strict_limit(kernel, panel, j, first, name, keep, hide=cpu_kernel._Kernel._hide):
    """A mask that excludes the query's own position."""
    hide(kernel, panel, j, first, name, {">=": ">", "<=": "<="}[keep])


def _no_window(kernel, panel, j, first, name, keep, hide=cpu_kernel._Kernel._hide):
    """A lower bound that is never applied."""
    if name != "low":
        hide(kernel, panel, j, first, name, keep)


def _tiled_heads(kernel, panel, lane, original=cpu_kernel._Kernel._query_and_head):
    """Rows numbered heads slowest where the rest of the kernel has them fastest."""
    c, p = kernel.c, kernel.p
    row = c.add(c.add(p["first_row"], c.mul(panel, kernel.shape.rows)), lane)
    row = c.smaller(row, c.sub(p["last_row"], 1))
    queries = c.b.sdiv(p["last_row"], p["group"])
    return c.b.srem(row, queries), c.b.sdiv(row, queries)


MUTANTS = {"_join": _no_rescale, "_hide": _strict_limit, "_hide ": _no_window, "_query_and_head": _tiled_heads}


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_faults_are_caught(name, generator, monkeypatch):
    """A kernel with one wrong part is far outside the bounds."""
    query = numbers(generator, (1, 4, 70, 8), torch.float32)
    key = numbers(generator, (1, 2, 90, 8), torch.float32)
    case = Case(query, key, numbers(generator, (1, 2, 90, 8), torch.float32), causal=True, sliding_window=30)
    shape = host_shape()
    assert_close_to_oracle(by_kernel(case, shape, 2 * shape.unroll), case, first_pass(case))
    monkeypatch.setattr(cpu_kernel._Kernel, name.strip(), MUTANTS[name])
    monkeypatch.setattr(tiled_cpu, "attention_kernel", cpu_kernel.attention_kernel.__wrapped__)
    with pytest.raises(AssertionError, match="must be"):
        assert_close_to_oracle(by_kernel(case, shape, 2 * shape.unroll), case, first_pass(case))
