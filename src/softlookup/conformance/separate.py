"""Names with the same numbers on all calls so far: one more call tells them apart, or sense does; else they stay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from softlookup.conformance.case import Case
from softlookup.conformance.explain import Explanation
from softlookup.conformance.hypotheses.hypothesis import Hypothesis
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.subject import Subject

# what a function that is always causal cannot be said to do: the future is hidden whatever the window says
_NEEDS_A_FUTURE = frozenset({"window.symmetric", "window.leaks_future", "cross_attention.causal"})
_HUGE = {"float16": 6e4, "bfloat16": 1e30, "float32": 1e30, "float64": 1e200}


def separated(found: Explanation, subject: Subject, sizes: Sizes) -> Explanation:
    """The same explanation with fewer names, where there are several."""
    names = [found.hypothesis, *found.also]
    if subject.adapter.always_causal:
        names = [entry for entry in names if entry.key not in _NEEDS_A_FUTURE] or names
    if len(names) > 1 and {"multiply", "fill"} <= {entry.changes.get("fill") for entry in names}:
        names = _of_fills(names, subject, sizes)
    first = names[0]
    if first is found.hypothesis:
        return replace(found, also=names[1:])
    old = {name: getattr(type(found.variant)(), name) for name in found.hypothesis.changes}
    return replace(found, hypothesis=first, also=names[1:], variant=found.variant.but(**{**old, **first.changes}))


def _of_fills(names: list[Hypothesis], subject: Subject, sizes: Sizes) -> list[Hypothesis]:
    """A hidden score beyond all numbers: times 0 it is NaN, written over with a number it is gone."""
    case = overflowing(sizes)
    if case is None or "mask" not in subject.features:
        return names
    open_to_all = subject.run(case.but(mask=np.ones_like(case.mask))).output
    hidden = subject.run(case).output
    if open_to_all is None or hidden is None or not np.isnan(open_to_all).any():
        return names  # computed in wider numbers, or a maximum of inf is survived
    gone = ("fill",) if np.isnan(hidden).any() else ("multiply", "add")
    return [entry for entry in names if entry.changes.get("fill") not in gone] or names


def overflowing(sizes: Sizes) -> Case | None:
    """Three queries and keys; the last key is hidden, and its scores are inf in the dtype that is computed in."""
    huge = _HUGE.get(sizes.dtype)
    if huge is None:
        return None
    case = sizes.case(3, 3, 0)
    query, key = np.zeros_like(case.query), np.zeros_like(case.key)
    query[..., 0], key[:, :, -1, 0] = huge, huge
    mask = np.ones((case.batch, 1, 3, 3), dtype=bool)
    mask[..., -1] = False
    return case.but(query=query, key=key, mask=mask)
