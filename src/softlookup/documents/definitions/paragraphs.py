"""Paragraphs that define one term each, as clauses of their own: lists inside them count for themselves.

Only for the shape of the tree; what is a defined term and where it is used says ``definitions.py``.
"""

from __future__ import annotations

import re

_DEFINING = re.compile(
    r"(?:^[ \t>*_#\u2022]*|(?<=[.;])[ ]{1,9})[“\"](?:\*\*|__)?(?P<term>[^”\"\n]{1,80})(?:\*\*|__)?[”\"][*_]*"
    r"(?:[^\n.;:”\"“]{0,60}?"
    r"[ ](?:means?|shall mean|will mean|has|have|shall have|refers?|includes?|is defined)\b|(?:是|系|即)?指)",
    re.M,
)
_FEWEST = 3  # fewer make no list of definitions


def definition_starts(text: str) -> list[tuple[int, str]]:
    """(offset, term) of every line that begins by defining a quoted term; none when there are too few."""
    found = []
    for match in _DEFINING.finditer(text):
        start = match.start() + len(match[0]) - len(match[0].lstrip())
        found.append((start, match["term"].strip(" *_,")))
    return found if len(found) >= _FEWEST else []
