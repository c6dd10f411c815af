"""The plan of one document: the estimate of its tokens, with what each strategy loses of it. Reads no document.

``softlookup plan FILE`` prints it and ``softlookup ask`` decides by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from softlookup.cost.figures import Figure, weakest
from softlookup.cost.plan.decision import AskedStrategy
from softlookup.cost.plan.estimate import CostEstimate, estimate
from softlookup.cost.plan.losses import DocumentOutline, hybrid_loss, retrieval_loss
from softlookup.cost.plan.plan_texts import say
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import StrategyCost, window_step


@dataclass(frozen=True, slots=True)
class TokenInterval:
    """Limits of a number of tokens that was not counted with the model's own tokenizer, and where it is from."""

    low: int
    high: int
    source: str


def plan_document(
    request: PlanRequest,
    outline: DocumentOutline | None = None,
    *,
    strategy: AskedStrategy = "auto",
    interval: TokenInterval | None = None,
) -> CostEstimate:
    """The estimate and decision of a document of ``request.tokens``, counted by the caller.

    ``outline`` turns "can lose" into numbers of this document. ``interval``: every figure that depends on the number
    of tokens becomes a prior between the figures of its limits, and a limit that changes the choice is told.
    Raises ``CapacityError`` with figures when a ``strategy`` that is asked for is not possible.
    """
    found = estimate(request, strategy)
    rows = tuple(_with_loss(request, row, outline) for row in found.strategies)
    found = replace(found, strategies=rows)
    return found if interval is None else _widened(found, interval)


def _with_loss(request: PlanRequest, row: StrategyCost, outline: DocumentOutline | None) -> StrategyCost:
    """The row with its loss of the document. A strategy that is not possible has none, nor has full context."""
    if outline is None or row.obstacle or row.name == "full_context" or row.fed >= request.tokens:
        return row
    if row.name == "retrieval":
        loss, words = retrieval_loss(outline, row.fed, request.language)
    else:
        windows = (row.windows, row.window_tokens, window_step(row.window_tokens))
        loss, words = hybrid_loss(outline, row.fed, windows, request.language)
    return replace(row, loses=words, loss=loss)


def _widened(found: CostEstimate, interval: TokenInterval) -> CostEstimate:
    """``found`` with the figures of both limits as limits of its own."""
    request = found.request
    ends = [estimate(replace(request, tokens=max(1, tokens))) for tokens in (interval.low, interval.high)]
    figures = {name: _between(figure, *(end.figures[name] for end in ends)) for name, figure in found.figures.items()}
    figures["tokens"] = Figure(request.tokens, "tokens", "prior", interval.low, interval.high, source=interval.source)
    rows = tuple(
        replace(
            row,
            first_answer=_between(row.first_answer, *(end.first_answer for end in same)),
            next_answer=_between(row.next_answer, *(end.next_answer for end in same)),
            memory=_between(row.memory, *(end.memory for end in same)),
        )
        for row, *same in zip(found.strategies, *(end.strategies for end in ends), strict=True)
    )
    language = request.language
    notes = [say(language, "counted_elsewhere", name=request.model.shape.name, low=interval.low, high=interval.high)]
    notes += [
        say(language, "depends", tokens=end.request.tokens, strategy=say(language, end.decision.strategy))
        for end in ends if end.decision.strategy not in ("none", found.decision.strategy)
    ]  # fmt: skip
    return replace(found, figures=figures, strategies=rows, warnings=(*found.warnings, *notes))


def _between(figure: Figure, *ends: Figure) -> Figure:
    """``figure`` between the outer limits of ``ends``; unchanged where the number of tokens does not matter."""
    if all((end.value, end.low, end.high) == (figure.value, figure.low, figure.high) for end in ends):
        return figure
    low, high = min(figure.low, *(end.low for end in ends)), max(figure.high, *(end.high for end in ends))
    return replace(figure, kind=weakest(figure.kind, "prior"), low=low, high=high)
