"""Probes of single passes without a cache: repeatable, causal, rows on their own, windows, shifts of all positions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import LENGTH, Runs, places_from, shown
from softlookup.conformance.models.verdict import Verdict, found, passed, skipped, vacuous

_SHIFT = 5


def forward(runs: Runs) -> Iterator[Verdict]:
    """In the order in which a mistake spoils what comes later."""
    again = runs.full(runs.tokens)
    if not np.array_equal(again, runs.whole, equal_nan=True):
        yield found("model.repeat", "dropout.active_in_eval", "wrong", "dropout, or another state that a pass leaves",
                    f"the same call twice differs by {runs.gap(again, runs.whole):.1e} of the spread", "bit-equal",
                    tokens=shown(runs.tokens))  # fmt: skip
        return
    yield passed("model.repeat")
    if not np.isfinite(runs.whole).all():
        yield found("model.finite", "call.nan", "unsafe", "overflow, or a row without keys", "NaN or infinite logits",
                    "finite logits", tokens=shown(runs.tokens))  # fmt: skip
        return
    yield passed("model.finite")
    rows = _rows(runs)
    yield rows
    if rows.finding is not None:  # the probes below change one row of a batch at a time
        return
    seen = runs.influence(runs.full)
    if not np.tril(seen, -1).any():
        yield vacuous("model.context", "no token has a say in later logits: nothing can be told from them")
        return
    yield _future(runs, seen)
    yield _reach(runs, seen)
    yield _shift(runs)


def _rows(runs: Runs) -> Verdict:
    """Other neighbours: bit-exact. Alone or in a batch: up to rounding."""
    first = runs.full(np.concatenate([runs.tokens, runs.others]))[:1]
    other = runs.full(np.concatenate([runs.tokens, runs.others[:, ::-1]]))[:1]
    if runs.gap(first, other) > runs.touch:
        return found("batch.neighbours", "batch.rows_not_independent", "leak", "a row reads another row of the batch",
                    f"another neighbour changes a row by {runs.gap(first, other):.1e} of the spread", "no change",
                    tokens=shown(runs.tokens))  # fmt: skip
    if not runs.same(first, runs.whole):
        return found("batch.neighbours", "batch.size", "wrong", "the result depends on the size of the batch",
                    f"alone and with a neighbour: {runs.gap(first, runs.whole):.1e} of the spread apart",
                    f"at most {runs.noise:.0e}", tokens=shown(runs.tokens))  # fmt: skip
    return passed("batch.neighbours")


def _future(runs: Runs, seen: Array) -> Verdict:
    ahead = np.triu(seen, 1)
    if not ahead.any():
        return passed("causal.future")
    far = int(max(j - i for i, j in np.argwhere(ahead)))
    # one token per layer adds up through the layers; where that is everything, the two cannot be told apart
    step = -(-far // len(runs.abilities.windows))
    code = f"causal.leak_future={step}" if far < LENGTH - 1 else "causal.not_applied"
    return found("causal.future", code, "leak", "the causal mask of a pass without a cache",
                 f"logits change with tokens up to {far} ahead", "none")  # fmt: skip


def _reach(runs: Runs, seen: Array) -> Verdict:
    """How far back a row is influenced, through all layers together."""
    reach, windows = runs.abilities.reach, runs.abilities.windows
    if reach is None:
        return skipped("window.reach", "a layer sees everything: its windows show in what its kernel gets")
    if reach >= LENGTH - 1:
        return skipped("window.reach", f"windows reach {reach} tokens back, {LENGTH} were tried")
    far = int(max(i - j for i, j in np.argwhere(seen)))
    if far <= reach:
        return passed("window.reach")
    code = "window.ignored" if far >= LENGTH - 1 else f"window.size={far // len(windows) + 1}(want={windows[0]})"
    return found("window.reach", code, "leak", "the window of the mask, off by one or not there",
                 f"logits change with tokens up to {far} back", f"at most {reach} = sum of (window - 1)")  # fmt: skip


def _shift(runs: Runs) -> Verdict:
    """Under pure RoPE all positions may be shifted."""
    if not (runs.abilities.rotary and runs.abilities.positions):
        return skipped("rope.shift", "positions are absolute, or cannot be given")
    plain = np.arange(LENGTH)[None]
    moved = runs.full(runs.tokens, positions=plain + _SHIFT)
    if runs.same(moved, runs.whole):
        stretched = runs.full(runs.tokens, positions=plain * 2)
        return (
            vacuous("rope.shift", "positions make no difference at all")
            if runs.same(stretched, runs.whole)
            else passed("rope.shift")
        )
    code, likely = ("unknown", "scores depend on more than the difference of positions")
    if _keys_stay(runs):
        code, likely = "rope.k_not_rotated", "the rotation is applied to the query alone"
    return found("rope.shift", code, "wrong", likely,
                 f"all positions + {_SHIFT}: logits move by {runs.gap(moved, runs.whole):.1e} of the spread",
                 f"at most {runs.noise:.0e}", tokens=shown(runs.tokens))  # fmt: skip


def _keys_stay(runs: Runs) -> bool:
    """Whether layer 0 caches the same key for a token whatever its position."""
    held = []
    for shift in (0, _SHIFT):
        cache = runs.cache()
        runs.along(runs.tokens[:, :3], (3,), cache, places=places_from(shift))
        slots = runs.slots(cache)
        if not slots:
            return False
        held.append(slots[0][0])
    return bool(np.allclose(held[0], held[1], rtol=1e-5, atol=1e-6))
