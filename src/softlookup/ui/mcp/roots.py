"""A path that a client names becomes an open file below one of the allowed folders, or a refusal; reads no document.

What counts is where a path leads: symbolic links are followed first and compared then. The file is opened step by
step from its folder, so that a link that is put there meanwhile is not followed.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from softlookup.errors import DocumentError, UsageError
from softlookup.ui.server.store import EXTENSIONS

_NAMED = 8  # readable files that an error lists
_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Located:
    """A file at ``real`` below ``root``; ``shown`` is what a client calls it."""

    real: Path
    root: Path
    shown: str


def locate(named: str, roots: Sequence[Path]) -> Located:
    """The file that ``named`` leads to; a relative path is looked up in every folder of ``roots`` (resolved) in turn.

    Raises ``UsageError`` for a path that leads outside, before it is known whether anything is there, and for a name
    that is not in the list of extensions; ``DocumentError`` for a file that is missing.
    """
    inside = [found for found in (_resolved(root / named, roots) for root in roots) if found is not None]
    if not inside:
        raise UsageError(
            "the path leads outside the folders that this server reads",
            "name a file below them, or start `softlookup mcp` with --root FOLDER",
        )
    found = next((one for one in inside if one.real.is_file()), inside[0])
    if found.real.suffix.lower() not in EXTENSIONS and not found.real.is_dir():
        raise UsageError(f"{found.shown} is no document by its name", f"files read end in {', '.join(EXTENSIONS)}")
    if not found.real.is_file():
        raise DocumentError(f"{found.shown} is not a file here", _nearby(found))
    return found


def open_file(located: Located) -> int:
    """A descriptor of the file, for reading. Raises ``DocumentError``; follows no link."""
    steps = located.real.relative_to(located.root).parts
    folder = os.open(located.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for step in steps[:-1]:
            inner = os.open(step, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        # without O_NONBLOCK a pipe would wait for its writer
        file = os.open(steps[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        raise DocumentError(
            f"{located.shown} cannot be opened ({error.strerror or error})", "check its rights"
        ) from error
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise DocumentError(f"{located.shown} is no regular file", "name a document")
    return file


def _resolved(path: Path, roots: Sequence[Path]) -> Located | None:
    """Where ``path`` leads, None when that is outside every root or the path is none."""
    try:
        real = Path(os.path.realpath(path))
    except (OSError, ValueError):  # a NUL, a lone surrogate
        return None
    root = next((folder for folder in roots if real.is_relative_to(folder)), None)
    if root is None:
        return None
    return Located(real, root, real.relative_to(root).as_posix() if len(roots) == 1 else str(real))


def _nearby(found: Located) -> str:
    """What could be named instead: documents in the same folder."""
    folder = found.real if found.real.is_dir() else found.real.parent
    try:
        with os.scandir(folder) as entries:
            looked = [entry.name for entry, _ in zip(entries, range(_LOOKED_AT), strict=False)]
    except OSError:
        return "name a file that is there"
    names = sorted(name for name in looked if Path(name).suffix.lower() in EXTENSIONS)
    more = ", ..." if len(names) > _NAMED else ""
    return f"readable there: {', '.join(names[:_NAMED])}{more}" if names else "name a file that is there"
