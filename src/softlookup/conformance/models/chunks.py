"""Probes of chunked prefill: several split points, one chunk longer than the window; named by who sees whom."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import LENGTH, Runs, places_from, shown
from softlookup.conformance.models.verdict import Verdict, found, passed

_SPLITS = ((5, 6), (3, 2, 6), (1, 7, 3), (8, 2, 1))


def chunked(runs: Runs) -> Iterator[Verdict]:
    """The first split that differs is named."""
    for parts in _SPLITS:
        got = runs.along(runs.tokens, parts, runs.cache())
        if not runs.same(got, runs.whole):
            yield _named(runs, parts, got)
            return
    yield passed("chunk.prefill", f"splits {', '.join('+'.join(map(str, parts)) for parts in _SPLITS)}")


def _named(runs: Runs, parts: tuple[int, ...], got: Array) -> Verdict:
    want = runs.influence(runs.full)
    seen = runs.influence(lambda rows: runs.along(rows, parts, runs.cache()))
    code, severity, likely = _difference(runs, parts, seen & ~want, want & ~seen)
    if code == "unknown" and runs.abilities.positions:
        explicit = runs.along(runs.tokens, parts, runs.cache(), places=places_from())
        if runs.same(explicit, runs.whole):
            code, likely = "chunk.position", "a later chunk starts at another position than the cache ends"
    return found("chunk.prefill", code, severity, likely,
                 f"chunks {'+'.join(map(str, parts))}: {runs.gap(got, runs.whole):.1e} of the spread, "
                 f"{_counted(seen & ~want, 'more')}, {_counted(want & ~seen, 'fewer')} pairs than in one pass",
                 "the logits of one pass", tokens=shown(runs.tokens), parts=list(parts))  # fmt: skip


def _difference(runs: Runs, parts: tuple[int, ...], extra: Array, missing: Array) -> tuple[str, str, str]:
    """Code, severity and place, by the pairs (row, token) that see each other too much or too little."""
    if np.triu(extra, 1).any():
        return "chunk.causal_not_applied", "leak", "the causal mask is made for a first chunk only"
    if extra.any() and any(runs.abilities.windows):
        return "window.chunk_over_attention", "leak", "in a later chunk the cached prefix is seen beyond the window"
    if extra.any():
        return "unknown", "leak", "a later chunk sees more than one pass does"
    starts = np.repeat(np.cumsum((0, *parts[:-1])), parts)
    rows, columns = np.nonzero(missing)
    if len(rows) and (columns < starts[rows]).any():
        return "chunk.mask_without_prefix", "wrong", "the mask of a chunk does not count the cached prefix"
    return "unknown", "wrong", f"no known mistake of chunks gives these numbers ({LENGTH} tokens)"


def _counted(pairs: Array, word: str) -> str:
    return f"{int(pairs.sum())} {word}"
