"""Planted questions: contracts of our own whose questions name the clause that answers them; measures nothing.

A text is a list of paragraphs between blank lines, each one passage. A line below a paragraph that begins with
``?`` (or ``？``) is a question which that paragraph answers, with ``?~`` one in other words than the clause uses;
the paragraphs without questions are distractors: same subject, another party, amount or event. The texts are part
of the method: a change of them changes profiles, so it raises ``PROFILE_VERSION``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files

from softlookup.documents.language import Language
from softlookup.documents.model import Span

_MARKS = ("?", "？")
_PARAPHRASED = "~"


@dataclass(frozen=True, slots=True)
class PlantedQuestion:
    """``gold`` is the index of the passage that answers; ``paraphrased`` when it shares few words with it."""

    text: str
    gold: int
    paraphrased: bool


@dataclass(frozen=True, slots=True)
class PlantedContract:
    """``text`` as the model reads it, its passages (one per paragraph, in order) and its questions."""

    name: str
    language: Language
    text: str
    passages: tuple[Span, ...]
    questions: tuple[PlantedQuestion, ...]


def planted_contracts() -> tuple[PlantedContract, ...]:
    """Every planted contract, by file name: English ones first."""
    folder = files(__name__)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".txt"))
    return tuple(parse_planted(name.removesuffix(".txt"), (folder / name).read_text("utf-8")) for name in names)


def parse_planted(name: str, source: str) -> PlantedContract:
    """A contract from its file. Raises ``ValueError`` for a question without a paragraph or a wrong name."""
    language: Language = "zh" if name.startswith("zh_") else "en"
    paragraphs: list[str] = []
    questions: list[PlantedQuestion] = []
    for block in source.split("\n\n"):
        lines = block.strip().splitlines()
        clause = [line for line in lines if not line.startswith(_MARKS)]
        asked = [line for line in lines if line.startswith(_MARKS)]
        if asked and not clause:
            raise ValueError(f"{name}: the question {asked[0]!r} stands below no paragraph")
        if clause:
            paragraphs.append("\n".join(clause))
        for line in asked:
            words = line[1:].removeprefix(_PARAPHRASED).strip()
            questions.append(PlantedQuestion(words, len(paragraphs) - 1, line[1:].startswith(_PARAPHRASED)))
    spans, start = [], 0
    for paragraph in paragraphs:
        spans.append(Span(start, start + len(paragraph)))
        start += len(paragraph) + 2
    return PlantedContract(name, language, "\n\n".join(paragraphs), tuple(spans), tuple(questions))
