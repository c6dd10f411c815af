"""Nests automatically numbered clauses by the lists and levels that the format states; not for typed labels.

Inside one list the level decides. Where a list begins, the format does not say what it is inside of: then the
words before it do, and whether the list around it goes on afterwards.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from softlookup.documents.model import Block

_MAIN_STYLES = ("article", "section", "part", "zh-", "decimal")
_HOLDERS = ("schedule", "part", "zh-part", "zh-subpart", "zh-chapter", "zh-division")
_INTRODUCING = (":", "：", "—", "–")
_SENTENCE_END = (".", ";", ",", "。", "；", "，", *_INTRODUCING)
_TITLE = 60  # characters; a longer paragraph is no title


class ListNode(Protocol):
    """What this module needs to know of a clause in the making."""

    start: int
    style: str
    values: tuple[int, ...]
    list_id: str
    list_level: int


@dataclass(frozen=True, slots=True)
class Lists:
    """Facts about the lists of a document, by index of the node (-1 for none).

    ``goes_on`` tells that the list counts on after the node; ``size`` is the number of labels of its list;
    ``lead`` is how the text before the node leads to it: "introduced", "titled" or "".
    """

    goes_on: tuple[bool, ...]
    size: tuple[int, ...]
    lead: tuple[str, ...]


def survey(text: str, blocks: Sequence[Block], nodes: Sequence[ListNode]) -> Lists:
    """Facts about the lists that ``nodes``, in document order, belong to."""
    sizes = Counter(node.list_id for node in nodes)
    goes_on = [False] * len(nodes)
    following: dict[str, dict[int, ListNode]] = {}  # list -> level -> nearest later node
    for index in range(len(nodes) - 1, -1, -1):
        node = nodes[index]
        if not node.list_id:
            continue
        levels = following.setdefault(node.list_id, {})
        later = [n for level, n in levels.items() if level <= node.list_level]
        if later:
            nearest = min(later, key=lambda n: n.start)
            goes_on[index] = nearest.values[-1:] != (1,)
        levels[node.list_level] = node
    starts = [block.span.start for block in blocks]
    lead = tuple(_lead(text, blocks, bisect_left(starts, node.start)) if node.list_id else "" for node in nodes)
    return Lists(tuple(goes_on), tuple(sizes[node.list_id] for node in nodes), lead)


def _lead(text: str, blocks: Sequence[Block], at: int) -> str:
    """How the blocks before block ``at`` lead to it, back to the last one with a label, three at most."""
    for index in range(at - 1, max(-1, at - 4), -1):
        block = blocks[index]
        words = text[block.span.start : block.span.end].rstrip()
        if block.label:
            return "introduced" if index == at - 1 and words.endswith(_INTRODUCING) else ""
        if block.kind == "heading" or (len(words) <= _TITLE and not words.endswith(_SENTENCE_END)):
            return "titled"
    return ""


def place(nodes: Sequence[ListNode], stack: list[int], index: int, lists: Lists) -> bool:
    """Pop from ``stack`` what node ``index`` is not inside of; False when only its label style can tell."""
    node = nodes[index]
    mine = [depth for depth, at in enumerate(stack) if nodes[at].list_id == node.list_id]
    if mine:
        beside = next((depth for depth in mine if nodes[stack[depth]].list_level >= node.list_level), len(stack))
        del stack[beside:]
        above = [depth for depth in mine if depth < beside]
        if above:
            inner = above[-1] + 1
            while inner < len(stack) and nodes[stack[inner]].list_id and lists.goes_on[stack[inner]]:
                inner += 1  # another list between the two levels, which counts on around this one
            del stack[inner:]
        return True
    for depth, at in enumerate(stack):
        if nodes[at].list_id and not lists.goes_on[at] and _is_apart(nodes, at, index, lists):
            del stack[depth:]
            break
    return bool(stack and nodes[stack[-1]].list_id)


def _is_apart(nodes: Sequence[ListNode], at: int, index: int, lists: Lists) -> bool:
    """True when the list that starts at ``index`` follows the ended list of node ``at``, not stands inside it.

    Parties "(1)", "(2)" are followed by recitals "(A)" and by the clauses "1."; none holds the next. Schedules and
    chapters hold every list after them, the last one too.
    """
    if nodes[at].style in _HOLDERS and nodes[index].style not in _HOLDERS:
        return False
    outgrows = nodes[index].style.startswith(_MAIN_STYLES) and nodes[at].style.endswith("()")
    if lists.lead[index] == "introduced" and not outgrows:
        return False
    return outgrows or lists.lead[index] == "titled" or lists.size[index] > lists.size[at]
