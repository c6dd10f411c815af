"""Stretches of text in quotation marks that print clauses of another document, or new ones; not for defined terms.

An amendment says: Clause 4 is replaced by: “4. Rent ... 4.1 ...”. The labels in it are no clauses of the amendment.
A stretch counts when the quotation opens a paragraph with a label, or follows words that lead to new wording.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from softlookup.documents.tree.candidates import Candidate
from softlookup.documents.tree.numbering import label_at

_MARKS = re.compile(r"[“”\"「」『』]")
_OPENING = "“「『"
_CLOSING = "”」』"
_LEADING = re.compile(
    r"(?i:\b(?:replac|amend|insert|add(?:ed|ing|s)?\b|substitut|restat|delet|read|includ|follow|vari)\w{0,8}"
    r"|修改|变更|替换|增加|新增|补充|调整|更改|改为|如下|修订)[^“”\"]{0,200}(?:[:：]|为|\bwith|\bby|\bfollowing)\s{0,9}\Z"
)
_LINE_START = re.compile(r"(?:\A|\n)[^\S\n]*(?:[>#*_•][^\S\n]*){0,4}\Z")
_ENDS_PARAGRAPH = re.compile(r"[\])）.,;:。；，]{0,3}(?:[ ]?(?:and|or|以及|及|和))?[^\S\n]*(?:\n|\Z)")
_FINAL = ".;:,!?。；：，！？"
_REACH = 40_000  # characters of the longest quotation
_MOST_MARKS = 2_000  # marks inside it
_MOST_FAILURES = 200  # quotations without an end that are looked at; more are no amendment's


def quoted_regions(text: str, folded: str) -> list[tuple[int, int]]:
    """(start, end) of every quotation that prints clauses, in order; ``folded`` is ``text.translate(FOLD)``."""
    marks = [match.start() for match in _MARKS.finditer(text)]
    found: list[tuple[int, int]] = []
    failures, at = 0, 0
    while at < len(marks) and failures < _MOST_FAILURES:
        end_at = None
        if _is_opening(text, marks[at]) and _leads(text, folded, marks[at]):
            end_at = _end(text, folded, marks, at)
            failures += end_at is None
        if end_at is None:
            at += 1
        else:
            found.append((marks[at], marks[end_at]))
            at = end_at + 1
    return found


def apart_from(candidates: Sequence[Candidate], regions: Sequence[tuple[int, int]]) -> list[Candidate]:
    """``candidates`` without those inside ``regions``; a number that the format states stays."""
    kept: list[Candidate] = []
    at = 0
    for candidate in candidates:
        while at < len(regions) and regions[at][1] <= candidate.start:
            at += 1
        if candidate.list_id or at == len(regions) or candidate.start < regions[at][0]:
            kept.append(candidate)
    return kept


def _is_opening(text: str, place: int) -> bool:
    if text[place] != '"':
        return text[place] in _OPENING
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return (not before or before.isspace() or before in "([（：:") and bool(after) and not after.isspace()


def _leads(text: str, folded: str, place: int) -> bool:
    """True when the quotation at ``place`` opens a paragraph with a label, or is led to as new wording."""
    before = text[max(0, place - 260) : place]
    is_labelled = label_at(folded, place + 1, text) is not None
    return (is_labelled and bool(_LINE_START.search(before[-40:]))) or bool(_LEADING.search(before))


def _end(text: str, folded: str, marks: Sequence[int], first: int) -> int | None:
    """Index of the mark that closes the quotation of mark ``first``; None when none does."""
    depth = 1
    for at in range(first + 1, min(len(marks), first + _MOST_MARKS)):
        place = marks[at]
        if place - marks[first] > _REACH:
            return None
        if _is_opening(text, place):
            if label_at(folded, place + 1, text) and _LEADING.search(text[max(0, place - 260) : place]):
                return None  # the next new clause: the end of this quotation was forgotten
            depth += not _opens_paragraph(text, marks, at)
        elif depth > 1:
            depth -= 1
        elif text[place] != '"' or _may_close(text, marks[first], place):
            return at
    return None


def _opens_paragraph(text: str, marks: Sequence[int], at: int) -> bool:
    """True for a mark that opens a further paragraph of a long quotation and has no end of its own."""
    place = marks[at]
    if not _LINE_START.search(text[max(0, place - 40) : place]):
        return False
    line_end = text.find("\n", place)
    line_end = len(text) if line_end < 0 else line_end
    closes = at + 1 < len(marks) and marks[at + 1] < line_end and not _is_opening(text, marks[at + 1])
    return not closes or bool(_ENDS_PARAGRAPH.match(text, marks[at + 1] + 1))


def _may_close(text: str, start: int, place: int) -> bool:
    """True when a straight mark can end the quotation: on its first line, after a sentence or at a paragraph's end."""
    return (
        "\n" not in text[start : min(place, start + 2000)]
        or text[place - 1] in _FINAL
        or bool(_ENDS_PARAGRAPH.match(text, place + 1))
    )
