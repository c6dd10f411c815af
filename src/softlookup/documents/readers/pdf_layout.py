"""Undoes page layout: wrapped lines and cut words become paragraphs; works on lines with boxes.

Knows nothing of PDF or pdfium. Offsets inside a paragraph are in characters.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from softlookup.documents.model import BlockKind, Flag
from softlookup.documents.numbering import FOLD, label_at
from softlookup.documents.readers.pdf_hyphens import CUT, MARKS, Hyphens

_FINAL = tuple('.;:!?。；：！？”"')
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\w{0,5}\s*\Z|…{2,}\s*\d*\s*\Z")
_HAN = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—\U00020000-\U0003ffff]")
_DEFINES = re.compile(r"[“\"][A-Z][^”\"]{1,60}[”\"]\s{1,3}(?:means?|shall mean|has the meaning|is defined)\b")
_LONGEST_LABEL = 14  # characters, with the blank after it
_TAIL = 400  # characters at the end of a line that decide
_TABLE_ROWS = 3  # rows one after another


@dataclass(frozen=True, slots=True)
class Line:
    """A printed line with its box in points, origin at the lower left.

    ``gaps`` are its wide blanks: (place in the text, right end before, left end after). ``edges`` are those of
    ``TextLine``. ``flag`` (with ``detail``) is true of the line and goes with it into the text; a line with
    ``aside`` stays out of the text for these reasons.
    """

    text: str
    left: float = 0.0
    bottom: float = 0.0
    right: float = 0.0
    top: float = 0.0
    gaps: tuple[tuple[int, float, float], ...] = ()
    edges: bytes = field(default=b"", repr=False)
    flag: Flag | None = None
    detail: str = ""
    aside: tuple[Flag, ...] | None = None

    @property
    def height(self) -> float:
        """Height of the characters in points."""
        return self.top - self.bottom

    def part(self, start: int, stop: int) -> Line:
        """The characters ``start`` to ``stop`` as a line of their own; its sides are those of its edges."""
        edges = self.edges[8 * start : 8 * stop]
        left, right = self.left, self.right
        if edges:
            sides = memoryview(edges).cast("f")
            left, right = min(sides[::2]), max(sides[1::2])
        gaps = tuple((at - start, end, begin) for at, end, begin in self.gaps if start < at < stop)
        return replace(self, text=self.text[start:stop], left=left, right=right, gaps=gaps, edges=edges)


@dataclass(frozen=True, slots=True)
class Page:
    """Lines of a page in reading order; ``number`` counts from 1. ``turn``: see ``PageLines``."""

    number: int
    width: float
    height: float
    lines: tuple[Line, ...]
    turn: int = 0
    flags: tuple[Flag, ...] = ()
    has_fields: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A line at its place in a paragraph: ``length`` characters of it from ``offset`` on."""

    offset: int
    length: int
    line: Line
    page: Page


@dataclass(frozen=True, slots=True)
class Beside:
    """A line that stays out of the text, and where it stood: in paragraph ``paragraph`` at ``offset``."""

    line: Line
    page: Page
    kind: BlockKind
    paragraph: int
    offset: int


@dataclass(slots=True)
class Paragraph:
    """Joined lines; ``joins`` are the offsets of blanks that replace a line end."""

    page: int
    kind: BlockKind = "paragraph"
    parts: list[str] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    joins: list[int] = field(default_factory=list)
    length: int = 0

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self.parts)

    def add(self, text: str, line: Line, page: Page) -> None:
        """Append a line as it is."""
        self.pieces.append(Piece(self.length, len(text), line, page))
        self.parts.append(text)
        self.length += len(text)

    def replace_end(self, taken: int, put: str) -> None:
        """Replace the last ``taken`` characters, which belong to the last line, by as many or none."""
        last = self.pieces[-1]
        self.parts[-1] = self.parts[-1][: len(self.parts[-1]) - taken] + put
        self.length += len(put) - taken
        self.pieces[-1] = replace(last, length=last.length - taken + len(put))

    def blank(self) -> None:
        """Append the blank that stands for a line end."""
        self.joins.append(self.length)
        self.parts.append(" ")
        self.length += 1


@dataclass(slots=True)
class Layout:
    """Paragraphs of a document and what stands beside them, both in order; ``cut`` hyphens were taken off."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    beside: list[Beside] = field(default_factory=list)
    cut: dict[int, int] = field(default_factory=dict)


def paragraphs(pages: Sequence[Page], removed: Mapping[tuple[int, int], BlockKind]) -> Layout:
    """Paragraphs of all pages in order; one may run on over a page break."""
    hyphens = Hyphens(line.text for page in pages for line in page.lines)
    layout = Layout()
    before: Line | None = None
    for page in pages:
        kept = [line for i, line in enumerate(page.lines) if (page.number, i) not in removed and line.aside is None]
        pitch, right = _pitch(kept), _right_margin(kept)
        rows = _table_rows(kept)
        first = True
        at = -1
        for index, line in enumerate(page.lines):
            kind = removed.get((page.number, index))
            if kind is not None or line.aside is not None:
                _put_beside(layout, line, page, kind or "paragraph")
                continue
            at += 1
            text = line.text.strip(" \t")
            if not text.strip(" \u00ad\ufffe"):
                _put_beside(layout, line, page, "paragraph")
                continue
            in_table = at in rows
            if before is None or in_table or before.flag != line.flag or (at - 1 in rows and not first):
                starts = True
            elif first:
                starts = starts_after_break(before.text, text)
            else:
                starts = _starts(before, line, text, pitch, right)
            if starts:
                layout.paragraphs.append(Paragraph(page.number, "table_cell" if in_table else "paragraph"))
                layout.paragraphs[-1].add(text, line, page)
            else:
                _join(layout, text, line, page, hyphens)
            before, first = line, False
    for paragraph in layout.paragraphs:
        _without_marks(paragraph)
    return layout


def _put_beside(layout: Layout, line: Line, page: Page, kind: BlockKind) -> None:
    last = len(layout.paragraphs) - 1
    offset = layout.paragraphs[-1].length if layout.paragraphs else 0
    layout.beside.append(Beside(line, page, kind, last, offset))


def _table_rows(lines: Sequence[Line]) -> set[int]:
    """Indices of lines with tabs that stand one after another: rows of a table."""
    found: set[int] = set()
    for has_tab, group in itertools.groupby(range(len(lines)), key=lambda i: "\t" in lines[i].text):
        run = list(group)
        if has_tab and len(run) >= _TABLE_ROWS:
            found.update(run)
    return found


def _without_marks(paragraph: Paragraph) -> None:
    for mark in MARKS:
        if any(mark in part for part in paragraph.parts):
            paragraph.parts = [part.replace(mark, "-") for part in paragraph.parts]


def _pitch(lines: Sequence[Line]) -> float:
    """Usual distance between baselines of neighbouring lines; 0 when unknown."""
    gaps = [round(a.bottom - b.bottom, 1) for a, b in itertools.pairwise(lines) if 4 < a.bottom - b.bottom < 40]
    return sorted(gaps)[len(gaps) // 3] if gaps else 0.0


def _right_margin(lines: Sequence[Line]) -> float:
    rights = sorted(line.right for line in lines)
    return rights[int(len(rights) * 0.9)] if rights else 0.0


def opens_label(text: str) -> bool:
    """True when the line starts with a clause label that is no plain number before a lower-case word."""
    head = text[:200]
    folded = head.translate(FOLD)
    label = label_at(folded, 0, head)
    if label is None:
        return False
    rest = folded[label.end :].lstrip(" .")
    bare = label.readings[0].style == "decimal1" and folded[label.end - 1 : label.end] not in (".", "、", ")")
    if bare or (label.has_keyword and not folded.startswith(("第", "附"))):
        return bool(rest[:1].isupper()) or not rest or rest[:1] in "-–—:"
    return True


def starts_after_break(previous: str, text: str) -> bool:
    """True when ``text``, the first line of a page, does not go on with ``previous``, the last one before."""
    if opens_label(text) or _LEADERS.search(previous[-_TAIL:]):
        return True
    if previous.endswith(CUT):
        return False
    return previous.endswith(_FINAL) or not (text[0].islower() or (_HAN.match(text[0]) and _HAN.match(previous[-1])))


def _starts(before: Line, line: Line, text: str, pitch: float, right: float) -> bool:
    """True when ``line`` begins a paragraph on the same page as ``before``."""
    previous = before.text
    if _LEADERS.search(previous[-_TAIL:]) or _LEADERS.search(text[-_TAIL:]):
        return True
    if line.top == 0.0 == line.bottom:  # no geometry for this page
        return opens_label(text) or previous.endswith(_FINAL)
    gap = before.bottom - line.bottom
    if gap < -2.0 or (pitch and gap > 1.45 * pitch and gap > 1.2 * line.height):
        return not (gap < -2.0 and text[0].islower())
    if abs(gap) < 1.0 and line.left >= before.right:
        return False  # the same printed line in two runs
    final = previous.endswith(_FINAL)
    if final and (_DEFINES.match(text) or (pitch and gap > 1.15 * pitch)):
        return True
    short = right > 0 and before.right < right - 0.12 * right
    if opens_label(text) and (final or short or abs(line.left - before.left) > 0.5):
        return True
    if short and (final or not text[0].islower()):
        return not previous.endswith((",", "，", "、")) or final
    return final and line.left > before.left + 12.0 and abs(line.left - _text_left(before)) > 3.0


def _text_left(line: Line) -> float:
    """Where the text of a line begins: after its label when that hangs out to the left."""
    if line.gaps and line.gaps[0][0] <= _LONGEST_LABEL:
        return line.gaps[0][2]
    return line.left


def _join(layout: Layout, text: str, line: Line, page: Page, hyphens: Hyphens) -> None:
    """Append a wrapped line: a word cut at the line end is joined, Chinese runs on, else a blank."""
    paragraph = layout.paragraphs[-1]
    head = paragraph.parts[-1]
    cut = hyphens.join(head, text)
    if cut is not None:
        paragraph.replace_end(*cut)
        if not cut[1]:
            where = paragraph.pieces[-1].page.number
            layout.cut[where] = layout.cut.get(where, 0) + 1
    elif not (_HAN.match(head[-1]) and _HAN.match(text[0])):
        paragraph.blank()
    paragraph.add(text, line, page)
