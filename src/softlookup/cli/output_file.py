"""A file that a command writes beside its output: its name is refused before any work, it is written whole or not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from softlookup.errors import UsageError


def output_target(option: str, name: str, document: str, suffixes: Sequence[str]) -> Path:
    """The path to write to, which ``option`` named.

    Raises ``UsageError`` for an unknown suffix, a folder that is missing or cannot be written, or the document itself.
    """
    path = Path(name)
    if path.suffix.lower() not in suffixes:
        listed = suffixes[0] if len(suffixes) == 1 else f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
        raise UsageError(f"{option} must end in {listed}, got {name}", f"name a file such as out{suffixes[0]}")
    if not path.parent.is_dir():
        raise UsageError(f"{option} needs a folder that exists, {path.parent} does not", "make the folder first")
    if path.is_dir():
        raise UsageError(f"{option} {name} is a folder", "name a file in it")
    if path.exists() and Path(document).exists() and path.samefile(document):
        raise UsageError(f"{option} {name} is the document itself", "name another file")
    try:  # told now, not after minutes of reading
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(
            f"{option} cannot write in {path.parent} ({error.strerror or error})", "choose another"
        ) from error
    return path


def write_whole(path: Path, content: bytes) -> None:
    """Replace ``path`` in one step; raises ``OSError`` and leaves what was there when it cannot."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.suffix[1:]}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise
