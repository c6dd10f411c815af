"""``softlookup diagnose``: why an answer was wrong; the printing is ``render_diagnosis.py``."""

from __future__ import annotations

import argparse
import sys

from softlookup.cli.read import reading_options
from softlookup.errors import ExitCode


def diagnose(options: argparse.Namespace) -> ExitCode:
    """Walk the ladder for one question; 0 when a verdict was reached, whatever it is."""
    from softlookup.cli import render
    from softlookup.cli.commands import open_session
    from softlookup.cli.escape import json_line
    from softlookup.cli.progress import progress_bar
    from softlookup.cli.render_diagnosis import diagnosis_text
    from softlookup.cli.report import question_record, report_target, write_report

    report = report_target(options)
    with progress_bar() as progress:
        session = open_session(options, progress)
        document = session.open(options.file, **reading_options(options))
        render.note_model(session.source, sys.stderr)
        found = document.diagnose(options.question, options.expect, answer=options.answer, whole=options.whole)
        record = None if report is None else question_record(document, options.question, diagnosis=found)
    sys.stdout.write((json_line(found.to_dict()) if options.json else diagnosis_text(found)) + "\n")
    if report is not None and record is not None:
        write_report(report, document, [record], options)
    return ExitCode.OK


def add_diagnose_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup diagnose`` alone offers."""
    parser.add_argument("file", help=".txt, .md, .html, .docx, .pdf or an EDGAR submission")
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument(
        "--expect",
        required=True,
        metavar="CLAUSE_OR_QUOTE",
        help='where the truth stands: a clause (8.2), words of it, or "none" if the document does not answer',
    )
    parser.add_argument("--answer", metavar="TEXT", help="the answer to diagnose (default: the model's own)")
    parser.add_argument(
        "--whole", action="store_true", help="as if the whole document had been fed, also beyond the model's window"
    )
    parser.add_argument(
        "--alpha", type=float, default=0.05, help="error rate of 'seen' on off-topic questions (default 0.05)"
    )
    parser.add_argument("--max-answer-tokens", type=int, default=80, metavar="N", help="longest answer (default 80)")
