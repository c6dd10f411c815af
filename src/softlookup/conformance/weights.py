"""From scores to weights, for a right or wrong variant: hiding, softmax, tiles, merges, sinks; float64.

Tiled variants are closed forms over the running maximum, so that a block size can be searched for quickly.
"""

from __future__ import annotations

import math

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.scores import scale_of, softcapped
from softlookup.conformance.variant import Variant

_AXES = {"key": -1, "query": -2, "head": 1, "batch": 0}


def weights(found: Array, seen: Array, case: Case, variant: Variant) -> Array:
    """[B, H, Tq, Tk] from scores and visibility."""
    if variant.tile in ("tail_dropped", "first_dropped", "first_only"):
        seen = seen & _kept(case.kv_length, variant)
    hidden = ~seen
    if variant.fill == "add":
        found, hidden = np.where(seen, found, _added(found, variant.fill_value)), np.zeros_like(seen)
    elif variant.fill == "fill":
        found, hidden = np.where(seen, found, variant.fill_value), np.zeros_like(seen)
    elif variant.fill == "multiply":
        found, hidden = found * seen, np.zeros_like(seen)
    if case.softcap is not None and variant.softcap == "after_mask":
        raised = np.where(hidden, -np.inf, found)
        found = softcapped(raised, raised, case, variant.but(softcap="on"))
        hidden = np.zeros_like(seen)
    if variant.hide == "after":
        share = _share(found, case, variant) * seen
    else:
        share = _share(np.where(hidden, -np.inf, found), case, variant)
    if variant.scale_after:
        share = share * scale_of(case, variant)
    if variant.bias == "after" and case.bias is not None:
        share = share + case.bias
    if case.softcap is not None and variant.softcap == "after_softmax":
        share = case.softcap * np.tanh(share / case.softcap)
    return _dead_rows(share, seen, case, variant)


def _added(found: Array, value: float) -> Array:
    """In float32, as functions do it: digits are lost."""
    return np.asarray((found.astype(np.float32) + np.float32(value)), dtype=np.float64)


def _dead_rows(share: Array, seen: Array, case: Case, variant: Variant) -> Array:
    if variant.hide == "after" or variant.fill or variant.softcap == "after_mask":
        return share
    dead = ~seen.any(-1, keepdims=True)
    if not dead.any() or variant.axis != "key":
        return share
    filled = {"zero": 0.0, "uniform": 1.0 / case.kv_length, "nan": np.nan, "any": 0.0}[variant.dead_row]
    return np.where(dead, filled, share)


def _share(found: Array, case: Case, variant: Variant) -> Array:
    with np.errstate(all="ignore"):
        if variant.merge and case.sinks is None:  # a split path that takes sinks would be another function
            return _merged(found, variant)
        if variant.tile:
            return _tiled(found, case, variant)
        if variant.axis != "key":
            return _along(found, _AXES[variant.axis], variant.empty_axis)
        return _softmax(found, case, variant)


def _along(found: Array, axis: int, empty: float = 0.0) -> Array:
    top = found.max(axis, keepdims=True)
    raised = np.exp(found - np.where(np.isfinite(top), top, 0.0))
    total = raised.sum(axis, keepdims=True)
    return np.where(total == 0, empty, raised / np.where(total == 0, 1.0, total))


def _softmax(found: Array, case: Case, variant: Variant) -> Array:
    kind = variant.softmax
    sinks = _sinks(case, variant)
    top = found.max(-1, keepdims=True)
    if sinks is not None:
        top = np.maximum(top, sinks)
    top = np.where(np.isfinite(top), top, 0.0)
    if kind == "no_max":
        top = np.zeros_like(top)
    elif kind == "max0":
        top = np.maximum(top, 0.0)
    elif kind == "min":
        low = np.where(np.isfinite(found), found, np.inf).min(-1, keepdims=True)
        top = np.where(np.isfinite(low), low, 0.0)
    elif kind in ("max_head", "max_all"):
        top = np.broadcast_to(top.max((2,) if kind == "max_head" else None, keepdims=True), top.shape)
    # a wrong maximum shows where exp leaves the range of float32, in which it is computed
    ranged = kind in ("no_max", "max0", "min", "max_head", "max_all")
    raised = np.exp((found - top).astype(np.float32)) if ranged else np.exp(found - top)
    total = raised.sum(-1, keepdims=True)
    if sinks is not None:
        extra = np.exp(sinks - top)
        total = total + (2 * extra if variant.sinks == "twice" else extra)
    if kind == "plus_one":
        total = total + np.exp(-top)
    elif kind == "eps":
        total = total + variant.eps
    elif kind == "none":
        return raised
    if ranged:  # sums of 0 are guarded by some and divided by by others
        guarded = np.where(total == 0, 1.0, total) if variant.eps < 0 else total
        return np.asarray(raised / guarded, dtype=np.float64)
    return raised / np.where(total == 0, 1.0, total)


def _sinks(case: Case, variant: Variant) -> Array | None:
    if case.sinks is None or variant.sinks == "off":
        return None
    given = np.asarray(case.sinks, dtype=np.float64)
    scale = scale_of(case, variant)
    rules = {
        "on": given, "twice": given, "scaled": given * scale, "negative": -given,
        "head0": np.full_like(given, given[0]),
        "reversed": given[::-1], "zero": np.zeros_like(given), "inverse_scaled": given / scale,
        "mean": np.full_like(given, given.mean()), "raw": np.log(np.maximum(given, 1e-300)),
        "log2e": given / math.log(2), "ln2": given * math.log(2), "half": given / 2, "double": given * 2,
        "shifted": np.roll(given, 1),
    }  # fmt: skip
    return np.asarray(rules[variant.sinks])[None, :, None, None]


SINK_KINDS = (
    "scaled", "negative", "head0", "reversed", "zero", "inverse_scaled", "mean", "raw", "log2e", "ln2", "half",
    "double", "shifted", "twice",
)  # fmt: skip


def _kept(keys: int, variant: Variant) -> Array:
    index, block = np.arange(keys), variant.block
    if variant.tile == "first_only":
        return index < block
    if variant.tile == "first_dropped":
        return (index >= block) | (keys <= block)
    whole = keys // block * block
    return (index < whole) | (whole == 0)


def _tiled(found: Array, case: Case, variant: Variant) -> Array:
    """Softmax by blocks with one mistake; ``last`` is the final maximum, ``then`` the running one at every key."""
    keys, block = found.shape[-1], variant.block
    starts = np.arange(0, keys, block)
    per_block = np.maximum.reduceat(found, starts, axis=-1)
    running = np.maximum.accumulate(per_block, axis=-1)
    sizes = np.minimum(block, keys - starts)
    then = np.repeat(running, sizes, axis=-1)
    then, last = np.where(np.isfinite(then), then, 0.0), running[..., -1:]
    last = np.where(np.isfinite(last), last, 0.0)
    right, late = np.exp(found - last), np.exp(found - then)
    own = np.repeat(np.where(np.isfinite(per_block), per_block, 0.0), sizes, axis=-1)
    missing = -keys % block
    pad_top = np.maximum(last, 0.0) if missing else last
    forms = {
        "acc": (late, right.sum(-1, keepdims=True)),
        "sum": (right, late.sum(-1, keepdims=True)),
        "both": (late, late.sum(-1, keepdims=True)),
        "inverse": (np.exp(found - 2 * then + last), right.sum(-1, keepdims=True)),
        "local_max": (np.exp(found - own), np.exp(found - own).sum(-1, keepdims=True)),
        "pad": (np.exp(found - pad_top), np.exp(found - pad_top).sum(-1, keepdims=True) + missing * np.exp(-pad_top)),
        "last_norm": (right, np.exp(found[..., starts[-1] :] - last).sum(-1, keepdims=True)),
    }
    if variant.tile in ("tail_dropped", "first_dropped", "first_only"):
        return _along(found, -1)
    above, below = forms[variant.tile]
    sinks = _sinks(case, variant)
    if sinks is not None:
        below = below + np.exp(sinks - (pad_top if variant.tile == "pad" else last))
    return np.asarray(above / np.where(below == 0, 1.0, below))


def split_starts(rule: str, keys: int) -> list[int]:
    """First keys of the parts of a split: "n2" two halves, "b16" parts of 16, "c5" one cut after 5 keys."""
    kind, number = rule[0], int(rule[1:])
    if kind == "c":
        return [0, number] if number < keys else [0]
    size = math.ceil(keys / number) if kind == "n" else max(1, keys // number) if kind == "f" else number
    starts = list(range(0, keys, size))
    return starts[:number] if kind == "f" else starts


def _merged(found: Array, variant: Variant) -> Array:
    """Softmax by parts, combined with wrong weights of the parts."""
    starts = split_starts(variant.split, found.shape[-1])
    sizes = np.diff([*starts, found.shape[-1]])
    tops = np.maximum.reduceat(found, starts, axis=-1)
    raised = np.exp(found - np.repeat(np.where(np.isfinite(tops), tops, 0.0), sizes, axis=-1))
    totals = np.add.reduceat(raised, starts, axis=-1)
    inside = raised / np.repeat(np.where(totals == 0, 1.0, totals), sizes, axis=-1)
    kind, _, number = variant.merge.partition(":")
    logs = {
        "power": float(number or 1) * (np.log(totals) + tops),
        "max": tops,
        "count": np.log(np.broadcast_to(sizes.astype(np.float64), totals.shape)),
        "last": np.where(np.arange(len(starts)) == len(starts) - 1, 0.0, -np.inf) + np.zeros_like(totals),
        "mean": np.where(totals > 0, 0.0, -np.inf),
        "sum": np.where(totals > 0, 0.0, -np.inf),
    }[kind]
    most = logs.max(-1, keepdims=True)
    part = np.exp(logs - np.where(np.isfinite(most), most, 0.0))
    if kind != "sum":
        total = part.sum(-1, keepdims=True)
        part = part / np.where(total == 0, 1.0, total)
    return np.asarray(inside * np.repeat(part, sizes, axis=-1))
