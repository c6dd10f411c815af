"""Monitors of attention health on the question's rows, per layer and head; they raise no errors and change nothing.

Three kinds of threshold. What no sound implementation does (a later key seen, an output that is no softmax, a number
that is not finite or that a dtype cannot hold) is an alert at once. Layers and the whole model are judged by absolute
limits far from healthy values, so that an alert means a fault and not a hard question. A single head is judged only
against this model's own baseline, since healthy heads differ too much. `benchmarks/monitors.py` measures how often
healthy runs raise an alert.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup.diagnostics.alerts import Alert
from softlookup.diagnostics.baseline import Baseline, baseline_alerts
from softlookup.diagnostics.head_statistics import HeadStatistics, head_statistics
from softlookup.diagnostics.implementation import implementation_alerts

if TYPE_CHECKING:
    from softlookup.runtime.attention_calls import AttentionCall

# means over the heads of all layers
SINK_THRESHOLD = 0.95
ENTROPY_THRESHOLD = 0.02
UNIFORM_THRESHOLD = 0.98
# means over the heads of one layer; healthy layers of the embedded model: .07 to .92
LAYER_ENTROPY_THRESHOLD = 0.005
LAYER_UNIFORM_THRESHOLD = 0.995
# nats; healthy layers of the embedded model: heads at least .11 apart, rows of some head at least .27
HEADS_APART_THRESHOLD = 0.003
ROWS_APART_THRESHOLD = 0.003
# smallest, over the heads of a layer, of the largest mean weight of one key; healthy: at most .7
ONE_KEY_THRESHOLD = 0.995
FP16_MAX = 65504.0
BF16_MAX = 3.3895313892515355e38
# from here on neighbouring bfloat16 numbers differ by 2, and so would the exponents of two weights
BF16_COARSE = 256.0
# while an answer is wanted: rows of the question whose sums over keys are taken, and every which layer's output is
# computed again (layers share their kernel; 5 meets both kinds of layer where they alternate). `inspect` takes all
MASS_ROWS = 2
OUTPUT_EVERY = 5


@dataclass(slots=True)
class AttentionMonitor:
    """Collects the statistics of the question's rows, layer by layer; a callback of the runtime.

    ``config`` is the model's, for the scale it states; ``baseline`` its own healthy ranges; None leaves both untested.
    ``thorough``: all rows and all outputs, at about three times the cost.
    """

    question_length: int
    config: Any = None
    baseline: Baseline | None = None
    thorough: bool = False
    layers: dict[int, HeadStatistics] = field(default_factory=dict)
    faults: list[Alert] = field(default_factory=list)

    def __call__(self, call: AttentionCall) -> None:
        """Take one layer."""
        rows = slice(0, self.question_length)
        self.layers[call.layer] = head_statistics(call, rows, mass_rows=None if self.thorough else MASS_ROWS)
        output = self.thorough or call.layer % OUTPUT_EVERY == 0
        self.faults += implementation_alerts(call, rows, self.config, output=output)

    def alerts(self) -> tuple[Alert, ...]:
        """Alerts so far, all layers; empty for a healthy run."""
        found = list(self.faults)
        for number in sorted(self.layers):
            found += range_alerts(self.layers[number])
        for number in sorted(self.layers):
            found += _layer_alerts(self.layers[number])
        found += _whole_model(self.layers)
        if self.baseline is not None:
            found += baseline_alerts(self.baseline, self.layers)
        return tuple(found)


def range_alerts(layer: HeadStatistics) -> Iterator[Alert]:
    """Numbers that are not finite, or that fp16 or bfloat16 cannot hold; per head."""
    if layer.bad_heads:
        yield Alert("non_finite", float("inf"), 0.0, layer.layer, layer.bad_heads[0], heads=len(layer.bad_heads))
        return
    if layer.overflowing:
        heads = layer.overflowing
        yield Alert("attention_overflow", float("inf"), BF16_MAX, layer.layer, heads[0], heads=len(heads))
        return
    yield from _above("bf16_overflow", layer.layer, layer.unscaled, BF16_MAX)
    yield from _above("fp16_overflow", layer.layer, layer.scaled, FP16_MAX)
    yield from _above("fp16_headroom", layer.layer, layer.unscaled, FP16_MAX)
    yield from _above("bf16_precision", layer.layer, layer.scaled, BF16_COARSE)


def _above(monitor: str, layer: int, values: np.ndarray[Any, np.dtype[np.float64]], limit: float) -> Iterator[Alert]:
    out = values > limit
    if out.any():
        worst = int(values.argmax())
        yield Alert(monitor, float(values[worst]), limit, layer, worst, heads=int(out.sum()))


def _layer_alerts(layer: HeadStatistics) -> Iterator[Alert]:
    """Collapse of a layer, and the page's rule per head."""
    if not layer.finite:
        return
    smoking = layer.below_two_over_t >= 1.0
    if smoking.any():
        head = int(smoking.argmax())
        threshold = 2.0 / layer.visible_keys
        yield Alert(
            "smoke_2_over_t", float(layer.max_weight[head]), threshold, layer.layer, head, heads=int(smoking.sum())
        )
    entropy = float(np.nanmean(layer.normalized_entropy)) if not np.isnan(layer.normalized_entropy).all() else 0.5
    if entropy > LAYER_UNIFORM_THRESHOLD:
        yield Alert("layer_uniform", entropy, LAYER_UNIFORM_THRESHOLD, layer.layer)
    one_key = float(layer.top_mass.min())
    same_key = len(set(layer.top_key.tolist())) == 1
    if one_key > ONE_KEY_THRESHOLD and same_key:
        where = f"column {int(layer.top_key[0])}"
        yield Alert("one_key", one_key, ONE_KEY_THRESHOLD, layer.layer, detail=where)
    elif entropy < LAYER_ENTROPY_THRESHOLD:
        yield Alert("layer_collapse", entropy, LAYER_ENTROPY_THRESHOLD, layer.layer)
    if len(layer.entropy) > 1 and layer.heads_apart < HEADS_APART_THRESHOLD:
        yield Alert("heads_alike", layer.heads_apart, HEADS_APART_THRESHOLD, layer.layer)
    rows_apart = float(layer.rows_apart.max())
    if layer.rows > 1 and rows_apart < ROWS_APART_THRESHOLD:
        yield Alert("constant_rows", rows_apart, ROWS_APART_THRESHOLD, layer.layer)


def _whole_model(layers: dict[int, HeadStatistics]) -> Iterator[Alert]:
    usable = [layer for layer in layers.values() if layer.finite]
    if not usable:
        return
    sink = float(np.mean([np.nanmean(layer.first_token) for layer in usable]))
    entropy = float(np.mean([np.nanmean(layer.normalized_entropy) for layer in usable]))
    if sink > SINK_THRESHOLD:
        yield Alert("attention_sink", sink, SINK_THRESHOLD)
    if entropy < ENTROPY_THRESHOLD:
        yield Alert("entropy_collapse", entropy, ENTROPY_THRESHOLD)
    if entropy > UNIFORM_THRESHOLD:
        yield Alert("uniform_attention", entropy, UNIFORM_THRESHOLD)
