"""Small files in memory for the reader tests: DOCX, PDF, texts; no assertions here."""

from __future__ import annotations

import io
import zipfile

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELS = (
    '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="word/document.xml"/></Relationships>'
)


def paragraph(text: str = "", *, num: tuple[int, int] | None = None, style: str = "", runs: str = "") -> str:
    """``w:p`` with one run (or raw ``runs``); ``num`` is (numId, level)."""
    numbering = f'<w:numPr><w:ilvl w:val="{num[1]}"/><w:numId w:val="{num[0]}"/></w:numPr>' if num else ""
    styled = f'<w:pStyle w:val="{style}"/>' if style else ""
    body = runs or f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{styled}{numbering}</w:pPr>{body}</w:p>"


def level(index: int, fmt: str, text: str, *, start: int = 1, extra: str = "") -> str:
    """``w:lvl`` of an abstract list."""
    return (
        f'<w:lvl w:ilvl="{index}"><w:start w:val="{start}"/><w:numFmt w:val="{fmt}"/>{extra}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def numbering(*lists: str, extra: str = "") -> str:
    """``numbering.xml`` with one ``w:num`` per abstract list, ids from 1."""
    abstracts = "".join(f'<w:abstractNum w:abstractNumId="{i}">{x}</w:abstractNum>' for i, x in enumerate(lists, 1))
    nums = "".join(f'<w:num w:numId="{i}"><w:abstractNumId w:val="{i}"/></w:num>' for i in range(1, len(lists) + 1))
    return f'<w:numbering xmlns:w="{W}">{abstracts}{nums}{extra}</w:numbering>'


def docx(body: str, parts: dict[str, str] | None = None, *, document: str | None = None) -> bytes:
    """A DOCX whose main part holds ``body``; ``parts`` are further members."""
    main = document or f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", _TYPES)
        archive.writestr("_rels/.rels", _RELS)
        archive.writestr("word/document.xml", main)
        for name, content in (parts or {}).items():
            archive.writestr(name, content)
    return buffer.getvalue()


def run(text: str, properties: str = "") -> str:
    """``w:r`` with ``text`` and raw run ``properties``."""
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def change(kind: str, text: str, *, author: str = "Ann", date: str = "2026-01-02T03:04:05Z") -> str:
    """A tracked change of ``kind`` (ins, del, moveFrom, moveTo) around one run."""
    words = "delText" if kind == "del" else "t"
    return (
        f'<w:{kind} w:author="{author}" w:date="{date}"><w:r><w:{words} xml:space="preserve">{text}</w:{words}></w:r>'
        f"</w:{kind}>"
    )


def marked(change_kind: str, text: str, *, runs: str = "", num: tuple[int, int] | None = None) -> str:
    """A paragraph whose mark was inserted, deleted or moved."""
    plain = paragraph(text, num=num, runs=runs)
    return plain.replace("</w:pPr>", f'<w:rPr><w:{change_kind} w:author="Ann"/></w:rPr></w:pPr>', 1)


def field(instruction: str, result: str | None) -> str:
    """A complex field; ``result`` None leaves "separate" out."""
    separate = "" if result is None else f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run(result)}'
    return (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r>'
        f'<w:r><w:instrText xml:space="preserve"> {instruction} </w:instrText></w:r>'
        f'{separate}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )


def bookmark(name: str, inside: str, *, number: int = 1) -> str:
    """``inside`` between the ends of a bookmark."""
    return f'<w:bookmarkStart w:id="{number}" w:name="{name}"/>{inside}<w:bookmarkEnd w:id="{number}"/>'


def table(*rows: list[str], properties: str = "") -> str:
    """A table; a cell that is no ``w:tc`` yet is a text of one paragraph."""
    cells = [[c if c.startswith("<w:tc>") else f"<w:tc>{paragraph(c)}</w:tc>" for c in row] for row in rows]
    body = "".join(f"<w:tr>{''.join(row)}</w:tr>" for row in cells)
    return f"<w:tbl><w:tblPr>{properties}</w:tblPr>{body}</w:tbl>"


def story(element: str, body: str) -> str:
    """A part whose root is ``w:element``: a header, footer, or the list of notes or comments."""
    return f'<w:{element} xmlns:w="{W}">{body}</w:{element}>'


def relationships(*rows: tuple[str, str, str], external: tuple[str, ...] = ()) -> str:
    """A ``.rels`` part of (id, kind, target); the ids in ``external`` point outside the file."""
    base = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    inner = "".join(
        f'<Relationship Id="{i}" Type="{base}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if i in external else "/>")
        for i, kind, target in rows
    )
    return (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'
    )


def pdf(pages: list[list[tuple[float, float, str]]], *, image_pages: tuple[int, ...] = ()) -> bytes:
    """A PDF with Helvetica lines (x, y, text) per page; ``image_pages`` (from 0) are covered by a picture."""
    objects: list[bytes] = [b"", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    objects.append(
        b"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 "
        b"/Length 1 >>\nstream\n\x80\nendstream"
    )
    kids: list[str] = []
    for index, lines in enumerate(pages):
        drawn = "".join(f"BT /F1 11 Tf {x} {y} Td ({_escaped(text)}) Tj ET\n" for x, y, text in lines)
        if index in image_pages:
            drawn += "q 600 0 0 780 0 0 cm /Im1 Do Q\n"
        content = drawn.encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        resources = "<< /Font << /F1 3 0 R >> /XObject << /Im1 4 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            f"/Resources {resources} >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    out = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


LEASE_EN = """LEASE OF A BOAT HOUSE

This Lease is made between Heron Boats Ltd ("Landlord") and Ada Quill ("Tenant").

1. Definitions. In this Lease "Boat House" means the building at Reed Quay.

2. Rent
2.1 The Tenant shall pay rent of 400 a month.
2.2 Late payment bears interest:
(a) at four per cent for the first month; and
(b) at eight per cent after that, as said in
Section 9.3 of the Harbour Rules.

3. Termination. Either party may end this Lease on two months' notice.

Schedule 1
Furniture

1. Two chairs.
2. One table.
"""

SERVICE_ZH = """设备维护服务合同

甲方：青石机械厂
乙方：远山技术有限公司

第一章 总则

第一条 定义：本合同所称“设备”，是指附件一列明的机床。

第二条 服务内容
乙方应当提供下列服务：
（一）每月检查一次；
（二）接到通知后二日内维修。

第二章 费用

第三条 甲方每季度支付服务费，逾期的，依照
第二条的规定处理。

附件一 设备清单

1、车床三台。
2、铣床一台。
"""
