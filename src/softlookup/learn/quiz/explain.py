"""Explanations that run: the code of a sheet is executed at the asked sizes, and what it found is printed.

The code is text of this package, never of a user or a file.
"""

from __future__ import annotations

import io
import math
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from softlookup.learn.quiz.question import Asked, Language, Sheet, Text

_BOOL = {True: Text("true", "对的"), False: Text("false", "错的")}


@dataclass(frozen=True, slots=True)
class Explanation:
    """``code`` as it ran, what it ``printed``, its ``answer``, and ``text`` that says what this shows."""

    code: str
    printed: str
    answer: str
    text: str


def run_code(sheet: Sheet) -> dict[str, Any]:
    """The names that the sheet's code leaves behind, ``answer`` among them, and what it printed as ``printed``."""
    names: dict[str, Any] = {}
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(sheet.code, "<explanation>", "exec"), names)  # noqa: S102 - our own text, see above
    return names | {"printed": said.getvalue().rstrip()}


def explain(asked: Asked) -> Explanation:
    """Run the code of a question; the text contains what it found."""
    return explained(asked, run_code(asked.sheet))


def explained(asked: Asked, names: dict[str, Any]) -> Explanation:
    """The explanation once the code has run and left ``names``."""
    answer = figure_text(names["answer"], asked.language)
    text = asked.sheet.why.say(asked.language).replace("{answer}", answer)
    return Explanation(asked.sheet.code, names["printed"], answer, text)


def figure_text(value: Any, language: Language = "en") -> str:
    """A computed value as it is printed: whole numbers in full, others with four significant digits.

    >>> figure_text(67108864), figure_text(0.66976), figure_text([0.5, 2])
    ('67,108,864', '0.6698', '[0.5, 2]')
    """
    if isinstance(value, list | tuple):
        return "[" + ", ".join(figure_text(each, language) for each in value) + "]"
    if isinstance(value, bool):
        return _BOOL[value].say(language)
    if not isinstance(value, int | float) or not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e18:
        whole = f"{int(value):,}"
        return whole if abs(value) < 1e9 else f"{whole} ({value:.4g})"
    return f"{value:.4g}"
