"""Pages of an exhibit that was printed once: which lines are page numbers and running lines.

Shared by HTML and old EDGAR text. A rule (``<hr>``) is a page break only beside page numbers that count on; a break
that the style or a ``<PAGE>`` mark states always is.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from softlookup.documents.model import BlockKind
from softlookup.documents.readers.pages import page_number, page_offset, same_line

_RUNNING, _RUNNING_WORDS = 120, 12  # characters and words; a running line is no longer
_DEEP = 3  # lines from the break


@dataclass(frozen=True, slots=True)
class PageMap:
    """``starts`` are the lines that begin a page after the first; ``furniture`` is what is no text, by line."""

    starts: tuple[int, ...] = ()
    furniture: dict[int, BlockKind] = field(default_factory=dict)
    first: int = 1

    @property
    def count(self) -> int | None:
        """Number of pages; None when the text has none."""
        return len(self.starts) + 1 if self.starts else None

    def page_of(self, line: int) -> int | None:
        """Page of ``line``; None when the text has no pages."""
        return self.first + bisect_right(self.starts, line) if self.starts else None

    def same_page(self, one: int, other: int) -> bool:
        """True when no page break lies between two lines."""
        return bisect_right(self.starts, one) == bisect_right(self.starts, other)


def map_pages(
    lines: Sequence[str], breaks: Sequence[tuple[int, bool]], navigation: frozenset[int] = frozenset()
) -> PageMap:
    """Pages of ``lines`` by the places before which a break may lie, each with whether it is certain.

    ``navigation`` are lines that only lead elsewhere; beside a break, or as the first line, they are furniture.
    """
    hard: dict[int, bool] = {}
    filled = [at for at, line in enumerate(lines) if line.strip()]
    if not filled:
        return PageMap()
    for at, is_hard in breaks:
        following = bisect_right(filled, at - 1)
        if following > 0:  # in front of all text nothing ends
            line = filled[following] if following < len(filled) else len(lines)
            hard[line] = hard.get(line, False) or is_hard
    furniture: dict[int, BlockKind] = {}
    numbers: dict[int, tuple[str | None, str | None]] = {}
    for at in sorted(hard):
        before = _beside(filled, at, -1)
        after = _beside(filled, at, +1)
        numbers[at] = (
            page_number(lines[before]) if before is not None else None,
            page_number(lines[after]) if after is not None else None,
        )
    certain = [at for at in sorted(hard) if hard[at]]
    certain = sorted({*certain, *_counting([at for at in sorted(hard) if not hard[at]], numbers)})
    for at in certain:
        before, after = _beside(filled, at, -1), _beside(filled, at, +1)
        if numbers[at][0] is not None and before is not None:
            furniture[before] = "footer"
        elif numbers[at][1] is not None and after is not None:
            furniture[after] = "header"
    if certain and filled[0] in navigation:
        furniture[filled[0]] = "header"
    _running_lines(lines, filled, certain, furniture, navigation)
    starts = tuple(at for at in certain if at < len(lines))
    _last_number(lines, filled, furniture, starts)
    return PageMap(starts, furniture, _first_page(lines, starts, furniture))


def _beside(filled: Sequence[int], at: int, side: int) -> int | None:
    place = bisect_right(filled, at - 1) + (-1 if side < 0 else 0)
    return filled[place] if 0 <= place < len(filled) else None


def _counting(soft: Sequence[int], numbers: dict[int, tuple[str | None, str | None]]) -> list[int]:
    """Rules beside page numbers, when at least two of these count on by one."""
    found = [(at, next((n for n in numbers[at] if n is not None), None)) for at in soft]
    numbered = [(at, n) for at, n in found if n is not None]
    steps = sum(
        1
        for (_, one), (_, two) in itertools.pairwise(numbered)
        if one.isdecimal() and two.isdecimal() and int(two) == int(one) + 1
    )
    return [at for at, _ in numbered] if steps and steps >= len(numbered) // 2 else []


def _running_lines(
    lines: Sequence[str],
    filled: Sequence[int],
    breaks: Sequence[int],
    furniture: dict[int, BlockKind],
    navigation: frozenset[int],
) -> None:
    """Add lines that stand at three breaks and at three of ten, next to the break or to furniture there."""
    sides: tuple[tuple[int, BlockKind], ...] = ((-1, "footer"), (+1, "header"))
    for side, kind in sides:
        near: Counter[str] = Counter()
        stretches: list[list[int]] = []
        for at in breaks:
            place = bisect_right(filled, at - 1) + (-1 if side < 0 else 0)
            stretch = [filled[p] for p in range(place, place + side * _DEEP, side) if 0 <= p < len(filled)]
            stretches.append(stretch)
            near.update({same_line(lines[line]) for line in stretch if _is_short(lines[line])})
        needed = max(3, round(0.3 * len(breaks)))
        for stretch in stretches:
            for line in stretch:
                recurs = _is_short(lines[line]) and near[same_line(lines[line])] >= needed
                if not (recurs or line in furniture or line in navigation):
                    break
                furniture.setdefault(line, kind)


def _is_short(line: str) -> bool:
    return len(line) <= _RUNNING and len(line.split()) <= _RUNNING_WORDS


def _last_number(
    lines: Sequence[str], filled: Sequence[int], furniture: dict[int, BlockKind], starts: Sequence[int]
) -> None:
    """The number of the last page stands at the end of the text, without a break after it."""
    last = filled[-1]
    footers = [page_number(lines[at]) for at in sorted(furniture) if furniture[at] == "footer"]
    printed = [int(number) for number in footers if number and number.isdecimal()]
    number = page_number(lines[last])
    if starts and printed and number and number.isdecimal() and int(number) == printed[-1] + 1:
        furniture[last] = "footer"


def _first_page(lines: Sequence[str], starts: Sequence[int], furniture: dict[int, BlockKind]) -> int:
    """Number of the first page: as printed when all printed numbers agree, else 1."""
    printed: list[str | None] = [None] * (len(starts) + 1)
    for line in furniture:
        number = page_number(lines[line])
        if number is not None:
            printed[bisect_right(starts, line)] = number
    offset = page_offset(printed)
    return 1 if offset is None or offset < 1 else offset
