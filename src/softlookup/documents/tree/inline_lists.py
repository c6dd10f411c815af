"""Lists that run on inside a sentence: all their members become labels or none; not for lists on lines.

The sequence finder may know only "(iii)" and "(iv)", because "(i)" follows a plain word and so is no safe label
alone. Here the missing ones are looked for in the text; a list that stays incomplete is left to its sentence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from softlookup.documents.tree.candidates import REFERRING, Candidate
from softlookup.documents.tree.numbering import Label, Reading, label_at

_LABEL = re.compile(r"(?<=[^\s(])[ \n]\((?=[A-Za-z0-9]{1,5}\)[ ])")
_BRACKET = re.compile(r"\((?=[A-Za-z0-9]{1,8}\))")
_SAME_SENTENCE = 200  # characters back to the item before
_CITED = re.compile(r"[ ]*(?:of|above|below|hereof|thereof)\b")
_REACH = 1500  # characters; members further apart are no list inside a sentence
_REACH_AFTER_MARK = 8000  # the same for a label after a semicolon: provisos and covenants are long
_AFTER_MARK = 0.4
_STRENGTH = 0.3
STANDS_ALONE = 1.0  # strength from which a label inside a line is as good as one that begins it


@dataclass(slots=True)
class InlineLists:
    """Completes runs of labels from ``text``; ``candidates`` grows by the labels found.

    ``folded`` is ``text.translate(FOLD)``; ``is_wrapped`` tells that a line end is no paragraph end.
    """

    text: str
    folded: str
    is_wrapped: bool
    candidates: list[Candidate] = field(default_factory=list)
    _by_start: dict[int, int] = field(default_factory=dict)
    _labels: dict[int, Label | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_start = {candidate.start: key for key, candidate in enumerate(self.candidates)}

    def whole(
        self, run: Sequence[int], name: str, readings: dict[int, Reading], walls: Sequence[int]
    ) -> list[list[int]]:
        """``run`` as lists with their missing members; without in-line members where some cannot be found.

        ``readings`` are those of the sequence ``name`` and grow too; ``walls`` are offsets that no list crosses.
        """
        if not name.endswith("()"):
            return [list(run)]
        if not any(self._is_inner(key) for key in run):
            whole = self._with_beginning(list(run), name, readings, walls)
            return [whole] if whole else []
        pieces: list[list[int]] = []
        for key in run:
            if pieces and self._is_near(pieces[-1][-1], key, walls):
                pieces[-1].append(key)
            else:
                pieces.append([key])
        found: list[list[int]] = []
        for piece in pieces:
            after = self.candidates[found[-1][-1]].start + 1 if found else 0
            complete = self._complete(piece, name, readings, walls, after)
            if complete:
                found.append(complete)
        return found

    def _with_beginning(
        self, run: list[int], name: str, readings: dict[int, Reading], walls: Sequence[int]
    ) -> list[int]:
        """``run`` with the members before its first one, when all of them stand in the sentence before it."""
        upper = self.candidates[run[0]].start
        lower = self._wall(walls, upper)
        missing: list[int] = []
        for wanted in range(readings[run[0]].values[0] - 1, 0, -1):
            hit = self._find(name, wanted, readings, lower, upper)
            if hit is None:
                return [] if len(run) == 1 and self._is_wrapped_item(name, wanted, run[0], lower) else run
            missing.append(hit)
            upper = self.candidates[hit].start
        return [*missing[::-1], *run]

    def _is_wrapped_item(self, name: str, before: int, key: int, wall: int) -> bool:
        """True when the item before stands in the same sentence, so that only a line break made this one a line."""
        end = self.candidates[key].start
        lower = max(wall, end - _SAME_SENTENCE, self.text.rfind("\n\n", max(0, end - _SAME_SENTENCE), end))
        for match in _BRACKET.finditer(self.folded, lower, end):
            label = label_at(self.folded, match.start(), self.text)
            if label is not None and any(r.style == name and r.values == (before,) for r in label.readings):
                return True
        return False

    def _is_inner(self, key: int) -> bool:
        """True for a label in mid-sentence; one after a full stop is a line whose break was lost."""
        candidate = self.candidates[key]
        return candidate.in_line and candidate.strength < STANDS_ALONE

    def _is_near(self, key: int, following: int, walls: Sequence[int]) -> bool:
        """True when ``following`` may go on with the list of ``key``: labels on lines always may."""
        here, there = self.candidates[key].start, self.candidates[following]
        if not self._is_inner(following):
            return True
        reach = _REACH_AFTER_MARK if there.strength >= _AFTER_MARK else _REACH
        return there.start - here <= reach and self._wall(walls, there.start) <= here

    def _complete(
        self, run: list[int], name: str, readings: dict[int, Reading], walls: Sequence[int], after: int
    ) -> list[int]:
        if not any(self._is_inner(key) for key in run):
            return run
        found: list[int] = []
        for key in run:
            value = readings[key].values[0]
            before = readings[found[-1]].values[0] if found else 0
            missing: list[int] = []
            upper = self.candidates[key].start
            lower = max(self.candidates[found[-1]].start + 1 if found else after, self._wall(walls, upper))
            for wanted in range(value - 1, before, -1):
                hit = self._find(name, wanted, readings, lower, upper)
                if hit is None:
                    return self._without_inline(run)
                missing.append(hit)
                upper = self.candidates[hit].start
            found += [*missing[::-1], key]
        return self._with_tail(found, name, readings, walls)

    def _without_inline(self, run: Sequence[int]) -> list[int]:
        kept = [key for key in run if not self._is_inner(key)]
        return kept if 2 * len(kept) > len(run) else []

    def _with_tail(self, run: list[int], name: str, readings: dict[int, Reading], walls: Sequence[int]) -> list[int]:
        while self._is_inner(run[-1]):
            last = self.candidates[run[-1]]
            place = bisect_left(walls, last.start + 1)
            end = walls[place] if place < len(walls) else len(self.text)
            stop = self.text.find("\n\n", last.start, end) if self.is_wrapped else last.line_end
            end = min(end, stop) if stop >= 0 else end
            hit = self._find(name, readings[run[-1]].values[0] + 1, readings, last.label.end, end, last_first=False)
            if hit is None:
                break
            run.append(hit)
        return run

    @staticmethod
    def _wall(walls: Sequence[int], offset: int) -> int:
        """Last wall before ``offset``; 0 when there is none."""
        place = bisect_left(walls, offset)
        return walls[place - 1] if place else 0

    def _find(
        self, name: str, value: int, readings: dict[int, Reading], lower: int, upper: int, *, last_first: bool = True
    ) -> int | None:
        """Key of the label of sequence ``name`` with ``value`` in ``[lower, upper)``; None when there is none."""
        lower, upper = (max(lower, upper - _REACH), upper) if last_first else (lower, min(upper, lower + _REACH))
        matches = list(_LABEL.finditer(self.folded, lower, upper))
        for match in reversed(matches) if last_first else matches:
            start = match.start() + 1
            if start not in self._labels:
                self._labels[start] = label_at(self.folded, start, self.text)
            label = self._labels[start]
            if label is None or label.end > upper:
                continue
            reading = next((r for r in label.readings if r.style == name and r.values == (value,)), None)
            before = self.folded[max(0, start - 24) : start].rstrip()
            if reading is None or REFERRING.search(before) or _CITED.match(self.folded, label.end):
                continue
            key = self._by_start.get(start)
            if key is None:
                key = len(self.candidates)
                line_end = self.text.find("\n", start)
                line_end = len(self.text) if line_end < 0 else line_end
                self.candidates.append(Candidate(start, label, _STRENGTH, line_end, in_line=True))
                self._by_start[start] = key
            readings.setdefault(key, reading)
            return key
        return None
