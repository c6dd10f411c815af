"""Numbers rounded to half precision, held in float64; no check."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.case import Array


def half(given: Array | np.float64) -> Array:
    """Float16, infinite beyond its range."""
    with np.errstate(over="ignore"):
        return np.asarray(given, dtype=np.float64).astype(np.float16).astype(np.float64)


def brain(given: Array | np.float64) -> Array:
    """bfloat16 by rounding the upper half of a float32, ties to even."""
    bits = np.asarray(given, dtype=np.float32).view(np.uint32).astype(np.uint64)
    kept = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    return kept.view(np.float32).astype(np.float64)
