"""All questions, in the order of the lessons. Importing it loads no torch: only explanations do."""

from __future__ import annotations

from softlookup.learn.quiz.bank import (
    account,
    cache,
    cost,
    evidence,
    faults,
    heads,
    lookup,
    masks,
    positions,
    scale,
    tiles,
)

QUESTIONS = tuple(
    sorted(
        (
            question
            for part in (lookup, scale, masks, heads, tiles, cost, cache, positions, faults, evidence, account)
            for question in part.QUESTIONS
        ),
        key=lambda question: question.lesson,
    )
)
