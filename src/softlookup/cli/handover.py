"""``softlookup ask --handover FILE``: checks the target before a model is loaded, and writes it in one step."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.errors import SoftlookupError, UsageError

if TYPE_CHECKING:
    from softlookup.documents.model import Document
    from softlookup.evidence.handover import QuestionRecord

SUFFIXES = (".html", ".csv", ".json")


def handover_target(name: str, document: str) -> Path:
    """The path to write to.

    Raises ``UsageError`` for an unknown suffix, a folder that is missing or cannot be written, or the document itself.
    """
    path = Path(name)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"--handover must end in .html, .csv or .json, got {name}", "choose one of the three")
    if not path.parent.is_dir():
        raise UsageError(f"--handover needs a folder that exists, {path.parent} does not", "make the folder first")
    if path.is_dir():
        raise UsageError(f"--handover {name} is a folder", "name a file in it")
    if path.exists() and Path(document).exists() and path.samefile(document):
        raise UsageError(f"--handover {name} is the document itself", "name another file")
    try:  # told now, not after minutes of reading
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise UsageError(
            f"--handover cannot write in {path.parent} ({error.strerror or error})", "choose another"
        ) from error
    return path


def write_handover(path: Path, document: Document, records: list[QuestionRecord]) -> None:
    """Write all records in the format that the suffix names, whole or not at all.

    Raises ``SoftlookupError`` when the folder cannot be written.
    """
    from softlookup.ui.handover import FORMATS, handover_text

    kind = next(kind for kind in FORMATS if path.suffix.lower() == f".{kind}")
    content = handover_text(document, records, kind)
    try:
        _replace(path, content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SoftlookupError(
            f"the hand-over file {path} cannot be written ({error.strerror or error})", "choose another folder"
        ) from error


def _replace(path: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=".handover-", dir=path.parent)
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
