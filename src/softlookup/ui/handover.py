"""A hand-over as the text of a file, in one of three formats; for the command line and the server."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from softlookup.ui.escape import json_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from softlookup.documents.model import Document
    from softlookup.evidence.handover import QuestionRecord

HandoverFormat = Literal["html", "csv", "json"]
FORMATS: tuple[HandoverFormat, ...] = ("html", "csv", "json")


def handover_text(document: Document, records: Sequence[QuestionRecord], kind: HandoverFormat) -> str:
    """All records as a file of the given format."""
    from softlookup import __version__
    from softlookup.evidence.handover import Handover
    from softlookup.ui import handover_csv, handover_html

    created = datetime.now(UTC).isoformat(timespec="seconds")
    handover = Handover(document, tuple(records), created, __version__)
    if kind == "html":
        return handover_html.html_text(handover)
    if kind == "csv":
        return handover_csv.csv_text(handover)
    return json_text(handover.to_dict()) + "\n"
