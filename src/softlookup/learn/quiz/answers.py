"""Reads a file of answers: a JSON list, a JSON object by id, or one answer per line. The file is hostile."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from softlookup.errors import UsageError

MOST_CHARACTERS = 1_000_000
_REMEDY = "give a JSON list, a JSON object by question id, or one answer per line"


def parse_answers(text: str, ids: Sequence[str]) -> dict[str, str]:
    """What was answered, by question id; an empty text where nothing was. Raises ``UsageError``."""
    if len(text) > MOST_CHARACTERS:
        raise UsageError(f"the answers are longer than {MOST_CHARACTERS:,} characters", _REMEDY)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if _looks_like_json(text):
            raise UsageError("the answers start like JSON but are not valid JSON", _REMEDY) from None
        value = None
    if isinstance(value, dict):
        unknown = sorted(set(value) - set(ids))
        if unknown:
            raise UsageError(
                f"there is no question {unknown[0][:40]!r} among those asked", "use the ids that --json prints"
            )
        return {each: _typed(value.get(each)) for each in ids}
    given = [_typed(each) for each in value] if isinstance(value, list) else text.splitlines()
    while given and not given[-1].strip():
        given.pop()
    if len(given) > len(ids):
        raise UsageError(f"{len(given)} answers were given to {len(ids)} questions", _REMEDY)
    return dict(zip(ids, [*given, *[""] * (len(ids) - len(given))], strict=True))


def _looks_like_json(text: str) -> bool:
    """No typed answer starts with a brace, or with a bracket before a quote or a line's end."""
    return re.match(r'\s*(\{|\[[ \t\r]*["\n])', text) is not None


def _typed(value: Any) -> str:
    """A JSON value as somebody would have typed it."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        raise UsageError("an answer is a JSON object", _REMEDY)
    return json.dumps(value)[:10_000]
