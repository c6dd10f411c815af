"""The choice of a strategy in words: why, after how many questions full context pays, and what would help most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from softlookup.cost.plan.changes import change_that_helps
from softlookup.cost.plan.choice import Chosen, break_even, by_name, choose, reads_enough
from softlookup.cost.plan.plan_texts import say, seconds_text
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import STRATEGIES, StrategyCost
from softlookup.cost.plan.strategy import StrategyName
from softlookup.cost.pool import Pool
from softlookup.errors import CapacityError, UsageError

AskedStrategy = StrategyName | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice; ``break_even``: questions from which full context takes less time than retrieval, None for never."""

    strategy: Chosen
    reason: str
    break_even: float | None
    change: str

    def to_dict(self) -> dict[str, Any]:
        """The decision for JSON."""
        return {"strategy": self.strategy, "reason": self.reason, "break_even_questions": self.break_even,
                "change": self.change}  # fmt: skip


def decide(
    request: PlanRequest, pool: Pool, rows: Sequence[StrategyCost], strategy: AskedStrategy = "auto"
) -> Decision:
    """What :func:`softlookup.cost.plan.choice.choose` chooses, or ``strategy`` where one is asked for.

    Raises ``CapacityError`` with the figures when that one is not possible, ``UsageError`` for an unknown name.
    """
    chosen = choose(request, rows) if strategy == "auto" else _asked(rows, strategy)
    full, retrieval, _ = by_name(rows)
    reason = _reason(request, rows, chosen)
    if strategy != "auto":
        parts = (say(request.language, "asked"), _facts(request, rows, chosen))
        reason = say(request.language, "join").join(part for part in parts if part)
    return Decision(chosen, reason, break_even(full, retrieval), change_that_helps(request, pool, rows, chosen))


def _asked(rows: Sequence[StrategyCost], strategy: AskedStrategy) -> StrategyName:
    for row in rows:
        if row.name == strategy:
            if row.obstacle:
                others = [other.name for other in rows if not other.obstacle]
                remedy = f"use {' or '.join(others)}" if others else "use a smaller model or a device with more memory"
                raise CapacityError(f"{strategy} is not possible: {row.obstacle}", remedy)
            return row.name
    names = ", ".join(("auto", *STRATEGIES))
    raise UsageError(f"the strategy {strategy!r} is not known", f"use one of {names}")


def _reason(request: PlanRequest, rows: Sequence[StrategyCost], chosen: Chosen) -> str:
    language = request.language
    full, retrieval, hybrid = by_name(rows)
    parts = [] if chosen in ("full_context", "none") else [say(language, "no_full", obstacle=full.obstacle)]
    limit = {"seconds": seconds_text(hybrid.first_answer.value, language),
             "limit": seconds_text(request.max_seconds, language)}  # fmt: skip
    if chosen == "none":
        device, name = request.device.name, request.model.shape.name
        return say(language, "none", name=name, device=device, obstacle=retrieval.obstacle)
    if chosen == "retrieval":
        if hybrid.obstacle:
            parts.append(say(language, "no_hybrid", obstacle=hybrid.obstacle))
        elif reads_enough(request, retrieval):
            parts.append(say(language, "reads_enough", share=retrieval.fed / request.tokens))
        else:
            parts.append(say(language, "slow", **limit))
        parts.append(say(language, "retrieves"))
    elif chosen == "hybrid" and hybrid.first_answer.value > request.max_seconds and not retrieval.obstacle:
        parts.append(say(language, "slow_but_pays", **limit))
    elif chosen == "hybrid" and hybrid.first_answer.value > request.max_seconds:
        parts.append(say(language, "too_slow_alone", obstacle=retrieval.obstacle, **limit))
    elif chosen == "hybrid":
        parts.append(say(language, "sees_all", **limit))
    return say(language, "join").join([*parts, _facts(request, rows, chosen)]).removesuffix(say(language, "join"))


def _facts(request: PlanRequest, rows: Sequence[StrategyCost], chosen: Chosen) -> str:
    """Figures that count for the choice: what full context is worth beside retrieval, and all questions together."""
    language = request.language
    full, retrieval, hybrid = by_name(rows)
    parts = []
    if chosen == "full_context":
        parts += [say(language, "fits", tokens=request.tokens), _versus(request, break_even(full, retrieval))]
    if request.questions > 1 and chosen in ("full_context", "hybrid") and not retrieval.obstacle:
        own = full if chosen == "full_context" else hybrid
        mine, retrieved = (seconds_text(row.total_seconds(request.questions), language) for row in (own, retrieval))
        parts.append(say(language, "totals", questions=request.questions, chosen=mine, retrieval=retrieved))
    return say(language, "join").join(parts)


def _versus(request: PlanRequest, crossing: float | None) -> str:
    if crossing is None:
        return say(request.language, "never")
    if crossing <= 1:
        return say(request.language, "at_once")
    return say(request.language, "break_even", crossing=math.ceil(crossing))
