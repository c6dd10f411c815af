"""From candidate labels to the labels of the document: contents lists out, schedules apart, sequences in.

Not for nesting them (``outline.py``).
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from softlookup.documents.candidates import Candidate, is_contents_entry
from softlookup.documents.inline_lists import STANDS_ALONE, InlineLists
from softlookup.documents.numbering import Reading
from softlookup.documents.sequences import Item, accept

# numbered across the whole document or namespace; a new one ends every list inside the one before
HARD = (
    "zh-part",
    "zh-subpart",
    "zh-chapter",
    "zh-division",
    "zh-article",
    "part",
    "article",
    "section",
    "decimal",
)
_MAIN = (*HARD, "decimal1", "decimal1、", "zh-list", "upper-roman.", "upper-letter.")
_CONTENTS = re.compile(r"^[ \t#*_]*(?:table\s+of\s+contents|contents|index|目[ \u3000]*[录錄])\b", re.I | re.M)
_CONTENTS_LOOSE = re.compile(r"TABLE OF CONTENTS")
_LONGEST_CONTENTS = 40_000
_WIDEST_ENTRY = 400
_SHORT_LINE = 120
_SHORT_OPENING = 40  # less text between a list of contents and the first clause is a page mark
_NEAR_BEGINNING = 15_000
_HEADING = 120  # characters of a clause label and its heading
_OPENS = 0.6  # strength that a first label has more for standing right after them
_LONGEST_RUNS = 8  # the text of a list of contents is among the longest lists after it


@dataclass(frozen=True, slots=True)
class Accepted:
    """A label that belongs to the document, with the one reading that fits its sequence."""

    candidate: Candidate
    reading: Reading


def family(style: str) -> str:
    """Name of the sequence a style counts in: all multi-part decimals count together."""
    return "decimal" if style.startswith("decimal") and not style.startswith("decimal1") else style


def contents_regions(text: str, candidates: Sequence[Candidate]) -> list[tuple[int, int]]:
    """``[start, end)`` of tables of contents under a heading: up to where their first label recurs."""
    regions: list[tuple[int, int]] = []
    starts = [candidate.start for candidate in candidates]
    headings = [m.start() for m in _CONTENTS.finditer(text)] or [m.start() for m in _CONTENTS_LOOSE.finditer(text)]
    for heading in headings[:20]:
        if regions and heading < regions[-1][1]:
            continue
        first = bisect_left(starts, heading)
        entries = [c for c in candidates[first : first + 40] if is_main(c) and c.start - heading < 3000][:6]
        end = next((e for entry in entries if (e := _recurrence(candidates, entry, heading)) is not None), None)
        end = end or _body_start(candidates, first, heading)
        if end is not None:
            fact = next((c.start for c in candidates[first:] if c.list_id), end)  # a list of contents has none
            end = min(end, fact)
            regions.append((heading, _last_entry(text, candidates[first:], heading, end)))
    return regions


def _last_entry(text: str, candidates: Sequence[Candidate], heading: int, end: int) -> int:
    """End of the last line of a list of contents; parties and recitals may stand between it and the first clause."""
    at = heading
    for candidate in candidates:
        if candidate.start >= end or (at > heading and candidate.start - at > _WIDEST_ENTRY):
            break
        if candidate.listed or is_main(candidate) or candidate.label.readings[0].style == "schedule":
            at = max(at, min(candidate.line_end, end))
    while at < end:  # page numbers and the rest of wrapped entries
        begin = at + len(text[at:end]) - len(text[at:end].lstrip())
        stop = text.find("\n", begin, end)
        if stop < 0 or stop - begin > _SHORT_LINE or text[begin : begin + 1] in "（(“\"":
            break
        if not text[begin:stop].strip(" .-0123456789ivxIVX") or is_contents_entry(text[begin:stop]):
            at = stop
        else:
            break
    return at if end - at > _SHORT_OPENING else end


def _recurrence(candidates: Sequence[Candidate], entry: Candidate, heading: int) -> int | None:
    wanted = {reading.values for reading in entry.label.readings}
    kind = family(entry.label.readings[0].style)
    for candidate in candidates:
        if candidate.start <= entry.start or (candidate.in_line and candidate.strength < 0.5) or candidate.listed:
            continue
        if candidate.start - heading > _LONGEST_CONTENTS:
            return None
        same_kind = family(candidate.label.readings[0].style) == kind or len(entry.label.readings[0].values) > 1
        if (
            same_kind
            and any(reading.values in wanted for reading in candidate.label.readings)
            and candidate.strength > 0
        ):
            return candidate.start
    return None


def _body_start(candidates: Sequence[Candidate], first: int, heading: int) -> int | None:
    """Start of the first clause after a table of contents: a first label that the next ones do not crowd."""
    main = [c for c in candidates[first : first + 400] if is_main(c) and not c.listed]
    for index, candidate in enumerate(main):
        if candidate.start - heading > _LONGEST_CONTENTS:
            return None
        opens = any(set(reading.values) == {1} for reading in candidate.label.readings)
        if not opens or candidate.in_line or candidate.strength < 0.5 or candidate.start - heading < 60:
            continue
        after = main[min(index + 5, len(main) - 1)]
        if after.start - candidate.start > 900:
            return candidate.start
    return None


def is_main(candidate: Candidate) -> bool:
    return any(family(reading.style) in _MAIN for reading in candidate.label.readings)


def outside(candidates: Iterable[Candidate], regions: Sequence[tuple[int, int]]) -> list[Candidate]:
    """Candidates that are no line of a table of contents."""
    found = list(candidates)
    listed = [c.listed for c in found]
    kept = []
    for index, candidate in enumerate(found):
        around = listed[max(0, index - 3) : index] + listed[index + 1 : index + 4]
        in_list = candidate.listed or (len(around) >= 4 and sum(around) > len(around) // 2)  # a wrapped entry
        in_list = in_list or any(a <= candidate.start < b for a, b in regions)
        if candidate.list_id or not in_list:
            kept.append(candidate)
    return kept


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
    soft = [f for f in rest if f in _MAIN]
    _run_families(lists, soft, chosen, [], body=next(iter(hard_starts), None))
    inner = _run_families(lists, [f for f in rest if f not in _MAIN], chosen, boundaries)
    for key, candidate in enumerate(candidates):
        if candidate.list_id:
            chosen[key] = [(1, 0, candidate.label.readings[0])]
    settled = {key: _best(options) for key, options in chosen.items()}
    _mend_beheaded(lists, inner, settled, boundaries)
    accepted = [Accepted(candidates[key], reading) for key, reading in settled.items()]
    return sorted(accepted, key=lambda label: label.candidate.start)


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the sequence ``name`` with the readings of its members there."""

    name: str
    keys: tuple[int, ...]
    readings: dict[int, Reading]


def _mend_beheaded(
    lists: InlineLists, runs: Sequence[_Run], settled: dict[int, Reading], walls: Sequence[int]
) -> None:
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
    walls = sorted({*(candidates[key].start for key in chosen), *boundaries})
    for name in names:
        readings: dict[int, Reading] = {}
        may_jump = "letter" not in name and "roman" not in name
        items: list[Item] = []
        for key, candidate in enumerate(candidates):
            reading = next((r for r in candidate.label.readings if family(r.style) == name), None)
            if reading is not None:
                readings[key] = reading
                boundary = bisect_left(boundaries, candidate.start + 1)
                bonus = _OPENS if _opens_clause(candidate, reading, boundaries, boundary) else 0.0
                items.append(Item(key, reading.place, candidate.strength + bonus, may_jump, boundary))
        runs = [piece for run in accept(items) for piece in lists.whole(run, name, readings, walls)]
        runs = [run for run in runs if _credible(candidates, run, name)]
        for run in _without_contents(candidates, runs, readings, name, body):
            found.append(_Run(name, tuple(run), readings))
            for place, key in enumerate(run):
                chosen.setdefault(key, []).append((len(run), -place, readings[key]))
    return found


def _opens_clause(candidate: Candidate, reading: Reading, boundaries: Sequence[int], boundary: int) -> bool:
    """True for a first label right after the heading of a clause: "Section 1.1. Definitions. (a) As used"."""
    if reading.values != (1,) or not boundary or candidate.strength < STANDS_ALONE:
        return False
    return candidate.start - boundaries[boundary - 1] <= _HEADING


def _credible(candidates: Sequence[Candidate], run: Sequence[int], name: str) -> bool:
    """Lists inside a sentence become clauses only when their items are long enough to be cited alone."""
    in_line = sum(candidates[key].in_line and candidates[key].strength < STANDS_ALONE for key in run)
    if name in HARD or 2 * in_line < len(run):
        return True
    if len(run) < 2:
        return False
    span = candidates[run[-1]].start - candidates[run[0]].start
    return span / (len(run) - 1) >= (35 if name in _MAIN else 100)


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
    if name not in _MAIN:
        return runs
    kept: list[list[int]] = []
    later = _Later()
    for run in reversed(runs):
        values = frozenset(readings[key].values for key in run)
        length = candidates[run[-1]].start - candidates[run[0]].start
        is_inside = name not in HARD and body is not None and candidates[run[0]].start > body
        ended = 2 * sum(candidates[key].ended for key in run) > len(run)
        near = candidates[run[0]].start - candidates[0].start <= _NEAR_BEGINNING
        is_list = not (is_inside or ended) and _is_crowded(candidates, run) and later.repeats(values, length, name)
        if not is_list and not (name in HARD and len(run) >= 2 and near and later.outgrows(values, length)):
            kept.append(run)
        later.add(values, length)
    return kept[::-1]


def _is_crowded(candidates: Sequence[Candidate], run: Sequence[int]) -> bool:
    gaps = sorted(candidates[b].start - candidates[a].start for a, b in itertools.pairwise(run))
    in_line = 2 * sum(candidates[key].in_line for key in run) > len(run)
    return len(run) >= 4 and gaps[len(gaps) // 2] < (300 if in_line else 130)


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
