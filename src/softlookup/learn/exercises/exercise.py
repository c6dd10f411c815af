"""What an exercise is: parts with numbers to find, which are graded, and open ones that the reader scores himself."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from softlookup.learn.quiz.explain import Explanation, explain
from softlookup.learn.quiz.question import Asked, Draw, Language, Sheet, Text
from softlookup.learn.quiz.topics import COST, LOOKUP, MASKS, RANK, SHAPES

# the lesson that prepares each exercise
_LESSONS = {1: LOOKUP, 2: COST, 3: SHAPES, 4: MASKS, 5: RANK}


@dataclass(frozen=True, slots=True)
class Open:
    """A question without a key: the model answer, which quotes what ``code`` finds, and points to tick."""

    text: Text
    model_answer: Text
    code: str
    points: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Exercise:
    """``make`` writes the parts from sizes: those of the page when it gets None, else drawn ones."""

    number: int
    title: Text
    make: Callable[[Draw | None], tuple[Sheet | Open, ...]]

    def parts(self, seed: int, language: Language) -> tuple[Part, ...]:
        """The parts at the sizes of ``seed``, in ``language``."""
        draw = random.Random(f"{seed}/exercise-{self.number}") if seed else None
        return tuple(
            Part(f"{self.number}{'abcdef'[place]}", self.number, language, each)
            for place, each in enumerate(self.make(draw))
        )


@dataclass(frozen=True, slots=True)
class Part:
    """One part in one language."""

    id: str
    exercise: int
    language: Language
    body: Sheet | Open

    @property
    def text(self) -> str:
        """The words of the part."""
        return self.body.text.say(self.language)

    @property
    def points(self) -> tuple[str, ...]:
        """The check list of an open part; empty for one that is graded."""
        return tuple(each.say(self.language) for each in self.body.points) if isinstance(self.body, Open) else ()

    @property
    def asked(self) -> Asked | None:
        """The part as a numeric question; None for an open one."""
        if isinstance(self.body, Open):
            return None
        return Asked(self.id, _LESSONS[self.exercise], "number", self.language, self.body, (), "")

    def explain(self) -> Explanation:
        """Run the part's code and say what it shows: the reason of a number, or the model answer."""
        body = self.body
        sheet = Sheet(body.text, body.code, body.model_answer) if isinstance(body, Open) else body
        return explain(Asked(self.id, _LESSONS[self.exercise], "number", self.language, sheet, (), ""))
