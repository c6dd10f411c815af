"""Which strategy, why, after how many questions full context pays, and the one change that would help most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from softlookup.cost.kv_cache import KVDtypes, sequence_bytes
from softlookup.cost.pool import Pool
from softlookup.cost.request import PlanRequest
from softlookup.cost.seconds import weights_read
from softlookup.cost.strategies import StrategyCost, StrategyName


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice; ``break_even``: questions from which full context takes less time than retrieval, None for never."""

    strategy: StrategyName | Literal["none"]
    reason: str
    break_even: float | None
    change: str

    def to_dict(self) -> dict[str, Any]:
        """The decision for JSON."""
        return {"strategy": self.strategy, "reason": self.reason, "break_even_questions": self.break_even,
                "change": self.change}  # fmt: skip


def decide(request: PlanRequest, pool: Pool, rows: Sequence[StrategyCost]) -> Decision:
    """Full context where it is possible, since it loses nothing; then hybrid, which sees everything; then retrieval.

    "none" when nothing is possible on the device with this model.
    """
    full, retrieval, hybrid = (next(row for row in rows if row.name == name)
                               for name in ("full_context", "retrieval", "hybrid"))  # fmt: skip
    crossing = break_even(full, retrieval)
    if not full.obstacle:
        fits = f"the {request.tokens:,} tokens fit window and memory, and nothing is lost"
        reason = f"{fits}; {_versus(crossing)}"
        return Decision("full_context", reason, crossing, _change(request, pool, full))
    if not hybrid.obstacle:
        reason = f"full context is not possible: {full.obstacle}; overlapping windows see every token"
        return Decision("hybrid", reason, crossing, _change(request, pool, full))
    if not retrieval.obstacle:
        reason = f"full context is not possible: {full.obstacle}; neither is hybrid: {hybrid.obstacle}"
        return Decision("retrieval", reason, crossing, _change(request, pool, full))
    reason = f"no strategy runs {request.model.shape.name} on {request.device.name}: {retrieval.obstacle}"
    return Decision("none", reason, crossing, "a smaller or quantised model, or a device with more memory")


def break_even(full: StrategyCost, retrieval: StrategyCost) -> float | None:
    """Q* = P_full / (each retrieved answer - each further answer on the full context); None: never on time."""
    saved = retrieval.next_answer.value - full.next_answer.value
    if saved <= 0:
        return None
    return (full.first_answer.value - full.next_answer.value) / saved


def _versus(crossing: float | None) -> str:
    if crossing is None:
        return "on time alone retrieval wins for any number of questions"
    if crossing < 1:
        return "it is also faster than retrieval from the first question"
    return f"it is faster than retrieval from {crossing:,.0f} questions on"


def _change(request: PlanRequest, pool: Pool, full: StrategyCost) -> str:
    """One line: what would make full context possible, or else the answers faster."""
    if not request.fits_window:
        return f"a model trained for {request.tokens + request.reserved:,} tokens could read the whole document at once"
    smaller = _smaller_caches(request)
    if full.obstacle:
        left = max(0.0, pool.available.value)
        for text, needed in smaller:
            if needed * request.concurrency <= left:
                return f"{text}: the whole document would fit"
        length = request.tokens + request.question_tokens + request.answer_tokens
        needed = request.concurrency * sequence_bytes(request.model.shape, length, request.kv, request.engine)
        missing = (needed - pool.available.value) / request.utilisation
        return f"{missing / 1e9:.2g} GB more memory: the whole document would fit"
    weights = weights_read(request.model.shape, bytes_per_weight=request.model.bytes_per_weight)
    now = sequence_bytes(request.model.shape, request.tokens, request.kv, request.engine)
    if smaller and now - smaller[-1][1] > weights / 2:
        text, needed = min(smaller, key=lambda item: item[1])
        gain = (weights + now) / (weights + needed)
        return f"{text}: {gain:.2g} times faster decoding, {now / needed:.2g} times as many requests"
    if request.questions == 1 and full.first_answer.value > 3 * full.next_answer.value:
        return "ask several questions in one run: the document is read once for all of them"
    return "weights of 8 or 4 bits: they are most of what a decoded token reads"


def _smaller_caches(request: PlanRequest) -> list[tuple[str, int]]:
    """(what to change, KV bytes then), in the order in which they are least trouble."""
    shape, found = request.model.shape, []
    if request.kv.key in ("bf16", "f16", "f32"):
        eight = KVDtypes("fp8", "fp8", request.kv.state)
        found.append(("KV in 8 bits", sequence_bytes(shape, request.tokens, eight, request.engine)))
    grouped = tuple(
        replace(layer, kv_heads=8) if layer.kind == "full" and layer.kv_heads == layer.query_heads > 8
        and layer.query_heads % 8 == 0 else layer
        for layer in shape.layers
    )  # fmt: skip
    if grouped != shape.layers:
        bytes_ = sequence_bytes(replace(shape, layers=grouped), request.tokens, request.kv, request.engine)
        found.append(("a model with 8 KV heads (GQA)", bytes_))
    return found
