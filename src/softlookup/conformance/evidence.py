"""What was observed: one entry per call, and whether a variant reproduces it; not for deciding which variant is it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.oracle import attend
from softlookup.conformance.probes import build_probes
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.scores import scores
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.subject import Observation, Subject
from softlookup.conformance.variant import Variant

_EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}
# weights are compared up to this: far above rounding of scores near 0, far below every planted difference
_FLOOR = {"float64": 1e-6, "float32": 2e-4, "float16": 4e-3, "bfloat16": 2e-2}
_CEILING = 0.02


@dataclass(frozen=True)
class Seen:
    """One call and its output; ``tolerance`` absolute, per weight."""

    probe: Probe
    case: Case
    output: Array
    tolerance: float


@dataclass
class Evidence:
    """All calls of a subject that returned something, and the probes that could not be asked."""

    seen: list[Seen]
    skipped: dict[str, str]  # probe id -> reason
    vacuous: list[str]
    refused: dict[str, str]  # probe id -> what the function raised
    odd: list[tuple[Case, Observation]]  # tuples, mutated inputs, other dtypes

    def __post_init__(self) -> None:
        self._known: dict[tuple[int, Variant], bool] = {}

    def matches(self, index: int, variant: Variant) -> bool:
        """Whether ``variant`` gives the numbers of call ``index``."""
        key = (index, variant)
        if key not in self._known:
            entry = self.seen[index]
            # adding a large number leaves float32 scores few digits
            rounding = 2 * _EPS["float32"] * abs(variant.fill_value) if variant.fill == "add" else 0.0
            tolerance = max(entry.tolerance, min(2 * _CEILING, rounding))
            self._known[key] = (
                _between(entry, variant)
                if variant.fill in ("add", "fill")
                and variant.fill_value
                and entry.case.dtype in ("float16", "bfloat16")
                else agrees(entry.output, attend(entry.case, variant), tolerance)
            )
        return self._known[key]

    def failing(self, variant: Variant) -> list[int]:
        """Calls that ``variant`` does not explain."""
        return [index for index in range(len(self.seen)) if not self.matches(index, variant)]


def agrees(one: Array, other: Array, tolerance: float) -> bool:
    """Within ``tolerance`` everywhere, NaN in the same places. Relative where weights exceed 1."""
    if one.shape != other.shape or bool((np.isnan(one) != np.isnan(other)).any()):
        return False
    gap = np.abs(np.nan_to_num(one) - np.nan_to_num(other))
    return bool((gap <= tolerance * np.maximum(1.0, np.abs(np.nan_to_num(other)))).all())


def _between(entry: Seen, variant: Variant) -> bool:
    """Within what rounding of scores in half precision allows: a weight only grows or falls with the fill value."""
    with np.errstate(all="ignore"):
        largest = float(np.nan_to_num(np.abs(scores(entry.case, variant)), posinf=0.0).max(initial=0.0))
    off = 2 * _EPS[entry.case.dtype] * max(largest, min(2 * largest, abs(variant.fill_value)))
    ends = [attend(entry.case, variant.but(fill_value=variant.fill_value + side * off)) for side in (-1, 1)]
    low, high = np.minimum(*ends) - entry.tolerance, np.maximum(*ends) + entry.tolerance
    return entry.output.shape == low.shape and bool(((entry.output >= low) & (entry.output <= high)).all())


def tolerance_of(case: Case, right: Variant, noise: float) -> float:
    """What rounding may do: grows with the largest score, since exp turns absolute errors into relative ones."""
    with np.errstate(all="ignore"):
        found = np.abs(scores(case, right))
    largest = float(np.max(found[np.isfinite(found)], initial=0.0))
    base = max(_FLOOR[case.dtype], 3 * noise)
    angles = case.kv_length * _EPS["float32"] if right.rotary is not None else 0.0  # of far positions, in float32
    return min(_CEILING, base + (4 * _EPS[case.dtype] + angles) * largest)


def gather(subject: Subject, sizes: Sizes, right: Variant) -> Evidence:
    """Ask everything that the function's arguments allow."""
    evidence = Evidence([], {}, [], {}, [])
    find_forms(subject, sizes)
    noise = _noise(subject, sizes, right)
    for probe in build_probes(sizes, subject.contract):
        missing = sorted(probe.needs - subject.features)
        if missing:
            evidence.skipped[probe.id] = f"no argument for {', '.join(missing)}"
        elif probe.is_vacuous(right):
            evidence.vacuous.append(probe.id)
        else:
            _ask(subject, probe, right, noise, evidence)
    return evidence


def find_forms(subject: Subject, sizes: Sizes) -> None:
    """Windows as a number or a pair, masks with four axes or fewer: whichever is not refused, the contract's first."""
    arguments, causal = subject.arguments, subject.adapter.always_causal
    case = sizes.case(4, 4, 1).but(causal=causal)
    if "window" in subject.features:
        forms = dict.fromkeys((arguments.window_form, "size", "left_right"))
        _first_accepted(subject, case.but(window=(1, 0), causal=True), "window_form", list(forms))
    if "mask" in subject.features:
        everything = np.ones((case.batch, 1, 4, 4), dtype=bool)
        _first_accepted(subject, case.but(mask=everything), "mask_form", ["b1qk", "bhqk", "bqk", "qk", "bk"])


def _first_accepted(subject: Subject, case: Case, name: str, forms: list[str]) -> None:
    for form in forms:
        setattr(subject.arguments, name, form)
        if subject.run(case).output is not None:
            return
    setattr(subject.arguments, name, forms[0])


def _ask(subject: Subject, probe: Probe, right: Variant, noise: float, evidence: Evidence) -> None:
    for case in probe.cases:
        found = subject.run(case)
        if found.form or found.mutated or (found.dtype and found.dtype != case.dtype):
            evidence.odd.append((case, found))
        if found.output is None:
            reasons = evidence.skipped if found.error.startswith("unasked") else evidence.refused
            reasons.setdefault(probe.id, found.error)
            continue
        evidence.seen.append(Seen(probe, case, found.output, tolerance_of(case, right, noise)))


def _noise(subject: Subject, sizes: Sizes, right: Variant) -> float:
    """Error of an ordinary call, where it is small enough to be rounding; else 0."""
    case = sizes.case(5, 5, 1).but(causal=subject.adapter.always_causal)
    found = subject.run(case)
    if found.output is None:
        return 0.0
    error = np.abs(np.nan_to_num(found.output, nan=1.0) - attend(case, right)).max()
    return float(error) if error <= 5e-3 else 0.0
