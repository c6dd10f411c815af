"""``softlookup plan --calibrate``: times the model here, stores the rates, prints them; and finds them for a plan."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from softlookup.errors import CapacityError, ExitCode, SoftlookupError

if TYPE_CHECKING:
    from softlookup.cost.plan.request import PlanRequest
    from softlookup.cost.timing.calibrated import CalibratedRequest
    from softlookup.cost.timing.calibration import Calibration, Phase
    from softlookup.cost.timing.implied import Finding
    from softlookup.cost.timing.measuring import Measured, Subject


def calibrate(options: argparse.Namespace) -> ExitCode:
    """Measure, check, store, print. Raises ``SoftlookupError`` for timings that cannot be true: nothing is stored."""
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.progress import progress_bar
    from softlookup.cost.timing.calibration_files import find_calibration, keep_calibration
    from softlookup.cost.timing.measuring import measure
    from softlookup.evidence.timed_model import bench_and_subject
    from softlookup.runtime.load import load_model
    from softlookup.runtime.timings_folder import fingerprint_of, timings_folder

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with progress_bar() as progress:
        loaded = load_model(options.model, progress=progress)
        bench, subject = bench_and_subject(loaded, fingerprint_of(options.model) or loaded.source.sha256)
        try:
            measured = measure(bench, subject, lambda fraction: progress("time", fraction))
        except ValueError as error:  # the timings determine nothing: a limit of the model, not a bug
            raise CapacityError(f"this model cannot be calibrated ({error})", "plan with priors") from error
        progress("time", 1.0)
    before = find_calibration(timings_folder(), subject.key)
    earlier = _since(measured, subject, before.calibration if before.same_model else None)
    findings = (*measured.findings, *earlier)
    for finding in findings:
        sys.stderr.write(f"note: {printable_line(str(finding))}\n")
    calibration = measured.calibration
    if calibration is None:
        raise SoftlookupError(
            "the timings cannot be true, so nothing was stored", "close other programs and calibrate again"
        )
    path = keep_calibration(timings_folder(), calibration)
    if options.json:
        record = {**calibration.to_dict(), "findings": [each.to_dict() for each in findings], "stored": str(path)}
        sys.stdout.write(json_line(record) + "\n")
    else:
        lines = [*calibration_lines(calibration), f"Stored in {printable_line(str(path))}; `softlookup plan` uses it."]
        sys.stdout.write("\n".join(lines) + "\n")
    return ExitCode.OK


def _since(measured: Measured, subject: Subject, before: Calibration | None) -> list[Finding]:
    """Doubts that come from an earlier calibration of the same model: the machine has become far slower or faster."""
    from softlookup.cost.timing.implied import Peak, check_prefill

    if before is None:
        return []
    last = [timing for timing in measured.timings if timing.phase == "prefill"][-1]
    return check_prefill(
        subject.shape, last.tokens, last.seconds, Peak(float("inf"), measured=True), calibration=before
    )


def calibration_lines(found: Calibration) -> list[str]:
    """The rates of a calibration for people."""
    from softlookup.cli.escape import printable_line
    from softlookup.cli.render_plan import quantity

    key = found.key
    rates = f"{found.linear_rate / 1e9:.3g} GFLOP/s of matrix products, {found.attention_rate / 1e9:.3g} of attention"
    if found.one_rate:
        rates = f"{found.linear_rate / 1e9:.3g} GFLOP/s; the lengths do not tell products from attention"
    looked = f"{found.observe_linear_rate / 1e9:.3g} and {found.observe_attention_rate / 1e9:.3g} GFLOP/s"
    tokens = (
        f"{quantity(found.weight_bytes_read, 'B')} of weights at {found.weight_bandwidth / 1e9:.3g} GB/s, "
        f"KV at {found.kv_bandwidth / 1e9:.3g} GB/s, {1e3 * found.start_seconds:.3g} ms per answer"
    )
    left = ", ".join(
        f"{name} {getattr(found, f'residual_{phase}'):.1%}"
        for name, phase in (("prefill", "prefill"), ("decode", "decode"), ("observed rows", "observe"))
    )
    return [
        printable_line(f"{found.model} on {key.device}, {found.thread_count} threads, {key.dtype}, {key.attention}"),
        f"machine   {found.peak_flops / 1e9:.3g} GFLOP/s in a matrix product, {found.peak_bandwidth / 1e9:.3g} GB/s",
        f"prefill   {_timed(found, 'prefill')}",
        f"          {1e3 * found.fixed_seconds:.3g} ms per pass, {rates}",
        f"decode    {_timed(found, 'decode')}",
        f"          {tokens}",
        f"observe   {_timed(found, 'observe')}",
        f"          {looked}, the first {found.observed_layers} of {found.layers} layers",
        f"held out  {left} off in the middle length",
    ]


def _timed(found: Calibration, phase: Phase) -> str:
    """Seconds by tokens of context, with their spread."""
    from softlookup.cost.plan.plan_texts import seconds_text

    rows = [timing for timing in found.timings if timing.phase == phase]
    what = f" for {rows[-1].rows} rows" if phase == "observe" else ""
    return "; ".join(f"{t.tokens:,}: {seconds_text(t.seconds)} (±{t.spread / 2:.0%})" for t in rows) + what


def measured_request(request: PlanRequest, options: argparse.Namespace) -> CalibratedRequest:
    """``request`` with the rates that were measured here, where its device is this machine and there are some."""
    from softlookup.cost.timing.calibrated import CalibratedRequest, with_calibration
    from softlookup.runtime.timings_folder import fingerprint_of, timings_folder

    if (options.device or "auto").strip().lower() not in ("auto", "cpu"):
        return CalibratedRequest(request, None, same_model=False, notices=())
    return with_calibration(
        request,
        timings_folder(),
        None if options.weight_dtype else fingerprint_of(options.model),
        keep_kv=options.kv_dtype is not None,
    )
