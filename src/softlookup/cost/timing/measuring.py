"""Which lengths are timed for a calibration, how often, and what is done with the seconds; runs no model itself.

Order: warm-up, hardware peaks, a tiny prefill (fixed cost), a short, a middle and a long one with decoding and observed
rows behind each, and behind a cache of twice the length. The shortest and the longest determine the rates; those in
between are predicted from them, and what they miss by is the residual. Then all are fitted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.seconds import DecodeTraffic
from softlookup.cost.timing.calibration import Calibration, CalibrationKey, Phase, Timing
from softlookup.cost.timing.fit import Fitted, fit_timings
from softlookup.cost.timing.implied import (
    Finding,
    Peak,
    check_cache_is_read,
    check_decode,
    check_growth,
    check_prefill,
    check_spread,
)
from softlookup.cost.timing.prediction import cache_bytes, prefill_work

TINY = 16
SHORT, LONG = 512, 4096
# rows of the observed pass: as many as some twenty questions have
OBSERVED_ROWS = 384
DECODED = 24
_WARM_UP = 64
_LEAST_SHORT = 64
_PROBE = 256
# seconds for the prefills of a calibration; a slower model gets shorter prompts
BUDGET = 60.0


class Bench(Protocol):
    """What can be timed: seconds by a clock that stops when the work is done."""

    def prefill(self, tokens: int) -> tuple[float, int]:
        """Seconds for new random tokens, and how many the cache then holds; it stays for what follows."""

    def stretch(self, tokens: int) -> int:
        """Lengthen the cache of the last prefill to ``tokens`` where that is possible; its length then."""

    def decode(self, steps: int) -> tuple[float, float]:
        """Seconds per token behind the last prefill, and seconds before the first."""

    def observe(self, rows: int) -> float:
        """Seconds of a pass of observed rows behind the last prefill."""

    def peak_flops(self) -> float:
        """FLOP/s of a large matrix product."""

    def peak_bandwidth(self) -> float:
        """Bytes/s of reading or copying memory that fits no processor cache."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What is timed. ``window``: its longest sequence. ``weight_bytes``: those that one decoded token reads."""

    key: CalibrationKey
    name: str
    shape: ModelShape
    window: int
    weight_bytes: int
    observed_layers: int
    thread_count: int
    date: str


@dataclass(frozen=True, slots=True)
class Measured:
    """``calibration`` is None where a finding makes the timings worthless."""

    calibration: Calibration | None
    findings: tuple[Finding, ...]
    timings: tuple[Timing, ...]


@dataclass(slots=True)
class _Log:
    timings: list[Timing] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)

    def add(self, phase: Phase, tokens: int, rows: int, seconds: list[float]) -> float:
        """Keep the median of ``seconds``."""
        median = statistics.median(seconds)
        spread = (max(seconds) - min(seconds)) / max(median, 1e-12)
        # with three runs and more one outlier is noise, not spread
        if len(seconds) > 3:
            middle = sorted(seconds)[1:-1]
            spread = (max(middle) - min(middle)) / max(median, 1e-12)
        self.timings.append(Timing(phase, tokens, rows, median, spread))
        return median


def measure(
    bench: Bench,
    subject: Subject,
    progress: Callable[[float], None] = lambda _: None,
    *,
    longest: int = LONG,
    repeats: int = 3,
    budget: float = BUDGET,
) -> Measured:
    """Time everything. Raises ``ValueError`` when the window is too short to time anything."""
    bench.prefill(min(_WARM_UP, subject.window - OBSERVED_ROWS // 4))
    bench.decode(2)
    bench.observe(8)
    peaks = Peak(bench.peak_flops(), measured=True), Peak(bench.peak_bandwidth(), measured=True)
    progress(0.1)
    log = _Log()
    tiny = log.add("prefill", TINY, 0, [bench.prefill(TINY)[0] for _ in range(max(5, repeats))])
    lengths = lengths_for(bench, subject.shape, _room(subject.window), longest, tiny, budget / repeats)
    work = [prefill_work(subject.shape, tokens).total for tokens in lengths]
    for number, tokens in enumerate(lengths):
        _time_prefill(bench, subject, tokens, log, repeats, peaks[0])
        _time_behind(bench, subject, tokens, log, repeats, peaks[1])
        progress(0.1 + 0.9 * sum(work[: number + 1]) / sum(work))
    # a cache can be longer than any prefill that there is time for
    stretched = bench.stretch(min(2 * lengths[-1], _room(subject.window)))
    if stretched > lengths[-1]:
        _time_behind(bench, subject, stretched, log, repeats, peaks[1])
    long_runs = [(t.tokens, max(t.seconds - tiny, 0.3 * t.seconds)) for t in log.timings if t.phase == "prefill"][1:]
    log.findings += check_growth(subject.shape, long_runs)
    kv_dtype = subject.key.kv_dtype
    decoded = [(cache_bytes(subject.shape, t.tokens, kv_dtype), t.seconds) for t in log.timings if t.phase == "decode"]
    log.findings += [*check_cache_is_read(decoded, peaks[1]), *check_spread(log.timings[1:])]
    timings = tuple(log.timings)
    if any(finding.severity == "impossible" for finding in log.findings):
        return Measured(None, tuple(log.findings), timings)
    fitted = fit_timings(subject, timings, peaks[0].value, peaks[1].value)
    return Measured(_calibration(subject, fitted, timings, peaks, log.starts), tuple(log.findings), timings)


def _time_prefill(bench: Bench, subject: Subject, tokens: int, log: _Log, repeats: int, peak: Peak) -> None:
    runs = [bench.prefill(tokens) for _ in range(repeats)]
    seconds = log.add("prefill", tokens, 0, [each[0] for each in runs])
    held = max((each[1] for each in runs), key=lambda count: abs(count - tokens))
    log.findings += check_prefill(subject.shape, tokens, seconds, peak, reported=held)


def _time_behind(bench: Bench, subject: Subject, tokens: int, log: _Log, repeats: int, peak: Peak) -> None:
    """Decoded tokens and observed rows behind the cache that the last prefill left."""
    steps = [bench.decode(DECODED) for _ in range(repeats + 2)]
    log.starts += [start for _, start in steps]
    # half of the tokens stand before the middle of the answer
    middle = tokens + DECODED // 2
    token = log.add("decode", middle, 1, [each[0] for each in steps])
    traffic = DecodeTraffic(subject.weight_bytes, cache_bytes(subject.shape, middle, subject.key.kv_dtype))
    log.findings += check_decode(traffic, token, peak)
    rows = min(OBSERVED_ROWS, subject.window - tokens)
    log.add("observe", tokens, rows, [bench.observe(rows) for _ in range(repeats)])


def lengths_for(
    bench: Bench, shape: ModelShape, room: int, longest: int, tiny: float, seconds: float
) -> tuple[int, int, int]:
    """Short, middle and long: the longest that ``room`` and ``seconds`` for one run of each allow."""
    if room < 2 * _LEAST_SHORT:
        raise ValueError(f"a window with room for {2 * _LEAST_SHORT} tokens is needed, there is room for {room}")
    probe = min(_PROBE, room)
    # the faster of two: a pause of the machine must not shorten what is timed
    spent = min(bench.prefill(probe)[0] for _ in range(2))
    rate = (prefill_work(shape, probe).total - prefill_work(shape, TINY).total) / max(spent - tiny, 0.3 * spent)

    def cost(tokens: int) -> float:
        return prefill_work(shape, tokens).total / rate

    long = min(longest, room)
    while long > 2 * _LEAST_SHORT and cost(long) + cost(long // 2) > 0.9 * seconds:
        long = max(2 * _LEAST_SHORT, long * 3 // 4)
    short = max(_LEAST_SHORT, min(SHORT, long // 4))
    return short, (short + long) // 2, long


def _room(window: int) -> int:
    """Tokens of a prefill that leave room for observed rows and decoded tokens."""
    return window - min(OBSERVED_ROWS, window // 4) - DECODED


def _calibration(
    subject: Subject, fitted: Fitted, timings: tuple[Timing, ...], peaks: tuple[Peak, Peak], starts: list[float]
) -> Calibration:
    return Calibration(
        key=subject.key, model=subject.name, date=subject.date, layers=len(subject.shape.layers),
        observed_layers=subject.observed_layers, thread_count=subject.thread_count,
        fixed_seconds=fitted.fixed_seconds, linear_rate=fitted.linear_rate, attention_rate=fitted.attention_rate,
        weight_bytes_read=subject.weight_bytes, weight_bandwidth=fitted.weight_bandwidth,
        kv_bandwidth=fitted.kv_bandwidth, start_seconds=max(0.0, statistics.median(starts)),
        observe_linear_rate=fitted.observe_linear_rate, observe_attention_rate=fitted.observe_attention_rate,
        peak_flops=peaks[0].value, peak_bandwidth=peaks[1].value, residual_prefill=fitted.residual_prefill,
        residual_decode=fitted.residual_decode, residual_observe=fitted.residual_observe, one_rate=fitted.one_rate,
        timings=timings,
    )  # fmt: skip
