"""Which mistakes explain all observations: one if one does, one on a code path next, then the fewest that do.

A hypothesis is accepted only when it gives the observed numbers on every call that it touches, those that conform too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from softlookup.conformance.case import Case
from softlookup.conformance.evidence import Evidence, Seen
from softlookup.conformance.hypotheses.hypothesis import Hypothesis
from softlookup.conformance.variant import Variant
from softlookup.conformance.visibility import CONDITIONS, condition

_MOST = 3  # mistakes at once
_HIDING = frozenset({"causal", "mask", "window", "kv_len", "segments"})


@dataclass
class Explanation:
    """A mistake, the calls it explains, names with the same numbers on all of them, and the path it is on."""

    hypothesis: Hypothesis
    variant: Variant
    explains: list[int]
    also: list[Hypothesis] = field(default_factory=list)
    when: str = ""


def explain(
    evidence: Evidence,
    right: Variant,
    hypotheses: list[Hypothesis],
    measured: Callable[[Evidence, Variant, list[int]], Iterable[Hypothesis]],
) -> tuple[list[Explanation], list[int]]:
    """Explanations, and the calls that stay unexplained. ``measured`` makes hypotheses out of observed numbers."""
    found: list[Explanation] = []
    base = right
    for _ in range(_MOST):
        failing = evidence.failing(base)
        if not failing:
            return found, []
        more = list(measured(evidence, base, failing))
        whole = _whole(evidence, base, failing, hypotheses) or _whole(evidence, base, failing, more)
        partial = None if whole else _Partial(evidence, base, failing, [*hypotheses, *more])
        if partial is not None:
            whole = partial.on_a_path()
        if whole is not None:
            return [*found, whole], []
        part = partial.best() if partial is not None else None
        if part is None:
            return found, failing
        found.append(part)
        base = part.variant
    return found, evidence.failing(base)


def touches(hypothesis: Hypothesis, case: Case) -> bool:
    """Whether a call can differ at all under ``hypothesis``; cheap, and never False by mistake."""
    if not hypothesis.needs <= case.features:
        return False
    changes = hypothesis.changes
    if changes.get("tile") == "pad":
        return bool(case.kv_length % changes["block"])
    if "tile" in changes:
        return bool(case.kv_length > changes["block"])
    if "fill" in changes or "hide" in changes:
        return bool(case.features & _HIDING)
    return True


def _whole(
    evidence: Evidence, base: Variant, failing: list[int], hypotheses: Iterable[Hypothesis]
) -> Explanation | None:
    """The first hypothesis that explains everything, with all others that do so too."""
    failed = set(failing)
    passing = [index for index in range(len(evidence.seen)) if index not in failed]
    order = _spread(evidence, failing)
    roots = []
    for hypothesis in hypotheses:
        variant = base.but(**hypothesis.changes)
        if all(
            touches(hypothesis, evidence.seen[index].case) and evidence.matches(index, variant) for index in order
        ) and all(
            not touches(hypothesis, evidence.seen[index].case) or evidence.matches(index, variant) for index in passing
        ):
            roots.append(hypothesis)
    if not roots:
        return None
    first = roots[0]
    others = [root for root in roots[1:] if root.key != first.key]
    return Explanation(first, base.but(**first.changes), failing, others)


def _spread(evidence: Evidence, indexes: list[int]) -> list[int]:
    """Small calls first, one of every probe before the second of any: wrong hypotheses fail early."""
    turns: dict[str, int] = {}
    keyed = []
    for index in indexes:
        entry = evidence.seen[index]
        turn = turns[entry.probe.id] = turns.get(entry.probe.id, 0) + 1
        keyed.append((turn, entry.output.size, index))
    return [index for _, _, index in sorted(keyed)]


def _kind(entry: Seen) -> tuple[frozenset[str], str, bool, bool]:
    """Calls that a mistake must explain together: the same arguments, square or not, nothing extreme about numbers."""
    area, case = entry.probe.id.split(".")[0], entry.case
    extreme = area if area in ("masked_value", "hidden", "dead_row", "softmax", "tile") else ""
    return case.features, extreme, case.q_length == case.kv_length, case.q_length == 1


class _Partial:
    """Hypotheses that explain some of the failing calls."""

    def __init__(self, evidence: Evidence, base: Variant, failing: list[int], hypotheses: list[Hypothesis]) -> None:
        self.evidence, self.base, self.failing = evidence, base, set(failing)
        self.rows: list[tuple[Hypothesis, list[bool]]] = []
        for hypothesis in hypotheses:
            variant = base.but(**hypothesis.changes)
            if any(evidence.matches(index, variant) for index in self._sample(hypothesis)):
                self.rows.append((hypothesis, [
                    evidence.matches(index, variant if touches(hypothesis, entry.case) else base)
                    for index, entry in enumerate(evidence.seen)
                ]))  # fmt: skip

    def _sample(self, hypothesis: Hypothesis) -> list[int]:
        """A few failing calls, one of which a true hypothesis must explain: plain ones if those fail."""
        seen = self.evidence.seen
        touched = [index for index in self.failing if touches(hypothesis, seen[index].case)]
        if {"tile", "merge"} & set(hypothesis.changes):
            touched = [index for index in touched if seen[index].probe.id.startswith("tile.")]
        plain = [index for index in touched if not seen[index].case.features - hypothesis.needs]
        return _spread(self.evidence, plain or touched)[:8]

    def on_a_path(self) -> Explanation | None:
        """One mistake made only where a condition holds: with a mask, beyond a length, at some head dims."""
        seen = self.evidence.seen
        passes = [index not in self.failing for index in range(len(seen))]
        for name, holds in self._conditions():
            taken = [holds(entry.case) for entry in seen]
            if all(taken):
                continue
            for hypothesis, row in self.rows:
                if any(switch.endswith("_when") for switch in hypothesis.changes):
                    continue  # has a condition of its own
                if all(row[i] if taken[i] else passes[i] for i in range(len(seen))):
                    return Explanation(hypothesis, self.base.but(**hypothesis.changes), sorted(self.failing), when=name)
        return None

    def _conditions(self) -> Iterator[tuple[str, Callable[[Case], bool]]]:
        for name in CONDITIONS:
            yield name, lambda case, name=name: condition(name, case)  # type: ignore[misc]
        measures: dict[str, Callable[[Case], int]] = {
            "Tk": lambda case: case.kv_length, "Tq": lambda case: case.q_length, "D": lambda case: case.head_dim,
            "H": lambda case: case.heads,
        }  # fmt: skip
        for word, measure in measures.items():
            values = sorted({measure(entry.case) for entry in self.evidence.seen})
            for low in values[:-1]:
                yield f"{word}>{low}", lambda case, m=measure, low=low: m(case) > low  # type: ignore[misc]
                yield f"{word}<={low}", lambda case, m=measure, low=low: m(case) <= low  # type: ignore[misc]
            for number in (2, 4, 8, 16, 32, 64):
                yield f"{word}%{number}!=0", lambda case, m=measure, n=number: m(case) % n != 0  # type: ignore[misc]

    def best(self) -> Explanation | None:
        """The one that explains most and contradicts nothing, on all calls with the same arguments."""
        best: tuple[int, Hypothesis, list[int]] | None = None
        for hypothesis, row in self.rows:
            gained = [index for index in self.failing if row[index]]
            # another mistake may come on top of this one where scores are extreme
            kinds = {_kind(self.evidence.seen[index]) for index in gained}
            kinds = {kind for kind in kinds if kind[1] not in ("softmax", "hidden")} or kinds
            spoiled = [
                index
                for index, entry in enumerate(self.evidence.seen)
                if not row[index] and (index not in self.failing or _kind(entry) in kinds)
            ]
            if gained and not spoiled and (best is None or len(gained) > best[0]):
                best = (len(gained), hypothesis, sorted(gained))
        if best is None:
            return None
        return Explanation(best[1], self.base.but(**best[1].changes), best[2])
