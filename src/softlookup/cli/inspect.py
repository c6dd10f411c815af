"""``softlookup inspect``: what every layer and head did with one question; printing is in ``render_inspect``."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from softlookup.cli.read import reading_options
from softlookup.errors import ExitCode, ModelError, UsageError

if TYPE_CHECKING:
    from typing import TextIO

    from softlookup.diagnostics.inspection_result import Inspection

_NARROWEST, _WIDEST, _PLAIN = 60, 200, 100


def add_inspect_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of its own; those of documents and models are added by the caller."""
    parser.add_argument("file", help=".txt, .md, .html, .docx, .pdf or an EDGAR submission")
    parser.add_argument("question", metavar="QUESTION")
    parser.add_argument("--alpha", type=float, default=0.05, help="as in `softlookup ask` (default 0.05)")
    parser.add_argument("--max-answer-tokens", type=int, default=80, metavar="N", help="longest answer (default 80)")
    parser.add_argument(
        "--save-baseline",
        action="store_true",
        help="add the bank's questions on this document to the healthy ranges of this model (refused with alerts)",
    )


def inspect(options: argparse.Namespace) -> ExitCode:
    """Alerts, clause x layer strip, clauses per head, sinks, entropies of one question."""
    from softlookup.cli.escape import json_line
    from softlookup.cli.progress import progress_bar
    from softlookup.cli.render import note_model
    from softlookup.cli.render_inspect import inspection_text
    from softlookup.cli.report import question_record, report_target, write_report
    from softlookup.session import Options, Session

    if not options.question.strip():  # a wrong call is reported before an unreadable document
        raise UsageError("the question is empty", "write a question after the file name")
    report = report_target(options)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    settings = Options(options.alpha, options.max_answer_tokens, options.max_context_tokens)
    with progress_bar() as progress:
        session = Session(options.model, options=settings, progress=progress)
        document = session.open(options.file, **reading_options(options))
        note_model(session.source, sys.stderr)
        found = document.inspect(options.question)
        if options.save_baseline:
            _save_baseline(found)
        record = None if report is None else question_record(document, options.question, inspection=found)
    if options.json:
        sys.stdout.write(json_line(found.to_dict()) + "\n")
    else:
        sys.stdout.write(inspection_text(found, width=_width(sys.stdout), colored=wants_color(sys.stdout)))
    if report is not None and record is not None:
        write_report(report, document, [record], options)
    return ExitCode.OK if document.document.coverage.complete else ExitCode.DOCUMENT


def _save_baseline(found: Inspection) -> None:
    from softlookup.cli.escape import printable
    from softlookup.diagnostics.baseline import load_baseline, merged, save_baseline

    if found.alerts or found.healthy_bank is None:
        names = ", ".join(dict.fromkeys(alert.monitor for alert in found.alerts)) or "no finite statistics"
        raise ModelError(f"a run with alerts makes no baseline ({names})", "use a healthy model and document")
    model, template = found.model_sha256, found.template_sha256
    new = replace(found.healthy_bank, model_sha256=model, template_sha256=template)
    stored = load_baseline(model, template)
    path = save_baseline(new if stored is None else merged(stored, new))
    sys.stderr.write(f"baseline: {printable(str(path))}\n")


def wants_color(stream: TextIO) -> bool:
    """A terminal that did not ask for plain text (NO_COLOR with any value, TERM=dumb)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _width(stream: TextIO) -> int:
    columns = shutil.get_terminal_size((_PLAIN, 24)).columns if stream.isatty() else _PLAIN
    return max(_NARROWEST, min(_WIDEST, columns))
