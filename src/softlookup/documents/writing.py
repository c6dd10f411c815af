"""Which language a text may be in, so that patterns of the other need not run; not a language detector."""

from __future__ import annotations

import re

_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_ENGLISH = re.compile(r"\b(?:the|means?|shall|this|such|under|of|and|an?)\b|[a-z]{2}\s[a-z]{2,20}\s[a-z]{2}")


def has_chinese(text: str) -> bool:
    """Whether ``text`` holds a Chinese character: without one no Chinese pattern can match."""
    return _CHINESE.search(text) is not None


def has_english(text: str) -> bool:
    """Whether ``text`` may hold an English sentence: a Chinese one with Latin names alone does not."""
    return not has_chinese(text) or _ENGLISH.search(text) is not None
