"""``check_rope``: reads the rotation matrix of a rotary function at many positions and compares it with a config."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.case import Array
from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.environment import environment
from softlookup.conformance.report import Finding, ProbeResult, Report
from softlookup.conformance.reports import reports_of
from softlookup.conformance.rope_call import RopeCall
from softlookup.conformance.rope_variants import RopeHypothesis, Rotation, hypotheses, matrices
from softlookup.conformance.subject import OutOfBudgetError
from softlookup.errors import UsageError

# where half precision, tables that are too short, and slow pairs show
_FAR = (0, 1, 2, 3, 5, 17, 100, 256, 257, 300, 1000, 2049, 4095, 15962, 60000)
_NEAR = tuple(position for position in _FAR if position < 512)


def check_rope(
    fn: Callable[..., Any],
    contract: str | Contract | Mapping[str, Any] | Path,
    *,
    adapter: Adapter | None = None,
    name: str = "",
    budget: float = 30.0,
) -> Report:
    """Compare ``fn(x, positions)`` with the rotation that ``contract`` declares.

    x is [B, H, T, D] (layout of the contract), positions integers [T]. ``contract`` is a config.json (path or
    mapping with head_dim, rope_theta, rope_scaling ...) or a contract with ``rope``; ``pairing`` ("half" or
    "interleaved") may stand beside the config's entries. Raises ``UsageError`` for a contract without a rotation.
    """
    wanted = find_contract(contract)
    right, theta, scale = wanted_rotation(wanted.rope)
    name = name or f"{getattr(fn, '__module__', '')}:{getattr(fn, '__qualname__', f'<{type(fn).__name__} object>')}"
    call = RopeCall(fn, wanted, adapter or Adapter(), right.dim, time.monotonic() + budget)
    where = environment(call.framework)
    try:
        positions, seen = _asked(call)
    except OutOfBudgetError as error:
        return Report(name, wanted.name, problem=f"call.hangs: {error}", environment=where)
    if seen is None:
        return Report(name, wanted.name, problem=f"call.raises: {call.error}", environment=where)
    if not np.isfinite(seen).all():
        finding = Finding("call.nan", "unsafe", "angles overflow", "NaN", "finite numbers")
        return Report(name, wanted.name, (finding,), environment=where)
    findings = [] if same(seen, right, positions) else [_named(call, right, theta, scale, seen, positions, name)]
    status = "finding" if findings else "pass"
    tried = (ProbeResult("rope.matrix", status, f"positions {', '.join(map(str, positions))}"),)
    return Report(name, wanted.name, tuple(findings), tried, {"frequencies": _shown(right)}, where)


def _asked(call: RopeCall) -> tuple[Array, Array | None]:
    """Far positions, near ones where a table is short; then the same with the other library's arrays."""
    for framework in dict.fromkeys((call.framework, "numpy", "torch")):
        call.framework = framework
        for chosen in (_FAR, _NEAR):
            seen = call.matrices(np.array(chosen))
            if seen is not None:
                return np.array(chosen), seen
    return np.array(_NEAR), None


def wanted_rotation(config: Mapping[str, Any]) -> tuple[Rotation, float, float]:
    """The rotation of a config, its theta and the factor of its scaling (1 without)."""
    from softlookup.attention.rope import RotaryEmbedding

    if not config:
        raise UsageError("the contract declares no rotation", "give a config.json: head_dim, rope_theta, ...")
    entries = dict(config)
    pairing = entries.pop("pairing", None)
    wanted = RotaryEmbedding.from_config(entries, pairing=pairing)
    frequencies = tuple(float(f) for f in wanted.frequencies)
    right = Rotation(wanted.head_dim, wanted.rotated, frequencies, wanted.pairing, factor=wanted.attention_factor)
    return right, float(wanted.theta), float(getattr(wanted.scaling, "factor", 1.0))


def same(seen: Array, rotation: Rotation, positions: Array) -> bool:
    """Within what float32 angles are off at each position."""
    tolerance = 3e-4 + 3e-7 * positions[:, None, None] + (2e-2 if rotation.narrow else 0.0)
    return bool((np.abs(seen - matrices(rotation, positions)) <= tolerance).all())


def _named(
    call: RopeCall, right: Rotation, theta: float, scale: float, seen: Array, positions: Array, name: str
) -> Finding:
    known = list(hypotheses(right, theta, scale, seen, positions))
    found: tuple[RopeHypothesis, ...] = next(
        ((entry,) for entry in known if same(seen, right.but(**entry.changes), positions)), ()
    )
    if not found:  # two at once, on different switches
        found = next(
            (
                pair
                for pair in itertools.combinations(known, 2)
                if not set(pair[0].changes) & set(pair[1].changes)
                and same(seen, right.but(**pair[0].changes, **pair[1].changes), positions)
            ),
            (),
        )
    case, got, want = _smallest(seen, right, positions)
    code = "+".join(entry.code for entry in found) or "unknown"
    if code.startswith("rope.low_precision"):
        code = code[:-1] + f",first_bad_pos={call.first_bad(right)})"
    likely = "; ".join(entry.likely for entry in found) or "no known mistake gives these numbers"
    severity = found[0].severity if found else "wrong"
    return Finding(code, severity, likely, got, want, bool(found), {"position": case[0], "unit": case[1]},
                   call.script(name, right, *case), probes=("rope.matrix",),
                   reports=reports_of(code.split("(")[0].split("=")[0]))  # fmt: skip


def _smallest(seen: Array, right: Rotation, positions: Array) -> tuple[tuple[int, int], str, str]:
    """The first position and unit vector that come out wrong."""
    want = matrices(right, positions)
    gap = np.abs(seen - want).max(-1)
    place, unit = np.unravel_index(int((gap > 5e-2).argmax() if (gap > 5e-2).any() else gap.argmax()), gap.shape)
    shown = [
        np.array2string(part[place, unit], precision=4, suppress_small=True, separator=", ") for part in (seen, want)
    ]
    where = f" (unit vector {int(unit)} at position {int(positions[place])})"
    return (int(positions[place]), int(unit)), shown[0] + where, shown[1]


def _shown(right: Rotation) -> str:
    values = ", ".join(f"{f:.3g}" for f in right.frequencies[:6])
    return f"{values}{', ...' if len(right.frequencies) > 6 else ''} radians per position, {right.pairing} pairs"
