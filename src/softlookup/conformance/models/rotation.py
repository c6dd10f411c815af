"""Probe of the rotation that a model really applies: keys of layer 0 at many positions, read as a matrix.

Layer 0's key of a single token is the same vector turned by the position, so that enough
tokens give the whole rotation.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import CallFailedError, Runs
from softlookup.conformance.models.verdict import Verdict, passed, skipped
from softlookup.conformance.rope import check_rope, wanted_rotation
from softlookup.errors import UsageError

_PROBE = "rope.matrix"
# beyond this the keys of the tokens hardly span all directions, and the matrix is mostly rounding
_CONDITION = 300.0


def rotation(runs: Runs) -> Iterator[Verdict]:
    """Compared with what the configuration declares."""
    able = runs.abilities
    if not able.rope or not able.slots or not able.positions:
        yield skipped(_PROBE, "no rotation that the configuration declares, or keys cannot be read")
        return
    if able.dtype in ("float16", "bfloat16"):
        yield skipped(_PROBE, f"keys in {able.dtype} are too coarse")
        return
    try:
        right, _, _ = wanted_rotation(able.rope)
    except UsageError as error:
        yield skipped(_PROBE, str(error).splitlines()[0])
        return
    keys = _Keys(runs, right.dim)
    if keys.condition > _CONDITION:
        yield Verdict(_PROBE, "untestable", f"the keys of the tokens span too little (condition {keys.condition:.0f})")
        return
    # a factor on sine and cosine turns nothing, and stands in both keys that are compared
    report = check_rope(
        lambda x, positions: right.factor * keys.turned(x, positions), able.rope, name="layer 0", budget=60
    )
    if report.problem:
        yield Verdict(_PROBE, "untestable", keys.error or report.problem)
        return
    if not report.findings:
        yield passed(_PROBE, report.probes[0].reason)
        return
    yield Verdict(_PROBE, "finding", finding=report.findings[0])


class _Keys:
    """Keys [N, D] of N tokens and heads of layer 0 at any position."""

    def __init__(self, runs: Runs, dim: int) -> None:
        self.runs, self.error = runs, ""
        self.tokens = np.concatenate([runs.tokens, runs.others], 1).T
        heads = self._at(0, self.tokens[:1]).shape[0]
        usable = [t for t in range(runs.abilities.vocabulary) if t not in runs.abilities.reserved]
        # drawn from all of the vocabulary: the first ones are often special, with keys that are alike
        drawn = np.random.default_rng(0).permutation(usable)
        self.tokens = drawn[: max(2, -(-4 * dim // heads))][:, None]
        self.still = self._at(0, self.tokens)
        self.condition = float(np.linalg.cond(self.still)) if len(self.still) >= dim else float("inf")
        self.known: dict[int, Array] = {}

    def _at(self, position: int, tokens: Array) -> Array:
        cache = self.runs.cache()
        self.runs.along(tokens, (1,), cache, places=lambda _first, _size: np.array([position]))
        slots = self.runs.slots(cache)
        if not slots:
            raise CallFailedError("the cache shows no keys")
        key = slots[0][0]
        return key.reshape(-1, key.shape[-1])

    def matrix(self, position: int) -> Array:
        """[D, D]: row a is the image of unit vector a."""
        if position not in self.known:
            self.known[position] = np.linalg.lstsq(self.still, self._at(position, self.tokens), rcond=None)[0]
        return self.known[position]

    def turned(self, x: Array, positions: Array) -> Array:
        """A rotary function of x [B, H, T, D]."""
        try:
            parts = [x[:, :, [place]] @ self.matrix(int(position)) for place, position in enumerate(positions)]
        except CallFailedError as error:
            self.error = str(error)
            raise
        return np.concatenate(parts, 2)
