"""Mutations of the parts of a DOCX: elements moved, wrapped, repeated and dropped, attributes and texts changed."""

# ruff: noqa: E501  (tables and file fragments are easier to check on one line)

from __future__ import annotations

import random
from collections.abc import Sequence

from lxml import etree

from .builders import W
from .fuzz_seeds import docx_parts, zipped

_VALUES = (
    "", "0", "1", "2", "-1", "9", "99", "4294967296", "99999999999999999999", "1.5", "abc", "on", "off", "false", "auto", "²", "٣", "Normal", "Heading1",
    "REF _Ref2 \\r", "TOC \\o", "begin", "separate", "end", "restart", "continue", "decimal", "chineseCounting", "lowerRoman", "bullet", "none",
    "%1", "%1.%2.%3.%4.%5.%6.%7.%8.%9", "%9%0%10%", "第%1条", "x" * 500, "FFFFFF", "nothing", "space", "../../etc/passwd", "word/document.xml", "../..",
    "http://example.org/x", "External", "header1.xml", "\u202e", "_Ref1",
)  # fmt: skip
_TAGS = (
    "p", "r", "t", "tbl", "tr", "tc", "sdt", "sdtContent", "ins", "del", "moveFrom", "moveTo", "hyperlink", "fldSimple", "fldChar", "instrText", "delText",
    "pPr", "rPr", "numPr", "numId", "ilvl", "vanish", "specVanish", "txbxContent", "body", "document", "footnote", "footnoteReference", "sym", "br", "tab",
    "bookmarkStart", "bookmarkEnd", "lvl", "abstractNum", "num", "lvlOverride", "startOverride", "style", "basedOn", "numStyleLink", "styleLink", "vMerge",
    "gridSpan", "hMerge", "trPr", "tcPr", "cellDel", "cellIns", "sectPr", "AlternateContent", "Choice", "Fallback", "smartTag", "customXml", "ruby", "altChunk",
)  # fmt: skip
_SNIPPETS = (
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r>', '<w:r><w:fldChar w:fldCharType="end"/></w:r>', "<w:r><w:instrText>REF _Ref1 \\w</w:instrText></w:r>",
    "<w:p/>", "<w:tbl/>", "<w:tbl><w:tr/></w:tbl>", "<w:tbl><w:tr><w:tc/></w:tr></w:tbl>", "<w:sdt/>", "<w:pPr><w:rPr><w:del/></w:rPr></w:pPr>",
    '<w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="77"/></w:numPr></w:pPr>', '<w:rPr><w:vanish/></w:rPr>', '<w:r><w:footnoteReference w:id="77"/></w:r>',
    '<w:ins><w:del><w:r><w:t>both</w:t></w:r></w:del></w:ins>', '<w:bookmarkStart w:id="4" w:name="_Ref2"/>', "<w:r><w:t>第三条 (a) “X” means Y</w:t></w:r>",
    '<w:moveFromRangeStart w:id="3" w:name="m"/>', "<w:txbxContent><w:p><w:r><w:t>1. box</w:t></w:r></w:p></w:txbxContent>", '<w:altChunk r:id="r99"/>',
    '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/></w:lvl>', '<w:style w:styleId="Heading1"><w:basedOn w:val="Heading1"/></w:style>',
)  # fmt: skip
_NAMESPACES = f'xmlns:w="{W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_WEIGHTS = {"word/document.xml": 12, "word/numbering.xml": 5, "word/styles.xml": 3, "word/footnotes.xml": 2}


def mutated_docx(source: random.Random, tokens: Sequence[str]) -> bytes:
    """The seed with mutated parts; one in eight also loses, swaps or breaks a part."""
    parts: dict[str, str | bytes] = dict(docx_parts())
    names = [name for name in parts for _ in range(_WEIGHTS.get(name, 1))]
    for name in {source.choice(names) for _ in range(source.randint(1, 3))}:
        parts[name] = _mutated_part(source, str(parts[name]), tokens)
    roll = source.random()
    name = source.choice(list(parts))
    if roll < 0.04:
        del parts[name]
    elif roll < 0.08:
        other = source.choice(list(parts))
        parts[name], parts[other] = parts[other], parts[name]
    elif roll < 0.12:
        text = str(parts[name])
        at = source.randrange(len(text))
        parts[name] = (
            text[:at] + source.choice(("<", "&", "&x;", "\x01", "<!DOCTYPE a>", "]]>", "</w:p>", "")) + text[at + 1 :]
        )
    elif roll < 0.14:
        parts[name] = str(parts[name]).encode(source.choice(("utf-16", "utf-32", "gb18030")))
    return zipped(parts)


def _mutated_part(source: random.Random, text: str, tokens: Sequence[str]) -> bytes:
    root = etree.fromstring(text.encode())
    for _ in range(source.choice((1, 2, 4, 10))):
        elements = list(root.iter(etree.Element))[1:]
        if not elements:
            break
        _mutate(source, source.choice(elements), elements, tokens)
    return etree.tostring(root)


def _mutate(
    source: random.Random, element: etree._Element, elements: list[etree._Element], tokens: Sequence[str]
) -> None:
    parent = element.getparent()
    kind = source.randrange(11)
    if kind <= 2:
        _change_attribute(source, element)
    elif kind == 3:
        parent.remove(element)
    elif kind == 4:
        for _ in range(source.choice((1, 2, 30))):
            parent.insert(parent.index(element), _copy(element))
    elif kind == 5:
        place = source.choice(elements)
        place.insert(source.randrange(len(place) + 1), _copy(element))
    elif kind == 6:
        element.tag = f"{{{W}}}{source.choice(_TAGS)}"
    elif kind == 7:  # wrap, now and then deep
        for _ in range(source.choice((1, 1, 1, 5, 60))):
            wrapper = etree.Element(f"{{{W}}}{source.choice(_TAGS)}")
            parent.replace(element, wrapper)
            wrapper.append(element)
            parent = wrapper
    elif kind == 8:
        for child in reversed(element):
            element.addnext(child)
    elif kind == 9:
        holder = etree.fromstring(f"<x {_NAMESPACES}>{source.choice(_SNIPPETS)}</x>")
        element.insert(source.randrange(len(element) + 1), holder[0])
    else:
        words = "".join(c for c in source.choice(tokens) if c in "\t\n\r" or (c >= "\x20" and c not in "\ufffe\uffff"))
        element.text = (element.text or "") + words


def _copy(element: etree._Element) -> etree._Element:
    return etree.fromstring(etree.tostring(element, with_tail=False))


def _change_attribute(source: random.Random, element: etree._Element) -> None:
    if element.attrib and source.random() < 0.8:
        key = source.choice(list(element.attrib))
        if source.random() < 0.15:
            del element.attrib[key]
        else:
            element.set(key, source.choice(_VALUES))
    else:
        element.set(
            f"{{{W}}}{source.choice(('val', 'id', 'type', 'name', 'ilvl', 'numId', 'styleId'))}", source.choice(_VALUES)
        )
