"""Checks the attention functions of public libraries against their contracts: correct ones must give no finding.

    python benchmarks/conformance_libraries.py [--only WORD] [--full] [--json]

What is not installed is skipped, and said. Exit 1 when a library differs from what ``docs/findings.md`` says of it.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import warnings
from typing import Any

from library_functions import Entry, entries
from softlookup.conformance import Report, check_fn, check_rope


def main() -> int:
    """One line per library; with --full the whole report of those with findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="entries whose name holds this word")
    parser.add_argument("--full", action="store_true", help="print the reports with findings")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds inside each function")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for entry in entries():
        if options.only.lower() not in entry.name.lower():
            continue
        row, report = checked(entry, options.budget)
        rows.append(row)
        if not options.json:
            print(f"{row['name']:44} {row['version']:10} {row['outcome']}", flush=True)
            if options.full and report is not None and (report.findings or report.problem):
                print(report, flush=True)
    if options.json:
        print(json.dumps(rows, indent=1))
    return int(any(row["unexpected"] for row in rows))


def checked(entry: Entry, budget: float) -> tuple[dict[str, Any], Report | None]:
    """The row of one library, and its report."""
    try:
        version = importlib.metadata.version(entry.package)
        function, contract, adapter = entry.build()
    except (ImportError, importlib.metadata.PackageNotFoundError) as error:
        said = f"not installed: {entry.package} ({error})"
        return {"name": entry.name, "version": "-", "outcome": said, "findings": [], "unexpected": []}, None
    run = check_rope if entry.rotary else check_fn
    report = run(function, contract, adapter=adapter, name=entry.name, budget=budget)
    serious = [f"{finding.severity} {finding.code}" for finding in report.serious]
    passed = sum(probe.status == "pass" for probe in report.probes)
    outcome = f"{passed} probes pass; " + ("; ".join(serious) or report.problem or "no finding")
    codes = {finding.code for finding in report.serious}
    unexpected = sorted(codes ^ set(entry.known)) + ([report.problem] if report.problem else [])
    return {"name": entry.name, "version": version, "outcome": outcome, "findings": serious,
            "unexpected": unexpected}, report  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
