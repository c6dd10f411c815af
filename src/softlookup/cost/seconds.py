"""Seconds of a prefill, milliseconds of a decoded token, and whether compute or bandwidth is the limit.

Prefill: two efficiencies (``efficiency``). Decode: bytes of the weights that a token reads (active experts, LM head
even when tied) and of the whole cache, over the bandwidth; forgetting either is the usual mistake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from softlookup.cost.devices import Device
from softlookup.cost.efficiency import Efficiency, Timed, is_series
from softlookup.cost.figures import Figure, weakest
from softlookup.cost.flops import Flops
from softlookup.cost.model.dtypes import storage_bytes
from softlookup.cost.model.shapes import ModelShape

# launch and synchronisation per operation, and operations per layer of an unfused decoder step: what a small model on
# a fast card is bound by. Source: aiconfigurator and InferSim use 3 us. Enters the upper limit only.
_SECONDS_PER_OPERATION = 3e-6
_OPERATIONS_PER_LAYER = 10


def prefill_figure(flops: Flops, tokens: int, device: Device, efficiency: Efficiency, dtype: str = "bf16") -> Figure:
    """Seconds of a prefill: F_linear / (P e1) + F_attention / (P e2)."""
    peak = device.peak(dtype)
    compute = flops.linear / (peak * efficiency.linear) + flops.attention / (peak * efficiency.attention)
    value = efficiency.fixed_seconds + compute
    if is_series(efficiency):
        shortest, longest = efficiency.limits(tokens)
        low, high = value * shortest, value * longest
        if efficiency.timed is not None and not efficiency.timed.same_model:
            low = min(low, flops.total / peak)  # a larger model may come closer to the peak
    else:
        low, high = flops.total / (peak * efficiency.high), flops.total / (peak * efficiency.low)
    fixed = f"{efficiency.fixed_seconds:.3g} s + " if efficiency.fixed_seconds else ""
    return Figure(
        value, "s", efficiency.kind, min(low, value), max(high, value),
        f"{fixed}F_linear/(P {efficiency.linear:.3g}) + F_attention/(P {efficiency.attention:.3g}), "
        f"P = {peak:.4g} FLOP/s",
        f"{device.name}; {efficiency.source}",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecodeTraffic:
    """Bytes that one decoded token reads: ``weights`` (LM head included) once per batch, ``kv`` once per request."""

    weights: int
    kv: int

    @property
    def total(self) -> int:
        """Both, for one request."""
        return self.weights + self.kv


def weights_read(
    shape: ModelShape,
    dtype: str = "bf16",
    bytes_per_weight: float | None = None,
    batch: int = 1,
    *,
    lm_head: bool = True,
) -> int:
    """Bytes of weights that one step reads: layers with active experts, LM head even when tied, an embedding row each.

    ``bytes_per_weight`` is the average of a file whose tensors have several types. ``batch``: tokens of the step,
    which read the layers once between them and more experts than one token does. Without ``lm_head``: a pass that
    ends before it.
    """
    elements = sum(layer.weights - layer.idle_expert_weights for layer in shape.layers)
    elements += (shape.head_weights if lm_head else 0) + (1 + batch) * shape.hidden_size
    if batch > 1 and shape.expert_count > shape.experts_per_token:
        more = distinct_experts(shape.expert_count, shape.experts_per_token, batch) - shape.experts_per_token
        idle = sum(layer.idle_expert_weights for layer in shape.layers)
        elements += round(idle * more / (shape.expert_count - shape.experts_per_token))
    return round(elements * bytes_per_weight) if bytes_per_weight else storage_bytes(elements, dtype)


def distinct_experts(total: int, used: int, batch: int) -> float:
    """Experts that a batch reads, uniform routing assumed: E (1 - (1 - K/E)^n).

    >>> distinct_experts(8, 2, 1)
    2.0
    """
    return total * (1 - (1 - used / total) ** batch)


def decode_figure(traffic: DecodeTraffic, layers: int, device: Device, efficiency: Efficiency) -> Figure:
    """Milliseconds per decoded token of one request: (weights + KV) / (B e), or with a share for each when timed."""
    if efficiency.timed is not None:
        return _timed_decode(traffic, device, efficiency, efficiency.timed)
    milliseconds = 1e3 * traffic.total / (device.bandwidth * device.count)
    overhead = 0.0
    if device.device_class != "cpu":
        overhead = 1e3 * _SECONDS_PER_OPERATION * _OPERATIONS_PER_LAYER * layers
    return Figure(
        milliseconds / efficiency.bandwidth, "ms/token", "prior", milliseconds / efficiency.bandwidth_high,
        milliseconds / efficiency.bandwidth_low + overhead,
        f"(weights {traffic.weights:,} B + KV {traffic.kv:,} B) / ({efficiency.bandwidth:g} x "
        f"{device.bandwidth * device.count:.4g} B/s)",
        f"{device.name}; {efficiency.source}",
    )  # fmt: skip


def _timed_decode(traffic: DecodeTraffic, device: Device, efficiency: Efficiency, timed: Timed) -> Figure:
    """Weights / (B e1) + KV / (B e2), whatever a token costs beside them in e1."""
    bandwidth = device.bandwidth * device.count
    value = 1e3 * (traffic.weights / efficiency.bandwidth + traffic.kv / timed.kv) / bandwidth
    width = 1 + timed.decode_width + 0.05 * max(0.0, math.log2(max(traffic.kv, 1) / timed.longest_kv))
    low = value / width
    if not timed.same_model:
        low = min(low, 1e3 * traffic.total / bandwidth)
    return Figure(
        value, "ms/token", "measured", low, value * width,
        f"weights {traffic.weights:,} B / ({efficiency.bandwidth:.3g} x {bandwidth:.4g} B/s) + KV {traffic.kv:,} B / "
        f"({timed.kv:.3g} x {bandwidth:.4g} B/s)",
        f"{device.name}; {efficiency.source}",
    )  # fmt: skip


def sum_figure(parts: list[tuple[float, Figure]], unit: str, formula: str) -> Figure:
    """A weighted sum of figures, with the weakest kind and the sum of the limits."""
    return Figure(
        sum(factor * part.value for factor, part in parts), unit, weakest(*(part.kind for _, part in parts)),
        sum(factor * part.low for factor, part in parts), sum(factor * part.high for factor, part in parts), formula,
    )  # fmt: skip


def bound_by(flops: float, traffic: float, device: Device) -> str:
    """``compute`` above the ridge point, else ``bandwidth``."""
    return "compute" if flops / traffic >= device.ridge else "bandwidth"
