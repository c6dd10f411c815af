"""HTML contracts: the visible text in reading order, list numbers included; no scripts, network or layout.

Every block element is a line, every table row a line with tabs between its cells. Hidden and struck
text stays out and is counted in the notes; numbers that a browser would print for ``<ol>`` are inserted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from lxml import etree
from lxml import html as lxml_html

from softlookup.documents.model import Block, BlockKind, Coverage, CoverageRow, Span
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.errors import DocumentError

_DROPPED = frozenset((
    "script", "style", "iframe", "object", "embed", "noscript", "template", "head", "title", "svg",
    "option", "button",
))  # fmt: skip
_STRUCK = frozenset(("s", "del", "strike"))
_BLOCKS = frozenset((
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "tr", "table",
    "thead", "tbody", "tfoot", "section", "article", "header", "footer", "main", "nav", "aside",
    "blockquote", "pre", "hr", "form", "fieldset", "center", "address", "figure", "figcaption",
    "caption", "body", "html", "page", "title",
))  # fmt: skip
_HIDDEN_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?\s*(?:;|$)", re.I
)
_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_\-]{2,30})|^<\?xml[^>]{0,100}encoding=[\"']([A-Za-z0-9_\-]{2,30})",
    re.I,
)
_SPACE = re.compile(r"[ \t\r\n\f\v\xa0\u2002\u2003\u2009]+")
_BLANK = "____"
_LABEL_MARKERS = {"a": "lower", "A": "upper", "i": "roman", "I": "ROMAN"}


def declared_encoding(data: bytes) -> str | None:
    """Encoding that the file names in its first 4 kB, when it decodes the whole file; else None."""
    match = _CHARSET.search(data[:4096])
    if match is None or data.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return None
    name = (match[1] or match[2]).decode("ascii").lower()
    name = "gb18030" if name in ("gb2312", "gbk") else name  # the superset reads both
    try:
        data.decode(name)
    except (LookupError, UnicodeError, ValueError):
        return None
    return name


def read_html(text: str, notes: tuple[str, ...] = (), options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Visible text of an HTML page; raises ``DocumentError`` when it cannot be parsed or holds no text."""
    source, templates = _without_templates(text)
    if templates:
        notes += (f"template code removed in {templates} places",)
    root = _parse(source)
    writer = _Writer()
    _walk(root, writer)
    writer.end_line()
    return writer.result(notes)


def _without_templates(text: str) -> tuple[str, int]:
    """``text`` without ``<% ... %>`` and how many there were; linear, whatever the file holds."""
    pieces: list[str] = []
    position = count = 0
    while (start := text.find("<%", position)) >= 0 and (end := text.find("%>", start)) >= 0:
        pieces.append(text[position:start])
        position, count = end + 2, count + 1
    return "".join(pieces) + text[position:], count


def _parse(source: str) -> etree._Element:
    # huge_tree: without it libxml2 drops everything below a depth of 256 without an error
    parser = lxml_html.HTMLParser(
        encoding="utf-8", no_network=True, huge_tree=True, remove_comments=True, remove_pis=True
    )
    cleaned = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", " ", source)
    # libxml2 drops everything after </html> without a word; some filings put the page there
    cleaned = re.sub(r"</(?:html|body)\s*>", " ", cleaned, flags=re.I)
    data = re.sub(r"^\s*<\?xml[^>]*\?>", "", cleaned).encode("utf-8", "replace")
    try:
        root = etree.fromstring(data, parser)
    except (etree.LxmlError, ValueError) as error:
        raise DocumentError(
            "readable HTML is required, this page cannot be parsed", "save it as DOCX, PDF or text"
        ) from error
    if any("depth" in entry.message.lower() for entry in parser.error_log):
        raise DocumentError(
            "HTML nested less than about 2000 deep is required, this page is deeper", "save it as text or PDF"
        )
    if root is None:
        raise DocumentError("HTML with text is required, this page holds none", "check that it is the right file")
    return root


@dataclass(slots=True)
class _Writer:
    """Collects lines; the current line is a list of pieces."""

    lines: list[str] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    generated: list[Span] = field(default_factory=list)
    length: int = 0
    pieces: list[str] = field(default_factory=list)
    kind: BlockKind = "paragraph"
    level: int | None = None
    label: str = ""
    cell_open: bool = False
    preformatted: int = 0
    hidden: int = 0
    struck: int = 0
    fields: int = 0

    def add(self, text: str | None) -> None:
        if not text:
            return
        if self.preformatted:
            first, *rest = text.split("\n")
            self.pieces.append(first)
            for line in rest:
                self.end_line()
                self.pieces.append(line)
        else:
            self.pieces.append(_SPACE.sub(" ", text))

    def end_line(self) -> None:
        raw = "".join(self.pieces)
        body = raw.rstrip() if self.preformatted else re.sub(r" +", " ", raw).strip()
        body = re.sub(r" ?\t ?", "\t", body) if not self.preformatted else body
        if body.strip():
            lead = f"{self.label} " if self.label else ""
            start = self.length
            if lead:
                self.generated.append(Span(start, start + len(lead)))
            line = lead + body
            self.lines.append(line)
            indent = len(line) - len(line.lstrip())
            self.blocks.append(Block(Span(start + indent, start + len(line)), self.kind, self.label, self.level))
            self.length += len(line) + 1
            self.label = ""
        self.pieces.clear()

    def result(self, notes: tuple[str, ...]) -> ReaderResult:
        text = "\n".join(self.lines)
        if self.hidden:
            notes += (f"hidden text left out: {self.hidden} characters",)
        if self.struck:
            notes += (f"struck-out text left out: {self.struck} characters",)
        if self.fields:
            notes += (f"form fields shown by their value or {_BLANK}: {self.fields}",)
        coverage = Coverage(rows=(CoverageRow(unit="page", state="read", characters=len(text)),), notes=notes)
        return ReaderResult(text=text, blocks=tuple(self.blocks), coverage=coverage, generated=tuple(self.generated))


@dataclass(slots=True)
class _List:
    marker: str
    next: int


def _walk(root: etree._Element, writer: _Writer) -> None:
    """Depth-first without recursion, so that nesting depth cannot exhaust the stack."""
    lists: list[_List] = []
    stack: list[tuple[etree._Element, bool]] = [(root, False)]
    while stack:
        element, done = stack.pop()
        tag = _tag(element)
        if done:
            _leave(element, tag, writer, lists)
            writer.add(element.tail)
            continue
        if not tag or _skipped(element, tag, writer):
            writer.add(element.tail)
            continue
        _enter(element, tag, writer, lists)
        writer.add(element.text)
        stack.append((element, True))
        stack.extend((child, False) for child in reversed(element))


def _tag(element: etree._Element) -> str:
    return element.tag.rsplit("}", 1)[-1].lower() if isinstance(element.tag, str) else ""


def _skipped(element: etree._Element, tag: str, writer: _Writer) -> bool:
    if tag in _DROPPED or (tag in ("ix:header", "header") and element.get("style", "").find("none") >= 0):
        return True
    if tag in _STRUCK:
        writer.struck += len("".join(map(str, element.itertext())).strip())
        return True
    style = element.get("style") or ""
    if element.get("hidden") is not None or (style and _HIDDEN_STYLE.search(style)):
        writer.hidden += len("".join(map(str, element.itertext())).strip())
        return True
    return False


def _enter(element: etree._Element, tag: str, writer: _Writer, lists: list[_List]) -> None:
    if tag == "br":
        writer.end_line()
    elif tag in ("input", "select", "textarea") and (element.get("type") or "text").lower() in (
        "text",
        "number",
        "date",
    ):
        writer.pieces.append(element.get("value") or _BLANK)  # a blank to fill in
        writer.fields += 1
    elif tag in ("td", "th"):
        if any(piece.strip() for piece in writer.pieces):
            writer.pieces.append("\t")
        writer.kind, writer.cell_open = "table_cell", True
    elif tag in _BLOCKS:
        if not (writer.cell_open and tag in ("p", "div", "center")):
            writer.end_line()
            writer.kind, writer.level = "paragraph", None
        writer.cell_open = False
    if tag in ("ol", "ul"):
        lists.append(_open_list(element, tag))
    elif tag == "li":
        writer.kind, writer.level = "list_item", max(0, len(lists) - 1)
        writer.label = _item_label(element, lists)
    elif len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
        writer.kind, writer.level = "heading", int(tag[1]) - 1
    elif tag == "pre":
        writer.preformatted += 1


def _leave(element: etree._Element, tag: str, writer: _Writer, lists: list[_List]) -> None:
    if tag in ("td", "th"):
        writer.cell_open = False
        while writer.pieces and not writer.pieces[-1].strip():
            writer.pieces.pop()
        return
    if tag in ("ol", "ul") and lists:
        writer.end_line()
        lists.pop()
    elif tag in _BLOCKS and not (tag in ("p", "div", "center") and _in_cell(element)):
        writer.end_line()
        writer.kind, writer.level, writer.label = "paragraph", None, ""
    if tag == "pre":
        writer.end_line()
        writer.preformatted = max(0, writer.preformatted - 1)


def _in_cell(element: etree._Element) -> bool:
    """True when the element is the last one of a table cell: the row goes on after it."""
    parent = element.getparent()
    return parent is not None and _tag(parent) in ("td", "th") and element.getnext() is None


def _open_list(element: etree._Element, tag: str) -> _List:
    style = (element.get("style") or "").replace(" ", "").lower()
    if tag == "ul" or "list-style-type:none" in style or "list-style:none" in style:
        return _List("", 1)
    start = element.get("start") or "1"
    marker = element.get("type") or "1"
    for name, kind in (
        ("lower-alpha", "a"),
        ("upper-alpha", "A"),
        ("lower-roman", "i"),
        ("upper-roman", "I"),
    ):
        marker = kind if name in style else marker
    return _List(marker, int(start) if start.isdigit() and len(start) < 6 else 1)


def _item_label(element: etree._Element, lists: list[_List]) -> str:
    if not lists or not lists[-1].marker:
        return ""
    current = lists[-1]
    value = element.get("value") or ""
    number = int(value) if value.isdigit() and len(value) < 6 else current.next
    current.next = number + 1
    return f"{print_number(number, current.marker)}."


def print_number(number: int, marker: str) -> str:
    """``number`` as a list marker of kind "1", "a", "A", "i" or "I" prints it."""
    if number < 1 or number > 3999 or marker not in _LABEL_MARKERS:
        return str(number)
    if marker in "aA":
        count, index = divmod(number - 1, 26)
        letters = chr(97 + index) * (count + 1)
        return letters.upper() if marker == "A" else letters
    printed = ""
    for value, sign in _ROMAN:
        while number >= value:
            printed += sign
            number -= value
    return printed.upper() if marker == "I" else printed


_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
