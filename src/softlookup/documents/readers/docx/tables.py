"""Tables of a DOCX, row by row and cell by cell; what stands in a cell is read by ``docx_blocks.py``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from lxml import etree

from softlookup.documents.readers.docx.looks import OFF, fill_of
from softlookup.documents.readers.docx.package import attribute, child, local
from softlookup.documents.readers.docx.reading import Story
from softlookup.documents.readers.docx.revisions import CHANGES, Context
from softlookup.documents.readers.docx.runs import branch

_MAX_SPAN = 63  # Word's own limit of columns

ReadBlock = Callable[[Story, etree._Element, Context], None]
Flush = Callable[[Story], None]


def read_table(story: Story, table: etree._Element, context: Context, read: ReadBlock, flush: Flush) -> None:
    """Rows of short cells become a line each, cells parted by tabs; other rows keep their paragraphs.

    A cell that is empty, or that a merged cell above covers, leaves its tab, so that columns stay in line.
    """
    outer = story.cell
    story.reading.counts["tables"] += story.is_main and context.is_in(story.reading.view)
    number = story.reading.counts[f"tables of {story.part}"] = story.reading.counts[f"tables of {story.part}"] + 1
    properties = child(table, "tblPr")
    context = replace(context, background=_background(story, properties, context))
    for place, (row, inside) in enumerate(_nested(story, table, "tr", context), start=1):
        if local(row) == "tr":
            _read_row(story, row, inside, (number, place), read, flush)
        else:  # a paragraph that stands where a row should
            read(story, row, inside)
            flush(story)
    story.cell = outer


def _background(story: Story, properties: etree._Element | None, context: Context) -> str:
    """Colour behind the cells; "" when the table's style may give one."""
    fill = fill_of(child(properties, "shd"))
    if fill is not None:
        return fill
    style = attribute(child(properties, "tblStyle"), "val")
    return "" if story.reading.looks.may_be_shaded(style) else context.background


def _read_row(
    story: Story, row: etree._Element, context: Context, place: tuple[int, int], read: ReadBlock, flush: Flush
) -> None:
    reading, output = story.reading, story.output
    properties = child(row, "trPr")
    context = reading.revisions.enter_all(context, properties)
    hidden = child(properties, "hidden")
    if hidden is not None and attribute(hidden, "val") not in OFF:
        context = replace(context, hidden=True)
    cells = list(_nested(story, row, "tc", context))
    column = 1 + _number(child(properties, "gridBefore"), 0)
    output.in_row = all(_is_short(cell) for cell, _ in cells)
    is_first = True
    for cell, around in cells:
        cell_properties = child(cell, "tcPr")
        inside = reading.revisions.enter_all(around, cell_properties)
        if not is_first and output.in_row and inside.is_in(reading.view):
            output.gap += "\t"
        is_first = is_first and not inside.is_in(reading.view)
        if _is_covered(cell_properties):
            inside = replace(inside, hidden=True)
        fill = fill_of(child(cell_properties, "shd"))
        if fill is not None:
            inside = replace(inside, background=fill)
        story.cell = (*place, column)
        if local(cell) == "tc":
            for inner in cell:
                if local(inner) != "tcPr":
                    read(story, inner, inside)
        else:
            read(story, cell, inside)
        flush(story)
        column += _number(child(cell_properties, "gridSpan"), 1)
    output.in_row, output.gap = False, "\n"


def _nested(
    story: Story, element: etree._Element, name: str, context: Context
) -> Iterator[tuple[etree._Element, Context]]:
    """Nearest descendants ``name`` through wrappers, and stray paragraphs and tables on the way."""
    for inner in element:
        tag = local(inner)
        if tag in (name, "p", "tbl", "tc"):
            yield inner, context
        elif tag in CHANGES:
            yield from _nested(story, inner, name, story.reading.revisions.enter(context, inner))
        elif tag == "AlternateContent":
            chosen = branch(inner)
            if chosen is not None:
                yield from _nested(story, chosen, name, context)
        elif tag and not tag.endswith(("Pr", "PrEx")):
            yield from _nested(story, inner, name, context)


def _is_short(cell: etree._Element) -> bool:
    """True for a cell of one paragraph at most."""
    paragraphs = 0
    for element in cell.iter():
        name = local(element)
        if name in ("tbl", "txbxContent", "txBody"):
            return False
        paragraphs += name == "p"
        if paragraphs > 1:
            return False
    return True


def _is_covered(properties: etree._Element | None) -> bool:
    """True for a cell that another one, merged with it, covers: Word prints nothing of it."""
    for name in ("vMerge", "hMerge"):
        merge = child(properties, name)
        if merge is not None and attribute(merge, "val") != "restart":
            return True
    return False


def _number(element: etree._Element | None, default: int) -> int:
    value = attribute(element, "val")
    return min(int(value), _MAX_SPAN) if value.isdecimal() and len(value) < 8 else default
