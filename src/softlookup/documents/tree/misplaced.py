"""Labels printed in the wrong order: "4." between "5." and "6." of a list that has no other 4.

A sequence alone (``sequences.py``) cannot take them, for most numbers that go back are references at the start of a
line. Not for gaps and duplicates, which a sequence bears.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from softlookup.documents.tree.candidates import Candidate
from softlookup.documents.tree.numbering import Reading

_FEWEST = 3  # members of a list that is known well enough
_FURTHEST = 2  # places from a neighbour
_MOST_BETWEEN = 400  # labels between two members that are looked at; many lists span many labels each


def with_misplaced(
    candidates: Sequence[Candidate], runs: Sequence[Sequence[int]], readings: Mapping[int, Reading]
) -> list[list[int]]:
    """``runs`` with the labels that stand between two members as they do and whose number the run lacks."""
    taken = {key for run in runs for key in run}
    return [_mended(candidates, run, readings, taken) if len(run) >= _FEWEST else list(run) for run in runs]


def _mended(
    candidates: Sequence[Candidate], run: Sequence[int], readings: Mapping[int, Reading], taken: set[int]
) -> list[int]:
    places = {readings[key].place for key in run}
    added: list[int] = []
    for before, after in itertools.pairwise(run):
        least = min(candidates[before].strength, candidates[after].strength)
        for key in range(before + 1, min(after, before + _MOST_BETWEEN)):
            reading = readings.get(key)
            if reading is None or key in taken or reading.place in places or candidates[key].in_line:
                continue
            if candidates[key].strength >= least and _is_near(reading, readings[before], readings[after]):
                places.add(reading.place)
                added.append(key)
    return sorted([*run, *added])


def _is_near(reading: Reading, before: Reading, after: Reading) -> bool:
    """True for a number a little below the one before, or a little above the one after."""
    if {before.place[:-1], after.place[:-1]} != {reading.place[:-1]}:
        return False
    late, early = before.place[-1] - reading.place[-1], reading.place[-1] - after.place[-1]
    return 0 < late <= _FURTHEST or 0 < early <= _FURTHEST
