"""``softlookup read``: chooses what to print of a document; the printing is ``render_document.py``."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.documents.readers import ReadKeywords


def read(options: argparse.Namespace) -> ExitCode:
    """The clause tree and coverage, or what the options ask for: text, terms, references, one clause."""
    from softlookup.cli import render_document as render
    from softlookup.cli.escape import json_line, printable
    from softlookup.documents.read import read_document

    _check(options)
    document = read_document(options.file, **reading_options(options))
    if options.text:
        # exact when redirected, escaped on a terminal: offsets refer to the exact form
        sys.stdout.write(printable(document.text) if sys.stdout.isatty() else document.text)
    elif options.clause is not None:
        clauses = render.clauses_object(document, options.clause)
        sys.stdout.write((json_line(clauses) if options.json else render.clauses_text(document, clauses)) + "\n")
    elif options.json:
        sys.stdout.write(json_line(render.document_object(document)) + "\n")
    elif options.terms or options.refs:
        from softlookup.documents.findings import find_findings

        findings = find_findings(document)  # once for both tables
        lines = [*(render.terms_lines(document, findings) if options.terms else ())]
        lines += [*(render.references_lines(document, findings) if options.refs else ())]
        sys.stdout.write("\n".join([*lines, *render.coverage_lines(document)]) + "\n")
    else:
        sys.stdout.write(render.document_text(document) + "\n")
    return ExitCode.OK if document.coverage.complete else ExitCode.DOCUMENT


def _check(options: argparse.Namespace) -> None:
    """Refuse options that ask for two different outputs."""
    others = [f"--{name}" for name in ("json", "terms", "refs") if getattr(options, name)]
    if options.text and others:
        raise UsageError(f"--text prints the text and nothing else, got {', '.join(others)} too", "choose one of them")
    tables = [name for name in others if name != "--json"]
    if options.clause is not None and tables:
        raise UsageError(f"--clause prints one clause, got {', '.join(tables)} too", "choose one of them")


def reading_options(options: argparse.Namespace) -> ReadKeywords:
    """Keyword arguments of ``read_document`` from the options that all document commands share."""
    password = None
    if options.password_env is not None:
        if not options.password_env.strip():
            raise UsageError(
                "--password-env needs the name of a variable, got an empty one", "for example PDF_PASSWORD"
            )
        password = os.environ.get(options.password_env)
        if password is None:
            raise UsageError(
                f"--password-env needs a variable that is set, {options.password_env} is not",
                f"set it first, for example: read -rs {options.password_env}; export {options.password_env}",
            )
    return {
        "encoding": options.encoding, "view": options.view, "password": password, "member": options.member,
        "ocr": options.ocr,
    }  # fmt: skip


def add_reading_options(parser: argparse.ArgumentParser) -> None:
    """Options that say how a file is read, the same for every command that reads one."""
    parser.add_argument("--encoding", metavar="NAME", help="encoding of a text file when detection fails, e.g. gb18030")
    parser.add_argument(
        "--view",
        choices=("final", "original", "markup"),
        default="final",
        help="text of a document with tracked changes: accepted (default), rejected, or both",
    )
    parser.add_argument(
        "--password-env", metavar="VAR", help="environment variable that holds the password of an encrypted PDF"
    )
    parser.add_argument("--member", metavar="TYPE", help="exhibit of an EDGAR submission, e.g. EX-10.1")
    parser.add_argument("--ocr", action="store_true", help='read scanned pages (needs pip install "softlookup[ocr]")')


def add_read_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup read`` alone offers."""
    parser.add_argument("file", help=".docx, .pdf, .html, .md, .txt or an EDGAR submission")
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--text", action="store_true", help="print the text that all offsets refer to, and nothing else")
    shown.add_argument("--clause", metavar="NUMBER", help="one clause and what it needs, e.g. 8.2 or 第三条")
    parser.add_argument("--terms", action="store_true", help="defined terms, with unused and undefined ones")
    parser.add_argument("--refs", action="store_true", help="cross references, with dangling ones")
    parser.add_argument("--json", action="store_true", help="JSON on stdout, nothing else there")
    add_reading_options(parser)
