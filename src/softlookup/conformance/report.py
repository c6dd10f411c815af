"""What a check found: findings with their numbers, the probes that were tried, the environment; no judgement here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from softlookup.conformance.hypotheses.hypothesis import SEVERITIES

SCHEMA = "softlookup.conformance/1"


@dataclass(frozen=True)
class Finding:
    """One mistake. ``named`` False: the numbers are wrong and no known mistake gives them.

    ``measured`` beside ``expected``; ``input``: the smallest call found that shows it; ``script`` reproduces it
    without this package; ``also``: names with the same numbers on every call; ``probes`` that it explains.
    """

    code: str
    severity: str
    likely: str
    measured: str
    expected: str
    named: bool = True
    input: dict[str, Any] = field(default_factory=dict)
    script: str = ""
    also: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    assumed: str = ""
    rows: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """``area.item``: the stable part of the code."""
        return self.code.split("(")[0].split("=")[0]


@dataclass(frozen=True)
class ProbeResult:
    """One thing that was asked: "pass", "finding", "skipped", "untestable" or "vacuous", and why."""

    id: str
    status: str
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """Result of a check. ``problem`` says why nothing could be tested; then there are no findings."""

    subject: str
    contract: str
    findings: tuple[Finding, ...] = ()
    probes: tuple[ProbeResult, ...] = ()
    operator: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    problem: str = ""
    schema: str = SCHEMA

    @property
    def conforms(self) -> bool:
        """Something was tested, and nothing above "info" was found."""
        return not self.problem and not self.serious

    @property
    def serious(self) -> tuple[Finding, ...]:
        """Findings that are more than information."""
        return tuple(finding for finding in self.findings if finding.severity != "info")

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "conforms": self.conforms}

    def __str__(self) -> str:
        """The report as text."""
        return self.text()

    def text(self, *, verbose: bool = False) -> str:
        """The report for people; ``verbose`` lists what was not asked, with what the function raised."""
        from softlookup.conformance.render import report_text

        return report_text(self, verbose=verbose)


def by_severity(findings: list[Finding]) -> tuple[Finding, ...]:
    """Worst first."""
    return tuple(sorted(findings, key=lambda finding: SEVERITIES.index(finding.severity)))
