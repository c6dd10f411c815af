"""Word documents: the text as printed in the final view, automatic numbers included; no clause structure.

Insertions are in, deletions out; hidden text stays out and is counted. Footnotes follow the body.
Every part that is not read gets a coverage row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lxml import etree

from softlookup.documents.model import Block, BlockKind, Coverage, CoverageRow, CoverageState, Span
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.docx_numbering import Numbering, Printed, parse_numbering
from softlookup.documents.readers.docx_package import Package, Relationship, attribute, child, children, local
from softlookup.documents.readers.docx_styles import Styles, parse_styles

_DESCEND = frozenset((
    "r", "ins", "moveTo", "hyperlink", "smartTag", "customXml", "fldSimple", "dir", "bdo", "sdt",
    "sdtContent", "AlternateContent", "Choice", "drawing", "pict", "inline", "anchor", "graphic",
    "graphicData", "wsp", "txbx", "wgp", "wpc", "shape", "textbox", "group", "oMath", "oMathPara",
    "object", "rt", "ruby", "rubyBase",
))  # fmt: skip
_PARTS_WITHOUT_TEXT = frozenset((
    "styles", "numbering", "footnotes", "endnotes", "settings", "fontTable", "theme", "webSettings",
    "customXml", "glossaryDocument", "people", "commentsExtended", "commentsIds", "commentsExtensible",
    "stylesWithEffects",
))  # fmt: skip
_REASONS = {
    "header": "page header",
    "footer": "page footer",
    "comments": "comments are no part of the contract",
    "image": "picture",
    "aFChunk": "embedded document",
}


@dataclass(slots=True)
class _Field:
    """A complex field that is open; fields nest and may run across paragraphs."""

    in_instruction: bool = True
    is_contents: bool = False


@dataclass(slots=True)
class _Reader:
    """State of one reading: what is collected so far and the running counters."""

    styles: Styles
    numbering: Numbering
    lines: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    generated: list[Span] = field(default_factory=list)
    length: int = 0
    fields: list[_Field] = field(default_factory=list)
    carried: str = ""  # text of a paragraph whose mark was deleted
    notes: list[tuple[str, str]] = field(default_factory=list)  # (footnote or endnote, id) in order
    boxes: list[etree._Element] = field(default_factory=list)
    inserted: int = 0
    deleted: int = 0
    hidden: int = 0
    unknown_symbols: int = 0

    def emit(self, text: str, kind: BlockKind, *, lead: str = "", block: Block | None = None) -> None:
        """Add one block with ``lead`` inserted before it and recorded; ``block`` gives the other fields."""
        body = text.strip() if lead else text.strip("\n\r\t \u3000")
        if not body:
            if block is None or not block.label:
                return
            lead = lead.rstrip()  # Word prints the number of an empty paragraph too
        start = self.length
        if lead:
            self.generated.append(Span(start, start + len(lead)))
        self.lines.append(lead + body)
        span = Span(start, start + len(lead) + len(body))
        self.blocks.append(Block(span, kind) if block is None else replace(block, span=span, kind=kind))
        self.length += len(lead) + len(body) + 1

    def emit_numbered(self, text: str, kind: BlockKind, printed: Printed) -> None:
        """Add one block of an automatic list; a bullet is text, but no clause label."""
        label = "" if printed.is_bullet else printed.label
        block = Block(Span(0, 0), label=label, level=printed.level, list_id=printed.list_id)
        gap = " " if printed.is_bullet else printed.gap or " "
        self.emit(text, kind, lead=printed.label + gap, block=block)


def read_docx(data: bytes, options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Text, blocks and coverage of a DOCX; raises ``DocumentError`` when the package is unsound."""
    package = Package(data)
    relationships = package.relationships(package.main)
    targets = {r.kind: r.target for r in relationships if not r.external}
    reader = _Reader(
        styles=parse_styles(package.xml(targets.get("styles", "word/styles.xml"))),
        numbering=parse_numbering(package.xml(targets.get("numbering", "word/numbering.xml"))),
    )
    root = package.xml(package.main)
    body = child(root, "body")
    if body is not None:
        _read_blocks(reader, body)
    if reader.carried:
        reader.emit(reader.carried, "paragraph")
    body_length = reader.length
    rows = [CoverageRow(package.main, "read", max(0, body_length - 1))]
    with reader.numbering.story():
        rows += _read_notes(reader, package, targets)
    rows += _unread(package, relationships)
    coverage = Coverage(rows=tuple(rows), notes=_notes(reader))
    return ReaderResult("\n".join(reader.lines), tuple(reader.blocks), coverage, tuple(reader.generated))


def _notes(reader: _Reader) -> tuple[str, ...]:
    found = []
    if reader.inserted or reader.deleted:
        found.append(f"tracked changes: {reader.inserted} insertions read, {reader.deleted} deletions left out")
    if reader.hidden:
        found.append(f"hidden text left out: {reader.hidden} characters")
    if reader.unknown_symbols:
        found.append(f"symbols of unknown fonts shown as U+FFFD: {reader.unknown_symbols}")
    return tuple(found)


def _unread(package: Package, relationships: list[Relationship]) -> list[CoverageRow]:
    """A row for every part that belongs to the document and is not in the text."""
    rows: list[CoverageRow] = []
    for relation in relationships:
        if relation.external or relation.kind in _PARTS_WITHOUT_TEXT or relation.target not in package.names:
            continue
        characters = 0
        if relation.kind in ("header", "footer", "comments"):
            root = package.xml(relation.target)
            texts = [] if root is None else [e.text or "" for e in root.iter() if local(e) == "t"]
            characters = sum(map(len, texts))
            if not characters:
                continue
        state: CoverageState = "failed" if relation.kind == "aFChunk" else "skipped"
        rows.append(CoverageRow(relation.target, state, characters, _REASONS.get(relation.kind, "not read")))
    return rows


def _read_notes(reader: _Reader, package: Package, targets: dict[str, str]) -> list[CoverageRow]:
    """Footnotes and endnotes after the body, in the order of their references."""
    rows = []
    for part, element_name in (("footnotes", "footnote"), ("endnotes", "endnote")):
        root = package.xml(targets.get(part, f"word/{part}.xml"))
        if root is None:
            continue
        by_id = {attribute(e, "id"): e for e in children(root, element_name) if attribute(e, "type") in ("", "normal")}
        before = reader.length
        wanted = [note for kind, note in list(reader.notes) if kind == element_name]
        for place, note in enumerate(dict.fromkeys(wanted), start=1):
            if note in by_id:
                label = f"[{place}]" if element_name == "footnote" else f"[e{place}]"
                _read_note(reader, by_id[note], label)
        if by_id:
            rows.append(CoverageRow(targets.get(part, part), "read", reader.length - before))
    return rows


def _read_note(reader: _Reader, note: etree._Element, label: str) -> None:
    """One note as one block; automatic numbers inside it are recorded like those of the body."""
    text, numbers = "", []
    for paragraph in (e for e in note.iter() if local(e) == "p"):
        words = _paragraph_text(reader, paragraph).strip()
        printed = _number_of(reader, paragraph)
        if words and printed is not None:
            numbers.append((len(text), len(printed.label) + 1))
            words = f"{printed.label} {words}"
        text += f"{words} " if words else ""
    first = reader.length + len(label) + 1
    reader.emit(text, "footnote", lead=f"{label} ", block=Block(Span(0, 0), label=label))
    if text:
        reader.generated += [Span(first + at, first + at + length) for at, length in numbers]


def _number_of(reader: _Reader, paragraph: etree._Element) -> Printed | None:
    properties = child(paragraph, "pPr")
    style = attribute(child(properties, "pStyle"), "val")
    number_id, level = reader.styles.numbering_of(properties, style, reader.numbering)
    return reader.numbering.advance(number_id, level) if number_id else None


def _read_blocks(reader: _Reader, root: etree._Element) -> None:
    """Paragraphs and tables of ``root`` in order, without recursion into paragraphs."""
    stack = [root]
    while stack:
        element = stack.pop()
        name = local(element)
        if name == "p":
            _read_paragraph(reader, element)
            while reader.boxes:
                box = reader.boxes.pop(0)
                with reader.numbering.story():  # a box counts for itself
                    _read_blocks(reader, box)
        elif name == "tbl":
            _read_table(reader, element)
        elif name in (
            "body",
            "sdt",
            "sdtContent",
            "customXml",
            "ins",
            "moveTo",
            "smartTag",
            "txbxContent",
            "tc",
            "AlternateContent",
            "Choice",
        ):
            inner = [e for e in element if local(e) != "Fallback"]
            stack.extend(reversed(inner))


def _read_paragraph(reader: _Reader, element: etree._Element) -> None:
    properties = child(element, "pPr")
    in_contents = any(f.is_contents for f in reader.fields)
    text = _paragraph_text(reader, element)
    style = attribute(child(properties, "pStyle"), "val")
    printed = None
    number_id, level = reader.styles.numbering_of(properties, style, reader.numbering)
    mark = child(properties, "rPr")
    if child(mark, "del") is not None or child(mark, "moveFrom") is not None:
        reader.carried += text
        return
    text, reader.carried = reader.carried + text, ""
    if number_id and number_id != "0" and not (not text.strip() and reader.styles.is_hidden_mark(properties)):
        printed = reader.numbering.advance(number_id, level)
    contents = in_contents or any(f.is_contents for f in reader.fields) or reader.styles.is_contents(style)
    heading = reader.styles.heading_level(properties, style)
    if contents:
        kind: BlockKind = "toc"
    elif heading is not None and len(text.strip()) <= 200:
        kind = "heading"
    else:
        kind = "list_item" if printed is not None else "paragraph"
    if printed is None:
        reader.emit(text, kind, block=Block(Span(0, 0), level=heading))
    else:
        reader.emit_numbered(text, kind, printed)


def _read_table(reader: _Reader, table: etree._Element) -> None:
    """Row by row; cells of one paragraph share a line, parted by tabs, others keep their paragraphs."""
    for row in _rows(table):
        if child(child(row, "trPr"), "del") is not None:
            reader.deleted += 1
            continue
        cells = [c for c in _descend(row, "tc") if not _continued(c)]
        simple = all(len(list(_descend(c, "p"))) <= 1 and not any(local(e) == "tbl" for e in c) for c in cells)
        first = len(reader.lines)
        for cell in cells:
            _read_blocks(reader, cell)
        if simple and len(reader.lines) - first > 1:
            _join_row(reader, first)
        for index in range(min(first, len(reader.blocks)), len(reader.blocks)):
            block = reader.blocks[index]
            kind: BlockKind = "table_cell" if block.kind == "paragraph" else block.kind
            reader.blocks[index] = replace(block, kind=kind)


def _join_row(reader: _Reader, first: int) -> None:
    """Turn the lines of one row into one line; line ends become tabs, so no offset moves."""
    start = reader.blocks[first].span.start
    joined = "\t".join(reader.lines[first:])
    head = reader.blocks[first]
    reader.lines[first:] = [joined]
    reader.blocks[first:] = [replace(head, span=Span(start, start + len(joined)), kind="table_cell")]


def _rows(table: etree._Element) -> list[etree._Element]:
    return list(_descend(table, "tr"))


def _descend(element: etree._Element, name: str) -> list[etree._Element]:
    """Nearest descendants with tag ``name``, through wrappers, not into inner tables."""
    found: list[etree._Element] = []
    stack = list(reversed(element))
    while stack:
        current = stack.pop()
        tag = local(current)
        if tag == name:
            found.append(current)
        elif tag in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"):
            stack.extend(reversed(current))
    return found


def _continued(cell: etree._Element) -> bool:
    merge = child(child(cell, "tcPr"), "vMerge")
    return (merge is not None and attribute(merge, "val") != "restart") or child(
        child(cell, "tcPr"), "cellDel"
    ) is not None


def _paragraph_text(reader: _Reader, paragraph: etree._Element) -> str:
    """Text of a paragraph in the final view; notes references, text boxes and fields on the way."""
    pieces: list[str] = []
    stack = [(e, False) for e in reversed(paragraph)]
    while stack:
        element, hidden = stack.pop()
        name = local(element)
        if name in ("del", "moveFrom"):
            reader.deleted += 1
        elif name == "r":
            hidden = reader.styles.is_hidden_run(child(element, "rPr"))
            stack.extend((e, hidden) for e in reversed(element))
        elif name == "txbxContent":
            reader.boxes.append(element)
        elif name == "fldChar":
            _field_char(reader, element)
        elif name == "instrText":
            _instruction(reader, element.text or "")
        elif name in _DESCEND:
            reader.inserted += name in ("ins", "moveTo")
            stack.extend((e, hidden) for e in reversed(element) if local(e) != "Fallback")
        elif not any(f.in_instruction for f in reader.fields):
            piece = _character(reader, element, name)
            if hidden:
                reader.hidden += len(piece)
            else:
                pieces.append(piece)
    return "".join(pieces)


def _character(reader: _Reader, element: etree._Element, name: str) -> str:
    if name == "t":
        return element.text or ""
    if name in ("footnoteReference", "endnoteReference"):
        kind = name.removesuffix("Reference")
        note = (kind, attribute(element, "id"))
        if note not in reader.notes:
            reader.notes.append(note)
        place = [n for n in reader.notes if n[0] == kind].index(note) + 1
        return f"[{place}]" if kind == "footnote" else f"[e{place}]"
    if name == "sym":
        code = attribute(element, "char")
        reader.unknown_symbols += 1
        value = int(code, 16) if re.fullmatch(r"[0-9A-Fa-f]{4,5}", code) else 0xFFFD
        return "\ufffd" if 0xE000 <= value <= 0xF8FF else chr(value)
    return {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": "\t"}.get(name, "")


def _field_char(reader: _Reader, element: etree._Element) -> None:
    kind = attribute(element, "fldCharType")
    if kind == "begin":
        reader.fields.append(_Field())
    elif kind == "separate" and reader.fields:
        reader.fields[-1].in_instruction = False
    elif kind == "end" and reader.fields:
        reader.fields.pop()


def _instruction(reader: _Reader, text: str) -> None:
    if reader.fields and reader.fields[-1].in_instruction and text.strip().upper().startswith("TOC"):
        reader.fields[-1].is_contents = True
