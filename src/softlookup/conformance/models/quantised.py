"""Probe of a quantised cache: what comes back, head by head, against what went in."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import Runs, shown
from softlookup.conformance.models.verdict import Verdict, found, passed, skipped

_TOKENS = 4
# of a head's largest entry: half a step of int8 is 0.4 %, and scales that matter differ by far more
_ROUNDING = 0.012


def quantised(runs: Runs) -> Iterator[Verdict]:
    """Layer 0: its input does not depend on the cache."""
    if "quantised" not in runs.abilities.caches or not runs.abilities.slots:
        yield skipped("cache.quantised", "no quantised cache is offered")
        return
    held = []
    for kind in ("growing", "quantised"):
        cache = runs.cache(kind)
        runs.along(runs.tokens[:, :_TOKENS], (_TOKENS,), cache)
        held.append((runs.slots(cache) or [])[0])
    for name, exact, back in zip(("key", "value"), *held, strict=True):
        size = np.abs(exact).max((2, 3))[0]
        error = np.abs(back - exact).max((2, 3))[0] / size
        if error.max() > _ROUNDING:
            yield _named(runs, name, exact, back, float(error.max()))
            return
    yield passed("cache.quantised")


def _named(runs: Runs, name: str, exact: Array, back: Array, error: float) -> Verdict:
    """A scale of another head: each head's numbers come back stretched by the ratio of two scales."""
    size = np.abs(exact).max((2, 3))[0]
    stretch = (back * exact).sum((2, 3))[0] / (exact * exact).sum((2, 3))[0]
    sources = [int(np.abs(size / own - ratio).argmin()) for own, ratio in zip(size, stretch, strict=True)]
    rebuilt = exact * (size[sources] / size)[None, :, None, None]
    explained = float((np.abs(back - rebuilt).max((2, 3))[0] / size[sources]).max()) <= _ROUNDING
    code, likely = "kv_quant.error", "more is lost than int8 rounds away"
    if explained and sources != list(range(len(size))):
        code, likely = "kv_quant.scale_axis", f"head h is dequantised with the scale of head {sources}"
    return found("cache.quantised", code, "wrong", likely, f"the {name} of layer 0 comes back {error:.1%} off",
                 f"at most {_ROUNDING:.1%} of a head's largest entry", tokens=shown(runs.tokens)[:_TOKENS])  # fmt: skip
