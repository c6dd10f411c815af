"""What a report vouches for, in lines: areas that were tested, what was not asked, what could not be judged.

Words for people; statuses and reasons as they are stand in the JSON.
"""

from __future__ import annotations

import re
from collections import Counter

from softlookup.conformance.case import FEATURES
from softlookup.conformance.report import ProbeResult, Report

_TRIED = ("pass", "finding")
_RAISED = re.compile(r"^\w*(?:Error|Exception|Exit|Warning)\b")
_NO_ARGUMENT = "no argument for "
_ALWAYS_CAUSAL = "unasked: it is always causal"
# probes whose queries follow keys of the past
_CACHED = ("causal.rect", "causal.decode", "causal.rect_long")


def coverage_lines(report: Report, *, verbose: bool = False) -> list[str]:
    """One line of what was tested and not asked, one of what could not be judged; all of it where ``verbose``."""
    lines = [f"tested: {_tested(report)}" + _unasked(report)]
    refused = _unjudged(report)
    if refused:
        lines.append(f"not judged, not a fault of yours: {'; '.join(refused)}")
    if verbose:
        lines += _everything(report)
    elif len(lines) > 1 or "not asked" in lines[0]:
        lines[-1] += "  (--verbose lists all)"
    return lines


def _tested(report: Report) -> str:
    rotates = "rotation" in report.environment
    counts = Counter(
        "cache" if rotates and probe.id in _CACHED else probe.id.split(".")[0]
        for probe in report.probes
        if probe.status in _TRIED
    )
    shown = ", ".join(f"{area} ({count})" for area, count in counts.items()) or "nothing"
    return f"{shown}{', all with its own rotation' if rotates and counts else ''}"


def _unasked(report: Report) -> str:
    """Arguments that the function lacks; areas of which nothing was asked for another reason."""
    skipped = [probe for probe in report.probes if probe.status == "skipped"]
    lacking = {
        name
        for probe in skipped
        if probe.reason.startswith(_NO_ARGUMENT)
        for name in probe.reason.removeprefix(_NO_ARGUMENT).split(", ")
    }
    parts = [name for name in FEATURES if name in lacking]
    if any(probe.reason == _ALWAYS_CAUSAL for probe in skipped):
        parts.append("calls without causal")
    others = [probe for probe in skipped if not probe.reason.startswith((_NO_ARGUMENT, _ALWAYS_CAUSAL))]
    parts += [f"{area} ({reason})" for area, reason in dict.fromkeys((_area(p), p.reason) for p in others)]
    return f"; not asked: {', '.join(parts)}" if parts else ""


def _unjudged(report: Report) -> list[str]:
    """Why, in words; what the function raised is for --verbose."""
    reasons: dict[str, list[str]] = {}
    for probe in report.probes:
        if probe.status in ("untestable", "vacuous"):
            reasons.setdefault(_in_words(probe), []).append(probe.id)
    return [f"{words} ({', '.join(ids[:2])}{', ...' if len(ids) > 2 else ''})" for words, ids in reasons.items()]


def _in_words(probe: ProbeResult) -> str:
    form = re.search(r"a mask (\[[a-z, ]*\]) cannot", probe.reason)
    if form:
        return f"masks have the axes {form[1]} and cannot say more"
    length = re.fullmatch(r"refused (\d+) keys", probe.reason)
    if length:
        return f"calls of {length[1]} keys are refused, longer ones were not tried"
    if probe.id.startswith("heads.grouped"):
        return "grouped heads (fewer key/value than query heads) are refused"
    if _RAISED.match(probe.reason):
        return "the call is refused"
    return probe.reason or "no reason was given"


def _everything(report: Report) -> list[str]:
    """Every probe that was not judged, by reason, as it was raised."""
    reasons: dict[str, list[str]] = {}
    for probe in report.probes:
        if probe.status not in _TRIED:
            reasons.setdefault(f"{probe.status}: {probe.reason}", []).append(probe.id)
    tested = [probe.id for probe in report.probes if probe.status in _TRIED]
    return [f"tested: {', '.join(tested)}", *(f"{reason}: {', '.join(ids)}" for reason, ids in reasons.items())]


def operator_line(report: Report) -> str:
    """What was read off the plain call, or why nothing was; empty for reports of another kind."""
    plain = next((probe for probe in report.probes if probe.id == "plain.square"), None)
    facts = [f"{name} {report.environment[name]}" for name in ("dtype", "rotation") if name in report.environment]
    if report.operator:
        said = [f"{name} {value}" for name, value in report.operator.items()]
        if plain is not None:
            return "operator  " + "   ".join(["plain call, no mask", *facts, *said])
        return "operator  " + "   ".join(said)
    if plain is None or plain.status in _TRIED:
        return ""
    why = "always causal, so no call shows all keys to all queries" if plain.reason == _ALWAYS_CAUSAL else (
        "the plain call is refused" if _RAISED.match(plain.reason) else plain.reason
    )  # fmt: skip
    return "operator  " + "   ".join([f"scale and sums not read: {why}", *facts])


def _area(probe: ProbeResult) -> str:
    return probe.id.split(".")[0]
