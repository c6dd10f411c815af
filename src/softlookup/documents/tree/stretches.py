"""Long text without labels, cut at its paragraphs into clauses without number; not for finding labels.

Before the first label stand parties and recitals, in long clauses paragraphs that nobody numbered. A paragraph that
begins with a name of its own ("Governing Law. ...") is always cut off.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from softlookup.documents.model import Block
from softlookup.documents.tree.candidates import is_contents_entry
from softlookup.documents.tree.headings import heading_line, run_in_heading
from softlookup.documents.tree.outline import Node
from softlookup.documents.tree.own_paragraphs import is_unnumbered_part

_LONG = 1500  # an unnumbered stretch above this is cut at its paragraphs
_LONG_OPENING = 500  # the same for text before the first label, where parties and recitals stand
_SHORT = 160  # a shorter paragraph stays with the next one
_PAGE_MARK = re.compile(
    r"[ \t]*(?:-?[ ]?(?:\d{1,4}|[ivxl]{1,6})[ ]?-?|_{3,}|<PAGE>[^\n]*|Page[ ]-?\d+[^\n]{0,12}"
    r"|Source:[^\n]{5,120}\d{4})[ \t]*$",
    re.M,
)
_MAIN_LABEL = re.compile(r"\s*(?:ARTICLE|Article|SECTION|Section)\s+[\dIVX]|\s*\d{1,2}\.\d")
_OPENER = re.compile(
    r"[ \t#*]*(?:RECITALS?|WITNESSETH|W I T N E S S E T H|BACKGROUND|PREAMBLE|WHEREAS|鉴于|前言|序言)\b", re.I
)


def with_stretches(text: str, blocks: tuple[Block, ...], nodes: list[Node]) -> list[Node]:
    """Nodes with children for long unnumbered stretches and with clauses for text before the first label."""
    ends = [node.start for node in nodes[1:]] + [len(text)] if nodes else []
    # the cells of a table row share a line, which is not cut
    fine = [block.span.start for block in blocks if not text.endswith("\t", 0, block.span.start)]
    result: list[Node] = []
    first = nodes[0].start if nodes else len(text)
    if text[:first].strip() or not nodes:
        opening = [Node(0, 0, 0, style="opening", heading=_opening_heading(text, 0, first))]
        for start in _cuts(text, fine, 0, first, _LONG_OPENING):
            opening.append(Node(start, start, start, style="opening", heading=_opening_heading(text, start, first)))
        result.extend(opening)
    else:
        nodes[0].start = 0  # leading blanks belong to the first clause
    shift = _Renumbering()
    for index, (node, end) in enumerate(zip(nodes, ends, strict=True)):
        shift.place(index, len(result))
        node.parent = shift.now(node.parent)
        result.append(node)
        at: int | None = len(result) - 1
        is_leaf = index + 1 == len(nodes) or nodes[index + 1].parent != index
        if is_leaf and is_unnumbered_part(node):
            at = node.parent  # what follows a definition is beside it
        for start in _cuts(text, fine, node.label_end, end, _LONG):
            result.append(
                Node(
                    start,
                    start,
                    start,
                    style="paragraph",
                    heading=_opening_heading(text, start, end),
                    parent=at,
                )
            )
    return result


class _Renumbering:
    """Old to new positions while nodes are inserted."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}

    def place(self, old: int, new: int) -> None:
        self._places[old] = new

    def now(self, old: int | None) -> int | None:
        return None if old is None else self._places[old]


def _opening_heading(text: str, start: int, end: int) -> str:
    """First line of an unnumbered stretch when it is a heading: a line alone, no entry of a contents list."""
    begin = start + len(text[start:end]) - len(text[start:end].lstrip())
    stop = text.find("\n", begin, end)
    stop = end if stop < 0 else stop
    following = text[stop + 1 : stop + 120].split("\n", 1)[0]
    line = text[begin:stop]
    runs_on = bool(following.strip()) and len(line) > 40 and not line.isupper()
    if is_contents_entry(line) or _PAGE_MARK.match(line) or not re.search(r"[^\W\d_]{2}", line):
        return ""
    named = run_in_heading(line)
    return named if named or runs_on or len(line) > 120 else heading_line(line.strip(" *#"))


def _cuts(text: str, fine: Sequence[int], start: int, end: int, limit: int) -> list[int]:
    """Offsets inside ``[start, end)`` where a new paragraph-wise clause begins; none for a short stretch."""
    if end - start <= limit:
        return []
    low, high = bisect_right(fine, start), bisect_right(fine, end - 1)
    starts = [offset for offset in fine[low:high] if start < offset < end]
    cuts: list[int] = []
    previous = start
    for offset in starts:
        line_end = text.find("\n", offset, end)
        line = text[offset : line_end if line_end >= 0 else end]
        opens = bool(_OPENER.match(text, offset))
        opens = opens or (bool(_heads(line)) and not _is_title(text[previous:offset]))
        if not opens and offset - previous < _SHORT:
            continue
        if _PAGE_MARK.match(text, offset) or is_contents_entry(line) or _MAIN_LABEL.match(line):
            continue  # page marks and lines of a contents list open nothing
        if opens or not _is_title(text[previous:offset]):
            cuts.append(offset)
            previous = offset
    return cuts


def _heads(line: str) -> str:
    """Heading of an unnumbered unit that begins with ``line``: capitals alone on it, or a name before the text."""
    words = line.strip(" *_#\t")
    is_capitals = words.isupper() and 5 <= len(words) <= 80 and words[0].isalpha()
    return heading_line(words) if is_capitals else run_in_heading(line)


def _is_title(piece: str) -> bool:
    return len(piece) < 400 and bool(heading_line(piece.strip(" *#\n")))
