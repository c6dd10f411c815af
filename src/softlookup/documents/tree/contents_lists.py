"""Tables of contents and indexes of terms: where they are, so that their lines open no clauses."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence

from softlookup.documents.tree.candidates import Candidate, is_contents_entry
from softlookup.documents.tree.label_families import HARD, family, is_main

_CONTENTS = re.compile(r"^[ \t#*_]*(?:table\s+of\s+contents|contents|index|目[ \u3000]*[录錄])\b", re.I | re.M)
_CONTENTS_LOOSE = re.compile(r"TABLE OF CONTENTS")
_LONGEST_CONTENTS = 40_000
_INDEX_REACH = 300
_WIDEST_ENTRY = 400
_SHORT_LINE = 120
_SHORT_OPENING = 40  # less text between a list of contents and the first clause is a page mark


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
            end = _heading_before(candidates[first:], heading, min(end, fact))
            regions.append((heading, _last_entry(text, candidates[first:], heading, end)))
    return regions


def _heading_before(candidates: Sequence[Candidate], heading: int, end: int) -> int:
    """Start of the article or chapter that holds the first clause at ``end``, when the list does not name articles."""
    before = [c for c in candidates if heading < c.start < end and is_main(c)]
    kinds = {family(c.label.readings[0].style) for c in before if end - c.start > _SHORT_LINE}
    for candidate in before:
        kind = family(candidate.label.readings[0].style)
        if end - candidate.start <= _SHORT_LINE and kind in HARD and kind not in kinds and not candidate.in_line:
            return candidate.start
    return end


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
        if stop < 0 or stop - begin > _SHORT_LINE or text[begin : begin + 1] in '（(“"':
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


def outside(candidates: Iterable[Candidate], regions: Sequence[tuple[int, int]]) -> list[Candidate]:
    """Candidates that are no line of a table of contents."""
    found = list(candidates)
    listed = [c.listed for c in found]
    kept = []
    for index, candidate in enumerate(found):
        around = listed[max(0, index - 3) : index] + listed[index + 1 : index + 4]
        in_list = candidate.listed or (len(around) >= 4 and sum(around) > len(around) // 2)  # a wrapped entry
        in_list = in_list or any(a <= candidate.start < b for a, b in regions) or _in_index(found, index)
        if candidate.list_id or not in_list:
            kept.append(candidate)
    return kept


def _in_index(found: Sequence[Candidate], index: int) -> bool:
    """True for "2.04(b)" among many such numbers in no order: an index of terms and where they are defined."""
    if not _is_bare_decimal(found[index]):
        return False
    near = [
        c
        for c in found[max(0, index - 5) : index + 6]
        if _is_bare_decimal(c) and abs(c.start - found[index].start) <= _INDEX_REACH
    ]
    places = [c.label.readings[0].values for c in near]
    in_order = sum(a < b for a, b in itertools.pairwise(places))
    return len(places) >= 5 and in_order <= 0.7 * (len(places) - 1)


def _is_bare_decimal(candidate: Candidate) -> bool:
    return candidate.in_line and not candidate.label.has_keyword and len(candidate.label.readings[0].values) > 1
