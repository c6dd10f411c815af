"""A plan's request with the rates that were timed on this machine instead of priors. Times and stores nothing.

For the very model that was timed the rates are its own. For another model they are rates of this machine: c grows with
the layers, and the interval is wide, since other widths and storage formats reach other shares of the peak.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from softlookup.cost.devices import Device, this_processor
from softlookup.cost.efficiency import Efficiency, Timed
from softlookup.cost.kv_cache import KVDtypes
from softlookup.cost.model.model_source import CostModel
from softlookup.cost.model.shapes import ModelShape
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.seconds import weights_read
from softlookup.cost.timing.calibration import Calibration, CalibrationKey
from softlookup.cost.timing.calibration_files import AGAIN, find_calibration
from softlookup.cost.timing.machine import engine_version, machine_name, processor_cores, thread_setting
from softlookup.cost.timing.prediction import cache_bytes

ENGINE = "softlookup"
# models whose weights need no more than this in float32 run in float32 (runtime/load.py)
FLOAT32_LIMIT = 4 << 30
# added to the interval where the rates are those of another model
_OTHER_MODEL = 0.5


@dataclass(frozen=True, slots=True)
class CalibratedRequest:
    """``request`` with measured rates where there are some; ``notices`` for stderr."""

    request: PlanRequest
    calibration: Calibration | None
    same_model: bool
    notices: tuple[str, ...]


def wanted_key(fingerprint: str, dtype: str = "", attention: str = "sdpa") -> CalibrationKey:
    """What a calibration has to agree with to be used now; ``dtype`` and what follows from it may be unknown."""
    return CalibrationKey(
        device=machine_name(), engine=ENGINE, engine_version=engine_version(), model_fingerprint=fingerprint,
        dtype=dtype, kv_dtype=dtype, attention=attention, threads=thread_setting(),
    )  # fmt: skip


def with_calibration(
    request: PlanRequest, folder: Path, fingerprint: str | None, *, keep_kv: bool = False
) -> CalibratedRequest:
    """``request`` on this machine with the measured rates in ``folder``, else unchanged with the reason.

    ``fingerprint`` of the model's files, None when it has none here. ``keep_kv``: the storage of the cache was asked
    for; else it becomes what the timed program uses.
    """
    if request.engine.name not in ("tensors", "transformers"):
        return CalibratedRequest(request, None, same_model=False, notices=())
    found = find_calibration(folder, wanted_key(fingerprint or "", running_dtype(request.model)))
    if found.calibration is None:
        return CalibratedRequest(request, None, same_model=False, notices=found.notices)
    calibration, same = found.calibration, found.same_model
    when = f"measured on {calibration.date[:10]}"
    notice = f"seconds from rates {when}"
    if not same:
        notice += f" with {calibration.model}; for this model's own, {AGAIN.removesuffix(' again')} with it"
    kv = KVDtypes(calibration.key.kv_dtype, calibration.key.kv_dtype)
    changed = replace(
        request,
        device=measured_device(calibration, request.device),
        measured=measured_efficiency(calibration, request.model.shape, same_model=same),
        kv=request.kv if keep_kv else kv,
    )
    if same:
        elements = weights_read(request.model.shape, bytes_per_weight=1.0)
        per_weight = calibration.weight_bytes_read / elements
        changed = replace(changed, model=replace(request.model, bytes_per_weight=per_weight))
    return CalibratedRequest(changed, calibration, same, (*found.notices, notice))


def running_dtype(model: CostModel) -> str:
    """Number format in which this program runs ``model`` (runtime/load.py): converted and small files in float32."""
    small = 2 * model.weight_bytes.value <= FLOAT32_LIMIT
    return "f32" if model.origin == "gguf" or small else model.dtype


def measured_device(calibration: Calibration, device: Device | None = None) -> Device:
    """The processor with the peaks that were measured; the ridge point follows."""
    flops, bandwidth = calibration.peak_flops, calibration.peak_bandwidth
    name = f"this CPU ({processor_cores()} cores)"
    return replace(device or this_processor(), name=name, flops=flops, fp32_flops=flops, bandwidth=bandwidth)


def measured_efficiency(calibration: Calibration, shape: ModelShape, *, same_model: bool) -> Efficiency:
    """The rates as shares of the measured peaks."""
    flops, bandwidth = calibration.peak_flops, calibration.peak_bandwidth
    more = 0.0 if same_model else _OTHER_MODEL
    layers = 1.0 if same_model else len(shape.layers) / calibration.layers
    timed = Timed(
        kv=calibration.kv_bandwidth / bandwidth,
        width=calibration.width("prefill") + more,
        decode_width=calibration.width("decode") + more,
        longest_kv=float(max(1, cache_bytes(shape, calibration.longest("decode"), calibration.key.kv_dtype))),
        same_model=same_model,
        observed=(calibration.observe_linear_rate / flops, calibration.observe_attention_rate / flops),
    )
    linear, attention = calibration.linear_rate / flops, calibration.attention_rate / flops
    weights = calibration.weight_bandwidth / bandwidth
    name = "" if same_model else f" with {calibration.model}"
    return Efficiency(
        linear, attention, weights, min(linear, attention), max(linear, attention), weights, weights,
        f"measured {calibration.date[:10]}{name}, {calibration.key.engine_version}",
        fixed_seconds=calibration.fixed_seconds * layers, longest=calibration.longest("prefill"), timed=timed,
    )  # fmt: skip
