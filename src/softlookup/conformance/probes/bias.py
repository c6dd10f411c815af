"""Additive bias, the scale argument, softcap, learned sinks, ALiBi."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.contract import Contract
from softlookup.conformance.probes.probe import Probe
from softlookup.conformance.sizes import Sizes


def probes(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    """Probes of what changes the scores."""
    yield from _scale(sizes)
    yield from _bias(sizes, contract)
    yield from _softcap(sizes, contract)
    yield from _sinks(sizes)
    yield from _alibi(sizes, contract)


def _scale(sizes: Sizes) -> Iterator[Probe]:
    cases = tuple(sizes.case(5, 5, 80 + n).but(scale=scale) for n, scale in enumerate((0.25, 0.6, 1.0)))
    yield Probe("scale.given", cases, {"scale_given": "ignore"})
    yield Probe("scale.causal", (sizes.case(5, 5, 84).but(scale=0.6, causal=True),), {"scale_given": "ignore"})


def _bias(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    def biased(rows: int, keys: int, seed: int, *, heads: bool = False) -> Case:
        case = sizes.case(rows, keys, seed)
        return case.but(bias=_given((case.batch, case.heads if heads else 1, rows, keys), seed))

    off = {"bias": "off"}
    yield Probe("bias.square", (biased(2, 2, 90), biased(5, 5, 91)), off)
    yield Probe("bias.given_scale", (biased(4, 4, 92).but(scale=0.6),), off)
    if sizes.rectangular:
        yield Probe("bias.rect", (biased(2, 5, 93), biased(1, 4, 94)), off)
    if sizes.heads > 1:
        yield Probe("bias.per_head", (biased(5, 5, 95, heads=True),), {"bias_source": "head0"}, optional=True)
    refused = contract.mask_and_causal == "error"
    yield Probe("bias.causal", (biased(5, 5, 96).but(causal=True),), off, optional=refused)
    case = biased(5, 5, 97)
    mask = np.random.default_rng(97).random((case.batch, 1, 5, 5)) < 0.6
    mask[..., range(5), range(5)] = True
    yield Probe("bias.mask", (case.but(mask=mask),), off)


def _given(shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-3, 4, size=shape).astype(np.float64)


def _softcap(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    def capped(seed: int, cap: float, **others: Any) -> Case:
        case = sizes.case(5, 5, seed)
        return case.but(query=2 * case.query, softcap=cap, **others)  # scores beyond the cap

    off = {"softcap": "off"}
    yield Probe("softcap.curve", (capped(100, 2.0), capped(101, 5.0), _ladder(sizes)), off)
    yield Probe("softcap.causal", (capped(102, 2.0, causal=True), sizes.case(2, 2, 103).but(softcap=0.5, causal=True)),
                {"softcap": "after_mask"})  # fmt: skip
    mask = np.tril(np.ones((5, 5), dtype=bool))[None, None]
    mask = np.broadcast_to(mask, (sizes.batch, 1, 5, 5))
    yield Probe("softcap.mask", (capped(104, 2.0, mask=mask),), {"softcap": "after_mask"})
    bias = _given((sizes.batch, 1, 5, 5), 105)
    yield Probe("softcap.bias", (capped(105, 2.0, bias=bias),), off)
    yield Probe("softcap.scale", (capped(106, 2.0, scale=1.0),), off)
    del contract


def _ladder(sizes: Sizes) -> Case:
    """One query whose scores run from -6 to 6: the whole curve in one row of weights."""
    scores = np.linspace(-6, 6, 7)[None]
    case = sizes.scored(np.tile(scores, (1 if sizes.rectangular else 7, 1)))
    return case.but(softcap=2.0)


def _sinks(sizes: Sizes) -> Iterator[Probe]:
    def sunk(seed: int, **others: Any) -> Case:
        case = sizes.case(5, 5, seed)
        # half of them below, half above what the keys reach together; all different
        given = np.array([(3.0, 1.0, 2.0, -1.0, 4.0, 0.5)[h % 6] + 0.25 * (h // 6) for h in range(case.heads)])
        return case.but(sinks=given, **others)

    off = {"sinks": "off"}
    yield Probe("sink.plain", (sunk(110), sunk(111)), off)
    yield Probe("sink.causal", (sunk(112, causal=True),), off)
    yield Probe("sink.scale", (sunk(113, scale=0.6),), off)


def _alibi(sizes: Sizes, contract: Contract) -> Iterator[Probe]:
    off = {"alibi": "off"}
    heads = ((6, 3), (8, 4), (4, 2)) if sizes.kv_heads != sizes.heads else ((6, 6), (8, 8), (4, 4))
    cases = []
    for count, kv_count in heads if sizes.free_heads else ((sizes.heads, sizes.kv_heads),):
        case = sizes.case(6, 6, 120, heads=count, kv_heads=kv_count)
        still = case.but(query=np.zeros_like(case.query), alibi=True, causal=True)
        cases += [still, case.but(alibi=True, causal=True)]
    yield Probe("alibi.slopes", tuple(cases), off)
    if sizes.rectangular and contract.causal_align == "bottom_right":
        yield Probe("alibi.rect", (sizes.case(2, 6, 121).but(alibi=True, causal=True),), off)
