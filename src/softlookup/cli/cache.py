"""``softlookup cache``: what is kept on disk for further questions, and how to be rid of it; models stay."""

from __future__ import annotations

import argparse
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from softlookup.errors import ExitCode, ModelError

# folder of the cache directory: what it holds
_KEPT = {
    "calibrations": "numbers of the question bank, no text",
    "prefixes": "what the model read of long documents, as confidential as they are",
}


def add_cache_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup cache`` alone offers."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "purge"), default="list", help="list (default), or purge: delete it all"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def cache(options: argparse.Namespace) -> ExitCode:
    """List what is kept, or delete it. Raises ``ModelError`` for a folder that cannot be deleted."""
    from softlookup.cli.escape import json_line, printable
    from softlookup.runtime.directories import cache_directory

    folder = cache_directory()
    rows = [_row(folder / name, holds) for name, holds in _KEPT.items()]
    if options.action == "purge":
        for row in rows:
            _delete(Path(row["folder"]))
    if options.json:
        sys.stdout.write(json_line({"schema": 1, "purged": options.action == "purge", "kept": rows}) + "\n")
        return ExitCode.OK
    done = "deleted " if options.action == "purge" else ""
    for row in rows:
        size = f"{row['files']:,} files, {row['bytes'] / 1e6:,.0f} MB"
        sys.stdout.write(f"{done}{size}  {printable(row['folder'])}  ({row['holds']})\n")
    return ExitCode.OK


def _row(folder: Path, holds: str) -> dict[str, Any]:
    sizes = []
    try:
        for path in folder.iterdir() if folder.is_dir() else ():
            with suppress(FileNotFoundError):  # another process replaced or dropped it
                facts = path.stat()
                sizes += [facts.st_size] if stat.S_ISREG(facts.st_mode) else []
    except OSError as error:
        raise ModelError(f"{folder} cannot be read ({error.strerror or error})", "check its rights") from error
    return {"folder": str(folder), "holds": holds, "files": len(sizes), "bytes": sum(sizes)}


def _delete(folder: Path) -> None:
    try:
        if folder.is_symlink():  # where it leads to is not ours to empty
            folder.unlink()
        elif folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise ModelError(f"{folder} cannot be deleted ({error.strerror})", "delete it by hand") from error
