"""Finds the place that a person expects the answer in: a clause by its name, or words of the document.

Not for ranking: a place that is not unique is refused, since a diagnosis of the wrong one would mislead.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from softlookup.documents.addresses import clauses_named
from softlookup.documents.model import Document, Span
from softlookup.errors import UsageError
from softlookup.evidence.citation import clause_label

NOTHING = ("none", "无")
# a folded quote shorter than this is in any contract: it names nothing
_LEAST_QUOTE = 4
# what is printed like the number of a clause is one, and no quote
_LABEL = re.compile(
    r"\s*(?:(?:clause|section|article|paragraph|schedule|exhibit|annex|appendix)\s+)?"
    r"(?:\d{1,4}(?:\.\d{1,4}){0,6}\.?(?:\([A-Za-z\d]{1,5}\)){0,4}|(?:\([A-Za-z\d]{1,5}\)){1,4}"
    r"|第[零〇一二三四五六七八九十百千\d]{1,9}[编章节条款项](?:第?[（(]?[零〇一二三四五六七八九十百\d]{1,6}[)）]?[款项]?){0,3})\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Place:
    """``span`` of the document and its clause; ``is_quote`` when words were given.

    ``elsewhere`` says where the words are when the reading text does not hold them; ``span`` is then None.
    """

    named: str
    span: Span | None
    label: str
    is_quote: bool
    elsewhere: Elsewhere | None = None


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """``kind``: ``aside`` (words that the reader kept out of the text) or ``unread`` (parts that it could not read)."""

    kind: str
    where: str


def expected_place(document: Document, expect: str) -> Place | None:
    """The place that ``expect`` names; None for "none": the document does not answer the question.

    A clause first, then a quote: verbatim, else without regard to blanks, width and case, else among the words that
    are in the file but not in its text. Raises ``UsageError`` when it is nowhere or in several places.
    """
    if not expect.strip():
        raise UsageError("the expected clause is empty", "name a clause, quote its words, or say none")
    if expect.strip().casefold() in NOTHING:
        return None
    try:
        clauses = clauses_named(document, expect)
    except UsageError as error:
        unknown = error
    else:
        if len(clauses) > 1:
            raise UsageError(
                f"{len(clauses)} clauses are printed as {expect!r}", "quote the words of the one that you mean"
            )
        return Place(expect, _trimmed(document.text, clauses[0].span), clauses[0].path or expect, is_quote=False)
    if _LABEL.fullmatch(expect):  # "12" would be found inside 12,500
        raise UsageError(f"no clause {_short(expect)!r} in the document", unknown.remedy)
    found = quoted_places(document.text, expect)
    if len(found) > 1:
        raise UsageError(f"the words {_short(expect)!r} occur {len(found)} times", "quote more of the sentence")
    if found:
        label = clause_label(document, document.clause_at(found[0].start).index) if document.clauses else ""
        return Place(expect, found[0], label, is_quote=True)
    elsewhere = _elsewhere(document, expect)
    if elsewhere is None:
        raise UsageError(f"neither a clause nor words of the document: {_short(expect)!r}", unknown.remedy)
    return Place(expect, None, "", is_quote=True, elsewhere=elsewhere)


def _short(words: str) -> str:
    return words if len(words) <= 60 else words[:57] + "..."


def _trimmed(text: str, span: Span) -> Span:
    inside = text[span.start : span.end]
    start = span.start + len(inside) - len(inside.lstrip())
    return Span(start, start + len(inside.strip()))


def quoted_places(text: str, words: str) -> list[Span]:
    """Places of ``words`` in ``text``: verbatim if there are any, else without regard to blanks, width and case."""
    words = words.strip().strip('"“”')
    verbatim = [Span(at, at + len(words)) for at in _occurrences(text, words)]
    if verbatim or len(_folded(words)[0]) < _LEAST_QUOTE:
        return verbatim
    wanted, _ = _folded(words)
    folded, origins = _folded(text)
    return [Span(int(origins[at]), int(origins[at + len(wanted) - 1]) + 1) for at in _occurrences(folded, wanted)]


def _occurrences(text: str, words: str) -> list[int]:
    found, at = [], text.find(words) if words else -1
    while at >= 0:
        found.append(at)
        at = text.find(words, at + len(words))
    return found


def _folded(text: str) -> tuple[str, npt.NDArray[np.int64]]:
    """Letters without blanks, width and case, and the offset where each came from."""
    letters: list[str] = []
    origins: list[int] = []
    for offset, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character).casefold():
            if not letter.isspace():
                letters.append(letter)
                origins.append(offset)
    return "".join(letters), np.array(origins, dtype=np.int64)


def _elsewhere(document: Document, words: str) -> Elsewhere | None:
    wanted, _ = _folded(words)
    if len(wanted) < _LEAST_QUOTE:
        return None
    for aside in document.aside:
        if wanted in _folded(aside.text)[0]:
            return Elsewhere("aside", ", ".join(dict.fromkeys([*aside.flags, aside.kind, aside.where])).strip(", "))
    lost = document.coverage.skipped
    # left-out decoration (state "skipped") holds no words
    unread = [row for row in lost if row.state != "skipped"]
    return Elsewhere("unread", "; ".join(str(row) for row in unread[:3])) if unread else None
