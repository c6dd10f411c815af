"""Markdown contracts: the text stays; finds headings, list items and the numbers a nested list implies.

``1.`` inside item ``2.`` renders as 2.1 although only "1." is printed: such a block gets the label 2.1.
Markup is not removed, so offsets are those of the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlookup.documents.model import Block, BlockKind, Coverage, CoverageRow, Span
from softlookup.documents.readers import ReaderResult

_LINE = re.compile(r"^[^\n]*\S[^\n]*", re.M)  # "^": linear on blanks
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+\S")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<marker>\d{1,3}|[a-zA-Z]|[ivxIVX]{1,6})[.)][ \t]+\S")
_BULLET = re.compile(r"[ \t]*[-*+][ \t]+\S")
_TYPED = re.compile(r"[ \t]*(?:\*\*|__)?\\?(?:\(|（|第|\d{1,3}\.\d|§)")


@dataclass(slots=True)
class _Item:
    indent: int
    printed: int
    label: str


def read_markdown(text: str, notes: tuple[str, ...] = ()) -> ReaderResult:
    """``text`` unchanged with its blocks; list items carry the number that the nesting implies."""
    blocks: list[Block] = []
    open_items: list[_Item] = []
    previous_end = -2
    for line in _LINE.finditer(text):
        start, end = _trim(text, line.start(), line.end())
        after_blank = text.count("\n", max(previous_end, 0), start) > 1 or previous_end < 0
        kind, label, level = _classify(line[0], open_items, after_blank=after_blank)
        begins = (
            after_blank
            or kind != "paragraph"
            or bool(_TYPED.match(line[0]))
            or not blocks
            or blocks[-1].kind == "heading"
        )
        if begins:
            blocks.append(Block(Span(start, end), kind, label, level))
        else:
            last = blocks[-1]
            blocks[-1] = Block(Span(last.span.start, end), last.kind, last.label, last.level)
        previous_end = end
    row = CoverageRow(unit="file", state="read", characters=len(text))
    return ReaderResult(text=text, blocks=tuple(blocks), coverage=Coverage(rows=(row,), notes=notes))


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
