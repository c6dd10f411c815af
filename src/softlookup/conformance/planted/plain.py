"""A correct attention in plain numpy, in steps that a planted bug replaces; shares no code with the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.case import Array


class Plain:
    """Dense attention in float32 under the contract ``standard``; one method per step."""

    def __call__(
        self, q: Array, k: Array, v: Array, causal: bool = False, mask: Array | None = None,
        bias: Array | None = None, scale: float | None = None, softcap: float | None = None,
        sinks: Array | None = None, window: Any = None, alibi: bool = False,
        kv_len: Array | None = None, segments: Array | None = None,
    ) -> Array:  # fmt: skip
        """Output [B, H, Tq, Dv] of q [B, H, Tq, D], k [B, Hkv, Tk, D], v [B, Hkv, Tk, Dv]."""
        with np.errstate(all="ignore"):
            h, d, n, m = q.shape[1], q.shape[3], q.shape[2], k.shape[2]
            factor = self.factor(scale, d)
            k, v = self.spread_key(k, h), self.spread_value(v, h)
            s = self.scores(q, k, factor)
            if softcap is not None:
                s = self.cap(s, softcap)
            if bias is not None:
                s = self.add_bias(s, bias, factor)
            if alibi:
                s = s + self.alibi(h, n, m)
            allow = np.ones(s.shape, dtype=bool)
            for rule in self.rules(n, m, causal, mask, window, kv_len, segments):
                allow = allow & rule
            p = self.weights(s, allow, self.sink(sinks, factor), softcap)
            return self.finish(self.times(self.after(p, factor), v)).astype(q.dtype)

    def factor(self, scale: float | None, d: int) -> float:
        """What q.k is multiplied by."""
        return d**-0.5 if scale is None else scale

    def scores(self, q: Array, k: Array, factor: float) -> Array:
        """Scaled products."""
        return np.asarray((q * np.float32(factor)) @ k.swapaxes(-1, -2))

    def spread_key(self, k: Array, h: int) -> Array:
        """Key heads for h query heads."""
        return np.repeat(k, h // k.shape[1], axis=1)

    def spread_value(self, v: Array, h: int) -> Array:
        """Value heads for h query heads."""
        return np.repeat(v, h // v.shape[1], axis=1)

    def add_bias(self, s: Array, bias: Array, factor: float) -> Array:
        """Scores with a bias, after the cap."""
        del factor
        return s + bias

    def cap(self, s: Array, cap: float) -> Array:
        """Cap * tanh(scores / cap)."""
        return np.asarray(cap * np.tanh(s / cap))

    def slopes(self, h: int) -> list[float]:
        """ALiBi slopes of the paper, by its own recursion."""
        if np.log2(h) % 1 == 0:
            start = 2.0 ** (-8.0 / h)
            return [start ** (i + 1) for i in range(h)]
        near = 2 ** int(np.log2(h))
        return self.slopes(near) + self.slopes(2 * near)[::2][: h - near]

    def alibi(self, h: int, n: int, m: int) -> Array:
        """-slope * distance."""
        distance = (np.arange(n)[:, None] + m - n) - np.arange(m)[None]
        return np.asarray(-np.array(self.slopes(h), dtype=np.float32)[:, None, None] * np.abs(distance))

    def rules(
        self, n: int, m: int, causal: bool, mask: Array | None, window: Any, kv_len: Array | None,
        segments: Array | None,
    ) -> list[Array]:  # fmt: skip
        """Masks that must all hold."""
        found = []
        if causal:
            found.append(self.causal(n, m))
        if mask is not None:
            found.append(self.mask(mask))
        if window is not None:
            found.append(self.window(n, m, window))
        if kv_len is not None:
            found.append(self.lengths(m, kv_len))
        if segments is not None:
            found.append(self.documents(segments))
        return found

    def causal(self, n: int, m: int) -> Array:
        """True = visible."""
        return np.tril(np.ones((n, m), dtype=bool), k=m - n)

    def mask(self, mask: Array) -> Array:
        """As given."""
        return mask

    def window(self, n: int, m: int, window: int) -> Array:
        """The ``window`` latest positions, the query's own included."""
        back = (np.arange(n)[:, None] + m - n) - np.arange(m)[None]
        return np.asarray((back >= 0) & (back < window))

    def lengths(self, m: int, kv_len: Array) -> Array:
        """The first ``kv_len`` keys of every row."""
        return np.asarray(np.arange(m)[None, None, None] < np.asarray(kv_len)[:, None, None, None])

    def documents(self, segments: Array) -> Array:
        """Only within a document."""
        return np.asarray(segments[:, None, :, None] == segments[:, None, None, :])

    def sink(self, sinks: Array | None, factor: float) -> Array | None:
        """Logit per head."""
        del factor
        return sinks

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Softmax over the visible keys; rows without any are 0."""
        del cap
        s = np.where(allow, s, -np.inf)
        top = s.max(-1, keepdims=True)
        if sinks is not None:
            top = np.maximum(top, sinks[:, None, None])
        top = np.where(np.isinf(top), 0, top)
        e = np.exp(s - top)
        z = e.sum(-1, keepdims=True)
        if sinks is not None:
            z = z + np.exp(sinks[:, None, None] - top)
        return np.asarray(e / np.where(z == 0, 1, z))

    def after(self, p: Array, factor: float) -> Array:
        """Weights as they are."""
        del factor
        return p

    def times(self, p: Array, v: Array) -> Array:
        """Weights @ values; a key of weight 0 does not count, whatever its value is."""
        if np.isfinite(v).all():
            return p @ v
        terms = np.where(p[..., None] == 0, 0.0, p[..., None] * v[:, :, None])
        return np.asarray(terms.sum(-2))

    def finish(self, o: Array) -> Array:
        """Output as it is."""
        return o
