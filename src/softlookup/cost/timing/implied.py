"""Lie detector for timings: rates that no hardware reaches, or that fall far below what was calibrated.

A prefill or a decoded token has a known number of FLOPs and bytes; a timing implies rates, and rates above the peak
mean that the work was not done, not that the machine is fast. Known case: MInference#84 reported 50,000 tokens in
2.5 s on an A100, 541 of 312 TFLOP/s; a synchronisation was missing. Says what may be wrong, corrects nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.seconds import DecodeTraffic
from softlookup.cost.timing.calibration import Calibration, Timing
from softlookup.cost.timing.prediction import predicted_prefill, predicted_token, prefill_work

Severity = Literal["impossible", "suspicious", "slow"]
# in the order in which they are to be checked
PREFILL_CAUSES = (
    "the clock stopped before the device did (missing synchronise)", "a cached prefix was not computed again",
    "the prompt was cut", "a wrong mask left attention out", "the model is smaller than stated",
)  # fmt: skip
DECODE_CAUSES = (
    "the clock stopped before the device did (missing synchronise)",
    "the cache is not read in full (window, or a cut prompt)", "weights or cache lie in the processor's caches",
    "the model is smaller than stated",
)  # fmt: skip
SLOW_CAUSES = (
    "weights or cache were moved out of memory (offload, swap)", "another program used the processor, or it throttled",
    "a part fell back to slow code", "attention was not fused, or the cache was copied for every token",
)  # fmt: skip
# above a measured peak by this much: best-of-several timings are not exact either
_PEAK_MARGIN = 1.15
_SLOW = 3.0
# a prompt this much shorter than the one that was timed has been cut
_CUT = 0.75
# relative spread of repetitions above which the machine was not quiet
_RESTLESS = 0.3


@dataclass(frozen=True, slots=True)
class Peak:
    """FLOP/s or bytes/s that cannot be exceeded: ``measured`` here, or nominal (vendor's figure)."""

    value: float
    measured: bool

    def severity(self, rate: float) -> Severity | None:
        """None within the peak; above a measured one by little, only suspicious."""
        if rate <= self.value:
            return None
        return "suspicious" if self.measured and rate <= _PEAK_MARGIN * self.value else "impossible"

    def __str__(self) -> str:
        return f"{'measured' if self.measured else 'nominal'} peak"


@dataclass(frozen=True, slots=True)
class Finding:
    """One doubt about a timing; ``causes`` in the order in which they are to be checked."""

    severity: Severity
    what: str
    causes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.severity}: {self.what}; check in this order: {'; '.join(self.causes)}"

    def to_dict(self) -> dict[str, Any]:
        """The finding for JSON."""
        return {"severity": self.severity, "what": self.what, "causes": list(self.causes)}


def check_prefill(
    shape: ModelShape,
    tokens: int,
    seconds: float,
    peak: Peak,
    *,
    calibration: Calibration | None = None,
    reported: int | None = None,
) -> list[Finding]:
    """Doubts about a prefill of ``tokens`` that took ``seconds``.

    ``reported``: tokens that the engine says it has read, or that its cache holds. ``calibration``: of this model.
    """
    rate = prefill_work(shape, tokens).total / max(seconds, 1e-12)
    found = []
    if reported is not None and reported != tokens:
        what = f"a prefill of {tokens:,} tokens left {reported:,} in the cache"
        found.append(Finding("impossible", what, ("the prompt was cut", "a cached prefix was not computed again")))
    if severity := peak.severity(rate):
        what = f"{tokens:,} tokens in {seconds:.3g} s imply {rate:.3g} FLOP/s, above the {peak} of {peak.value:.3g}"
        found.append(Finding(severity, what + _implied_length(shape, tokens, seconds, calibration), PREFILL_CAUSES))
    elif calibration is not None:
        expected = predicted_prefill(calibration, shape, tokens)
        if seconds > _SLOW * expected:
            what = f"{tokens:,} tokens took {seconds:.3g} s, calibrated are {expected:.3g} s"
            found.append(Finding("slow", what, SLOW_CAUSES))
        elif implied_tokens(shape, calibration, seconds) < _CUT * tokens:
            what = f"{tokens:,} tokens took {seconds:.3g} s, calibrated are {expected:.3g} s"
            what += _implied_length(shape, tokens, seconds, calibration)
            found.append(Finding("suspicious", what, PREFILL_CAUSES))
    return found


def check_decode(traffic: DecodeTraffic, seconds: float, peak: Peak, *, expected: float | None = None) -> list[Finding]:
    """Doubts about ``seconds`` per decoded token. ``expected``: what the calibration of this model predicts."""
    rate = traffic.total / max(seconds, 1e-12)
    if severity := peak.severity(rate):
        what = (
            f"a token in {1e3 * seconds:.3g} ms implies {rate:.3g} B/s for {traffic.weights:,} B of weights and "
            f"{traffic.kv:,} B of KV, above the {peak} of {peak.value:.3g}"
        )
        return [Finding(severity, what, DECODE_CAUSES)]
    if expected is not None and seconds > _SLOW * expected:
        what = f"a token took {1e3 * seconds:.3g} ms, calibrated are {1e3 * expected:.3g} ms"
        return [Finding("slow", what, SLOW_CAUSES)]
    return []


def check_cache_is_read(points: Sequence[tuple[int, float]], peak: Peak) -> list[Finding]:
    """Doubts about decoding from (KV bytes, seconds per token) at several lengths: longer caches must take longer.

    Twice the peak is allowed: small caches lie in the processor's own.
    """
    (short, fast), (long, slow) = min(points), max(points)
    least = (long - short) / (2 * peak.value)
    if long == short or slow - fast >= least:
        return []
    what = (
        f"{long - short:,} B more of KV cost {1e3 * (slow - fast):.3g} ms more per token, at least "
        f"{1e3 * least:.3g} ms are needed to read them"
    )
    # behind short caches the difference drowns in what one token varies by
    severity: Severity = "impossible" if least > 0.2 * fast else "suspicious"
    return [Finding(severity, what, DECODE_CAUSES[1:2] + DECODE_CAUSES[:1] + DECODE_CAUSES[2:3])]


def check_growth(shape: ModelShape, timings: Sequence[tuple[int, float]]) -> list[Finding]:
    """Doubts about prefills (tokens, seconds): each must cost its share of the linear work of the one before.

    Three tenths are allowed for fixed costs and for code that is faster on longer inputs; attention only adds to it.
    """
    found = []
    for (few, fast), (many, slow) in pairwise(timings):
        more = prefill_work(shape, many).linear / prefill_work(shape, few).linear
        if slow < 0.7 * more * fast:
            what = f"{many:,} tokens took {slow:.3g} s, only {slow / fast:.2g} times as long as {few:,}"
            found.append(Finding("impossible", what, PREFILL_CAUSES[1:4]))
    return found


def check_spread(timings: Sequence[Timing]) -> list[Finding]:
    """Doubts about repetitions that differ: on a quiet machine they agree within some per cent."""
    worst = max(timings, key=lambda timing: timing.spread)
    if worst.spread <= _RESTLESS:
        return []
    what = f"repetitions of {worst.phase} behind {worst.tokens:,} tokens differ by {worst.spread:.0%} of their median"
    return [Finding("suspicious", what, SLOW_CAUSES[1:2])]


def implied_tokens(shape: ModelShape, calibration: Calibration, seconds: float) -> int:
    """Length whose predicted prefill takes ``seconds``: much less than the prompt means that it was cut."""
    low, high = 0, 1
    while predicted_prefill(calibration, shape, high) < seconds and high < 1 << 30:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if predicted_prefill(calibration, shape, middle) <= seconds else (low, middle)
    return low


def calibrated_token(calibration: Calibration, shape: ModelShape, tokens: int) -> tuple[DecodeTraffic, float]:
    """Traffic and predicted seconds of a token, for :func:`check_decode`."""
    from softlookup.cost.timing.prediction import cache_bytes

    kv = cache_bytes(shape, tokens, calibration.key.kv_dtype)
    return DecodeTraffic(calibration.weight_bytes_read, kv), predicted_token(calibration, shape, tokens)


def _implied_length(shape: ModelShape, tokens: int, seconds: float, calibration: Calibration | None) -> str:
    if calibration is None:
        return ""
    implied = implied_tokens(shape, calibration, seconds)
    return f"; at the calibrated rates that is {implied:,} tokens" if implied < _CUT * tokens else ""
