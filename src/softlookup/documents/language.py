"""English or Chinese: the language that a question or a document is answered in; no detector of others."""

from __future__ import annotations

from typing import Literal

Language = Literal["en", "zh"]


def language_of(text: str) -> Language:
    """``zh`` when Han characters make up at least a fifth of the letters, else ``en``."""
    letters = [character for character in text if character.isalpha()]
    han = sum("\u3400" <= character <= "\u9fff" for character in letters)
    return "zh" if letters and han >= 0.2 * len(letters) else "en"
