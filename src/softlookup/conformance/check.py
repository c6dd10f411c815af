"""``check_fn``: asks an attention function everything its arguments allow, and names what is wrong with it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.assumptions import rotary
from softlookup.conformance.behaviour import Behaviour, behaviours
from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.environment import environment
from softlookup.conformance.evidence import Evidence, agrees, gather
from softlookup.conformance.explain import Explanation, explain
from softlookup.conformance.hypotheses import all_hypotheses
from softlookup.conformance.hypotheses.rotary import of_rotary
from softlookup.conformance.measured import Measured
from softlookup.conformance.oracle import attend
from softlookup.conformance.precision import precisions
from softlookup.conformance.present import Presenter
from softlookup.conformance.read_off import operator
from softlookup.conformance.report import Finding, ProbeResult, Report, by_severity
from softlookup.conformance.rope import wanted_rotation
from softlookup.conformance.separate import separated
from softlookup.conformance.sizes import Sizes, find_sizes
from softlookup.conformance.subject import OutOfBudgetError, Subject
from softlookup.conformance.variant import Variant, right_variant

_UNSTABLE = ("dropout.", "call.")
OTHER_LIBRARY = {"numpy": "torch", "torch": "numpy"}
# probes with large scores or many keys, which fail when the arithmetic is narrow
_EXTREME = {"hidden", "tile", "softmax", "masked_value"}


def check_fn(
    fn: Callable[..., Any],
    contract: str | Contract | Mapping[str, Any] | Path = "standard",
    *,
    adapter: Adapter | None = None,
    name: str = "",
    adapter_name: str = "",
    budget: float = 30.0,
) -> Report:
    """Read the operator that ``fn(query, key, value, ...)`` computes and compare it with ``contract``.

    ``contract``: a preset's name, a JSON file, a mapping or a :class:`Contract`. ``adapter`` says what the signature
    does not: argument names, sizes that cannot be chosen. ``name`` and ``adapter_name``: "module:function" and
    "module:adapter" for the scripts in findings. ``budget`` seconds for all calls. Never raises for what ``fn`` does;
    raises ``UsageError`` for wrong arguments.
    """
    wanted = find_contract(contract)
    adapter, right = adapter or Adapter(), right_variant(wanted)
    if adapter.rotates:
        rotation = wanted_rotation(wanted.rope)[0]
        adapter, right = replace(adapter, head_dim=rotation.dim), right.but(rotary=rotation)
    subject = Subject(fn, wanted, adapter, budget)
    name = name or name_of(fn)
    started = time.monotonic()
    try:
        report = _Check(subject, wanted, right, name, adapter_name).run()
    except OutOfBudgetError as error:
        report = Report(name, wanted.name, problem=f"call.hangs: {error}", environment=environment(subject.framework))
    return replace(report, environment={**report.environment, "seconds": f"{time.monotonic() - started:.1f}",
                                        "calls": str(subject.calls)})  # fmt: skip


def name_of(fn: Callable[..., Any]) -> str:
    """module:function, or what else it is."""
    return f"{getattr(fn, '__module__', None) or ''}:{getattr(fn, '__qualname__', f'<{type(fn).__name__} object>')}"


class _Check:
    """One run of all probes over one subject."""

    def __init__(self, subject: Subject, contract: Contract, right: Variant, name: str, adapter_name: str = "") -> None:
        self.subject, self.contract, self.right, self.name = subject, contract, right, name
        self.adapter_name = adapter_name
        self.environment = environment(subject.framework)

    def run(self) -> Report:
        sizes, refused = find_sizes(self.subject)
        if sizes is None and self.contract.framework == "auto" and self.subject.framework in OTHER_LIBRARY:
            # the code does not always say which library it is for
            self.subject.use(OTHER_LIBRARY[self.subject.framework])
            sizes, also_refused = find_sizes(self.subject)
            refused += also_refused
        if sizes is None:
            return self._nothing(refused)
        self.environment.update(device="cpu", dtype=sizes.dtype)
        if self._only_nan(sizes):
            finding = Finding("call.nan", "unsafe", "0/0, inf - inf or uninitialised memory on an ordinary call",
                              "NaN or infinite everywhere", "numbers")  # fmt: skip
            return Report(self.name, self.contract.name, (finding,), environment=self.environment)
        tried = list(behaviours(self.subject, sizes, self.right))
        unstable = [entry for entry in tried if entry.severity == "wrong" and entry.code.startswith(_UNSTABLE)]
        if unstable:  # a function that answers differently each time has no operator to be read
            return self._report(sizes, Evidence([], {}, [], {}, []), [], [], unstable[:1])
        evidence, found, left = self._judge(sizes)
        neighbours = [entry for entry in tried if entry.code == "batch.rows_not_independent"]
        if neighbours and left and sizes.batch > 1:
            sizes = replace(sizes, batch=1)  # the rest is looked at without neighbours
            evidence, found, left = self._judge(sizes)
            left = []  # a row that is mixed with others is mixed with itself as well
        elif neighbours and found:
            tried = [entry for entry in tried if entry not in neighbours]  # what it follows from has a name
        failing = evidence.failing(self.right)
        if (left or not failing) and all(self._narrow(evidence, index) for index in failing):
            narrow = list(precisions(self.subject, sizes, self.right))
            tried += narrow
            if any(entry.status == "finding" for entry in narrow):
                found, left = [], []  # wrong only for large numbers and long rows: too narrow an arithmetic
        elif _first_order(evidence, found):
            left = []
        return self._report(sizes, evidence, found, left, tried)

    def _nothing(self, refused: list[str]) -> Report:
        """No call gave an output of the right shape."""
        kinds = list(dict.fromkeys(line.split(": ", 1)[-1] for line in refused))
        odd = next((kind for kind in kinds if kind.startswith("returned ")), None)
        if odd is None:
            said = "; ".join(kinds[:3])
            problem = f"call.raises: no call worked ({said}); an adapter can fix sizes, layout and names"
            return Report(self.name, self.contract.name, problem=problem, environment=self.environment)
        code = "call.shape" if "shape" in odd else "call.returns"
        finding = Finding(code, "wrong", "the output's layout, or an adapter with another layout is needed",
                          odd.removeprefix("returned ").split(", wanted")[0], odd.rpartition("wanted ")[2])  # fmt: skip
        return Report(self.name, self.contract.name, (finding,), environment=self.environment)

    def _only_nan(self, sizes: Sizes) -> bool:
        case = sizes.case(5, 5, 1).but(causal=self.subject.adapter.always_causal)
        found = self.subject.run(case).output
        return found is not None and bool(np.isnan(found).all())

    def _narrow(self, evidence: Evidence, index: int) -> bool:
        """A call that narrow arithmetic alone can spoil: extreme, or off by little."""
        entry = evidence.seen[index]
        extreme = entry.probe.id.split(".")[0] in _EXTREME
        return extreme or agrees(entry.output, attend(entry.case, self.right), 0.02)

    def _judge(self, sizes: Sizes) -> tuple[Evidence, list[Explanation], list[int]]:
        evidence = gather(self.subject, sizes, self.right)
        hypotheses = all_hypotheses(self.contract)
        if self.right.rotary is not None:
            hypotheses = [*of_rotary(self.right.rotary), *hypotheses]
        if sizes.batch == 1:  # no other row to share with
            hypotheses = [entry for entry in hypotheses if entry.changes.get("axis") != "batch"]
        found, left = explain(evidence, self.right, hypotheses, Measured(self.subject, sizes))
        return evidence, [separated(entry, self.subject, sizes) for entry in found], left

    def _report(
        self, sizes: Sizes, evidence: Evidence, found: list[Explanation], left: list[int], tried: list[Behaviour]
    ) -> Report:
        presenter = Presenter(self.subject, sizes, self.right, evidence, self.name, self.adapter_name)
        findings = [presenter.explained(entry) for entry in found]
        if left:
            findings.append(presenter.unknown(left, after=[entry.hypothesis.code for entry in found]))
        findings += [presenter.behaved(entry) for entry in tried if entry.status == "finding"]
        findings += presenter.odd(found)
        return Report(
            self.name,
            self.contract.name,
            by_severity(findings),
            tuple(_probes(evidence, self.right, tried)),
            operator(evidence, self.right, found),
            self.environment | ({} if self.right.rotary is None else {"rotation": rotary(self.right.rotary)}),
        )


def _first_order(evidence: Evidence, found: list[Explanation]) -> bool:
    """A mistake that changes every call: what it leaves unexplained can be asked once it is gone."""
    plain = {index for index, entry in enumerate(evidence.seen) if not entry.case.features}
    return any(len(plain & set(entry.explains)) > 8 and not entry.hypothesis.needs for entry in found)


def _probes(evidence: Evidence, right: Variant, tried: list[Behaviour]) -> list[ProbeResult]:
    failing = {evidence.seen[index].probe.id for index in evidence.failing(right)}
    asked = dict.fromkeys(entry.probe.id for entry in evidence.seen)
    found = [ProbeResult(probe, "finding" if probe in failing else "pass") for probe in asked]
    found += [ProbeResult(probe, "skipped", reason) for probe, reason in evidence.skipped.items()]
    found += [ProbeResult(probe, "untestable", reason) for probe, reason in evidence.refused.items()]
    found += [ProbeResult(probe, "vacuous", "the feature makes no difference at these sizes")
              for probe in evidence.vacuous]  # fmt: skip
    return found + [ProbeResult(entry.probe, entry.status, entry.reason) for entry in tried]


__all__ = ["Finding", "check_fn"]
