"""A check as many tests: the ids are known without calling the function, the check runs once, at the first of them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from softlookup.conformance.adapters import Adapter, read_signature
from softlookup.conformance.check import check_fn, name_of
from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.probes import build_probes
from softlookup.conformance.reporting.baseline import Verdict, read_baseline, verdict_of
from softlookup.conformance.reporting.properties import CALL, Property, properties_of
from softlookup.conformance.sizes import Sizes
from softlookup.errors import UsageError

# what is looked at besides the numbers of single calls
_BEHAVIOURS = ("input.mutated", "call.repeated", "input.strides", "batch.neighbours")
_NUMERIC = ("overflow", "softmax", "accumulate")


@dataclass
class MarkedCheck:
    """One function, contract and baseline; ``ids`` before, ``property_of`` after it was called."""

    function: Callable[..., Any]
    name: str
    contract: Contract
    adapter: Adapter
    baseline: Path | None
    budget: float

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Properties that the function's arguments allow to ask, the same on every run."""
        features = read_signature(self.function, self.adapter).features
        features |= {"causal"} if self.adapter.always_causal else set()
        shapes = (Sizes(), Sizes(heads=3, kv_heads=3))  # grouped heads are asked otherwise where there are none
        found = [CALL, *_BEHAVIOURS, *(["dropout.eval"] if "dropout" in features else [])]
        for sizes in shapes:
            found += [probe.id for probe in build_probes(sizes, self.contract) if probe.needs <= features]
        for dtype in (self.adapter.dtype,) if self.adapter.dtype else self.contract.dtypes:
            found += [f"numeric.{kind}_{dtype}" for kind in _NUMERIC]
        return tuple(dict.fromkeys(found))

    @cached_property
    def verdict(self) -> Verdict:
        """The check itself, run once."""
        report = check_fn(self.function, self.contract, adapter=self.adapter, name=self.name, budget=self.budget)
        return verdict_of(report, read_baseline(self.baseline) if self.baseline else None)

    def property_of(self, name: str) -> Property:
        """What became of one id. A problem is told once; what belongs to no id is told under ``call``."""
        found = {entry.id: entry for entry in properties_of(self.verdict)}
        if name == CALL:
            return self._call(found)
        if self.verdict.report.problem:
            return Property(name, "skipped", reason=f"could not test: see {CALL}")
        return found.get(name, Property(name, "skipped", reason="not asked of this function"))

    def _call(self, found: Mapping[str, Property]) -> Property:
        first = found[CALL]
        others = [entry for entry in found.values() if entry.id not in self.ids and entry.status == "fail"]
        if not others:
            return first
        findings = (*first.findings, *(finding for entry in others for finding in entry.findings))
        return replace(others[0], id=CALL, findings=_once(findings))


def _once(findings: tuple[Any, ...]) -> tuple[Any, ...]:
    """Without repetitions; findings hold lists, so that they cannot be put into a set."""
    return tuple({id(finding): finding for finding in findings}.values())


def marked_check(
    function: str | Callable[..., Any] | None = None,
    contract: str | Contract | Mapping[str, Any] | Path = "standard",
    *,
    adapter: Adapter | None = None,
    baseline: str | Path | None = None,
    budget: float = 30.0,
    root: Path | None = None,
) -> MarkedCheck:
    """The check that a marker asks for; relative paths start at ``root``. Raises ``UsageError``."""
    if function is None:
        raise UsageError("the marker needs function=", 'a function, or "module:function"')
    called = _loaded(function) if isinstance(function, str) else function
    name = function if isinstance(function, str) else name_of(function)
    path = None if baseline is None else (root or Path.cwd()) / baseline
    return MarkedCheck(called, name, find_contract(contract), adapter or Adapter(), path, float(budget))


def _loaded(spec: str) -> Callable[..., Any]:
    module, colon, path = spec.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"a function is named module:function, got {spec!r}", "e.g. mypackage.attention:attend")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not callable(found):
        raise UsageError(f"{spec} is no function", "e.g. mypackage.attention:attend")
    return found  # type: ignore[no-any-return]
