"""Builder of DOCX contracts with automatic numbers, as real packages that word processors open.

Every numbered paragraph holds a marker word of its own (``Q017``), so a label is what stands before the
marker in any tool's output. Not for the contracts themselves (``numbering_contracts.py``) or for hostile packages.
"""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_WORD_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml"
NAMESPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    f'xmlns:r="{_OFFICE}" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
_PARTS = {
    "styles": "styles",
    "numbering": "numbering",
    "footnotes": "footnotes",
    "settings": "settings",
}
_CHANGE = 'w:id="{0}" w:author="A" w:date="2026-01-05T10:00:00Z"'


Witness = Literal["text", "print", "twin"]


@dataclass(frozen=True, slots=True)
class NumberedRow:
    """One numbered paragraph: its marker word, the trap that it stands for, and who can say its label.

    ``witness``: LibreOffice's text export, its print (PDF), or its text export of the contract's twin, which says
    the same without the feature that LibreOffice lacks.
    """

    marker: str
    case: str
    witness: Witness = "text"


@dataclass(frozen=True, slots=True)
class NumberingContract:
    """A DOCX and its numbered paragraphs in reading order; ``gone`` are markers that no reader may show."""

    name: str
    data: bytes
    rows: tuple[NumberedRow, ...]
    gone: tuple[str, ...] = ()


def level(index: int, number_format: str, text: str, *, start: int | None = 1, **extra: str | int) -> str:
    """``w:lvl``; ``extra`` may hold style, restart, suff, legal, mark (raw run properties) and custom."""
    parts = [] if start is None else [f'<w:start w:val="{start}"/>']
    custom = extra.get("custom")
    if custom:
        parts.append(
            '<mc:AlternateContent><mc:Choice Requires="w14">'
            f'<w:numFmt w:val="custom" w:format="{custom}"/></mc:Choice>'
            f'<mc:Fallback><w:numFmt w:val="{number_format}"/></mc:Fallback></mc:AlternateContent>'
        )
    elif number_format:
        parts.append(f'<w:numFmt w:val="{number_format}"/>')
    if "restart" in extra:
        parts.append(f'<w:lvlRestart w:val="{extra["restart"]}"/>')
    if "style" in extra:
        parts.append(f'<w:pStyle w:val="{extra["style"]}"/>')
    if extra.get("legal"):
        parts.append("<w:isLgl/>")
    if "suff" in extra:
        parts.append(f'<w:suff w:val="{extra["suff"]}"/>')
    parts.append(f'<w:lvlText w:val={quoteattr(text)}/><w:lvlJc w:val="left"/>')
    indent = 360 * (index + 1)
    parts.append(f'<w:pPr><w:ind w:left="{indent}" w:hanging="360"/></w:pPr>')
    return f'<w:lvl w:ilvl="{index}">{"".join(parts)}</w:lvl>'


def start_override(index: int, value: int) -> str:
    """``w:lvlOverride`` that restarts level ``index`` at ``value``."""
    return f'<w:lvlOverride w:ilvl="{index}"><w:startOverride w:val="{value}"/></w:lvlOverride>'


def level_override(index: int, definition: str) -> str:
    """``w:lvlOverride`` that replaces the whole level."""
    return f'<w:lvlOverride w:ilvl="{index}">{definition}</w:lvlOverride>'


@dataclass(slots=True)
class Draft:
    """A contract while it is written: lists, styles and paragraphs with markers."""

    name: str
    lists: list[str] = field(default_factory=list)
    nums: list[str] = field(default_factory=list)
    styles: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    rows: list[NumberedRow] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    language: str = "en-US"
    witness: Witness = "text"  # of the rows that follow
    markers: int = 0

    def abstract(self, *levels: str, head: str = "", multi: str = "multilevel") -> int:
        """A new ``w:abstractNum``; its id."""
        identifier = len(self.lists) + 1
        kind = f'<w:multiLevelType w:val="{multi}"/>'
        self.lists.append(
            f'<w:abstractNum w:abstractNumId="{identifier}">{kind}{head}{"".join(levels)}</w:abstractNum>'
        )
        return identifier

    def num(self, abstract: int, *overrides: str) -> int:
        """A new ``w:num`` of the abstract list; its id."""
        identifier = len(self.nums) + 1
        reference = f'<w:abstractNumId w:val="{abstract}"/>'
        self.nums.append(f'<w:num w:numId="{identifier}">{reference}{"".join(overrides)}</w:num>')
        return identifier

    def list(self, *levels: str) -> int:
        """A new abstract list with one instance; the instance's id."""
        return self.num(self.abstract(*levels))

    def style(self, name: str, properties: str = "", *, based_on: str = "", kind: str = "paragraph") -> None:
        """A style whose id and name are ``name``."""
        base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
        wrapped = f"<w:pPr>{properties}</w:pPr>" if properties else ""
        self.styles.append(
            f'<w:style w:type="{kind}" w:styleId="{name}"><w:name w:val="{name}"/>{base}<w:qFormat/>{wrapped}</w:style>'
        )

    def mark(self, case: str) -> str:
        """The next marker word, registered as a numbered row."""
        self.markers += 1
        marker = f"Q{self.markers:03d}"
        self.rows.append(NumberedRow(marker, case, self.witness))
        return marker

    def lost(self) -> str:
        """A marker word for text that the final view must not show."""
        self.markers += 1
        self.gone.append(f"Q{self.markers:03d}")
        return self.gone[-1]

    def text(self, words: str) -> None:
        """An unnumbered paragraph."""
        self.body.append(f"<w:p>{run(words)}</w:p>")

    def item(self, num: int | None, index: int | None, words: str, case: str, **extra: str) -> None:
        """A numbered paragraph with its marker, added to the body."""
        self.body.append(self.numbered(num, index, words, case, **extra))

    def numbered(self, num: int | None, index: int | None, words: str, case: str, **extra: str) -> str:
        """A numbered paragraph with its marker; ``extra``: style, mark (run properties of the mark), tail."""
        marked = f"{self.mark(case)} {words}"
        return paragraph(run(marked), num, index, **extra)

    def finish(self) -> NumberingContract:
        """The package."""
        return NumberingContract(self.name, _package(self), tuple(self.rows), tuple(self.gone))


def run(words: str, properties: str = "") -> str:
    """``w:r`` with one text."""
    wrapped = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{wrapped}<w:t xml:space="preserve">{escape(words)}</w:t></w:r>'


def paragraph(
    content: str, num: int | None = None, index: int | None = None, *, style: str = "", mark: str = ""
) -> str:
    """``w:p`` with raw content; no ``num`` means no direct numbering, ``mark`` is for the paragraph mark."""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    inner = ("" if index is None else f'<w:ilvl w:val="{index}"/>') + (
        "" if num is None else f'<w:numId w:val="{num}"/>'
    )
    numbered = f"<w:numPr>{inner}</w:numPr>" if inner else ""
    marked = f"<w:rPr>{mark}</w:rPr>" if mark else ""
    return f"<w:p><w:pPr>{styled}{numbered}{marked}</w:pPr>{content}</w:p>"


def _package(draft: Draft) -> bytes:
    section = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1000" w:right="1000" w:bottom="1000" w:left="1000" w:header="500" w:footer="500" w:gutter="0"/></w:sectPr>'
    defaults = (
        '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Liberation Serif" w:hAnsi="Liberation Serif" '
        f'w:eastAsia="Noto Sans CJK SC"/><w:lang w:val="{draft.language}" w:eastAsia="zh-CN"/></w:rPr></w:rPrDefault>'
        "</w:docDefaults>"
        '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    )
    separators = (
        '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
        '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
    )
    parts = {
        "document": f'<w:document {NAMESPACES} mc:Ignorable="w14"><w:body>{"".join(draft.body)}{section}</w:body></w:document>',
        "styles": f"<w:styles {NAMESPACES}>{defaults}{''.join(draft.styles)}</w:styles>",
        "numbering": f"<w:numbering {NAMESPACES}>{''.join(draft.lists)}{''.join(draft.nums)}</w:numbering>",
        # changes are shown as accepted, which is the view whose numbers are wanted
        "settings": f'<w:settings {NAMESPACES}><w:revisionView w:markup="0" w:insDel="0"/></w:settings>',
    }
    if draft.notes:
        parts["footnotes"] = f"<w:footnotes {NAMESPACES}>{separators}{''.join(draft.notes)}</w:footnotes>"
    head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
    types = "".join(
        f'<Override PartName="/word/{name}.xml" ContentType="{_WORD_TYPE}.{"document.main" if name == "document" else name}+xml"/>'
        for name in parts
    )
    relations = "".join(
        f'<Relationship Id="rId{i}" Type="{_OFFICE}/{_PARTS[name]}" Target="{name}.xml"/>'
        for i, name in enumerate((n for n in parts if n != "document"), 1)
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:

        def write(name: str, content: str) -> None:
            # one date for all members, so that a contract is the same bytes every time
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, 5, 0, 0, 0)), head + content, zipfile.ZIP_DEFLATED)

        write(
            "[Content_Types].xml",
            f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Default Extension="xml" ContentType="application/xml"/>{types}</Types>',
        )
        write(
            "_rels/.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{_OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>',
        )
        write(
            "word/_rels/document.xml.rels",
            f'<Relationships xmlns="{_PACKAGE}/relationships">{relations}</Relationships>',
        )
        for name, content in parts.items():
            write(f"word/{name}.xml", content)
    return buffer.getvalue()


def outline(text: str) -> list[tuple[int, str]]:
    """Levels and words of "0 Rent, 1 amount, 1 date"."""
    return [(int(part[0]), part[2:]) for part in text.split(", ")]


def change(identifier: int) -> str:
    """Attributes of a tracked change."""
    return _CHANGE.format(identifier)


def text_box(paragraphs: str) -> str:
    """``w:r`` with a text box, as Word writes it: a drawing, and the same text again as fallback."""
    content = f"<w:txbxContent>{paragraphs}</w:txbxContent>"
    shape = (
        '<wps:wsp><wps:cNvSpPr txBox="1"/><wps:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="2400000" cy="900000"/></a:xfrm>'
        f'<a:prstGeom prst="rect"><a:avLst/></a:prstGeom></wps:spPr><wps:txbx>{content}</wps:txbx><wps:bodyPr/></wps:wsp>'
    )
    drawing = (
        '<w:drawing><wp:inline distT="0" distB="0" distL="0" distR="0"><wp:extent cx="2400000" cy="900000"/>'
        '<wp:docPr id="1" name="Box 1"/><a:graphic><a:graphicData '
        'uri="http://schemas.microsoft.com/office/word/2010/wordprocessingShape">'
        f"{shape}</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    fallback = f'<w:pict><v:shape style="width:190pt;height:70pt"><v:textbox>{content}</v:textbox></v:shape></w:pict>'
    return (
        f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{drawing}</mc:Choice>'
        f"<mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent></w:r>"
    )
