"""Probe of what every layer's attention really gets and gives: its mask, its scale, its output against float64.

Without a cache, in chunks and while decoding; the queries, keys and values are the model's own.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.attention.decoder import Capture, Captured
from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.hypotheses import all_hypotheses
from softlookup.conformance.models.runs import LENGTH, CallFailedError, Runs, shown
from softlookup.conformance.models.verdict import Verdict, found, passed, skipped
from softlookup.conformance.oracle import attend
from softlookup.conformance.variant import right_variant

_CONTRACT = Contract(name="model", dead_row="unspecified", masked_nan="unspecified")
# of the largest value: what a kernel of that dtype rounds away
_ROUNDING = {"float64": 1e-4, "float32": 1e-4, "float16": 5e-3, "bfloat16": 3e-2}
_PATHS = {"one pass": (LENGTH,), "chunks": (5, 6), "decoding": (8, 1, 1, 1)}


def kernels(runs: Runs, capture: Capture | None, *, cached: bool) -> Iterator[Verdict]:
    """Mask, scale and output of every layer, along three paths; ``cached`` False: the first alone."""
    if capture is None:
        yield skipped("kernel.*", "no capture function was given")
        return
    for path, parts in _PATHS.items():
        if path != "one pass" and not cached:
            yield skipped(f"kernel.{path}", "its cache has a finding already")
            continue
        calls = _captured(runs, capture, parts, cached=path != "one pass")
        if not calls:
            yield Verdict(f"kernel.{path}", "vacuous", "no attention call was seen")
            continue
        wrong = _masks(runs, path, calls) or _scales(runs, path, calls) or _outputs(runs, path, calls)
        yield wrong or passed(f"kernel.{path}", f"{len(calls)} calls")
        if wrong is not None:
            return


def _captured(runs: Runs, capture: Capture, parts: tuple[int, ...], *, cached: bool) -> list[Captured]:
    try:
        with capture(runs.decoder) as calls:
            if cached:
                runs.along(runs.tokens, parts, runs.cache())
            else:
                runs.full(runs.tokens)
        return list(calls)
    except CallFailedError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise CallFailedError(f"cannot be captured: {lines[0][:200]}") from error


def expected_visibility(call: Captured) -> Array:
    """Causal, and the layer's window."""
    query = np.arange(call.query.shape[1])[:, None] + call.q_offset
    key = np.arange(call.key.shape[1])[None] + call.kv_offset
    seen = key <= query
    return seen if call.window is None else seen & (query - key < call.window)


def _masks(runs: Runs, path: str, calls: list[Captured]) -> Verdict | None:
    for call in calls:
        want = expected_visibility(call)
        got = np.ones_like(want) if call.visible is None else call.visible
        if np.array_equal(got, want):
            continue
        code, severity, likely = _mask_name(call, got, want)
        return found(f"kernel.{path}", code, severity, likely,
                     f"layer {call.layer}, row {int((got != want).any(1).argmax())} of {len(want)} sees keys "
                     f"{_row(got, want)}", f"{_row(want, got)}: causal"
                     + (f", window {call.window}" if call.window else ""), tokens=shown(runs.tokens),
                     layer=call.layer, path=path)  # fmt: skip
    return None


def _row(one: Array, other: Array) -> list[int]:
    """Keys of the first row that differs."""
    return [int(key) for key in np.flatnonzero(one[int((one != other).any(1).argmax())])]


def _mask_name(call: Captured, got: Array, want: Array) -> tuple[str, str, str]:
    query = np.arange(call.query.shape[1])[:, None] + call.q_offset
    key = np.arange(call.key.shape[1])[None] + call.kv_offset
    if (got & (key > query)).any():
        far = int((np.where(got, key - query, 0)).max())
        code = "causal.leak_future=1" if far == 1 else "causal.not_applied"
        return code, "leak", "the mask that reaches the kernel shows later tokens"
    if call.q_offset and np.array_equal(got, (key <= query - call.q_offset) & want):
        return "causal.align=top_left(want=bottom_right)", "wrong", "the mask does not count cached tokens"
    if call.window is not None:
        for size in range(1, LENGTH + 1):
            if size != call.window and np.array_equal(got, (key <= query) & (query - key < size)):
                full = size >= min(call.key.shape[1], LENGTH)
                code = "window.ignored" if full else f"window.size={size}(want={call.window})"
                return code, "leak" if size > call.window else "wrong", "the window as the mask counts it"
    extra = bool((got & ~want).any())
    return "unknown", "leak" if extra else "wrong", "the mask shows other keys than causality and the window do"


def _scales(runs: Runs, path: str, calls: list[Captured]) -> Verdict | None:
    want = runs.abilities.scale
    for call in calls:
        if want is None or abs(call.scale / want - 1) < 1e-3:
            continue
        code = "scale.missing" if call.scale == 1 else "scale.config"
        return found(f"kernel.{path}", f"{code}", "wrong", "the scale handed to the kernel",
                     f"layer {call.layer} multiplies scores by {call.scale:.4g}", f"{want:.4g}",
                     layer=call.layer, path=path)  # fmt: skip
    return None


def _outputs(runs: Runs, path: str, calls: list[Captured]) -> Verdict | None:
    right = right_variant(_CONTRACT)
    limit = _ROUNDING[runs.abilities.dtype]
    wrong = [call for call in calls if _error(call, attend(_case(call), right)) > limit]
    if not wrong:
        return None
    for hypothesis in all_hypotheses(_CONTRACT):
        variant = right.but(**hypothesis.changes)
        if all(_error(call, attend(_case(call), variant)) <= limit for call in wrong):
            code, severity, likely = hypothesis.code, hypothesis.severity, hypothesis.likely
            break
    else:
        code, severity, likely = "unknown", "wrong", "no known mistake of a kernel gives these numbers"
    layers = sorted({call.layer for call in wrong})
    worst = max(_error(call, attend(_case(call), right)) for call in wrong)
    return found(f"kernel.{path}", code, severity, likely,
                 f"attention of layers {layers} is {worst:.1e} of its largest value off", f"at most {limit:.0e}",
                 tokens=shown(runs.tokens), layer=layers[0], path=path)  # fmt: skip


def _case(call: Captured) -> Case:
    # handed over or not, the usual scale is the same; left out, a kernel without any has its own name
    usual = abs(call.scale * call.query.shape[-1] ** 0.5 - 1) < 1e-6
    mask = None if call.visible is None else call.visible[None, None]
    return Case(call.query[None], call.key[None], call.value[None], scale=None if usual else call.scale,
                softcap=call.softcap, sinks=call.sinks, mask=mask)  # fmt: skip


def _error(call: Captured, want: Array) -> float:
    """Rows without any key are left alone: nothing is promised of them."""
    alive = np.ones(call.query.shape[1], dtype=bool) if call.visible is None else call.visible.any(1)
    gap = np.abs(call.output - want[0])[:, alive]
    error = float(gap.max()) / max(float(np.abs(call.value).max()), 1e-12) if gap.size else 0.0
    return error if np.isfinite(error) else float("inf")
