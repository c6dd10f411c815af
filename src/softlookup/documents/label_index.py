"""Which clause a label names, seen from the clause that prints it; not for reading labels (``reference_labels.py``).

A label is followed as far as it goes. "Section 2.2(c)" with no (c) ends at 2.2 and is not exact; "Section 9.9"
with no 9.9 names nothing, because a decimal number is one label and not a step inside clause 9.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import Clause
from softlookup.documents.positions import ClausePositions
from softlookup.documents.reference_labels import FALLBACKS, LabelKey, label_key, number_value

_SAME_LABEL_TRIED = 8  # clauses with the same label that are compared on either side of the source
# what a drafter calls 第（一）款 is printed as （一）; in statutes （一） is a 项 and a 款 is a paragraph
_BRACKETS_ARE_PARAGRAPHS = re.compile(r"第\s*[（(][^（）()\s]{1,4}[）)]\s*款")
_PRINTED_ITEM = re.compile(r"\(\s*([^()\s]{1,6})\s*\)")
_PRINTED_NUMBER = re.compile(r"(?:^|\n\s*|[.;:]\s+)(\d+(?:\.\d+)+)(?!\d)")
_SENTENCE = re.compile(r"[。；：，:;,]|\.\s")


class Place(NamedTuple):
    """Clause ``index``; ``exact`` tells whether the whole label was followed, not only its first steps."""

    index: int
    exact: bool


class LabelIndex:
    """All labels of a clause tree, resolved by namespace: own schedule first, then the main body."""

    def __init__(self, text: str, positions: ClausePositions) -> None:
        self._text = text
        self._positions = positions
        self._by_key: dict[tuple[str, LabelKey], list[int]] = defaultdict(list)
        self._keys: list[tuple[str, LabelKey | None]] = []
        self._children: dict[int, list[int]] = defaultdict(list)
        for clause in positions.clauses:
            if clause.parent is not None:
                self._children[clause.parent].append(clause.index)
        self._roots = [clause.index for clause in positions.clauses if clause.parent is None]
        for clause in positions.clauses:
            self._keys.append(self._register(clause))
        self._beside: dict[tuple[str, tuple[str, ...], int], list[int]] = defaultdict(list)
        for (space, label), places in self._by_key.items():
            if label.kind == "clause":
                self._beside[space, label.parts[:-1], len(label.parts)] += places
        for places in self._beside.values():
            places.sort()
        self._bracketed_paragraphs = _BRACKETS_ARE_PARAGRAPHS.search(text) is not None
        self._steps: dict[int, dict[str, int]] = {}
        self._printed: dict[int, frozenset[str]] = {}

    def _register(self, clause: Clause) -> tuple[str, LabelKey | None]:
        space, above = self._keys[clause.parent] if clause.parent is not None else ("", None)
        label = label_key(clause.number) if clause.number else None
        if label is None:
            return space, above
        if label.opens_namespace:
            self._by_key["", label].append(clause.index)
            return f"{label.kind} {'.'.join(label.parts)}", None
        if above is not None and above.kind in ("clause", "article", "item"):
            # "(a)" below 8.2 is 8.2(a), and a bare "1" below "1" is 1.1; "5.1" below "ARTICLE V" stands alone
            single = re.fullmatch(r"[\d\W]{1,5}", clause.number) and len(label.parts) == 1
            if label.kind == "item" or (single and above.kind != "article" and not self._counts_itself(clause, label)):
                label = LabelKey(above.kind, (*above.parts, *label.parts))
        self._by_key[space, label].append(clause.index)
        return space, label

    def _counts_itself(self, clause: Clause, label: LabelKey) -> bool:
        """Whether "16" has a child "16.1": it is then clause 16 wherever it stands in the tree."""
        first = next((child for child in self.children(clause.index) if self.clause(child).number), None)
        below = label_key(self.clause(first).number) if first is not None else None
        return below is not None and len(below.parts) == 2 and below.parts[:1] == label.parts

    def clause(self, index: int) -> Clause:
        """Clause ``index``."""
        return self._positions.clauses[index]

    def key_of(self, index: int) -> LabelKey | None:
        """Full key of clause ``index``: its own label, or that of the nearest labelled ancestor."""
        return self._keys[index][1]

    def children(self, index: int) -> list[int]:
        """Direct children of clause ``index`` in document order."""
        return self._children.get(index, [])

    def enclosing(self, source: int, kind: str) -> int | None:
        """The nearest clause of ``kind`` around ``source``, itself included; None when there is none.

        ``kind`` is one of the kinds of :class:`LabelKey`, "top" (a 条: the outermost counted clause, 8 of 8.2)
        or "space" (the schedule that holds it).
        """
        lineage = list(self._positions.lineage(source))
        if kind == "top":
            tops = [c.index for c in lineage if c.number and self._top_number(c.index)]
            return tops[-1] if tops else None
        for clause in lineage:
            label = label_key(clause.number) if clause.number else None
            if label is None:
                continue
            if kind == "space" and label.opens_namespace:
                return clause.index
            if label.kind == kind and not (kind == "clause" and self._is_item(clause.index)):
                return clause.index
        if kind == "article":  # the outermost label, whatever it is called
            return next((clause.index for clause in reversed(lineage) if clause.number), None)
        return source if kind in ("clause", "item") and lineage[0].number else None

    def _top_number(self, index: int) -> bool:
        key = self._keys[index][1]
        return key is not None and key.kind == "clause" and len(key.parts) == 1

    def _is_item(self, index: int) -> bool:
        """A bare "1" that counts below another clause: a list item, not a 条 or a Section of its own."""
        own = label_key(self.clause(index).number)
        key = self._keys[index][1]
        return own is not None and key is not None and len(key.parts) > len(own.parts)

    def siblings(self, index: int) -> list[int]:
        """Clauses beside ``index``, itself included, in document order; a numbered one sees numbered ones.

        Articles that chapters separate stay neighbours: 前条 of the first article of a chapter.
        """
        clause = self.clause(index)
        beside = self.children(clause.parent) if clause.parent is not None else self._roots
        if not clause.number:
            return beside if clause.parent is not None else [index]
        own = label_key(clause.number)
        if own is not None and own.kind == "clause" and not self._is_item(index):
            return self._beside[self._keys[index][0], own.parts[:-1], len(own.parts)]
        return [other for other in beside if self.clause(other).number]

    def neighbours(self, index: int, first: int, last: int) -> tuple[int, ...]:
        """Siblings of ``index`` from ``first`` to ``last`` places away from it (negative: before)."""
        beside = self.siblings(index)
        place = bisect_left(beside, index)
        return tuple(beside[max(0, place + first) : max(0, place + last + 1)])

    def between(self, first: int, last: int) -> tuple[int, ...]:
        """The range from ``first`` to ``last`` among siblings; the two ends when they are not siblings."""
        beside = self.siblings(first)
        start, end = bisect_left(beside, first), bisect_left(beside, last)
        if start <= end < len(beside) and (beside[start], beside[end]) == (first, last):
            return tuple(beside[start : end + 1])
        return (first, last)

    def find(self, label: LabelKey, source: int, within: Sequence[LabelKey] = (), head: int = 1) -> Place | None:
        """The clause that ``label`` names when it is printed in clause ``source``; None when there is none.

        ``within`` are the labels of what holds it, outermost first, for "paragraph 3 of Schedule 2" and
        第二编第六章; they must exist. The first ``head`` parts are one number, the others steps inside it.
        """
        outer = None
        for key in within:
            outer = self._find_from(key, source, len(key.parts), outer)
            if outer is None:
                return None
        found = self._find_from(label, source, head, outer)
        return Place(outer, exact=False) if found is None and outer is not None else found

    def _find_from(self, label: LabelKey, source: int, head: int, outer: Place | int | None) -> Place | None:
        ...

    def walk(self, index: int, steps: Sequence[str]) -> Place:
        """Follow ``steps`` ("a", "2", "款2") below clause ``index`` as far as they lead."""
        for at, step in enumerate(steps):
            if step.startswith("款"):
                child = self._paragraph(index, int(step[1:]) if step[1:].isdigit() else 0)
                if child is None:
                    return Place(index, exact=False)
                index = child
                continue
            following = self._labelled(index).get(step)
            if following is None:  # (i), (ii), ... may run inside the text
                return Place(index, exact=all(self._prints(index, rest) for rest in steps[at:]))
            index = following
        return Place(index, exact=True)
