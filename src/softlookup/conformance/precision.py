"""Arithmetic that is too narrow: q.k that overflows half precision, softmax or accumulation in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from softlookup.conformance.behaviour import Behaviour
from softlookup.conformance.case import Array, Case
from softlookup.conformance.narrow import brain, half
from softlookup.conformance.oracle import attend
from softlookup.conformance.sizes import Sizes, rounded
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import Variant

_HALF_MAX = 65504.0
# relative error of a weight and error of a sum of weights that float32 and half outputs never reach by rounding alone
_WEIGHT = {"float64": 1.5e-3, "float32": 1.5e-3, "float16": 3e-3, "bfloat16": 3e-2}
_SUM = {"float64": 1e-3, "float32": 1e-3, "float16": 4e-3, "bfloat16": 3e-2}
_ROWS = 3000


def precisions(subject: Subject, sizes: Sizes, right: Variant) -> Iterator[Behaviour]:
    """One set of three for every dtype that the contract names and the function takes."""
    for dtype in dict.fromkeys((sizes.dtype, *subject.contract.dtypes)):
        if subject.adapter.dtype not in (None, dtype):
            continue
        own = _smaller(sizes, dtype)
        found = subject.run(own.case(5, 5, 1).but(causal=subject.adapter.always_causal))
        if found.output is None:
            yield Behaviour(f"numeric.{dtype}", "untestable", found.error)
            continue
        overflow = _overflow(subject, own, right)
        yield overflow
        if overflow.status == "finding":  # scores are too narrow: what follows from them is the same mistake
            continue
        softmax = _softmax(subject, own, right)
        yield softmax
        if softmax.status != "finding":
            yield _accumulation(subject, own)


def _smaller(sizes: Sizes, dtype: str) -> Sizes:
    """One head and one batch row where that is allowed: scripts stay short."""
    heads = 1 if sizes.heads == sizes.kv_heads else sizes.heads // sizes.kv_heads
    own = replace(sizes, dtype=dtype, batch=1)
    if sizes.free_heads:
        own = replace(own, heads=heads, kv_heads=1)
    return replace(own, head_dim=4) if sizes.free_dim else own


def _overflow(subject: Subject, sizes: Sizes, right: Variant) -> Behaviour:
    """q.k just below and above the largest half number; scaled, both fit."""
    probe = f"numeric.overflow_{sizes.dtype}"
    cases = []
    for total in (0.9 * _HALF_MAX, 1.3 * _HALF_MAX):
        case = _one_row(subject, sizes, 3)
        size = float(np.floor(np.sqrt(total / case.head_dim)))
        key = np.zeros_like(case.key) + size * np.array([1.0, 0.5, 0.25])[:, None]
        cases.append(case.but(query=np.full_like(case.query, size), key=rounded(key, sizes.dtype)))
    below, above = (subject.run(case).output for case in cases)
    if below is None or above is None:
        return Behaviour(probe, "untestable", "refused large entries")
    if not np.allclose(below, attend(cases[0], right), atol=0.02):
        return Behaviour(probe, "untestable", "wrong for smaller entries already")
    if np.allclose(above, attend(cases[1], right), atol=0.02):
        return Behaviour(probe, "pass")
    got = "NaN" if np.isnan(above).any() else f"{above[0, 0, -1].round(3).tolist()}"
    return Behaviour(probe, "finding", code="numeric.fp16_overflow_qk", severity="unsafe", case=cases[1],
                     likely="q @ k.T in half precision before the scale: scale q first, or accumulate in float32",
                     measured=f"{got} where q.k is {1.3 * _HALF_MAX:.0f}, right at {0.9 * _HALF_MAX:.0f}",
                     expected="[1, 0, 0]: the scaled scores are in range")  # fmt: skip


def _one_row(subject: Subject, sizes: Sizes, keys: int) -> Case:
    rows = 1 if sizes.rectangular else keys
    return sizes.case(rows, keys, 0).but(causal=subject.adapter.always_causal)


def _softmax(subject: Subject, sizes: Sizes, right: Variant) -> Behaviour:
    """Weights one by one: scores of 20 to 29 in half precision are off by 0.008, and so are the weights."""
    probe = f"numeric.softmax_{sizes.dtype}"
    scores = 29.0 - np.linspace(0, 8.7, 14)
    case = sizes.scored(np.tile(scores, (1 if sizes.rectangular else 14, 1)))
    case = case.but(causal=subject.adapter.always_causal)
    found = subject.run(case).output
    if found is None:
        return Behaviour(probe, "untestable", "refused the call")
    got, want = found[0, 0, -1], attend(case, right)[0, 0, -1]
    error = float(np.abs(got / want - 1).max())
    if not error > _WEIGHT[sizes.dtype]:
        return Behaviour(probe, "pass")
    if error > 0.2 or np.isnan(error):
        return Behaviour(probe, "untestable", "weights are wrong by more than rounding")
    name, gap = _closest(scores_of(case), got, sizes.dtype)
    code = name if gap < error / 2 else "numeric.low_precision_weights"
    likely = "scores or softmax in half precision: cast to float32 before subtracting the maximum"
    return Behaviour(probe, "finding", code=code, severity="precision", case=case, likely=likely,
                     measured=f"weights off by {error:.1e} of their size",
                     expected=f"at most {_WEIGHT[sizes.dtype]:.0e}")  # fmt: skip


def scores_of(case: Case) -> Array:
    """Scaled scores of the last row."""
    return np.asarray(case.query[0, 0, -1] @ case.key[0, 0].T / case.head_dim**0.5)


def _closest(scores: Array, got: Array, dtype: str) -> tuple[str, float]:
    """Which narrow arithmetic gives these weights, and how far it is from them (relative)."""
    tried = {}
    for name, narrow in (("fp16", half), ("bf16", brain)):
        held = narrow(scores)
        tried[f"numeric.scores_{name}"] = _shares(held)
        lowered = narrow(held - held.max())
        raised = narrow(np.exp(lowered))
        total = narrow(raised.sum())
        tried[f"numeric.softmax_{name}"] = narrow(raised / total)
        tried[f"numeric.softmax_{name}(after_max)"] = narrow(narrow(np.exp(narrow(scores - scores.max()))) / total)
    gaps = {name: float(np.abs(got / weights - 1).max()) for name, weights in tried.items()}
    best = min(gaps, key=gaps.__getitem__)
    on_grid = any(np.array_equal(narrow(got), got) for narrow in (half, brain))
    # an output of that precision cannot tell scores held in it from a softmax computed in it
    if (dtype in ("float16", "bfloat16") or on_grid) and "scores" in best:
        best = best.replace("scores", "softmax")
        return best, min(gaps.values())
    return best, gaps[best]


def _shares(scores: Array) -> Array:
    raised = np.exp(scores - scores.max())
    return np.asarray(raised / raised.sum())


def _accumulation(subject: Subject, sizes: Sizes) -> Behaviour:
    """V = 1 over ever more keys: the output must stay 1."""
    probe = f"numeric.accumulate_{sizes.dtype}"
    errors = {}
    case = None
    for keys in (375, 1500, _ROWS) if sizes.rectangular else (375, 750):
        case = _long(subject, sizes, keys)
        found = subject.run(case).output
        if found is None:
            return Behaviour(probe, "untestable", f"refused {keys} keys")
        errors[keys] = float(np.nan_to_num(np.abs(found[..., -1, 0] - 1.0), nan=1.0).max())
    worst = max(errors.values())
    if worst <= _SUM[sizes.dtype]:
        return Behaviour(probe, "pass")
    name = _accumulator(errors)
    shown = ", ".join(f"{error:.1e} at {keys}" for keys, error in errors.items())
    return Behaviour(probe, "finding", code=f"numeric.pv_accumulate_{name}", severity="precision", case=case,
                     likely=f"weights @ value summed in {name}: accumulate in float32",
                     measured=f"V = 1 gives 1 with errors of {shown} keys", expected="1")  # fmt: skip


def _long(subject: Subject, sizes: Sizes, keys: int) -> Case:
    rows = 1 if sizes.rectangular else keys
    case = sizes.case(rows, keys, 0, values=np.ones((sizes.batch, sizes.kv_heads, keys, 1)))
    return case.but(query=np.zeros_like(case.query), causal=subject.adapter.always_causal)


def _accumulator(errors: dict[int, float]) -> str:
    """fp16 or bf16, by which a plain running sum of 1/T errs by about as much."""
    gaps = {}
    for name, narrow in (("fp16", half), ("bf16", brain)):
        total = 0.0
        for keys, error in errors.items():
            running = np.float64(0.0)
            share = narrow(np.float64(1 / keys))
            for _ in range(keys):
                running = np.float64(narrow(running + share))
            total += abs(np.log10(max(abs(running - 1), 1e-6)) - np.log10(max(error, 1e-6)))
        gaps[name] = total
    return min(gaps, key=gaps.__getitem__)
