"""What was timed on one machine with one model, and for which settings it holds. Measures, stores and predicts nothing.

The times follow ``t = c + F_linear/R1 + F_attention/R2`` for a pass over many tokens and ``t = weights/B_weights +
KV/B_kv`` for a decoded token (docs/cost.md); a record holds the constants, the timings behind them and what was left.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

SCHEMA = 1
Phase = Literal["prefill", "decode", "observe"]
PHASES: tuple[Phase, ...] = ("prefill", "decode", "observe")
# the smallest half-width of an interval: what repeated runs on a quiet machine differ by
_LEAST_WIDTH = 0.05
_MOST_TIMINGS = 100


@dataclass(frozen=True, slots=True)
class CalibrationKey:
    """Everything that a timing depends on beside the length. An empty entry is one that is not known (yet)."""

    device: str
    engine: str
    engine_version: str
    model_fingerprint: str
    dtype: str
    kv_dtype: str
    attention: str
    threads: str

    def differing(self, wanted: CalibrationKey) -> list[str]:
        """Names of the entries that differ from those that ``wanted`` knows."""
        names = [field.name for field in fields(self)]
        return [name for name in names if (value := getattr(wanted, name)) and value != getattr(self, name)]


@dataclass(frozen=True, slots=True)
class Timing:
    """Median seconds of one thing: a prefill of ``tokens``, one decoded token or ``rows`` observed rows behind them.

    ``spread``: (slowest - fastest) / median of the repetitions.
    """

    phase: Phase
    tokens: int
    rows: int
    seconds: float
    spread: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """Rates of one model on one machine. FLOP/s and bytes/s; ``fixed_seconds`` is c, for every pass.

    ``observed_layers``: layers that a pass of observed rows runs. ``weight_bytes_read``: what one decoded token reads.
    ``start_seconds``: before the first token of an answer. ``residual_*``: worst relative error of the timings that
    took no part in the fit. ``one_rate``: the timings did not determine two rates; both are one, on the causal total.
    """

    key: CalibrationKey
    model: str
    date: str
    layers: int
    observed_layers: int
    thread_count: int
    fixed_seconds: float
    linear_rate: float
    attention_rate: float
    weight_bytes_read: int
    weight_bandwidth: float
    kv_bandwidth: float
    start_seconds: float
    observe_linear_rate: float
    observe_attention_rate: float
    peak_flops: float
    peak_bandwidth: float
    residual_prefill: float
    residual_decode: float
    residual_observe: float
    one_rate: bool
    timings: tuple[Timing, ...]

    def longest(self, phase: Phase) -> int:
        """The longest context of a phase that was timed, in tokens."""
        return max((timing.tokens for timing in self.timings if timing.phase == phase), default=1)

    def width(self, phase: Phase) -> float:
        """Relative half-width of an interval within the timed lengths: residuals, spread, and never below 5 %."""
        spread = max((timing.spread for timing in self.timings if timing.phase == phase), default=0.0)
        residual: float = getattr(self, f"residual_{phase}")
        worst = max(_LEAST_WIDTH, 1.5 * residual, spread)
        return max(worst, 0.25) if self.one_rate and phase != "decode" else worst

    def to_dict(self) -> dict[str, Any]:
        """The record for JSON."""
        return {"schema": SCHEMA, **asdict(self), "timings": [asdict(timing) for timing in self.timings]}


def calibration_from_dict(content: object) -> Calibration:
    """The inverse of :meth:`Calibration.to_dict`. Raises ``ValueError`` for anything that is not one."""
    record = dict(_table(content, "a calibration"))
    if record.pop("schema", None) != SCHEMA:
        raise ValueError(f"the schema is not {SCHEMA}")
    key = CalibrationKey(**_typed(CalibrationKey, record.pop("key", None)))
    rows = record.pop("timings", None)
    if not isinstance(rows, list) or not 1 <= len(rows) <= _MOST_TIMINGS:
        raise ValueError(f"it has not 1 to {_MOST_TIMINGS} timings")
    timings = tuple(Timing(**_typed(Timing, row)) for row in rows)
    if any(timing.phase not in PHASES for timing in timings):
        raise ValueError("a timing is of no known phase")
    numbers = _typed(Calibration, record, without=("key", "timings"))
    return Calibration(key=key, timings=timings, **numbers)


# what may be zero: nothing was left over, or it takes no time that can be told
_MAY_BE_ZERO = ("rows", "spread", "fixed_seconds", "start_seconds",
                "residual_prefill", "residual_decode", "residual_observe")  # fmt: skip


def _typed(kind: type[Any], content: object, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields of ``kind`` in ``content``, each of its type, finite, and positive where zero means nothing."""
    record = _table(content, kind.__name__)
    wanted = {field.name: str(field.type) for field in fields(kind) if field.name not in without}
    if set(record) != set(wanted):
        raise ValueError(f"the entries of {kind.__name__} are not those of schema {SCHEMA}")
    return {name: _value(name, kind, record[name]) for name, kind in wanted.items()}


def _value(name: str, kind: str, value: object) -> object:
    if kind == "bool" and isinstance(value, bool):
        return value
    if kind in ("str", "Phase") and isinstance(value, str) and len(value) <= 1000:
        return value
    if kind in ("int", "float") and isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value)
        least = 0.0 if name in _MAY_BE_ZERO else 1e-12
        if math.isfinite(number) and least <= number <= 1e18 and (kind == "float" or isinstance(value, int)):
            return number if kind == "float" else value
    raise ValueError(f"{name} is not a plausible {kind}")


def _table(content: object, what: str) -> dict[str, Any]:
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise ValueError(f"{what} is not an object")
    return content
