"""The one change that would help most: every alternative is planned anew and the plans are compared. No advice by rule.

A better strategy helps more than a faster one (full context loses nothing, hybrid sees everything); among equal
strategies the time of all questions counts, and where several requests have to run at once, how many fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from softlookup.cost.kv_cache import KVDtypes, sequence_bytes
from softlookup.cost.model.dtypes import element_bytes
from softlookup.cost.model.model_source import CostModel, stored_as
from softlookup.cost.model.shapes import Layer
from softlookup.cost.plan.choice import Chosen, by_name, choose
from softlookup.cost.plan.plan_texts import say, seconds_text
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import StrategyCost, strategy_costs
from softlookup.cost.pool import Pool, pool_of

# from the worst to the best
_ORDER: tuple[Chosen, ...] = ("none", "retrieval", "hybrid", "full_context")
# a gain below a tenth lies within what the priors know
_LEAST_GAIN = 1.1


@dataclass(frozen=True, slots=True)
class _Plan:
    """What an alternative would give: the rank of its strategy, seconds of the first and of all answers, requests."""

    chosen: Chosen
    first: float
    total: float
    requests: float


def change_that_helps(request: PlanRequest, pool: Pool, rows: Sequence[StrategyCost], chosen: Chosen) -> str:
    """One line: the change with the largest gain, or that none gains a tenth."""
    now = _plan(request, pool, rows, chosen)
    plans = [(text, _planned(changed)) for text, changed in alternatives(request, pool)]
    gains = [(_gain(now, plan, request.max_seconds), text, plan) for text, plan in plans]
    rank, factor = max((gain for gain, *_ in gains), default=(-1, 0.0))
    if rank > 0 or (rank == 0 and factor >= _LEAST_GAIN):
        best = next((text, plan) for gain, text, plan in gains if gain == (rank, factor))
        return _words(request, now, best, factor if rank == 0 else 0.0)
    if now.chosen == "none" or not plans:
        return say(request.language, "smaller_model")
    if now.chosen == "full_context" and request.questions == 1 and now.first > 3 * by_name(rows)[0].next_answer.value:
        return say(request.language, "several_questions")
    changes = ", ".join(text for text, _ in plans)
    return say(request.language, "nothing_helps", count=len(plans), changes=changes)


def alternatives(request: PlanRequest, pool: Pool) -> Iterator[tuple[str, PlanRequest]]:
    """Every change that applies, in words, and the request with it."""
    language, model = request.language, request.model
    limit = request.max_context_tokens
    if limit is not None and request.tokens > limit:
        yield say(language, "lift", limit=limit), replace(request, max_context_tokens=None)
    context = request.tokens + request.reserved
    if model.shape.context is not None and model.shape.context < context:
        longer = replace(model, shape=replace(model.shape, context=context))
        yield say(language, "longer", tokens=context), replace(request, model=longer)
    if request.kv.key in ("bf16", "f16", "f32"):
        yield say(language, "kv8"), replace(request, kv=KVDtypes("fp8", "fp8", request.kv.state))
    if (grouped := _grouped(model)) is not None:
        yield say(language, "gqa"), replace(request, model=grouped)
    for dtype in ("q8_0", "q4_k_m"):
        if float(element_bytes(dtype)) < 0.9 * model.bytes_per_weight:
            yield say(language, f"weights_{dtype}"), replace(request, model=stored_as(model, dtype))
    yield from _more_memory(request, pool)


def _more_memory(request: PlanRequest, pool: Pool) -> Iterator[tuple[str, PlanRequest]]:
    """As much memory as full context needs, where the window allows it; else as one window or the weights need."""
    length = request.tokens if request.fits_window else max(1, min(request.tokens, request.room or 1))
    length += request.question_tokens + request.answer_tokens
    cache = sequence_bytes(request.model.shape, length, request.kv, request.engine)
    missing = (request.concurrency * cache - pool.available.value) / request.utilisation
    if missing <= 0:
        return
    missing *= 1.001  # rounding must not leave a byte missing
    device = replace(request.device, memory=request.device.memory + missing / request.device.count)
    yield say(request.language, "more_memory", size=missing / 1e9), replace(request, device=device)


def _grouped(model: CostModel) -> CostModel | None:
    """The model with 8 key/value heads in the layers that have as many as query heads; None where there are none."""
    width = model.shape.hidden_size

    def fewer(layer: Layer) -> Layer:
        if layer.kind != "full" or not layer.kv_heads == layer.query_heads > 8 or layer.query_heads % 8:
            return layer
        saved = width * (layer.kv_heads - 8) * (layer.key_dim + layer.value_dim)
        return replace(layer, kv_heads=8, projection_weights=max(0, layer.projection_weights - saved))

    layers = tuple(fewer(layer) for layer in model.shape.layers)
    return None if layers == model.shape.layers else replace(model, shape=replace(model.shape, layers=layers))


def _planned(request: PlanRequest) -> _Plan:
    pool = pool_of(request)
    rows = strategy_costs(request, pool)
    return _plan(request, pool, rows, choose(request, rows))


def _plan(request: PlanRequest, pool: Pool, rows: Sequence[StrategyCost], chosen: Chosen) -> _Plan:
    if chosen == "none":
        return _Plan(chosen, float("inf"), float("inf"), 0.0)
    row = next(row for row in rows if row.name == chosen)
    return _Plan(chosen, row.first_answer.value, row.total_seconds(request.questions), pool.requests.value)


def _gain(now: _Plan, then: _Plan, limit: float) -> tuple[int, float]:
    """Steps up in the order of strategies, then the factor on the time of all questions.

    A better strategy whose first answer takes longer than now and than ``limit`` seconds is no gain.
    """
    steps = _ORDER.index(then.chosen) - _ORDER.index(now.chosen)
    if steps < 0 or then.chosen == "none" or (steps > 0 and then.first > max(limit, now.first)):
        return -1, 0.0
    return steps, (now.total / then.total if steps == 0 else 1 / then.total)


def _words(request: PlanRequest, now: _Plan, best: tuple[str, _Plan], factor: float) -> str:
    text, plan = best
    language = request.language
    if not factor:
        name, first = say(language, plan.chosen), seconds_text(plan.first, language)
        return say(language, "then_strategy", change=text, strategy=name, seconds=first)
    what = say(language, "one_question" if request.questions == 1 else "all_questions", questions=request.questions)
    faster = say(
        language, "then_faster", change=text, what=what, factor=factor, seconds=seconds_text(plan.total, language),
        now=seconds_text(now.total, language),
    )  # fmt: skip
    if plan.chosen == "full_context" and plan.requests > now.requests:  # requests are of whole documents
        more = say(language, "then_requests", requests=int(plan.requests), now=int(now.requests))
        return say(language, "join").join((faster, more))
    return faster
