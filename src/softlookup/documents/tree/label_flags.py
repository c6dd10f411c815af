"""What is odd about a clause number: twice, out of order, after a gap, look-alike letters; renumbers nothing.

A number is compared with those it counts with: 5.2 with the other 5.x of its namespace, (b) with the list of its
parent. Lists may run on from one parent to the next, as clauses do through chapters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from softlookup.documents.model import Flag
from softlookup.documents.tree.label_families import family
from softlookup.documents.tree.numbering import is_confusable
from softlookup.documents.tree.outline import DEFINITION, Node

_THROUGH = frozenset(("article", "item", "zh-article", "zh-part", "schedule"))  # numbered through the whole namespace
_Key = tuple[int | None, str, tuple[int, ...]]


@dataclass(slots=True)
class _Counting:
    """One list on its way through the document."""

    highest: tuple[int, ...] | None = None
    members: dict[tuple[int, ...], list[int]] = field(default_factory=lambda: defaultdict(list))


def flags_of(nodes: Sequence[Node]) -> list[tuple[Flag, ...]]:
    """Flags of every node, in order; ``nodes`` are in document order with their parents set."""
    found: list[set[Flag]] = [set() for _ in nodes]
    groups: dict[_Key, _Counting] = defaultdict(_Counting)
    last: dict[tuple[int | None, str], tuple[int, ...]] = {}  # (namespace, family) -> latest number
    spaces = _namespaces(nodes)
    for index, node in enumerate(nodes):
        if not node.number or not node.values or node.style == "auto":
            continue
        kind = family(node.style)
        group = groups[_group(nodes, index, spaces[index])]
        if kind != "schedule":
            oddity = _oddity(
                node.place, group.highest, last.get((spaces[index], kind)), is_inner=node.parent is not None
            )
            if oddity:
                found[index].add(oddity)
        group.members[node.place if kind != "schedule" else _spelled(node.number)].append(index)
        group.highest = max(group.highest or node.place, node.place)
        last[spaces[index], kind] = node.place
        if is_confusable(node.number):
            found[index].add("confusable")
    for group in groups.values():
        for same in group.members.values():
            if len(same) > 1:
                for index in same:
                    found[index] = (found[index] - {"out_of_order"}) | {"duplicate_number"}
        for index in _odd_widths(nodes, [index for same in group.members.values() for index in same]):
            found[index].add("confusable")
    return [tuple(sorted(flags)) for flags in found]


def _namespaces(nodes: Sequence[Node]) -> list[int | None]:
    """The schedule that every node is in, or is; None for the main body."""
    spaces: list[int | None] = []
    for node in nodes:
        above = node.parent
        if node.recital:
            spaces.append(-1)
            continue
        spaces.append(None if above is None else above if nodes[above].style == "schedule" else spaces[above])
    return spaces


def _group(nodes: Sequence[Node], index: int, space: int | None) -> _Key:
    node = nodes[index]
    kind = family(node.style)
    if kind == "decimal":
        return space, kind, node.values[:-1]
    if kind in _THROUGH:
        return space, kind, ()
    parent = -1 if node.recital and node.parent is None else node.parent
    while parent is not None and parent >= 0 and not nodes[parent].number and nodes[parent].style != DEFINITION:
        parent = nodes[parent].parent
    return parent, kind, (1,)


def _oddity(
    place: tuple[int, ...], highest: tuple[int, ...] | None, last: tuple[int, ...] | None, *, is_inner: bool
) -> Flag | None:
    """How ``place`` fits after the highest number of its list and the latest of its kind."""
    if highest is not None:
        if place < highest:
            return "out_of_order"
        at = next((depth for depth, pair in enumerate(zip(place, highest, strict=False)) if pair[0] != pair[1]), None)
        return "gap_before" if at is not None and place[at] - highest[at] > 1 else None
    if place[-1] in (0, 1) or (last is None and not is_inner):
        return None  # a list begins, or an extract does
    runs_on = last is not None and place[:-1] == last[:-1] and place[-1] - last[-1] in (0, 1)
    return None if runs_on else "gap_before"  # it may run on from the parent before


def _spelled(number: str) -> tuple[int, ...]:
    """A schedule's number as a key: Exhibit A-1 and Exhibit A-2 have the same value, not the same name."""
    return tuple(ord(character) for character in number.lower() if character.isalnum())


def _odd_widths(nodes: Sequence[Node], members: Sequence[int]) -> list[int]:
    """Members with full-width letters or digits in a list that prints most numbers in plain ones."""
    wide = [index for index in members if any("\uff10" <= c <= "\uff5a" for c in nodes[index].number)]
    return wide if 0 < 2 * len(wide) < len(members) else []
