"""Build the two sample contracts from their sources; a script for the maintainers, not part of the package.

    python samples/build_samples.py            writes both .docx files
    python samples/build_samples.py --check    exits 1 when a committed file differs from its source

The same source gives the same bytes on every machine: fixed dates, fixed member order, no compression.
Numbers are Word's own automatic numbers, so they stand in no text of the file except as cached results of
REF fields and as typed cross references.
"""

from __future__ import annotations

import argparse
import io
import sys
import zipfile
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from contract_markup import LISTS, Contract, Paragraph, Run, parse_contract

FOLDER = Path(__file__).resolve().parent
SAMPLES = {"supply-agreement.docx": "supply-agreement.txt", "caigou-hetong.docx": "caigou-hetong.txt"}
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_OFFICE = "http://schemas.openxmlformats.org"
_W = f'xmlns:w="{_OFFICE}/wordprocessingml/2006/main" xmlns:r="{_OFFICE}/officeDocument/2006/relationships"'
_ZIP_DATE = (2025, 1, 1, 0, 0, 0)
_TEXT_WIDTH = 9026  # twips between the margins of an A4 page

# tag -> (style id, style name, paragraph properties, run properties); indents in twips
STYLES: dict[str, tuple[str, str, str, str]] = {
    "title": (
        "Title",
        "Title",
        '<w:spacing w:before="240" w:after="240"/><w:jc w:val="center"/>',
        '<w:b/><w:sz w:val="36"/>',
    ),
    "centre": ("Centred", "Centred", '<w:jc w:val="center"/>', ""),
    "head": (
        "PartHeading",
        "Part Heading",
        '<w:keepNext/><w:spacing w:before="240" w:after="120"/>',
        "<w:b/>",
    ),
    "def": ("Definition", "Definition", '<w:ind w:left="720"/><w:jc w:val="both"/>', ""),
    "party": ("Party", "Party", '<w:ind w:left="720" w:hanging="720"/>', ""),
    "recital": ("Recital", "Recital", '<w:ind w:left="720" w:hanging="720"/>', ""),
    "ch": (
        "Chapter",
        "Chapter",
        '<w:keepNext/><w:spacing w:before="360" w:after="200"/><w:jc w:val="center"/><w:outlineLvl w:val="0"/>',
        '<w:b/><w:sz w:val="28"/>',
    ),
    "1": (
        "Heading1",
        "heading 1",
        '<w:keepNext/><w:spacing w:before="280" w:after="140"/><w:outlineLvl w:val="0"/>',
        "<w:b/>",
    ),
    "2": ("Clause2", "Clause Level 2", '<w:jc w:val="both"/>', ""),
    "3": ("Clause3", "Clause Level 3", '<w:jc w:val="both"/>', ""),
    "4": ("Clause4", "Clause Level 4", '<w:jc w:val="both"/>', ""),
    "sched": (
        "ScheduleHeading",
        "Schedule Heading",
        '<w:keepNext/><w:pageBreakBefore/><w:spacing w:after="240"/><w:jc w:val="center"/><w:outlineLvl w:val="0"/>',
        "<w:b/>",
    ),
    "att": (
        "ScheduleHeading",
        "Schedule Heading",
        '<w:keepNext/><w:pageBreakBefore/><w:spacing w:after="240"/><w:jc w:val="center"/><w:outlineLvl w:val="0"/>',
        "<w:b/>",
    ),
    "s1": ("ScheduleClause1", "Schedule Clause 1", '<w:jc w:val="both"/>', ""),
    "s2": ("ScheduleClause2", "Schedule Clause 2", '<w:jc w:val="both"/>', ""),
}
# the left edge of the text of each level and the space that its number takes; chapters and schedules have none
INDENTS = {
    "en": {"1": (720, 720), "2": (720, 720), "3": (1440, 720), "4": (2160, 720)},
    "zh": {"1": (1080, 1080), "2": (1080, 1080), "3": (1500, 420)},  # room for （十九）
}
SHARED_INDENTS = {"s1": (720, 720), "s2": (1440, 720), "party": (720, 720), "recital": (720, 720)}
FONTS = {
    "en": '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:cs="Times New Roman" w:eastAsia="SimSun"/>',
    "zh": '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman" w:cs="Times New Roman" w:eastAsia="SimSun" w:hint="eastAsia"/>',
}
LANGUAGES = {
    "en": '<w:lang w:val="en-GB" w:eastAsia="zh-CN"/>',
    "zh": '<w:lang w:val="en-US" w:eastAsia="zh-CN"/>',
}
LINE_SPACING = {"en": 276, "zh": 312}  # in 240ths of a line

_CONTENT_TYPES = (
    f'<Types xmlns="{_OFFICE}/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/>'
    + "".join(
        f'<Override PartName="/word/{part}.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"/>'
        for part, kind in (
            ("document", "document.main"),
            ("styles", "styles"),
            ("numbering", "numbering"),
            ("settings", "settings"),
            ("header1", "header"),
            ("footer1", "footer"),
        )
    )
    + '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>'
)
_PACKAGE_RELATIONS = (
    f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/>'
    f'<Relationship Id="rId2" Type="{_OFFICE}/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/>'
    "</Relationships>"
)
_DOCUMENT_RELATIONS = (
    f'<Relationships xmlns="{_OFFICE}/package/2006/relationships">'
    + "".join(
        f'<Relationship Id="rId{at}" Type="{_OFFICE}/officeDocument/2006/relationships/{kind}" Target="{part}.xml"/>'
        for at, (kind, part) in enumerate(
            (
                ("styles", "styles"),
                ("numbering", "numbering"),
                ("settings", "settings"),
                ("header", "header1"),
                ("footer", "footer1"),
            ),
            start=1,
        )
    )
    + "</Relationships>"
)
_SETTINGS = (
    f'<w:settings {_W}><w:zoom w:percent="100"/><w:defaultTabStop w:val="720"/><w:characterSpacingControl w:val="doNotCompress"/>'
    f'<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat></w:settings>'
)


def bookmark_name(position: int) -> str:
    """Name of the bookmark of the paragraph at ``position``, in the way Word names its own."""
    return f"_Ref{180000000 + position}"


def _text(text: str, properties: str = "") -> str:
    rpr = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{rpr}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def _field(instruction: str, result: str) -> str:
    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    code = f'<w:r><w:instrText xml:space="preserve"> {escape(instruction)} </w:instrText></w:r>'
    return mark("begin") + code + mark("separate") + _text(result) + mark("end")


def _run(run: Run, bookmarks: dict[str, str]) -> str:
    if run.kind == "ref":
        return _field(f"REF {bookmarks[run.target]} \\w \\h", run.text)
    if run.kind in ("page", "pages"):
        return _field("PAGE" if run.kind == "page" else "NUMPAGES", "1")
    return _text(run.text, "<w:b/>" if run.kind == "bold" else "")


def _paragraph(paragraph: Paragraph, position: int, bookmarks: dict[str, str]) -> str:
    style = STYLES[paragraph.tag][0] if paragraph.tag in STYLES else ""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    content = "".join(_run(run, bookmarks) for run in paragraph.runs)
    name = bookmarks.get(paragraph.anchor)
    if name:
        content = f'<w:bookmarkStart w:id="{position}" w:name="{name}"/>{content}<w:bookmarkEnd w:id="{position}"/>'
    return f"<w:p>{properties}{content}</w:p>"


def _table(rows: list[Paragraph]) -> str:
    columns = len(rows[0].cells)
    width = _TEXT_WIDTH // columns
    grid = f'<w:gridCol w:w="{width}"/>' * columns
    body = ""
    for at, row in enumerate(rows):
        cells = "".join(
            f'<w:tc><w:tcPr><w:tcW w:w="{width}" w:type="dxa"/></w:tcPr>'
            f'<w:p><w:pPr><w:pStyle w:val="TableText"/></w:pPr>{_text(cell, "<w:b/>" if at == 0 else "") if cell else ""}</w:p></w:tc>'
            for cell in row.cells
        )
        body += f"<w:tr>{'<w:trPr><w:cantSplit/><w:tblHeader/></w:trPr>' if at == 0 else '<w:trPr><w:cantSplit/></w:trPr>'}{cells}</w:tr>"
    properties = f'<w:tblPr><w:tblStyle w:val="TableGrid"/><w:tblW w:w="{width * columns}" w:type="dxa"/></w:tblPr>'
    return f"<w:tbl>{properties}<w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl><w:p/>"


def document_xml(contract: Contract) -> str:
    """Main part of the package."""
    targets = {run.target for paragraph in contract.paragraphs for run in paragraph.runs if run.kind == "ref"}
    numbered = list(enumerate(contract.paragraphs))
    bookmarks = {paragraph.anchor: bookmark_name(at) for at, paragraph in numbered if paragraph.anchor in targets}
    body = ""
    for is_row, group in groupby(numbered, key=lambda item: item[1].tag == "row"):
        if is_row:
            body += _table([paragraph for _, paragraph in group])
        else:
            body += "".join(_paragraph(paragraph, at, bookmarks) for at, paragraph in group)
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="rId4"/><w:footerReference w:type="default" r:id="rId5"/>'
        '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" w:left="1440" w:header="708" w:footer="708" w:gutter="0"/></w:sectPr>'
    )
    return f"<w:document {_W}><w:body>{body}{section}</w:body></w:document>"


def numbering_xml(language: str) -> str:
    """The multi-level lists of ``language``; every level is tied to its paragraph style."""
    abstract = ""
    for index, levels in enumerate(LISTS[language]):
        body = ""
        for depth, level in enumerate(levels):
            left, hanging = (INDENTS[language] | SHARED_INDENTS).get(level.tag, (0, 0))
            bold = (
                "<w:rPr><w:b/></w:rPr>"
                if STYLES[level.tag][3].startswith("<w:b/>")
                else '<w:rPr><w:b w:val="0"/></w:rPr>'
            )
            separator = "" if hanging else '<w:suff w:val="space"/>'
            body += (
                f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{level.fmt}"/><w:pStyle w:val="{STYLES[level.tag][0]}"/>{separator}'
                f'<w:lvlText w:val={quoteattr(level.pattern)}/><w:lvlJc w:val="left"/><w:pPr><w:ind w:left="{left}" w:hanging="{hanging}"/></w:pPr>{bold}</w:lvl>'
            )
        kind = "multilevel" if len(levels) > 1 else "singleLevel"
        abstract += f'<w:abstractNum w:abstractNumId="{index}"><w:multiLevelType w:val="{kind}"/>{body}</w:abstractNum>'
    numbers = "".join(
        f'<w:num w:numId="{at + 1}"><w:abstractNumId w:val="{at}"/></w:num>' for at in range(len(LISTS[language]))
    )
    return f"<w:numbering {_W}>{abstract}{numbers}</w:numbering>"


def styles_xml(language: str) -> str:
    """Document defaults and the paragraph styles that ``language`` uses, with their list levels."""
    places = {
        level.tag: (index + 1, depth)
        for index, levels in enumerate(LISTS[language])
        for depth, level in enumerate(levels)
    }
    unnumbered = {"title", "centre", "head", "def"}
    body = ""
    for tag, (style, name, ppr, rpr) in STYLES.items():
        if tag not in places and tag not in unnumbered:
            continue
        properties = ppr
        if tag in places:
            number, depth = places[tag]
            numbering = f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
            # the schema fixes the order: keepNext, pageBreakBefore, numPr, spacing, ind, jc, outlineLvl
            at = min((ppr.index(mark) for mark in ("<w:spacing", "<w:ind", "<w:jc") if mark in ppr), default=0)
            properties = ppr[:at] + numbering + ppr[at:]
        body += (
            f'<w:style w:type="paragraph" w:customStyle="{int(style not in ("Title", "Heading1"))}" w:styleId="{style}"><w:name w:val="{name}"/>'
            f'<w:basedOn w:val="Normal"/><w:qFormat/><w:pPr>{properties}</w:pPr>{f"<w:rPr>{rpr}</w:rPr>" if rpr else ""}</w:style>'
        )
    small = '<w:basedOn w:val="Normal"/><w:pPr><w:spacing w:after="{after}" w:line="240" w:lineRule="auto"/>{jc}</w:pPr><w:rPr><w:sz w:val="{size}"/></w:rPr></w:style>'
    for style, name, after, jc, size in (
        ("Header", "header", 0, "", 18),
        ("Footer", "footer", 0, '<w:jc w:val="center"/>', 18),
        ("TableText", "Table Text", 40, "", 21),
    ):
        body += f'<w:style w:type="paragraph" w:styleId="{style}"><w:name w:val="{name}"/>' + small.format(
            after=after, jc=jc, size=size
        )
    edges = "".join(
        f'<w:{edge} w:val="single" w:sz="4" w:space="0" w:color="auto"/>'
        for edge in ("top", "left", "bottom", "right", "insideH", "insideV")
    )
    body += f'<w:style w:type="table" w:styleId="TableGrid"><w:name w:val="Table Grid"/><w:tblPr><w:tblBorders>{edges}</w:tblBorders></w:tblPr></w:style>'
    return (
        f'<w:styles {_W}><w:docDefaults><w:rPrDefault><w:rPr>{FONTS[language]}<w:sz w:val="24"/><w:szCs w:val="24"/>{LANGUAGES[language]}</w:rPr></w:rPrDefault>'
        f'<w:pPrDefault><w:pPr><w:spacing w:after="140" w:line="{LINE_SPACING[language]}" w:lineRule="auto"/></w:pPr></w:pPrDefault></w:docDefaults>'
        f'<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>{body}</w:styles>'
    )


def _story(element: str, style: str, runs: tuple[Run, ...]) -> str:
    content = "".join(_run(run, {}) for run in runs)
    return f'<w:{element} {_W}><w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{content}</w:p></w:{element}>'


def _core(contract: Contract) -> str:
    title = next((paragraph.text for paragraph in contract.paragraphs if paragraph.tag == "title"), "")
    moment = "2025-01-01T00:00:00Z"
    return (
        f'<cp:coreProperties xmlns:cp="{_OFFICE}/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>softlookup</dc:creator>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{moment}</dcterms:created><dcterms:modified xsi:type="dcterms:W3CDTF">{moment}</dcterms:modified></cp:coreProperties>'
    )


def build_docx(source: str) -> bytes:
    """Bytes of the .docx package of the markup ``source``; raises ``contract_markup.MarkupError``."""
    contract = parse_contract(source)
    parts = {
        "[Content_Types].xml": _CONTENT_TYPES,
        "_rels/.rels": _PACKAGE_RELATIONS,
        "docProps/core.xml": _core(contract),
        "word/document.xml": document_xml(contract),
        "word/_rels/document.xml.rels": _DOCUMENT_RELATIONS,
        "word/styles.xml": styles_xml(contract.language),
        "word/numbering.xml": numbering_xml(contract.language),
        "word/settings.xml": _SETTINGS,
        "word/header1.xml": _story("hdr", "Header", contract.header),
        "word/footer1.xml": _story("ftr", "Footer", contract.footer),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as package:  # deflate differs between zlib builds
        for name, xml in parts.items():
            member = zipfile.ZipInfo(name, date_time=_ZIP_DATE)
            member.create_system = 3  # else the byte depends on the machine that builds
            member.external_attr = 0o644 << 16
            package.writestr(member, (_DECLARATION + xml).encode("utf-8"))
    return buffer.getvalue()


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Build or check every sample in ``folder``; returns the exit status."""
    parser = argparse.ArgumentParser(description="Build the sample contracts from their sources.")
    parser.add_argument("--check", action="store_true", help="compare with the files that exist and write nothing")
    check = parser.parse_args(arguments).check
    status = 0
    for name, source in SAMPLES.items():
        data = build_docx((folder / source).read_text(encoding="utf-8"))
        target = folder / name
        if not check:
            target.write_bytes(data)
            print(f"{name}: {len(data)} bytes written")
        elif not target.is_file() or target.read_bytes() != data:
            print(f"{name}: differs from {source}; run python samples/build_samples.py")
            status = 1
        else:
            print(f"{name}: up to date")
    return status


if __name__ == "__main__":
    sys.exit(main())
