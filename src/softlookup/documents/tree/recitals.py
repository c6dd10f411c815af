"""Numbered recitals: a list before the words of agreement that counts again from 1 after them; nothing else.

Recital 2 and clause 2 would have the same path otherwise. Lettered recitals collide with nothing and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from softlookup.documents.tree.outline import Node

_AGREED = re.compile(
    r"\bas\s{1,4}follows\s?[:.;]|\bNOW,?\s{1,4}THEREFORE|\bhereby\s{1,4}agree\b|达成如下|协议如下|条款如下|约定如下",
    re.I,
)
_RECITING = re.compile(r"\b(?:WHEREAS|RECITALS?|BACKGROUND|PREAMBLE)\b|鉴于", re.I)
_LATEST = 20_000  # characters; recitals stand on the first pages


def mark_recitals(text: str, nodes: Sequence[Node]) -> None:
    """Set ``recital`` on the labels of a numbered list of recitals; ``nodes`` are in document order."""
    agreed = next((m for m in _AGREED.finditer(text, 0, _LATEST)), None)
    reciting = None if agreed is None else _RECITING.search(text, 0, agreed.start())
    if agreed is None or reciting is None:
        return
    before = [
        node for node in nodes if node.style.startswith("decimal1") and reciting.start() <= node.start < agreed.start()
    ]
    if not before:
        return
    again = (node for node in nodes if node.start > agreed.start() and node.style == before[0].style)
    if any(node.values == (1,) for node in again):
        for node in before:
            node.recital = True
