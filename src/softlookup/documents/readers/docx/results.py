"""What becomes of the result of a field in DOCX: printed, marked, linked; computed when the file stores none.

Not for the parts of a field (``docx_fields.py``) or for what a reference points to (``docx_links.py``).
"""

from __future__ import annotations

import re

from lxml import etree

from softlookup.documents.readers.docx.fields import CONTENTS, NUMBERS, Field, form_result, parse_instruction
from softlookup.documents.readers.docx.output import Point
from softlookup.documents.readers.docx.package import attribute, child
from softlookup.documents.readers.docx.reading import Pointer, Story
from softlookup.documents.readers.docx.revisions import Context
from softlookup.documents.readers.docx.symbols import symbol

# fields that print nothing or a number of pages: nothing is missing from the text when they have no result
_SILENT = frozenset((
    "TC", "XE", "TA", "RD", "SET", "ASK", "NEXT", "NEXTIF", "SKIPIF", "PRIVATE", "ADVANCE", "DATA", "PAGE", "NUMPAGES",
    "SECTIONPAGES",
))  # fmt: skip
_UNMARKED = frozenset(("HYPERLINK", "FORMTEXT", "FORMCHECKBOX", "FORMDROPDOWN")) | CONTENTS


def field_char(story: Story, element: etree._Element, context: Context) -> None:
    """Begin, middle or end of a complex field."""
    kind = attribute(element, "fldCharType")
    if kind == "begin":
        form = child(element, "ffData")
        story.reading.counts["form_fields"] += form is not None
        story.fields.append(Field(form=form))
        story.instructions += 1
    elif kind == "separate" and story.fields:
        open_result(story, story.fields[-1])
    elif kind == "end" and story.fields:
        end_field(story, story.fields.pop(), context)


def instruction(story: Story, element: etree._Element, _: Context) -> None:
    """Part of the instruction of the innermost field; without a field it is no text."""
    if story.fields and story.fields[-1].in_instruction:
        story.fields[-1].words.append(element.text or "")


def open_result(story: Story, opened: Field) -> None:
    """The result of ``opened`` begins here."""
    story.instructions -= opened.in_instruction
    opened.in_instruction = False
    opened.start, opened.printed = story.line.point(), story.printed
    opened.is_in_contents = story.contents > 0
    opened.is_contents = opened.name in CONTENTS
    story.contents += opened.is_contents


def end_field(story: Story, ended: Field, context: Context) -> None:
    """Note what the result of a field is; print what Word would when it stores none."""
    instruction = parse_instruction(ended.instruction)
    name = instruction.name
    story.contents -= ended.is_contents
    story.instructions -= ended.in_instruction
    start = ended.start or story.line.point()
    detail = ended.instruction[:200]
    if ended.in_instruction or story.printed == ended.printed:
        printed, how = _without_result(story, ended, context)
        detail += how
        story.put(printed, context, is_generated=True)
        if not printed and name and name not in _SILENT and context.is_shown(story.reading.view):
            story.reading.without_result[name] += 1
    end = story.line.point()
    if name == "HYPERLINK" and instruction.value("l"):
        points_to(story, start, end, instruction.value("l"))
    elif name in ("REF", "NOTEREF", "PAGEREF") and instruction.arguments and story.is_main:
        story.reading.pointers.append(Pointer(start, end, instruction.arguments[0], instruction))
    elif name and not instruction.arguments and story.is_main:  # a bookmark's name alone means REF
        story.reading.pointers.append(Pointer(start, end, ended.instruction.split()[0], instruction))
    if name not in _UNMARKED and not ended.is_in_contents:
        story.output.mark(start, end, "field", detail)


def _without_result(story: Story, ended: Field, context: Context) -> tuple[str, str]:
    """What Word prints for a field that stores nothing, and what is to be said of it."""
    instruction = parse_instruction(ended.instruction)
    if instruction.name in NUMBERS:
        number = story.field_number(ended.instruction, context)
        story.reading.counts["computed_numbers"] += number is not None
        if number is None:
            return "", ""
        return number.text, " (computed)" if number.certain else " (computed, Word may print another number)"
    if instruction.name in ("MACROBUTTON", "GOTOBUTTON"):  # its text stands in the instruction
        return " ".join(ended.instruction.split()[2:]), ""
    if instruction.name == "SYMBOL" and instruction.arguments[:1] and instruction.arguments[0].isdecimal():
        font = re.search(r'\\f\s*"?([^"\\]{1,60})', ended.instruction)
        return symbol(font[1].strip() if font else "", f"{int(instruction.arguments[0][:6]):X}"), ""
    return form_result(ended.form), ""


def points_to(story: Story, start: Point, end: Point, bookmark: str) -> None:
    """Printed words name a bookmark."""
    if story.is_main:
        story.reading.pointers.append(Pointer(start, end, bookmark))
