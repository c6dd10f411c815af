"""``softlookup ask --handover FILE``: checks the target before a model is loaded, and writes it in one step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.cli.output_file import output_target, write_whole
from softlookup.errors import SoftlookupError

if TYPE_CHECKING:
    from softlookup.documents.model import Document
    from softlookup.evidence.handover import QuestionRecord

SUFFIXES = (".html", ".csv", ".json")


def handover_target(name: str, document: str) -> Path:
    """The path to write to; raises ``UsageError`` as :func:`softlookup.cli.output_file.output_target` does."""
    return output_target("--handover", name, document, SUFFIXES)


def write_handover(path: Path, document: Document, records: list[QuestionRecord]) -> None:
    """Write all records in the format that the suffix names, whole or not at all.

    Raises ``SoftlookupError`` when the folder cannot be written.
    """
    from softlookup.ui.handover import FORMATS, handover_text

    kind = next(kind for kind in FORMATS if path.suffix.lower() == f".{kind}")
    content = handover_text(document, records, kind)
    try:
        write_whole(path, content.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise SoftlookupError(
            f"the hand-over file {path} cannot be written ({error.strerror or error})", "choose another folder"
        ) from error
