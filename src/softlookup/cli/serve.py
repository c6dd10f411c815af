"""``softlookup serve``: the settings from the command line, the environment and a token file; prints the address."""

from __future__ import annotations

import argparse
import math
import os
import re
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.ui.server.settings import Settings

TOKEN_VARIABLE = "SOFTLOOKUP_TOKEN"  # noqa: S105 - a name
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.I)
_UNITS = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3}


def add_serve_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup serve`` alone offers."""
    parser.add_argument("--port", type=int, default=8321, metavar="N", help="default 8321; 0 picks a free one")
    parser.add_argument(
        "--host", default="127.0.0.1", metavar="ADDRESS", help="default 127.0.0.1; any other one requires a token"
    )
    parser.add_argument(
        "--token", help="every request needs it; others on this machine can see it here: rather use --token-file"
    )
    parser.add_argument(
        "--token-file", metavar="FILE", help=f"first line is the token (or set {TOKEN_VARIABLE}); readable by you alone"
    )
    parser.add_argument(
        "--allowed-host", action="append", default=[], metavar="NAME", help="further name of this server; repeatable"
    )
    parser.add_argument(
        "--allow-path", action="append", default=[], metavar="FOLDER", help="clients may name files in it; repeatable"
    )
    store = parser.add_mutually_exclusive_group()
    store.add_argument("--store", metavar="DIR", help="keep documents here (default: your state directory)")
    store.add_argument("--no-store", action="store_true", help="keep documents only while the server runs")
    parser.add_argument("--history", action="store_true", help="keep questions and answers beside the documents")
    parser.add_argument("--max-upload", default="64M", metavar="SIZE", help="largest file (default 64M)")
    parser.add_argument("--max-memory", default="1536M", metavar="SIZE", help="of what the model has read and keeps")
    parser.add_argument("--open-documents", type=int, default=8, metavar="N", help="most that the model keeps open")
    parser.add_argument("--queue", type=int, default=64, metavar="N", help="questions that wait; more get 503")
    parser.add_argument(
        "--drain", type=float, default=30.0, metavar="SECONDS", help="for the answer that runs at the end"
    )
    parser.add_argument("--max-answer-tokens", type=int, default=80, metavar="N", help="longest answer (default 80)")
    parser.add_argument("--no-cache", action="store_true", help="keep nothing of what the model read on disk")


def serve(options: argparse.Namespace) -> ExitCode:
    """Serve until a signal comes."""
    settings = serve_settings(options)
    from softlookup.ui.server.serve import serve as run

    run(settings, _say)
    return ExitCode.OK


def serve_settings(options: argparse.Namespace) -> Settings:
    """The settings that the options mean. Raises ``UsageError``."""
    from softlookup.session import Options
    from softlookup.ui.server.settings import Settings

    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return Settings(
        host=options.host,
        port=options.port,
        token=_token(options),
        allowed_hosts=tuple(options.allowed_host),
        store=_store(options),
        history=options.history,
        allowed_paths=tuple(_folder(name) for name in options.allow_path),
        max_upload=byte_size("--max-upload", options.max_upload),
        open_bytes=byte_size("--max-memory", options.max_memory),
        open_documents=options.open_documents,
        queue=options.queue,
        drain=options.drain,
        model=options.model,
        options=Options(
            max_answer_tokens=options.max_answer_tokens,
            max_context_tokens=options.max_context_tokens,
            cache=not options.no_cache,
        ),
    )


def _say(address: str) -> None:
    sys.stdout.write(f"softlookup is ready at {address}\n")
    sys.stdout.flush()


def _token(options: argparse.Namespace) -> str | None:
    if options.token_file is None:
        if options.token is not None:
            return str(options.token)  # an empty one is refused: whoever gives one wants to be guarded
        return os.environ.get(TOKEN_VARIABLE)  # the same for a variable that is set and empty
    path = Path(options.token_file)
    try:
        with path.open(encoding="utf-8") as stream:
            if stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077:
                raise UsageError(f"--token-file {path} can be read by others", f"run chmod 600 {path}")
            return stream.readline(4096).strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"--token-file {path} cannot be read ({reason})", "check the path and its rights") from error


def _store(options: argparse.Namespace) -> Path | None:
    from softlookup.ui.server.state import default_store

    if options.no_store:
        if options.history:
            raise UsageError("--history needs a store that stays", "leave --no-store out")
        return None
    return Path(options.store).expanduser() if options.store else default_store()


def _folder(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_dir():
        raise UsageError(f"--allow-path {name} is no folder", "name a folder that exists")
    return path


def byte_size(option: str, text: str) -> int:
    """Bytes of a size such as "64M". Raises ``UsageError``, which names the option."""
    found = _SIZE.fullmatch(text.strip())
    size = float(found[1]) * _UNITS[found[2].lower()] if found else math.nan
    if not size >= 1:  # false for NaN too
        raise UsageError(f"{option} needs a size such as 64M, got {text!r}", "use K, M or G")
    return int(size)
