"""The text of ``--answers``: a file, or stdin for ``-``."""

from __future__ import annotations

import sys
from pathlib import Path

from softlookup.errors import UsageError
from softlookup.learn.quiz.answers import MOST_CHARACTERS


def answers_text(name: str) -> str:
    """At most a million characters. Raises ``UsageError`` for a file that cannot be read or is no text."""
    most = MOST_CHARACTERS + 1
    try:
        if name == "-":
            return "" if sys.stdin is None else sys.stdin.read(most)
        with Path(name).open(encoding="utf-8-sig") as stream:
            return stream.read(most)
    except UnicodeDecodeError as error:
        raise UsageError(f"the answers in {name} are not UTF-8 text", "save the file as UTF-8") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the answers in {name} cannot be read ({reason})", "give a file, or - for stdin") from error
