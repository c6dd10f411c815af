"""``--report FILE`` of ask, inspect and diagnose: the run as one HTML file for reading, sending and debugging."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.cli.escape import printable_line
from softlookup.cli.output_file import output_target, write_whole
from softlookup.cli.read import reading_options
from softlookup.errors import SoftlookupError, UsageError

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.session import OpenDocument
    from softlookup.ui.report import Record

SUFFIXES = (".html", ".htm")


def add_report_options(parser: argparse.ArgumentParser, *, asks: bool = True) -> None:
    """``--report`` and ``--lang``; ``asks``: the command asks the question anyway."""
    more = "" if asks else "; asks the question too"
    parser.add_argument(
        "--report", metavar="FILE", help=f"also write one HTML file to look at: quotes, text, figures (.html){more}"
    )
    parser.add_argument(
        "--lang", choices=("en", "zh"), help="language of the report's labels (default: that of the document)"
    )


def report_target(options: argparse.Namespace) -> Path | None:
    """The path of ``--report``, None without; raises ``UsageError`` where it cannot be written, or names another's."""
    if options.report is None:
        if options.lang is not None:
            raise UsageError("--lang is the language of a report, there is none", "add --report FILE")
        return None
    target = output_target("--report", options.report, options.file, SUFFIXES)
    other = getattr(options, "handover", None)
    if other is not None and Path(other).absolute() == target.absolute():
        raise UsageError(f"--report and --handover both name {options.report}", "name two files")
    return target


def question_record(
    document: OpenDocument,
    question: str,
    *,
    inspection: Inspection | None = None,
    diagnosis: Diagnosis | None = None,
) -> Record:
    """The record of a question that was inspected or diagnosed; it is asked for it."""
    from softlookup.ui.report import Record

    return Record(document.ask(question), document.fed(question), inspection, diagnosis)


def write_report(path: Path, document: OpenDocument, records: Sequence[Record], options: argparse.Namespace) -> None:
    """Build the report and write it, whole or not at all, and say so on stderr.

    Raises ``SoftlookupError`` when the file cannot be written.
    """
    from softlookup.ui.report import ReportInput, build_report

    read = document.document
    given = ReportInput(
        read,
        tuple(records),
        source=_source(options.file, read.source.sha256) if read.source.format == "pdf" else None,
        estimate=document.plan,
        count_tokens=document.session.count_tokens,
        language=options.lang,
        password=reading_options(options).get("password"),
    )
    try:
        write_whole(path, build_report(given).encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SoftlookupError(
            f"the report {path} cannot be written ({error.strerror or error})", "choose another folder"
        ) from error
    sys.stderr.write(f"report: {printable_line(str(path))}\n")


def _source(name: str, sha256: str) -> bytes | None:
    """The file again, for its page images; None, and a note, when it is no longer the one that was read."""
    import hashlib

    try:
        data = Path(name).read_bytes()
    except OSError:
        data = b""
    if hashlib.sha256(data).hexdigest() != sha256:
        sys.stderr.write("note: the file changed while it was read: the report has no page images\n")
        return None
    return data
