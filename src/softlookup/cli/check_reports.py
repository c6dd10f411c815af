"""``softlookup check --junit, --sarif, --baseline, --write-baseline``: targets tried first, files written last."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.conformance import Report
    from softlookup.conformance.reporting import Baseline


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add what other programs read."""
    parser.add_argument("--junit", metavar="FILE", help="also write JUnit XML: one test case per property")
    parser.add_argument("--sarif", metavar="FILE", help="also write SARIF 2.1.0")
    parser.add_argument("--baseline", metavar="FILE", help="codes in it are listed as accepted and do not fail")
    parser.add_argument(
        "--write-baseline", metavar="FILE", help="accept what is found now: put its codes into FILE, and exit 0"
    )


def given(options: argparse.Namespace) -> list[str]:
    """The options of these that were used."""
    names = ("junit", "sarif", "baseline", "write_baseline")
    return [f"--{name.replace('_', '-')}" for name in names if getattr(options, name)]


@dataclass(frozen=True)
class Outputs:
    """Files to write, and the baseline to judge by; made before anything runs, so that mistakes are told at once."""

    junit: Path | None
    sarif: Path | None
    write_baseline: Path | None
    baseline: Baseline | None
    new_baseline: Baseline | None
    verbose: bool = False

    def finish(self, report: Report, function: Any, write: Callable[[Any], None], *, as_json: bool) -> ExitCode:
        """Print the report, write the files, say how it ended."""
        from softlookup.cli.escape import json_text
        from softlookup.conformance.reporting import junit_xml, sarif, verdict_of
        from softlookup.conformance.reporting.files import write_whole

        verdict = verdict_of(report, self.baseline)
        if as_json:
            more = {"baseline": verdict.to_dict()} if self.baseline is not None else {}
            write({**report.to_dict(), **more})
        else:
            write(report.text(verbose=self.verbose) + (str(verdict) if self.baseline is not None else ""))
        if self.junit:
            write_whole(self.junit, junit_xml(verdict))
        if self.sarif:
            write_whole(self.sarif, json_text(sarif(verdict, function)) + "\n")
        if report.problem:
            return ExitCode.MODEL
        if self.write_baseline and self.new_baseline is not None:
            write_whole(self.write_baseline, json_text(self.new_baseline.with_report(report).to_dict()) + "\n")
            return ExitCode.OK
        return ExitCode.OK if verdict.passed else ExitCode.ERROR


def outputs(options: argparse.Namespace) -> Outputs:
    """Targets that can be written, the baseline read. Raises ``UsageError``."""
    from softlookup.conformance.reporting import Baseline, read_baseline
    from softlookup.conformance.reporting.files import target

    def wanted(option: str) -> Path | None:
        name = getattr(options, option)
        return target(f"--{option.replace('_', '-')}", name) if name else None

    if options.baseline and options.write_baseline:
        raise UsageError("--baseline judges and --write-baseline accepts", "give one of them")
    written = wanted("write_baseline")
    new = None
    if written:
        new = read_baseline(written) if written.exists() else Baseline()
    judged = read_baseline(Path(options.baseline)) if options.baseline else None
    paths = [path for path in (wanted("junit"), wanted("sarif"), written) if path]
    if len({path.resolve() for path in paths}) < len(paths):
        raise UsageError("two reports would go into one file", "name different files")
    return Outputs(wanted("junit"), wanted("sarif"), written, judged, new, options.verbose)
