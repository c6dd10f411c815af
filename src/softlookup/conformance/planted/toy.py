"""A correct small decoder in numpy, in steps that a planted bug replaces; shares no code with the checks."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlookup.attention.decoder import Abilities, Captured
from softlookup.conformance.case import Array

LAYERS, HEADS, KV_HEADS, DIM, VOCABULARY = 2, 4, 2, 8, 40
HIDDEN = HEADS * DIM
THETA = 10000.0


@dataclass(eq=False)
class ToyCache:
    """Keys and values per layer [B, Hkv, S, D]; ``room`` > 0: S is fixed and ``filled`` slots are in use."""

    kind: str
    room: int = 0
    seen: int = 0
    filled: list[int] = field(default_factory=lambda: [0] * LAYERS)
    keys: list[Array | None] = field(default_factory=lambda: [None] * LAYERS)
    values: list[Array | None] = field(default_factory=lambda: [None] * LAYERS)


class Toy:
    """Two layers, RoPE or learned positions (``absolute``), a window for all layers or none."""

    def __init__(self, *, window: int | None = None, absolute: bool = False) -> None:
        self.window, self.absolute = window, absolute
        self.record: list[Captured] | None = None
        draw = np.random.default_rng(7)

        def weight(*shape: int) -> Array:
            return np.asarray(draw.standard_normal(shape) / np.sqrt(shape[0]) * 1.6, dtype=np.float32)

        self.embedding, self.places = weight(VOCABULARY, HIDDEN) * 5, weight(64, HIDDEN) * 8
        self.parts = [
            {"q": weight(HIDDEN, HEADS * DIM), "k": weight(HIDDEN, KV_HEADS * DIM), "v": weight(HIDDEN, KV_HEADS * DIM),
             "o": weight(HEADS * DIM, HIDDEN), "up": weight(HIDDEN, 48), "down": weight(48, HIDDEN)}
            for _ in range(LAYERS)
        ]  # fmt: skip
        self.head = weight(HIDDEN, VOCABULARY)

    @property
    def abilities(self) -> Abilities:
        """Everything, quantised caches too."""
        caches = ("growing", "quantised") if self.window else ("growing", "static", "quantised")
        rope = None if self.absolute else {"head_dim": DIM, "rope_theta": THETA, "num_attention_heads": HEADS}
        return Abilities(VOCABULARY, (self.window,) * LAYERS, caches=caches, rotary=not self.absolute, rope=rope,
                         scale=DIM**-0.5,
                         packed="promised", crop=self.window is None)  # fmt: skip

    def new_cache(self, kind: str, length: int) -> ToyCache:
        """Empty."""
        return ToyCache(kind, room=length if kind == "static" else 0)

    def forward(
        self, tokens: Array, *, cache: Any = None, positions: Array | None = None, padding: Array | None = None,
        documents: Array | None = None,
    ) -> Array:  # fmt: skip
        """Logits [B, T, V]."""
        where = self.positions(tokens, cache, padding, documents) if positions is None else positions
        x = self.embedding[tokens]
        if self.absolute:
            x = x + self.places[where]
        for layer, part in enumerate(self.parts):
            x = x + self.attention(layer, _normed(x), where, cache, padding, documents) @ part["o"]
            hidden = _normed(x) @ part["up"]
            x = x + (hidden / (1 + np.exp(-hidden))) @ part["down"]
        return np.asarray(_normed(x) @ self.head)

    def positions(self, tokens: Array, cache: ToyCache | None, padding: Array | None, documents: Array | None) -> Array:
        """[B, T] of tokens that come without; pads do not count, a document starts at 0."""
        batch, length = tokens.shape
        if documents is not None:
            starts = np.array([[row.tolist().index(d) for d in row] for row in documents])
            return np.asarray(np.arange(length)[None] - starts)
        if padding is not None:
            return np.asarray(np.maximum(padding.cumsum(1) - 1, 0)[:, -length:])
        return np.broadcast_to(np.arange(length) + self.offset(cache), (batch, length))

    def offset(self, cache: ToyCache | None) -> int:
        """Position of the first new token."""
        return 0 if cache is None else cache.seen

    def layer_positions(self, layer: int, positions: Array, cache: ToyCache | None) -> Array:
        """Positions that a layer rotates by."""
        return positions

    def attention(
        self, layer: int, x: Array, positions: Array, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """[B, T, H * D] of x [B, T, hidden]."""
        part, length = self.parts[layer], x.shape[1]
        q, k, v = (_heads(x @ part[name]) for name in ("q", "k", "v"))
        if not self.absolute:
            where = self.layer_positions(layer, positions, cache)
            q, k = rotated(q, where), self.rotated_key(k, where)
        before = 0 if cache is None else cache.filled[layer]
        start = 0
        if cache is not None:
            k, v, start = self.store(cache, layer, k, v)
            self.count(cache, layer, length)
        allow = self.allow(length, k.shape[2], before, start, cache, padding, documents)
        out = self.kernel(layer, q, k, v, allow)
        if self.record is not None:
            seen = np.broadcast_to(allow, (allow.shape[0], 1, length, k.shape[2]))[0, 0]
            self.record.append(Captured(layer, q[0], k[0], v[0], out[0], seen, DIM**-0.5, window=self.window,
                                        q_offset=before, kv_offset=start))  # fmt: skip
        return _merged(out)

    def rotated_key(self, k: Array, positions: Array) -> Array:
        """Like the query."""
        return rotated(k, positions)

    def count(self, cache: ToyCache, layer: int, length: int) -> None:
        """Tokens seen, once the last layer is done."""
        if layer == LAYERS - 1:
            cache.seen += length

    def store(self, cache: ToyCache, layer: int, k: Array, v: Array) -> tuple[Array, Array, int]:
        """Add to the cache; the keys and values to attend to, and the number of the first among all tokens."""
        if cache.kind == "quantised":
            k, v = self.quantised(k), self.quantised(v)
        at, length = cache.filled[layer], k.shape[2]
        cache.filled[layer] = at + length
        if cache.room:
            return (*self.write(cache, layer, k, v, at), 0)
        old_k, old_v = cache.keys[layer], cache.values[layer]
        k = k if old_k is None else np.concatenate([old_k, k], 2)
        v = v if old_v is None else np.concatenate([old_v, v], 2)
        cache.keys[layer], cache.values[layer] = self.kept(k, v)
        return k, v, at + length - k.shape[2]

    def write(self, cache: ToyCache, layer: int, k: Array, v: Array, at: int) -> tuple[Array, Array]:
        """Into fixed room."""
        for held, new in ((cache.keys, k), (cache.values, v)):
            room = held[layer]
            if room is None:
                room = np.zeros((*new.shape[:2], cache.room, DIM), dtype=np.float32)
            held[layer] = np.concatenate([room[:, :, :at], new, room[:, :, at + new.shape[2] :]], 2)
        found_k, found_v = cache.keys[layer], cache.values[layer]
        return (k if found_k is None else found_k), (v if found_v is None else found_v)

    def kept(self, k: Array, v: Array) -> tuple[Array, Array]:
        """What a later call can still see."""
        return (k, v) if self.window is None else (k[:, :, -self.window :], v[:, :, -self.window :])

    def quantised(self, given: Array) -> Array:
        """Through int8, one scale per head, and back."""
        scale = np.abs(given).max((2, 3), keepdims=True) / 127
        return np.asarray(np.round(given / scale) * self.scales(scale), dtype=np.float32)

    def scales(self, scale: Array) -> Array:
        """[B, Hkv, 1, 1] for the way back."""
        return scale

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Bool [B or 1, 1, T, S]: ``before`` tokens came earlier, slot 0 is token ``start``."""
        query, key = np.arange(length)[:, None] + before, np.arange(slots)[None] + start
        seen = (key <= query)[None, None]
        if self.window is not None:
            seen = seen & (query - key < self.window)
        if padding is not None:
            known = np.pad(padding, [(0, 0), (0, max(0, start + slots - padding.shape[1]))], constant_values=True)
            seen = seen & known[:, None, None, start : start + slots]
        if documents is not None and cache is None:
            seen = seen & (documents[:, None, :, None] == documents[:, None, None, :])
        return seen

    def kernel(self, layer: int, q: Array, k: Array, v: Array, allow: Array) -> Array:
        """Attention [B, H, T, D]; a row that sees nothing is 0."""
        k, v = np.repeat(k, HEADS // KV_HEADS, 1), np.repeat(v, HEADS // KV_HEADS, 1)
        scores = np.where(allow, q @ k.swapaxes(-1, -2) * np.float32(DIM**-0.5), np.float32(-1e30))
        raised = np.exp(scores - scores.max(-1, keepdims=True)) * allow
        return np.asarray(raised / np.maximum(raised.sum(-1, keepdims=True), 1e-30) @ v)

    def crop(self, cache: ToyCache, length: int) -> None:
        """Keep the first ``length`` tokens."""
        for layer in range(LAYERS):
            for held in (cache.keys, cache.values):
                part = held[layer]
                if part is not None and not cache.room:
                    held[layer] = part[:, :, :length]
            cache.filled[layer] = length
        cache.seen = length

    def reorder(self, cache: ToyCache, rows: Array) -> None:
        """Row b becomes what rows[b] was."""
        for held in (cache.keys, cache.values):
            held[:] = [None if part is None else part[rows] for part in held]

    def slots(self, cache: ToyCache) -> list[tuple[Array, Array]]:
        """Filled ones."""
        found = []
        for k, v, filled in zip(cache.keys, cache.values, cache.filled, strict=True):
            if k is None or v is None:
                continue
            stop = filled if cache.room else k.shape[2]
            found.append((k[:, :, :stop], v[:, :, :stop]))
        return found


@contextlib.contextmanager
def recorded(toy: Toy) -> Iterator[list[Captured]]:
    """The attention calls made inside the block."""
    calls: list[Captured] = []
    toy.record = calls
    try:
        yield calls
    finally:
        toy.record = None


def rotated(x: Array, positions: Array) -> Array:
    """RoPE of x [B, H, T, D] by positions [B, T]; pairs (i, i + D/2)."""
    angle = positions[:, None, :, None] * (THETA ** -(np.arange(0, DIM, 2) / DIM))
    cos, sin = np.cos(angle), np.sin(angle)
    left, right = np.split(x, 2, -1)
    return np.concatenate([left * cos - right * sin, right * cos + left * sin], -1).astype(np.float32)


def _normed(x: Array) -> Array:
    return np.asarray(x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-6)))


def _heads(x: Array) -> Array:
    batch, length, width = x.shape
    return x.reshape(batch, length, width // DIM, DIM).transpose(0, 2, 1, 3)


def _merged(x: Array) -> Array:
    batch, heads, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * width)
