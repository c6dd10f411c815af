"""Causal masks, given masks, both at once, key lengths, documents, dead rows, NaN and huge scores behind a mask."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes

LEVELS = (1e2, 1e3, 3e3, 1e4, 3e4, 1e5, 1e6)


def probes(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """Probes of who sees whom."""
    yield from _causal(sizes, contract)
    yield from _masks(sizes, contract)
    yield from _dead_rows(sizes, contract)
    yield from _hidden(sizes, contract)
    yield from _lengths(sizes)


def _causal(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    def causal(rows: int, keys: int, seed: int) -> Case:
        return sizes.case(rows, keys, seed).but(causal=True)

    off = {"causal": "off"}
    yield Probe("causal.square", (causal(2, 2, 1), causal(5, 5, 2), causal(9, 9, 3)), off)
    yield Probe("causal.long", (causal(70, 70, 4),), off)
    if sizes.rectangular and contract.causal_align != "unspecified":
        other = "top_left" if contract.causal_align == "bottom_right" else "bottom_right"
        yield Probe("causal.rect", (causal(2, 3, 5), causal(3, 7, 6), causal(2, 9, 7)), {"align": other})
        yield Probe("causal.decode", (causal(1, 2, 8), causal(1, 6, 9)), {"align": other})
        yield Probe("causal.rect_long", (causal(5, 70, 10), causal(40, 75, 11)), {"align": other})


def _pattern(shape: tuple[int, ...], seed: int, *, diagonal: bool = True) -> Array:
    """A mask whose rows, columns, batch rows and heads all differ; every query keeps its own key."""
    mask = np.random.default_rng(seed).random(shape) < 0.55
    if diagonal:
        rows, keys = shape[-2:]
        for row in range(rows):
            mask[..., row, min(row, keys - 1)] = True
            mask[..., row, max(0, keys - rows + row)] = True
    return mask


def _masks(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    def masked(rows: int, keys: int, seed: int, *, heads: bool = False) -> Case:
        case = sizes.case(rows, keys, seed)
        return case.but(mask=_pattern((case.batch, case.heads if heads else 1, rows, keys), seed))

    off = {"mask": "off"}
    yield Probe("mask.square", (masked(2, 2, 40), masked(5, 5, 41), masked(6, 6, 42)), off)
    yield Probe("mask.long", (masked(40, 40, 48),), off)
    yield Probe("mask.padding", (_padded(sizes, 6, 43),), off)
    if sizes.heads > 1:
        yield Probe("mask.per_head", (masked(5, 5, 44, heads=True),), {"mask_source": "head0"}, optional=True)
    if sizes.rectangular:
        yield Probe("mask.rect", (masked(2, 5, 45), masked(3, 7, 46), masked(1, 6, 47)), off)
    both = [masked(5, 5, 50).but(causal=True), _padded(sizes, 6, 51, left=True).but(causal=True)]
    yield Probe("mask.with_causal", tuple(both), off, optional=contract.mask_and_causal == "error")
    yield Probe("causal.with_mask", (masked(6, 6, 52).but(causal=True),), {"causal": "off"},
                optional=contract.mask_and_causal == "error")  # fmt: skip
    if sizes.rectangular and contract.causal_align == "bottom_right":
        yield Probe("mask.with_causal_rect", (masked(3, 7, 53).but(causal=True),), off,
                    optional=contract.mask_and_causal == "error")  # fmt: skip


def _padded(sizes: Sizes, length: int, seed: int, *, left: bool = False) -> Case:
    """Padding as tokenizers make it: key lengths differ between rows of the batch; a left-padded row 0 has none."""
    case = sizes.case(length, length, seed)
    keys, mask = np.arange(length), np.ones((case.batch, 1, length, length), dtype=bool)
    for row in range(case.batch):
        short = row if left else row + 2
        mask[row] = keys < length - short if not left else (keys >= short) | (np.eye(length, dtype=bool))
    return case.but(mask=mask)


def _dead_rows(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    if contract.dead_row == "unspecified":
        return
    case = sizes.case(4, 4, 60)
    mask = _pattern((case.batch, 1, 4, 4), 60)
    mask[:, :, 2] = False
    yield Probe("dead_row.mask", (case.but(mask=mask),), {"dead_row": _other(contract)})


def _other(contract: Contract) -> str:
    return "uniform" if contract.dead_row != "uniform" else "zero"


def _hidden(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """What lies behind a mask must not matter: NaN and infinite values, huge scores."""
    if contract.masked_nan == "irrelevant":
        # memory that was never written lies behind a mask or a length, not behind the causal mask
        for feature in ("mask", "kv_len"):
            cases = tuple(_poisoned(sizes, feature, bad) for bad in (np.nan, np.inf))
            yield Probe(f"masked_value.{feature}", cases, {"masked_nan": "propagates"}, optional=True)
    # an answer would have to be off by more than any dtype's largest score to be missed
    for feature in ("mask", "causal"):
        for sign, name in ((1, "high"), (-1, "low")):
            yield Probe(f"hidden.{name}_{feature}", tuple(swept(sizes, feature, sign * level) for level in LEVELS
                                                           if sizes.dtype != "float16" or level < 2e4),
                        {"fill": "fill", "fill_value": -50.0} if sign < 0 else {"fill": "add", "fill_value": -50.0},
                        optional=True)  # fmt: skip


def _poisoned(sizes: Sizes, feature: str, bad: float) -> Case:
    case = sizes.case(3, 3, 62)
    value = case.value.copy()
    value[:, :, 2] = bad
    return _hide_last(case.but(value=value), feature)


def _hide_last(case: Case, feature: str) -> Case:
    """The last key is seen by nobody (mask, key length), or by the last query alone (causal)."""
    if feature == "causal":
        return case.but(causal=True)
    if feature == "kv_len":
        return case.but(kv_len=np.full(case.batch, case.kv_length - 1))
    mask = np.ones((case.batch, 1, case.q_length, case.kv_length), dtype=bool)
    mask[..., -1] = False
    return case.but(mask=mask)


def swept(sizes: Sizes, feature: str, level: float) -> Case:
    """Level > 0: the hidden key scores that much more; level < 0: the allowed keys score that much less than 0."""
    scores = np.array([0.0, 0.0, level]) if level > 0 else np.array([level, level, 0.0])
    return _hide_last(sizes.scored(np.tile(scores, (3, 1))), feature)


def _lengths(sizes: Sizes) -> Iterator[Probe]:
    def lengths(keys: int, seed: int) -> Case:
        case = sizes.case(3 if sizes.rectangular else keys, keys, seed)
        return case.but(kv_len=np.array([keys - 1 - row for row in range(case.batch)]))

    yield Probe("kv_len.batch", (lengths(5, 70), lengths(7, 71)), {"kv_len": "off"})
    ids = ([0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 2, 2], [0, 1, 1, 2, 2, 2])
    case = sizes.case(6, 6, 72)
    packed = case.but(segments=np.array([ids[row % 3] for row in range(case.batch)]))
    smallest = sizes.case(4, 4, 73, batch=1).but(segments=np.array([[0, 0, 1, 1]]))
    yield Probe("packed.documents", (packed, smallest), {"segments": "off"})
    yield Probe("packed.causal", (packed.but(causal=True),), {"segments": "off"})
