"""From timings to rates: what short and long runs determine, and how well they predict the middle. Times nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from softlookup.cost.efficiency import fit_rates
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.timing.calibration import Phase, Timing
from softlookup.cost.timing.prediction import cache_bytes, observed_share, observed_work, prefill_work

if TYPE_CHECKING:
    from softlookup.cost.timing.measuring import Subject

# below this share of attention in the longest run its rate is noise
_LEAST_ATTENTION = 0.08
# timings of the best of several products are not exact either
_PEAK_MARGIN = 1.15
Work = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The constants of a calibration."""

    fixed_seconds: float
    linear_rate: float
    attention_rate: float
    weight_bandwidth: float
    kv_bandwidth: float
    observe_linear_rate: float
    observe_attention_rate: float
    residual_prefill: float
    residual_decode: float
    residual_observe: float
    one_rate: bool


def fit_timings(subject: Subject, timings: Sequence[Timing], peak: float, bandwidth: float) -> Fitted:
    """The constants behind ``timings``: a tiny prefill, then short, middle and long of each phase.

    ``peak``: FLOP/s that no rate exceeds. ``bandwidth``: of the memory, for a cache whose reading takes no time that
    can be told.
    """
    shape = subject.shape
    tiny, *prefills = _of("prefill", timings)
    work = [(*_parts(shape, each.tokens), each.seconds) for each in prefills]
    fixed, (linear, attention), one = _prefill_rates(shape, tiny, work, peak)
    ends = [work[0], work[-1]]
    held_fixed, held, _ = _prefill_rates(shape, tiny, ends, peak)
    middle = work[1:-1]
    residual = max((abs(_seconds(each, held, held_fixed) / each[2] - 1) for each in middle), default=0.0)
    observed = [
        (*observed_work(shape, each.rows, each.tokens, subject.observed_layers), each.seconds)
        for each in _of("observe", timings)
    ]
    start = fixed * observed_share(shape, subject.observed_layers)
    looks, look_residual = _observed_rates(observed, start)
    decoded = [
        (float(cache_bytes(shape, each.tokens, subject.key.kv_dtype)), each.seconds) for each in _of("decode", timings)
    ]
    weights, kv, token_residual = _decode_rates(decoded, subject.weight_bytes, bandwidth)
    return Fitted(fixed, linear, attention, weights, kv, *looks, residual, token_residual, look_residual, one)


def _prefill_rates(
    shape: ModelShape, tiny: Timing, work: Sequence[Work], peak: float
) -> tuple[float, tuple[float, float], bool]:
    """Fixed seconds c and two rates: c is what the tiny prefill takes beyond its FLOPs, which depends on the rates."""
    fixed, rates, one = 0.0, (1.0, 1.0), False
    attention_share = work[-1][1] / (work[-1][0] + work[-1][1])
    for _ in range(20):
        left = [(a, b, max(t - fixed, 0.1 * t)) for a, b, t in work]
        rates, one = _rates(left, peak, enough=attention_share >= _LEAST_ATTENTION)
        fixed = max(0.0, tiny.seconds - _seconds((*_parts(shape, tiny.tokens), 0.0), rates, 0.0))
    return fixed, rates, one


def _rates(work: Sequence[Work], peak: float, *, enough: bool) -> tuple[tuple[float, float], bool]:
    """Two rates where the work determines them and neither exceeds the peak, else one on the total, and True."""
    if enough and len(work) >= 2:
        with suppress(ValueError):
            found = fit_rates(work)
            if max(found) <= _PEAK_MARGIN * peak:
                return found, False
    # weighted as in fit_rates: least squares of the relative error
    ratios = [(linear + attention) / seconds for linear, attention, seconds in work]
    rate = sum(ratio * ratio for ratio in ratios) / sum(ratios)
    return (rate, rate), True


def _observed_rates(work: Sequence[Work], fixed: float) -> tuple[tuple[float, float], float]:
    """Rates may exceed the peak: the evidence computes less attention than the last layer stands for."""
    peak = math.inf
    left = [(a, b, max(t - fixed, 0.1 * t)) for a, b, t in work]
    held, _ = _rates([left[0], left[-1]], peak, enough=True)
    residual = max((abs(_seconds(each, held, 0.0) / each[2] - 1) for each in left[1:-1]), default=0.0)
    return _rates(left, peak, enough=True)[0], residual


def _decode_rates(
    points: Sequence[tuple[float, float]], weight_bytes: int, bandwidth: float
) -> tuple[float, float, float]:
    """Bytes/s of weights and of the cache, and the residual of the middle, from (KV bytes, seconds per token)."""
    weights, kv = _line([points[0], points[-1]], weight_bytes, bandwidth)
    residual = max((abs((weight_bytes / weights + x / kv) / t - 1) for x, t in points[1:-1]), default=0.0)
    return (*_line(points, weight_bytes, bandwidth), residual)


def _line(points: Sequence[tuple[float, float]], weight_bytes: int, bandwidth: float) -> tuple[float, float]:
    try:
        weights, kv = fit_rates([(float(weight_bytes), x, t) for x, t in points])
    except ValueError:  # the cache is so small that reading it takes no time that can be told
        kv = 2 * bandwidth
        weights = weight_bytes * len(points) / sum(max(t - x / kv, 0.1 * t) for x, t in points)
    return weights, kv


def _seconds(work: Work, rates: tuple[float, float], fixed: float) -> float:
    return fixed + work[0] / rates[0] + work[1] / rates[1]


def _parts(shape: ModelShape, tokens: int) -> tuple[float, float]:
    work = prefill_work(shape, tokens)
    return float(work.linear), float(work.attention)


def _of(phase: Phase, timings: Sequence[Timing]) -> list[Timing]:
    return [timing for timing in timings if timing.phase == phase]
