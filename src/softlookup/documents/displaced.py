"""Labels printed after the number that should follow them: 5, 4, 6; not for references wrapped to a line start.

A chain of numbers only goes up, so it takes 5 or 4. The one left out is a clause too when its number is missing
in the chain, its line is a paragraph, and the chain goes on after it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from softlookup.documents.candidates import Candidate
from softlookup.documents.label_families import MAIN, family
from softlookup.documents.numbering import Reading

_CERTAIN = 2.0  # strength of a label that begins a paragraph and stands before a name or a sentence
_FAR = 2  # how much the number before it may be higher


def add_displaced(candidates: Sequence[Candidate], settled: dict[int, Reading], text: str) -> None:
    """Add to ``settled`` the candidates whose missing number comes right after a higher one of the same list."""
    chains: dict[tuple[str, tuple[int, ...]], list[tuple[int, int]]] = {}  # list -> (start, number) in order
    for key in sorted(settled, key=lambda key: candidates[key].start):
        reading = settled[key]
        if family(reading.style) in MAIN and not reading.inserted and reading.values:
            chains.setdefault((reading.style, reading.values[:-1]), []).append(
                (candidates[key].start, reading.values[-1])
            )
    numbers = {name: {number for _, number in chain} for name, chain in chains.items()}
    for key, candidate in enumerate(candidates):
        if key in settled or not _begins_paragraph(candidate, text):
            continue
        for reading in candidate.label.readings:
            name = (reading.style, reading.values[:-1])
            if name not in chains or reading.inserted or reading.values[-1] in numbers[name] or reading.values[-1] < 2:
                continue
            if _fits(chains[name], candidate.start, reading.values[-1]):
                settled[key] = reading
                break


def _begins_paragraph(candidate: Candidate, text: str) -> bool:
    if candidate.in_line or candidate.listed or candidate.list_id or candidate.strength < _CERTAIN:
        return False
    before = text[max(0, candidate.start - 40) : candidate.start].rstrip(" \t*_#>")
    return before.endswith("\n") and (before.endswith("\n\n") or before.rstrip().endswith((".", ";", "。", "；")))


def _fits(chain: Sequence[tuple[int, int]], start: int, number: int) -> bool:
    """True when the chain has a slightly higher number before ``start`` and goes on with a still higher one."""
    at = bisect_left(chain, (start, 0))
    if at in (0, len(chain)):
        return False
    before, after = chain[at - 1][1], chain[at][1]
    return number < before <= number + _FAR and after > before and (at < 2 or chain[at - 2][1] < number)
