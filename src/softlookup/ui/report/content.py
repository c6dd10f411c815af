"""What a report is made of; gathered by the caller, nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from softlookup.documents.language import Language, language_of

if TYPE_CHECKING:
    from softlookup.cost.plan.estimate import CostEstimate
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection
    from softlookup.documents.model import Document, Span
    from softlookup.evidence.answer import Answer

# what a mail takes, and a browser shows at once
MOST_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class Record:
    """One question: its answer, the spans of the document that it was made from, and what else was looked at."""

    answer: Answer
    fed: tuple[Span, ...] = ()
    inspection: Inspection | None = None
    diagnosis: Diagnosis | None = None


@dataclass(frozen=True, slots=True)
class ReportInput:
    """All of one report. ``source``: the bytes of a PDF, of which cited pages are drawn; without it there are none.

    ``count_tokens`` gives the width of the cells of the strip (without it: characters). ``language`` of the labels:
    that of the document unless given; what document, model and answer say stays as it is. ``most_bytes``: above it
    the report holds fewer page images and only the text around what it cites, and says so.
    """

    document: Document
    records: tuple[Record, ...]
    source: bytes | None = field(default=None, repr=False)
    estimate: CostEstimate | None = None
    count_tokens: Callable[[str], int] | None = None
    language: Language | None = None
    password: str | None = field(default=None, repr=False)
    most_bytes: int = MOST_BYTES

    def __post_init__(self) -> None:
        if not self.records:
            raise ValueError("a report needs at least one question")

    @property
    def shown_language(self) -> Language:
        """The language of labels and sentences that the report itself says."""
        return self.language or language_of(self.document.text)
