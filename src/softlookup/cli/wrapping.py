"""Long lines of the human-readable output, broken at blanks, or between Chinese characters."""

from __future__ import annotations

import re
import textwrap
import unicodedata

WIDTH = 100
# a wide character with the punctuation that must not begin a line, or a word of others with its blank
_PART = re.compile(r"[\u2e80-\uffef][，。；：、？！）》」』”]*|[^\s\u2e80-\uffef]+\s*|\s+")


def wrapped(first: str, text: str) -> list[str]:
    """``text`` in lines of at most 100 characters behind ``first``; further lines are indented by six."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * 6, break_on_hyphens=False) or [
        first.rstrip()
    ]


def columns(text: str) -> int:
    """Columns of ``text`` on a terminal: two for a Chinese character."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def wrapped_wide(first: str, text: str, width: int, indent: int) -> list[str]:
    """``text`` behind ``first`` in lines of at most ``width`` columns, further ones indented; a long word stands out.

    Lines break at blanks and beside wide characters, but never before closing punctuation.
    """
    lines, line, empty = [], first, True
    for part in re.findall(_PART, text):
        if not empty and columns(line) + columns(part.rstrip()) > width:
            lines.append(line.rstrip())
            line, empty = " " * indent, True
        line, empty = line + (part.lstrip() if empty else part), False
    return [*lines, line.rstrip()]
