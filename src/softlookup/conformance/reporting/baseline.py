"""Accepted deviations: a file of codes that do not fail, and what became of them; not for hiding anything new.

An entry holds for one function and contract, for one stable code, up to the severity it was accepted with. An unknown
mistake is accepted only on the probes it was seen on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from softlookup.conformance.hypotheses.hypothesis import SEVERITIES
from softlookup.conformance.report import Finding, Report
from softlookup.conformance.reporting.stable import stable_code
from softlookup.errors import UsageError

SCHEMA = "softlookup.baseline/1"


@dataclass(frozen=True)
class Accepted:
    """One deviation that is known. ``reason`` is for people; ``probes`` only for unknown mistakes."""

    subject: str
    contract: str
    code: str
    severity: str
    reason: str = ""
    probes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise UsageError(f"a severity must be one of {', '.join(SEVERITIES)}, got {self.severity!r}",
                             "write the baseline again with --write-baseline")  # fmt: skip

    def covers(self, report: Report, finding: Finding) -> bool:
        """Whether this is that deviation, and no worse."""
        if (self.subject, self.contract, self.code) != (report.subject, report.contract, stable_code(finding)):
            return False
        if SEVERITIES.index(finding.severity) < SEVERITIES.index(self.severity):
            return False
        return finding.named or set(finding.probes) <= set(self.probes)


@dataclass(frozen=True)
class Baseline:
    """All entries of a file."""

    accepted: tuple[Accepted, ...] = ()

    def with_report(self, report: Report) -> Baseline:
        """The same with the findings of ``report`` in place of older entries of its function; reasons are kept."""
        others = [entry for entry in self.accepted if not _same_run(entry, report)]
        reasons = {entry.code: entry.reason for entry in self.accepted if _same_run(entry, report)}
        found: dict[str, Accepted] = {}
        for finding in report.serious:
            code = stable_code(finding)
            probes = () if finding.named else finding.probes
            entry = Accepted(report.subject, report.contract, code, finding.severity, reasons.get(code, ""), probes)
            found[code] = _worst(found.get(code), entry)
        entries = [*others, *found.values()]
        return Baseline(tuple(sorted(entries, key=lambda entry: (entry.subject, entry.contract, entry.code))))

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        rows = [{name: value for name, value in asdict(entry).items() if name != "probes" or value}
                for entry in self.accepted]  # fmt: skip
        return {"schema": SCHEMA, "accepted": rows}


@dataclass(frozen=True)
class Verdict:
    """A report seen through a baseline: what is accepted, what is not, and which entries no longer occur."""

    report: Report
    accepted: tuple[tuple[Finding, Accepted], ...] = ()
    gone: tuple[Accepted, ...] = ()

    @property
    def open(self) -> tuple[Finding, ...]:
        """Serious findings that nobody accepted."""
        known = [id(finding) for finding, _ in self.accepted]
        return tuple(finding for finding in self.report.serious if id(finding) not in known)

    @property
    def passed(self) -> bool:
        """Something was tested, and nothing new was found."""
        return not self.report.problem and not self.open

    def to_dict(self) -> dict[str, Any]:
        """What the baseline adds to the JSON of a report."""
        return {
            "passed": self.passed,
            "accepted": [{"code": finding.code, "reason": entry.reason} for finding, entry in self.accepted],
            "new": [finding.code for finding in self.open],
            "gone": [entry.code for entry in self.gone],
        }

    def __str__(self) -> str:
        """Lines below the text of the report."""
        lines = [f"accepted  {finding.code}{f'  ({entry.reason})' if entry.reason else ''}"
                 for finding, entry in self.accepted]  # fmt: skip
        for entry in self.gone:
            hidden = " (another finding may hide it)" if self.open else "; remove it from the baseline"
            lines.append(f"no longer found  {entry.code}{hidden}")
        lines.append(f"{len(self.accepted)} accepted, {len(self.open)} new, {len(self.gone)} no longer found")
        return "\n".join(lines) + "\n"


def verdict_of(report: Report, baseline: Baseline | None = None) -> Verdict:
    """Which findings the baseline accepts. Nothing is gone where nothing could be tested."""
    entries = baseline.accepted if baseline else ()
    accepted = []
    for finding in report.serious:
        entry = next((entry for entry in entries if entry.covers(report, finding)), None)
        if entry is not None:
            accepted.append((finding, entry))
    still = {stable_code(finding) for finding in report.findings}
    gone = [entry for entry in entries if _same_run(entry, report) and entry.code not in still]
    return Verdict(report, tuple(accepted), () if report.problem else tuple(gone))


def read_baseline(path: Path) -> Baseline:
    """The entries of a file. Raises ``UsageError``."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"the baseline {path} cannot be read ({error})", "make one with --write-baseline") from error
    rows = found.get("accepted") if isinstance(found, dict) and found.get("schema") == SCHEMA else None
    if not isinstance(rows, list):
        raise UsageError(f"{path} is no baseline of {SCHEMA}", "make one with --write-baseline")
    return Baseline(tuple(_entry(row, path) for row in rows))


def _entry(row: object, path: Path) -> Accepted:
    words = ("subject", "contract", "code", "severity")
    if not isinstance(row, Mapping) or not all(isinstance(row.get(word), str) for word in words):
        raise UsageError(f"an entry of {path} lacks {', '.join(words)}", "make it anew with --write-baseline")
    probes = row.get("probes", ())
    if not isinstance(probes, list | tuple) or not all(isinstance(probe, str) for probe in probes):
        raise UsageError(f"probes in {path} must be a list of names", "make it anew with --write-baseline")
    subject, contract, code, severity = (str(row[word]) for word in words)
    return Accepted(subject, contract, code, severity, str(row.get("reason", "")), tuple(probes))


def _same_run(entry: Accepted, report: Report) -> bool:
    return (entry.subject, entry.contract) == (report.subject, report.contract)


def _worst(one: Accepted | None, other: Accepted) -> Accepted:
    if one is None:
        return other
    probes = tuple(dict.fromkeys((*one.probes, *other.probes)))
    worst = min((one.severity, other.severity), key=SEVERITIES.index)
    return replace(one, severity=worst, probes=probes)
