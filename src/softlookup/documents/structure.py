"""From blocks to the clause tree: spans that tile the text, headings, paths; not for reading files.

Text without a label is a clause without number: the parties and recitals before clause 1, a table of
contents, a signature block, long runs of unnumbered paragraphs. Nothing is left outside the tree.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from softlookup.documents.automatic import survey
from softlookup.documents.candidates import MAX_LABELS, Candidate, find_candidates, is_contents_entry
from softlookup.documents.definition_paragraphs import definition_starts
from softlookup.documents.headings import heading_after, heading_line, run_in_heading, shortened
from softlookup.documents.label_flags import flags_of
from softlookup.documents.model import Block, Clause, Span
from softlookup.documents.numbering import FOLD, Reading
from softlookup.documents.outline import BOUNDARY, DEFINITION, Node, nest
from softlookup.documents.own_paragraphs import ZH_PARAGRAPH, with_paragraphs
from softlookup.documents.paths import printed_path
from softlookup.documents.readers.text import is_hard_wrapped
from softlookup.documents.recitals import mark_recitals
from softlookup.documents.schedule_heads import schedule_heads
from softlookup.documents.selection import Accepted, contents_regions, outside, select

_SIGNATURES = re.compile(
    r"^[ \t]*(?:IN[ ]WITNESS[ ]WHEREOF|In[ ]Witness[ ]Whereof|\[?SIGNATURE[ ]PAGE|[（(]?以下无正文|签署页|"
    r"甲[ ]?方[ ]?[（(][签盖][^）)]{0,6}[）)])|(?<=[.;:][ ])[ ]*IN[ ]WITNESS[ ]WHEREOF",
    re.M,
)
_LONG = 1500  # an unnumbered stretch above this is cut at its paragraphs
_LONG_OPENING = 500  # the same for text before the first label, where parties and recitals stand
_SHORT = 160  # a shorter paragraph stays with the next one
_PAGE_MARK = re.compile(
    r"[ \t]*(?:-?[ ]?(?:\d{1,4}|[ivxl]{1,6})[ ]?-?|_{3,}|<PAGE>[^\n]*|Page \d+[^\n]{0,12}"
    r"|Source:[^\n]{5,120}\d{4})[ \t]*$",
    re.M,
)
_MAIN_LABEL = re.compile(r"\s*(?:ARTICLE|Article|SECTION|Section)\s+[\dIVX]|\s*\d{1,2}\.\d")
_OPENER = re.compile(
    r"[ \t#*]*(?:RECITALS?|WITNESSETH|W I T N E S S E T H|BACKGROUND|PREAMBLE|WHEREAS|鉴于|前言|序言)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Structure:
    """Clause tree in pre-order, and what a reader should be told about how it was made."""

    clauses: tuple[Clause, ...]
    notes: tuple[str, ...] = ()


def build_clauses(text: str, blocks: tuple[Block, ...]) -> tuple[Clause, ...]:
    """Clause tree of ``text`` in pre-order; empty for an empty text.

    The own texts of the clauses tile ``text`` without gap or overlap, and children lie inside parents.
    """
    return build_structure(text, blocks).clauses


def build_structure(text: str, blocks: tuple[Block, ...]) -> Structure:
    """The same with notes; a text with too many labels is left in clauses of paragraphs, and a note says so."""
    if not text:
        return Structure(())
    folded = text.translate(FOLD)
    is_wrapped = is_hard_wrapped(text)
    found = find_candidates(text, folded, blocks, is_wrapped=is_wrapped)
    notes = () if found is not None else (f"more than {MAX_LABELS} possible clause labels: split at paragraphs only",)
    nodes = [] if found is None else _nodes(text, blocks, _labelled(text, folded, found, is_wrapped=is_wrapped))
    mark_recitals(text, nodes)
    nest(nodes, survey(text, blocks, nodes))
    nodes = _with_unnumbered(text, blocks, with_paragraphs(text, blocks, nodes))
    return Structure(_clauses(text, blocks, nodes), notes)


def _labelled(text: str, folded: str, found: Sequence[Candidate], *, is_wrapped: bool) -> list[Node]:
    """Nodes of labels and of contents lists, which end every clause before them."""
    regions = contents_regions(text, found)
    candidates = outside(found, regions)
    heads = schedule_heads(text, candidates)
    definitions = definition_starts(text)
    nodes = [_node(head, replace(head.label.readings[0], style="schedule")) for head in heads]
    starts = [candidate.start for candidate in candidates]
    limits = [0, *(bisect_left(starts, head.start) for head in heads), len(candidates)]
    for begin, end in itertools.pairwise(limits):
        part = [c for c in candidates[begin:end] if c.label.readings[0].style != "schedule"]
        selected = select(part, text, folded, is_wrapped=is_wrapped, breaks=[start for start, _ in definitions])
        nodes.extend(_from_accepted(accepted) for accepted in selected)
    taken = {node.start for node in nodes}
    edges = {edge for start, end in regions for edge in (start, _next_text(text, end))}
    nodes.extend(Node(edge, edge, edge, style=BOUNDARY) for edge in sorted(edges - taken) if edge < len(text))
    first = min((node.start for node in nodes if node.number), default=len(text))
    nodes.extend(
        Node(start, start, start, style=DEFINITION, heading=term)
        for start, term in definitions
        if start > first and start not in taken
    )
    return sorted(nodes, key=lambda node: node.start)


def _next_text(text: str, offset: int) -> int:
    """First character at or after ``offset`` that is no blank."""
    while offset < len(text) and text[offset].isspace():
        offset += 1
    return offset


def _nodes(text: str, blocks: tuple[Block, ...], nodes: list[Node]) -> list[Node]:
    """``nodes`` with unnumbered headings, footnotes and signature blocks, in order of offset."""
    taken = {node.start for node in nodes}
    first = min((node.start for node in nodes if node.style != BOUNDARY), default=len(text))
    nodes.extend(n for n in _heading_nodes(text, blocks, first) if n.start not in taken)
    footnote = next((block.span.start for block in blocks if block.kind in ("footnote", "endnote")), None)
    if footnote is not None:
        nodes.append(Node(footnote, footnote, footnote, style=BOUNDARY, heading="Footnotes"))
    taken = {node.start for node in nodes}
    heads = {node.start for node in nodes if node.style == "schedule"}
    labels = sorted(node.start for node in nodes if node.number)
    for match in _SIGNATURES.finditer(text):
        start = match.end() - len(match[0].lstrip())
        following = labels[bisect_right(labels, start) :][:1]
        is_last = not following or following[0] in heads  # of its part: only a schedule comes after it
        if start not in taken and (is_last or match[0].lstrip().upper().startswith(("IN W", "SIGN"))):
            nodes.append(Node(start, start, start, style=BOUNDARY))
    return sorted(nodes, key=lambda node: node.start)


def _from_accepted(accepted: Accepted) -> Node:
    return _node(accepted.candidate, accepted.reading)


def _node(candidate: Candidate, reading: Reading) -> Node:
    label = candidate.label
    return Node(
        candidate.start, label.end, candidate.line_end, label.number, reading.style, reading.values,
        inserted=reading.inserted, source=candidate.source, list_id=candidate.list_id,
        list_level=candidate.list_level,
    )  # fmt: skip


def _heading_nodes(text: str, blocks: tuple[Block, ...], first: int) -> list[Node]:
    """Unnumbered headings; one above the first label ``first`` is a title and holds nothing."""
    nodes = []
    for block in blocks:
        if block.kind == "heading" and not block.label:
            line = text[block.span.start : block.span.end]
            heading = heading_line(line.strip(" #*")) or shortened(line.strip(" #*\n"))
            nodes.append(
                Node(
                    block.span.start,
                    block.span.end,
                    block.span.end,
                    style="heading",
                    heading=heading,
                    outline=block.level or 0,
                )
            )
    later = {node.outline for node in nodes if node.start > first}
    for node in nodes:
        if node.start < first and node.outline not in later and first < len(text):
            node.style = BOUNDARY
    return nodes


def _with_unnumbered(text: str, blocks: tuple[Block, ...], nodes: list[Node]) -> list[Node]:
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
        if node.style == DEFINITION and (index + 1 == len(nodes) or nodes[index + 1].parent != index):
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
    if is_contents_entry(line):
        return ""
    return run_in_heading(line) if runs_on or len(line) > 120 else heading_line(line.strip(" *#")) or run_in_heading(line)


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


def _clauses(text: str, blocks: tuple[Block, ...], nodes: list[Node]) -> tuple[Clause, ...]:
    levels: list[int] = []
    for node in nodes:
        levels.append(0 if node.parent is None else levels[node.parent] + 1)
    ends = _ends(levels, nodes, len(text))
    pages = _Pages(blocks)
    flags = flags_of(nodes)
    clauses: list[Clause] = []
    used: dict[str, int] = {}
    block_ends = frozenset(block.span.end for block in blocks)
    paragraphs: dict[int | None, int] = {}
    for index, node in enumerate(nodes):
        own_end = nodes[index + 1].start if index + 1 < len(nodes) else len(text)
        heading = node.heading or (_heading(text, node, own_end, block_ends) if node.number else "")
        if not node.number and node.style in ("paragraph", DEFINITION):
            paragraphs[node.parent] = paragraphs.get(node.parent, 1) + 1
        path = printed_path(node, clauses, nodes, paragraphs.get(node.parent, 0))
        if path:
            used[path] = used.get(path, 0) + 1
            path = path if used[path] == 1 else f"{path}#{used[path]}"
        clauses.append(
            Clause(
                index=index, number=node.number, heading=heading, span=Span(node.start, ends[index]),
                parent=node.parent, level=levels[index], path=path, page=pages.at(node.start),
                label_source=node.source,
                label=_printed_label(text, node) if node.number else "", values=node.place,
                flags=flags[index],
            )
        )  # fmt: skip
    return tuple(clauses)


def _printed_label(text: str, node: Node) -> str:
    """The label with the punctuation that is printed with it; the number alone when the format only implies it."""
    printed = " ".join(text[node.start : node.label_end].split()).lstrip(" #*>_|•·+-\\")
    return printed if node.number.replace(" ", "") in printed.replace(" ", "") else node.number


def _heading(text: str, node: Node, own_end: int, block_ends: frozenset[int]) -> str:
    line_end = node.line_end
    while line_end > node.label_end and text[line_end - 1].isspace():
        line_end -= 1
    return heading_after(text, node.label_end, node.line_end, own_end, stands_alone=line_end in block_ends)


def _ends(levels: Sequence[int], nodes: Sequence[Node], length: int) -> list[int]:
    """End of every clause: the start of the next one that is not inside it."""
    ends = [length] * len(nodes)
    open_nodes: list[int] = []
    for index, node in enumerate(nodes):
        while open_nodes and levels[open_nodes[-1]] >= levels[index]:
            ends[open_nodes.pop()] = node.start
        open_nodes.append(index)
    return ends


class _Pages:
    """Page of an offset, from the blocks; None for formats without pages."""

    def __init__(self, blocks: Sequence[Block]) -> None:
        paged = [block for block in blocks if block.page is not None]
        self._starts = [block.span.start for block in paged]
        self._pages = [block.page for block in paged]

    def at(self, offset: int) -> int | None:
        if not self._pages:
            return None
        return self._pages[max(0, bisect_right(self._starts, offset) - 1)]
