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

_SAME_LABEL_TRIED = 3  # clauses with the same label that are compared on either side of the source
# what a drafter calls 第（一）款 is printed as （一）; in statutes （一） is a 项 and a 款 is a paragraph
_BRACKETS_ARE_PARAGRAPHS = re.compile(r"第\s*[（(][^（）()\s]{1,4}[）)]\s*款")
_PRINTED_ITEM = re.compile(r"\(\s?([^()\s]{1,6})\s?\)|(?:^|[:;。\n][ \t]{0,8})(\d{1,2})[.、](?!\d)")
_PRINTED_NUMBER = re.compile(r"(?:^|\n[ \t]{0,8}|[.;:]\s)(\d+(?:\.\d+)+)(?!\d)")
_SENTENCE = re.compile(r"[。；：，:;,]|\.\s")


class Place(NamedTuple):
    """Index of a clause; ``exact`` tells whether the whole label led there, not only its first steps."""

    clause: int
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
        self._lines: dict[int, int] = {}

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

    def paragraph_of(self, index: int) -> int:
        """The 款 around clause ``index``: （二） of 第七条（二）1, but 第七条 in a statute, where （二） is a 项."""
        article = self.enclosing(index, "clause")
        below = index
        for clause in self._positions.lineage(index):
            if clause.index == article or clause.parent is None:
                break
            below = clause.index
        if article is None or below == article or self.clause(below).parent != article:
            return index
        bracketed = self.clause(below).number[:1] in ("(", "（")
        return article if bracketed and not (self._bracketed_paragraphs or self._heading_only(article)) else below

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
        outer: int | None = None
        for key in within:
            around = self._find_from(key, source, len(key.parts), outer)
            if around is None:
                return None
            outer = around.clause
        found = self._find_from(label, source, head, outer)
        return Place(outer, exact=False) if found is None and outer is not None else found

    def _find_from(self, label: LabelKey, source: int, head: int, outer: int | None) -> Place | None:
        if label.kind == "item":
            if outer is None:
                return self._find_item(label.parts, source)
            below = self.walk(outer, label.parts)
            return below if below.exact or below.clause != outer else None
        spaces = (self._keys[source][0], "") if outer is None else (self._keys[outer][0],)
        shorter: list[Place] = []
        for space in dict.fromkeys(spaces):
            for kind in FALLBACKS.get(label.kind, (label.kind,)):
                place = self._longest(space, LabelKey(kind, label.parts), source, head, outer)
                if place is not None and place.exact:
                    return place
                shorter += [place] if place is not None else []
        return shorter[0] if shorter else None

    def _longest(self, space: str, label: LabelKey, source: int, head: int, outer: int | None) -> Place | None:
        """The clause with the most leading parts of ``label``, and the steps from there."""
        for length in range(len(label.parts), 0, -1):
            candidates = self._candidates(space, LabelKey(label.kind, label.parts[:length]), source, outer)
            if length < head:  # a part of a decimal number: only the text can print the whole of it
                number = ".".join(label.parts[:head])
                candidates = [c for c in candidates if number in self._printed_in(c)]
                if candidates:
                    return Place(candidates[0], exact=True)
            elif candidates and length == len(label.parts):
                return Place(candidates[0], exact=True)
            elif candidates:
                places = [self.walk(c, label.parts[length:]) for c in candidates]
                return next((place for place in places if place.exact), places[0])
        return None

    def _candidates(self, space: str, label: LabelKey, source: int, outer: int | None) -> list[int]:
        """Clauses with the key ``label``, the closest relatives of ``source`` first: labels repeat in every article."""
        found = self._by_key.get((space, label), [])
        if len(found) > 2 * _SAME_LABEL_TRIED:
            at = bisect_left(found, source)
            found = [found[0], *found[max(1, at - _SAME_LABEL_TRIED) : at + _SAME_LABEL_TRIED]]
        if outer is not None:
            found = [c for c in found if any(above.index == outer for above in self._positions.lineage(c))]
        if len(found) < 2:
            return found
        mine = {clause.index for clause in self._positions.lineage(source)}
        shared = {c: sum(above.index in mine for above in self._positions.lineage(c)) for c in found}
        return sorted(found, key=lambda c: (-shared[c], c))

    def _find_item(self, items: Sequence[str], source: int) -> Place | None:
        """A child (b) of the source, or of its nearest ancestor that has one, for "clause (b)" inside 5.1."""
        shorter = None
        for clause in self._positions.lineage(source):
            place = self.walk(clause.index, items)
            if place.clause != clause.index:
                if place.exact:
                    return place
                shorter = shorter or place
        for clause in self._positions.lineage(source):
            if self._prints(clause.index, items[-1]):
                return Place(clause.index, exact=True)
        return shorter

    def walk(self, index: int, steps: Sequence[str]) -> Place:
        """Follow ``steps`` ("a", "2", "款2") below clause ``index`` as far as they lead."""
        for at, step in enumerate(steps):
            following = self._paragraph(index, step) if step[0] == "款" else self._labelled(index).get(step)
            if following is None:  # (i), (ii), ... may run inside the text
                return Place(index, exact=step[0] != "款" and all(self._prints(index, rest) for rest in steps[at:]))
            index = following
        return Place(index, exact=True)

    def _paragraph(self, index: int, step: str) -> int | None:
        """The clause of 第二款: a numbered child, an unnumbered one, or ``index`` itself if it has two paragraphs."""
        number = int(step[1:]) if step[1:].isdigit() else 0
        bare = self._heading_only(index)
        child = self._labelled(index).get(step[1:])
        if child is not None and (bare or self._bracketed_paragraphs or self.clause(child).number[0] not in "(（"):
            return child
        plain = [c for c in self.children(index) if not self.clause(c).number]
        place = number - 1 if bare else number - 2
        if 0 <= place < len(plain):
            return plain[place]
        return index if 0 < number <= self._paragraphs(index) else None

    def _heading_only(self, index: int) -> bool:
        """Whether the clause says nothing before its first child: （一） is then its first 款."""
        children = self.children(index)
        if not children:
            return False
        span = self.clause(index).span
        own = self._text[span.start : min(span.start + 100, self.clause(children[0]).span.start)]
        return len(own) < 100 and not _SENTENCE.search(own.strip()[len(self.clause(index).number) :].strip(".、．"))

    def _paragraphs(self, index: int) -> int:
        """Paragraphs of the clause, its heading included: a generous count, since lines may be wrapped."""
        if index not in self._lines:
            self._lines[index] = sum(bool(line.strip()) for line in self._own_text(index).split("\n"))
        return max(1, self._lines[index])

    def _prints(self, index: int, step: str) -> bool:
        return step.startswith("款") or step in self._printed_in(index)

    def _printed_in(self, index: int) -> frozenset[str]:
        """Labels that stand inside the own text of the clause: "(c)" as "c", "2." as "2", "9.1" as "9.1"."""
        if index not in self._printed:
            own = self._own_text(index)
            items = {m.group(1) or m.group(2) for m in _PRINTED_ITEM.finditer(own)}
            numbers = {match.group(1) for match in _PRINTED_NUMBER.finditer(own)}
            lowered = {i.lower() if i.isascii() and i.isalpha() else number_value(i) for i in items}
            self._printed[index] = frozenset(lowered | numbers)
        return self._printed[index]

    def _own_text(self, index: int) -> str:
        """Text of the clause without its label and without its labelled descendants, NFKC."""
        clause = self.clause(index)
        pieces, at = [], clause.span.start
        for child in self._labelled_children(index):
            pieces.append(self._text[at : self.clause(child).span.start])
            at = self.clause(child).span.end
        pieces.append(self._text[at : clause.span.end])
        own = unicodedata.normalize("NFKC", "\n".join(pieces)).lstrip()
        return own.removeprefix(unicodedata.normalize("NFKC", clause.number))

    def _labelled(self, index: int) -> dict[str, int]:
        """Last label part -> labelled child, through unnumbered paragraphs that hold the list."""
        if index not in self._steps:
            steps: dict[str, int] = {}
            for child in self._labelled_children(index):
                label = label_key(self.clause(child).number)
                if label and not label.opens_namespace:
                    steps.setdefault(label.parts[-1], child)
            self._steps[index] = steps
        return self._steps[index]

    def _labelled_children(self, index: int) -> Iterator[int]:
        waiting = list(reversed(self.children(index)))
        while waiting:
            child = waiting.pop()
            if self.clause(child).number:
                yield child
            else:
                waiting += reversed(self.children(child))
