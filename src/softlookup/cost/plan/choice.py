"""Which strategy reads a document, and after how many questions full context pays. No words here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import StrategyCost
from softlookup.cost.plan.strategy import StrategyName

Chosen = StrategyName | Literal["none"]
# where retrieval reads more than this share of a document, it finds more than windows do (contracts of 24,000 to
# 120,000 characters, docs/evidence.md)
READ_SHARE = 0.25


def choose(request: PlanRequest, rows: Sequence[StrategyCost]) -> Chosen:
    """Full context where it is possible, since it loses nothing; else hybrid, which sees every token; else retrieval.

    Retrieval comes before hybrid where it reads more than a quarter of the document: it then finds more, in less time.
    Hybrid gives way to retrieval where its first answer takes longer than ``max_seconds``, unless all the questions
    together take no longer than by retrieval. "none" when nothing is possible on the device with this model.
    """
    full, retrieval, hybrid = by_name(rows)
    if not full.obstacle:
        return "full_context"
    if reads_enough(request, retrieval):
        return "retrieval"
    if not hybrid.obstacle and (
        hybrid.first_answer.value <= request.max_seconds or retrieval.obstacle or pays(request, hybrid, retrieval)
    ):
        return "hybrid"
    return "none" if retrieval.obstacle else "retrieval"


def reads_enough(request: PlanRequest, retrieval: StrategyCost) -> bool:
    """Whether retrieval is possible and reads more than a quarter of the document."""
    return not retrieval.obstacle and retrieval.fed > READ_SHARE * request.tokens


def pays(request: PlanRequest, hybrid: StrategyCost, retrieval: StrategyCost) -> bool:
    """Whether all questions take no longer by hybrid: windows are read once, a retrieved context for every question."""
    return hybrid.total_seconds(request.questions) <= retrieval.total_seconds(request.questions)


def by_name(rows: Sequence[StrategyCost]) -> tuple[StrategyCost, StrategyCost, StrategyCost]:
    """Full context, retrieval, hybrid."""
    found = {row.name: row for row in rows}
    return found["full_context"], found["retrieval"], found["hybrid"]


def break_even(full: StrategyCost, retrieval: StrategyCost) -> float | None:
    """Q* = P_full / (each retrieved answer - each further answer on the full context); None: never on time."""
    saved = retrieval.next_answer.value - full.next_answer.value
    if saved <= 0:
        return None
    return (full.first_answer.value - full.next_answer.value) / saved
