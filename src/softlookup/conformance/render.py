"""A report as text: verdict first, worst finding next, one script per finding."""

from __future__ import annotations

from softlookup.conformance.coverage import coverage_lines, operator_line
from softlookup.conformance.report import Finding, Report
from softlookup.conformance.script import runs

# names of which no call tells one from the other, and what they share
_SHARED = {
    frozenset({"mask.multiplied_before_softmax", "mask.finite_fill"}): "mask: hidden scores become 0, not -inf",
    frozenset({"mask.finite", "mask.finite_fill"}): "mask: hidden scores are a finite number, not -inf",
}


def report_text(report: Report, *, verbose: bool = False) -> str:
    """Lines for people; ``verbose`` lists what was not asked."""
    lines = [f"{report.subject}  contract {report.contract}"]
    if report.problem:
        return "\n".join([*lines, f"COULD NOT TEST  {report.problem}", ""])
    operator = operator_line(report)
    lines += [operator] if operator else []
    for finding in report.findings:
        if finding.severity != "info" or finding.script:
            lines += ["", *finding_lines(finding)]
    lines += ["", _verdict(report), *(f"  {line}" for line in coverage_lines(report, verbose=verbose))]
    lines += [
        f"  INFO  {finding.code}: {finding.likely}"
        for finding in report.findings
        if finding.severity == "info" and not finding.script
    ]
    return "\n".join(lines) + "\n"


def finding_lines(finding: Finding, *, short: bool = False) -> list[str]:
    """One finding; ``short``: its codes and numbers."""
    lines = [f"{finding.severity.upper()}  {_headline(finding)}"]
    if finding.also:
        lines += ["  one of these, which no call tells apart:"]
        lines += [f"    {code}" for code in (finding.code, *finding.also)]
    lines += [f"  got    {finding.measured}", f"  want   {finding.expected}"]
    if short:
        return lines
    lines += [f"  all    {row}" if not number else f"         {row}" for number, row in enumerate(finding.rows)]
    lines.append(f"  likely {finding.likely}")
    if finding.assumed:
        lines.append(f"  assumed {finding.assumed}")
    if finding.probes:
        more = f" and {len(finding.probes) - 4} more" if len(finding.probes) > 4 else ""
        lines.append(f"  probes {', '.join(finding.probes[:4])}{more}")
    if finding.reports:
        lines.append(f"  see    {', '.join(finding.reports)}")
    if finding.script:
        # not indented: it is to be copied into a file as it stands
        told = "reproduces it without this package" if runs(finding.script) else "the call that shows it"
        lines += [f"# ---- {told}", *finding.script.splitlines(), "# ----"]
    return lines


def _headline(finding: Finding) -> str:
    """The code; where several fit, what they share."""
    if not finding.also:
        return finding.code
    keys = {code.split("(")[0].split("=")[0] for code in (finding.code, *finding.also)}
    if frozenset(keys) in _SHARED:
        return _SHARED[frozenset(keys)]
    if len(keys) == 1:
        return keys.pop()
    areas = {key.split(".")[0] for key in keys}
    return f"{areas.pop()}: several mistakes fit" if len(areas) == 1 else f"{', '.join(sorted(areas))}: several fit"


def _verdict(report: Report) -> str:
    tried = [probe for probe in report.probes if probe.status in ("pass", "finding")]
    if report.conforms:
        return f"CONFORMS  {len(tried)} probes; vouches for what is listed as tested, at the sizes tried, and no more"
    count = len(report.serious)
    return f"{count} finding{'' if count == 1 else 's'}  {len(tried)} probes"
