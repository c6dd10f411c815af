"""Softmax itself: tiles and splits of many lengths, equal keys, scores far from 0; precision is elsewhere."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array, Case, identity_values
from softlookup.conformance.contract import Contract
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes

# one beyond the usual block sizes, primes below them, and two multiples
LENGTHS = (1, 2, 3, 6, 7, 11, 17, 24, 33, 48, 65, 100, 129, 257, 513)
_WIDE = 33  # longer rows are read by a few columns instead of the identity


def probes(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """Lengths and magnitudes."""
    lengths = LENGTHS if sizes.rectangular else (1, 2, 3, 7, 17, 33, 65, 129)
    ramps = {"equal": 0.0, "ascending": 1.0, "descending": -1.0}
    for name, slope in ramps.items():
        cases = tuple(_ramp(sizes, keys, slope) for keys in lengths)
        yield Probe(f"tile.{name}", cases, {"tile": "pad", "block": 16} if not slope else {"tile": "acc", "block": 8}
                    if slope > 0 else {"tile": "local_max", "block": 8})  # fmt: skip
    yield Probe("tile.shuffled", tuple(_shuffled(sizes, keys) for keys in lengths if keys > 2),
                {"tile": "acc", "block": 16})  # fmt: skip
    yield Probe("tile.causal", tuple(_ramp(sizes, keys, 1.0, rows=keys).but(causal=True) for keys in (33, 129)),
                {"tile": "acc", "block": 8})  # fmt: skip
    if contract.overflow == "irrelevant":
        yield from _magnitudes(sizes)


def _ramp(sizes: Sizes, keys: int, slope: float, *, rows: int | None = None) -> Case:
    """Scores that rise or fall by at most 12 over the keys, one query."""
    rows = rows or (1 if sizes.rectangular else keys)
    line = slope * np.linspace(0, min(12.0, keys), keys)
    return sizes.scored(np.tile(line, (rows, 1)), values=values_for(sizes, keys))


def _shuffled(sizes: Sizes, keys: int) -> Case:
    rows = 1 if sizes.rectangular else keys
    line = np.random.default_rng(keys).permutation(np.linspace(-6, 6, keys))
    return sizes.scored(np.tile(line, (rows, 1)), values=values_for(sizes, keys))


def values_for(sizes: Sizes, keys: int) -> Array:
    """The identity, or for long rows: ones, first and last keys, halves, and every eighth key."""
    if keys <= _WIDE:
        return identity_values(sizes.batch, sizes.kv_heads, keys)
    index = np.arange(keys)
    columns = [np.ones(keys), index == 0, index == keys - 1, index < keys // 2, index % 8 == 0, index >= keys - 8,
               index / keys]  # fmt: skip
    chosen = np.stack([np.asarray(column, dtype=np.float64) for column in columns], -1)
    return np.broadcast_to(chosen, (sizes.batch, sizes.kv_heads, *chosen.shape)).copy()


def _magnitudes(sizes: Sizes) -> Iterator[Probe]:
    """Softmax does not change when a constant is added to the scores; exp of them does."""
    rows = 3
    top = 1000.0

    def case(*lines: tuple[float, ...]) -> Case:
        scores = np.array(lines)
        return sizes.scored(scores if sizes.rectangular else np.tile(scores[:1], (scores.shape[1], 1)))

    high = case(*[(top, top - 1, top - 2)] * rows)
    low = case(*[(-top, -top - 1, -top - 2)] * rows)
    mixed = case((top, top - 1, top - 3), (-top, -top - 2, -top - 1), (0.0, 1.0, 2.0))
    yield Probe("softmax.overflow", (high, case((top, -top, 0.0), (1.0, 2.0, top), (-top, -top, top))),
                {"softmax": "no_max"})  # fmt: skip
    yield Probe("softmax.underflow", (low, case(*[(-120.0, -121.0, -122.0)] * rows)), {"softmax": "max0"})
    yield Probe("softmax.rows", (mixed,), {"softmax": "max_all"} if sizes.rectangular else {})
