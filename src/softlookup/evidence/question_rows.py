"""Which tokens of a question are read as evidence: in English those of words that say what is asked.

Rows of grammar ("what is the"), of punctuation and of words that frame any question about a contract ("agreement")
look at the template and at headings; without them the right passage comes first more often. In Chinese all rows
are read: there leaving any out finds less (both in `docs/evidence.md`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from softlookup.documents.language import language_of
from softlookup.retrieval.bm25 import stem
from softlookup.retrieval.function_words import FRAME_TERMS, STOP_WORDS

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")


def content_rows(question: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Indices of the tokens that touch a word of content; all of them when none does, and for Chinese.

    ``offsets`` are the character ranges of the question's tokens in ``question``.

    >>> content_rows("Who may assign it?", [(0, 3), (3, 7), (7, 14), (14, 17), (17, 18)])
    (2,)
    """
    if language_of(question) == "zh":
        return tuple(range(len(offsets)))
    content = set(_content(question))
    rows = tuple(
        row for row, (start, end) in enumerate(offsets) if any(place in content for place in range(start, end))
    )
    return rows or tuple(range(len(offsets)))


def _content(question: str) -> Iterator[int]:
    """Places of the characters of content words."""
    for match in _WORD.finditer(question):
        word = match.group().lower()
        if word not in STOP_WORDS and stem(word) not in FRAME_TERMS:
            yield from range(match.start(), match.end())
