"""Markdown contracts: finds headings, list items and the numbers a nested list implies; the text stays.

``1.`` inside item ``2.`` renders as 2.1 although only "1." is printed: such a block gets the label 2.1. Markup is
not removed, so offsets are those of the file; what the rendered page hides is blanked (``markdown_markup.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field, replace

from softlookup.documents.model import Block, BlockKind, Coverage, CoverageCounts, CoverageRow, Span
from softlookup.documents.readers import DEFAULTS, ReaderResult, ReadOptions
from softlookup.documents.readers.markdown_markup import Markup, find_links, read_markup
from softlookup.documents.readers.text_marks import find_marks

_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*", re.M)  # anchored: a line of a million blanks is tried once
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+\S")
_UNDERLINE = re.compile(r"[ ]{0,3}(?:(?P<first>={2,})|-{3,})[ \t]*$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>\d{1,3}|[a-zA-Z]|[ivxIVX]{1,6})[.)][ \t]+\S")
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+\S")
_TYPED = re.compile(
    r"[ \t]*(?:\*\*|__)?\\?(?:\(|（|第|\d{1,3}\.\d|\d{1,3}\\?[.)](?:\*\*|__)|§|[一二三四五六七八九十]{1,3}、"
    r"|(?:Section|SECTION|Article|ARTICLE|Clause|CLAUSE)[ ]+[\dIVX])"
)
_NOTE = re.compile(r"[ ]{0,3}\[\^[^\]\s]{1,50}\]:")
_TABLE_RULE = re.compile(r"^[ \t]{0,20}\|[ \t:|-]{1,400}$", re.M)


@dataclass(slots=True)
class _Item:
    indent: int
    printed: int
    label: str


@dataclass(slots=True)
class _State:
    """What the lines before say of the next one."""

    blocks: list[Block] = field(default_factory=list)
    open_items: list[_Item] = field(default_factory=list)
    previous_end: int = -2
    in_note: bool = False


def read_markdown(text: str, notes: tuple[str, ...] = (), options: ReadOptions = DEFAULTS) -> ReaderResult:
    """``text`` with its blocks; list items carry the number that the nesting implies."""
    markup = read_markup(text, options.view)
    text = markup.text
    state = _State()
    fences = [span.start for span in markup.fences]
    for line in _LINE.finditer(text):
        at = bisect_right(fences, line.start()) - 1
        if at >= 0 and line.start() < markup.fences[at].end:
            _add_code(text, line, markup.fences[at], state)
        else:
            _add_line(text, line, state)
    blocks = tuple(state.blocks)
    marks, mark_notes = find_marks(text)
    row = CoverageRow("file", "read", len(text), characters_aside=sum(len(aside.text) for aside in markup.asides))
    coverage = Coverage((row,), notes=notes + _notes(markup) + mark_notes, counts=_counts(text, markup, blocks))
    return ReaderResult(
        text=text,
        blocks=blocks,
        coverage=coverage,
        aside=tuple(markup.asides),
        marks=tuple(sorted((*markup.marks, *marks), key=lambda mark: mark.span)),
        links=find_links(text, blocks),
    )


def _add_line(text: str, line: re.Match[str], state: _State) -> None:
    start, end = _trim(text, line.start(), line.end())
    after_blank = text.count("\n", max(state.previous_end, 0), start) > 1 or state.previous_end < 0
    blocks = state.blocks
    if not after_blank:
        _underlined(text, line[0], state)
    kind, label, level = _classify(line[0], state.open_items, after_blank=after_blank)
    state.in_note = bool(_NOTE.match(line[0])) or (state.in_note and (not after_blank or line[0][0] in " \t"))
    if state.in_note:
        kind, label, level = "footnote", "", None
    begins = (
        after_blank
        or kind not in ("paragraph", "footnote")
        or (state.in_note and bool(_NOTE.match(line[0])))
        or bool(_TYPED.match(line[0]))
        or not blocks
        or blocks[-1].kind == "heading"
    )
    if begins:
        blocks.append(Block(Span(start, end), kind, label, level))
    else:
        blocks[-1] = replace(blocks[-1], span=Span(blocks[-1].span.start, end))
    state.previous_end = end


def _underlined(text: str, line: str, state: _State) -> None:
    """A line of = or - below a paragraph of one line makes that a heading."""
    underline = _UNDERLINE.match(line)
    above = state.blocks[-1] if state.blocks else None
    if underline is None or above is None or above.kind != "paragraph":
        return
    if "\n" not in text[above.span.start : above.span.end]:
        state.blocks[-1] = replace(above, kind="heading", level=0 if underline["first"] else 1)
        state.open_items.clear()


def _add_code(text: str, line: re.Match[str], fence: Span, state: _State) -> None:
    """A line of a code block: the whole block is one paragraph."""
    start, end = _trim(text, line.start(), line.end())
    if state.blocks and state.blocks[-1].span.start >= fence.start:
        state.blocks[-1] = replace(state.blocks[-1], span=Span(state.blocks[-1].span.start, end))
    else:
        state.blocks.append(Block(Span(start, end)))
    state.previous_end = end


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _classify(line: str, open_items: list[_Item], *, after_blank: bool) -> tuple[BlockKind, str, int | None]:
    heading = _HEADING.match(line)
    if heading:
        open_items.clear()
        return "heading", "", len(heading[1]) - 1
    item = _ITEM.match(line)
    if item:
        return "list_item", _implied(item, open_items), len(open_items) - 1
    if _BULLET.match(line):
        return "list_item", "", None
    if after_blank and not line[0].isspace() and not _TYPED.match(line):
        open_items.clear()
    return ("table_cell" if line.lstrip().startswith("|") else "paragraph"), "", None


def _implied(item: re.Match[str], open_items: list[_Item]) -> str:
    """Label that the nesting gives to a decimal item; "" when the printed one is already right."""
    indent = len(item["indent"].expandtabs(4))
    previous: _Item | None = None
    while open_items and open_items[-1].indent >= indent:
        popped = open_items.pop()
        previous = popped if popped.indent == indent else previous
    if not item["marker"].isdigit():
        open_items.append(_Item(indent, 0, ""))
        return ""
    printed = int(item["marker"])
    number = printed
    if previous is not None and previous.label and printed == previous.printed == 1:
        number = int(previous.label.rsplit(".", 1)[-1]) + 1  # "1." throughout: a renderer counts
    parent = open_items[-1].label if open_items else ""
    label = f"{parent}.{number}" if parent else str(number)
    open_items.append(_Item(indent, printed, label))
    return label if parent or number != printed else ""


def _notes(markup: Markup) -> tuple[str, ...]:
    found: list[str] = []
    hidden = sum(len(aside.text) for aside in markup.asides if "hidden" in aside.flags)
    if hidden:
        found.append(f"hidden text replaced by blanks: {hidden} characters (comments, hidden tags, link definitions)")
    struck = sum(len(aside.text) for aside in markup.asides if "deleted" in aside.flags)
    if struck:
        found.append(f"struck-out text replaced by blanks: {struck} characters")
    return tuple(found)


def _counts(text: str, markup: Markup, blocks: tuple[Block, ...]) -> CoverageCounts:
    return CoverageCounts(
        tables=sum("--" in rule for rule in _TABLE_RULE.findall(text)),
        footnotes=sum(1 for block in blocks if block.kind == "footnote"),
        comments=sum(1 for aside in markup.asides if aside.where == "HTML comment"),
        pictures=len(re.findall(r"!\[[^\]\n]{0,200}\]\(", text)),
        insertions=markup.counts["inserted"],
        deletions=markup.counts["deleted"],
        hidden_characters=sum(len(aside.text) for aside in markup.asides if "hidden" in aside.flags),
    )
