"""``softlookup mcp``: the folders and limits from the command line; stdout belongs to the protocol."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, SoftlookupError, UsageError

if TYPE_CHECKING:
    from softlookup.ui.server.settings import Settings


def add_mcp_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup mcp`` alone offers."""
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="FOLDER",
        help="read documents below it and nowhere else; repeatable (default: the current folder)",
    )
    parser.add_argument("--max-file", default="64M", metavar="SIZE", help="largest file (default 64M)")
    parser.add_argument("--max-memory", default="1536M", metavar="SIZE", help="of what the model has read and keeps")
    parser.add_argument("--open-documents", type=int, default=8, metavar="N", help="most that the model keeps open")
    parser.add_argument("--max-answer-tokens", type=int, default=80, metavar="N", help="longest answer (default 80)")
    parser.add_argument("--no-cache", action="store_true", help="keep nothing of what the model read on disk")


def mcp(options: argparse.Namespace) -> ExitCode:
    """Serve the tools over stdio until the input ends."""
    roots = mcp_roots(options.root)
    settings = mcp_settings(options)
    try:
        import mcp_types  # noqa: F401 - there since version 2 of the SDK

        from softlookup.ui.mcp.server import run
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise SoftlookupError(
            "softlookup mcp needs the package mcp, version 2 or later", 'run pip install "softlookup[mcp]"'
        ) from error
    from softlookup.cli.escape import printable_line

    sys.stderr.write(f"softlookup mcp: reads documents below {printable_line(', '.join(map(str, roots)))}\n")
    sys.stderr.flush()
    return run(roots, settings)


def mcp_roots(named: list[str]) -> tuple[Path, ...]:
    """The folders, with links followed. Raises ``UsageError`` for one that is none."""
    roots = []
    for name in named or ["."]:
        path = Path(name).expanduser()
        if not path.is_dir():
            raise UsageError(f"--root {name} is no folder", "name a folder that exists")
        roots.append(Path(os.path.realpath(path)))
    return tuple(dict.fromkeys(roots))


def mcp_settings(options: argparse.Namespace) -> Settings:
    """The settings that the options mean. Raises ``UsageError``."""
    from softlookup.cli.serve import byte_size
    from softlookup.session import Options
    from softlookup.ui.server.settings import Settings

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return Settings(
        max_upload=byte_size("--max-file", options.max_file),
        open_bytes=byte_size("--max-memory", options.max_memory),
        open_documents=options.open_documents,
        model=options.model,
        options=Options(
            max_answer_tokens=options.max_answer_tokens,
            max_context_tokens=options.max_context_tokens,
            cache=not options.no_cache,
        ),
    )
