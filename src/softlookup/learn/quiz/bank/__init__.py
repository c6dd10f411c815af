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
    rank,
    scale,
    scoring,
    tiles,
)

_PARTS = (lookup, scale, masks, heads, tiles, cost, account, cache, positions, rank, scoring, evidence, faults)
QUESTIONS = tuple(
    sorted((question for part in _PARTS for question in part.QUESTIONS), key=lambda question: question.lesson)
)
