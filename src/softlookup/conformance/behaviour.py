"""How a function behaves besides its numbers: mutated inputs, randomness, memory, strides, neighbours in the batch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from softlookup.conformance.case import Array, Case
from softlookup.conformance.oracle import attend
from softlookup.conformance.sizes import Sizes
from softlookup.conformance.subject import Observation, Subject
from softlookup.conformance.variant import Variant


@dataclass(frozen=True)
class Behaviour:
    """One thing that was tried: "pass", "finding" or "untestable", and the finding's parts."""

    probe: str
    status: str
    reason: str = ""
    code: str = ""
    severity: str = ""
    likely: str = ""
    case: Case | None = None
    measured: str = ""
    expected: str = ""


def behaviours(subject: Subject, sizes: Sizes, right: Variant) -> Iterator[Behaviour]:
    """Everything that needs two calls, or a look at the inputs afterwards."""
    case = _small(sizes, 201).but(causal=subject.adapter.always_causal)
    first = subject.run(case)
    if first.output is None:
        yield Behaviour("call.plain", "untestable", first.error)
        return
    yield _inputs(subject, first, case)
    yield _repeated(subject, sizes, first.output, case, right)
    if "dropout" in subject.features:
        yield _dropout(subject, case, first.output)
    yield _strides(subject, first.output, case)
    if sizes.batch > 1:
        yield _neighbours(subject, sizes, right, case)


def _small(sizes: Sizes, seed: int) -> Case:
    """Two of everything, where sizes can be chosen: enough to show any of this."""
    heads = (2, 2) if sizes.heads == sizes.kv_heads else (4, 2)
    return sizes.case(3, 3, seed, heads=heads[0], kv_heads=heads[1], dim=2)


def _inputs(subject: Subject, first: Observation, case: Case) -> Behaviour:
    changed = first.mutated
    for feature, given in (("sinks", np.linspace(1, 2, case.heads)), ("scale", 0.5)):
        if feature in subject.features and not changed:
            changed = subject.run(case.but(**{feature: given})).mutated
    if "mask" in subject.features and not changed:
        mask = np.tril(np.ones((case.batch, 1, 3, 3), dtype=bool))
        changed = subject.run(case.but(mask=mask)).mutated
    if not changed:
        return Behaviour("input.mutated", "pass")
    names = ",".join(changed)
    return Behaviour("input.mutated", "finding", code=f"input.mutated({names})", severity="wrong", case=case,
                     likely="an in-place operation on an argument: q *= scale, mask.logical_not_()",
                     measured=f"{names} changed by the call", expected="arguments as they were")  # fmt: skip


def _repeated(subject: Subject, sizes: Sizes, first: Array, case: Case, right: Variant) -> Behaviour:
    again = subject.run(case).output
    subject.run(sizes.case(5, 5, 209).but(causal=case.causal))
    later = subject.run(case).output
    if again is None or later is None:
        return Behaviour("call.repeated", "untestable", "the same call was refused the second time")
    if _equal(first, again) and _equal(first, later):
        return Behaviour("call.repeated", "pass")
    gap = float(max(np.nanmax(np.abs(first - again)), np.nanmax(np.abs(first - later))))
    if gap < 1e-5:
        return Behaviour("call.repeated", "finding", code="call.nondeterministic", severity="info", case=case,
                         likely="the order of a sum differs from call to call", measured=f"differences of {gap:.1e}",
                         expected="equal bits")  # fmt: skip
    rate = _dropout_rate(again, attend(case, right))
    if rate is not None:
        return Behaviour("call.repeated", "finding", code=f"dropout.active_in_eval(p~{rate:.2g})", severity="wrong",
                         case=case, likely="dropout(weights) regardless of training; nn.Dropout made in forward",
                         measured=f"a weight is 0 or 1/{1 - rate:.2g} of what it should be",
                         expected="the same numbers twice")  # fmt: skip
    if _equal(first, again):
        code, likely = "call.keeps_state", "a buffer or cache outlives the call"
    else:
        code, likely = "call.nondeterministic", "random numbers, uninitialised memory, or a race"
    return Behaviour("call.repeated", "finding", code=code, severity="wrong", case=case, likely=likely,
                     measured=f"the same call differs by {gap:.2g}", expected="the same numbers twice")  # fmt: skip


def _dropout_rate(found: Array, want: Array) -> float | None:
    """P where every weight is 0 or want / (1 - p)."""
    kept = found > 1e-9
    if kept.all() or not kept.any() or found.shape != want.shape:
        return None
    ratios = found[kept] / np.maximum(want[kept], 1e-12)
    if ratios.std() > 1e-2 * ratios.mean() or ratios.mean() <= 1:
        return None
    return float(1 - 1 / ratios.mean())


def _dropout(subject: Subject, case: Case, first: Array) -> Behaviour:
    found = [subject.run(case.but(dropout=0.5)).output for _ in range(2)]
    if found[0] is None or found[1] is None:
        return Behaviour("dropout.eval", "untestable", "refused a dropout with training off")
    if _equal(found[0], found[1]) and np.allclose(found[0], first, atol=1e-5, equal_nan=True):
        return Behaviour("dropout.eval", "pass")
    gap = float(np.nanmax(np.abs(found[0] - first)))
    return Behaviour("dropout.eval", "finding", code="dropout.active_in_eval", severity="wrong",
                     case=case.but(dropout=0.5), likely="dropout_p is passed on without a look at the training flag",
                     measured=f"differs by {gap:.2g} from the call without dropout", expected="no dropout")  # fmt: skip


def _strides(subject: Subject, first: Array, case: Case) -> Behaviour:
    found = subject.run(case, strided=True)
    if found.output is None:
        return Behaviour("input.strides", "untestable", found.error)
    if np.allclose(found.output, first, atol=1e-3, equal_nan=True):
        return Behaviour("input.strides", "pass")
    gap = float(np.nanmax(np.abs(found.output - first)))
    return Behaviour("input.strides", "finding", code="input.strides_ignored", severity="wrong", case=case,
                     likely="memory is read in storage order: .data_ptr(), ravel('K') or view() of a transposed tensor",
                     measured=f"a transposed view differs from its copy by {gap:.2g}",
                     expected="the same numbers")  # fmt: skip


def _neighbours(subject: Subject, sizes: Sizes, right: Variant, case: Case) -> Behaviour:
    """Other contents in row 1: row 0 must keep its bits."""
    other = _small(sizes, 207)
    mixed = case.but(
        query=np.concatenate([case.query[:1], other.query[1:]]),
        key=np.concatenate([case.key[:1], other.key[1:]]),
        value=np.concatenate([case.value[:1], 3 * other.value[1:]]),
    )
    swapped = [part.but(query=part.query[::-1], key=part.key[::-1], value=part.value[::-1]) for part in (case, mixed)]
    gap = 0.0
    for (one, two), row in (((case, mixed), 0), ((swapped[0], swapped[1]), -1)):
        left, changed = subject.run(one).output, subject.run(two).output
        if left is None or changed is None:
            return Behaviour("batch.neighbours", "untestable", "refused a second call")
        gap = max(gap, float(np.nan_to_num(np.abs(left[row] - changed[row]), nan=1.0).max()))
    if gap == 0.0:
        return Behaviour("batch.neighbours", "pass")
    del right
    if gap < 1e-6:
        return Behaviour("batch.neighbours", "finding", code="batch.rounding", severity="info", case=mixed,
                         likely="a maximum or a sum over the whole batch changes the rounding of every row",
                         measured=f"row 0 moves by {gap:.1g} when row 1 changes", expected="equal bits")  # fmt: skip
    return Behaviour("batch.neighbours", "finding", code="batch.rows_not_independent", severity="leak", case=mixed,
                     likely="a row of the batch reaches another: a shared buffer, a wrong row stride, an axis too many",
                     measured=f"row 0 moves by {gap:.2g} when row 1 changes", expected="equal bits")  # fmt: skip


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.array_equal(one, other, equal_nan=True))
