"""One call of an attention function in canonical terms: numpy arrays, [B, H, T, D], True = attend."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# the arguments a function may or may not have; `mask`, `bias`, ... are fields of a Case
FEATURES = (
    "causal", "mask", "bias", "scale", "softcap", "sinks", "window", "alibi", "kv_len", "segments", "dropout",
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Query [B, H, Tq, D], key [B, Hkv, Tk, D], value [B, Hkv, Tk, Dv] and the arguments beside them.

    ``mask`` bool and ``bias`` float, broadcastable to [B, H, Tq, Tk]; ``sinks`` [H]; ``kv_len`` [B];
    ``segments`` [B, T] integers for queries and keys alike; ``window`` = (left, right) inclusive, -1 = unbounded.
    """

    query: Array
    key: Array
    value: Array
    causal: bool = False
    mask: Array | None = None
    bias: Array | None = None
    scale: float | None = None
    softcap: float | None = None
    sinks: Array | None = None
    window: tuple[int, int] | None = None
    alibi: bool = False
    kv_len: Array | None = None
    segments: Array | None = None
    dropout: float | None = None
    dtype: str = "float32"

    @property
    def batch(self) -> int:
        """B."""
        return int(self.query.shape[0])

    @property
    def heads(self) -> int:
        """H."""
        return int(self.query.shape[1])

    @property
    def kv_heads(self) -> int:
        """Hkv."""
        return int(self.key.shape[1])

    @property
    def q_length(self) -> int:
        """Tq."""
        return int(self.query.shape[2])

    @property
    def kv_length(self) -> int:
        """Tk."""
        return int(self.key.shape[2])

    @property
    def head_dim(self) -> int:
        """D."""
        return int(self.query.shape[3])

    @property
    def features(self) -> frozenset[str]:
        """The arguments that this call uses."""
        return frozenset(
            name for name in FEATURES if getattr(self, name) is not None and getattr(self, name) is not False
        )

    def but(self, **changes: Any) -> Case:
        """The same call with some fields changed."""
        return replace(self, **changes)

    def describe(self) -> dict[str, Any]:
        """Shapes, dtype and arguments, for reports."""
        said: dict[str, Any] = {
            "query": list(self.query.shape), "key": list(self.key.shape), "value": list(self.value.shape),
            "dtype": self.dtype,
        }  # fmt: skip
        for entry in fields(self):
            if entry.name in self.features:
                given = getattr(self, entry.name)
                said[entry.name] = given.tolist() if isinstance(given, np.ndarray) and given.size <= 64 else (
                    list(given.shape) if isinstance(given, np.ndarray) else given
                )  # fmt: skip
        return said


def identity_values(batch: int, kv_heads: int, keys: int) -> Array:
    """V = I in every head: the output is then the matrix of weights."""
    return np.broadcast_to(np.eye(keys), (batch, kv_heads, keys, keys)).copy()


def integers(shape: tuple[int, ...], seed: int, *, low: int = -2, high: int = 2) -> Array:
    """Small integers, the same for the same seed: exact in every dtype, and readable in a counterexample."""
    return np.random.default_rng(seed).integers(low, high + 1, size=shape).astype(np.float64)
