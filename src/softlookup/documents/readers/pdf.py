"""PDF contracts: starts the pdfium process, turns its lines into paragraphs and accounts for every page.

pdfium itself runs in ``pdf_child.py`` only. Line layout is undone here: running headers and page numbers
leave the text (and are noted), wrapped lines become paragraphs, words cut at a line end are joined.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

from softlookup.documents.model import Block, Coverage, CoverageRow, CoverageState, Span
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.pdf_columns import in_reading_order
from softlookup.documents.readers.pdf_furniture import furniture
from softlookup.documents.readers.pdf_layout import Line, Page, Paragraph, paragraphs
from softlookup.errors import DocumentError

CPU_SECONDS = 180
WALL_SECONDS = 240
MEMORY_BYTES = 4 * 1024 * 1024 * 1024
_DAMAGED = "fetch or export the file again; it may be cut short"
_GARBLED = re.compile("[\ufffd\ue000-\uf8ff]|\\(cid:")


@dataclass(slots=True)
class _Reading:
    """What the child told before it ended."""

    count: int | None = None
    pages: list[dict[str, Any]] = field(default_factory=list)
    error: str = ""
    protected: bool = False
    attachments: int = 0
    ended: bool = False


def read_pdf(data: bytes, options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Text of a PDF; raises ``DocumentError`` for a password, a damaged file or a crash before page 1.

    Pages that are scanned or could not be read stay out of the text and have a coverage row that says so.
    """
    reading = _parse(_run(data))
    if reading.error == "password":
        raise DocumentError(
            "a PDF without a password is required, this one needs a password to open",
            "remove the password and save it again",
        )
    if reading.error == "memory":
        raise DocumentError(
            f"a PDF that opens in {MEMORY_BYTES >> 30} GiB of memory is required", "print it to a new PDF"
        )
    if reading.error or not reading.count or not reading.pages:
        raise DocumentError("a sound PDF is required, this one is damaged or holds no page", _DAMAGED)
    return _result(reading)


def _run(data: bytes) -> bytes:
    """Output of the child; what it wrote before a crash or the time limit is kept."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [
        sys.executable,
        "-m",
        "softlookup.documents.readers.pdf_child",
        str(CPU_SECONDS),
        str(MEMORY_BYTES),
    ]
    with subprocess.Popen(  # noqa: S603  (our own module, no shell)
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        try:
            return child.communicate(data, timeout=WALL_SECONDS)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            return child.communicate()[0]


def _parse(output: bytes) -> _Reading:
    reading = _Reading()
    for raw in output.split(b"\n"):
        try:
            row = json.loads(raw) if raw else {}
        except ValueError:
            break  # the line that a crash cut off
        if "pages" in row:
            reading.count, reading.protected, reading.attachments = (
                row["pages"],
                row["protected"],
                row["attachments"],
            )
        elif "page" in row:
            reading.pages.append(row)
        reading.error = row.get("error", reading.error)
        reading.ended = reading.ended or "end" in row
    return reading


def _result(reading: _Reading) -> ReaderResult:
    pages = [in_reading_order(_page(row)) for row in reading.pages]
    removed = furniture(pages)
    found = paragraphs(pages, removed)
    text, blocks, generated = _assemble(found)
    rows = _rows(reading, pages, removed)
    return ReaderResult(
        text, blocks, Coverage(rows, pages=reading.count, notes=_notes(reading, removed, text)), generated
    )


def _page(row: dict[str, Any]) -> Page:
    lines = (
        Line(text, left, bottom, right, top, tuple((at, end, start) for at, end, start in gaps))
        for text, left, bottom, right, top, gaps in row["lines"]
    )
    return Page(row["page"], row.get("width", 0.0), row.get("height", 0.0), tuple(lines))


def _assemble(found: list[Paragraph]) -> tuple[str, tuple[Block, ...], tuple[Span, ...]]:
    blocks: list[Block] = []
    joins: list[Span] = []
    length = 0
    for paragraph in found:
        blocks.append(Block(Span(length, length + len(paragraph.text)), page=paragraph.page))
        joins.extend(Span(length + at, length + at + 1) for at in paragraph.joins)
        length += len(paragraph.text) + 1
    return "\n".join(p.text for p in found), tuple(blocks), tuple(joins)


def _rows(reading: _Reading, pages: list[Page], removed: dict[tuple[int, int], str]) -> tuple[CoverageRow, ...]:
    rows: list[CoverageRow] = []
    for page, row in zip(pages, reading.pages, strict=True):
        kept = "".join(line.text for place, line in enumerate(page.lines) if (page.number, place) not in removed)
        state: CoverageState = row["state"]
        reason = row.get("reason", "")
        if state == "scanned":
            reason = "a picture of text; it holds no text to read"
        elif len(_GARBLED.findall(kept)) > 0.05 * max(1, len(kept)):
            reason = "characters without a Unicode value; the text is doubtful"
        if state == "read" and not kept.strip():
            state, reason = "empty", "only a page number or running header"
        rows.append(CoverageRow(f"page {page.number}", state, len(kept) if state == "read" else 0, reason))
    reason = "the reader stopped before this page" if not reading.ended else "more pages than are read"
    missing = range(len(rows) + 1, min(reading.count or 0, 100_000) + 1)
    rows.extend(CoverageRow(f"page {number}", "failed", 0, reason) for number in missing)
    return tuple(rows)


def _notes(reading: _Reading, removed: dict[tuple[int, int], str], text: str) -> tuple[str, ...]:
    notes: list[str] = []
    counts: dict[str, int] = {}
    for pattern in removed.values():
        counts[pattern] = counts.get(pattern, 0) + 1
    for pattern, count in sorted(counts.items(), key=lambda item: -item[1])[:20]:
        notes.append(f"page header or footer left out of the text on {count} pages: {pattern[:80]!r}")
    if reading.protected:
        notes.append("the PDF restricts copying or printing; it opens without a password")
    if reading.attachments:
        notes.append(f"attachments not read: {reading.attachments}")
    if len(_GARBLED.findall(text)) > 0.05 * max(1, len(text)):
        notes.append("many characters have no Unicode value; the text is doubtful")
    return tuple(notes)
