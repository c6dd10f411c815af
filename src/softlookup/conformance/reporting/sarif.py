"""SARIF 2.1.0 of a check, as code scanning reads it: rules by code, results with numbers and counterexample.

Findings are results of kind "fail"; a property that holds, could not be asked, or cannot be judged before another
mistake is mended, is one of kind "pass", "notApplicable" or "review". Accepted findings are
suppressed. Returns plain data: who writes it escapes it.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from softlookup.conformance.report import Finding
from softlookup.conformance.reporting.baseline import Verdict
from softlookup.conformance.reporting.properties import Property, properties_of
from softlookup.conformance.reporting.stable import stable_code

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"leak": "error", "wrong": "error", "unsafe": "error", "precision": "warning", "info": "note"}
# of properties without a finding of their own; they fail behind a mistake that changes every call
_KINDS = {"pass": "pass", "skipped": "notApplicable", "fail": "review"}

Json = dict[str, Any]


def sarif(verdict: Verdict, function: Callable[..., Any] | None = None) -> Json:
    """The whole log; ``function`` gives the findings a file and a line, where it lies below the working folder."""
    from softlookup import __version__

    report = verdict.report
    places = _places(report.subject, function)
    rules: dict[str, Json] = {}
    results = [_finding(finding, verdict, places, rules) for finding in report.findings]
    for entry in properties_of(verdict):
        if entry.status in _KINDS and not entry.findings and entry.id != "call":
            results.append(_property(entry, places, rules))
    invocation: Json = {"executionSuccessful": not report.problem}
    if report.problem:
        notice = {"level": "error", "message": _message(report.problem)}
        invocation["toolExecutionNotifications"] = [notice]
    driver = {"name": "softlookup", "version": __version__, "semanticVersion": __version__,
              "rules": list(rules.values())}  # fmt: skip
    for result in results:
        result["ruleIndex"] = list(rules).index(result["ruleId"])
    facts = {"subject": report.subject, "contract": report.contract, "operator": report.operator,
             "environment": report.environment, "noLongerFound": [entry.code for entry in verdict.gone]}  # fmt: skip
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "invocations": [invocation],
           "results": results, "properties": facts}  # fmt: skip
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _finding(finding: Finding, verdict: Verdict, places: list[Json], rules: dict[str, Json]) -> Json:
    level = _LEVELS[finding.severity]
    rule = rules.setdefault(finding.key, {
        "id": finding.key,
        "shortDescription": _message(finding.key),
        "fullDescription": _message(finding.likely),
        "defaultConfiguration": {"level": level},
    })  # fmt: skip
    text = f"{finding.code}: measured {finding.measured}, wanted {finding.expected}. Likely: {finding.likely}."
    code = stable_code(finding)
    identity = "\n".join((verdict.report.subject, verdict.report.contract, code))
    result: Json = {
        "ruleId": rule["id"],
        "kind": "fail",
        "level": level,
        "message": _message(text),
        "locations": places,
        "partialFingerprints": {"softlookupCode/v1": hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()},
        "properties": {
            "code": finding.code, "severity": finding.severity, "measured": finding.measured,
            "wanted": finding.expected, "named": finding.named, "alsoNamed": list(finding.also),
            "tests": list(finding.probes), "counterexample": finding.input, "script": finding.script,
            "reports": list(finding.reports),
        },
    }  # fmt: skip
    reasons = [entry.reason for known, entry in verdict.accepted if known is finding]
    if reasons:
        result["suppressions"] = [{"kind": "external", "status": "accepted",
                                   "justification": reasons[0] or "in the baseline"}]  # fmt: skip
    return result


def _property(entry: Property, places: list[Json], rules: dict[str, Json]) -> Json:
    rules.setdefault(entry.id, {"id": entry.id, "shortDescription": _message(f"the property {entry.id} holds")})
    said = f"{entry.id} holds" if entry.status == "pass" else f"{entry.id}: {entry.reason}"
    return {"ruleId": entry.id, "kind": _KINDS[entry.status], "level": "none", "message": _message(said),
            "locations": places}  # fmt: skip


def _message(text: str) -> Json:
    """Plain text; "[a](b)" would be a link."""
    return {"text": text.replace("](", "] (")}


def _places(subject: str, function: Callable[..., Any] | None) -> list[Json]:
    """The function by name, and by file and line where its file lies below the working folder."""
    place: Json = {"logicalLocations": [{"fullyQualifiedName": subject.replace(":", "."), "kind": "function"}]}
    if function is not None:
        try:
            target = inspect.unwrap(function)
            line = inspect.getsourcelines(target)[1]
            path = Path(inspect.getsourcefile(target) or "").resolve().relative_to(Path.cwd().resolve())
        except (TypeError, OSError, ValueError):  # builtin, no source, elsewhere
            return [place]
        place["physicalLocation"] = {
            "artifactLocation": {"uri": quote(path.as_posix()), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(1, line)},
        }
    return [place]
