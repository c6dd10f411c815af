"""HTML contracts: the visible text in reading order, list numbers included; no scripts, network or layout.

Every block element is a line, every table row a line with tabs between its cells. What a reader of the page does
not see (hidden, white on white, struck out in a redline) and page furniture go to the asides; the numbers that a
browser would print for ``<ol>`` are inserted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from lxml import etree

from softlookup.documents.model import BlockKind, Coverage, CoverageRow
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.html.account import DROPPED, Account
from softlookup.documents.readers.html.compose import compose
from softlookup.documents.readers.html.lists import Lists
from softlookup.documents.readers.html.numbers import print_number as print_number  # noqa: PLC0414
from softlookup.documents.readers.html.pieces import Pieces, tag_of
from softlookup.documents.readers.html.shown import Shown
from softlookup.documents.readers.html.source import TEMPLATE_MARK, HtmlSource, attribute, parse_html, plain
from softlookup.documents.readers.html.source import declared_encoding as declared_encoding  # noqa: PLC0414
from softlookup.documents.readers.html.styles import Look, StyleSheet, declarations, is_plain, look_of, makes_gap
from softlookup.documents.readers.html.tables import Tables
from softlookup.documents.readers.html.writer import Context, Writer
from softlookup.documents.readers.text_marks import find_marks

_BLOCKS = frozenset((
    "p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "ul", "ol", "dl", "dt", "dd", "tr", "table",
    "thead", "tbody", "tfoot", "section", "article", "header", "footer", "main", "nav", "aside",
    "blockquote", "pre", "hr", "form", "fieldset", "legend", "center", "address", "figure", "figcaption",
    "caption", "body", "html", "page", "details", "summary", "dir", "menu", "hgroup", "listing", "xmp",
))  # fmt: skip
_JOINED_IN_CELL = frozenset(("p", "div", "br", "center", "h1", "h2", "h3", "h4", "h5", "h6"))
_LISTS = ("ol", "ul", "dir", "menu")
_PREFORMATTED = ("pre", "listing", "xmp")
_BLANK_LINE = "____"
_TOC_CLASS = re.compile(r"\bMsoToc\d", re.I)
_NOTE_ID = re.compile(r"_?(?:ftn|edn|fn|footnote|endnote)[-_]?\d{1,4}")
_BREAK_STYLES = ("always", "page", "left", "right", "recto", "verso")
_WORD_PARTS: dict[str, BlockKind] = {
    "comment-list": "comment", "comment": "comment", "header": "header", "footer": "footer",
    "footnote": "footnote", "endnote": "endnote",
}  # fmt: skip


def read_html(text: str, notes: tuple[str, ...] = (), options: ReadOptions = DEFAULTS) -> ReaderResult:
    """Visible text of an HTML page; raises ``DocumentError`` when it cannot be parsed or holds no text."""
    source = parse_html(text)
    walker = _Walker(source, Shown(options.view))
    walker.walk()
    composed = compose(walker.writer)
    marks, mark_notes = find_marks(composed.text)
    account = walker.account
    account.templates, account.tables = len(source.templates), walker.tables.count
    account.rules_not_applied = walker.sheet.not_applied
    notes += source.notes + account.notes(composed.aside) + mark_notes
    row = CoverageRow(
        "page", "read", len(composed.text), characters_aside=sum(len(aside.text) for aside in composed.aside)
    )
    return ReaderResult(
        text=composed.text,
        blocks=composed.blocks,
        coverage=Coverage((row,), pages=composed.pages, notes=notes, counts=account.counted(composed.aside)),
        generated=composed.generated,
        aside=composed.aside,
        marks=tuple(sorted((*composed.marks, *marks), key=lambda mark: mark.span)),
        links=composed.links,
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """What holds inside an element: how its words look and what they are part of."""

    look: Look
    context: Context
    aside: BlockKind | None = None  # Word's comments, headers and footers are no text of the page


@dataclass(slots=True)
class _Walker:
    """Walks the tree without recursion, so that nesting depth cannot exhaust the stack."""

    source: HtmlSource
    shown: Shown
    writer: Writer = field(default_factory=Writer)
    sheet: StyleSheet = field(default_factory=StyleSheet)
    lists: Lists = field(default_factory=Lists)
    tables: Tables = field(default_factory=Tables)
    account: Account = field(default_factory=Account)
    open_links: list[tuple[int, int]] = field(default_factory=list)
    pieces: Pieces = field(init=False)

    def __post_init__(self) -> None:
        self.pieces = Pieces(self.writer, self.account)
        self.lists.counters = self.sheet.counters

    def walk(self) -> None:
        """Read the whole tree."""
        self._survey()
        marked = self._marked()
        for number, code in enumerate(self.source.templates):
            if number not in marked:
                self.writer.hide(code, "template_code", where="template code")
        frame = _Frame(Look(), Context())
        stack: list[tuple[etree._Element, _Frame, _Frame | None]] = [(self.source.root, frame, None)]
        while stack:
            element, outer, inner = stack.pop()
            tag = tag_of(element)
            if inner is not None:
                self._leave(element, tag, outer, inner)
                self._text(element.tail, outer)
                continue
            self.account.counts["comments"] += _is_comment(element)
            entered = self._enter(element, tag, outer) if tag else None
            if entered is None:
                self._text(element.tail, outer)
                continue
            self._text(element.text, entered)
            stack.append((element, outer, entered))
            stack.extend((child, entered, None) for child in reversed(element))

    def _survey(self) -> None:
        """Style sheets, and whether the page is a redline: struck words and inserted ones."""
        for element in self.source.root.iter("style"):
            if isinstance(element.text, str) and attribute(element, "media").lower() not in ("print", "speech"):
                self.sheet.add(element.text)
        struck = next(self.source.root.iter("s", "del", "strike"), None) is not None
        has_struck = struck or bool(
            self.source.root.xpath("boolean(//*[contains(@style, 'line-through')])")
            or self.source.root.xpath("boolean(//style[contains(., 'line-through')])")
        )
        has_ins = next(self.source.root.iter("ins"), None) is not None
        self.account.underline_inserts = self.shown.underline_inserts = has_struck and not has_ins

    def _marked(self) -> set[int]:
        """Numbers of the template code that stands where text can be; the rest is in attributes or before it."""
        if not self.source.templates:
            return set()
        found: set[int] = set()
        for element in self.source.root.iter():
            inside = element.text if tag_of(element) and tag_of(element) not in DROPPED else None
            for piece in (inside, element.tail):
                found.update(int(number) for number in TEMPLATE_MARK.findall(piece or ""))
        return found

    # elements -----------------------------------------------------------------------------------------------

    def _enter(self, element: etree._Element, tag: str, outer: _Frame) -> _Frame | None:
        """Begin an element; None when there is nothing to read in it."""
        if tag in DROPPED:
            self.pieces.drop(element, tag)
            return None
        style: dict[str, str] = {}
        frame = outer
        if not is_plain(element) or tag in ("s", "del", "strike", "u", "ins") or tag in self.sheet.by_key:
            style = declarations(self.sheet.style_of(element, tag))
            frame = replace(outer, look=look_of(element, tag, style, outer.look))
            frame = self._word_part(element, style, frame)
        if tag in ("input", "select", "textarea"):
            self.pieces.field(element, tag, frame.context, self.shown.hidden(frame.look))
            return None
        if tag == "img":
            self.pieces.picture(element, frame.context, self.shown.hidden(frame.look))
            return None
        if tag == "meta" and attribute(element, "http-equiv").lower() == "refresh":
            self.account.counts["redirections"] += 1
        if frame.look.gone is None:
            self._begin(element, tag, style, frame)
        elif tag in _BLOCKS or tag == "br":
            self.writer.hide("\n", frame.look.gone)
        self._anchor(element, tag)
        if "mso-list" in style and tag == "span" and "ignore" in style["mso-list"]:
            look = frame.look
            self.pieces.word_label(element, frame.context, self.shown.hidden(look), self.shown.mark(look))
            return None
        frame = self._context(element, tag, frame)
        self._count_revision(outer, frame)
        if style and tag not in _BLOCKS and tag not in ("td", "th") and makes_gap(style, "left"):
            self.writer.gap()
        if tag == "a" and attribute(element, "href").startswith("#"):
            self.open_links.append(self.writer.place)
        if tag == "u" and _is_underlined_blank(element) and self.shown.hidden(frame.look) is None:
            self.writer.add(_BLANK_LINE, frame.context, generated=True)
        return frame

    def _word_part(self, element: etree._Element, style: dict[str, str], frame: _Frame) -> _Frame:
        """Word says of some parts that they are comments, headers or notes."""
        part = _WORD_PARTS.get(style.get("mso-element", ""))
        if part is None and (attribute(element, "role") in ("doc-footnote", "doc-endnote")):
            part = "footnote"
        if part is None and element.tag in ("div", "li", "aside") and _NOTE_ID.fullmatch(attribute(element, "id")):
            part = "footnote"
        if part in ("footnote", "endnote"):
            self.account.counts[f"{part}s"] += 1
            return replace(frame, context=replace(frame.context, kind=part, level=None))
        if part is not None:
            self.account.counts["Word " + part] += not style["mso-element"].endswith("-list")
            return replace(frame, aside=part)
        if "MsoCommentReference" in attribute(element, "class"):
            return replace(frame, aside="comment")
        return frame

    def _begin(self, element: etree._Element, tag: str, style: dict[str, str], frame: _Frame) -> None:
        """Line, cell, list and page breaks before an element."""
        writer = self.writer
        if tag in ("td", "th"):
            writer.begin_cell(same_line=self.tables.next_cell(len(writer.lines)))
        elif tag == "br" and frame.look.pre:
            writer.add_raw("\n", frame.context)
        elif tag in _BLOCKS or tag == "br":
            if self.tables.in_data and tag in _JOINED_IN_CELL:
                self._text(" ", frame)
            else:
                writer.end_block()
        if tag in ("table", "tr"):
            self._begin_table(element, tag)
        elif tag in _LISTS:
            self.lists.enter(element, tag, style)
        elif tag == "li" and self.shown.hidden(frame.look) is None:
            label, level, list_id = self.lists.item(element, style)
            if label:
                writer.number(label, level, list_id)
        elif tag in _PREFORMATTED:
            writer.flush()
        if tag in ("hr", "page") or (style and _breaks(style, "before")):
            writer.page_break(hard=tag != "hr" or _breaks(style, "before"))

    def _begin_table(self, element: etree._Element, tag: str) -> None:
        if tag == "table":
            self.tables.enter(element)
            return
        if not self.writer.cell_fresh:  # a table inside a cell goes on in the line of the cell
            self.writer.flush()
        self.tables.next_row(len(self.writer.lines))

    def _context(self, element: etree._Element, tag: str, frame: _Frame) -> _Frame:
        """``frame`` for what is inside the element."""
        context = frame.context
        if len(tag) == 2 and tag[0] == "h" and tag[1] in "123456":
            context = Context("heading", int(tag[1]) - 1, f"line {element.sourceline}")
        elif tag in ("td", "th"):
            kind: BlockKind = "table_cell" if self.tables.in_data else "paragraph"
            context = Context(kind, None, f"{self.tables.where} line {element.sourceline}")
        elif tag == "li":
            context = Context("list_item", max(0, len(self.lists.open) - 1), f"line {element.sourceline}")
        elif tag in _BLOCKS and context.kind != "list_item":
            kind = "toc" if _TOC_CLASS.search(attribute(element, "class")) else context.kind
            kind = "paragraph" if kind == "heading" else kind
            context = Context(kind, None, context.origin if "table" in context.origin else f"line {element.sourceline}")
        if context.kind in ("paragraph", "table_cell") and frame.context.kind in ("footnote", "endnote"):
            context = replace(context, kind=frame.context.kind)
        if tag in _PREFORMATTED:
            frame = replace(frame, look=replace(frame.look, pre=True))
        return frame if context == frame.context else replace(frame, context=context)

    def _leave(self, element: etree._Element, tag: str, outer: _Frame, inner: _Frame) -> None:
        writer = self.writer
        if tag == "a" and attribute(element, "href").startswith("#") and self.open_links:
            start = self.open_links.pop()
            writer.links.append((start, writer.place, attribute(element, "href")[1:]))
        if inner.look.gone is not None:
            if tag in _BLOCKS:
                writer.hide("\n", inner.look.gone)
            return
        if inner.look.pre and not outer.look.pre:
            writer.end_raw()
        if tag in _BLOCKS and not (self.tables.in_data and tag in _JOINED_IN_CELL):
            writer.end_block()
        elif tag in _JOINED_IN_CELL and self.tables.in_data:
            self._text(" ", outer)
        if tag == "li":
            writer.drop_number()
        self._close(tag)
        if tag in ("tr", "table"):
            writer.cell_fresh = False
            writer.end_block()
        style = {} if is_plain(element) else declarations(self.sheet.style_of(element, tag))
        if style and _breaks(style, "after"):
            writer.page_break(hard=True)
        if style and tag not in _BLOCKS and tag not in ("td", "th") and makes_gap(style, "right"):
            writer.gap()

    def _close(self, tag: str) -> None:
        if tag in _LISTS:
            self.lists.leave()
        elif tag == "table":
            self.tables.leave()

    # text ---------------------------------------------------------------------------------------------------

    def _text(self, text: str | None, frame: _Frame) -> None:
        if not text:
            return
        if TEMPLATE_MARK.search(text):
            pieces = TEMPLATE_MARK.split(text)
            for at, piece in enumerate(pieces):
                if at % 2:
                    self.writer.hide(self.source.templates[int(piece)], "template_code", where="template code")
                else:
                    self._text(piece, frame)
            return
        text = plain(text)
        if frame.aside is not None:
            self.writer.hide(text, None, frame.aside)
            return
        flag = self.shown.hidden(frame.look)
        if flag is not None:
            self.writer.hide(text, flag)
        elif frame.look.pre:
            self.writer.add_raw(text, frame.context, self.shown.mark(frame.look))
        else:
            self.writer.add(text, frame.context, mark=self.shown.mark(frame.look))

    def _count_revision(self, outer: _Frame, frame: _Frame) -> None:
        before, now = self.shown.revision(outer.look), self.shown.revision(frame.look)
        if now != before and now is not None and frame.look.flag is None:
            self.account.counts["deletions" if now == "deleted" else "insertions"] += 1

    # pieces -------------------------------------------------------------------------------------------------

    def _anchor(self, element: etree._Element, tag: str) -> None:
        for name in (attribute(element, "id"), attribute(element, "name") if tag == "a" else ""):
            if name:
                self.writer.anchors.setdefault(name, self.writer.place)


def _is_comment(element: etree._Element) -> bool:
    return isinstance(element, etree._Comment)


def _breaks(style: dict[str, str], side: str) -> bool:
    """True when a style states a page break before or after the element."""
    return style.get(f"page-break-{side}", "") in _BREAK_STYLES or style.get(f"break-{side}", "") in _BREAK_STYLES


def _is_underlined_blank(element: etree._Element) -> bool:
    """True for underlined blanks, which print as a line to write on."""
    words = "".join(map(str, element.itertext()))
    return len(words) >= 3 and not words.strip() and words.count("\xa0") >= 3
