"""Mistakes of functions that turn queries and keys themselves: with a cache, and of the rotation."""

from __future__ import annotations

from collections.abc import Iterator

from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis
from softlookup.conformance.rope_variants import Rotation, plain
from softlookup.conformance.turned import SHIFTED

_USES = {
    "raw_past": ("rotary.cache=unrotated", "keys are cached before they are rotated: those of earlier calls stay bare"),
    "past_twice": ("rotary.cache=rotated_twice", "keys are cached after rotation and rotated again when they are read"),
    "restart": ("rotary.position=restart", "positions start at 0 in every call: the length of the cache is not added"),
    "query_restart": ("rotary.query_position=restart", "queries are turned as the first tokens, keys are right"),
    "query_only": ("rotary.key_not_rotated", "queries are rotated and keys are not"),
    "key_only": ("rotary.query_not_rotated", "keys are rotated and queries are not"),
}  # fmt: skip
_WHO = {
    "new": ("position", "new queries and keys"),
    "query": ("query_position", "queries"),
    "key": ("key_position", "new keys"),
}


def of_rotary(right: Rotation) -> Iterator[Hypothesis]:
    """Cache, positions, then the rotation itself."""
    for use, (code, likely) in _USES.items():
        yield hypothesis(code, "wrong", likely, rotary_use=use)
    for use in SHIFTED:
        who, _, shift = use.partition(":")
        word, them = _WHO[who]
        likely = f"with n keys cached, the first of the {them} is at position n{shift}, not n: nothing else moves"
        yield hypothesis(f"rotary.{word}={shift}", "wrong", likely, rotary_use=use)
    other = "interleaved" if right.pairing == "half" else "half"
    pairs = "(2i, 2i + 1)" if other == "interleaved" else "(i, i + d/2)"
    switches = {
        f"rope.pairing={other}": (right.but(pairing=other), f"coordinates {pairs} are paired"),
        "rope.table=other_pairing": (right.but(table="swapped"), "cos and sin are laid out for the other pairing"),
        "rope.direction": (right.but(direction=-1), "sin has the other sign"),
        "rope.applied_twice": (right.but(twice=True), "queries and keys are rotated twice"),
        "rope.not_applied": (right.but(frequencies=(0.0,) * len(right.frequencies), factor=1.0), "nothing is rotated"),
    }  # fmt: skip
    for theta in (10000.0, 100000.0, 500000.0, 1000000.0):
        if plain(theta, right.rotated) != right.frequencies:
            changed = right.but(frequencies=plain(theta, right.rotated))
            switches[f"rope.theta={theta:g}"] = (changed, "the base of the frequencies is not that of the contract")
    for code, (rotation, likely) in switches.items():
        yield hypothesis(code, "wrong", likely, rotary=rotation)
