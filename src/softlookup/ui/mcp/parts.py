"""Long lists in parts, so that no result exceeds a limit; every part is said to be one."""

from __future__ import annotations

from collections.abc import Sequence

from softlookup.documents.model import Span
from softlookup.errors import UsageError

_BREAKS = ("\n", ". ", "。", " ")  # where a long text is cut, the best first


def parts_of(sizes: Sequence[int], most: int) -> tuple[range, ...]:
    """Ranges of neighbours whose ``sizes`` add up to ``most`` at most; one that is larger stands alone.

    At least one part, so that there is always a first.
    """
    found, first, total = [], 0, 0
    for place, size in enumerate(sizes):
        if place > first and total + size > most:
            found.append(range(first, place))
            first, total = place, 0
        total += size
    return (*found, range(first, len(sizes)))


def chosen_part(parts: Sequence[range], part: int) -> range:
    """Part number ``part``, from 1. Raises ``UsageError`` for one that is not there."""
    if not 1 <= part <= len(parts):
        raise UsageError(f"there {_are(len(parts))}, got part {part}", f"use part 1 to {len(parts)}")
    return parts[part - 1]


def pieces_of(text: str, span: Span, most: int) -> tuple[Span, ...]:
    """``span`` in pieces of at most ``most`` characters that tile it, cut at an end of a line, sentence or word."""
    found, start = [], span.start
    while span.end - start > most:
        window = text[start : start + most]
        cuts = (window.rfind(sign) + len(sign) for sign in _BREAKS if window.rfind(sign) >= most // 2)
        end = start + next(cuts, most)
        found.append(Span(start, end))
        start = end
    return (*found, Span(start, span.end))


def _are(count: int) -> str:
    return "is one part" if count == 1 else f"are {count} parts"
