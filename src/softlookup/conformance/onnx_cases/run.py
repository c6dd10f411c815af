"""Runs the published cases and counts: passed, failed, not offered; says of every case what was rewritten for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.case import Array, Case
from softlookup.conformance.check import OTHER_LIBRARY
from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.environment import environment
from softlookup.conformance.evidence import find_forms
from softlookup.conformance.onnx_cases.express import Expression, NotOfferedError
from softlookup.conformance.onnx_cases.published import Published, published_cases
from softlookup.conformance.sizes import find_sizes
from softlookup.conformance.subject import OutOfBudgetError, Subject
from softlookup.conformance.variant import right_variant
from softlookup.conformance.visibility import visible

SCHEMA = "softlookup.onnx_cases/1"


@dataclass(frozen=True)
class CaseResult:
    """``status``: "passed", "failed" or "not offered"; ``reason`` for the latter two; what was ``rewritten``."""

    name: str
    status: str
    reason: str = ""
    rewritten: tuple[str, ...] = ()


@dataclass(frozen=True)
class OnnxReport:
    """All cases. ``problem`` says why none could be run."""

    subject: str
    contract: str
    cases: tuple[CaseResult, ...] = ()
    environment: Mapping[str, str] | None = None
    problem: str = ""

    @property
    def passed(self) -> int:
        """Cases with the published numbers."""
        return sum(case.status == "passed" for case in self.cases)

    @property
    def failed(self) -> int:
        """Cases with other numbers."""
        return sum(case.status == "failed" for case in self.cases)

    @property
    def not_offered(self) -> int:
        """Cases that need an argument which the function lacks, or that it refuses."""
        return sum(case.status == "not offered" for case in self.cases)

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        counts = {"passed": self.passed, "failed": self.failed, "not_offered": self.not_offered}
        return {"schema": SCHEMA, **asdict(self), **counts}

    def __str__(self) -> str:
        """One line per case that did not pass plainly, and the counts."""
        lines = [f"{self.subject}  contract {self.contract}  published ONNX Attention cases"]
        if self.problem:
            return "\n".join([*lines, f"COULD NOT TEST  {self.problem}", ""])
        lines += [f"{case.status:12} {case.name:58} {case.reason}".rstrip()
                  for case in self.cases if case.status != "passed"]  # fmt: skip
        rewritten = sum(bool(case.rewritten) for case in self.cases if case.status == "passed")
        lines.append(f"{self.passed} passed ({rewritten} of them rewritten), {self.failed} failed, "
                     f"{self.not_offered} not offered, of {len(self.cases)}")  # fmt: skip
        return "\n".join(lines) + "\n"


def run_onnx_cases(
    fn: Callable[..., Any],
    contract: str | Contract | Mapping[str, Any] | Path = "standard",
    *,
    adapter: Adapter | None = None,
    name: str = "",
    budget: float = 30.0,
) -> OnnxReport:
    """Put every published case to ``fn``, called as :func:`check_fn` calls it.

    ``contract`` says how the function is called: layout, alignment of its causal argument, windows.
    Raises ``ModelError`` without the package onnx.
    """
    wanted = find_contract(contract)
    subject = Subject(fn, wanted, adapter or Adapter(), budget)
    published = published_cases()
    where = environment("onnx") | environment(subject.framework)
    try:
        problem = prepared(subject)
        if problem:
            return OnnxReport(name, wanted.name, environment=where, problem=problem)
        cases = tuple(case_result(subject, case) for case in published)
    except OutOfBudgetError as error:
        return OnnxReport(name, wanted.name, environment=where, problem=f"call.hangs: {error}")
    return OnnxReport(name, wanted.name, cases, where)


def prepared(subject: Subject) -> str:
    """Find out how the function is called: sizes, library, forms of masks and windows; says why no call worked."""
    sizes, refused = find_sizes(subject)
    if sizes is None and subject.contract.framework == "auto" and subject.framework in OTHER_LIBRARY:
        subject.use(OTHER_LIBRARY[subject.framework])  # the code does not always say which library it is for
        sizes, also_refused = find_sizes(subject)
        refused += also_refused
    if sizes is None:
        return f"call.raises: no call worked ({'; '.join(refused[:2])})"
    find_forms(subject, sizes)
    return ""


def case_result(subject: Subject, published: Published) -> CaseResult:
    """One case put to a function that is :func:`prepared`."""
    expression = Expression(subject.contract, subject.features, subject.arguments.window_form)
    try:
        reason = _differs(subject, published, expression)
    except NotOfferedError as error:
        return CaseResult(published.name, "not offered", str(error), tuple(expression.rewritten))
    return CaseResult(published.name, "failed" if reason else "passed", reason, tuple(expression.rewritten))


def _differs(subject: Subject, published: Published, expression: Expression) -> str:
    """Where the numbers are other ones; "" where they are not."""
    want = published.outputs["Y"]
    got = np.full(_four(want, published).shape, np.nan)
    for case, row in expression.calls(published):
        got[row : row + case.batch] = _asked(subject, case, expression)
    reason = _gap("Y", got, _four(want, published), published)
    if reason or "qk_matmul_output" not in published.outputs:
        return reason
    weights = _asked(subject, expression.read_out(published), expression)
    scores = published.outputs["qk_matmul_output"]
    mode = published.attributes.get("qk_matmul_output_mode", 0)
    return _gap("qk_matmul_output", weights, scores if mode == 3 else _softmax(scores), published)


def _asked(subject: Subject, case: Case, expression: Expression) -> Array:
    """The output, with zeros in rows without keys where the function's contract has another rule for them."""
    found = subject.run(case)
    if found.output is None:
        raise NotOfferedError(f"refused: {found.error}")
    if subject.contract.dead_row == "zero":
        return found.output
    seen = visible(case, right_variant(subject.contract))  # masks, windows and causality together may leave none
    alive = (seen if case.bias is None else seen & (case.bias > -np.inf)).any(-1, keepdims=True)
    if not alive.all():
        expression.note("rows without keys left out")
    return np.where(alive, found.output, 0.0)


def _gap(name: str, got: Array, want: Array, published: Published) -> str:
    if np.allclose(got, want, rtol=published.rtol, atol=published.atol):
        return ""
    gap = np.abs(got - want)
    return f"{name} is NaN" if np.isnan(gap).any() else f"{name} differs by {gap.max():.2g}"


def _four(given: Array, published: Published) -> Array:
    """Output Y as [B, H, T, D]."""
    if given.ndim == 4:
        return given
    heads = int(published.attributes["q_num_heads"])
    return given.reshape(*given.shape[:2], heads, -1).transpose(0, 2, 1, 3)


def _softmax(scores: Array) -> Array:
    """The weights of published scores: an output shows scores up to a constant per row."""
    top = scores.max(-1, keepdims=True)
    raised = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
    total = raised.sum(-1, keepdims=True)
    return np.asarray(np.where(total > 0, raised / np.where(total > 0, total, 1.0), 0.0))
