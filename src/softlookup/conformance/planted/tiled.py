"""A correct tiled attention in numpy: blocks of keys, running maximum and sum; steps that a planted bug replaces."""

from __future__ import annotations

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.planted.plain import Plain


class Tiled(Plain):
    """Softmax and values in one pass over blocks of keys."""

    block = 16

    def __init__(self, block: int = 16) -> None:
        self.block = block

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Scores go on to :meth:`times`; -inf where hidden."""
        del cap
        self._sinks = sinks
        return np.where(allow, s, -np.inf).astype(np.float32)

    def times(self, p: Array, v: Array) -> Array:
        """One pass; the learned sink joins at the end."""
        shape = (*p.shape[:-1], 1)
        m, z = np.full(shape, -np.inf, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        acc = np.zeros((*p.shape[:-1], v.shape[-1]), dtype=np.float32)
        for start in self.starts(p.shape[-1]):
            s, part = self.load(p, v, start)
            new = np.maximum(m, s.max(-1, keepdims=True))
            safe = np.where(np.isinf(new), 0, new)
            e, alpha = np.exp(s - safe), np.exp(m - safe)
            z = z * self.for_sum(alpha) + e.sum(-1, keepdims=True)
            acc = acc * self.for_output(alpha) + super().times(e, part)
            m = new
        if self._sinks is not None:
            safe = np.where(np.isinf(m), 0, m)
            z = z + np.exp(self._sinks[:, None, None] - safe)
        return np.asarray(acc / np.where(z == 0, 1, z))

    def starts(self, keys: int) -> range:
        """First keys of the blocks."""
        return range(0, keys, self.block)

    def load(self, s: Array, v: Array, start: int) -> tuple[Array, Array]:
        """Scores and values of one block, the last may be shorter."""
        stop = start + self.block
        return s[..., start:stop], v[:, :, start:stop]

    def for_sum(self, alpha: Array) -> Array:
        """Rescales the sum."""
        return alpha

    def for_output(self, alpha: Array) -> Array:
        """Rescales the accumulator."""
        return alpha


class AccumulatorNotRescaled(Tiled):
    """Skips alpha on the accumulator."""

    def for_output(self, alpha: Array) -> Array:
        """1, except from nothing."""
        return np.where(alpha == 0, 0, 1).astype(np.float32)


class PadKeysCounted(Tiled):
    """Zero-filled keys of the last block get a score of 0 and a place in the sum."""

    def load(self, s: Array, v: Array, start: int) -> tuple[Array, Array]:
        """A whole block always."""
        part, values = super().load(s, v, start)
        missing = self.block - part.shape[-1]
        part = np.pad(part, [(0, 0)] * 3 + [(0, missing)])
        return part, np.pad(values, [(0, 0), (0, 0), (0, missing), (0, 0)])


class Base2Merge(Plain):
    """Two halves of the keys, whose log-sum-exp in base 2 is merged as if it were natural."""

    def weights(self, s: Array, allow: Array, sinks: Array | None, cap: float | None) -> Array:
        """Softmax per half, then exp(lse2)."""
        keys = s.shape[-1]
        cut = keys // 2
        if sinks is not None or cut == 0:
            return super().weights(s, allow, sinks, cap)
        parts, lses = [], []
        for piece in (slice(0, cut), slice(cut, keys)):
            scores = np.where(allow[..., piece], s[..., piece], -np.inf)
            top = scores.max(-1, keepdims=True)
            top = np.where(np.isinf(top), 0, top)
            e = np.exp(scores - top)
            z = e.sum(-1, keepdims=True)
            parts.append(e / np.where(z == 0, 1, z))
            lses.append((np.log(z) + top) / np.log(2))
        most = np.maximum(*lses)
        shares = [np.exp(lse - np.where(np.isinf(most), 0, most)) for lse in lses]
        total = shares[0] + shares[1]
        total = np.where(total == 0, 1, total)
        return np.concatenate([part * share / total for part, share in zip(parts, shares, strict=True)], -1)
