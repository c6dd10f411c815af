"""Monitors of attention health on the question's rows: collapse, sinks, overflow; they raise no errors.

The thresholds are absolute and deliberately far from healthy values, so that an alert means a fault
(damaged weights, wrong scale, fp16 overflow), not a hard question. On the embedded model question rows
have a mean sink mass near .3 and a mean normalised entropy between .2 and .6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from softlookup.errors import UsageError

if TYPE_CHECKING:
    from softlookup.runtime.attention_calls import AttentionCall

SINK_THRESHOLD = 0.95
ENTROPY_THRESHOLD = 0.02
UNIFORM_THRESHOLD = 0.98
FP16_MAX = 65504.0


@dataclass(frozen=True, slots=True)
class Alert:
    """``monitor`` saw ``value`` beyond ``threshold``; ``layer`` None when it concerns the whole model."""

    monitor: str
    value: float
    threshold: float
    layer: int | None
    message: str

    def __str__(self) -> str:
        where = "" if self.layer is None else f" in layer {self.layer}"
        return f"{self.monitor}{where}: {self.message} ({self.value:.3g}, threshold {self.threshold:.3g})"


@dataclass(slots=True)
class AttentionMonitor:
    """Collects per-layer means over the question's rows and heads; a callback of the runtime."""

    question_length: int
    sink_mass: dict[int, float] = field(default_factory=dict)
    normalized_entropy: dict[int, float] = field(default_factory=dict)
    max_unscaled_score: dict[int, float] = field(default_factory=dict)

    def __call__(self, call: AttentionCall) -> None:
        """Take one layer."""
        import torch

        from softlookup.attention.api import attention_statistics
        from softlookup.attention.stats import StatsRequest

        rows = slice(0, self.question_length)
        query, key = call.query[None, :, rows], call.key[None]
        mask = None if call.visible is None else call.visible[None, None, rows]
        if not all(bool(torch.isfinite(tensor).all()) for tensor in (query, key)):
            self.max_unscaled_score[call.layer] = math.inf
            return
        request = StatsRequest(
            lse=False, argmax=False, max_weight=False, normalized_entropy=True, max_score=True, sink_mass=1
        )
        try:
            found = attention_statistics(query, key, stats=request, mask=mask, scale=call.scale, softcap=call.softcap)
        except UsageError:  # finite numbers whose scores overflow float32
            self.max_unscaled_score[call.layer] = math.inf
            return
        if found.sink_mass is None or found.normalized_entropy is None or found.max_unscaled_score is None:
            raise AssertionError("asked for")
        self.sink_mass[call.layer] = float(found.sink_mass.nanmean())
        self.normalized_entropy[call.layer] = float(found.normalized_entropy.nanmean())
        # before the softcap, which would hide it
        self.max_unscaled_score[call.layer] = float(found.max_unscaled_score.nan_to_num().max())

    def alerts(self) -> tuple[Alert, ...]:
        """Alerts so far; empty for a healthy run."""
        found = [
            Alert("attention_overflow", value, FP16_MAX, layer, "scores are not finite")
            for layer, value in self.max_unscaled_score.items()
            if not math.isfinite(value)
        ]
        found += [
            Alert("fp16_headroom", value, FP16_MAX, layer, "unscaled scores would overflow fp16")
            for layer, value in self.max_unscaled_score.items()
            if math.isfinite(value) and value > FP16_MAX
        ]
        found += self._whole_model()
        return tuple(found)

    def _whole_model(self) -> list[Alert]:
        if not self.sink_mass:
            return []
        sink = sum(self.sink_mass.values()) / len(self.sink_mass)
        entropy = sum(self.normalized_entropy.values()) / len(self.normalized_entropy)
        found = []
        if sink > SINK_THRESHOLD:
            found.append(
                Alert("attention_sink", sink, SINK_THRESHOLD, None, "nearly all attention is on the first token")
            )
        if entropy < ENTROPY_THRESHOLD:
            found.append(
                Alert(
                    "entropy_collapse",
                    entropy,
                    ENTROPY_THRESHOLD,
                    None,
                    "attention has collapsed to single keys",
                )
            )
        if entropy > UNIFORM_THRESHOLD:
            found.append(
                Alert(
                    "uniform_attention",
                    entropy,
                    UNIFORM_THRESHOLD,
                    None,
                    "attention is uniform: it selects nothing",
                )
            )
        return found
