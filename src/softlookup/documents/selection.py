"""From candidate labels to the labels of the document: contents lists out, schedules apart, sequences in.

Not for nesting them (``outline.py``).
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from softlookup.documents.candidates import Candidate
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
_FILING_NUMBER = re.compile(r"\d{1,3}[.]\d")
_LONGEST_CONTENTS = 40_000
_NEAR_BEGINNING = 15_000


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
        entries = [c for c in candidates[first : first + 40] if _is_main(c) and c.start - heading < 3000][:6]
        end = next((e for entry in entries if (e := _recurrence(candidates, entry, heading)) is not None), None)
        end = end or _body_start(candidates, first, heading)
        if end is not None:
            regions.append((heading, end))
    return regions


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
    main = [c for c in candidates[first : first + 400] if _is_main(c) and not c.listed]
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


def _is_main(candidate: Candidate) -> bool:
    return any(family(reading.style) in _MAIN for reading in candidate.label.readings)


def outside(candidates: Iterable[Candidate], regions: Sequence[tuple[int, int]]) -> list[Candidate]:
    """Candidates that are no line of a table of contents."""
    found = list(candidates)
    listed = [c.listed for c in found]
    kept = []
    for index, candidate in enumerate(found):
        around = listed[max(0, index - 3) : index] + listed[index + 1 : index + 4]
        in_list = candidate.listed or (len(around) >= 4 and sum(around) > len(around) // 2)  # a wrapped entry
        if not in_list and not any(a <= candidate.start < b for a, b in regions):
            kept.append(candidate)
    return kept


def schedules(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Candidates that open a schedule, exhibit, annex or 附件 with text of its own, in order."""
    heads = [c for c in candidates if c.label.readings[0].style == "schedule" and _opens_schedule(text, c)]
    first_main = next((c.start for c in candidates if _is_main(c) and c.strength > 0.5), len(text))
    heads = [c for c in heads if c.start > first_main or c.start > 2000]
    kept: list[Candidate] = []
    for index, head in enumerate(heads):
        following = heads[index + 1] if index + 1 < len(heads) else None
        listed = following is not None and following.start - head.start < 200 and _key(following) != _key(head)
        if not listed and not (kept and _key(kept[-1]) == _key(head)):
            kept.append(head)
    last = {_key(head): index for index, head in enumerate(kept)}
    return [head for index, head in enumerate(kept) if last[_key(head)] == index]


def _key(candidate: Candidate) -> str:
    return re.sub(r"[\s\"-]", "", candidate.label.number).lower()


def _opens_schedule(text: str, candidate: Candidate) -> bool:
    label = candidate.label
    if _FILING_NUMBER.search(label.number) and not label.number.lower().startswith("schedule"):
        return False  # "Exhibit 10.2" is where a filing put the contract, not a part of it
    rest = text[label.end : candidate.line_end].strip(" *_:-–—.")
    if candidate.in_line:
        return candidate.strength >= 1.2 and label.number.isupper()
    if candidate.strength < 1.3:
        return False
    return len(rest) <= 100 or label.number[:3].isupper()


def select(candidates: Sequence[Candidate]) -> list[Accepted]:
    """Labels of one namespace that continue a sequence, each with its reading, in order of offset."""
    chosen: dict[int, list[tuple[int, int, Reading]]] = {}
    hard_starts: list[int] = []
    _run_families(candidates, [f for f in _families(candidates) if f in HARD], chosen, [])
    hard_starts = sorted(candidates[key].start for key in chosen)
    rest = [f for f in _families(candidates) if f not in HARD and f != "schedule"]
    soft = [f for f in rest if f in _MAIN]
    _run_families(candidates, soft, chosen, [])
    _run_families(candidates, [f for f in rest if f not in _MAIN], chosen, hard_starts)
    return [Accepted(candidates[key], _best(chosen[key])) for key in sorted(chosen)]


def _families(candidates: Sequence[Candidate]) -> list[str]:
    return sorted({family(r.style) for c in candidates for r in c.label.readings})


def _run_families(
    candidates: Sequence[Candidate],
    names: Sequence[str],
    chosen: dict[int, list[tuple[int, int, Reading]]],
    boundaries: Sequence[int],
) -> None:
    for name in names:
        readings: dict[int, Reading] = {}
        items: list[Item] = []
        for key, candidate in enumerate(candidates):
            reading = next((r for r in candidate.label.readings if family(r.style) == name), None)
            if reading is not None:
                readings[key] = reading
                boundary = bisect_left(boundaries, candidate.start + 1)
                items.append(Item(key, reading.values, candidate.strength, boundary))
        runs = [run for run in accept(items) if _credible(candidates, run, name)]
        for run in _without_contents(candidates, runs, readings, name):
            for place, key in enumerate(run):
                chosen.setdefault(key, []).append((len(run), -place, readings[key]))


def _credible(candidates: Sequence[Candidate], run: Sequence[int], name: str) -> bool:
    """Lists inside a sentence become clauses only when their items are long enough to be cited alone."""
    in_line = sum(1 for key in run if candidates[key].in_line)
    if name in HARD or 2 * in_line < len(run):
        return True
    if len(run) < 2:
        return False
    span = candidates[run[-1]].start - candidates[run[0]].start
    return span / (len(run) - 1) >= (35 if name in _MAIN else 100)


def _without_contents(
    candidates: Sequence[Candidate], runs: list[list[int]], readings: dict[int, Reading], name: str
) -> list[list[int]]:
    """Runs that are no list of contents: labels packed closely whose values a later run repeats."""
    if name not in _MAIN:
        return runs
    kept: list[list[int]] = []
    for index, run in enumerate(runs):
        gaps = sorted(candidates[b].start - candidates[a].start for a, b in itertools.pairwise(run))
        if len(run) >= 4 and gaps[len(gaps) // 2] < 130:
            values = {readings[key].values for key in run}
            later = {readings[key].values for other in runs[index + 1 :] for key in other}
            if len(values & later) >= 0.6 * len(values):
                continue
        if name in HARD and len(run) >= 2 and _is_outgrown(candidates, run, runs[index + 1 :], readings):
            continue
        kept.append(run)
    return kept


def _is_outgrown(
    candidates: Sequence[Candidate],
    run: Sequence[int],
    later: Sequence[list[int]],
    readings: dict[int, Reading],
) -> bool:
    """True near the beginning when a later run has the same values over ten times the length of text."""
    first, last = candidates[run[0]].start, candidates[run[-1]].start
    if first - candidates[0].start > _NEAR_BEGINNING:
        return False
    values = {readings[key].values for key in run}
    for other in later:
        length = candidates[other[-1]].start - candidates[other[0]].start
        if len(values & {readings[key].values for key in other}) >= 0.6 * len(values) and length > 10 * (last - first):
            return True
    return False


def _best(options: list[tuple[int, int, Reading]]) -> Reading:
    """Reading with the longest run; among equals the one that the label form suggests first."""
    return max(options, key=lambda option: option[0])[2]
