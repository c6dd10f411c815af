"""Indexes of defined terms ("Affiliate 3.1", "Control 14.2(a)"), whose numbers are no clauses; not for definitions.

An index follows words that announce it or the head of its table, and goes on while its lines are entries: names and
section numbers without a sentence.
"""

from __future__ import annotations

import re

_ANNOUNCED = re.compile(
    r"(?:following[ ](?:capitalized[ ]|defined[ ])?terms[ ][^\n]{0,120}?"
    r"(?:corresponding|respective|indicated|opposite|set[ ]forth|specified|noted|below)"
    r"[^\n]{0,160}?\b(?:sections?|clauses?|below)\b[^\n]{0,80}"
    r"|^[ \t]*INDEX[ ]OF[ ]DEFINED[ ]TERMS[^\n]{0,40}"
    r"|^[ \t|]*(?:Defined[ ])?Terms?[ \t|]{1,40}(?:Section|Clause|Location|Defined|Where)[^\n]{0,60})$",
    re.M | re.I,
)
_HEAD = re.compile(
    r"[ \t]*(?:ARTICLE|Article|SECTION|Section|CLAUSE|Clause)[ ]{1,4}(?:[IVX]{1,6}|\d{1,3})\b(?![ ]?[(.]\w)[^\n\t]*$",
    re.M,
)
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}(?:\([A-Za-z0-9]{1,4}\))*(?![\w%])")
_SENTENCE_END = re.compile(r"[.;:。；][\"”’)]*\s*\Z")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LONGEST_ENTRY = 140
_MOST_LINES = 1_000
_MOST_FAILURES = 200  # announcements without an index that are looked at
_MOST_PLAIN = 25  # lines with names only, one below another, as a PDF prints the columns of a table
_NAME = 5  # words
_FEWEST = 4  # section numbers; fewer make no index


def index_regions(text: str) -> list[tuple[int, int]]:
    """(start, end) of every index of defined terms, without the words that announce it; in order and apart."""
    found: list[tuple[int, int]] = []
    failures = 0
    for match in _ANNOUNCED.finditer(text):
        if found and match.start() < found[-1][1]:
            continue
        end = _end(text, match.end(), _next_number(text, match.start()))
        if end is not None:
            found.append((match.end(), end))
            continue
        failures += 1
        if failures == _MOST_FAILURES:
            break
    return found


def _next_number(text: str, announced: int) -> str:
    """The number after that of the clause that announces the index: 1.63 for "1.62 Additional Definitions."; or ""."""
    line = text[text.rfind("\n", 0, announced) + 1 : announced]
    match = re.match(r"[^\w\n]{0,20}(?:Section[ ]|Clause[ ])?(\d{1,3}\.)(\d{1,3})\b", line)
    return f"{match[1]}{int(match[2]) + 1}" if match else ""


def _end(text: str, start: int, following: str) -> int | None:
    """Where the entries that begin on the line after ``start`` end; None when they are too few for an index."""
    numbers = lines = plain = 0
    end = at = start + 1
    while at < len(text) and lines < _MOST_LINES:
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop]
        if line.strip():
            if not _is_entry(line) or (
                following and re.match(rf"[ \t]*(?:Section[ ])?{re.escape(following)}[.\s]", line)
            ):
                break
            found = len(_NUMBER.findall(line))
            numbers += found
            lines += 1
            plain = 0 if found or line.rstrip()[-1:].isdigit() else plain + 1
            end = end if plain else stop
            if plain > _MOST_PLAIN:
                break
        at = stop + 1
    return end if numbers >= _FEWEST and 4 * numbers >= lines else None


def _is_entry(line: str) -> bool:
    if len(line) > _LONGEST_ENTRY or _HEAD.match(line):
        return False
    words = _WORD.findall(line)
    if len(words) > _NAME and 2 * sum(word.islower() for word in words) > len(words):
        return False  # a sentence that goes on below
    return not _SENTENCE_END.search(line) or not _WORD.search(line)
