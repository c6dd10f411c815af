"""Probes of rows that share a batch or a sequence: left padding, with and without a cache, and packed documents."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array
from softlookup.conformance.models.runs import LENGTH, Runs, shown
from softlookup.conformance.models.verdict import Verdict, found, passed, skipped

_PADS, _CUT = 3, 5


def padding(runs: Runs) -> Iterator[Verdict]:
    """One row without pads beside one with them; then the same along a cache."""
    if not runs.abilities.padding:
        yield skipped("leftpad.logits", "the decoder takes no padding mask")
        return
    rows, keep = _padded(runs, 0)
    alone = runs.full(rows[1:, _PADS:])
    together = runs.full(rows, padding=keep)
    if runs.same(together[1:, _PADS:], alone) and runs.same(together[:1], runs.whole):
        yield passed("leftpad.logits")
        yield _decoded(runs, rows, keep, alone)
        return
    yield _named(runs, rows, keep, alone, together)


def _padded(runs: Runs, pad: int) -> tuple[Array, Array]:
    """[2, T]: the second row begins with pads."""
    short = runs.others[:, : LENGTH - _PADS]
    second = np.concatenate([runs.others[:, [-1 - pad]].repeat(_PADS, 1), short], 1)
    keep = np.ones((2, LENGTH), dtype=bool)
    keep[1, :_PADS] = False
    return np.concatenate([runs.tokens, second]), keep


def _named(runs: Runs, rows: Array, keep: Array, alone: Array, together: Array) -> Verdict:
    other = runs.full(_padded(runs, 1)[0], padding=keep)[1:, _PADS:]
    gap = runs.gap(together[1:, _PADS:], alone)
    code, severity, likely = "unknown", "wrong", "no known mistake of padding gives these numbers"
    if runs.gap(other, together[1:, _PADS:]) > runs.touch:
        code, severity, likely = "leftpad.mask_ignored", "leak", "the padding mask does not reach attention"
    elif runs.abilities.positions:
        places = np.maximum(keep.cumsum(1) - 1, 0)
        if runs.same(runs.full(rows, padding=keep, positions=places)[1:, _PADS:], alone):
            code, likely = "leftpad.position", "positions count pads: derive them from the mask"
    return found("leftpad.logits", code, severity, likely,
                 f"{_PADS} pads before a row move its logits by {gap:.1e} of the spread", f"at most {runs.noise:.0e}",
                 tokens=[row.tolist() for row in rows], padding=_PADS)  # fmt: skip


def _decoded(runs: Runs, rows: Array, keep: Array, alone: Array) -> Verdict:
    """Prefill all but two, then one by one."""
    parts = (LENGTH - 2, 1, 1)
    stepped = runs.along(rows, parts, runs.cache(), padding=keep)[1:, _PADS:]
    plain = runs.along(runs.tokens, parts, runs.cache())
    if not runs.same(plain, runs.whole):
        return skipped("leftpad.decode", "decoding is wrong without pads already")
    if runs.same(stepped, alone):
        return passed("leftpad.decode")
    code, likely = "unknown", "decoding after a padded prefill"
    other = runs.along(_padded(runs, 1)[0], parts, runs.cache(), padding=keep)[1:, _PADS:]
    if runs.gap(other, stepped) > runs.touch:
        code, likely = "leftpad.mask_ignored(decode)", "the padding mask is dropped once something is cached"
    elif runs.abilities.positions and runs.same(_explicit(runs, rows, keep, parts), alone):
        code, likely = "leftpad.position(decode)", "decoded positions count pads, those of the prefill do not"
    return found("leftpad.decode", code, "wrong", likely,
                 f"padded and decoded: {runs.gap(stepped, alone):.1e} of the spread", f"at most {runs.noise:.0e}",
                 tokens=[row.tolist() for row in rows], padding=_PADS, parts=list(parts))  # fmt: skip


def _explicit(runs: Runs, rows: Array, keep: Array, parts: tuple[int, ...]) -> Array:
    places = np.maximum(keep.cumsum(1) - 1, 0)
    return runs.along(
        rows, parts, runs.cache(), padding=keep, places=lambda first, size: places[:, first : first + size]
    )[1:, _PADS:]


def packing(runs: Runs) -> Iterator[Verdict]:
    """Two documents in one row: each must come out as if alone."""
    if runs.abilities.packed == "not offered":
        yield skipped("packed.alone", "the decoder does not promise packed documents")
        return
    documents = (np.arange(LENGTH) >= _CUT).astype(int)[None]
    packed = runs.full(runs.tokens, documents=documents)
    first, second = runs.full(runs.tokens[:, :_CUT]), runs.full(runs.tokens[:, _CUT:])
    if runs.same(packed[:, :_CUT], first) and runs.same(packed[:, _CUT:], second):
        yield passed("packed.alone")
        return
    seen = runs.influence(lambda rows: runs.full(rows[:1], documents=documents) if len(rows) == 1 else
                          _one_by_one(runs, rows, documents))[_CUT:, :_CUT]  # fmt: skip
    yield _leaking(runs, packed, seen, runs.gap(packed[:, _CUT:], second))


def _one_by_one(runs: Runs, rows: Array, documents: Array) -> Array:
    """Packing is a matter of single rows in some libraries."""
    return np.concatenate([runs.full(rows[[row]], documents=documents) for row in range(len(rows))])


def _leaking(runs: Runs, packed: Array, seen: Array, gap: float) -> Verdict:
    reset = np.concatenate([np.arange(_CUT), np.arange(LENGTH - _CUT)])[None]
    code, severity, likely = "packed.position", "wrong", "positions do not restart with a document"
    if seen.any():
        severity, code, likely = "leak", "packed.leak", "the mask knows nothing of documents"
        if not seen[:, : _CUT - 1].any():
            code, likely = "packed.boundary_off_by_one", "the first token of a document counts as the one before"
        elif runs.abilities.positions and runs.same(runs.full(runs.tokens, positions=reset), packed):
            code = "packed.leak(position_reset_only)"
    if runs.abilities.packed == "unspecified":
        severity = "info"
    columns = [int(column) for column in np.flatnonzero(seen.any(0))]
    return found("packed.alone", code, severity, likely,
                 f"document 2 sees tokens {columns} of document 1; its logits are {gap:.1e} of the spread off",
                 "as if it were alone", tokens=shown(runs.tokens), documents=[_CUT, LENGTH - _CUT])  # fmt: skip
