"""Passes through a decoder along different paths, the numbers they are compared by, and who influences whom."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from softlookup.attention.decoder import Abilities, Decoder, Slots
from softlookup.conformance.case import Array

# differences of logits in units of their spread: what rounding explains, and what shows that a token had a say
_NOISE = {"float64": 1e-3, "float32": 1e-3, "float16": 3e-2, "bfloat16": 1.5e-1}
_TOUCH = {"float64": 1e-5, "float32": 1e-5, "float16": 4e-3, "bfloat16": 2e-2}
LENGTH = 11
_COLUMNS = 512


class CallFailedError(Exception):
    """The decoder raised, gave no logits, or the time is used up; the message says which."""


class OutOfTimeError(CallFailedError):
    """Nothing more is asked."""


class Runs:
    """A decoder, ``LENGTH`` distinct tokens and passes over them; ``budget`` seconds for all passes together."""

    def __init__(self, decoder: Decoder, budget: float, seed: int = 0) -> None:
        self.decoder, self.abilities = decoder, decoder.abilities
        usable = [token for token in range(self.abilities.vocabulary) if token not in self.abilities.reserved]
        drawn = np.random.default_rng(seed).permutation(usable)
        self.tokens, self.others = drawn[None, :LENGTH], drawn[None, LENGTH : 2 * LENGTH]
        self.deadline, self.budget, self.calls = time.monotonic() + budget, budget, 0
        self.noise, self.touch = _NOISE[self.abilities.dtype], _TOUCH[self.abilities.dtype]
        self.whole = self.full(self.tokens)
        self.spread = float(self.whole.std()) or 1.0

    def full(self, tokens: Array, **arguments: Any) -> Array:
        """Logits [B, T, V] of one pass."""
        if time.monotonic() > self.deadline:
            raise OutOfTimeError(f"the budget of {self.budget:g} s is used up after {self.calls} passes")
        self.calls += 1
        try:
            logits = np.asarray(self.decoder.forward(tokens, **arguments))
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            raise CallFailedError(f"{type(error).__name__}: {lines[0][:160]}") from error
        if logits.ndim != 3 or logits.shape[:2] != tokens.shape:
            raise CallFailedError(f"logits have the shape {list(logits.shape)} for tokens {list(tokens.shape)}")
        # a sample of a large vocabulary: whatever goes wrong in attention shows in every logit
        return np.asarray(logits[..., :: -(-logits.shape[2] // _COLUMNS)], dtype=np.float64)

    def cache(self, kind: str = "growing", room: int = LENGTH) -> Any:
        """A new one."""
        return self.asked(lambda: self.decoder.new_cache(kind, room))

    def asked(self, call: Callable[[], Any]) -> Any:
        """The result of another method of the decoder."""
        try:
            return call()
        except Exception as error:
            lines = str(error).strip().splitlines() or [""]
            raise CallFailedError(f"{type(error).__name__}: {lines[0][:160]}") from error

    def along(
        self,
        tokens: Array,
        parts: Sequence[int],
        cache: Any,
        *,
        start: int = 0,
        places: Callable[[int, int], Array] | None = None,
        padding: Array | None = None,
    ) -> Array:
        """Logits of ``tokens``, fed in ``parts`` into ``cache``, which holds ``start`` tokens already.

        ``places(first, length)`` gives the positions of a part; None leaves them to the decoder.
        """
        found, at = [], 0
        for size in parts:
            given: dict[str, Any] = {}
            if places is not None:
                given["positions"] = np.broadcast_to(places(start + at, size), (tokens.shape[0], size))
            if padding is not None:
                given["padding"] = padding[:, : start + at + size]
            found.append(self.full(tokens[:, at : at + size], cache=cache, **given))
            at += size
        return np.concatenate(found, 1)

    def slots(self, cache: Any) -> list[Slots] | None:
        """Keys and values per layer; None where they cannot be read."""
        if not self.abilities.slots:
            return None
        return [
            (np.asarray(key, dtype=np.float64), np.asarray(value, dtype=np.float64))
            for key, value in self.asked(lambda: self.decoder.slots(cache))
        ]

    def gap(self, one: Array, other: Array) -> float:
        """Largest difference in units of the logits' spread; infinite for NaN."""
        found = float(np.abs(one - other).max()) / self.spread
        return found if np.isfinite(found) else float("inf")

    def same(self, one: Array, other: Array) -> bool:
        """Up to rounding."""
        return self.gap(one, other) <= self.noise

    def first_gap(self, one: Array, other: Array) -> int:
        """The first token whose logits differ, -1 for none."""
        off = ~(np.abs(one - other).max(-1).max(0) <= self.noise * self.spread)
        return int(off.argmax()) if off.any() else -1

    def changed(self, tokens: Array, place: int) -> Array:
        """``tokens`` with another one at ``place``."""
        found = tokens.copy()
        found[:, place] = self.others[0, place % self.others.shape[1]]
        return found

    def influence(self, path: Callable[[Array], Array], tokens: Array | None = None) -> Array:
        """Bool [T, T]: whether changing token j changes the logits at i, along ``path``."""
        base = self.tokens if tokens is None else tokens
        length = base.shape[1]
        rows = np.concatenate([base, *(self.changed(base, place) for place in range(length))])
        found = path(rows)
        return np.asarray((np.abs(found[1:] - found[:1]).max(-1) > self.touch * self.spread).T)


def places_from(shift: int = 0) -> Callable[[int, int], Array]:
    """The right positions, or ones that are off by ``shift``."""
    return lambda first, length: np.arange(length) + first + shift


def shown(tokens: Array) -> list[int]:
    """For reports."""
    return [int(token) for token in tokens[0]]


__all__ = ["LENGTH", "Abilities", "CallFailedError", "Runs", "places_from", "shown"]
