"""What became of every page: state and reason, counts and notes for the coverage account; no text is changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.documents.model import Aside, Coverage, CoverageCounts, CoverageRow, CoverageState
from softlookup.documents.readers.pdf.chars import PageLines
from softlookup.documents.readers.pdf.frames import FileFrame, PageFrame
from softlookup.documents.readers.pdf.hidden import image_cover
from softlookup.documents.readers.pdf.layout import Layout
from softlookup.documents.readers.pdf.lines import Line

_FEW_CHARACTERS = 20
_STAMP_CHARACTERS = 300  # a fax line or a stamp over a scan
_BAND = 0.12
_FULL = 0.85  # share of the page that a scan covers for certain
_HALF = 0.5
_OUTLINES = 400  # segments of paths: letters drawn as outlines
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_LOST = re.compile("[\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]")
_GARBLED = 0.05  # share of the characters
_MOST_ROWS = 100_000
_HIDDEN = ("hidden", "low_contrast", "tiny", "offpage")
_SCANNED = "a picture of text; it holds no text to read"


@dataclass(slots=True)
class PageAccount:
    """One page on its way into the text."""

    number: int
    state: CoverageState
    reason: str = ""
    lines: PageLines | None = None
    frame: PageFrame | None = None
    stray: tuple[Line, ...] = ()  # characters on a scan that OCR has read
    in_text: int = 0
    beside: int = 0


def judge(frame: PageFrame, found: PageLines) -> PageAccount:
    """State of a page that pdfium read: text, a scan, or empty."""
    account = PageAccount(frame.number, "read", lines=found, frame=frame)
    seen = [line for line in found.lines if line.aside is None]
    characters = sum(len("".join(line.text.split())) for line in seen)
    if is_scan(frame, found, seen, characters):
        account.state, account.reason = "scanned", _SCANNED
    elif not characters:
        account.state = "empty"
        if any(line.aside for line in found.lines):
            account.reason = "only text that is not to be seen"
        elif frame.pictures:
            account.reason = "only a small picture"
    elif is_garbled(frame, seen):
        account.reason = "characters without a Unicode value; the text is doubtful"
    elif sum(len(line.text) for line in seen if line.flag == "ocr_layer") > 0.5 * characters:
        account.reason = "text layer made by OCR"
    if frame.cut:
        account.state, account.reason = "failed", "only a part is read, the page holds too many characters"
    return account


def is_scan(frame: PageFrame, found: PageLines, seen: Sequence[Line], characters: int) -> bool:
    """True for a page whose text is a picture or outlines; stray characters, stamps and fax lines may stand on it."""
    if characters >= _STAMP_CHARACTERS:
        return False
    cover = image_cover(frame)
    if characters < _FEW_CHARACTERS:
        return cover >= _HALF or frame.paths >= _OUTLINES
    at_the_edge = all(
        line.bottom > (1 - _BAND) * found.height or line.top < _BAND * found.height or line.flag == "rotated"
        for line in seen
    )
    return cover >= _FULL and at_the_edge and all(line.flag != "ocr_layer" for line in seen)


def is_garbled(frame: PageFrame, seen: Sequence[Line]) -> bool:
    """True when the characters of a page are no text: lost or private code points, or no map at all."""
    total = sum(len(line.text) for line in seen)
    # a private character that begins a line is a bullet of a symbol font
    lost = sum(len(_LOST.findall(line.text)) - bool(_PRIVATE.match(line.text)) for line in seen)
    cids = sum(line.text.count("(cid:") for line in seen) * 6
    return total > 0 and (frame.unmapped > _GARBLED or lost + cids > _GARBLED * total)


def coverage(
    file: FileFrame, pages: Sequence[PageAccount], layout: Layout, asides: Sequence[Aside], patterns: Sequence[str]
) -> Coverage:
    """The account of the whole file; ``patterns`` are those of the furniture that was taken out."""
    rows = [_row(page) for page in pages]
    missing = range(len(rows) + 1, min(file.pages, _MOST_ROWS) + 1)
    reason = "more pages or more text than is read"
    if pages[-1].state == "failed":
        reason = "the reader stopped before this page"
    rows.extend(CoverageRow(f"page {number}", "failed", 0, reason) for number in missing)
    for name in file.attachments:
        rows.append(CoverageRow(f"attachment {name}".strip(), "skipped", 0, "a file attached to the PDF is not read"))
    return Coverage(
        tuple(rows),
        pages=file.pages,
        notes=tuple(_notes(file, pages, asides, patterns)),
        counts=_counts(pages, layout, asides),
    )


def _row(page: PageAccount) -> CoverageRow:
    state, reason = page.state, page.reason
    if state in ("read", "ocr") and not page.in_text:
        state, reason = "empty", reason or "only a page number or running header"
    return CoverageRow(f"page {page.number}", state, page.in_text, reason, page.beside)


def _counts(pages: Sequence[PageAccount], layout: Layout, asides: Sequence[Aside]) -> CoverageCounts:
    states = Counter(page.state for page in pages)
    kinds = [paragraph.kind == "table_cell" for paragraph in layout.paragraphs]
    frames = [page.frame for page in pages if page.frame is not None]
    return CoverageCounts(
        tables=sum(here and not before for before, here in zip([False, *kinds], kinds, strict=False)),
        footnotes=sum(paragraph.kind == "footnote" for paragraph in layout.paragraphs),
        comments=sum(aside.kind == "comment" for aside in asides),
        headers=sum(aside.kind == "header" for aside in asides),
        footers=sum(aside.kind == "footer" for aside in asides),
        textboxes=sum(aside.kind == "textbox" for aside in asides),
        pictures=sum(frame.pictures for frame in frames),
        form_fields=sum(frame.fields for frame in frames),
        hidden_characters=sum(len(a.text) for a in asides if any(flag in _HIDDEN for flag in a.flags)),
        ocr_pages=states["ocr"],
        scanned_pages=states["scanned"],
        empty_pages=states["empty"],
    )


def _notes(
    file: FileFrame, pages: Sequence[PageAccount], asides: Sequence[Aside], patterns: Sequence[str]
) -> list[str]:
    notes = []
    if patterns:
        lines = "1 line was" if len(patterns) == 1 else f"{len(patterns)} lines were"
        notes.append(f"{lines} set aside as running headers, footers or page numbers and left out of the text")
    notes += [
        f"page header or footer left out of the text on {_counted(count, 'page')}: {pattern[:80]!r}"
        for pattern, count in Counter(patterns).most_common(20)
    ]
    for flag, what in (
        ("hidden", "painted without ink"),
        ("low_contrast", "in white on white"),
        ("tiny", "smaller than one point"),
        ("offpage", "outside the page"),
    ):
        count = sum(len(aside.text) for aside in asides if flag in aside.flags)
        if count:
            notes.append(f"hidden text left out of the text, {what}: {count} characters")
    doubled = sum(page.lines.doubled for page in pages if page.lines)
    if doubled:
        notes.append(f"characters printed twice to look bold, taken once: {doubled}")
    if any("OCR" in page.reason for page in pages if page.state == "read"):
        notes.append("the text of scanned pages comes from a text layer made by OCR; it may be wrong")
    if file.protected:
        notes.append("the PDF restricts copying or printing; it opens without a password")
    if any(page.reason.startswith("characters without") for page in pages):
        notes.append("many characters have no Unicode value; the text is doubtful")
    labels = _labels([page.frame.label if page.frame else "" for page in pages])
    if labels:
        notes.append(labels)
    return notes


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _labels(labels: Sequence[str]) -> str:
    """Note of the page labels of the file ("" when it has none, or they are the page numbers)."""
    if all(label in ("", str(number)) for number, label in enumerate(labels, 1)):
        return ""
    shown = [label or str(number) for number, label in enumerate(labels, 1)]
    listed = ", ".join(shown if len(shown) <= 12 else [*shown[:8], "...", *shown[-3:]])
    return f"the file labels its pages {listed}"
