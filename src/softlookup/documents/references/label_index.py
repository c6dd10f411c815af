"""Which clause a label names, seen from the clause that prints it; not for reading labels (``reference_labels.py``).

A label is followed as far as it goes. "Section 2.2(c)" with no (c) ends at 2.2 and is not exact; "Section 9.9"
with no 9.9 names nothing, because a decimal number is one label and not a step inside clause 9.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from softlookup.documents.model import Clause
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.label_steps import LabelSteps, Place
from softlookup.documents.references.labels import FALLBACKS, LabelKey, label_key, roman_heading

_SAME_LABEL_TRIED = 3  # clauses with the same label that are compared on either side of the source
_TARGETS_MOST = 8  # targets of an ambiguous reference
_RANGE_MOST = 100  # members of a range
_ENTRY_MOST = 200  # characters: a clause with the same label that is no longer and much shorter is an index entry
_ENTRY_SHARE = 4


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
        self._deepest = max((len(label.parts) for _, label in self._by_key), default=0)
        self._beside: dict[tuple[str, tuple[str, ...], int], list[int]] = defaultdict(list)
        for (space, label), places in self._by_key.items():
            if label.kind == "clause":
                self._beside[space, label.parts[:-1], len(label.parts)] += places
        for places in self._beside.values():
            places.sort()
        self._steps = LabelSteps(text, positions, self._children)
        self.walk, self.paragraphs = self._steps.walk, self._steps.paragraphs
        self._runs = self._counted_runs()
        # recitals (A), (B) stand beside each other without a clause around them
        self._outer_items = {item.parts[0]: root for root in reversed(self._roots) if (item := self._item_at(root))}

    def _register(self, clause: Clause) -> tuple[str, LabelKey | None]:
        space, above = self._keys[clause.parent] if clause.parent is not None else ("", None)
        label = label_key(clause.number) if clause.number else None
        if label is None:
            return space, above
        roman = roman_heading(clause.number) if clause.heading else None
        if roman is not None:
            self._by_key[space, roman].append(clause.index)
        if label.opens_namespace:
            self._by_key["", label].append(clause.index)
            return f"{label.kind} {'.'.join(label.parts)}", None
        if above is not None and above.kind in ("clause", "article", "item"):
            # "(a)" below 8.2 is 8.2(a), and a bare "1" below "1" is 1.1; "5.1" below "ARTICLE V" stands alone
            single = len(label.parts) == 1 and (
                re.fullmatch(r"[\d\W]{1,5}|[a-z]{1,5}", clause.number) or clause.label.endswith(")")
            )
            if label.kind == "item" or (single and above.kind != "article" and not self._counts_itself(clause, label)):
                label = LabelKey(above.kind, (*above.parts, *label.parts))
        self._by_key[space, label].append(clause.index)
        return space, label

    def _counts_itself(self, clause: Clause, label: LabelKey) -> bool:
        """Whether "16" has a child "16.1": it is then clause 16 wherever it stands in the tree."""
        first = next((child for child in self.children(clause.index) if self.clause(child).number), None)
        below = label_key(self.clause(first).number) if first is not None else None
        return below is not None and len(below.parts) == 2 and below.parts[:1] == label.parts

    def _item_at(self, index: int) -> LabelKey | None:
        label = label_key(self.clause(index).number) if self.clause(index).number else None
        return label if label is not None and label.kind == "item" else None

    def _counted_runs(self) -> list[int]:
        """For each clause how often the outermost count of its namespace has begun again before it."""
        runs, started, last = [], 0, ("", 0)
        for clause in self._positions.clauses:
            space, key = self._keys[clause.index]
            own = clause.number and key is not None and key.kind == "clause" and len(key.parts) == 1
            if own and key is not None and key.parts[0].isdigit():
                value = int(key.parts[0])
                started += value == 1 and space == last[0] and last[1] > 1
                last = (space, value)
            runs.append(started)
        return runs

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
            return tops[-1] if tops else self._heading_above(lineage[-1].index)
        for clause in lineage:
            label = label_key(clause.number) if clause.number else None
            if label is None:
                continue
            if kind == "space" and label.opens_namespace:
                return clause.index
            if label.kind == kind and not (kind == "clause" and self._is_item(clause.index)):
                return clause.index
        if kind == "article":  # the outermost label, whatever it is called
            outermost = next((clause.index for clause in reversed(lineage) if clause.number), None)
            return outermost if outermost is None else self._heading_above(outermost) or outermost
        return source if kind in ("clause", "item") and lineage[0].number else None

    def _heading_above(self, index: int) -> int | None:
        """The heading 六、 or "VI." before 6.1 when it stands elsewhere in the tree; None for other clauses."""
        space, key = self._keys[index]
        if key is None or key.kind != "clause" or len(key.parts) < 2 or not self.counted_through(index):
            return None
        above = (LabelKey(kind, key.parts[:1]) for kind in ("clause", "roman"))
        found = [place for label in above for place in self._by_key.get((space, label), ()) if place < index]
        return max(found, default=None)

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
        return (
            article
            if bracketed and not (self._steps.brackets_are_paragraphs or self._steps.heading_only(article))
            else below
        )

    def lineage(self, index: int) -> Iterator[int]:
        """Clause ``index``, its parent, its grandparent, ..."""
        return (clause.index for clause in self._positions.lineage(index))

    def counted_through(self, index: int) -> bool:
        """Whether clause ``index`` has a number of several parts: 7.2, and not （二） below 7."""
        key = label_key(self.clause(index).number)
        return key is not None and key.kind == "clause" and len(key.parts) > 1

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
        counted = self._counted_between(first, last)
        if counted:
            return counted
        beside = self.siblings(first)
        start, end = bisect_left(beside, first), bisect_left(beside, last)
        if start <= end < len(beside) and (beside[start], beside[end]) == (first, last):
            return tuple(beside[start : end + 1])
        return (first, last)

    def _counted_between(self, first: int, last: int) -> tuple[int, ...]:
        """Headings with Roman numerals from ``first`` to ``last``, wherever they stand in the tree."""
        ends = (roman_heading(self.clause(first).number), roman_heading(self.clause(last).number))
        if ends[0] is None or ends[1] is None:
            return ()
        counted = range(int(ends[0].parts[0]), int(ends[1].parts[0]) + 1)
        spaces = self._keys[first][0]
        found = (self._by_key.get((spaces, LabelKey("roman", (str(value),))), ()) for value in counted[:_RANGE_MOST])
        return tuple(sorted(index for places in found for index in places[:1]))

    def find(
        self,
        label: LabelKey,
        source: int,
        within: Sequence[LabelKey] = (),
        head: int = 1,
        *,
        capital: bool | None = None,
    ) -> Place | None:
        """The clause that ``label`` names when it is printed in clause ``source``; None when there is none.

        ``within`` are the labels of what holds it, outermost first, for "paragraph 3 of Schedule 2" and
        第二编第六章; they must exist. The first ``head`` parts are one number, the others steps inside it.
        ``capital`` tells whether a lone item is a capital letter: (C) is not (c).
        """
        outer: int | None = None
        whole = True
        for key in within:
            around = self._find_one(key, source, len(key.parts), outer, None)
            if around is not None:
                outer = around.clause
            elif key.kind == "part" and (outer is not None or key.parts[0].isalpha()):
                # "Part B of Schedule 2": a schedule may have no clauses for its parts, a code has all its 编
                whole = False
            else:
                return None
        found = self._find_one(label, source, head, outer, capital)
        if found is None and outer is not None:
            return Place(outer, exact=False)
        return found if whole or found is None else found._replace(exact=False)

    def _find_one(
        self, label: LabelKey, source: int, head: int, outer: int | None, capital: bool | None
    ) -> Place | None:
        if label.kind == "item":
            if outer is None:
                return self._find_item(label.parts, source, capital)
            below = self.walk(outer, label.parts)
            return below if below.exact or below.clause != outer else None
        spaces = (self._keys[source][0], "") if outer is None or label.opens_namespace else (self._keys[outer][0],)
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
        # no clause has more parts: a hostile label of 100,000 items is not tried at every length
        for length in range(min(len(label.parts), self._deepest), 0, -1):
            candidates, rivals = self._candidates(space, LabelKey(label.kind, label.parts[:length]), source, outer)
            if length < head:  # a part of a decimal number: only the text can print the whole of it
                number = ".".join(label.parts[:head])
                candidates = [c for c in candidates if number in self._steps.printed_in(c)]
                if candidates:
                    return Place(candidates[0], exact=True)
            elif candidates and length == len(label.parts):
                return Place(candidates[0], exact=True, rivals=rivals)
            elif candidates:
                places = [self.walk(c, label.parts[length:]) for c in candidates]
                return next((place for place in places if place.exact), places[0])
        return None

    def _likeness(self, candidates: Sequence[int], source: int) -> dict[int, tuple[int, bool, bool]]:
        """What speaks for each clause with the label that ``source`` names, the strongest reason first.

        It has ancestors in common with the source; it is counted in the same run ("1." begins another); it is not
        much shorter than another, as the lines of an index are.
        """
        mine = {clause.index for clause in self._positions.lineage(source)}
        longest = max((len(self.clause(c).span) for c in candidates), default=0)
        return {
            c: (
                sum(above.index in mine for above in self._positions.lineage(c)),
                self._runs[c] == self._runs[source],
                len(self.clause(c).span) > min(_ENTRY_MOST, longest / _ENTRY_SHARE),
            )
            for c in candidates
        }

    def _candidates(
        self, space: str, label: LabelKey, source: int, outer: int | None
    ) -> tuple[list[int], tuple[int, ...]]:
        """Clauses with the key ``label``, the likeliest first, and those that are as likely as the first."""
        found = self._by_key.get((space, label), [])
        if len(found) > 2 * _SAME_LABEL_TRIED:
            at = bisect_left(found, source)
            found = [found[0], *found[max(1, at - _SAME_LABEL_TRIED) : at + _SAME_LABEL_TRIED]]
        if outer is not None:
            found = [c for c in found if any(above.index == outer for above in self._positions.lineage(c))]
        if len(found) < 2:
            return found, ()
        likeness = self._likeness(found, source)
        ordered = sorted(found, key=lambda c: (tuple(-value for value in likeness[c]), c))
        rivals = tuple(c for c in ordered[1:] if likeness[c] == likeness[ordered[0]])
        return ordered, rivals[: _TARGETS_MOST - 1]

    def _find_item(self, items: Sequence[str], source: int, capital: bool | None) -> Place | None:
        """The (b) that "clause (b)" means inside 5.1: the nearest around, a clause or printed inside the text."""
        shorter = None
        for clause in self._positions.lineage(source):
            place = self.walk(clause.index, items)
            if place.clause != clause.index and not self._differs(place.clause, capital):
                if place.exact:
                    return place
                shorter = shorter or place._replace(exact=False)
            elif self._steps.prints(clause.index, items[-1]) and not self._is_sibling(clause.index, items, capital):
                return Place(clause.index, exact=True)
        beside = self._outer_items.get(items[0])
        if beside is not None and shorter is None:
            return self.walk(beside, items[1:])
        return shorter

    def _is_sibling(self, index: int, items: Sequence[str], capital: bool | None) -> bool:
        """Whether clause ``index`` is a (D) and (C) is wanted, which then stands beside it and not inside."""
        own = label_key(self.clause(index).number)
        letters = own is not None and own.kind == "item" and len(items) == 1
        if own is None or not letters or not (own.parts[-1].isalpha() and items[0].isalpha()):
            return False
        return len(own.parts[-1]) == len(items[0]) == 1 and not self._differs(index, capital)

    def _differs(self, index: int, capital: bool | None) -> bool:
        """Whether the label of clause ``index`` is a letter of the other case."""
        letters = re.sub(r"[^A-Za-z]", "", self.clause(index).number)
        return capital is not None and letters != "" and letters.isupper() != capital
