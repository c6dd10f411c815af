"""From blocks to the clause tree: spans that tile the text, headings, paths; not for reading files.

Text without a label is a clause without number: the parties and recitals before clause 1, a table of
contents, a signature block, long runs of unnumbered paragraphs. Nothing is left outside the tree.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from softlookup.documents.definitions.paragraphs import definition_starts
from softlookup.documents.model import Block, Clause, Span
from softlookup.documents.readers.text import is_hard_wrapped
from softlookup.documents.tree.automatic import survey
from softlookup.documents.tree.boundaries import boundary_starts
from softlookup.documents.tree.candidates import MAX_LABELS, Candidate, find_candidates
from softlookup.documents.tree.contents_lists import contents_regions, outside
from softlookup.documents.tree.headings import heading_after, heading_line, shortened
from softlookup.documents.tree.label_flags import flags_of
from softlookup.documents.tree.list_marks import mark_lists
from softlookup.documents.tree.numbering import FOLD, Reading
from softlookup.documents.tree.outline import BOUNDARY, DEFINITION, Node, nest
from softlookup.documents.tree.own_paragraphs import with_paragraphs
from softlookup.documents.tree.paths import printed_path
from softlookup.documents.tree.quoted_clauses import apart_from, quoted_regions
from softlookup.documents.tree.recitals import mark_recitals
from softlookup.documents.tree.schedule_heads import schedule_heads, with_stronger_first
from softlookup.documents.tree.selection import Accepted, select
from softlookup.documents.tree.stretches import with_stretches
from softlookup.documents.tree.term_indexes import index_regions


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
    mark_lists(text, blocks, nodes)
    nest(nodes, survey(text, blocks, nodes))
    nodes = with_stretches(text, blocks, with_paragraphs(text, blocks, nodes))
    return Structure(_clauses(text, blocks, nodes), notes)


def _labelled(text: str, folded: str, found: Sequence[Candidate], *, is_wrapped: bool) -> list[Node]:
    """Nodes of labels and of contents lists, which end every clause before them."""
    regions = contents_regions(text, found)
    candidates = apart_from(outside(found, regions), quoted_regions(text, folded))
    candidates = apart_from(candidates, index_regions(text))
    heads = schedule_heads(text, candidates)
    definitions = definition_starts(text)
    nodes = [_node(head, replace(head.label.readings[0], style="schedule")) for head in heads]
    starts = [candidate.start for candidate in candidates]
    limits = [0, *(bisect_left(starts, head.start) for head in heads), len(candidates)]
    for begin, end in itertools.pairwise(limits):
        part = [c for c in candidates[begin:end] if c.label.readings[0].style != "schedule"]
        if begin:
            part = with_stronger_first(text, candidates[begin], part)
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
    nodes.sort(key=lambda node: node.start)
    nodes.extend(Node(at, at, at, style=BOUNDARY, heading=heading) for at, heading in boundary_starts(text, nodes))
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
