"""JUnit XML of a check, as CI servers read it: one test case per property; not for people.

The dialect is that of Jenkins and pytest: testsuites, testsuite with counts, testcase, failure, error, skipped,
properties, system-out.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET  # only written here, never parsed

from softlookup.conformance.render import finding_lines
from softlookup.conformance.report import Finding
from softlookup.conformance.reporting.baseline import Verdict
from softlookup.conformance.reporting.properties import Property, properties_of

# what XML 1.0 cannot hold, and what makes text read otherwise than it is written: controls, bidi, invisible characters
_UNFIT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\uffff"
    "\U000e0000-\U000e007f]"
)


def junit_xml(verdict: Verdict) -> str:
    """The whole file."""
    report, found = verdict.report, properties_of(verdict)
    seconds = report.environment.get("seconds", "0")
    counts = {
        "tests": len(found),
        "failures": _count(found, "fail"),
        "errors": _count(found, "error"),
        "skipped": _count(found, "skipped") + _count(found, "accepted"),
    }
    shown = {name: str(count) for name, count in counts.items()}
    top = ET.Element("testsuites", {"name": "softlookup check", **shown, "time": seconds})
    suite = ET.SubElement(top, "testsuite", {"name": clean(report.subject), **shown, "time": seconds})
    facts = ET.SubElement(suite, "properties")
    for name, value in {"contract": report.contract, **report.environment, **report.operator}.items():
        ET.SubElement(facts, "property", {"name": clean(name), "value": clean(value)})
    told: set[int] = set()
    for entry in found:
        _add_case(suite, entry, report.subject, told)
    if verdict.accepted or verdict.gone:
        ET.SubElement(suite, "system-out").text = clean(str(verdict))
    ET.indent(top)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(top, encoding="unicode") + "\n"


def _add_case(suite: ET.Element, entry: Property, subject: str, told: set[int]) -> None:
    classname = clean(subject).replace(":", ".")
    case = ET.SubElement(suite, "testcase", {"classname": classname, "name": clean(entry.id), "time": "0"})
    serious = [finding for finding in entry.findings if finding.severity != "info"]
    if entry.status == "fail":
        worst = serious[0].severity if serious else "wrong"
        message = ", ".join(finding.code for finding in serious) or entry.reason
        failure = ET.SubElement(case, "failure", {"type": worst, "message": clean(message)})
        failure.text = clean("\n".join(_told(finding, told) for finding in serious) or entry.reason)
    elif entry.status == "error":
        ET.SubElement(case, "error", {"type": "could not test", "message": clean(entry.reason)})
    elif entry.status == "accepted":
        message = f"accepted: {', '.join(finding.code for finding in serious)} ({entry.reason})"
        ET.SubElement(case, "skipped", {"message": clean(message)})
    elif entry.status == "skipped":
        ET.SubElement(case, "skipped", {"message": clean(entry.reason)})
    elif entry.findings:
        text = "\n".join(_told(finding, told) for finding in entry.findings)
        ET.SubElement(case, "system-out").text = clean(text)


def _told(finding: Finding, told: set[int]) -> str:
    """The finding with its counterexample where it comes first, its code and numbers everywhere else."""
    lines = finding_lines(finding, short=id(finding) in told)
    told.add(id(finding))
    return "\n".join(lines)


def _count(found: tuple[Property, ...], status: str) -> int:
    return sum(entry.status == status for entry in found)


def clean(text: str) -> str:
    """``text`` with every character that XML cannot hold, or that deceives a reader, written as an escape."""
    return _UNFIT.sub(lambda match: match.group().encode("unicode_escape").decode("ascii"), text)
