"""Planted bugs about scale, bias, softmax, softcap, sinks, ALiBi, heads and batch."""

from __future__ import annotations

import math

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.planted.plain import Plain


class ScaleMissing(Plain):
    """scale = 1."""

    def factor(self, scale: float | None, d: int) -> float:
        """No square root."""
        return 1.0 if scale is None else scale


class ScaleDivD(Plain):
    """scale = 1 / d."""

    def factor(self, scale: float | None, d: int) -> float:
        """No square root either."""
        return 1.0 / d if scale is None else scale


class ScalePaddedDim(Plain):
    """The head dim padded to 16."""

    def factor(self, scale: float | None, d: int) -> float:
        """Of the padded dim."""
        return float((math.ceil(d / 16) * 16) ** -0.5) if scale is None else scale


class ScaleUserIgnored(Plain):
    """1 / sqrt(d) always."""

    def factor(self, scale: float | None, d: int) -> float:
        """The default."""
        return float(d**-0.5)


class ScaleUserTimesDefault(Plain):
    """scale / sqrt(d)."""

    def factor(self, scale: float | None, d: int) -> float:
        """Both."""
        return float(d**-0.5) * (1.0 if scale is None else scale)


class ScaleAfterSoftmax(Plain):
    """softmax(q.k) * scale."""

    def scores(self, q: Array, k: Array, factor: float) -> Array:
        """Raw products."""
        return super().scores(q, k, 1.0)

    def after(self, p: Array, factor: float) -> Array:
        """Scaled weights."""
        return p * factor


class BiasScaled(Plain):
    """(q.k + bias) * scale."""

    def add_bias(self, s: Array, bias: Array, factor: float) -> Array:
        """The bias is scaled as well."""
        return super().add_bias(s, bias * factor, factor)


class QueryAxis(Plain):
    """Softmax over queries."""

    axis = -2

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Over the wrong axis."""
        s = np.where(allow, s, -np.inf)
        top = s.max(self.axis, keepdims=True)
        e = np.exp(s - np.where(np.isinf(top), 0, top))
        z = e.sum(self.axis, keepdims=True)
        return np.asarray(e / np.where(z == 0, 1, z))


class HeadAxis(QueryAxis):
    """Softmax over heads."""

    axis = 1


class NoMax(Plain):
    """exp(s) / sum."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Overflows."""
        e = np.where(allow, np.exp(s.astype(np.float32)), np.float32(0))
        z = e.sum(-1, keepdims=True)
        if sinks is not None:
            z = z + np.exp(sinks[:, None, None])
        return np.asarray(np.where(allow.any(-1, keepdims=True), e / z, 0))


class MaxInitZero(Plain):
    """The running maximum starts at 0."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Underflows."""
        s = np.where(allow, s, -np.inf).astype(np.float32)
        top = np.maximum(s.max(-1, keepdims=True), 0)
        e = np.exp(s - top)
        z = e.sum(-1, keepdims=True)
        if sinks is not None:
            z = z + np.exp(sinks[:, None, None] - top)
        return np.asarray(e / np.where(z == 0, 1, z))


class GqaTile(Plain):
    """[0, 1, 0, 1] instead of [0, 0, 1, 1]."""

    def spread_key(self, k: Array, h: int) -> Array:
        """Tiled."""
        return np.tile(k, (1, h // k.shape[1], 1, 1))

    def spread_value(self, v: Array, h: int) -> Array:
        """Tiled."""
        return np.tile(v, (1, h // v.shape[1], 1, 1))


class GqaValueTile(Plain):
    """Keys interleaved, values tiled."""

    def spread_value(self, v: Array, h: int) -> Array:
        """Tiled."""
        return np.tile(v, (1, h // v.shape[1], 1, 1))


class GqaHead0(Plain):
    """k[:, :1]."""

    def spread_key(self, k: Array, h: int) -> Array:
        """One head."""
        return np.repeat(k[:, :1], h, axis=1)

    def spread_value(self, v: Array, h: int) -> Array:
        """One head."""
        return np.repeat(v[:, :1], h, axis=1)


class MergeWithoutTranspose(Plain):
    """o.reshape(B, T, -1)."""

    def finish(self, o: Array) -> Array:
        """[B, T, H * Dv] from [B, H, T, Dv] memory."""
        return o.reshape(o.shape[0], o.shape[2], -1)


class SoftcapAfterMask(Plain):
    """tanh(where(mask, -inf))."""

    def cap(self, s: Array, cap: float) -> Array:
        """Later."""
        del cap
        return s

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """-inf becomes -cap."""
        if cap is None:
            return super().weights(s, allow, sinks, cap)
        s = cap * np.tanh(np.where(allow, s, -np.inf) / cap)
        return super().weights(s, np.ones_like(allow), sinks, cap)


class SoftcapIgnored(Plain):
    """Not applied."""

    def cap(self, s: Array, cap: float) -> Array:
        """As it is."""
        del cap
        return s


class SoftcapNoDivision(Plain):
    """cap * tanh(s)."""

    def cap(self, s: Array, cap: float) -> Array:
        """Without / cap."""
        return np.asarray(cap * np.tanh(s))


class SinkIgnored(Plain):
    """Not in the sum."""

    def sink(self, sinks: Array | None, factor: float) -> Array | None:
        """None."""
        return None


class SinkScaled(Plain):
    """sink / sqrt(d)."""

    def sink(self, sinks: Array | None, factor: float) -> Array | None:
        """Scaled like a score."""
        return None if sinks is None else sinks * np.float32(factor)


class AlibiExponent(Plain):
    """2^(-8h/n)."""

    def slopes(self, h: int) -> list[float]:
        """One exponent early; other head counts by the same recursion."""
        if np.log2(h) % 1 == 0:
            return [2.0 ** (-8.0 * i / h) for i in range(h)]
        near = 2 ** int(np.log2(h))
        return self.slopes(near) + self.slopes(2 * near)[::2][: h - near]


class AlibiNonPow2(Plain):
    """2^(-8(h+1)/n) for every n."""

    def slopes(self, h: int) -> list[float]:
        """The power-of-two formula."""
        return [2.0 ** (-8.0 * (i + 1) / h) for i in range(h)]


class AlibiSign(Plain):
    """+m * distance."""

    def alibi(self, h: int, n: int, m: int) -> Array:
        """Far keys gain."""
        return -super().alibi(h, n, m)


class RowLeak(Plain):
    """o[b] += eps * o[b - 1]."""

    def finish(self, o: Array) -> Array:
        """The row before leaks in."""
        o = o.copy()
        o[1:] += np.float32(0.05) * o[:-1].copy()
        return o
