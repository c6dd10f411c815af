"""What the words around a label say about its list: that an item introduces one, that it is the last; no nesting.

"(iii) it will not: (i) breach the law, or (ii) ...; (iv) ...": without the colon and the "or", the second (i) would
begin a list beside (iii), and (iv) would go on with the wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from softlookup.documents.outline import Node

_CLOSING = re.compile(r"(?:\b(?:and|or|and/or)|[以及或者和])[\s*]*\Z", re.I)
_MID_SENTENCE = re.compile(r"[a-z,:：，—–-][\s*]*\Z")
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*(?=[^\s\d(（])")
_FAR = 3000  # characters between an item and a list that it introduces


def mark_lists(text: str, nodes: Sequence[Node]) -> None:
    """Set ``introduced`` and ``closes`` of the nodes, which are in document order."""
    previous: Node | None = None
    for node in nodes:
        if not node.number or node.list_id:
            previous = node
            continue
        before = text[max(0, node.start - 30) : node.start]
        node.closes = bool(_CLOSING.search(before))
        if node.values == (1,) and previous is not None and 0 <= node.start - previous.label_end <= _FAR:
            between = text[previous.label_end : node.start].rstrip()
            node.introduced = bool(between) and bool(_MID_SENTENCE.search(between[-30:])) and not (
                _PARAGRAPH_BREAK.search(between)
            )  # fmt: skip
        previous = node
