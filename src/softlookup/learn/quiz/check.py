"""Finds faults of the bank itself: a wrong key, options that are not distinct, a text that lacks a language.

The right answer of a question is written as a closed form; here it is compared with what its code finds by
softlookup's functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from softlookup.learn.quiz.explain import explained, figure_text, run_code
from softlookup.learn.quiz.grade import grade
from softlookup.learn.quiz.question import LETTERS, Question, Sheet, Text


def faults(question: Question, seed: int) -> list[str]:
    """What is wrong with ``question`` under ``seed``; empty for a sound one."""
    asked = question.ask(seed, "en")
    sheet, names = asked.sheet, run_code(asked.sheet)
    found = [*_key_faults(question, sheet, names), *_text_faults(sheet)]
    for each in (asked, question.ask(seed, "zh")):
        said = explained(each, names)
        if said.answer not in said.text or "{" in said.text:
            found.append(f"the explanation does not say what the code found: {said.text}")
    if sheet.options:
        for letter in LETTERS[: len(sheet.options)]:
            verdict = grade(asked, letter).verdict
            if (verdict == "right") != (letter == asked.letter):
                found.append(f"{letter} is graded {verdict}, the key is {asked.letter}")
    else:
        typed = figure_text(sheet.right) if isinstance(sheet.right, tuple) else repr(sheet.right)
        if (verdict := grade(asked, typed).verdict) != "right":
            found.append(f"the right answer {typed} is graded {verdict}")
    return [f"{question.id}, seed {seed}: {fault}" for fault in found]


def _key_faults(question: Question, sheet: Sheet, names: dict[str, object]) -> Iterator[str]:
    answer = names["answer"]
    if question.kind == "number":
        if not _agree(sheet, answer):
            yield f"the key says {sheet.right}, the code finds {answer}"
    elif question.kind == "truth":
        if answer is not sheet.right:
            yield f"the key says {sheet.right}, the code finds {answer}"
        begins = ("True:", "对：") if sheet.right else ("False:", "错：")
        if not (sheet.options[0].en.startswith(begins[0]) and sheet.options[0].zh.startswith(begins[1])):
            yield "the first option has the other verdict"
    elif not eval(sheet.proof, dict(names)):  # noqa: S307 - text of the bank
        yield f"{sheet.proof} does not hold, the code finds {answer}"


def _agree(sheet: Sheet, answer: object) -> bool:
    """Whether the key is what the code finds: where it draws a sample, within the tolerance that a reader has."""
    wanted = sheet.right if isinstance(sheet.right, tuple) else (sheet.right,)
    found = answer if isinstance(answer, list) else [answer]
    return len(wanted) == len(found) and all(
        isinstance(one, int | float)
        and isinstance(other, int | float)
        and math.isclose(one, other, rel_tol=sheet.tolerance or 1e-9, abs_tol=1e-9)
        for one, other in zip(found, wanted, strict=True)
    )


def _text_faults(sheet: Sheet) -> Iterator[str]:
    for text in (sheet.text, sheet.why, *sheet.options):
        yield from _language_faults(text)
    for language in ("en", "zh"):
        said = [option.en if language == "en" else option.zh for option in sheet.options]
        if len(set(said)) != len(said):
            yield f"options are not distinct: {said}"


def _language_faults(text: Text) -> Iterator[str]:
    if not text.en.strip() or not text.zh.strip():
        yield f"a language is missing: {text}"
    if any("\u4e00" <= each <= "\u9fff" for each in text.en):
        yield f"Chinese in the English text: {text.en}"
    words = [word for word in text.en.split() if len(word) > 3 and word.isalpha()]
    if len(words) > 2 and not any("\u4e00" <= each <= "\u9fff" for each in text.zh):
        yield f"no Chinese in the Chinese text: {text.zh}"
