"""Whether 一、 or "I." is the heading above 1.1, 1.2, or an item inside a clause; not for other styles.

Both layouts are common: "一、定义 1.1 ... 二、付款 2.1 ..." and "1.1 下列情形：一、...；二、...". The number of the
heading, or its list going on after the decimals, tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

HEADING_LISTS = frozenset(("zh-list", "upper-roman."))
_NEAR = 400  # nodes looked at before and after; hostile text has 30,000


class _Numbered(Protocol):
    style: str
    values: tuple[int, ...]
    parent: int | None


def is_multipart(node: _Numbered) -> bool:
    """True for 1.1 and deeper."""
    return node.style.startswith("decimal") and len(node.values) > 1


def holds_decimal(nodes: Sequence[_Numbered], stack: Sequence[int], index: int) -> bool:
    """True when the open 一、 or "I." in ``stack`` is the heading above the decimal ``index``."""
    for at in stack:
        if is_multipart(nodes[at]):
            return False  # the list is inside a clause 1.1
        top = nodes[at]
        if top.style in HEADING_LISTS:
            if top.values[:1] == nodes[index].values[:1]:
                return True
            return top.style == "zh-list" and (_goes_on(nodes, index, top) or _held_before(nodes, index, top.style))
    return False


def heads_decimals(nodes: Sequence[_Numbered], index: int) -> bool:
    """True for 二、 or "II." right before 2.1: the heading of the decimals that begin there."""
    node = nodes[index]
    if node.style not in HEADING_LISTS or index + 1 == len(nodes):
        return False
    following = nodes[index + 1]
    return is_multipart(following) and following.values[0] == node.values[0] and following.values[1] in (0, 1)


def _goes_on(nodes: Sequence[_Numbered], index: int, top: _Numbered) -> bool:
    """True when the next label of the style of ``top`` is the next number."""
    following = next((later for later in nodes[index + 1 : index + _NEAR] if later.style == top.style), None)
    return following is not None and following.values == (top.values[0] + 1,)


def _held_before(nodes: Sequence[_Numbered], index: int, style: str) -> bool:
    """True when the decimal before stands below a heading of ``style``."""
    before = next((n for n in reversed(nodes[max(0, index - _NEAR) : index]) if is_multipart(n)), None)
    while before is not None and before.parent is not None:
        before = nodes[before.parent]
        if before.style == style:
            return True
    return False
