"""Codes without what was measured: what a baseline keeps, so that one deviation has one code on every machine."""

from __future__ import annotations

import re

from softlookup.conformance.report import Finding

_MEASURED = re.compile(r"\w+[=~]")  # name=value, name~value
_NUMBER = re.compile(r"[-+]?[0-9.][0-9.e+-]*")


def stable_code(finding: Finding) -> str:
    """``area.item=got(conditions)`` without measured numbers: ``mask.finite(value~-1e4)`` is ``mask.finite``.

    What the function does instead ("top_left", "W+1") and when ("when mask") stays: it is another deviation otherwise.
    """
    return "+".join(_stable(part) for part in re.split(r"\+(?=rope\.)", finding.code))


def _stable(code: str) -> str:
    item, equals, rest = code.partition("=")
    if "(" in item:  # no value: area.item(arguments)
        item, _, arguments = code.partition("(")
        got, equals = "", ""
    else:
        got, _, arguments = rest.partition("(")
    if equals and (got.startswith("[") or "/" in got or "." in got):
        got, equals = "", ""  # measured
    words = [word.strip() for word in arguments.removesuffix(")").split(",")]
    kept = [word for word in words if word and not _MEASURED.match(word) and not _NUMBER.fullmatch(word.strip("()"))]
    return f"{item}{equals}{got}" + (f"({','.join(kept)})" if kept else "")
