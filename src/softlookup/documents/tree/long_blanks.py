"""Breaks up absurd runs of white space before the rules for clauses, terms and references see them.

Those rules allow any number of blanks between words, and a backtracking matcher takes quadratic or cubic time on a run
of thousands that no contract holds. The text itself, which is quoted and cited, is never changed.
"""

from __future__ import annotations

import re

MARK = "\0"  # in no text: readers refuse it, and no rule matches it
_LONGEST = 100
_RUN = re.compile(rf"\s{{{2 * _LONGEST},}}")


def with_marks(text: str) -> str:
    """``text`` of the same length, in long runs of white space a mark instead of every hundredth character.

    >>> len(with_marks("a" + " " * 1000 + "b")), with_marks("a   b")
    (1002, 'a   b')
    """
    return _RUN.sub(_marked, text)


def _marked(run: re.Match[str]) -> str:
    characters = list(run[0])
    characters[_LONGEST - 1 :: _LONGEST] = MARK * len(characters[_LONGEST - 1 :: _LONGEST])
    return "".join(characters)
