"""Which strategy reads a document, and after how many questions full context pays. No words here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import StrategyCost
from softlookup.cost.plan.strategy import StrategyName

Chosen = StrategyName | Literal["none"]


def choose(request: PlanRequest, rows: Sequence[StrategyCost]) -> Chosen:
    """Full context where it is possible, since it loses nothing; else hybrid, which sees every token; else retrieval.

    Hybrid gives way to retrieval where its first answer takes longer than ``max_seconds``, unless all the questions
    together take no longer than by retrieval. "none" when nothing is possible on the device with this model.
    """
    full, retrieval, hybrid = by_name(rows)
    if not full.obstacle:
        return "full_context"
    if not hybrid.obstacle and (
        hybrid.first_answer.value <= request.max_seconds or retrieval.obstacle or pays(request, hybrid, retrieval)
    ):
        return "hybrid"
    return "none" if retrieval.obstacle else "retrieval"


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
