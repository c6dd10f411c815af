"""The reference against results worked out by hand and against loops in plain Python."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from hypothesis import given

from attention.oracle import Case, assert_close_to_oracle
from attention.strategies import cases_with_requests, every_statistic, property_test, rich_case
from softlookup.attention import AttentionOutput, AttentionStats, StatsRequest, TopK, attention


def everything(*spans: tuple[int, int]) -> StatsRequest:
    return StatsRequest(
        normalized_entropy=True, top_k=2, max_score=True, sink_mass=1, distance=True, span_mass=spans, key_mass=True
    )


EVERYTHING = everything((0, 1), (1, 3), (2, 2))


def column(*numbers: float) -> torch.Tensor:
    """[1, 1, T, 1] in float64."""
    return torch.tensor(numbers, dtype=torch.float64).view(1, 1, -1, 1)


def close(got: torch.Tensor, *want: float) -> None:
    torch.testing.assert_close(
        got.flatten(), torch.tensor(want, dtype=got.dtype), rtol=1e-14, atol=1e-14, equal_nan=True
    )


def test_one_query_over_three_keys_by_hand():
    """Scores ln 1, ln 2, ln 5: weights 1/8, 2/8, 5/8."""
    got = attention(
        column(1.0), column(0.0, math.log(2), math.log(5)), column(8.0, 16.0, 32.0), impl="reference", stats=EVERYTHING
    )
    close(got.output, 1 + 4 + 20)
    stats = got.stats
    close(stats.lse, math.log(8))
    entropy = math.log(8) - (2 * math.log(2) + 5 * math.log(5)) / 8
    close(stats.entropy, entropy)
    close(stats.normalized_entropy, entropy / math.log(3))
    close(stats.max_weight, 5 / 8)
    assert stats.argmax.tolist() == [[[2]]]
    assert stats.top_k.index.tolist() == [[[[2, 1]]]]
    close(stats.top_k.weight, 5 / 8, 2 / 8)
    close(stats.top_k.score, math.log(5), math.log(2))
    close(stats.max_score, math.log(5))
    close(stats.max_unscaled_score, math.log(5))
    close(stats.sink_mass, 1 / 8)
    close(stats.distance, 2 - (2 + 2 * 5) / 8)  # the query stands at key 2
    close(stats.span_mass, 1 / 8, 7 / 8, 0)
    close(stats.key_mass, 1 / 8, 2 / 8, 5 / 8)
    assert got.empty_rows == stats.empty_rows == 0
    assert stats.sinks is stats.learned_sink_mass is stats.lse_without_sinks is None


def test_a_learned_sink_takes_its_share():
    """One more key of score ln 8 without a value: weights 1/16, 2/16, 5/16, entropy as before."""
    got = attention(
        column(1.0), column(0.0, math.log(2), math.log(5)), column(8.0, 16.0, 32.0),
        sinks=torch.tensor([math.log(8)], dtype=torch.float64), impl="reference", stats=EVERYTHING,
    )  # fmt: skip
    close(got.output, 25 / 2)
    stats = got.stats
    close(stats.lse, math.log(16))
    close(stats.lse_without_sinks, math.log(8))
    close(stats.learned_sink_mass, 1 / 2)
    close(stats.max_weight, 5 / 16)
    close(stats.sink_mass, 1 / 16)
    close(stats.span_mass, 1 / 16, 7 / 16, 0)
    close(stats.key_mass, 1 / 16, 2 / 16, 5 / 16)
    close(stats.top_k.weight, 5 / 16, 2 / 16)
    close(stats.entropy, math.log(8) - (2 * math.log(2) + 5 * math.log(5)) / 8)
    close(stats.distance, 2 - (2 + 2 * 5) / 8)


def test_causal_is_aligned_to_the_last_query():
    """Two queries, three keys, equal scores: the first sees two keys, the last all three."""
    got = attention(column(0.0, 0.0), column(1.0, 1.0, 1.0), column(6.0, 12.0, 24.0), causal=True, impl="reference",
                    stats=EVERYTHING)  # fmt: skip
    close(got.output, 9, 14)
    close(got.stats.entropy, math.log(2), math.log(3))
    assert got.stats.visible_keys.tolist() == [[[2, 3]]]
    assert got.stats.argmax.tolist() == [[[0, 0]]]
    assert got.stats.top_k.index.tolist() == [[[[0, 1], [0, 1]]]]
    close(got.stats.distance, 0.5, 1.0)
    close(got.stats.key_mass, 1 / 2 + 1 / 3, 1 / 2 + 1 / 3, 1 / 3)


def test_a_window_counts_the_query_itself():
    got = attention(column(0.0, 0.0, 0.0), column(1.0, 1.0, 1.0), column(6.0, 12.0, 24.0), causal=True,
                    sliding_window=2, impl="reference", stats=StatsRequest())  # fmt: skip
    close(got.output, 6, 9, 18)
    assert got.stats.visible_keys.tolist() == [[[1, 2, 2]]]
    assert got.stats.argmax.tolist() == [[[0, 0, 1]]]


def test_a_query_without_keys():
    got = attention(column(0.0, 0.0), column(1.0, 1.0), column(6.0, 12.0), causal=True, q_offset=-1, impl="reference",
                    stats=everything((0, 1), (1, 2)))  # fmt: skip
    close(got.output, 0, 6)
    assert got.empty_rows == got.stats.empty_rows == 1
    stats = got.stats
    close(stats.lse, -math.inf, 0)
    for name, want in (("entropy", 0), ("max_weight", 1), ("max_score", 0), ("sink_mass", 1), ("distance", 0)):
        close(getattr(stats, name), math.nan, want)
    assert stats.normalized_entropy.isnan().all()  # one visible key has nothing to divide by
    assert stats.argmax.tolist() == [[[-1, 0]]]
    assert stats.top_k.index.tolist() == [[[[-1, -1], [0, -1]]]]
    close(stats.top_k.weight, 0, 0, 1, 0)
    close(stats.top_k.score, -math.inf, -math.inf, 0, -math.inf)
    close(stats.span_mass, 0, 0, 1, 0)
    close(stats.key_mass, 1, 0)


def test_the_cap_comes_after_the_scale():
    got = attention(column(4.0), column(1.0, -1.0), column(1.0, 0.0), scale=0.5, softcap=3.0, impl="reference",
                    stats=StatsRequest(max_score=True))  # fmt: skip
    capped = 3 * math.tanh(0.5 * 4 / 3)
    close(got.output, 1 / (1 + math.exp(-2 * capped)))
    close(got.stats.max_score, capped)
    close(got.stats.max_unscaled_score, 4)


def by_loops(case: Case, request: StatsRequest) -> AttentionOutput:
    """Output and statistics of every row by plain Python floats."""
    batch, heads, q_length, dim = case.query.shape
    kv_heads, kv_length = case.key.shape[1:3]
    offset = kv_length - q_length if case.q_offset is None else case.q_offset
    scale = dim**-0.5 if case.scale is None else case.scale
    mask = None if case.mask is None else case.mask.expand(batch, heads, q_length, kv_length)
    output = torch.zeros(batch, heads, q_length, case.value.shape[-1], dtype=torch.float64)
    rows: dict[str, torch.Tensor] = {}
    key_mass = torch.zeros(batch, heads, kv_length, dtype=torch.float64)
    for b, h, i in itertools.product(range(batch), range(heads), range(q_length)):
        own = h * kv_heads // heads
        query = case.query[b, h, i].tolist()
        scores, unscaled = {}, {}
        for j in range(kv_length):
            hidden = (case.causal and j > i + offset) or (mask is not None and not bool(mask[b, h, i, j]))
            if hidden or (case.sliding_window is not None and j <= i + offset - case.sliding_window):
                continue
            unscaled[j] = math.fsum(x * y for x, y in zip(query, case.key[b, own, j].tolist(), strict=True))
            scores[j] = unscaled[j] * scale
            if case.softcap is not None:
                scores[j] = case.softcap * math.tanh(scores[j] / case.softcap)
        sink = None if case.sinks is None else float(case.sinks[h])
        row, weights = row_by_loops(scores, unscaled, sink, i + offset, request, kv_length)
        for name, number in row.items():
            whole = rows.setdefault(name, torch.empty(batch, heads, q_length, dtype=torch.float64))
            whole[b, h, i] = number
        for j, weight in weights.items():
            output[b, h, i] += weight * case.value[b, own, j].double()
            if request.key_mass_rows is None or i in request.key_mass_rows:
                key_mass[b, h, j] += weight
    return assembled(output, rows, key_mass, case, request)


def row_by_loops(scores, unscaled, sink, position, request, kv_length):
    """Statistics of one row from its visible scores {key: score}, and its weights."""
    highest = max([*scores.values(), *([] if sink is None else [sink])], default=0.0)
    exps = {j: math.exp(score - highest) for j, score in scores.items()}
    own = math.fsum(exps.values())
    total = own + (0.0 if sink is None else math.exp(sink - highest))
    weights = {j: e / total for j, e in exps.items()}
    shares = {j: e / own for j, e in exps.items()}
    row = {
        "visible_keys": len(scores),
        "lse": highest + math.log(total) if total else -math.inf,
        "lse_without_sinks": highest + math.log(own) if own else -math.inf,
        "learned_sink_mass": math.exp(sink - highest) / total if sink is not None else math.nan,
        "argmax": min((j for j in scores if scores[j] == max(scores.values())), default=-1),
    }
    best = sorted(scores, key=lambda j: (-scores[j], j))[: request.top_k]
    for place in range(request.top_k):
        j = best[place] if place < len(best) else -1
        row |= {f"index {place}": j, f"weight {place}": weights.get(j, 0.0), f"score {place}": scores.get(j, -math.inf)}
    for number, (start, stop) in enumerate(request.span_mass):
        row[f"span {number}"] = math.fsum(weights.get(j, 0.0) for j in range(start, stop))
    entropy = -math.fsum(p * math.log(p) for p in shares.values() if p > 0)
    defined = {
        "entropy": entropy,
        "normalized_entropy": entropy / math.log(len(scores)) if len(scores) > 1 else math.nan,
        "max_weight": max(weights.values(), default=0.0),
        "max_score": max(scores.values(), default=0.0),
        "max_unscaled_score": max(map(abs, unscaled.values()), default=0.0),
        "sink_mass": math.fsum(weights.get(j, 0.0) for j in request.sink_keys(kv_length)),
        "distance": math.fsum(p * (position - j) for j, p in shares.items()),
    }
    return row | (defined if scores else dict.fromkeys(defined, math.nan)), weights


def assembled(output, rows, key_mass, case, request) -> AttentionOutput:
    def columns(name: str, count: int, kind=torch.float64) -> torch.Tensor:
        return torch.stack([rows.pop(f"{name} {place}").to(kind) for place in range(count)], -1)

    chosen = list(request.span_rows)
    top = TopK(
        columns("index", request.top_k, torch.int64), columns("weight", request.top_k), columns("score", request.top_k)
    )
    spans = columns("span", len(request.span_mass))[:, :, chosen]
    if case.sinks is None:
        del rows["lse_without_sinks"], rows["learned_sink_mass"]
    for name in ("visible_keys", "argmax"):
        rows[name] = rows[name].long()
    stats = AttentionStats(
        kv_length=case.key.shape[2], top_k=top, span_mass=spans, span_rows=tuple(chosen), key_mass=key_mass,
        key_mass_rows=tuple(request.key_mass_rows), **rows,
    )  # fmt: skip
    return AttentionOutput(output, stats, stats.empty_rows)


PLAIN = {"mask": None, "causal": False, "sliding_window": None, "softcap": None, "sinks": None}


@pytest.mark.parametrize("changes", [{}, PLAIN, {"mask": None}, {"q_offset": -4, "sinks": None}, {"q_offset": None}])
def test_the_oracle_equals_loops(changes, generator):
    """The other tests rest on the oracle; this ties it to the definition written out."""
    case = rich_case(generator, dtype=torch.float64, q_length=7, kv_length=12, **changes)
    request = every_statistic(case)
    assert_close_to_oracle(by_loops(case, request), case, request)


@property_test
@given(cases_with_requests(max_keys=65))
def test_any_call_equals_the_oracle(drawn):
    case, request = drawn
    assert_close_to_oracle(case.run("reference", request), case, request)


def test_half_precision_is_computed_in_float32(generator):
    case = rich_case(generator, dtype=torch.bfloat16)
    stats = case.run("reference", every_statistic(case)).stats
    assert stats.lse.dtype == stats.entropy.dtype == stats.key_mass.dtype == torch.float32
    case = rich_case(generator, dtype=torch.float64)
    assert case.run("reference", StatsRequest()).stats.entropy.dtype == torch.float64
