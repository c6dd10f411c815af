"""Report files: targets are tried before a check runs, and written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from softlookup.errors import SoftlookupError, UsageError


def target(option: str, name: str) -> Path:
    """The path to write to. Raises ``UsageError`` for a folder that is missing, or that cannot be written."""
    path = Path(name)
    if path.is_dir():
        raise UsageError(f"{option} needs a file, {name} is a folder", "name a file in it")
    if not path.parent.is_dir():
        raise UsageError(f"{option} needs a folder that exists, {path.parent} does not", "make the folder first")
    try:  # told now, not after the check
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(f"{option} cannot write in {path.parent} ({error.strerror or error})",
                         "choose another folder") from error  # fmt: skip
    return path


def write_whole(path: Path, text: str) -> None:
    """Replace the file in one step; readers see the old one or the new one. Raises ``SoftlookupError``."""
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=".softlookup-", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(text.encode("utf-8", "backslashreplace"))
                stream.flush()
                os.fsync(stream.fileno())
            _usual_rights(temporary, path)
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise SoftlookupError(f"{path} cannot be written ({error.strerror or error})",
                              "choose another folder") from error  # fmt: skip


def _usual_rights(temporary: str, path: Path) -> None:
    """A report is read by other users of a CI machine; mkstemp makes files for their owner alone."""
    mask = os.umask(0)
    os.umask(mask)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~mask
    with suppress(OSError, NotImplementedError):
        Path(temporary).chmod(mode)
