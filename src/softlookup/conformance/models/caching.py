"""Probes of caches: a prefill, decoding and chunks must give the logits of one pass; nothing may outlive its use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from softlookup.conformance.models.chunks import chunked
from softlookup.conformance.models.decoding import name_of_decoding
from softlookup.conformance.models.runs import LENGTH, Runs, places_from, shown
from softlookup.conformance.models.verdict import Verdict, found, passed, skipped

PREFILL = 8
_STEPS = (PREFILL, *([1] * (LENGTH - PREFILL)))
_CROPPED = 6


def aliasing(runs: Runs) -> Iterator[Verdict]:
    """A second sequence, and the first one again, with caches of their own."""
    first, second = runs.tokens[:, :PREFILL], runs.others[:, :PREFILL]
    own = runs.cache()
    before = runs.along(first, (PREFILL,), own)
    beside = runs.cache()
    runs.along(second, (PREFILL,), beside)
    after = runs.along(first, (PREFILL,), runs.cache())
    step = runs.along(runs.tokens[:, PREFILL : PREFILL + 1], (1,), own, start=PREFILL)
    fresh = runs.cache()
    runs.along(first, (PREFILL,), fresh)
    want = runs.along(runs.tokens[:, PREFILL : PREFILL + 1], (1,), fresh, start=PREFILL)
    gap = max(runs.gap(before, after), runs.gap(step, want))
    if gap <= runs.noise:
        yield passed("cache.second_sequence")
        return
    yield found("cache.second_sequence", "cache.aliased", "leak", "new sequences get the same cache object",
                 f"another sequence in between moves the logits by {gap:.1e} of the spread", "no change",
                 tokens=shown(runs.tokens), parts=[PREFILL, 1])  # fmt: skip


def caching(runs: Runs) -> Iterator[Verdict]:
    """Stops where a mistake spoils what comes later."""
    for probe in (_prefill, _decode):
        verdict = probe(runs)
        yield verdict
        if verdict.finding is not None:
            yield skipped("cache.*", f"after {verdict.finding.code}")
            return
    yield from chunked(runs)
    yield _crop(runs)
    yield _reorder(runs)
    if "static" in runs.abilities.caches:
        yield _static(runs)


def _prefill(runs: Runs) -> Verdict:
    """With an empty cache object and without one."""
    cached = runs.along(runs.tokens, (LENGTH,), runs.cache())
    if runs.same(cached, runs.whole):
        return passed("cache.prefill")
    seen = runs.influence(lambda rows: runs.along(rows, (LENGTH,), runs.cache()))
    code, severity, likely = "unknown", "wrong", "an empty cache changes the logits"
    if np.triu(seen, 1).any():
        code, severity = "prefill_with_cache.causal_not_applied", "leak"
        likely = "the causal mask is made only where no cache is passed"
    return found("cache.prefill", code, severity, likely,
                 f"an empty cache moves the logits by {runs.gap(cached, runs.whole):.1e} of the spread",
                 f"at most {runs.noise:.0e}", tokens=shown(runs.tokens))  # fmt: skip


def _decode(runs: Runs) -> Verdict:
    """One token at a time after a prefill."""
    stepped = runs.along(runs.tokens, _STEPS, runs.cache())
    if runs.same(stepped, runs.whole):
        return passed("cache.decode")
    return name_of_decoding(runs, stepped, _STEPS, "growing")


def _crop(runs: Runs) -> Verdict:
    """Fewer tokens, then on: as if the dropped ones had never been."""
    if not runs.abilities.crop:
        return skipped("cache.crop", "its caches cannot be cropped")
    kind = "rollback" if "rollback" in runs.abilities.caches else "growing"
    ahead = np.concatenate([runs.tokens[:, :_CROPPED], runs.others[:, : LENGTH - 1 - _CROPPED]], 1)

    def resumed(places: Any = None) -> Any:
        cache = runs.cache(kind)
        runs.along(ahead, (LENGTH - 1,), cache)
        runs.asked(lambda: runs.decoder.crop(cache, _CROPPED))
        return runs.along(runs.tokens[:, _CROPPED:], (1,) * (LENGTH - _CROPPED), cache, start=_CROPPED, places=places)

    got = resumed()
    if runs.same(got, runs.whole[:, _CROPPED:]):
        return passed("cache.crop")
    code, likely = "cache.crop", "tokens that were cropped are still seen, or kept ones are gone"
    if runs.abilities.positions and runs.same(resumed(places_from()), runs.whole[:, _CROPPED:]):
        code, likely = "cache.crop_position", "keys and values are cropped, the count of positions is not"
    return found("cache.crop", code, "wrong", likely,
                 f"cropped to {_CROPPED} tokens: {runs.gap(got, runs.whole[:, _CROPPED:]):.1e} of the spread",
                 "as a fresh start", tokens=shown(runs.tokens), cropped=_CROPPED)  # fmt: skip


def _reorder(runs: Runs) -> Verdict:
    """Rows change places, as in beam search."""
    if not runs.abilities.reorder:
        return skipped("cache.reorder", "its caches cannot be reordered")
    rows = np.concatenate([runs.tokens, runs.others])
    want = runs.full(rows)[:, PREFILL:]
    cache = runs.cache()
    runs.along(rows[:, :PREFILL], (PREFILL,), cache)
    runs.asked(lambda: runs.decoder.reorder(cache, np.array([1, 0])))
    rest = rows[::-1, PREFILL:]
    got = runs.along(rest, (1,) * rest.shape[1], cache, start=PREFILL)[::-1]
    if runs.same(got, want):
        return passed("cache.reorder")
    untouched = runs.cache()
    runs.along(rows[:, :PREFILL], (PREFILL,), untouched)
    same = runs.same(runs.along(rest, (1,) * rest.shape[1], untouched, start=PREFILL)[::-1], got)
    code = "cache.reorder_ignored" if same else "cache.reorder"
    return found("cache.reorder", code, "leak", "a row goes on with keys and values of another",
                 f"rows swapped: {runs.gap(got, want):.1e} of the spread", f"at most {runs.noise:.0e}",
                 tokens=[row.tolist() for row in rows], parts=list(_STEPS))  # fmt: skip


def _static(runs: Runs) -> Verdict:
    """Fixed room: the same logits whatever the room is."""
    tight, wide = (runs.along(runs.tokens, _STEPS, runs.cache("static", room)) for room in (LENGTH + 1, 2 * LENGTH + 2))
    if not runs.same(tight, wide):
        return found("cache.static", "cache.unfilled_attended", "wrong", "slots that are not filled yet are not masked",
                     f"room for {LENGTH + 1} and for {2 * LENGTH + 2}: {runs.gap(tight, wide):.1e} of the spread apart",
                     "no difference", tokens=shown(runs.tokens), parts=list(_STEPS))  # fmt: skip
    if runs.same(tight, runs.whole):
        return passed("cache.static")
    return name_of_decoding(runs, tight, _STEPS, "static")
