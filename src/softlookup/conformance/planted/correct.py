"""Correct variants that look wrong: the checker must stay silent on them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.planted.plain import Plain


class AlibiAsPlus(Plain):
    """+m * j: differs by a constant per row, which softmax removes."""

    def alibi(self, h: int, n: int, m: int) -> Array:
        """Correct under causal."""
        del n
        return np.asarray(np.array(self.slopes(h), dtype=np.float32)[:, None, None] * np.arange(m))


class FourthRoot(Plain):
    """q and k each times d^-0.25."""

    def scores(self, q: Array, k: Array, factor: float) -> Array:
        """The same product."""
        root = np.float32(abs(factor) ** 0.5)
        return np.asarray((q * root) @ (k * root).swapaxes(-1, -2) * np.sign(factor))


class Exp2Folded(Plain):
    """exp2 with log2(e) folded into the scores."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """2^(x log2 e) = e^x."""
        del cap
        log2e = np.float32(1 / math.log(2))
        s = np.where(allow, s * log2e, -np.inf)
        top = s.max(-1, keepdims=True)
        top = np.where(np.isinf(top), 0, top)
        e = np.exp2(s - top)
        z = e.sum(-1, keepdims=True)
        if sinks is not None:
            z = z + np.exp2(sinks[:, None, None] * log2e - top)
        return np.asarray(e / np.where(z == 0, 1, z))


class SinkNotInMax(Plain):
    """The sink is in the sum and not among the candidates for the maximum."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """The shift cancels."""
        p = super().weights(s, allow, None, cap)
        if sinks is None:
            return p
        s = np.where(allow, s, -np.inf)
        top = s.max(-1, keepdims=True)
        top = np.where(np.isinf(top), 0, top)
        z = np.exp(s - top).sum(-1, keepdims=True)
        return np.asarray(p * z / (z + np.exp(sinks[:, None, None] - top)))


class TwoSided(Plain):
    """A window is a pair of distances, both inclusive; -1 means all keys of that side."""

    def window(self, n: int, m: int, window: Any) -> Array:
        """Keys from so many before to so many behind."""
        left, right = window
        back = (np.arange(n)[:, None] + m - n) - np.arange(m)[None]
        return np.asarray(((back <= left) | (left < 0)) & ((-back <= right) | (right < 0)))


class OneUlp(Plain):
    """A row alone and in a batch differ by an ulp."""

    def finish(self, o: Array) -> Array:
        """Depends on the batch size, not on its contents."""
        return np.nextafter(o, np.float32(2)) if o.shape[0] > 1 and np.isfinite(o).all() else o
