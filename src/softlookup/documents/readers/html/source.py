"""HTML source to an element tree: template code out, depth and size in bounds, nothing dropped unseen.

Not for what the elements mean (``html.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree
from lxml import html as lxml_html

from softlookup.documents.readers.encodings import known_codec
from softlookup.errors import DocumentError

_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s{0,5}=\s{0,5}[\"']?\s{0,5}([A-Za-z0-9_\-]{2,30})"
    rb"|^\s{0,20}<\?xml[^>]{0,100}encoding=[\"']([A-Za-z0-9_\-]{2,30})|<%@[^>]{0,200}?charset\s{0,5}=\s{0,5}([A-Za-z0-9_\-]{2,30})",
    re.I,
)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\ufdd0-\ufdef\ufffe\uffff]|&#(?:0{0,5}[0-8]|x0{0,5}[0-8]);", re.I)
# Word's marks around what a browser shows: <![if !supportLists]>
_CONDITION = re.compile(r"<!\[(?:if|endif)[^\]>]{0,200}\]>", re.I)
_PLAIN_INLINE = re.compile(
    r"</?(?:font(?:\s{1,20}(?:face|size)\s{0,5}=\s{0,5}(?:\"[^\"<>]{0,99}\"|'[^'<>]{0,99}'|[^\s\"'<>]{1,99})){0,3}"
    r"|b|i|em|strong|big|small|tt)\s{0,20}>",
    re.I,
)
_PAGE_START = re.compile(r"<(?:!doctype|html|head|body|p|div|table|form)\b", re.I)
# <S> and <C> above the columns of EDGAR tables; <S> alone strikes words out
_COLUMN_TABLE = re.compile(r"</?(?:table|caption|s|c|fn)>", re.I)
_PRE = re.compile(r"<(?P<end>/?)pre\b[^<>]{0,500}>", re.I)
_COLUMNS = re.compile(r"(?:<[SC]>[ \t]{0,200}){1,40}", re.I)
_TAG = re.compile(r"<[A-Za-z][^<>]*")
_LONG_TAG, _MAX_ATTRIBUTES = 10_000, 5_000  # libxml2 needs quadratic time for them
_TEMPLATE = (("<%", "%>"), ("<?php", "?>"), ("<?=", "?>"))
# stands for template code number n; a noncharacter, so that it cannot be text
_MARK_START, _MARK_END = "\ufdd0", "\ufdd1"
TEMPLATE_MARK = re.compile(f"{_MARK_START}(\\d{{1,9}}){_MARK_END}")
# what Windows means by the codes that Unicode leaves to control characters: &#146; and the like
_WINDOWS = {code: bytes([code]).decode("cp1252", "replace") for code in range(0x80, 0xA0)}
_C1 = {code: char for code, char in _WINDOWS.items() if char != "\ufffd"}


@dataclass(frozen=True, slots=True)
class HtmlSource:
    """The tree; ``templates`` is the code that was taken out, by number; ``notes`` tell what was changed."""

    root: etree._Element
    templates: tuple[str, ...]
    notes: tuple[str, ...]


def declared_encoding(data: bytes) -> str | None:
    """Encoding that an HTML or XML file names in its first 4 kB; None when it names none that exists."""
    match = _CHARSET.search(data[:4096])
    if match is None:
        return None
    name = (match[1] or match[2] or match[3]).decode("ascii")
    return name if known_codec(name) else None


def parse_html(text: str) -> HtmlSource:
    """Tree of ``text``; raises ``DocumentError`` when it is nested too deep or holds nothing."""
    notes: tuple[str, ...] = ()
    text, controls = _CONTROL.subn(" ", text)
    if controls:
        notes += (f"control characters read as blanks: {controls}",)
    text, templates = _without_templates(text)
    text = _CONDITION.sub("", text).replace("\f", " ")
    text = _without_column_marks(text)
    if any(len(tag[0]) > _LONG_TAG and len(tag[0].split()) > _MAX_ATTRIBUTES for tag in _TAG.finditer(text)):
        raise DocumentError(
            f"HTML elements of at most {_MAX_ATTRIBUTES} attributes are required, this page has one with more",
            "save it as text or PDF",
        )
    # libxml2 drops everything after </html> without a word; some filings put the page there
    text = re.sub(r"</(?:html|body)\s{0,20}>", " ", text, flags=re.I)
    text = re.sub(r"^\s{0,1000}<\?xml[^>]{0,1000}\?>", "", text)
    root = _parse(text)
    if root is None:  # unclosed <font> tags nest thousands deep in old filings
        root = _parse(_PLAIN_INLINE.sub("", text))
        notes += ("nested too deep to be read as it is: plain font tags were left out",)
    if root is None:
        raise DocumentError(
            "HTML nested less than about 2000 deep is required, this page is deeper", "save it as text or PDF"
        )
    return HtmlSource(root, templates, notes)


def plain(text: str) -> str:
    """``text`` with the character references that Windows programs write (&#146;) as the signs they mean."""
    return text if text.isascii() else text.translate(_C1)


def attribute(element: etree._Element, name: str) -> str:
    """Value of an attribute without template code; "" when it is missing."""
    value = element.get(name)
    return "" if not value else TEMPLATE_MARK.sub("", value).strip()


def _without_column_marks(text: str) -> str:
    """``text`` without the marks of EDGAR column tables, which browsers and libxml2 take for HTML tables."""
    text = _COLUMNS.sub(lambda found: " <c>" if "<c>" in found[0].lower() else found[0], text)
    if "<c>" not in text:
        return text
    pieces: list[str] = []
    position = 0
    for mark in _PRE.finditer(text):
        inside = text[position : mark.start()]
        is_columns = mark["end"] and "<c>" in inside and "<td" not in inside.lower()
        pieces += [_COLUMN_TABLE.sub("", inside) if is_columns else inside, mark[0]]
        position = mark.end()
    return ("".join(pieces) + text[position:]).replace("<c>", "")


def _without_templates(text: str) -> tuple[str, tuple[str, ...]]:
    """``text`` with a mark for each piece of JSP, ASP or PHP code; linear, whatever the file holds."""
    pieces: list[str] = []
    codes: list[str] = []
    start = _PAGE_START.search(text)
    begins = start.start() if start else 0
    position = 0
    closed = {opening: True for opening, _ in _TEMPLATE}
    for opened in re.finditer(r"<%|<\?php\b|<\?=", text):
        at, opening = opened.start(), opened[0]
        if at < position or not closed.get(opening, True):
            continue
        closing = dict(_TEMPLATE)[opening]
        end = text.find(closing, at)
        if end < 0:
            closed[opening] = False
            continue
        code = text[at : end + 2]
        pieces.append(text[position:at])
        # before the page begins a mark would count as its first paragraph
        pieces.append(f"{_MARK_START}{len(codes)}{_MARK_END}" if at >= begins else " ")
        pieces.append("\n" * code.count("\n"))
        codes.append(code)
        position = end + 2
    return "".join(pieces) + text[position:], tuple(codes)


def _parse(source: str) -> etree._Element | None:
    """Tree of ``source``; None when it is nested too deep."""
    # huge_tree: without it libxml2 drops everything below a depth of 256 without an error
    parser = lxml_html.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, remove_pis=True)
    try:
        root = etree.fromstring(source.encode("utf-8", "replace"), parser)
    except (etree.LxmlError, ValueError) as error:
        if any("depth" in entry.message.lower() for entry in parser.error_log):
            return None
        raise DocumentError(
            "readable HTML is required, this page cannot be parsed", "save it as DOCX, PDF or text"
        ) from error
    if any("depth" in entry.message.lower() for entry in parser.error_log):
        return None
    if root is None:
        raise DocumentError("HTML with text is required, this page holds none", "check that it is the right file")
    return root
