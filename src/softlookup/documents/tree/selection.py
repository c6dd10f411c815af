"""From the candidate labels of one namespace to its labels: those that continue a sequence.

Not for contents lists (``contents_lists.py``), schedules (``schedule_heads.py``) or nesting (``outline.py``).
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from softlookup.documents.tree.candidates import Candidate
from softlookup.documents.tree.inline_lists import STANDS_ALONE, InlineLists
from softlookup.documents.tree.label_families import HARD, MAIN, family
from softlookup.documents.tree.letter_or_roman import settle_ninth
from softlookup.documents.tree.misplaced import with_misplaced
from softlookup.documents.tree.numbering import Reading
from softlookup.documents.tree.sequences import Item, accept

_NEAR_BEGINNING = 15_000
_HEADING = 120  # characters of a clause label and its heading
_OPENS = 0.6  # strength that a first label has more for standing right after them
_CAPITALS = re.compile(r"[\s.:)*_]{0,12}[A-Z][A-Z'’&-]{2,}")
_FEWEST_HEADED = 5
_LONGEST_RUNS = 8  # the text of a list of contents is among the longest lists after it


@dataclass(frozen=True, slots=True)
class Accepted:
    """A label that belongs to the document, with the one reading that fits its sequence."""

    candidate: Candidate
    reading: Reading


def select(
    found: Sequence[Candidate], text: str, folded: str, *, is_wrapped: bool, breaks: Sequence[int] = ()
) -> list[Accepted]:
    """Labels of one namespace that continue a sequence, each with its reading, in order of offset.

    Labels that the format states are always among them. ``folded`` is ``text.translate(FOLD)``;
    ``is_wrapped``: a line end of ``text`` ends no paragraph. No list inside a clause runs across one of ``breaks``.
    """
    lists = InlineLists(text, folded, is_wrapped, _with_settled_readings(found))
    candidates = lists.candidates
    chosen: dict[int, list[tuple[int, int, Reading]]] = {}
    _run_families(lists, [f for f in _families(candidates) if f in HARD], chosen, [])
    hard_starts = sorted(candidates[key].start for key in chosen)
    boundaries = sorted({*hard_starts, *breaks})
    rest = [f for f in _families(candidates) if f not in HARD and f not in ("schedule", "auto")]
    soft = [f for f in rest if f in MAIN]
    _run_families(lists, soft, chosen, [], body=next(iter(hard_starts), None))
    inner = _run_families(lists, [f for f in rest if f not in MAIN], chosen, boundaries)
    for key, candidate in enumerate(candidates):
        if candidate.list_id:
            chosen[key] = [(1, 0, candidate.label.readings[0])]
    settled = {key: _best(options) for key, options in chosen.items()}
    _mend_beheaded(lists, inner, settled, boundaries)
    settle_ninth(candidates, settled, boundaries)
    accepted = [Accepted(candidates[key], reading) for key, reading in settled.items()]
    return sorted(accepted, key=lambda label: label.candidate.start)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the sequence ``name`` with the readings of its members there."""

    name: str
    keys: tuple[int, ...]
    readings: dict[int, Reading]


def _mend_beheaded(lists: InlineLists, runs: Sequence[_Run], settled: dict[int, Reading], walls: Sequence[int]) -> None:
    """Runs that lost a member to another reading find their own or go: the (i) after (h) is not that of (ii)."""
    for run in runs:
        kept = [key for key in run.keys if settled.get(key) == run.readings[key]]
        if not kept or len(kept) == len(run.keys):
            continue
        whole = {key for piece in lists.whole(kept, run.name, run.readings, walls) for key in piece}
        for key in set(kept) - whole:
            del settled[key]
        for key in whole:
            settled.setdefault(key, run.readings[key])


def _with_settled_readings(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Automatic labels left with one reading each: the style that fits most labels of their list and level."""
    groups: dict[tuple[str, int], list[Candidate]] = {}
    for candidate in candidates:
        if candidate.list_id:
            groups.setdefault((candidate.list_id, candidate.list_level), []).append(candidate)
    style_of: dict[tuple[str, int], str] = {}
    for group, members in groups.items():
        fits = Counter(reading.style for member in members for reading in member.label.readings)
        lowest = {reading.style: reading.values for member in members[::-1] for reading in member.label.readings}
        style_of[group] = min(fits, key=lambda style: (-fits[style], lowest[style]))
    return [
        _with_style(candidate, style_of[candidate.list_id, candidate.list_level]) if candidate.list_id else candidate
        for candidate in candidates
    ]


def _with_style(candidate: Candidate, style: str) -> Candidate:
    readings = sorted(candidate.label.readings, key=lambda reading: reading.style != style)
    return replace(candidate, label=replace(candidate.label, readings=tuple(readings[:1])))


def _families(candidates: Sequence[Candidate]) -> list[str]:
    return sorted({family(r.style) for c in candidates for r in c.label.readings})


def _run_families(
    lists: InlineLists,
    names: Sequence[str],
    chosen: dict[int, list[tuple[int, int, Reading]]],
    boundaries: Sequence[int],
    body: int | None = None,
) -> list[_Run]:
    """Add the labels of the sequences ``names`` to ``chosen``, each with the length of its run; the runs."""
    candidates = lists.candidates
    found: list[_Run] = []
    heads = sorted({candidates[key].start for key in chosen})
    walls = sorted({*heads, *boundaries})
    for name in names:
        readings: dict[int, Reading] = {}
        may_jump = "letter" not in name and "roman" not in name
        items: list[Item] = []
        for key, candidate in enumerate(candidates):
            reading = next((r for r in candidate.label.readings if family(r.style) == name), None)
            if reading is not None:
                readings[key] = reading
                boundary = bisect_left(boundaries, candidate.start + 1)
                bonus = _OPENS if _opens_clause(candidate, reading, heads) else 0.0
                jumps = (
                    may_jump and lists.folded[candidate.label.end - 1 : candidate.label.end] != " "
                )  # no "64 Main Street"
                items.append(Item(key, reading.place, candidate.strength + bonus, jumps, boundary))
        runs = [
            piece for run in _accepted_runs(lists, items, name) for piece in lists.whole(run, name, readings, walls)
        ]
        runs = [run for run in runs if _credible(candidates, run, name)]
        runs = with_misplaced(candidates, runs, readings) if name in MAIN else runs
        for run in _without_contents(candidates, runs, readings, name, body):
            found.append(_Run(name, tuple(run), readings))
            for place, key in enumerate(run):
                chosen.setdefault(key, []).append((len(run), -place, readings[key]))
    return found


def _accepted_runs(lists: InlineLists, items: Sequence[Item], name: str) -> list[list[int]]:
    """Runs of ``items``; clauses with headings in capitals first, when lists of the same style stand inside them.

    One chain cannot follow "5. FEES ... 1. ... 2. ... 6. LAW": it would go on from the inner 2.
    """
    if name not in ("decimal1", "decimal1、"):
        return accept(items)
    headed = [item for item in items if _is_headed(lists, item.key)]
    rest = len(items) - len(headed)
    if len(headed) < _FEWEST_HEADED or rest < 2 or sum(item.values == (1,) for item in items) < 2:
        return accept(items)
    longest = max(accept(headed), key=len, default=[])
    first = next((item.values for item in headed if longest and item.key == longest[0]), ())
    if len(longest) < 0.8 * len(headed) or first != (1,):
        return accept(items)
    starts = [lists.candidates[key].start for key in longest]
    taken = set(longest)
    inner = [
        replace(item, boundary=bisect_left(starts, lists.candidates[item.key].start))
        for item in items
        if item.key not in taken
    ]
    return sorted([longest, *accept(inner)], key=lambda run: run[0])


def _is_headed(lists: InlineLists, key: int) -> bool:
    end = lists.candidates[key].label.end
    return bool(_CAPITALS.match(lists.text, end, end + 60))


def _opens_clause(candidate: Candidate, reading: Reading, heads: Sequence[int]) -> bool:
    """True for a first label right after the heading of a clause: "Section 1.1. Definitions. (a) As used"."""
    if reading.values != (1,) or candidate.strength < STANDS_ALONE:
        return False
    at = bisect_left(heads, candidate.start)
    return at > 0 and candidate.start - heads[at - 1] <= _HEADING


def _credible(candidates: Sequence[Candidate], run: Sequence[int], name: str) -> bool:
    """Lists inside a sentence become clauses only when their items are long enough to be cited alone."""
    in_line = sum(candidates[key].in_line and candidates[key].strength < STANDS_ALONE for key in run)
    if name in HARD or 2 * in_line < len(run):
        return True
    if len(run) < 2:
        return False
    span = candidates[run[-1]].start - candidates[run[0]].start
    return span / (len(run) - 1) >= (35 if name in MAIN else 100)


def _without_contents(
    candidates: Sequence[Candidate],
    runs: list[list[int]],
    readings: dict[int, Reading],
    name: str,
    body: int | None,
) -> list[list[int]]:
    """Runs that are no list of contents: labels packed closely whose values a later run repeats.

    ``body`` is where the first clause of the strict kinds stands; a list after it is a list of the text.
    """
    if name not in MAIN:
        return runs
    kept: list[list[int]] = []
    later = _Later()
    for run in reversed(runs):
        values = frozenset(readings[key].values for key in run)
        length = candidates[run[-1]].start - candidates[run[0]].start
        is_inside = name not in HARD and body is not None and candidates[run[0]].start > body
        ended = 2 * sum(candidates[key].ended for key in run) > len(run)
        near = candidates[run[0]].start - candidates[0].start <= _NEAR_BEGINNING
        is_list = (
            not (is_inside or ended) and _is_crowded(candidates, run, name) and later.repeats(values, length, name)
        )
        if not is_list and not (name in HARD and len(run) >= 2 and near and later.outgrows(values, length)):
            kept.append(run)
        later.add(values, length)
    return kept[::-1]


def _is_crowded(candidates: Sequence[Candidate], run: Sequence[int], name: str) -> bool:
    gaps = sorted(candidates[b].start - candidates[a].start for a, b in itertools.pairwise(run))
    is_index = name in HARD and 2 * sum(candidates[key].in_line for key in run) > len(run)
    return len(run) >= 4 and gaps[len(gaps) // 2] < (300 if is_index else 130)


@dataclass(slots=True)
class _Later:
    """The runs after the one in question: all their values, and the longest of them."""

    values: set[tuple[int, ...]] = field(default_factory=set)
    longest: list[tuple[int, frozenset[tuple[int, ...]]]] = field(default_factory=list)

    def add(self, values: frozenset[tuple[int, ...]], length: int) -> None:
        self.values |= values
        self.longest = sorted([*self.longest, (length, values)], key=lambda run: -run[0])[:_LONGEST_RUNS]

    def repeats(self, values: frozenset[tuple[int, ...]], length: int, name: str) -> bool:
        """True when the values come again: anywhere for the strict kinds, in one much longer list for others."""
        if name in HARD:
            return len(values & self.values) >= 0.6 * len(values)
        return any(len(values & other) >= 0.6 * len(values) for size, other in self.longest if size > 4 * length)

    def outgrows(self, values: frozenset[tuple[int, ...]], length: int) -> bool:
        """True when a later run has the same values over ten times the length of text."""
        return any(len(values & other) >= 0.6 * len(values) for size, other in self.longest if size > 10 * length)


def _best(options: list[tuple[int, int, Reading]]) -> Reading:
    """Reading with the longest run; among equals one that opens a list, then the likeliest for its form."""
    return max(options, key=lambda option: (option[0], option[2].values == (1,)))[2]
