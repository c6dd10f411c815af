"""The state of one reading of a DOCX in one view, and of one story (body, text box, note, header) in it.

No walking of the file here: ``docx_runs.py`` reads paragraphs, ``docx_blocks.py`` what holds them.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field

from lxml import etree

from softlookup.documents.model import BlockKind, Flag, View
from softlookup.documents.readers.docx.fields import Field, Instruction
from softlookup.documents.readers.docx.list_fields import FieldNumber, FieldPlace, ListFields
from softlookup.documents.readers.docx.looks import Looks
from softlookup.documents.readers.docx.numbering import Numbering, Printed
from softlookup.documents.readers.docx.output import Line, Output, Point
from softlookup.documents.readers.docx.package import child
from softlookup.documents.readers.docx.revisions import Context, Revisions
from softlookup.documents.readers.docx.styles import Styles


@dataclass(slots=True)
class Bookmark:
    """A named stretch of the text; ``end`` is None while it is open."""

    start: Point
    end: Point | None = None


@dataclass(frozen=True, slots=True)
class Pointer:
    """Printed words that name a bookmark: the result of a REF field, or an internal hyperlink."""

    start: Point
    end: Point
    bookmark: str
    instruction: Instruction | None = None  # None for a hyperlink


@dataclass(frozen=True, slots=True)
class Label:
    """An automatic number as it stands in ``Output.blocks[block]``, with what is needed for its full context."""

    block: int
    list_id: str
    level: int
    label: str
    lowest_level: int  # the outermost level that the label itself shows


@dataclass(frozen=True, slots=True)
class Ending:
    """What decides how the line is written that a paragraph ends."""

    properties: etree._Element | None
    style: str
    mark: Context
    origin: str


@dataclass(slots=True)
class Reading:
    """What is known of the whole document while it is read."""

    revisions: Revisions
    looks: Looks
    styles: Styles
    numbering: Numbering  # never advanced; every story counts in a copy
    counts: Counter[str] = field(default_factory=Counter)
    paragraphs: Counter[str] = field(default_factory=Counter)  # by part
    notes: dict[tuple[str, str], int] = field(default_factory=dict)  # (kind, id) -> number in the view
    waiting_notes: dict[str, list[str]] = field(default_factory=dict)  # marked, not read yet
    absent_notes: dict[tuple[str, str], tuple[Point, tuple[Flag, ...]]] = field(default_factory=dict)
    comments: dict[str, Point] = field(default_factory=dict)
    sections: list[tuple[Point, etree._Element]] = field(default_factory=list)
    bookmarks: dict[str, Bookmark] = field(default_factory=dict)
    open_bookmarks: dict[str, Bookmark] = field(default_factory=dict)
    pointers: list[Pointer] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    without_result: Counter[str] = field(default_factory=Counter)

    @property
    def view(self) -> View:
        """The view that is read."""
        return self.revisions.view

    def fresh_numbering(self) -> Numbering:
        """Lists with counters that have not started."""
        return _copy(self.numbering)


def _copy(numbering: Numbering) -> Numbering:
    """``numbering`` with counters of its own; the definitions are shared, they do not change."""
    shared = {id(part): part for part in (numbering.instances, numbering.named)}
    return copy.deepcopy(numbering, shared)


@dataclass(slots=True)
class Story:
    """One run of paragraphs with counters and fields of its own.

    ``kind`` is "paragraph" for the body; in other stories every block has the story's kind.
    """

    reading: Reading
    output: Output
    part: str
    kind: BlockKind
    numbering: Numbering
    is_main: bool = True  # its offsets are those of the document
    lead: str = ""  # goes before the first block: the mark of a footnote
    label: str = ""
    line: Line = field(default_factory=Line)
    fields: list[Field] = field(default_factory=list)
    instructions: int = 0  # open fields whose instruction is being read
    printed: int = 0  # pieces of text so far, by which a field knows whether it had a result
    boxes: list[tuple[etree._Element, Context]] = field(default_factory=list)
    head: Ending | None = None  # the first paragraph of a line that a hidden mark runs on
    carried: Ending | None = None  # the last paragraph of a line whose mark is not in the view
    cell: tuple[int, int, int] | None = None  # table, row, column
    contents: int = 0  # open fields that hold a table of contents
    ending: Ending | None = None  # the paragraph now read
    _numbered: tuple[Ending, Printed | None] | None = None  # its number, when that was counted already
    _list_fields: ListFields | None = None

    @property
    def where(self) -> str:
        """The paragraph now read, such as "word/document.xml p12 table 1 row 2 column 3"."""
        place = "" if self.cell is None else " table {} row {} column {}".format(*self.cell)
        return f"{self.part} p{self.reading.paragraphs[self.part]}{place}"

    @property
    def aside_kind(self) -> BlockKind:
        """Kind of what is set aside here."""
        return "table_cell" if self.cell is not None and self.kind == "paragraph" else self.kind

    def here(self) -> Point:
        """The place that is read next, inside an open line or before the next one."""
        return self.line.point() if self.line.length else self.output.point()

    def put(self, text: str, context: Context, *, is_generated: bool = False) -> None:
        """Add printed words: to the line when the view shows them, else beside the text."""
        if not text:
            return
        if self.instructions:
            outer = next((f for f in self.fields[-1:-9:-1] if f.in_instruction), None)
            if outer is not None:  # the result of a field inside the instruction of another
                outer.words.append(text)
            if not is_generated:
                self._set_aside(text, (*context.flags, "field"))
            return
        self.printed += 1
        flags = context.flags
        if not context.is_shown(self.reading.view):
            if not is_generated:
                self._set_aside(text, flags)
                if context.is_unseen and context.is_in(self.reading.view):
                    self.reading.counts["hidden_characters"] += len(text)
            return
        start = self.line.point() if flags or is_generated else None
        self.line.add(text)
        self.line.has_contents = self.line.has_contents or self.contents > 0
        if start is not None:
            end = self.line.point()
            for flag in flags:
                self.output.mark(start, end, flag, context.detail)
            if is_generated:
                self.output.is_generated(start, end)

    def _set_aside(self, text: str, flags: tuple[Flag, ...]) -> None:
        self.output.set_aside(self.line, text, self.aside_kind, flags, self.where)

    def number_of(self, ending: Ending) -> tuple[str, int]:
        """(list, level) of a paragraph; ("", 0) when it has no number."""
        reading = self.reading
        added = reading.revisions.numbers_were_added(child(ending.properties, "numPr"))
        properties = None if added else ending.properties
        number_id, level = reading.styles.numbering_of(properties, ending.style, reading.numbering)
        return ("", 0) if number_id == "0" else (number_id, level)

    def count(self, ending: Ending) -> Printed | None:
        """Count a paragraph in its list; what it prints. A second call for it counts nothing."""
        if self._numbered is not None and self._numbered[0] is ending:
            return self._numbered[1]
        number_id, level = self.number_of(ending)
        printed: Printed | None = None
        if number_id:
            self.reading.counts["numbered"] += 1
            # the number of a deleted paragraph is printed, but the next paragraph gets the same one
            is_gone = ending.mark.deleted and self.reading.view == "markup"
            printed = (_copy(self.numbering) if is_gone else self.numbering).advance(number_id, level)
        self._numbered = (ending, printed)
        return printed

    def field_number(self, instruction: str, context: Context) -> FieldNumber | None:
        """What a field prints that counts: LISTNUM and the like; the paragraph counts before its fields."""
        if self.ending is None or not context.is_shown(self.reading.view):
            return None
        self.count(self.ending)
        if self._list_fields is None:
            self._list_fields = ListFields(self.numbering)
        number_id, level = self.number_of(self.ending)
        heading = self.reading.styles.heading_level(self.ending.properties, self.ending.style)
        place = FieldPlace(number_id, level, heading, after_text=not self.line.is_blank())
        return self._list_fields.number(instruction, place)
