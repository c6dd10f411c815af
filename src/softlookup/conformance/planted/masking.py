"""Planted bugs about who sees whom, written from their published descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.planted.plain import Plain


def _places(n: int, m: int) -> tuple[Array, Array]:
    return np.arange(n)[:, None] + (m - n), np.arange(m)[None]


class AlignTopLeft(Plain):
    """j <= i."""

    def causal(self, n: int, m: int) -> Array:
        """Without Tk - Tq."""
        return np.tril(np.ones((n, m), dtype=bool))


class WrongTriangle(Plain):
    """triu with True = keep."""

    def causal(self, n: int, m: int) -> Array:
        """The future."""
        return np.triu(np.ones((n, m), dtype=bool), k=m - n)


class ExcludesSelf(Plain):
    """j < i."""

    def causal(self, n: int, m: int) -> Array:
        """tril(-1)."""
        i, j = _places(n, m)
        return np.asarray(j < i)


class LeakPlusOne(Plain):
    """j <= i + 1."""

    def causal(self, n: int, m: int) -> Array:
        """One future token."""
        i, j = _places(n, m)
        return np.asarray(j <= i + 1)


class CausalSkipped(Plain):
    """No causal mask."""

    def causal(self, n: int, m: int) -> Array:
        """All."""
        return np.ones((n, m), dtype=bool)


class CausalDroppedRect(Plain):
    """if Tq != Tk: no mask."""

    def causal(self, n: int, m: int) -> Array:
        """Square only."""
        return super().causal(n, m) if n == m else np.ones((n, m), dtype=bool)


class MaskDroppedIfCausal(Plain):
    """use_mask = mask is not None and not causal."""

    def rules(self, n: int, m: int, causal: bool, mask: Array | None, *others: Any) -> list[Array]:
        """Forgets the mask."""
        return super().rules(n, m, causal, None if causal else mask, *others)


class MaskIgnored(Plain):
    """mask = ones."""

    def mask(self, mask: Array) -> Array:
        """All."""
        return np.ones_like(mask)


class MaskPolarity(Plain):
    """mask = ~mask."""

    def mask(self, mask: Array) -> Array:
        """Inverted."""
        return ~mask


class MaskBatchRow0(Plain):
    """mask = mask[:1]."""

    def mask(self, mask: Array) -> Array:
        """Row 0."""
        return mask[:1]


class MaskAfterSoftmax(Plain):
    """p = softmax(s) * allow."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """No mask inside."""
        return super().weights(s, np.ones_like(allow), sinks, cap) * allow


class FiniteAdd(Plain):
    """s - 1e4 where hidden."""

    value = -1e4

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Added."""
        hidden = np.where(allow, s, s + np.float32(self.value))
        return super().weights(hidden, np.ones_like(allow), sinks, cap)


class FiniteFill(Plain):
    """-1e4 where hidden."""

    value = -1e4

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Filled."""
        return super().weights(np.where(allow, s, np.float32(self.value)), np.ones_like(allow), sinks, cap)


class NanDeadRow(Plain):
    """No guard on a row of -inf."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """NaN where nothing is visible."""
        p = super().weights(s, allow, sinks, cap)
        return np.where(allow.any(-1, keepdims=True) | (sinks is not None), p, np.nan)


class UniformDeadRow(Plain):
    """The mean of V where nothing is visible."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Equal weights."""
        p = super().weights(s, allow, sinks, cap)
        return np.where(allow.any(-1, keepdims=True), p, 1 / s.shape[-1])


class Poison(Plain):
    """p @ V without skipping keys of weight 0."""

    def times(self, p: Array, v: Array) -> Array:
        """0 * NaN."""
        return p @ v


class KeyLengthsIgnored(Plain):
    """kv_len does nothing."""

    def lengths(self, m: int, kv_len: Array) -> Array:
        """All keys."""
        return np.ones((len(kv_len), 1, 1, m), dtype=bool)


class CrossCausal(Plain):
    """A module without the flag is causal by default."""

    def __call__(self, q: Array, k: Array, v: Array, causal: bool | None = None, mask: Array | None = None,  # type: ignore[override]
                 **others: Any) -> Array:  # fmt: skip
        """None becomes True where no mask is given."""
        if causal is None:
            causal = mask is None and not others
        return super().__call__(q, k, v, causal, mask, **others)


class WindowPlus1(Plain):
    """i - j <= W."""

    def window(self, n: int, m: int, window: int) -> Array:
        """W + 1 positions."""
        i, j = _places(n, m)
        return np.asarray((i - j <= window) & (j <= i))


class WindowMinus1(Plain):
    """i - j < W - 1."""

    def window(self, n: int, m: int, window: int) -> Array:
        """W - 1 positions."""
        i, j = _places(n, m)
        return np.asarray((i - j < window - 1) & (j <= i))


class WindowIgnored(Plain):
    """No window; the future stays hidden."""

    def window(self, n: int, m: int, window: int) -> Array:
        """Tril."""
        del window
        return np.tril(np.ones((n, m), dtype=bool), k=m - n)


class WindowLeaksFuture(Plain):
    """(L, 0) without a right bound."""

    def window(self, n: int, m: int, window: Any) -> Array:
        """Only the left bound."""
        i, j = _places(n, m)
        return np.asarray((i - j <= window[0]) | (window[0] < 0))


class SegmentLeak(Plain):
    """No mask between documents."""

    def documents(self, segments: Array) -> Array:
        """All."""
        return np.ones((segments.shape[0], 1, segments.shape[1], segments.shape[1]), dtype=bool)


class SegmentOffByOne(Plain):
    """Boundaries one token late."""

    def documents(self, segments: Array) -> Array:
        """Shifted ids."""
        late = np.concatenate([segments[:, :1], segments[:, :-1]], 1)
        return super().documents(late)
