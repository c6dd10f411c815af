"""Whether the published cases tell a wrong attention function from the correct one it was made from.

The measure of the suite itself, for the scoreboard of ``--self-test``; judging a function is :mod:`.run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from softlookup.conformance.adapters import Adapter
from softlookup.conformance.contract import Contract, find_contract
from softlookup.conformance.onnx_cases.published import Published, published_cases
from softlookup.conformance.onnx_cases.run import case_result, prepared
from softlookup.conformance.subject import OutOfBudgetError, Subject
from softlookup.errors import ModelError

Function = Callable[..., Any]
Told = Literal["sees", "blind", "n/a", "not installed"]
_BUDGET = 120.0  # seconds of the clock; the cases take less than one


class PublishedSuite:
    """All cases, read once. ``cases`` is empty, and ``missing`` says why, where they cannot be had."""

    def __init__(self) -> None:
        self.cases: list[Published] = []
        self.missing = ""
        # a correct function's answers are the same for every bug that was planted in it
        self._passed: list[tuple[Function, Contract, list[Published]]] = []
        try:
            self.cases = published_cases()
        except ModelError as error:
            self.missing = str(error)

    def tells(self, wrong: Function, right: Function, contract: str | Contract | Mapping[str, Any]) -> Told:
        """Whether a case that ``right`` passes fails for ``wrong``; the first one that does ends it.

        "n/a": no case can be asked. A case that ``wrong`` has no argument for, or refuses, is no failed one, as for
        ``check --onnx``.
        """
        if self.missing:
            return "not installed"
        wanted = find_contract(contract)
        passed = self._passed_by(right, wanted)
        try:
            subject = _called(wrong, wanted)
            if subject is None:
                return "n/a"
            asked = False
            for case in passed:
                found = case_result(subject, case)
                if found.status == "failed":
                    return "sees"
                asked |= found.status == "passed"
        except OutOfBudgetError:  # whoever runs the suite sees that it hangs
            return "sees"
        return "blind" if asked else "n/a"

    def _passed_by(self, right: Function, contract: Contract) -> list[Published]:
        for known, under, passed in self._passed:
            if known is right and under == contract:
                return passed
        subject = _called(right, contract)
        results = [] if subject is None else [(case, case_result(subject, case)) for case in self.cases]
        passed = [case for case, result in results if result.status == "passed"]
        self._passed.append((right, contract, passed))
        return passed


def _called(function: Function, contract: Contract) -> Subject | None:
    subject = Subject(function, contract, Adapter(), _BUDGET)
    return None if prepared(subject) else subject
