"""Long lines of the human-readable output, broken at blanks."""

from __future__ import annotations

import textwrap

WIDTH = 100


def wrapped(first: str, text: str) -> list[str]:
    """``text`` in lines of at most 100 characters behind ``first``; further lines are indented by six."""
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * 6, break_on_hyphens=False) or [
        first.rstrip()
    ]
