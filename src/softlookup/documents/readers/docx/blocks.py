"""Paragraphs of a DOCX and what holds them: joins, numbers, sections, text boxes; tables in ``docx_tables.py``."""

from __future__ import annotations

import copy
import re
from dataclasses import replace

from lxml import etree

from softlookup.documents.model import Block, BlockKind, Flag, Span
from softlookup.documents.readers.docx.looks import OFF, fill_of
from softlookup.documents.readers.docx.output import Line
from softlookup.documents.readers.docx.package import attribute, child, local
from softlookup.documents.readers.docx.reading import Ending, Label, Story
from softlookup.documents.readers.docx.revisions import CHANGES, Context
from softlookup.documents.readers.docx.runs import (
    bookmark_end,
    bookmark_start,
    branch,
    comment_start,
    control,
    read_inline,
)
from softlookup.documents.readers.docx.tables import read_table

_LONGEST_HEADING = 200
_PLACE = re.compile(r"%([1-9])")
_POINTS = {"bookmarkStart": bookmark_start, "bookmarkEnd": bookmark_end, "commentRangeStart": comment_start}
_INLINE = frozenset(("r", "hyperlink", "fldSimple", "t", "oMath", "oMathPara", "dir", "bdo"))


def read_story(story: Story, element: etree._Element, context: Context) -> None:
    """All of a story; lines that are still open at its end are written."""
    read_blocks(story, element, context)
    flush(story)


def read_blocks(story: Story, element: etree._Element, context: Context) -> None:
    """Paragraphs and tables inside ``element`` in order; wrappers are walked into."""
    for inner in element:
        read_block(story, inner, context)


def read_block(story: Story, element: etree._Element, context: Context) -> None:
    """One paragraph, table or wrapper."""
    name = local(element)
    if name == "p":
        _paragraph(story, element, context)
    elif name == "tbl":
        flush(story)
        read_table(story, element, context, read_block, flush)
    elif name == "sdt":
        control(story, element, context, read_blocks)
    elif name in CHANGES:
        read_blocks(story, element, story.reading.revisions.enter(context, element))
    elif name == "AlternateContent":
        chosen = branch(element)
        if chosen is not None:
            read_blocks(story, chosen, context)
    elif name in _POINTS:
        _POINTS[name](story, element, story.here())
    elif name == "sectPr":
        _end_section(story, element)
    elif name in _INLINE:  # words that lost their paragraph
        _paragraph(story, element, context)
    elif name and not name.endswith("Pr"):
        read_blocks(story, element, context)


def _paragraph(story: Story, element: etree._Element, context: Context) -> None:
    reading = story.reading
    reading.paragraphs[story.part] += 1
    properties, actual = reading.revisions.paragraph_properties(element), child(element, "pPr")
    style = attribute(child(properties, "pStyle"), "val")
    reading.counts["styled"] += bool(style)
    fill = fill_of(child(properties, "shd"))
    fill = reading.looks.paragraph_fill(style) if fill is None else fill
    inner = replace(context, style=style, background=context.background if fill is None else fill)
    mark_properties = child(actual, "rPr")
    mark = reading.revisions.enter_all(inner, mark_properties)
    ending = Ending(properties, style, mark, story.where)
    story.ending = ending
    if local(element) == "p":
        read_inline(story, element, inner)
    else:
        read_inline(story, _alone(element), inner)
    if context.hidden or not context.is_in(reading.view):
        pass  # a row or cell that the view does not have; its words are set aside
    elif not mark.is_in(reading.view):
        story.carried = ending  # joins what comes next
    elif reading.looks.of_run(mark_properties, style).hidden:
        if story.head is None and not story.line.is_blank():
            story.head = ending  # a style separator: what comes next goes on in this line
    else:
        _close(story, story.head or ending)
    section = child(actual, "sectPr")
    if section is not None:
        _end_section(story, section)


def _alone(element: etree._Element) -> etree._Element:
    """A paragraph around one element that stands where paragraphs should."""
    paragraph = etree.Element("p")
    paragraph.append(copy.deepcopy(element))
    return paragraph


def _end_section(story: Story, section: etree._Element) -> None:
    if story.is_main and story.kind == "paragraph":
        point, _ = story.reading.sections[-1]
        story.reading.sections[-1] = (point, section)
        story.reading.sections.append((story.here(), section))


def flush(story: Story) -> None:
    """Write the line that waits for a paragraph to join: there is none where a table, cell or story ends."""
    line, ending = story.line, story.head or story.carried
    if ending is not None and not line.is_blank():
        _close(story, ending)
        return
    story.line, story.head, story.carried = Line(), None, None
    story.output.write(line, story.kind)
    _read_boxes(story)


def _close(story: Story, ending: Ending) -> None:
    """Write the open line as the paragraph that ``ending`` ends."""
    reading = story.reading
    line, story.line, story.head, story.carried = story.line, Line(), None, None
    printed = story.count(ending)
    heading = reading.styles.heading_level(ending.properties, ending.style)
    kind = _kind(story, line, ending, heading=heading, is_numbered=printed is not None)
    flags: tuple[Flag, ...] = tuple(f for f in ending.mark.flags if f in ("deleted", "inserted", "moved"))
    block = Block(Span(0, 0), label=story.label, level=heading, flags=flags, origin=ending.origin)
    lead = story.lead
    if printed is not None:
        label = "" if printed.is_bullet else printed.label
        gap = " " if printed.is_bullet else printed.gap or " "
        lead += printed.label + gap
        block = replace(block, label=block.label or label, level=printed.level, list_id=printed.list_id)
    if story.output.write(line, kind, lead=lead, block=block):
        story.lead = story.label = ""
        if printed is not None and block.label and story.is_main:
            lowest = _lowest_level(story, ending)
            place = len(story.output.blocks) - 1
            reading.labels.append(Label(place, printed.list_id, printed.level, block.label, lowest))
    _read_boxes(story)


def _kind(story: Story, line: Line, ending: Ending, *, heading: int | None, is_numbered: bool) -> BlockKind:
    if story.kind != "paragraph":
        return story.kind
    if line.has_contents or story.reading.styles.is_contents(ending.style):
        return "toc"
    if heading is not None and sum(len(piece) for piece in line.pieces) <= _LONGEST_HEADING:
        return "heading"
    if is_numbered:
        return "list_item"
    return "paragraph" if story.cell is None else "table_cell"


def _lowest_level(story: Story, ending: Ending) -> int:
    """Outermost level whose number the label of the paragraph prints itself."""
    number_id, level = story.number_of(ending)
    instance = story.numbering.instances.get(number_id)
    definition = None if instance is None else instance.levels.get(level)
    places = [int(p) - 1 for p in _PLACE.findall(definition.text)] if definition is not None else []
    return min([level, *places])


def _read_boxes(story: Story) -> None:
    """Text boxes that are anchored in the paragraph just written, each a story of its own."""
    boxes, story.boxes = story.boxes, []
    for element, context in boxes:
        inner = Story(
            story.reading, story.output, story.part, "textbox" if story.kind == "paragraph" else story.kind,
            story.reading.fresh_numbering(), is_main=story.is_main,
        )  # fmt: skip
        before = len(story.output.blocks)
        background = "FFFFFF" if _is_unfilled(element) else ""
        read_story(inner, element, replace(context, background=background))
        story.reading.counts["textboxes"] += len(story.output.blocks) > before


def _is_unfilled(box: etree._Element) -> bool:
    """True when the shape around a text box says that it has no fill; styles fill many shapes."""
    for shape in box.iterancestors():
        if local(shape) == "wsp":
            return child(child(shape, "spPr"), "noFill") is not None
        if local(shape) in ("shape", "rect", "roundrect"):
            return attribute(shape, "filled") in ("f", *OFF)
    return False
