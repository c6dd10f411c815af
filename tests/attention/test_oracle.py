"""The comparison of the other tests: it passes what is right up to rounding, and catches every planted fault."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attention.oracle import assert_close_to_oracle
from attention.strategies import every_statistic, rich_case
from softlookup.attention import tiles
from softlookup.attention.stats import AttentionOutput, TopK

# --- wrong calls: the reference, asked for something slightly different


def scaled_twice(case):
    return case.changed(scale=case.scale**2)


def not_scaled(case):
    return case.changed(scale=1.0)


def top_left_aligned(case):
    return case.changed(q_offset=0)


def one_position_late(case):
    return case.changed(q_offset=case.q_offset + 1)


def not_causal(case):
    return case.changed(causal=False)


def window_without_self(case):
    return case.changed(sliding_window=case.sliding_window + 1)


def no_window(case):
    return case.changed(sliding_window=None)


def mask_upside_down(case):
    return case.changed(mask=~case.mask)


def no_mask(case):
    return case.changed(mask=None)


def mask_of_the_first_batch_entry(case):
    return case.changed(mask=case.mask[:1])


def no_cap(case):
    return case.changed(softcap=None)


def cap_before_scale(case):
    return case.changed(softcap=case.softcap / case.scale, scale=case.scale)


def heads_in_tile_order(case):
    """Query head h reads key head h % Hkv instead of h // group."""
    group = case.query.shape[1] // case.key.shape[1]
    return case.changed(key=case.key.repeat(1, group, 1, 1), value=case.value.repeat(1, group, 1, 1))


def sink_in_every_one_of_two_tiles(case):
    return case.changed(sinks=case.sinks + torch.log(torch.tensor(2.0)))


def sinks_forgotten(case):
    return case.changed(sinks=torch.full_like(case.sinks, -torch.inf))


def last_key_forgotten(case):
    mask = case.mask.clone()
    mask[..., -4:] = False  # the last two are after every row
    return case.changed(mask=mask)


def rounded_to_bfloat16(case):
    return case.changed(query=case.query.bfloat16().float())


WRONG_CALLS = [
    scaled_twice, not_scaled, top_left_aligned, one_position_late, not_causal, window_without_self, no_window,
    mask_upside_down, no_mask, mask_of_the_first_batch_entry, no_cap, cap_before_scale, heads_in_tile_order,
    sink_in_every_one_of_two_tiles, sinks_forgotten, last_key_forgotten, rounded_to_bfloat16,
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_CALLS, ids=lambda wrong: wrong.__name__)
def test_a_wrong_call_is_caught(wrong, generator):
    """In the output alone, and in the statistics alone."""
    case = rich_case(generator)
    request = every_statistic(case)
    right = case.run("reference", request)
    assert_close_to_oracle(right, case, request)
    got = wrong(case).run("reference", request)
    with pytest.raises(AssertionError):
        assert_close_to_oracle(AttentionOutput(got.output, right.stats, right.empty_rows), case, request)
    with pytest.raises(AssertionError):
        assert_close_to_oracle(AttentionOutput(right.output, got.stats, right.empty_rows), case, request)


# --- wrong statistics: one field is changed, by the least that matters


def shifted(stats, name, by):
    return replace(stats, **{name: getattr(stats, name) + by})


def scaled(stats, name, factor):
    return replace(stats, **{name: getattr(stats, name) * factor})


def key_shares(stats):
    """What the weights become over the keys alone: 1 / (1 - share of the learned sink)."""
    return 1 / (1 - stats.learned_sink_mass)


def tops(stats, **changes):
    top = {name: getattr(stats.top_k, name) for name in ("index", "weight", "score")}
    return replace(stats, top_k=TopK(**{**top, **changes}))


WRONG_STATISTICS = {
    "lse in units of log2": lambda stats: scaled(stats, "lse", 1.4427),
    "lse without sinks": lambda stats: replace(stats, lse=stats.lse_without_sinks),
    "lse off by 1e-4": lambda stats: shifted(stats, "lse", 1e-4),
    "lse_without_sinks with them": lambda stats: replace(stats, lse_without_sinks=stats.lse),
    "entropy in bits": lambda stats: scaled(stats, "entropy", 1.4427),
    "entropy off by 1e-4": lambda stats: shifted(stats, "entropy", 1e-4),
    "entropy with the sink as an outcome": lambda stats: replace(
        stats, entropy=stats.entropy + stats.learned_sink_mass * stats.lse
    ),
    "normalised by the length": lambda stats: replace(
        stats, normalized_entropy=stats.entropy / torch.log(torch.tensor(float(stats.kv_length)))
    ),
    "0 for one visible key": lambda stats: replace(
        stats, normalized_entropy=torch.nan_to_num(stats.normalized_entropy)
    ),
    "max_weight over keys alone": lambda stats: replace(stats, max_weight=stats.max_weight * key_shares(stats)),
    "sink_mass over keys alone": lambda stats: replace(stats, sink_mass=stats.sink_mass * key_shares(stats)),
    "sink_mass 0 for empty rows": lambda stats: replace(stats, sink_mass=torch.nan_to_num(stats.sink_mass)),
    "argmax one late": lambda stats: replace(stats, argmax=stats.argmax.where(stats.argmax < 0, stats.argmax + 1)),
    "argmax 0 for empty rows": lambda stats: replace(stats, argmax=stats.argmax.clamp(min=0)),
    "max_score unscaled": lambda stats: replace(stats, max_score=stats.max_unscaled_score),
    "max_unscaled_score scaled": lambda stats: scaled(stats, "max_unscaled_score", 0.37),
    "distance without the offset": lambda stats: shifted(stats, "distance", -22),
    "distance off by 1e-3": lambda stats: shifted(stats, "distance", 1e-3),
    "learned_sink_mass over keys": lambda stats: replace(stats, learned_sink_mass=1 - stats.learned_sink_mass),
    "spans in another order": lambda stats: replace(stats, span_mass=stats.span_mass.flip(-1)),
    "rows in another order": lambda stats: replace(stats, span_mass=stats.span_mass.flip(2)),
    "key_mass off by 1e-4": lambda stats: scaled(stats, "key_mass", 1.0001),
    "key_mass over keys alone": lambda stats: scaled(stats, "key_mass", 1.1),
    "top_k worst first": lambda stats: tops(stats, index=stats.top_k.index.flip(-1), score=stats.top_k.score.flip(-1)),
    "top_k a key twice": lambda stats: tops(
        stats, index=torch.where(stats.top_k.index >= 0, stats.top_k.index[..., :1], -1)
    ),
    "top_k other weights": lambda stats: tops(stats, weight=stats.top_k.weight * key_shares(stats)[..., None]),
    "visible keys without the mask": lambda stats: replace(stats, visible_keys=stats.visible_keys.clamp(min=3)),
    "a statistic less": lambda stats: replace(stats, distance=None),
}


@pytest.mark.parametrize("name", WRONG_STATISTICS)
def test_a_wrong_statistic_is_caught(name, generator):
    case = rich_case(generator)
    request = every_statistic(case)
    right = case.run("reference", request)
    got = WRONG_STATISTICS[name](right.stats)
    with pytest.raises(AssertionError):
        assert_close_to_oracle(AttentionOutput(right.output, got, right.empty_rows), case, request)


def test_an_output_of_reduced_precision_is_caught(generator):
    case = rich_case(generator)
    right = case.run("reference")
    for wrong in (right.output.bfloat16().float(), right.output * 1.0001, right.output.half().float()):
        with pytest.raises(AssertionError, match="output"):
            assert_close_to_oracle(AttentionOutput(wrong, None, right.empty_rows), case)
    nan_for_empty_rows = right.output.where(right.output != 0, torch.nan)
    with pytest.raises(AssertionError, match="output"):
        assert_close_to_oracle(AttentionOutput(nan_for_empty_rows, None, right.empty_rows), case)
    with pytest.raises(AssertionError, match="empty_rows"):
        assert_close_to_oracle(AttentionOutput(right.output, None, 0), case)
    with pytest.raises(AssertionError, match="dtype"):
        assert_close_to_oracle(AttentionOutput(right.output.double(), None, right.empty_rows), case)


def test_an_unasked_statistic_is_caught(generator):
    case = rich_case(generator)
    got = case.run("reference", every_statistic(case))
    with pytest.raises(AssertionError, match="distance"):
        assert_close_to_oracle(got, case, every_statistic(case, distance=False))


# --- faults inside the tiled implementation


def no_rescale_of_the_entropy(monkeypatch):
    """The sums of earlier tiles keep the old maximum."""
    from softlookup.attention.impl import tiled_torch

    original = tiled_torch._add_tile

    def wrong(sums, tile, sink_keys):
        before = None if sums.centred is None else sums.centred.clone()
        lost = sums.total * 0 if before is None else before
        result = original(sums, tile, sink_keys)
        sums.centred.add_(lost * (1 - result[1]))
        return result

    monkeypatch.setattr(tiled_torch, "_add_tile", wrong)


def a_key_less_per_band(monkeypatch):
    original = tiles.key_bounds
    monkeypatch.setattr(tiles, "key_bounds", lambda *args: (original(*args)[0] + 1, original(*args)[1]))


def diagonal_taken_as_visible(monkeypatch):
    monkeypatch.setattr(tiles, "visible_tile", lambda inputs, rows, keys: None)


@pytest.mark.parametrize("fault", [no_rescale_of_the_entropy, a_key_less_per_band, diagonal_taken_as_visible])
def test_a_fault_of_the_tiled_engine_is_caught(fault, generator, monkeypatch):
    monkeypatch.setattr(tiles, "TILE_SCORES", 200)
    monkeypatch.setattr(tiles, "Q_TILE", 4)
    case = rich_case(generator, dtype=torch.float64)
    request = every_statistic(case)
    assert_close_to_oracle(case.run("tiled", request), case, request)
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        assert_close_to_oracle(case.run("tiled", request), case, request)
