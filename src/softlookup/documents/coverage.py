"""The account of what was read and what was not, page by page or part by part; no reading here."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

CoverageState = Literal["read", "ocr", "empty", "scanned", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class CoverageRow:
    """What became of one unit (a page, a part, a member): nothing is lost without a row.

    ``characters`` are in ``Document.text``, ``characters_aside`` are in ``Document.aside`` or in no text at all.
    """

    unit: str
    state: CoverageState
    characters: int
    reason: str = ""
    characters_aside: int = 0

    def __str__(self) -> str:
        """Such as "page 3: scanned (a picture)"; a left-out part is named by its reason alone."""
        reason = f" ({self.reason})" if self.reason else ""
        return f"{self.unit}{reason}" if self.state == "skipped" else f"{self.unit}: {self.state}{reason}"


@dataclass(frozen=True, slots=True)
class CoverageCounts:
    """How much of each kind of content a file holds; characters for hidden text, pieces for the rest."""

    tables: int = 0
    footnotes: int = 0
    endnotes: int = 0
    comments: int = 0
    headers: int = 0
    footers: int = 0
    textboxes: int = 0
    pictures: int = 0
    form_fields: int = 0
    insertions: int = 0
    deletions: int = 0
    moves: int = 0
    stale_references: int = 0
    hidden_characters: int = 0
    ocr_pages: int = 0
    scanned_pages: int = 0
    empty_pages: int = 0

    def to_dict(self) -> dict[str, int]:
        """Every count by name."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


@dataclass(frozen=True, slots=True)
class Coverage:
    """Account of everything in the file. ``pages`` is None for formats without pages."""

    rows: tuple[CoverageRow, ...]
    pages: int | None = None
    notes: tuple[str, ...] = ()
    counts: CoverageCounts = CoverageCounts()

    @property
    def skipped(self) -> tuple[CoverageRow, ...]:
        """Rows whose content is missing from ``Document.text``; an empty page is no loss."""
        return tuple(row for row in self.rows if row.state in ("scanned", "failed", "skipped"))

    @property
    def complete(self) -> bool:
        """True when nothing of the body was lost (``skipped`` decoration such as images is no loss)."""
        return not any(row.state in ("scanned", "failed") for row in self.rows)
