"""What is read off calls for the report: the operator in words, rows that differ; nothing here names a mistake."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.evidence import Evidence, Seen
from softlookup.conformance.explain import Explanation
from softlookup.conformance.measured import slope_of, spread_of
from softlookup.conformance.oracle import attend
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import Variant

_ROWS = 6  # of an output, in text
_CROOKED = 0.1  # distance of ln W from a line in q.k, beyond which no scale is told


def operator(evidence: Evidence, right: Variant, found: list[Explanation]) -> dict[str, str]:
    """Effective scale, sums of rows, heads: of the plain call, which has no mask. ``found``: what the scale follows."""
    entry = next((entry for entry in evidence.seen if entry.probe.id == "plain.square"), None)
    if entry is None:
        return {}
    said = {}
    scale = _scale(entry, right, found)
    if scale:
        said["scale"] = scale
    sums = entry.output[..., : entry.case.kv_length].sum(-1)
    said["row sums"] = f"{np.nanmin(sums):.4g} to {np.nanmax(sums):.4g}" if np.isfinite(sums).any() else "NaN"
    said["heads"] = f"{entry.case.heads} query, {entry.case.kv_heads} key/value"
    return said


def _scale(entry: Seen, right: Variant, found: list[Explanation]) -> str:
    """Read as the function is; where heads or axes are mixed up, that is told, not the crooked line it gives."""
    case = entry.case
    for variant in (right, *(explanation.variant for explanation in found)):
        slope = slope_of(entry.output, case, variant)
        if slope is not None and spread_of(entry.output, case, variant, slope) <= _CROOKED:
            return f"{slope:.4g} at D = {case.head_dim} (1/sqrt(D) = {case.head_dim**-0.5:.4g})"
    if slope_of(entry.output, case, right) is None:
        return ""
    if found:
        return f"not read before {found[0].hypothesis.code} is mended"
    return "not one number: weights do not follow q.k"


def fitting(case: Case, subject: Subject, output: Array | None, right: Variant) -> Case:
    """With no more value columns than the function takes in one call: where that is D, those that differ most."""
    width, limit = case.value.shape[-1], case.head_dim
    if subject.value_is_free or width == limit:
        return case
    start = 0
    if output is not None and width > limit:
        gap = np.abs(np.nan_to_num(output, nan=1e9) - np.nan_to_num(attend(case, right), nan=1e9))
        start = max(range(0, width, limit), key=lambda first: float(gap[..., first : first + limit].max()))
    piece = case.value[..., start : start + limit]
    return case.but(value=np.pad(piece, [(0, 0)] * 3 + [(0, limit - piece.shape[-1])]))


def rows_apart(got: Array, want: Array) -> tuple[str, str]:
    """The output row that differs most, beside the one wanted."""
    place = np.unravel_index(int(_gaps(got, want).argmax()), got.shape[:-1])
    return f"{_numbers(got[place])} ({_where(place)})", _numbers(want[place])


def differing(got: Array, want: Array) -> list[str]:
    """Every row that differs beside the one wanted, where there are several; the first six."""
    gaps = _gaps(got, want)
    places = np.argwhere(gaps > max(1e-3, 0.02 * float(gaps.max())))
    if len(places) < 2:
        return []
    lines = [f"{_where(place)}: {_numbers(got[tuple(place)])}, want {_numbers(want[tuple(place)])}"
             for place in places[:_ROWS]]  # fmt: skip
    return [*lines, f"and {len(places) - _ROWS} more rows"] if len(places) > _ROWS else lines


def _gaps(got: Array, want: Array) -> Array:
    return np.asarray(np.abs(np.nan_to_num(got, nan=1e9) - np.nan_to_num(want, nan=1e9)).max(-1))


def _where(place: Array | tuple[np.intp, ...]) -> str:
    return ", ".join(f"{word} {int(index)}" for word, index in zip(("batch", "head", "query"), place, strict=True))


def _numbers(row: Array) -> str:
    shown = ", ".join("NaN" if np.isnan(x) else f"{x:.4g}" for x in row[:8])
    return f"[{shown}{', ...' if row.size > 8 else ''}]"
