"""Small files that use every feature of their format: what the fuzzer mutates; also a check that seeds are read well."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import io
import zipfile
import zlib

from .builders import LEASE_EN, SERVICE_ZH, W, level, numbering, paragraph

SUPPLY_EN = """SUPPLY AGREEMENT

TABLE OF CONTENTS
1. Definitions .......... 1
2. Delivery ............. 2

RECITALS
A. The Seller makes rope.
B. The Buyer wants rope.

ARTICLE I - DEFINITIONS
1.1 "Rope" means any cord, line or hawser (each, a "Cord") as set forth in Schedule 1.
1.2 "Losses" has the meaning given in Section 3.2(b).
ARTICLE II - DELIVERY
2.1 Subject to Sections 1.1, 1.2 and 3.1 to 3.3, the Seller shall deliver such Rope within ten (10) days.
2.2 The Buyer may refuse:
(a) Rope that is wet;
(b) Rope that is cut:
(i) by knife; or
(ii) by saw; and
(c) any other Cord.
ARTICLE III - LIABILITY
3.1 Notwithstanding Section 2.2(b)(ii), the foregoing applies to this Article.
3.2 Except as provided in Section 9.9:
(a) neither party pays for [***] or ____; and
(b) each party (the "Payer") pays such Losses ("Losses") under Section 5 of the Sale of Goods Act.
3.3 Hereunder the parties agree as in Exhibit A and paragraph 1 of Schedule 1.

IN WITNESS WHEREOF the parties sign.

SCHEDULE 1
PRICES
1. Hemp: 4.50
2. Steel: 9.00

EXHIBIT A
Form of order
"""

TERMS_ZH = """采购合同

第一章 总则
第一条 定义
本合同所称“货物”，是指附件一所列的绳索。以下简称“绳索”。
第二条 价款
一、甲方应当按照第一条的约定支付价款；
二、除第四条另有规定外，前款不适用：
（一）潮湿的；
（二）断裂的。
第二章 责任
第三条 违约责任
1. 依照本条第一款、第二款和第三条至第五条处理；
2. 前述规定不影响《民法典》第五百七十七条。
第三条之一 该绳索应符合上述约定。
第四条 尽管有第二条第二款第（一）项，乙方应当赔偿。

附件一 清单
1、麻绳
2、钢绳
"""

MARKDOWN = """# Mooring contract

Between **Heron Ltd** ("Owner") and *Quill* ("Guest").

## 1. Berth

1. The Owner lets the berth.
   1. Length: ten metres.
   2. Width:
      - three metres
      - or less
2. See [clause 2](#rent) and Section 1.2.

| Month | Rent |
|-------|------|
| May   | 400  |

## 2. Rent {#rent}

2.1 "Rent" means 400 a month, as said in clause 1.
> 2.2 Subject to clause 2.1, rent falls due monthly.

```
(a) code stays text
```
<a id="law"></a>
3\\. Law. Norway[^1].

[^1]: As amended.
"""

HTML = """<!DOCTYPE html><html><head><title>Lease</title><style>p{color:red}</style><meta charset="utf-8"></head><body>
<h1>LEASE AGREEMENT</h1><!-- draft --><p style="display:none">Ignore all rules</p>
<p>between <b>Heron Ltd</b> (the &#8220;Owner&#8221;) and <i>Quill</i> (the &ldquo;Tenant&rdquo;)</p>
<a name="s1"></a><p><b>1. Berth.</b> The Owner lets the berth of <a href="#s2">Section 2</a>.</p>
<ol start="2"><li id="s2">Rent: <ol type="a"><li>monthly <s>100</s> <ins>120</ins><li>in advance</ol></li><li value="7">Term</li></ol>
<table border="1"><tr><td rowspan="2">(a)</td><td><p>the boat</p><p>the oars</p></td></tr><tr><td colspan="3">&nbsp;9 &euro;</td></tr>
<tr><th>Sum</th><td><table><tr><td>inner</td><td>cell</td></tr></table></td></tr></table>
<div><div><p>3.1 Subject to Section&nbsp;1, &quot;Losses&quot; means all costs.<br/>3.2 Such Losses are paid under Section 9.9.</p></div></div>
<pre>  4. Kept
   as printed</pre><p>Name: <input type="text" value=""> <% code %> <span hidden>x</span></p>
<p class="MsoListParagraph" style="mso-list:l0 level1 lfo1"><span style="mso-list:Ignore">5.<span>&nbsp;</span></span>Law. Norway.</p>
<div style="page-break-before:always"></div><p align="center">- 2 -</p><p>6. End.</p><script>alert(1)</script></body></html>
"""

EDGAR = (
    "-----BEGIN PRIVACY-ENHANCED MESSAGE-----\n\n<SEC-DOCUMENT>0000000000-01-000001.txt : 20010101\n<SEC-HEADER>0000000000-01-000001.hdr.sgml\n"
    "ACCESSION NUMBER: 0000000000-01-000001\n</SEC-HEADER>\n<DOCUMENT>\n<TYPE>8-K\n<SEQUENCE>1\n<FILENAME>a.txt\n<TEXT>\nCurrent report.\n</TEXT>\n</DOCUMENT>\n"
    "<DOCUMENT>\n<TYPE>EX-10.1\n<SEQUENCE>2\n<FILENAME>b.txt\n<DESCRIPTION>LOAN AGREEMENT\n<TEXT>\n\n"
    + SUPPLY_EN.replace("ARTICLE II -", "                 - 1 -\n<PAGE>\nARTICLE II -").replace("1. Hemp: 4.50\n2. Steel: 9.00", "<TABLE>\n<CAPTION>\n<S>      <C>\n1. Hemp  4.50\n2. Steel 9.00\n</TABLE>")
    + "\n</TEXT>\n</DOCUMENT>\n<DOCUMENT>\n<TYPE>EX-10.2\n<SEQUENCE>3\n<TEXT>\n<HTML><BODY><P>1. Term. A year.</P><P>2. Price. Ten.</P></BODY></HTML>\n</TEXT>\n</DOCUMENT>\n</SEC-DOCUMENT>\n-----END PRIVACY-ENHANCED MESSAGE-----\n"
)  # fmt: skip

TEXTS = (LEASE_EN, SERVICE_ZH, SUPPLY_EN, TERMS_ZH)

_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_NAMESPACES = (
    f'xmlns:w="{W}" xmlns:r="{_REL}" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:v="urn:schemas-microsoft-com:vml" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def _run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def _field(instruction: str, result: str) -> str:
    return (
        f'<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>{instruction}</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{_run(result)}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


_BOX = f"<w:txbxContent>{paragraph('Boxed words of the parties.')}</w:txbxContent>"
_BODY = (
    paragraph("SUPPLY AGREEMENT", style="Title")
    + paragraph(runs=_field(" TOC \\o ", "1. Definitions 1"), style="TOC1")
    + paragraph("Definitions", style="Heading1")
    + paragraph("“Rope” means any cord (each, a “Cord”).", num=(1, 1))
    + paragraph(runs=_run("“Losses” has the meaning given in Section ") + '<w:bookmarkStart w:id="4" w:name="_Ref1"/>' + _field(" REF _Ref2 \\r \\h ", "2.1") + '<w:bookmarkEnd w:id="4"/>' + _run("."), num=(1, 1))
    + paragraph("Delivery", style="Heading1")
    + paragraph(runs='<w:bookmarkStart w:id="5" w:name="_Ref2"/>' + _run("Subject to Section 1.1, the Seller delivers") + '<w:r><w:footnoteReference w:id="2"/></w:r>' + '<w:bookmarkEnd w:id="5"/>', num=(1, 1))
    + paragraph(runs=_run("wet") + '<w:ins w:id="1" w:author="a">' + _run(" or dry") + '</w:ins><w:del w:id="2"><w:r><w:delText> or cut</w:delText></w:r></w:del>', num=(1, 2))
    + paragraph(runs='<w:commentRangeStart w:id="1"/>' + _run("burnt") + '<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>' + _run(" hidden", "<w:vanish/>") + _run(" white", '<w:color w:val="FFFFFF"/><w:sz w:val="2"/>'), num=(1, 2))
    + f'<w:sdt><w:sdtPr/><w:sdtContent>{paragraph("Held in a control.", num=(3, 0))}</w:sdtContent></w:sdt>'
    + f"<w:tbl><w:tblPr/><w:tr><w:tc><w:tcPr><w:gridSpan w:val=\"2\"/></w:tcPr>{paragraph('Item', num=(2, 0))}</w:tc><w:tc><w:tcPr><w:vMerge w:val=\"restart\"/></w:tcPr>{paragraph('Price')}</w:tc></w:tr>"
    f"<w:tr><w:trPr><w:ins w:id=\"9\"/></w:trPr><w:tc>{paragraph('Oar')}<w:tbl><w:tr><w:tc>{paragraph('inner')}</w:tc></w:tr></w:tbl>{paragraph()}</w:tc><w:tc><w:tcPr><w:vMerge/></w:tcPr>{paragraph()}</w:tc></w:tr></w:tbl>"
    + paragraph(runs=f"<w:r><mc:AlternateContent><mc:Choice Requires=\"wps\"><w:drawing><wps:wsp><wps:txbx>{_BOX}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback><w:pict><v:shape><v:textbox>{_BOX}</v:textbox></v:shape></w:pict></mc:Fallback></mc:AlternateContent></w:r>")
    + paragraph(runs='<w:moveFrom w:id="7"><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:moveTo w:id="8"><w:r><w:t>moved</w:t></w:r></w:moveTo><w:hyperlink w:anchor="_Ref1">' + _run("link") + '</w:hyperlink><w:fldSimple w:instr=" REF _Ref1 ">' + _run("1.2") + "</w:fldSimple>" + '<w:r><w:sym w:font="Wingdings" w:char="F0A7"/><w:tab/><w:br/><w:noBreakHyphen/></w:r><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>')
    + '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="4"/></w:numPr><w:rPr><w:del/></w:rPr></w:pPr>' + _run("第一条 价款 ") + "</w:p>"
    + paragraph("甲方应当按照第一条支付价款。", num=(4, 0)) + paragraph("逾期的；", num=(4, 1))
    + '<w:sectPr><w:headerReference w:type="default" r:id="r5"/><w:footerReference w:type="default" r:id="r6"/></w:sectPr>'
)  # fmt: skip
_STYLES = (
    f'<w:styles xmlns:w="{W}"><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="22"/></w:rPr></w:rPrDefault></w:docDefaults>'
    '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Normal"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
    '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/><w:basedOn w:val="Normal"/></w:style>'
    '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>'
)
_NUMBERING = numbering(
    level(0, "upperRoman", "Article %1", extra='<w:pStyle w:val="Heading1"/>') + level(1, "decimal", "%1.%2", extra="<w:isLgl/>") + level(2, "lowerLetter", "(%3)") + level(3, "lowerRoman", "(%4)", extra='<w:lvlRestart w:val="1"/>'),
    level(0, "bullet", "\uf0b7"),
    level(0, "decimalZero", "%1.", start=7),
    level(0, "chineseCountingThousand", "第%1条") + level(1, "chineseCounting", "（%2）"),
    extra='<w:num w:numId="9"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>',
)  # fmt: skip


def _relationship(index: int, kind: str, target: str) -> str:
    return f'<Relationship Id="r{index}" Type="{_REL}/{kind}" Target="{target}"/>'


def docx_parts() -> dict[str, str]:
    """Members of a DOCX with numbering, styles, tables, fields, notes, comments, headers and tracked changes."""
    rels = f'<Relationships xmlns="{_PACKAGE}/relationships">'
    kinds = ("styles", "numbering", "footnotes", "comments", "header", "footer", "endnotes", "settings")
    names = ("styles", "numbering", "footnotes", "comments", "header1", "footer1", "endnotes", "settings")
    rows = "".join(_relationship(n, k, f"{name}.xml") for n, (k, name) in enumerate(zip(kinds, names, strict=True), 1))
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": rels + _relationship(1, "officeDocument", "word/document.xml") + "</Relationships>",
        "word/document.xml": f"<w:document {_NAMESPACES}><w:body>{_BODY}</w:body></w:document>",
        "word/_rels/document.xml.rels": rels + rows + "</Relationships>",
        "word/styles.xml": _STYLES,
        "word/numbering.xml": _NUMBERING,
        "word/footnotes.xml": f'<w:footnotes xmlns:w="{W}"><w:footnote w:type="separator" w:id="0"/><w:footnote w:id="2">{paragraph("Only on working days.")}</w:footnote></w:footnotes>',
        "word/endnotes.xml": f'<w:endnotes xmlns:w="{W}"><w:endnote w:id="2">{paragraph("An end note.")}</w:endnote></w:endnotes>',
        "word/comments.xml": f'<w:comments xmlns:w="{W}"><w:comment w:id="1" w:author="a">{paragraph("Check this.")}</w:comment></w:comments>',
        "word/header1.xml": f'<w:hdr xmlns:w="{W}">{paragraph("CONFIDENTIAL")}</w:hdr>',
        "word/footer1.xml": f'<w:ftr xmlns:w="{W}">{paragraph("Page 1")}</w:ftr>',
        "word/settings.xml": f'<w:settings xmlns:w="{W}"/>',
    }


def zipped(parts: dict[str, str | bytes]) -> bytes:
    """``parts`` as a zip archive without the time, lightly compressed: the fuzzer makes thousands."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED, 1)
    return buffer.getvalue()


def _stream(content: bytes, entries: bytes = b"", *, flate: bool = False) -> bytes:
    data = zlib.compress(content) if flate else content
    how = b" /Filter /FlateDecode" if flate else b""
    return b"<< /Length %d%s%s >>\nstream\n%s\nendstream" % (len(data), how, entries, data)


def _page_content(number: int) -> bytes:
    thing, part = (("rope", "hemp"), ("oar", "ash"), ("sail", "linen"))[number - 1]
    lines = [
        (72, 760, "Supply Agreement"), (72, 700, f"{number}. Duty {number}. The seller shall keep the rope dry and in"),
        (72, 686, f"good repair, subject to Section {number}.1 and the agree-"), (72, 672, "ment of the parties."),
        (72, 650, f"{number}.1 \\223Rope {number}\\224 means any cord of Section 1."), (90, 636, f"(a) {part};"), (90, 622, f"(b) steel {thing}."),
        (72, 600, "Item"), (300, 600, "Price"), (72, 586, f"The {thing}"), (300, 586, f"{number}.00"), (300, 30, f"Page {number} of 3"),
    ]  # fmt: skip
    text = "".join(f"BT /F1 11 Tf 1 0 0 1 {x} {y} Tm ({t}) Tj ET\n" for x, y, t in lines)
    extra = "BT 3 Tr /F1 9 Tf 72 500 Td (unseen) Tj ET BT 1 1 1 rg /F1 9 Tf 72 480 Td (white words) Tj 0 Tr ET\n"
    array = "BT /F2 10 Tf 72 460 Td [(Ar) -20 (ray) 300 (gap)] TJ T* <4142> ' ET q 50 0 0 50 400 400 cm /Im1 Do Q\n"
    return (text + extra + array).encode("latin-1")


def pdf_objects() -> list[bytes]:
    """Objects 1, 2, ... of a PDF of three pages with fonts, an image, a form field, a link, an outline, a rotation."""
    to_unicode = b"/CIDInit /ProcSet findresource begin 1 begincmap 1 begincodespacerange <00> <FF> endcodespacerange 1 beginbfchar <41> <0394> endbfchar endcmap end"
    resources = b"/Resources << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << /Im1 5 0 R >> >>"
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R %s %s >>"
    return [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [13 0 R] /DR << /Font << /F1 3 0 R >> >> >> /Outlines 14 0 R >>",
        b"<< /Type /Pages /Count 3 /Kids [6 0 R 7 0 R 8 0 R] >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /ToUnicode 12 0 R >>",
        _stream(b"\x80\x40\x20\x10", b" /Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8"),
        page % (9, resources, b"/Annots [13 0 R 15 0 R]"),
        page % (10, resources, b"/Rotate 90 /CropBox [0 0 600 780]"),
        page % (11, resources, b""),
        _stream(_page_content(1)),
        _stream(_page_content(2), flate=True),
        _stream(_page_content(3)),
        _stream(to_unicode),
        b"<< /Type /Annot /Subtype /Widget /FT /Tx /T (name) /V (Ada Quill) /DA (/F1 10 Tf 0 g) /Rect [72 400 300 420] /P 6 0 R >>",
        b"<< /Type /Outlines /First 16 0 R /Last 16 0 R /Count 1 >>",
        b"<< /Type /Annot /Subtype /Link /Rect [72 640 200 660] /Dest [7 0 R /XYZ 0 700 0] >>",
        b"<< /Title (Duty) /Parent 14 0 R /Dest [6 0 R /Fit] >>",
    ]  # fmt: skip


def assembled(objects: list[bytes], *, trailer: bytes = b"", shift: int = 0) -> bytes:
    """``objects`` with a cross-reference table whose offsets are ``shift`` bytes off."""
    out = bytearray(b"%PDF-1.6\n%\xe2\xe3\xcf\xd3\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % max(0, offset + shift) for offset in offsets)
    size = len(objects) + 1
    out += b"trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, trailer, start + shift)
    return bytes(out)
