"""The outcome of one probe of a model, and the findings it may lead to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softlookup.conformance.report import Finding
from softlookup.conformance.reports import reports_of


@dataclass(frozen=True)
class Verdict:
    """``status`` as of a ProbeResult; ``finding`` where it is "finding"."""

    probe: str
    status: str
    reason: str = ""
    finding: Finding | None = None


def passed(probe: str, reason: str = "") -> Verdict:
    """Nothing wrong."""
    return Verdict(probe, "pass", reason)


def skipped(probe: str, reason: str) -> Verdict:
    """Not asked."""
    return Verdict(probe, "skipped", reason)


def vacuous(probe: str, reason: str) -> Verdict:
    """Asked in a way that shows nothing: no pass."""
    return Verdict(probe, "vacuous", reason)


def finding_key(code: str) -> str:
    """``area.item`` of a code."""
    return code.partition("(")[0].partition("=")[0]


def found(
    probe: str, code: str, severity: str, likely: str, measured: str, expected: str, **shown: Any
) -> Verdict:  # fmt: skip
    """A finding; ``shown`` is the input that shows it. The code "unknown" has no name."""
    key = finding_key(code)
    finding = Finding(code, severity, likely, measured, expected, named=key != "unknown", input=shown, probes=(probe,),
                      reports=reports_of(key))  # fmt: skip
    return Verdict(probe, "finding", finding=finding)
