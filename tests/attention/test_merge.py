"""Parts put together equal the whole: any cuts of the keys, any order, any rules; and the same for the rows."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from attention.oracle import Case, assert_close_to_oracle, assert_equal, assert_statistics
from attention.strategies import cases, every_statistic, numbers, property_test, rich_case
from softlookup.attention import AttentionOutput, StatsRequest, attention, merge
from softlookup.errors import UsageError


def request_of_part(request: StatsRequest, start: int, stop: int) -> StatsRequest:
    """The same spans and sink keys, counted from the part's key 0."""
    inside = [key - start for key in request.sink_mass if start <= key < stop]
    spans = [tuple(min(max(end, start), stop) - start for end in span) for span in request.span_mass]
    return replace(request, sink_mass=inside, span_mass=spans)


def part_of_keys(case: Case, start: int, stop: int, request: StatsRequest, impl: str = "tiled") -> AttentionOutput:
    offset = case.key.shape[2] - case.query.shape[2] if case.q_offset is None else case.q_offset
    mask = case.mask if case.mask is None or case.mask.shape[-1] == 1 else case.mask[..., start:stop]
    keys = slice(start, stop)
    part = case.changed(key=case.key[:, :, keys], value=case.value[:, :, keys], mask=mask, q_offset=offset - start)
    return part.run(impl, request_of_part(request, start, stop))


def merged(case: Case, request: StatsRequest, cuts, order=None, impl: str = "tiled") -> AttentionOutput:
    """The parts between the cuts, merged one after another in this order."""
    ends = sorted({0, *cuts, case.key.shape[2]})
    parts = list(itertools.pairwise(ends))
    order = range(len(parts)) if order is None else [place for place in order if place < len(parts)]
    ordered = [parts[place] for place in order]
    whole = part_of_keys(case, *ordered[0], request, impl)
    for start, stop in ordered[1:]:
        # the first part's key 0 counts as position 0
        whole = whole.merge(part_of_keys(case, start, stop, request, impl), kv_offset=start - ordered[0][0])
    assert_equal("kv_offset", whole.stats.kv_offset, -ordered[0][0])
    return whole


def mergeable(case: Case) -> StatsRequest:
    return every_statistic(case, key_mass=False, key_mass_rows=None)


@property_test
@given(
    cases(dtypes=(torch.float64, torch.float32), dims=((17, 5),), softcaps=(None, 0.7), max_keys=129),
    st.lists(st.integers(1, 128), max_size=4),
    st.permutations(range(5)),
)
def test_any_cuts_in_any_order_equal_the_whole(case, cuts, order):
    cuts = [cut for cut in cuts if cut < case.key.shape[2]]
    request = mergeable(case)
    got = merged(case, request, cuts, order, "reference")
    assert_close_to_oracle(got, case, request, lse_differences=2 * len(cuts))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_parts_by_the_tiled_implementation(dtype, generator):
    for changes in ({}, {"mask": None, "sinks": None, "softcap": None}):
        case = rich_case(generator, dtype=dtype, **changes)
        request = mergeable(case)
        assert_close_to_oracle(merged(case, request, [5, 6, 20]), case, request, lse_differences=6)


def test_grouping_does_not_matter(generator):
    """(a b) (c d), with keys that follow by default."""
    case = rich_case(generator, dtype=torch.float64)
    request = mergeable(case)
    a, b, c, d = (part_of_keys(case, start, stop, request) for start, stop in ((0, 4), (4, 19), (19, 20), (20, 37)))
    got = a.merge(b).merge(c.merge(d))
    assert_close_to_oracle(got, case, request, lse_differences=6)
    alone = a.stats.merge(b.stats).merge(c.stats.merge(d.stats))
    assert_statistics(alone, case, request, lse_differences=6)
    assert torch.equal(alone.top_k.index, case.run("tiled", request).stats.top_k.index)


@pytest.mark.parametrize("changes", [{}, {"max_score": False}, {"max_score": False, "top_k": 0}])
@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 1, 0, 2), (2, 3, 1, 0)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_scores_name_the_first_key_of_all_parts(order, changes, dtype, generator):
    query = numbers(generator, (1, 4, 3, 17), dtype) * 0
    key, value = numbers(generator, (1, 2, 50, 17), dtype), numbers(generator, (1, 2, 50, 5), dtype)
    for first in (0, 9, 30):
        case = Case(query, key, value, mask=(torch.arange(50) >= first).expand(3, 50))
        request = replace(mergeable(case), **changes)
        stats = merged(case, request, [7, 23, 40], order, "reference").stats
        assert torch.equal(stats.argmax, torch.full((1, 4, 3), first))
        if stats.top_k is not None:
            assert torch.equal(stats.top_k.index, torch.arange(first, first + 4).expand(1, 4, 3, 4))


def test_argmax_follows_the_largest_score_however_it_is_known(generator):
    case = rich_case(generator, dtype=torch.float64)
    for changes in ({"max_score": False}, {"max_score": False, "top_k": 0}):
        request = replace(mergeable(case), **changes)
        assert_close_to_oracle(merged(case, request, [3, 11, 30]), case, request, lse_differences=6)


# --- faults of merging


def share_not_in_the_entropy(monkeypatch):
    """Sum of w H, without -ln w."""

    def wrong(whole):
        return whole.weighted("entropy", "share")

    monkeypatch.setattr(merge, "_entropy", wrong)


def sink_in_every_part(monkeypatch):
    """lse of the whole from lses that include the sink."""
    monkeypatch.setattr(merge, "_key_lse", lambda stats: stats.lse)


def weights_of_the_part_kept(monkeypatch):
    monkeypatch.setattr(merge, "_ratio", lambda part, whole: torch.ones_like(part))


def parts_weighted_alike(monkeypatch):
    monkeypatch.setattr(merge, "_ratio", lambda part, whole: torch.full_like(part, 0.5))


def positions_not_shifted(monkeypatch):
    original = merge._Part
    monkeypatch.setattr(merge, "_Part", lambda *fields: original(*fields[:-1], 0))


def sinks_not_in_the_total(monkeypatch):
    monkeypatch.setattr(merge, "with_sinks", lambda lse, sinks: lse)


@pytest.mark.parametrize(
    "fault",
    [
        share_not_in_the_entropy, sink_in_every_part, weights_of_the_part_kept, parts_weighted_alike,
        positions_not_shifted, sinks_not_in_the_total,
    ],
)  # fmt: skip
def test_a_fault_of_merging_is_caught(fault, generator, monkeypatch):
    case = rich_case(generator, dtype=torch.float64)
    request = mergeable(case)
    assert_close_to_oracle(merged(case, request, [18]), case, request, lse_differences=2)
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        assert_close_to_oracle(merged(case, request, [18]), case, request, lse_differences=2)


# --- concat


def part_of_rows(case: Case, start: int, stop: int, request: StatsRequest, *, keys: int | None = None, rows=None):
    """Rows start..stop-1 of the case, which see only the first ``keys`` keys; ``rows`` of span_mass and key_mass."""
    offset = case.key.shape[2] - case.query.shape[2] if case.q_offset is None else case.q_offset
    keys = case.key.shape[2] if keys is None else keys
    mask = case.mask if case.mask is None else case.mask[:, :, start:stop, :keys]
    part = case.changed(
        query=case.query[:, :, start:stop], key=case.key[:, :, :keys], value=case.value[:, :, :keys], mask=mask,
        q_offset=offset + start,
    )  # fmt: skip
    inside = [row - start for row in rows if start <= row < stop]
    request = replace(request, span_rows=inside, key_mass_rows=inside if request.key_mass_rows is not None else None)
    return part.run("tiled", request).stats


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("all_rows", [True, False])
def test_rows_in_chunks_equal_the_whole(all_rows, dtype, generator):
    """Chunked prefill: every chunk sees the keys up to its end."""
    case = rich_case(generator, dtype=dtype, q_offset=24)
    rows = [1, 4, 5, 12]
    request = every_statistic(
        case, span_mass=[(0, 10), (3, 25)], span_rows=rows, sink_mass=[0, 2], key_mass_rows=None if all_rows else rows
    )
    chunks = [part_of_rows(case, *chunk, request, keys=24 + chunk[1], rows=rows) for chunk in ((0, 5), (5, 6), (6, 13))]
    got = chunks[0].concat(chunks[1]).concat(chunks[2])
    assert_statistics(got, case, request)
    assert_equal("kv_length", got.kv_length, 37)


def test_rows_of_one_part_only(generator):
    """key_mass over all rows of the first chunk and two rows of the second."""
    case = rich_case(generator, dtype=torch.float64, mask=None, q_offset=24)
    request = every_statistic(case, key_mass_rows=None, span_mass=[(0, 10)])
    first = part_of_rows(case, 0, 4, request, rows=[2])
    later = part_of_rows(case, 4, 13, replace(request, key_mass_rows=[]), rows=[5, 6])
    want = replace(request, span_rows=[2, 5, 6], key_mass_rows=[0, 1, 2, 3, 5, 6])
    assert_statistics(first.concat(later), case, want)


def test_a_longer_earlier_part_keeps_its_keys(generator):
    case = rich_case(generator, dtype=torch.float64, mask=None, q_offset=24)
    request = every_statistic(case, key_mass_rows=None, span_mass=[(0, 10)])
    stats = [part_of_rows(case, 6, 13, request, rows=[]), part_of_rows(case, 0, 6, request, keys=30, rows=[])]
    assert stats[0].concat(stats[1]).key_mass.shape[-1] == 37


# --- refusals


def refusal_cases(case, request):
    request = replace(request, span_rows=[2, 3])
    whole = case.run("tiled", request).stats
    other = case.run("tiled", replace(request, distance=False)).stats
    fewer = case.changed(query=case.query[:, :, 1:], mask=None).run("tiled", request).stats
    heads = case.changed(query=case.query[:, ::3], sinks=case.sinks[::3]).run("tiled", request).stats
    sinks = case.changed(sinks=case.sinks + 1).run("tiled", request).stats
    none = case.changed(sinks=None).run("tiled", request).stats
    rows = case.run("tiled", replace(request, span_rows=[0])).stats
    spans = case.run("tiled", replace(request, span_mass=[(0, 3)])).stats
    top = case.run("tiled", replace(request, top_k=2)).stats
    return whole, {
        "only one has distance": other,
        r"same \[B, Hq, Tq\], got \[2, 6, 13\] and \[2, 6, 12\]": fewer,
        r"same \[B, Hq, Tq\], got \[2, 6, 13\] and \[2, 2, 13\]": heads,
        "the same sinks": sinks,
        "only one has sinks": none,
        "the same span_rows": rows,
        "as many spans, got 4 and 1": spans,
        "as many top_k keys, got 4 and 2": top,
    }


def test_parts_that_do_not_fit_are_refused(generator):
    case = rich_case(generator, dtype=torch.float64)
    whole, others = refusal_cases(case, mergeable(case))
    for message, other in others.items():
        with pytest.raises(UsageError, match=message):
            whole.merge(other, kv_offset=37)
    for message, other in others.items():
        if "Tq" in message or "rows" in message:  # more rows are what concat is for
            continue
        with pytest.raises(UsageError, match=message):
            whole.concat(other)
    heads = case.changed(query=case.query[:, ::3], sinks=None).run("tiled", mergeable(case)).stats
    with pytest.raises(UsageError, match=r"same \[B, Hq\], got \[2, 6, 13\] and \[2, 2, 13\]"):
        case.changed(sinks=None).run("tiled", mergeable(case)).stats.concat(heads)


def test_what_cannot_be_merged_is_refused(generator):
    case = rich_case(generator, dtype=torch.float64, mask=None, causal=False, sliding_window=None)
    stats = case.run("tiled", mergeable(case)).stats
    with pytest.raises(UsageError, match="different keys, got 37 from 0 and 37 from 5; give kv_offset"):
        stats.merge(stats, kv_offset=5)
    columns = case.run("tiled", StatsRequest(key_mass=True)).stats
    with pytest.raises(UsageError, match=r"key_mass cannot be merged.*softlookup.attention.key_mass"):
        columns.merge(columns)
    without = case.run("tiled", StatsRequest(lse=False)).stats
    with pytest.raises(UsageError, match=r"needs the lse of both parts; ask for it with StatsRequest\(lse=True\)"):
        without.merge(without)
    argmax = case.run("tiled", StatsRequest(max_weight=False)).stats
    with pytest.raises(UsageError, match="merging argmax needs the largest scores; ask for max_weight=True"):
        argmax.merge(argmax)
    moved = replace(stats, kv_offset=3)
    with pytest.raises(UsageError, match="kv_offset must be the same, got 0 and 3"):
        stats.concat(moved)
    bare = case.run("tiled")
    with pytest.raises(UsageError, match="merging outputs needs the lse of both"):
        bare.merge(bare)
    one = case.run("tiled", StatsRequest())
    with pytest.raises(UsageError, match=r"the same shape and dtype, got torch.float64 \[2, 6, 13, 5\]"):
        one.merge(replace(one, output=one.output[..., 1:]))


def test_merging_changes_neither_part(generator):
    case = rich_case(generator, dtype=torch.float64)
    request = mergeable(case)
    one, two = part_of_keys(case, 0, 20, request), part_of_keys(case, 20, 37, request)
    before = [one.output.clone(), one.stats.lse.clone(), two.stats.argmax.clone(), two.stats.top_k.index.clone()]
    one.merge(two)
    after = [one.output, one.stats.lse, two.stats.argmax, two.stats.top_k.index]
    assert all(torch.equal(*pair) for pair in zip(before, after, strict=True))


def test_a_row_that_sees_nothing_in_one_part_or_both(generator):
    case = rich_case(generator, dtype=torch.float64, causal=False, sliding_window=None)
    mask = torch.ones(2, 1, 13, 37, dtype=torch.bool)
    mask[:, :, 0, :20] = False
    mask[:, :, 1, 20:] = False
    mask[:, :, 2] = False
    for sinks in (None, case.sinks, torch.full_like(case.sinks, 200.0), torch.full_like(case.sinks, -math.inf)):
        empty = case.changed(mask=mask, sinks=sinks)
        request = mergeable(empty)
        assert_close_to_oracle(merged(empty, request, [20]), empty, request, lse_differences=2)


def test_the_first_keys_are_counted_once_in_any_order(generator):
    """sink_mass=n of every part: the whole's first n keys lie in its first part."""
    query, key = (torch.randn(1, 2, 12, 8, generator=generator) for _ in range(2))
    request = StatsRequest(sink_mass=4)
    parts = [
        attention(query, key[:, :, at : at + 4], key[:, :, at : at + 4], q_offset=-at, stats=request)
        for at in (0, 4, 8)
    ]
    whole = attention(query, key, key, stats=request).stats
    forward = parts[0].merge(parts[1]).merge(parts[2])
    backward = parts[1].merge(parts[2]).merge(parts[0], kv_offset=-4)
    for merged in (forward, backward):
        assert merged.stats.sink_count == 4
        assert float((merged.stats.sink_mass - whole.sink_mass).abs().max()) <= 64 * torch.finfo(torch.float32).eps


def test_first_keys_that_lie_in_two_parts_are_refused(generator):
    query, key = (torch.randn(1, 2, 12, 8, generator=generator) for _ in range(2))
    request = StatsRequest(sink_mass=4)
    pieces = (key[:, :, :3], key[:, :, 3:])
    first, second = (attention(query, piece, piece, stats=request).stats for piece in pieces)
    with pytest.raises(UsageError, match="needs a first part that holds them"):
        first.merge(second)
