"""Clauses that are named by a title instead of a number: the recitals, 本编, 本编通则."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from softlookup.documents.model import Clause

_BOOK_TITLE = re.compile(r"\S{1,12}编")
_RECITALS = re.compile(
    r"(?:recitals?|background|whereas|preliminary\s+statements?|w\s*i\s*t\s*n\s*e\s*s\s*s\s*e\s*t\s*h)\b", re.IGNORECASE
)


class TitleIndex:
    """Titles of one clause tree."""

    def __init__(self, text: str, clauses: Sequence[Clause]) -> None:
        self._text = text
        self._clauses = clauses
        self._books = [c.index for c in clauses if not c.number and _BOOK_TITLE.fullmatch(c.heading)]

    def book(self, source: int) -> tuple[int, ...]:
        """The unnumbered title before ``source`` that names a book (合同编): 本编 of a text that is one book."""
        return tuple(self._books[: bisect_left(self._books, source)][-1:])

    def headed(self, heading: str, after: int) -> tuple[int, ...]:
        """The first clause from ``after`` on that has ``heading``."""
        for clause in self._clauses[after:]:
            if clause.heading and clause.heading.strip().endswith(heading):
                return (clause.index,)
        return ()

    def recitals(self) -> int | None:
        """The clause that holds the recitals: by its heading, or by "WHEREAS" at its start."""
        for clause in self._clauses:
            words = self._text[clause.span.start : clause.span.start + 60].lstrip("#* \t\n")
            if _RECITALS.match(clause.heading or words.removeprefix(clause.number).lstrip(" .")):
                return clause.index
        return None
