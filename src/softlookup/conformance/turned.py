"""Queries and keys turned by their positions, as functions with a cache do it, rightly and wrongly.

Where Tq < Tk, the first keys are the past: they were given in an earlier call. Not for reading a rotation: ``rope``.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.rope_variants import Rotation, matrices

# (positions are added to the queries, to the new keys), where there is a past
_SHIFTS: dict[str, tuple[int, int]] = {
    f"{which}:{shift:+d}": (shift * queries, shift * keys)
    for which, queries, keys in (("new", 1, 1), ("query", 1, 0), ("key", 0, 1))
    for shift in (1, -1, 2)
}
SHIFTED = tuple(_SHIFTS)


def turned(case: Case, rotation: Rotation, use: str) -> tuple[Array, Array]:
    """Query and key after rotation; ``use`` names a mistake of applying it, "" is right."""
    past = case.kv_length - case.q_length
    rows, keys = _positions(case.q_length, case.kv_length, use)
    query = case.query if use == "key_only" else _turn(case.query, rotation, rows)
    key = case.key if use == "query_only" else _turn(case.key, rotation, keys)
    if past > 0 and use == "raw_past":
        key = np.concatenate([case.key[:, :, :past], key[:, :, past:]], axis=2)
    if past > 0 and use == "past_twice":
        key = np.concatenate([_turn(key[:, :, :past], rotation, keys[:past]), key[:, :, past:]], axis=2)
    return query, key


def _positions(q_length: int, kv_length: int, use: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    past = max(0, kv_length - q_length)
    rows, keys = np.arange(kv_length - q_length, kv_length), np.arange(kv_length)
    if past and use in ("restart", "query_restart"):
        rows = rows - past
    if past and use == "restart":
        keys = np.where(keys >= past, keys - past, keys)
    if past and use in _SHIFTS:
        rows, keys = rows + _SHIFTS[use][0], np.where(keys >= past, keys + _SHIFTS[use][1], keys)
    return tuple(map(int, rows)), tuple(map(int, keys))


def _turn(given: Array, rotation: Rotation, positions: tuple[int, ...]) -> Array:
    by_place = given.transpose(2, 0, 1, 3).reshape(len(positions), -1, rotation.dim)
    moved = by_place @ _matrices(rotation, positions)
    shape = (len(positions), *given.shape[:2], rotation.dim)
    return np.asarray(moved.reshape(shape).transpose(1, 2, 0, 3))


@lru_cache(maxsize=4096)
def _matrices(rotation: Rotation, positions: tuple[int, ...]) -> Array:
    return matrices(rotation, np.array(positions))
