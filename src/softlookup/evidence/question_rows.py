"""Which tokens of a question are read as evidence: those of words that say what is asked.

Rows of grammar ("what is the"), of punctuation and of words that frame any question about a contract ("agreement",
合同) look at the template and at headings; without them the right passage comes first more often (see
`docs/evidence.md`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from softlookup.retrieval.bm25 import stem
from softlookup.retrieval.function_words import FRAME_TERMS, FUNCTION_CHARACTERS, STOP_WORDS

_WORD = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|[^\W_]+(?:['’][^\W\d_]+)*")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


def content_rows(question: str, offsets: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Indices of the tokens that touch a word of content; all of them when none does.

    ``offsets`` are the character ranges of the question's tokens in ``question``.

    >>> content_rows("Who may assign it?", [(0, 3), (3, 7), (7, 14), (14, 17), (17, 18)])
    (2,)
    """
    content = set(_content(question))
    rows = tuple(
        row for row, (start, end) in enumerate(offsets) if any(place in content for place in range(start, end))
    )
    return rows or tuple(range(len(offsets)))


def _content(question: str) -> Iterator[int]:
    """Places of the characters of content words."""
    for match in _WORD.finditer(question):
        word = match.group().lower()
        if _HAN.match(word):
            frame = {place for i in range(len(word) - 1) if word[i : i + 2] in FRAME_TERMS for place in (i, i + 1)}
            yield from (
                match.start() + place
                for place, character in enumerate(word)
                if place not in frame and character not in FUNCTION_CHARACTERS
            )
        elif word not in STOP_WORDS and stem(word) not in FRAME_TERMS:
            yield from range(match.start(), match.end())
