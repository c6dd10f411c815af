"""From numbers to places on an axis: range, ticks, labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


def finite(values: Iterable[float | None]) -> list[float]:
    """The numbers among the values."""
    return [float(value) for value in values if value is not None and math.isfinite(value)]


@dataclass(frozen=True, slots=True)
class Scale:
    """An axis from ``low`` to ``high``; with ``log`` equal factors are equal distances."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """0 at ``low``, 1 at ``high``."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, about: int = 6) -> list[float]:
        """Round numbers within the range."""
        return self._powers(about) if self.log else self._steps(about)

    def _steps(self, about: int) -> list[float]:
        step = _round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [index * step for index in range(first, last + 1)]

    def _powers(self, about: int) -> list[float]:
        first, last = math.floor(math.log10(self.low) + 1e-9), math.ceil(math.log10(self.high) - 1e-9)
        every = max(1, math.ceil((last - first) / about))
        powers = [10.0**power for power in range(first, last + 1, every)]
        if len(powers) <= 2:
            powers = [digit * 10.0**power for power in range(first, last + 1) for digit in (1, 2, 5)]
        return [value for value in powers if self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9)]


def scale_for(values: Iterable[float | None], *, log: bool = False, zero: bool = False) -> Scale:
    """A range around the values; with ``zero`` it includes 0. Values below or at 0 do not count on a log axis."""
    known = [value for value in finite(values) if value > 0 or not log] or [1.0]
    low, high = min(known), max(known)
    if log:
        return Scale(low, high, log=True) if high > low else Scale(low / 2, high * 2, log=True)
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    if high == low:
        low, high = low - 0.5, high + 0.5
    step = _round_step((high - low) / 6)
    return Scale(math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step)


def _round_step(wish: float) -> float:
    power = 10.0 ** math.floor(math.log10(wish))
    return power * next(factor for factor in (1, 2, 2.5, 5, 10) if factor * power >= wish * (1 - 1e-9))


def tick_text(value: float) -> str:
    """A short label: 0.25, 4,000, 1e+06."""
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e6 or size < 1e-3:
        mantissa, exponent = f"{value:.1e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    return f"{value:,.0f}" if size >= 1000 else f"{value:.4g}"
