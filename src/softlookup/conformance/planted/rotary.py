"""A correct rotary function in numpy, and planted bugs in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.case import Array

# what the planted functions are held to: everything differs from the usual defaults
PLAIN_CONFIG: dict[str, Any] = {"head_dim": 8, "rope_theta": 500000.0, "num_attention_heads": 4}
SCALED_CONFIG: dict[str, Any] = {**PLAIN_CONFIG, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}
PARTIAL_CONFIG: dict[str, Any] = {**PLAIN_CONFIG, "partial_rotary_factor": 0.5}


class Rotary:
    """Rotates x [B, H, T, D] by positions [T]; pairs (i, i + R/2)."""

    def __init__(self, theta: float = 500000.0, factor: float = 1.0, rotated: int | None = None) -> None:
        self.theta, self.factor, self.rotated = theta, factor, rotated

    def __call__(self, x: Array, positions: Array) -> Array:
        """The rotated x."""
        r = self.rotated or x.shape[-1]
        turning, rest = x[..., :r], x[..., r:]
        angle = self.angles(positions, r)
        turned = self.turn(turning, np.cos(angle), np.sin(angle))
        return np.concatenate([turned, rest], -1).astype(x.dtype)

    def angles(self, positions: Array, r: int) -> Array:
        """[T, R/2]."""
        inverse = 1.0 / self.theta ** (np.arange(0, r, 2) / r)
        return np.asarray((positions / self.factor)[:, None] * inverse)

    def turn(self, x: Array, cos: Array, sin: Array) -> Array:
        """X * cos + rotate_half(x) * sin."""
        cos, sin = np.concatenate([cos, cos], -1), np.concatenate([sin, sin], -1)
        left, right = np.split(x, 2, -1)
        return np.asarray(x * cos + np.concatenate([-right, left], -1) * sin)


class Interleaved(Rotary):
    """Pairs (2i, 2i + 1)."""

    def turn(self, x: Array, cos: Array, sin: Array) -> Array:
        """Neighbours."""
        out = np.empty_like(x)
        out[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., 1::2] * cos + x[..., 0::2] * sin
        return out


class Backwards(Rotary):
    """-sin."""

    def turn(self, x: Array, cos: Array, sin: Array) -> Array:
        """The other way."""
        return super().turn(x, cos, -sin)


class HalfAngles(Rotary):
    """Positions and frequencies in half precision."""

    def angles(self, positions: Array, r: int) -> Array:
        """fp16 all the way."""
        inverse = (1.0 / self.theta ** (np.arange(0, r, 2) / r)).astype(np.float16)
        with np.errstate(over="ignore"):
            return np.asarray((positions.astype(np.float16)[:, None] * inverse).astype(np.float64))
