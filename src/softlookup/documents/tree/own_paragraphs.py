"""Unnumbered paragraphs that are units of their clause: 款 of 第X条, and text that comes back after a list.

They become clauses without number, so that 第二款 can be cited and the last item of a list ends where it ends.
Not for cutting long text into pieces (``structure.py``).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from softlookup.documents.model import Block
from softlookup.documents.tree.outline import DEFINITION, Node

ZH_PARAGRAPH = "zh-paragraph"
_ZH_END = re.compile(r"[。；：！？;:][”’」』）)]?\s*\Z")
_ZH_FORM = re.compile(
    r"_{3,}|\A(?![^:：]{0,12}(?:下列|如下|以下|应当))[^，。；]{1,12}[:：]"
)  # blanks to fill in, "电话："
_ENDED = re.compile(r"(?:[.;,:!?。；，：]|[.;,][”\"’)]|[;,][ ](?:and|or))[\s*_]*\Z")
_FRAGMENT = re.compile(r"(?:[;,；，]|[;,]?[ ](?:and|or))[\s*_]*\Z")
_FULL_STOP = re.compile(r"[.!?。][”\"’)\]]?[\s*_]*\Z")
_NO_PARAGRAPH = re.compile(
    r"\s*(?:-?[ ]?(?:\d{1,4}|[ivxl]{1,6})[ ]?-?|_{3,}|<PAGE>|Page[ ]\d+[^\n]{0,12}|Source:[^\n]{5,120}|[^\w]+)\s*\Z"
)
_LISTED = ("()", ")", ".", "zh-paren", "circled", "decimal1")

_COMPARED = 40  # members of a list that are looked at, the last ones
_LARGEST = 2000  # labels in one article; more are no contract's


def with_paragraphs(text: str, blocks: Sequence[Block], nodes: list[Node]) -> list[Node]:
    """``nodes`` (nested, in document order) with a node for every 款 and for every paragraph after a list."""
    if not nodes:
        return nodes
    finder = _Paragraphs(text, blocks, nodes)
    finder.articles()
    finder.after_lists()
    return finder.merged()


class _Paragraphs:
    """Finds the new nodes; indices are those of the old list until :meth:`merged`."""

    def __init__(self, text: str, blocks: Sequence[Block], nodes: list[Node]) -> None:
        self._text = text
        self._nodes = nodes
        self._starts = [node.start for node in nodes]
        self._blocks = [b for b in blocks if b.kind in ("paragraph", "list_item") and not b.label]
        self._block_starts = [block.span.start for block in self._blocks]
        self._new: list[Node] = []
        self._made: set[int] = set()  # where the new nodes start
        self._adopted: dict[int, Node] = {}  # old node -> new parent
        self._item_before: dict[int, int] = {}  # id of a new node -> old node that it stands beside

    def merged(self) -> list[Node]:
        if not self._new:
            return self._nodes
        old = {id(node): index for index, node in enumerate(self._nodes)}
        result = sorted([*self._nodes, *self._new], key=lambda node: node.start)
        place = {id(node): index for index, node in enumerate(result)}
        for node in result:
            index = old.get(id(node), self._item_before.get(id(node)))
            parent = self._adopted.get(index) if index is not None else None
            if parent is not None:
                node.parent = place[id(parent)]
            elif node.parent is not None:
                node.parent = place[id(self._nodes[node.parent])]
        return result

    def _inside(self, start: int, end: int) -> list[Block]:
        """Paragraphs that begin in ``(start, end)`` and carry no label."""
        low, high = bisect_right(self._block_starts, start), bisect_left(self._block_starts, end)
        return [block for block in self._blocks[low:high] if self._is_free(block)]

    def _is_free(self, block: Block) -> bool:
        at = bisect_left(self._starts, block.span.start)
        return (at == len(self._starts) or self._starts[at] != block.span.start) and not _NO_PARAGRAPH.match(
            self._text[block.span.start : block.span.end][:200]
        )

    def _end(self, index: int) -> int:
        """End of the node with all that is inside it."""
        for later in range(index + 1, len(self._nodes)):
            above = self._nodes[later].parent
            while above is not None and above > index:
                above = self._nodes[above].parent
            if above != index:
                return self._starts[later]
        return len(self._text)

    # 款

    def articles(self) -> None:
        for index, node in enumerate(self._nodes):
            if node.style == "zh-article":
                self._article(index, self._end(index))

    def _article(self, index: int, end: int) -> None:
        node = self._nodes[index]
        first = self._text[node.label_end : min(node.line_end, node.label_end + 200)].strip()
        bare = len(first) <= 30 and not re.search(r"[，。；：,;:]", first)
        last = bisect_left(self._starts, end)
        if last - index > _LARGEST:
            return
        found = [
            block
            for block in self._inside(node.start, end)
            if block.span.start not in self._made  # an article around this one has it already
            and self._is_sentence(block, node)
            and not self._in_list(block.span.start, index, last)
        ]
        if not found:
            return
        opens_with_list = index + 1 < last and self._starts[index + 1] < found[0].span.start
        number = 0 if bare and not opens_with_list else 1
        if number + len(found) < 2:
            return
        for block in found:
            number += 1
            new = Node(
                block.span.start, block.span.start, block.span.start, style=ZH_PARAGRAPH, values=(number,),
                parent=index, source="inferred",
            )  # fmt: skip
            self._new.append(new)
            self._made.add(block.span.start)
            following = bisect_left(self._starts, block.span.start)
            for at in range(following, last):
                parent = self._nodes[at].parent
                if parent is not None and index <= parent < following:  # the paragraph ends what is open there
                    self._adopted[at] = new

    def _is_sentence(self, block: Block, article: Node) -> bool:
        words = self._text[block.span.start : block.span.end]
        before = self._text[max(0, block.span.start - 12) : block.span.start].rstrip()
        opens = block.span.start - article.line_end < 4
        return bool(_ZH_END.search(words[-6:])) and not _ZH_FORM.search(words[:40]) and (
            opens or bool(_ZH_END.search(before))
        )  # fmt: skip

    def _in_list(self, offset: int, article: int, last: int) -> bool:
        """True when the paragraph belongs to an item: its list goes on, or its items have further paragraphs."""
        at = bisect_left(self._starts, offset) - 1
        if at == article:
            return False
        item = self._nodes[at]
        while item.parent is not None and item.parent != article and self._nodes[item.parent].number:
            at = item.parent
            item = self._nodes[at]
        beside = [
            k
            for k in range(article + 1, last)
            if self._nodes[k].parent == item.parent and self._nodes[k].style == item.style
        ]
        place = beside.index(at)
        goes_on = place + 1 < len(beside) and self._nodes[beside[place + 1]].values > item.values
        earlier = beside[:place]
        return goes_on or any(self._inside(self._starts[k], self._starts[beside[beside.index(k) + 1]]) for k in earlier)

    # text after a list

    def after_lists(self) -> None:
        beside: dict[tuple[int | None, str], list[int]] = {}
        for index, node in enumerate(self._nodes):
            key = (node.parent, node.style)
            if node.values == (1,):
                beside[key] = []
            members = beside.setdefault(key, [])
            members.append(index)
            end = self._starts[index + 1] if index + 1 < len(self._nodes) else len(self._text)
            above = None if node.parent is None else self._nodes[node.parent]
            is_leaf = index + 1 == len(self._nodes) or self._nodes[index + 1].parent != index
            is_last = index + 1 == len(self._nodes) or (
                self._nodes[index + 1].parent != node.parent or self._nodes[index + 1].style != node.style
            )
            if (
                above is not None and above.number and is_leaf and is_last and len(members) > 1
                and node.number and node.style.endswith(_LISTED) and above.style != "zh-article"
            ):  # fmt: skip
                self._after(index, members[-_COMPARED:], end)

    def _after(self, index: int, members: Sequence[int], end: int) -> None:
        for block in self._inside(self._nodes[index].label_end, end):
            if self._is_flush(block, members):
                start = block.span.start
                if start in self._made:  # it is a 款, or text after another list
                    return
                self._made.add(start)
                new = Node(start, start, start, style="paragraph", parent=self._nodes[index].parent, source="inferred")
                self._new.append(new)
                self._item_before[id(new)] = index
                return

    def _is_flush(self, block: Block, members: Sequence[int]) -> bool:
        start = block.span.start
        before = self._text[max(0, start - 60) : start].rstrip()
        if not _ENDED.search(before):
            return False  # a paragraph that a page break cut
        if self._text[start].islower():
            return True
        indents = [self._indent(self._nodes[k].start) for k in members]
        mine = self._indent(start)
        if min(indents) >= mine + 2:
            return True
        before_each = (self._text[max(0, self._starts[k] - 40) : self._starts[k]].rstrip() for k in members[1:])
        fragments = [bool(_FRAGMENT.search(words)) for words in before_each]
        plain = not any(self._inside(self._starts[k], self._starts[k + 1]) for k in members[:-1])
        return all(fragments) and plain and bool(_FULL_STOP.search(before)) and max(indents) >= mine

    def _indent(self, offset: int) -> int:
        line = self._text.rfind("\n", 0, offset) + 1
        return offset - line if not self._text[line:offset].strip() else 0


def is_unnumbered_part(node: Node) -> bool:
    """True for the nodes made here and for paragraphs of a definition: they count among their siblings."""
    return node.style in ("paragraph", ZH_PARAGRAPH, DEFINITION)
