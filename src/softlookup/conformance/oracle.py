"""The output of a variant on a case, in float64: the contract's definition, and every named way to miss it."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.scores import mapped, scores
from softlookup.conformance.variant import Variant
from softlookup.conformance.visibility import visible
from softlookup.conformance.weights import weights


def attend(case: Case, variant: Variant) -> Array:
    """Output [B, H, Tq, Dv] of ``variant``; rows with a NaN are NaN throughout."""
    if variant.layout == "bthd":
        return _as_bthd(case, variant)
    with np.errstate(all="ignore"):
        case = _reread(case, variant)
        share = weights(scores(case, variant), visible(case, variant), case, variant)
        value = mapped(case.value, case.heads, variant.value_map)
        output = share @ value if np.isfinite(value).all() else _with_nan_values(share, value, variant)
        return one_nan_per_row(_laid_out(output, variant))


def _as_bthd(case: Case, variant: Variant) -> Array:
    """The output of a function that takes [B, H, T, D] for [B, T, H, D]: heads and positions change places."""
    wanted = (*case.query.shape[:3], case.value.shape[-1])
    if case.q_length != case.kv_length or case.features - {"causal", "scale", "softcap"}:
        return np.full(wanted, np.nan)
    query, key, value = (part.swapaxes(1, 2) for part in (case.query, case.key, case.value))
    found = attend(case.but(query=query, key=key, value=value), variant.but(layout=""))
    return found.swapaxes(1, 2)


def one_nan_per_row(output: Array) -> Array:
    """Infinite and NaN are one thing to a reader, and a NaN score spoils its whole row."""
    bad = ~np.isfinite(output).all(-1, keepdims=True)
    return np.where(bad, np.nan, output)


def _with_nan_values(share: Array, value: Array, variant: Variant) -> Array:
    if variant.masked_nan == "propagates":
        return share @ value  # 0 * NaN is NaN
    bad = ~np.isfinite(value)
    clean = share @ np.where(bad, 0.0, value)
    touched = ((share > 0).astype(float) @ bad.astype(float)) > 0
    return np.where(touched, np.nan, clean)


def _reread(case: Case, variant: Variant) -> Case:
    """Inputs as a function reads them that mistakes their layout or their batch rows."""
    kind = variant.rows
    if kind == "key_row0":
        return case.but(key=np.repeat(case.key[:1], case.batch, 0))
    if kind == "value_row0":
        return case.but(value=np.repeat(case.value[:1], case.batch, 0))
    if kind == "kv_row0":
        return case.but(key=np.repeat(case.key[:1], case.batch, 0), value=np.repeat(case.value[:1], case.batch, 0))
    if kind == "kv_reversed":
        return case.but(key=case.key[::-1], value=case.value[::-1])
    if kind == "value_reversed":
        return case.but(value=case.value[:, :, ::-1])
    if variant.layout in ("split_query", "split_all", "split_view"):
        case = case.but(query=_resplit(case.query))
    if variant.layout in ("split_all", "split_view"):
        case = case.but(key=_resplit(case.key), value=_resplit(case.value))
    return case


def _resplit(given: Array) -> Array:
    """[B, H, T, D] that was [B, T, H * D] in memory and is viewed as [B, H, T, D] without a transpose."""
    return given.transpose(0, 2, 1, 3).reshape(given.shape)


def _laid_out(output: Array, variant: Variant) -> Array:
    batch, heads, rows, width = output.shape
    if variant.layout in ("merge", "split_all"):
        return output.reshape(batch, rows, heads, width).transpose(0, 2, 1, 3)
    if variant.layout == "heads_reversed":
        return output[:, ::-1]
    if variant.layout == "interleaved_dims":  # merged as [D, H] instead of [H, D]
        return output.transpose(0, 2, 3, 1).reshape(batch, rows, heads, width).transpose(0, 2, 1, 3)
    if variant.layout == "heads_mean":
        return np.broadcast_to(output.mean(1, keepdims=True), output.shape)
    return output
