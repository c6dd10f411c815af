"""A report cut into properties: one test id per probe, with the findings that belong to it; not for deciding anything.

Ids are those of the probes, the same on every run. ``call`` is one more: that the function could be called, and
everything found that belongs to no probe.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.conformance.report import Finding
from softlookup.conformance.reporting.baseline import Verdict

CALL = "call"
_UNASKED = ("skipped", "untestable", "vacuous")


@dataclass(frozen=True)
class Property:
    """``status``: "pass", "fail", "accepted" (all its findings are in the baseline), "skipped" or "error"."""

    id: str
    status: str
    findings: tuple[Finding, ...] = ()
    reason: str = ""


def properties_of(verdict: Verdict) -> tuple[Property, ...]:
    """All of them, in the order of the report; ``call`` first."""
    report = verdict.report
    if report.problem:
        return (Property(CALL, "error", reason=report.problem),)
    ids = {probe.id for probe in report.probes}
    homeless = tuple(finding for finding in report.findings if not ids & set(finding.probes))
    found = [_judged(CALL, homeless, verdict)]
    for probe in report.probes:
        if probe.status in _UNASKED:
            found.append(Property(probe.id, "skipped", reason=f"{probe.status}: {probe.reason}"))
            continue
        own = tuple(finding for finding in report.findings if probe.id in finding.probes)
        if probe.status == "finding" and not own:
            found.append(_hidden(probe.id, verdict))
        else:
            found.append(_judged(probe.id, own, verdict))
    return tuple(found)


def _judged(name: str, findings: tuple[Finding, ...], verdict: Verdict) -> Property:
    new = {id(finding) for finding in verdict.open}
    if any(id(finding) in new for finding in findings):
        return Property(name, "fail", findings)
    accepted = [entry.reason or "in the baseline" for finding, entry in verdict.accepted if finding in findings]
    if accepted:
        return Property(name, "accepted", findings, "; ".join(dict.fromkeys(accepted)))
    return Property(name, "pass", findings)


def _hidden(name: str, verdict: Verdict) -> Property:
    """Wrong numbers that were not looked into, since a mistake that changes every call comes first."""
    codes = ", ".join(finding.code for finding in verdict.report.serious)
    if verdict.open:
        return Property(name, "fail", reason=f"wrong numbers, not looked into before {codes} is mended")
    return Property(name, "skipped", reason=f"cannot be judged behind the accepted {codes}")
