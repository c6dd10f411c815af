"""Checks the attention functions of public libraries against their contracts: correct ones must give no finding.

    python benchmarks/conformance_libraries.py [--only WORD] [--full] [--json] [--conventions]

--conventions asks what most contracts leave open: what a query without keys gives, whether NaN behind a mask shows.

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
from softlookup.conformance.evidence import agrees, find_forms
from softlookup.conformance.oracle import attend
from softlookup.conformance.probes import build_probes
from softlookup.conformance.sizes import find_sizes
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import right_variant


def main() -> int:
    """One line per library; with --full the whole report of those with findings."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", default="", help="entries whose name holds this word")
    parser.add_argument("--full", action="store_true", help="print the reports with findings")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--conventions", action="store_true", help="ask what the contracts leave open instead")
    parser.add_argument("--budget", type=float, default=300.0, help="seconds inside each function")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for entry in entries():
        if options.only.lower() not in entry.name.lower():
            continue
        if options.conventions:
            if not entry.rotary and "gqa.tile" not in entry.known:  # heads that are mapped otherwise hide the rest
                print(f"{entry.name:44} {conventions(entry)}", flush=True)
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


def conventions(entry: Entry) -> str:
    """Which variant gives the output of a row without keys, and of NaN and infinite values behind a mask."""
    try:
        function, contract, adapter = entry.build()
    except ImportError as error:
        return f"not installed: {entry.package} ({error})"
    subject = Subject(function, contract.but(dead_row="zero", masked_nan="irrelevant"), adapter, 300.0)
    sizes, _ = find_sizes(subject)
    if sizes is None:
        return "no call worked"
    find_forms(subject, sizes)
    right = right_variant(subject.contract)
    known = {
        "dead_row.mask": {f"row without keys: {name}": right.but(dead_row=name) for name in ("zero", "uniform", "nan")},
        "masked_value.mask": {
            "NaN behind a mask stays there": right,
            "NaN behind a mask shows": right.but(masked_nan="propagates"),
        },
    }
    said = []
    for probe in build_probes(sizes, subject.contract):
        if probe.id in known:
            outputs = [subject.run(case).output for case in probe.cases]
            fits = [
                name
                for name, variant in known[probe.id].items()
                if all(
                    output is not None and agrees(output, attend(case, variant), 1e-3)
                    for output, case in zip(outputs, probe.cases, strict=True)
                )
            ]
            refused = all(output is None for output in outputs)
            said.append(fits[0] if fits else f"{probe.id}: {'refused' if refused else 'neither'}")
    return "; ".join(said)


if __name__ == "__main__":
    sys.exit(main())
