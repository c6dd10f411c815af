"""Nests accepted labels: which clause is inside which, by the order in which label styles appear.

Not for choosing labels (``selection.py``) nor for spans and paths (``structure.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from softlookup.documents.model import LabelSource
from softlookup.documents.tree.automatic import Lists, place
from softlookup.documents.tree.heading_lists import HEADING_LISTS, heads_decimals, holds_decimal, is_multipart

_RANK = {
    "schedule": 0, "zh-part": 1, "zh-subpart": 2, "part": 2, "zh-chapter": 3, "article": 4, "zh-division": 4,
    "item": 4.5,
    "section": 5, "zh-article": 5,
}  # fmt: skip
_LIST_STYLES = frozenset(("zh-list", "upper-roman.", "upper-letter.", "decimal1", "decimal1、"))
_MAIN_LISTS = ("decimal1", "upper-roman.", "zh-list")
_LETTERED = frozenset(("upper-letter", "lower-letter", "upper-roman", "lower-roman", "number", "zh-paren"))
_DEEPEST = 30  # clauses inside one another; hostile input nests without end
DEFINITION = "definition"  # a paragraph that defines one term: lists inside it are its own
BOUNDARY = "boundary"  # unnumbered text that ends every clause before it: a signature block


@dataclass(slots=True)
class Node:
    """A clause in the making; ``parent`` is an index into the list of nodes, None at the top."""

    start: int
    label_end: int
    line_end: int
    number: str = ""
    style: str = ""
    values: tuple[int, ...] = ()
    inserted: int = 0  # the letter of "5A"
    heading: str = ""
    parent: int | None = None
    source: LabelSource = "typed"
    outline: int = 0  # depth of an unnumbered heading
    list_id: str = ""  # the automatic list that the label counts in
    list_level: int = 0
    recital: bool = False
    introduced: bool = False  # the words before it, those of the item above, lead to a list
    closes: bool = False  # "and" or "or" before it: the last of its list
    capitals: bool = False  # a heading in capitals follows the label

    @property
    def place(self) -> tuple[int, ...]:
        """``values`` with the inserted letter: (5, 1) for "5A"."""
        return (*self.values, self.inserted) if self.inserted else self.values


def nest(nodes: Sequence[Node], lists: Lists) -> None:
    """Set the ``parent`` of every node; ``nodes`` are in document order, ``lists`` is their survey."""
    stack: list[int] = []
    allowed: dict[str, frozenset[str]] = {}
    latest: dict[str, int] = {}  # style -> last node of it since the last schedule
    outer = _outer_styles(nodes)
    for index, node in enumerate(nodes):
        is_fact = bool(node.list_id) and node.style != "schedule" and place(nodes, stack, index, lists)
        if not is_fact:
            if all(nodes[at].style != node.style for at in stack):
                depth = next((d for d, at in enumerate(stack) if (node.style, nodes[at].style) in outer), len(stack))
                del stack[depth:]
                if node.style not in allowed and _follows_recitals(nodes, stack, index):
                    stack.clear()
            _resume(nodes, stack, index, latest)
            _pop_for(nodes, stack, index, allowed)
        del stack[_DEEPEST:]
        node.parent = stack[-1] if stack else None
        if node.style not in allowed:
            allowed[node.style] = frozenset(nodes[i].style for i in stack)
        if node.style == "schedule":
            latest.clear()
        latest[node.style] = index
        stack.append(index)


def _resume(nodes: Sequence[Node], stack: list[int], index: int, latest: dict[str, int]) -> None:
    """Return to the list "4." when "5." comes after a foreign 2.3 that ended it: an amendment quotes the clause."""
    node = nodes[index]
    before = latest.get(node.style)
    if not node.style.startswith("decimal1") or before is None or before in stack or node.list_id:
        return
    is_next = nodes[before].values == (node.values[0] - 1,)
    foreign = bool(stack) and is_multipart(nodes[stack[-1]]) and nodes[stack[-1]].values[0] != node.values[0] - 1
    if is_next and foreign and all(nodes[at].style != node.style for at in stack):
        above = nodes[before].parent
        del stack[stack.index(above) + 1 if above in stack else 0 :]


def _follows_recitals(nodes: Sequence[Node], stack: Sequence[int], index: int) -> bool:
    """True when the first list of a kind comes after a lettered list that is over, as clauses do after recitals.

    A lettered list goes on after what stands inside one of its members; recitals do not.
    """
    if not stack or nodes[index].values != (1,) or not nodes[index].style.startswith(_MAIN_LISTS):
        return False
    before = nodes[stack[0]]
    if nodes[stack[0]].parent is not None or before.style.rstrip("().") not in _LETTERED or before.list_id:
        return False
    later = next((node for node in nodes[index + 1 : index + 2000] if node.style == before.style), None)
    return later is None or later.values != (before.values[0] + 1,)


def _outer_styles(nodes: Sequence[Node]) -> frozenset[tuple[str, str]]:
    """Pairs (X, Y) of list styles where X holds Y: Y starts again and again while X counts on.

    So "I." is above "A." in a contract whose recitals are lettered before "I." comes.
    """
    styles = {node.style for node in nodes if node.values and node.style not in _RANK and not is_multipart(node)}
    return frozenset(
        (above, below)
        for above in styles & _LIST_STYLES
        for below in styles
        if above != below and _holds(nodes, above, below)
    )


def _holds(nodes: Sequence[Node], above: str, below: str) -> bool:
    """True when ``above`` counts on across at least two new starts of ``below``."""
    starts = counted_on = above_starts = 0
    current = previous = 0
    anew = False
    for node in nodes:
        if node.style == above:
            above_starts += node.values == (1,)
            anew = anew or node.values == (1,)
            current = node.values[0]
        elif node.style == below and node.values == (1,):
            starts += 1
            counted_on += current > previous and not anew
            previous, anew = current, False
    return counted_on >= 2 and above_starts <= 1 and starts > 1


def _pop_for(nodes: Sequence[Node], stack: list[int], index: int, allowed: dict[str, frozenset[str]]) -> None:
    node = nodes[index]
    if node.style == "schedule":
        stack.clear()
    elif node.style == BOUNDARY:
        _pop_while(nodes, stack, lambda top: top.style != "schedule")
    elif node.style == "heading":
        beside = (d for d, at in enumerate(stack) if nodes[at].style == "heading" and nodes[at].outline >= node.outline)
        del stack[next(beside, len(stack)) :]
        _pop_while(
            nodes,
            stack,
            lambda top: not (top.style == "schedule" or _outline(top) < node.outline),
        )
    elif node.style == DEFINITION:
        del stack[next((depth for depth, at in enumerate(stack) if nodes[at].style == DEFINITION), len(stack)) :]
    elif node.style in _RANK:
        _pop_ranked(nodes, stack, index, allowed)
    elif node.style.startswith("decimal"):
        _pop_decimal(nodes, stack, index)
    else:
        _pop_listed(nodes, stack, index)
    if node.style not in ("schedule", BOUNDARY, "heading") and stack and nodes[stack[-1]].style == BOUNDARY:
        stack.pop()


def _outline(top: Node) -> float:
    """Depth of a heading or of an automatic label; infinite where only the label style tells it."""
    if top.style == "heading":
        return top.outline
    return top.list_level if top.list_id else math.inf


def _pop_while(nodes: Sequence[Node], stack: list[int], condition: Callable[[Node], bool]) -> None:
    while stack and condition(nodes[stack[-1]]):
        stack.pop()


def _pop_ranked(nodes: Sequence[Node], stack: list[int], index: int, allowed: dict[str, frozenset[str]]) -> None:
    node = nodes[index]
    rank = _RANK[node.style]
    outer = allowed.get(node.style, frozenset())

    def inside(top: Node) -> bool:
        if top.style == "heading":
            return False
        if top.style in _RANK:
            return _RANK[top.style] >= rank and top.style != "schedule"
        return top.style == BOUNDARY or top.style not in outer

    if node.style not in allowed and stack and _is_outer_list(nodes, index, nodes[stack[-1]]):
        return
    _pop_while(nodes, stack, inside)


def _is_outer_list(nodes: Sequence[Node], index: int, top: Node) -> bool:
    """True when an open list such as "一、" goes on after the first 第一条, so that it holds it."""
    if top.style not in ("zh-list", "upper-roman.", "upper-letter."):
        return False
    return any(later.style == top.style and later.values[0] == top.values[0] + 1 for later in nodes[index + 1 :])


def _pop_decimal(nodes: Sequence[Node], stack: list[int], index: int) -> None:
    node = nodes[index]
    values = node.values
    holds = holds_decimal(nodes, stack, index)

    def inside(top: Node) -> bool:
        if top.style in ("heading", "schedule"):
            return False
        if top.style.startswith("decimal"):
            return not _is_parent(top, node)
        if top.style in HEADING_LISTS:
            return not holds
        if top.style in _RANK:
            # Section 5 holds 5.1, ARTICLE V holds 5.1 and 1.; Section 4 does not hold 5.1
            return len(values) > 1 and top.style in ("section", "zh-article") and top.values[:1] != values[:1]
        return True

    if len(values) == 1:
        _pop_simple_number(nodes, stack, index)
    else:
        _pop_while(nodes, stack, inside)


def _is_parent(top: Node, node: Node) -> bool:
    return len(top.values) < len(node.values) and node.values[: len(top.values)] == top.values


def _pop_simple_number(nodes: Sequence[Node], stack: list[int], index: int) -> None:
    """A number such as "4." continues an open "3.", or 3.x without a number of its own, or opens a list."""
    value = nodes[index].values[0]
    if _continue_open(nodes, stack, index):
        return
    for depth, at in enumerate(stack):
        open_node = nodes[at]
        multipart = open_node.style.startswith("decimal") and len(open_node.values) > 1
        # value == its own first part: a heading that the page layout put after its first sub-clauses
        near = open_node.values[:1] == (value - 1,) or (value > 1 and open_node.values[:1] == (value,))
        if multipart and near and not _has_own_number(nodes, stack[:depth], open_node):
            above = nodes[stack[depth - 1]] if depth else None  # "3、" after 二、 with 2.1: the same list, printed anew
            is_beside = above is not None and above.style == "zh-list" and above.values == (value - 1,)
            del stack[depth - is_beside :]
            return
    _pop_listed(nodes, stack, index)


def _has_own_number(nodes: Sequence[Node], above: Sequence[int], node: Node) -> bool:
    kinds = ("article", "section", "decimal1", "decimal1、")
    return any(nodes[i].values[:1] == node.values[:1] and nodes[i].style in kinds for i in above)


def _continue_open(nodes: Sequence[Node], stack: list[int], index: int) -> bool:
    """Pop to the open list that the label continues: the next number first, then one with a small gap."""
    node = nodes[index]
    value = node.values[0] if node.values else 0
    same = _open_lists(nodes, stack, node)
    steps = {depth: value - nodes[stack[depth]].values[0] for depth in same}
    if node.inserted:  # 5A after 5, 5B after 5A
        steps = {depth: 1 for depth, step in steps.items() if step == 0} or steps
    ahead = [depth for depth in same if steps.get(depth, 0) > 0]
    if not ahead:
        return False
    # the next number first, then the nearest: a gap is where clauses were left out
    ended = {depth for depth in ahead if nodes[stack[depth]].closes}
    unlike = {depth for depth in ahead if nodes[stack[depth]].capitals != node.capitals}
    nearest = min(
        ahead,
        key=lambda depth: (steps[depth] != 1, depth in ended, depth in unlike, min(steps[depth], 5), -depth),
    )
    del stack[nearest:]
    return True


def _open_lists(nodes: Sequence[Node], stack: Sequence[int], node: Node) -> list[int]:
    """Depths of the open lists that ``node`` may go on with, innermost first; a new list in a definition is its own."""
    wall = max((depth for depth, at in enumerate(stack) if nodes[at].style == DEFINITION), default=-1)
    lowest = wall if node.values == (1,) else -1
    same = [depth for depth in range(len(stack) - 1, lowest, -1) if nodes[stack[depth]].style == node.style]
    return [depth for depth in same if depth > wall] or same


def _pop_listed(nodes: Sequence[Node], stack: list[int], index: int) -> None:
    """(b) continues an open (a); a new (a) replaces an open list of its kind or opens one inside another."""
    if _continue_open(nodes, stack, index):
        return
    if heads_decimals(nodes, index):
        del stack[next((depth for depth, at in enumerate(stack) if is_multipart(nodes[at])), len(stack)) :]
    node = nodes[index]
    innermost = next(iter(_open_lists(nodes, stack, node)), None)
    if innermost is None:
        return
    is_inside = innermost < len(stack) - 1
    below_heading = nodes[stack[innermost]].capitals and not node.capitals
    if node.introduced and (is_inside or node.style.endswith("()") or below_heading):
        return
    if node.values[:1] == (1,) and is_inside and _continues_later(nodes, index, nodes[stack[innermost]]):
        return
    del stack[innermost:]


def _continues_later(nodes: Sequence[Node], index: int, outer: Node) -> bool:
    """True when the open list goes on after the new one that starts at ``index``."""
    inner = nodes[index].values[0]
    for later in nodes[index + 1 : index + 200]:
        if later.style in _RANK or (later.style.startswith("decimal") and len(later.values) > 1):
            return False
        if later.style != outer.style:
            continue
        if later.values[0] in (1, inner + 1):  # the inner list goes on, or another one starts
            inner = later.values[0]
        else:
            return later.values[0] == outer.values[0] + 1
    return False
