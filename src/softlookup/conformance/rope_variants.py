"""Rotations, right and wrong, as matrices per position; every named mistake is one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.narrow import brain, half

_NARROW = {"fp16": half, "bf16": brain}


@dataclass(frozen=True)
class Rotation:
    """``frequencies`` radians per position of every pair; ``rotated`` coordinates of ``dim``; ``factor`` on them."""

    dim: int
    rotated: int
    frequencies: tuple[float, ...]
    pairing: str = "half"  # half | interleaved
    table: str = ""  # cos and sin laid out for the other pairing: "swapped"
    direction: int = 1
    factor: float = 1.0
    shift: int = 0
    positions: str = "given"  # given | index | row0
    narrow: str = ""  # what is held in half precision, "fp16:angles"
    twice: bool = False
    swapped: bool = False  # cos and sin

    def but(self, **changes: Any) -> Rotation:
        """The same with some switches changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class RopeHypothesis:
    """A code, what it changes, and where to look."""

    code: str
    changes: Mapping[str, Any]
    severity: str
    likely: str


def matrices(rotation: Rotation, positions: Array) -> Array:
    """[T, D, D]: row a is the image of unit vector a at every position."""
    places = np.arange(len(positions)) if rotation.positions == "index" else positions
    angles, held = _angles(rotation, places + rotation.shift)
    with np.errstate(invalid="ignore"):  # positions beyond the range of half precision
        cos, sin = held(np.cos(angles)), held(np.sin(angles))
    if rotation.swapped:
        cos, sin = sin, cos
    found = np.tile(np.eye(rotation.dim), (len(places), 1, 1))
    half = rotation.rotated // 2
    for pair in range(half):
        a, b = (2 * pair, 2 * pair + 1) if rotation.pairing == "interleaved" else (pair, pair + half)
        # a table laid out for the other pairing gives the two coordinates two frequencies
        first, second = ((a // 2, b // 2) if rotation.pairing == "half" else (a % half, b % half)) \
            if rotation.table else (pair, pair)  # fmt: skip
        found[:, a, a], found[:, b, a] = cos[:, first], -rotation.direction * sin[:, first]
        found[:, b, b], found[:, a, b] = cos[:, second], rotation.direction * sin[:, second]
    found[:, : rotation.rotated, : rotation.rotated] *= rotation.factor
    return found @ found if rotation.twice else found


def _angles(rotation: Rotation, places: Array) -> tuple[Array, Any]:
    """Angles [T, R/2], and what cos and sin are rounded to."""
    frequencies = np.array(rotation.frequencies)
    kind, _, what = rotation.narrow.partition(":")
    if not kind:
        return places[:, None] * frequencies, lambda given: given
    narrow = _NARROW[kind]
    held = places.astype(np.float64)
    if what in ("positions", "angles", "all"):
        held = narrow(held)
    if what in ("frequencies", "angles", "all"):
        frequencies = narrow(frequencies)
    angles = held[:, None] * frequencies
    if what in ("angles", "all", "product"):
        angles = narrow(angles)
    return angles, narrow if what in ("all", "table") else (lambda given: given)


def plain(theta: float, rotated: int) -> tuple[float, ...]:
    """theta^(-2k/R)."""
    return tuple(theta ** -(np.arange(0, rotated, 2) / rotated))


def hypotheses(right: Rotation, theta: float, scale: float, seen: Array, positions: Array) -> Iterator[RopeHypothesis]:
    """Named mistakes; ``theta`` and the scaling's ``scale`` of the contract, numbers read off ``seen`` [T, D, D]."""
    other = "interleaved" if right.pairing == "half" else "half"
    scaled = right.frequencies != plain(theta, right.rotated)
    yield RopeHypothesis(f"rope.pairing={other}", {"pairing": other}, "wrong",
                         f"{'(2i, 2i+1)' if other == 'interleaved' else '(i, i + d/2)'} are paired")  # fmt: skip
    yield RopeHypothesis("rope.table=other_pairing", {"table": "swapped"}, "wrong",
                         "cos and sin are repeated for the one pairing, the rotation is of the other")  # fmt: skip
    yield RopeHypothesis("rope.direction", {"direction": -1}, "wrong", "sin has the other sign: q rotates backwards")
    if scaled:
        yield RopeHypothesis("rope.scaling_ignored", {"frequencies": plain(theta, right.rotated)}, "wrong",
                             "rope_scaling of the config is not read")  # fmt: skip
    if right.factor != 1:
        yield RopeHypothesis("rope.attention_factor", {"factor": 1.0}, "wrong", "the factor of YaRN is missing")
        yield RopeHypothesis("rope.scaling_ignored(attention_factor)", {"factor": 1.0,
                             "frequencies": plain(theta, right.rotated)}, "wrong",
                             "rope_scaling is not read")  # fmt: skip
    for shift in (1, -1, 2):
        yield RopeHypothesis(f"rope.position={shift:+d}", {"shift": shift}, "wrong", "positions are off by that many")
    yield RopeHypothesis("rope.position=index", {"positions": "index"}, "wrong",
                         "arange(T) is used, the positions that are given are not")  # fmt: skip
    yield RopeHypothesis("rope.not_applied", {"frequencies": (0.0,) * len(right.frequencies), "factor": 1.0}, "wrong",
                         "x comes back as it was")  # fmt: skip
    yield RopeHypothesis("rope.applied_twice", {"twice": True}, "wrong", "two calls rotate the same vector")
    yield RopeHypothesis("rope.cos_sin_swapped", {"swapped": True}, "wrong", "cos and sin change places")
    yield from _low_precision()
    yield from _rotary_dims(right, theta, seen)
    yield from _frequencies(right, theta, scale, seen, positions)


def _low_precision() -> Iterator[RopeHypothesis]:
    for kind in ("bf16", "fp16"):
        for what in ("angles", "all", "product", "positions", "frequencies"):
            yield RopeHypothesis(f"rope.low_precision({kind},{what})", {"narrow": f"{kind}:{what}"}, "precision",
                                 f"{what} in {kind}: large positions collide; use float32")  # fmt: skip


def _rotary_dims(right: Rotation, theta: float, seen: Array) -> Iterator[RopeHypothesis]:
    moved = np.abs(seen - np.eye(right.dim)).max((0, 2)) > 1e-3
    count = int(moved.sum())
    for rotated in dict.fromkeys((count, right.dim, right.dim // 2, right.dim // 4)):
        if rotated != right.rotated and rotated % 2 == 0 and rotated > 0:
            code = f"rope.rotary_dim={rotated}(want={right.rotated})"
            likely = "partial_rotary_factor of the config is not read, or the wrong fraction is used"
            for exponent in (rotated, right.rotated, right.dim):
                values = tuple(theta ** -(np.arange(0, rotated, 2) / exponent))
                yield RopeHypothesis(code, {"rotated": rotated, "frequencies": values}, "wrong", likely)
                if len(right.frequencies) >= rotated // 2:
                    yield RopeHypothesis(code, {"rotated": rotated, "frequencies": right.frequencies[: rotated // 2]},
                                         "wrong", likely)  # fmt: skip


def _frequencies(
    right: Rotation, theta: float, scale: float, seen: Array, positions: Array
) -> Iterator[RopeHypothesis]:
    ratio = np.array(right.frequencies) / np.array(plain(theta, right.rotated))
    measured = _measured_theta(right, seen, positions)
    for base in dict.fromkeys((10000.0, measured, 500000.0, 1000000.0, theta / 10, theta * 10)):
        if base and base > 1 and abs(base / theta - 1) > 1e-3:
            code = f"rope.theta={base:g}(want={theta:g})"
            likely = "rope_theta of the config is not read"
            stretched, unstretched = tuple(np.array(plain(base, right.rotated)) * ratio), plain(base, right.rotated)
            yield RopeHypothesis(code, {"frequencies": stretched}, "wrong", likely)
            if (ratio != 1).any():
                code = f"{code[:-1]},scaling_ignored)"
                likely = "neither rope_theta nor rope_scaling is read"
                yield RopeHypothesis(code, {"frequencies": unstretched}, "wrong", likely)
    base_values, index = np.array(plain(theta, right.rotated)), np.arange(len(right.frequencies))
    others = {
        "exponent=head_dim": theta ** -(2.0 * index / right.dim),
        "exponent=k/R": theta ** -(1.0 * index / right.rotated),
        "exponent=4k/R": theta ** -(4.0 * index / right.rotated),
        "exponent=k+1": theta ** -(2.0 * (index + 1) / right.rotated),
        "exponent=k/(R/2-1)": theta ** -(index / max(1, len(index) - 1)),
        "order=reversed": base_values[::-1],
        "exponent_sign": 1.0 / base_values,
        "scaling=inverted": base_values * scale,
        "scaling=linear": base_values / scale,
        "scaling=ntk": plain(theta * scale ** (right.rotated / max(1, right.rotated - 2)), right.rotated),
        "scaling=theta": plain(theta * scale, right.rotated),
        "scaling=twice": np.array(right.frequencies) * ratio,
    }
    for word, values in others.items():
        if not np.allclose(values, right.frequencies):
            yield RopeHypothesis(
                f"rope.{word}", {"frequencies": tuple(values)}, "wrong", "the formula of the frequencies"
            )
    for word, factor in _constant_factor(right, seen, positions):
        values = tuple(np.array(right.frequencies) * factor)
        likely = f"all angles are {word} times what they should be"
        yield RopeHypothesis(f"rope.scaling_factor={word}(want=1)", {"frequencies": values}, "wrong", likely)


def read_frequencies(right: Rotation, seen: Array, positions: Array) -> Array | None:
    """Radians per position of every pair of the right pairing, from position 1."""
    at = np.flatnonzero(positions == 1)
    if not len(at):
        return None
    half, turn = right.rotated // 2, seen[at[0]]
    pairs = [(2 * k, 2 * k + 1) if right.pairing == "interleaved" else (k, k + half) for k in range(half)]
    return np.array([np.arctan2(turn[a, b], turn[a, a]) for a, b in pairs])


def _measured_theta(right: Rotation, seen: Array, positions: Array) -> float | None:
    found = read_frequencies(right, seen, positions)
    if found is None or len(found) < 2 or found[-1] <= 0:
        return None
    last = len(found) - 1
    theta = found[-1] ** (-right.rotated / (2 * last))
    return float(f"{theta:.3g}")


def _constant_factor(right: Rotation, seen: Array, positions: Array) -> Iterator[tuple[str, float]]:
    found = read_frequencies(right, seen, positions)
    if found is not None:
        factor = float(np.median(found / np.array(right.frequencies)))
        if factor > 0 and abs(factor - 1) > 1e-3:
            yield f"{factor:.3g}", factor
