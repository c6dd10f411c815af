"""Whether the (i) after (h) is the ninth item or opens the list (i), (ii) inside (h); not for other letters.

The runs of labels like both. The label after it tells: an (ii) that no other (i) opens belongs to this one, when the
letters do without it, because another (i) comes before (j) or no (j) comes at all.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from softlookup.documents.tree.candidates import Candidate
from softlookup.documents.tree.numbering import Reading

_PAIRS = (("lower-letter", "lower-roman"), ("upper-letter", "upper-roman"))
_STANDS_ALONE = 1.0  # strength of a label that begins its line
_NINTH = (9,)


def settle_ninth(candidates: Sequence[Candidate], settled: dict[int, Reading], walls: Sequence[int]) -> None:
    """Read every (i) of ``settled`` that opens a list as Roman; no list crosses one of ``walls``, in order."""
    order = sorted(settled, key=lambda key: candidates[key].start)
    ninths = sorted((key for key, c in enumerate(candidates) if _is_ninth(c)), key=lambda key: candidates[key].start)
    starts = [candidates[key].start for key in ninths]
    for place, key in enumerate(order[:-1]):
        roman = _as_roman(candidates[key], settled[key])
        if roman is None or settled[order[place + 1]] != Reading(roman.style, (2,)):
            continue
        second = candidates[order[place + 1]].start
        wall = bisect_right(walls, candidates[key].start)
        end = walls[wall] if wall < len(walls) else candidates[order[-1]].start + 1
        tenth = _tenth(candidates, settled, order[place + 2 :], settled[key].style, end)
        other = bisect_right(starts, second)
        another = ninths[other] if other < len(ninths) and starts[other] < (end if tenth is None else tenth) else None
        if another is not None:
            settled[another] = settled[key]
        if another is not None or tenth is None:
            settled[key] = roman


def _is_ninth(candidate: Candidate) -> bool:
    is_line = not candidate.in_line and candidate.strength >= _STANDS_ALONE
    letters = [Reading(f"{letter}()", _NINTH) for letter, _ in _PAIRS]
    return is_line and not candidate.list_id and any(reading in letters for reading in candidate.label.readings)


def _as_roman(candidate: Candidate, reading: Reading) -> Reading | None:
    """The Roman reading of an (i) that is read as a letter; None for every other label."""
    if candidate.list_id or reading.values != _NINTH:
        return None
    for letter, roman in _PAIRS:
        if reading.style == f"{letter}()":
            return next((r for r in candidate.label.readings if r == Reading(f"{roman}()", (1,))), None)
    return None


def _tenth(
    candidates: Sequence[Candidate], settled: dict[int, Reading], later: Sequence[int], style: str, end: int
) -> int | None:
    """Where the (j) after it stands, before ``end``; None when there is none."""
    for key in later[:200]:
        if candidates[key].start >= end:
            return None
        if settled[key] == Reading(style, (10,)):
            return candidates[key].start
    return None
