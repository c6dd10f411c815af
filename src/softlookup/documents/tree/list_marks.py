"""What the words around a label say about its list: that an item introduces one, that it is the last; no nesting.

"(iii) it will not: (i) breach the law, or (ii) ...; (iv) ...": without the colon and the "or", the second (i) would
begin a list beside (iii), and (iv) would go on with the wrong one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from softlookup.documents.model import Block
from softlookup.documents.tree.outline import Node

_CLOSING = re.compile(r"(?:\b(?:and|or|and/or)|[以及或者和])[\s*]*\Z", re.I)
_MID_SENTENCE = re.compile(r"[a-z,:：，—–-][\s*]*\Z")
_CAPITALS = re.compile(r"[\s.:)*_]{0,12}[A-Z][A-Z'’&-]{2,}")
_FAR = 3000  # characters between an item and a list that it introduces


def mark_lists(text: str, blocks: Sequence[Block], nodes: Sequence[Node]) -> None:
    """Set ``introduced``, ``closes`` and ``capitals`` of the nodes, which are in document order."""
    starts = [block.span.start for block in blocks]
    previous: Node | None = None
    for node in nodes:
        if not node.number or node.list_id:
            previous = node
            continue
        before = text[max(0, node.start - 30) : node.start]
        node.capitals = bool(_CAPITALS.match(text, node.label_end, node.label_end + 60))
        node.closes = bool(_CLOSING.search(before))
        if node.values == (1,) and previous is not None and 0 <= node.start - previous.label_end <= _FAR:
            between = text[previous.label_end : node.start].rstrip()
            at = bisect_right(starts, previous.label_end)
            is_one_paragraph = at == len(starts) or starts[at] >= node.start  # no other one begins in between
            node.introduced = bool(between) and is_one_paragraph and bool(_MID_SENTENCE.search(between[-30:]))
        previous = node
