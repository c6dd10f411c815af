"""Finds characters that are printed twice at almost the same place, as poor man's bold; changes nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint32]
Floats = NDArray[np.float32]


@dataclass(slots=True)
class Characters:
    """Parallel arrays, one entry per character."""

    codes: Codes
    edges: Floats  # left, right
    bottoms: Floats
    tops: Floats
    owners: NDArray[np.int32]
    seen: NDArray[np.int8]
    text: str = ""

    def keep(self, chosen: NDArray[np.bool_]) -> Characters:
        """The chosen ones."""
        return Characters(
            self.codes[chosen],
            self.edges[chosen],
            self.bottoms[chosen],
            self.tops[chosen],
            self.owners[chosen],
            self.seen[chosen],
        )


def doubled(characters: Characters, printed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Characters printed again at almost the same place, as poor man's bold."""
    chosen = np.flatnonzero(printed & (characters.owners >= 0))
    left, right = characters.edges[chosen, 0], characters.edges[chosen, 1]
    line = np.round(characters.bottoms[chosen]).astype(np.int64) + (1 << 20)
    key = (characters.codes[chosen].astype(np.int64) << 42) + (line << 21)
    key += np.clip(left * 4 + (1 << 20), 0, (1 << 21) - 1).astype(np.int64)
    order = np.argsort(key, kind="stable")
    near = np.minimum(np.maximum(0.25 * (right - left), 0.1), 1.0)[order]
    same = (key[order][1:] >> 21) == (key[order][:-1] >> 21)
    one_glyph = _glyphs(characters)[chosen][order]
    pairs = same & (np.diff(left[order]) < near[1:]) & ((one_glyph[1:] != one_glyph[:-1]) | (one_glyph[1:] < 0))
    found = np.zeros(len(printed), np.bool_)
    if pairs.any():
        first, second = chosen[order][:-1][pairs], chosen[order][1:][pairs]
        found[np.maximum(first, second)] = True
    return found


def _glyphs(characters: Characters) -> NDArray[np.intp]:
    """Per character the number of its glyph when that stands for several characters, else -1.

    A ligature ("ff") or an Arabic word may be one glyph: its characters share a box, and may repeat without being
    printed twice.
    """
    edges, codes = characters.edges, characters.codes
    if len(codes) < 2:
        return np.full(len(codes), -1, np.intp)
    starts = np.ones(len(codes), np.bool_)
    starts[1:] = (edges[1:] != edges[:-1]).any(axis=1) | (characters.bottoms[1:] != characters.bottoms[:-1])
    starts[1:] |= characters.owners[1:] != characters.owners[:-1]
    glyph = np.cumsum(starts) - 1
    size = np.bincount(glyph)[glyph]
    found: NDArray[np.intp] = np.where(size > 1, glyph, -1)
    return found
