"""The result of an inspection: frozen, JSON-ready, no computation beyond putting numbers side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from softlookup.diagnostics.alerts import Alert, finite_or_none
from softlookup.diagnostics.baseline import Baseline
from softlookup.diagnostics.head_statistics import HeadStatistics
from softlookup.diagnostics.sinks import Sink

SCHEMA = 1
_PER_HEAD = (
    "entropy", "normalized_entropy", "max_weight", "first_token", "top_mass", "top_key", "rows_apart", "unscaled",
    "scaled", "below_two_over_t",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ClauseShare:
    """A passage and its calibrated tempered mass in one head; ``opening``: its first words."""

    clause: str
    opening: str
    start: int
    end: int
    mass: float


@dataclass(frozen=True, slots=True)
class HeadClauses:
    """The best passages of one head that is read as evidence; ``weight`` is that of the head."""

    layer: int
    head: int
    weight: float
    clauses: tuple[ClauseShare, ...]


@dataclass(frozen=True, slots=True)
class StripRow:
    """A clause and its mass per layer beyond the bank's mean.

    ``start``, ``end`` and ``opening`` are of its best passage.
    """

    clause: str
    opening: str
    start: int
    end: int
    score: float
    mass: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PassageWeight:
    """Share of the attention of the question's rows on a passage: mean over rows, heads and layers; not calibrated."""

    start: int
    end: int
    weight: float


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """One layer: means over its heads, and every head. None where there is no number.

    ``bank_normalized_entropy`` and ``bank_first_token``: the same mean for the bank's questions on this document.
    """

    layer: int
    entropy: float | None
    normalized_entropy: float | None
    first_token: float | None
    bank_entropy: float | None
    bank_normalized_entropy: float | None
    bank_first_token: float | None
    heads_apart: float | None
    heads: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Inspection:
    """What `softlookup inspect` tells; see docs/json.md. ``healthy_bank`` is the bank's baseline on this document.

    ``passages``: where the rows of the question looked, for every passage that was read, in document order; it is for
    drawing, not in the JSON.
    """

    question: str
    language: str
    rows: int
    alerts: tuple[Alert, ...]
    layers: tuple[LayerSummary, ...]
    strip: tuple[StripRow, ...]
    heads: tuple[HeadClauses, ...]
    sinks: tuple[Sink, ...]
    sink_rows: str
    bank_questions: int
    baseline_runs: int | None
    p_value: float | None
    alpha: float
    found: bool
    answer: str
    failure: str
    context_tokens: int
    model: str
    model_sha256: str
    template_sha256: str
    profiled: bool
    healthy_bank: Baseline | None = field(default=None, repr=False)
    passages: tuple[PassageWeight, ...] = field(default=(), repr=False)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, with ``schema`` first."""
        return {
            "schema": SCHEMA,
            "question": self.question,
            "alerts": [alert.to_dict() for alert in self.alerts],
            "evidence": {"found": self.found, "p_value": self.p_value, "alpha": self.alpha},
            "answer": self.answer,
            "failure": self.failure,
            "strip": [asdict(row) for row in self.strip],
            "heads": [asdict(head) for head in self.heads],
            "sinks": [sink.to_dict() for sink in self.sinks],
            "layers": [asdict(layer) for layer in self.layers],
            "rows": {"question": self.rows, "sinks": self.sink_rows, "bank_questions": self.bank_questions},
            "baseline_runs": self.baseline_runs,
            "context_tokens": self.context_tokens,
            "model": {
                "name": self.model,
                "sha256": self.model_sha256,
                "template_sha256": self.template_sha256,
                "profiled": self.profiled,
            },
        }


def layer_summary(statistics: HeadStatistics, stored: Baseline | None, bank: Baseline | None) -> LayerSummary:
    """Means and heads of one layer beside its stored ranges and the bank's means on this document."""
    number = statistics.layer
    beside = bank if bank is not None and number < bank.shape[0] else None
    heads = []
    for head in range(len(statistics.entropy)):
        entry: dict[str, Any] = {"head": head}
        for name in _PER_HEAD:
            value = getattr(statistics, name)[head]
            entry[name] = int(value) if name == "top_key" else finite_or_none(value)
        if stored is not None and number < stored.shape[0] and head < stored.shape[1]:
            low, high = stored.normalized_entropy.bounds(number)
            entry["normalized_entropy_range"] = [finite_or_none(low[head]), finite_or_none(high[head])]
        heads.append(entry)
    return LayerSummary(
        number,
        _mean(statistics.entropy),
        _mean(statistics.normalized_entropy),
        _mean(statistics.first_token),
        None if beside is None else _mean(beside.entropy.mean[number]),
        None if beside is None else _mean(beside.normalized_entropy.mean[number]),
        None if beside is None else _mean(beside.first_token.mean[number]),
        finite_or_none(statistics.heads_apart),
        tuple(heads),
    )


def _mean(values: npt.NDArray[np.float64]) -> float | None:
    return None if np.isnan(values).all() else finite_or_none(float(np.nanmean(values)))
