"""Hypotheses whose number is read off the observations: a fill value, a factor, a block size, a head map, slopes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from softlookup.conformance.case import Array, Case, identity_values
from softlookup.conformance.evidence import Evidence
from softlookup.conformance.hypotheses.hypothesis import Hypothesis, hypothesis
from softlookup.conformance.hypotheses.softmax import BLOCKS, tiles
from softlookup.conformance.oracle import attend
from softlookup.conformance.probes.masking import swept
from softlookup.conformance.scores import products_of
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import Variant

_LARGEST_BLOCK = 520  # one beyond it, no length that is tried could show a block


class Measured:
    """Makes hypotheses out of numbers; the subject is asked again where a value has to be searched for."""

    def __init__(self, subject: Subject, sizes: Sizes) -> None:
        self.subject, self.sizes = subject, sizes

    def __call__(self, evidence: Evidence, base: Variant, failing: list[int]) -> Iterator[Hypothesis]:
        """Hypotheses that fit the failing calls, most specific first."""
        probes = {evidence.seen[index].probe.id for index in failing}
        if any(probe.startswith("hidden.") for probe in probes):
            yield from self._fill(evidence, failing)
        if any(probe.startswith(("plain.", "scale.dims")) for probe in probes):
            yield from _scales(evidence, base, failing)
        if any(probe.startswith("heads.") for probe in probes):
            yield from _head_maps(evidence, base)
        if "alibi.slopes" in probes:
            yield from _slopes(evidence)
        yield from _blocks(evidence, failing)

    def _fill(self, evidence: Evidence, failing: list[int]) -> Iterator[Hypothesis]:
        for feature in ("mask", "causal"):
            levels = [
                -lowest(evidence.seen[i].case) for i in failing if evidence.seen[i].probe.id == f"hidden.low_{feature}"
            ]
            if not levels:
                continue
            value = self._search(feature, min(levels))
            if value is None:
                continue
            text = f"{value:.3g}"
            number = float(text)
            yield hypothesis(f"mask.finite(value~{text})", "leak",
                             f"scores + (1 - mask) * {text}: a hidden score {-number:g} above the others wins",
                             fill="add", fill_value=number)  # fmt: skip
            yield hypothesis(f"mask.finite_fill(value~{text})", "leak",
                             f"masked_fill(mask, {text}): wins where all allowed scores are lower",
                             fill="fill", fill_value=number)  # fmt: skip

    def _search(self, feature: str, high: float) -> float | None:
        """The hidden key's score: allowed scores are lowered until it takes about half of the weight."""
        low = 0.0
        for _ in range(60):
            middle = (low + high) / 2
            found = self.subject.run(swept(self.sizes, feature, -middle))
            if found.output is None:
                return None
            weight = float(found.output[0, 0, 0, 2])  # row 0 sees one (causal) or two keys
            if 0.02 < weight < 0.98:
                others = 1 if feature == "causal" else 2
                return -middle + math.log(others * weight / (1 - weight)) if feature == "mask" else -middle
            if weight >= 0.98:
                high = middle
            else:
                low = middle
        return -middle


def _blocks(evidence: Evidence, failing: list[int]) -> Iterator[Hypothesis]:
    """Block sizes that are not among the usual ones: from the missing weight of equal keys, else by trying all."""
    tiled = {evidence.seen[index].probe.id for index in failing} & {"tile.equal", "tile.ascending", "tile.descending"}
    counted = {
        entry.case.kv_length: round(1 / float(entry.output[0, 0, -1, 0]) - entry.case.kv_length)
        for entry in evidence.seen
        if entry.probe.id == "tile.equal" and entry.case.kv_length <= 33 and entry.output[0, 0, -1, 0] > 0
    }
    if any(counted.values()):
        for block in range(3, _LARGEST_BLOCK):
            if block not in BLOCKS and all(-keys % block == missing for keys, missing in counted.items()):
                yield from tiles(block)
    elif tiled:
        shortest = min(evidence.seen[index].case.kv_length for index in failing)
        for block in range(shortest // 2, min(shortest + 1, _LARGEST_BLOCK)):
            if block > 2 and block not in BLOCKS:
                yield from tiles(block)


def lowest(case: Case) -> float:
    """The allowed score of a swept case."""
    return float((case.query[0, 0, 0] @ case.key[0, 0, 0]) / case.head_dim**0.5)


def _scales(evidence: Evidence, base: Variant, failing: list[int]) -> Iterator[Hypothesis]:
    for index in failing:
        entry = evidence.seen[index]
        if entry.case.features or not entry.probe.id.startswith(("plain.", "scale.dims")):
            continue
        slope = slope_of(entry.output, entry.case, base)
        if slope is None:
            continue
        for digits in (3, 5):
            factor = float(f"{slope * entry.case.head_dim**0.5:.{digits}g}")
            yield hypothesis(f"scale.factor={factor:g}", "wrong", f"scores are {factor:g} times q.k / sqrt(d)",
                             scale_factor=factor)  # fmt: skip
            constant = float(f"{slope:.{digits}g}")
            dim = round(1 / slope**2) if 0 < slope < 10 else 0
            likely = f"the scale is {constant:g} whatever the head dim" + (f": 1/sqrt({dim})" if dim > 1 else "")
            yield hypothesis(f"scale.constant={constant:g}", "wrong", likely, scale="constant", scale_factor=constant)
            if dim > 1:
                yield hypothesis(f"scale.constant=1/sqrt({dim})", "wrong", likely, scale="constant",
                                 scale_factor=dim**-0.5)  # fmt: skip
        return


def slope_of(output: Array, case: Case, base: Variant) -> float | None:
    """Slope of ln W against q.k, centred per row; None where the weights cannot be read."""
    read = _centred(output, case, base)
    if read is None:
        return None
    logs, products = read
    spread = float((products**2).sum())
    return float((logs * products).sum() / spread) if spread else None


def spread_of(output: Array, case: Case, base: Variant, slope: float) -> float:
    """Largest distance of ln W from ``slope`` times q.k: what no scale explains."""
    read = _centred(output, case, base)
    return float("inf") if read is None else float(np.abs(read[0] - slope * read[1]).max())


def _centred(output: Array, case: Case, base: Variant) -> tuple[Array, Array] | None:
    """Ln W and q.k without the mean of their rows; None where the weights cannot be read."""
    weights, products = output[..., : case.kv_length], products_of(case, base)
    if not np.isfinite(weights).all() or (weights <= 1e-30).any():
        return None
    logs = np.log(weights)
    return logs - logs.mean(-1, keepdims=True), products - products.mean(-1, keepdims=True)


def _head_maps(evidence: Evidence, base: Variant) -> Iterator[Hypothesis]:
    key_maps, value_maps = {}, {}
    for entry in evidence.seen:
        if entry.probe.id.startswith("heads.") and not np.isnan(entry.output).any():
            sizes = (entry.case.heads, entry.case.kv_heads)
            value_maps[sizes] = tuple(int(n) for n in entry.output[..., entry.case.kv_length :].sum((0, 2)).argmax(-1))
            key_maps[sizes] = tuple(_best_key_head(entry.case, entry.output, base, h) for h in range(sizes[0]))
    keys = tuple((*sizes, read) for sizes, read in key_maps.items())
    values = tuple((*sizes, read) for sizes, read in value_maps.items())
    if keys:
        shown = list(values[0][2]) if keys[0] == values[0] else f"k{list(keys[0][2])},v{list(values[0][2])}"
        yield hypothesis(f"gqa.map={shown}".replace(" ", ""), "wrong",
                         "query heads read other kv heads than h // (H / Hkv)", key_map=keys,
                         value_map=values)  # fmt: skip


def _best_key_head(case: Case, output: Array, base: Variant, head: int) -> int:
    """The kv head whose keys give the weights of query head ``head``."""
    gaps = []
    for kv_head in range(case.kv_heads):
        one = case.but(
            query=case.query[:, head : head + 1],
            key=case.key[:, kv_head : kv_head + 1],
            value=identity_values(case.batch, 1, case.kv_length),
        )
        gaps.append(np.abs(attend(one, base)[:, 0] - output[:, head, :, : case.kv_length]).max())
    return int(np.argmin(gaps))


def _slopes(evidence: Evidence) -> Iterator[Hypothesis]:
    """With q = 0 the logarithm of neighbouring weights falls by the slope."""
    found = []
    for entry in evidence.seen:
        if entry.probe.id == "alibi.slopes" and not entry.case.query.any() and (entry.output[0, :, -1] > 0).all():
            logs = np.log(entry.output[0, :, -1])
            found.append(
                (entry.case.heads, tuple(float(f"{x:.5g}") for x in (logs[:, -1] - logs[:, 0]) / (logs.shape[1] - 1)))
            )
    if found:
        shown = ",".join(f"{slope:g}" for slope in found[0][1])
        yield hypothesis(f"alibi.slopes=[{shown}]", "wrong", "the formula of the slopes", "alibi", alibi="measured",
                         alibi_slopes=tuple(found))  # fmt: skip
