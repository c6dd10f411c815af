"""What lines have in common from page to page; looks at their words only."""

from __future__ import annotations

import re
from collections.abc import Collection

from softlookup.documents.readers.pdf.breaks import opens_label

BARE = re.compile(r"\d{1,4}(?=\s)")  # a number without a point before words
_DIGITS = re.compile(r"\d+")
_ROMAN_END = re.compile(r"(?<![^\s\-–—|])[ivxlc]{1,7}(?![^\s\-–—|])")


def pattern_of(text: str) -> str:
    """The line without its numbers: what recurs from page to page. A label keeps them."""
    plain = " ".join(text.split())
    return plain if is_label(plain) else _DIGITS.sub("#", _ROMAN_END.sub("#", plain))


def is_label(text: str) -> bool:
    """True for a line with a clause label; a bare number before a word may as well be that of the page."""
    return opens_label(text) and not BARE.match(text)


def recurs(pattern: str, on: Collection[int]) -> bool:
    """True for words that stand ``on`` at least three pages, and on enough of those between."""
    return len(on) >= 3 and len(on) >= 0.3 * (max(on) - min(on) + 1) and _names(pattern)


def _names(pattern: str) -> bool:
    """False for what recurs by chance: "None", "Title:", redaction marks."""
    letters = sum(character.isalpha() for character in pattern)
    return (letters >= 6 and not pattern.endswith(":")) or ("#" in pattern and letters > 0)
