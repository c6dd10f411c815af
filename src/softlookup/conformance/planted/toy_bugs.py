"""Planted mistakes of decoders and their caches, and correct oddities; each replaces one step of the right decoder."""

from __future__ import annotations

from typing import Any

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.planted.toy import Toy, ToyCache


class KeyNotRotated(Toy):
    """RoPE on the query alone."""

    def rotated_key(self, k: Array, positions: Array) -> Array:
        """As it came."""
        return k


class DecodePositionZero(Toy):
    """Every call starts at position 0."""

    def offset(self, cache: ToyCache | None) -> int:
        """Forgets the cache."""
        return 0


class DecodePositionPlusOne(Toy):
    """The first decoded token leaves a gap."""

    def offset(self, cache: ToyCache | None) -> int:
        """One too many."""
        return 0 if cache is None or not cache.seen else cache.seen + 1


class SeenEarly(Toy):
    """The count of seen tokens grows after layer 0; later layers read it."""

    def layer_positions(self, layer: int, positions: Array, cache: ToyCache | None) -> Array:
        """The count is read again in every layer when something is cached."""
        if cache is None or cache.filled[layer] == 0:
            return positions
        return np.broadcast_to(np.arange(positions.shape[1]) + cache.seen, positions.shape)

    def count(self, cache: ToyCache, layer: int, length: int) -> None:
        """After the first layer."""
        if layer == 0:
            cache.seen += length


class PadsMovePositions(Toy):
    """Positions are 0, 1, 2 ... whatever the mask says; under pure RoPE that is right."""

    def positions(self, tokens: Array, cache: ToyCache | None, padding: Array | None, documents: Array | None) -> Array:
        """Pads count."""
        return super().positions(tokens, cache, None, documents)


class PadsAttended(Toy):
    """The padding mask does not reach attention."""

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Without it."""
        return super().allow(length, slots, before, start, cache, None, documents)


class WriteOneEarly(Toy):
    """New keys and values overwrite the last slot."""

    def write(self, cache: ToyCache, layer: int, k: Array, v: Array, at: int) -> tuple[Array, Array]:
        """One slot too low."""
        return super().write(cache, layer, k, v, max(0, at - 1))


class ValueNotWritten(Toy):
    """Values are written by the first call alone."""

    def write(self, cache: ToyCache, layer: int, k: Array, v: Array, at: int) -> tuple[Array, Array]:
        """Later ones get lost."""
        held = cache.values[layer]
        found = super().write(cache, layer, k, v, at)
        if held is not None and at:
            cache.values[layer] = held
            return found[0], held
        return found


class UnfilledAttended(Toy):
    """A single row gets no causal mask, which alone hid the zeros behind the filled slots."""

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Everything from the row's own slot on, filled or not."""
        seen = super().allow(length, slots, before, start, cache, padding, documents)
        return np.asarray(seen | (np.arange(slots) + start >= before)) if length == 1 else seen


class RingScrambled(Toy):
    """After the first wrap the oldest two values change places, their keys do not."""

    def kept(self, k: Array, v: Array) -> tuple[Array, Array]:
        """Wrong from the first token that is dropped on."""
        wrapped = self.window is not None and k.shape[2] > self.window
        k, v = super().kept(k, v)
        if wrapped:
            v = v[:, :, [1, 0, *range(2, v.shape[2])]]
        return k, v


class CropKeepsCount(Toy):
    """Crop shortens keys and values, not the count of seen tokens."""

    def crop(self, cache: ToyCache, length: int) -> None:
        """The count stays."""
        seen = cache.seen
        super().crop(cache, length)
        cache.seen = seen


class SharedCache(Toy):
    """One cache object for all sequences."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.shared: dict[str, ToyCache] = {}

    def new_cache(self, kind: str, length: int) -> ToyCache:
        """Made once."""
        return self.shared.setdefault(kind, super().new_cache(kind, length))


class PrefillUnmasked(Toy):
    """The causal mask is left out when a cache object comes along."""

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Everything that is filled."""
        seen = super().allow(length, slots, before, start, cache, padding, documents)
        if cache is None:
            return seen
        return np.broadcast_to(np.arange(slots)[None, None, None] < before + length, seen.shape)


class ChunkMaskWithoutPrefix(Toy):
    """The mask of a chunk is [T, T]: the cached prefix is hidden."""

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Only the chunk's own keys."""
        seen = super().allow(length, slots, before, start, cache, padding, documents)
        own = np.arange(slots)[None, None, None] + start >= before
        return np.asarray(seen & own) if length > 1 else seen


class WindowChunkPrefixFull(Toy):
    """In a later chunk the whole prefix stays visible."""

    def kept(self, k: Array, v: Array) -> tuple[Array, Array]:
        """Nothing is dropped."""
        return k, v

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """In the window or in the prefix."""
        seen = super().allow(length, slots, before, start, cache, padding, documents)
        prefix = np.arange(slots)[None, None, None] + start < before
        return np.asarray(seen | prefix) if length > 1 else seen


class QuantScaleOfOtherHead(Toy):
    """Dequantised with the scale of the neighbouring head."""

    def scales(self, scale: Array) -> Array:
        """One head further."""
        return np.roll(scale, 1, axis=1)


class PackedPositionsOnly(Toy):
    """Packed documents restart their positions and see each other all the same."""

    def allow(
        self, length: int, slots: int, before: int, start: int, cache: ToyCache | None, padding: Array | None,
        documents: Array | None,
    ) -> Array:  # fmt: skip
        """Causal alone."""
        return super().allow(length, slots, before, start, cache, padding, None)


class AllPositionsShifted(Toy):
    """Correct: every position is 3 higher, which RoPE does not see."""

    def layer_positions(self, layer: int, positions: Array, cache: ToyCache | None) -> Array:
        """Queries and keys alike."""
        return positions + 3
