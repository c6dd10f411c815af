"""A report as text: verdict first, worst finding next, one script per finding."""

from __future__ import annotations

from softlookup.conformance.report import Finding, Report


def report_text(report: Report) -> str:
    """Lines for people."""
    lines = [f"{report.subject}  contract {report.contract}"]
    if report.problem:
        return "\n".join([*lines, f"COULD NOT TEST  {report.problem}", ""])
    if report.operator:
        lines.append("operator  " + "   ".join(f"{name} {value}" for name, value in report.operator.items()))
    for finding in report.findings:
        lines += ["", *finding_lines(finding)]
    lines += ["", _verdict(report), *_not_tried(report)]
    return "\n".join(lines) + "\n"


def finding_lines(finding: Finding) -> list[str]:
    """One finding."""
    lines = [f"{finding.severity.upper()}  {finding.code}"]
    if finding.also:
        lines.append(f"  or, with the same numbers: {', '.join(finding.also)}")
    lines += [f"  got    {finding.measured}", f"  want   {finding.expected}", f"  likely {finding.likely}"]
    if finding.probes:
        more = f" and {len(finding.probes) - 4} more" if len(finding.probes) > 4 else ""
        lines.append(f"  probes {', '.join(finding.probes[:4])}{more}")
    if finding.reports:
        lines.append(f"  see    {', '.join(finding.reports)}")
    if finding.script:
        lines += ["  ---- reproduces it without this package", *("  " + line for line in finding.script.splitlines())]
    return lines


def _verdict(report: Report) -> str:
    tried = [probe for probe in report.probes if probe.status in ("pass", "finding")]
    if report.conforms:
        return f"CONFORMS  {len(tried)} probes"
    count = len(report.serious)
    return f"{count} finding{'' if count == 1 else 's'}  {len(tried)} probes"


def _not_tried(report: Report) -> list[str]:
    """What a pass does not cover, by reason."""
    reasons: dict[str, list[str]] = {}
    for probe in report.probes:
        if probe.status in ("skipped", "untestable", "vacuous"):
            reasons.setdefault(f"{probe.status}: {probe.reason}", []).append(probe.id)
    return [f"  {reason}  ({', '.join(ids[:3])}{', ...' if len(ids) > 3 else ''})" for reason, ids in reasons.items()]
