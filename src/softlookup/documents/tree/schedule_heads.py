"""Which labels open a schedule, exhibit, annex or 附件 with text of its own; not for the labels inside them.

The words "Exhibit B" stand in many places: in the list at the end of the body, on top of every page of the exhibit,
where a filing put its own number, at a wrapped line start. Only the place where the exhibit begins opens it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from softlookup.documents.tree.candidates import Candidate
from softlookup.documents.tree.label_families import family, is_main

_BREAK = re.compile(r"\n[^\S\n]*\n[^\S\n]*\n|\f|<PAGE>|_{12}")  # between pages, in the ways that texts show it
_FILING_NUMBER = re.compile(r"(?:10|99|[1-4])\.\d{1,3}\Z")
# a sentence or a label between two heads: an annex of few words, not the next entry of a list
_OWN_WORDS = re.compile(
    r"[。；：]|\n[^\S\n]*(?:\d{1,2}[.、)]|\d{1,2}(?:\.\d{1,2})?[ \t]{1,4}[A-Z]"
    r"|[一二三四五六七八九十]{1,3}、|[（(]|第[^\n]{1,4}条)"
)
_NAMELESS = re.compile(r"(?:the\s+)?(?:schedule|annex(?:ure)?|appendix)", re.I)
_LIST_STEP = 200  # entries of a list of exhibits stand closer than this
_OWN_TEXT = 600
_FIRST_PAGE = 1500
_HEADING = 120  # characters of the title of a schedule
_OPENS = 0.6
_REMOTE = 2000  # a schedule before this offset comes only after numbered clauses


def schedule_heads(text: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that open a schedule, in order of offset."""
    heads = [c for c in candidates if c.label.readings[0].style == "schedule" and not _is_wide_gap_mention(text, c)]
    filing = _filing_numbers(heads)
    first_main = next((c.start for c in candidates if is_main(c) and c.strength > 0.5), len(text))
    heads = [
        head
        for head in heads
        if head.list_id
        or ((head.start > first_main or head.start > _REMOTE) and key(head) not in filing and _opens(text, head))
    ]
    heads = [head for head in heads if head.list_id or not _is_amid_clauses(candidates, head)]
    heads = [head for head in heads if not _NAMELESS.fullmatch(head.label.number) or _counts_anew(candidates, head)]
    return _without_page_tops(_without_lists(text, candidates, heads, first_main))


def with_stronger_first(text: str, head: Candidate, inside: Sequence[Candidate]) -> list[Candidate]:
    """``inside`` with more strength for a first sentence right after ``head``: a schedule may have one item only."""
    found = list(inside)
    if not found or found[0].in_line or found[0].list_id or found[0].start - head.line_end > _HEADING:
        return found
    first = found[0]
    is_sentence = text[first.label.end : first.line_end].rstrip(" *_").endswith((".", ";", ":", "。", "；", "："))
    if is_sentence and any(r.values == (1,) and r.style.startswith("decimal1") for r in first.label.readings):
        found[0] = replace(first, strength=first.strength + _OPENS)
    return found


def key(candidate: Candidate) -> str:
    """The label without blanks, quotation marks and case."""
    return re.sub(r"[\s\"-]", "", candidate.label.number).lower()


def _is_wide_gap_mention(text: str, candidate: Candidate) -> bool:
    """True for "as specified in      EXHIBIT E": blanks that justify a line, not a lost line end."""
    before = text[max(0, candidate.start - 60) : candidate.start].rstrip()
    return candidate.in_line and bool(before) and (before[-1].islower() or before[-1] in ",(")


def _filing_numbers(heads: Sequence[Candidate]) -> frozenset[str]:
    """Numbers like "Exhibit 10.2" that say where a filing put the contract: on its first page, or on many."""
    times = Counter(key(head) for head in heads)
    numbers = {key(head): head for head in reversed(heads) if _FILING_NUMBER.search(head.label.number)}
    return frozenset(
        name
        for name, head in numbers.items()
        if not name.startswith("schedule") and (head.start < _FIRST_PAGE or times[name] > 1)
    )


def _opens(text: str, candidate: Candidate) -> bool:
    label = candidate.label
    rest = text[label.end : candidate.line_end].strip(" *_:-–—.")
    is_upper = label.number[:3].isupper()
    if candidate.in_line:
        return candidate.strength >= 1.2 and label.number.isupper()
    on_new_page = bool(_BREAK.search(text, max(0, candidate.start - 40), candidate.start))
    if candidate.strength < (0.9 if on_new_page or is_upper else 1.3):
        return False
    set_apart = bool(re.match(r"[*_]*(?:[ \t]{3,}|[ ]?[:：—–-])", text[label.end : label.end + 10]))
    return len(rest) <= 100 or is_upper or (on_new_page and (set_apart or candidate.strength >= 2.0))


def _without_lists(
    text: str, candidates: Sequence[Candidate], heads: Sequence[Candidate], body: int
) -> list[Candidate]:
    """``heads`` without the entries of lists of exhibits: lines close together, each with a name behind it."""
    clusters: list[list[Candidate]] = []
    for head in heads:
        last = clusters[-1][-1] if clusters else None
        if (
            last is not None
            and head.start - last.start < _LIST_STEP
            and key(head) not in {key(other) for other in clusters[-1]}
            and not _BREAK.search(text, last.line_end, head.start)
            and not _OWN_WORDS.search(text, last.line_end, head.start)
        ):
            clusters[-1].append(head)
        else:
            clusters.append([head])
    kept: list[Candidate] = []
    for number, cluster in enumerate(clusters):
        end = clusters[number + 1][0].start if number + 1 < len(clusters) else len(text)
        names = sum(bool(text[head.label.end : head.line_end].strip(" *_:-–—.")) for head in cluster)
        if (
            len(cluster) == 1
            or 2 * names < len(cluster)
            or (body < cluster[0].start and _opens_list(text, candidates, cluster[-1]))
        ):
            kept += cluster
        else:
            kept += [head for head in cluster if head.list_id]
            if len(cluster) == 2 and end - cluster[-1].start > _OWN_TEXT and not cluster[-1].list_id:
                kept.append(cluster[-1])
    return kept


def _counts_anew(candidates: Sequence[Candidate], head: Candidate) -> bool:
    """True when the next label is the first of a list: "Schedule" alone may be the head of a table, too."""
    at = bisect_right(candidates, head.line_end, key=lambda c: c.start)
    readings = candidates[at].label.readings if at < len(candidates) else ()
    return head.label.number.isupper() or any(reading.values in ((1,), (1, 1)) for reading in readings)


def _opens_list(text: str, candidates: Sequence[Candidate], head: Candidate) -> bool:
    """True when a list begins on the line after ``head``: none does after the last entry of a list of exhibits."""
    at = bisect_right(candidates, head.line_end, key=lambda c: c.start)
    after = candidates[at] if at < len(candidates) else None
    if after is None or after.in_line or after.listed or text[head.line_end : after.start].strip():
        return False
    return any(r.values == (1,) and r.style != "schedule" for r in after.label.readings)


def _without_page_tops(heads: Sequence[Candidate]) -> list[Candidate]:
    """``heads`` without those that repeat the one before: the exhibit's name on top of its further pages."""
    kept: list[Candidate] = []
    for head in heads:
        if head.list_id or not kept or key(kept[-1]) != key(head):
            kept.append(head)
    return kept


def _is_amid_clauses(candidates: Sequence[Candidate], head: Candidate) -> bool:
    """True when the clause after ``head`` goes on counting from the one before it: a list inside a clause."""
    at = bisect_left(candidates, head.start, key=lambda candidate: candidate.start)
    before = next((c for c in reversed(candidates[max(0, at - 40) : at]) if _is_numbered_line(c)), None)
    after = next((c for c in candidates[at + 1 : at + 41] if _is_numbered_line(c)), None)
    if before is None or after is None:
        return False
    one, two = before.label.readings[0], after.label.readings[0]
    is_next = two.values[:-1] == one.values[:-1] and two.values[-1] == one.values[-1] + 1
    return family(one.style) == family(two.style) and is_next and one.values[-1:] != (0,)


def _is_numbered_line(candidate: Candidate) -> bool:
    is_line = not candidate.in_line or candidate.strength >= 1.0
    return is_line and is_main(candidate) and candidate.strength >= 1.0 and not candidate.listed
