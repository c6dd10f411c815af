"""What a question is: drawn sizes, texts in both languages, the right answer, and code that shows it. No grading here.

The right answer of a numeric question is a closed form written beside its text; ``code`` computes it a second time by
softlookup's own functions, so that a wrong key cannot hide (``check.py``).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

Language = Literal["en", "zh"]
Draw: TypeAlias = random.Random
Kind = Literal["choice", "number", "truth", "mistake"]
KINDS: tuple[Kind, ...] = ("choice", "number", "truth", "mistake")
# what a number counts: decides which units are read and which near misses are named
Counts = Literal["", "multiply-adds", "FLOPs", "bytes", "ms", "share"]
Right: TypeAlias = float | tuple[float, ...] | bool | None
LETTERS = "ABCDEFGH"


@dataclass(frozen=True, slots=True)
class Text:
    """The same words in English and Chinese."""

    en: str
    zh: str

    def say(self, language: Language) -> str:
        """The words in ``language``."""
        return self.zh if language == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Sheet:
    """A question at drawn sizes.

    ``right``: a number, several numbers, or for ``truth`` whether the claim holds. ``options``: the right one first.
    ``code`` is Python that sets ``answer`` by calling softlookup; ``why`` says what it shows. ``proof``: an expression
    over the names of ``code`` that holds when the first option is the right one. ``tolerance`` is relative;
    0 asks for the exact number. ``shown``: lines printed under the text, a small matrix.
    """

    text: Text
    code: str
    why: Text
    right: Right = None
    options: tuple[Text, ...] = ()
    proof: str = ""
    tolerance: float = 0.02
    counts: Counts = ""
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """One entry of the bank; ``make`` writes its sheet from drawn sizes."""

    id: str
    lesson: int
    kind: Kind
    make: Callable[[Draw], Sheet]

    def ask(self, seed: int, language: Language) -> Asked:
        """The question as a reader sees it: sizes and the order of the options follow from ``seed`` alone."""
        sheet = self.make(random.Random(f"{seed}/{self.id}"))
        order = list(range(len(sheet.options)))
        random.Random(f"{seed}/{self.id}/options").shuffle(order)
        options = tuple(sheet.options[place].say(language) for place in order)
        letter = LETTERS[order.index(0)] if order else ""
        return Asked(self.id, self.lesson, self.kind, language, sheet, options, letter)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in one language. ``letter``: the right option, empty for a number."""

    id: str
    lesson: int
    kind: Kind
    language: Language
    sheet: Sheet
    options: tuple[str, ...]
    letter: str

    @property
    def text(self) -> str:
        """The question's words."""
        return self.sheet.text.say(self.language)


def true_because(en: str, zh: str) -> Text:
    """An option of a ``truth`` question."""
    return Text(f"True: {en}", f"对：{zh}")


def false_because(en: str, zh: str) -> Text:
    """An option of a ``truth`` question."""
    return Text(f"False: {en}", f"错：{zh}")
