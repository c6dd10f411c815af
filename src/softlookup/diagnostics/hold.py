"""The hold re-ask: the same question on the expected place and what it needs alone; tells capacity from length."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.diagnostics.case import Case
from softlookup.documents.model import Span
from softlookup.retrieval.context import SEPARATOR
from softlookup.retrieval.expand import closure
from softlookup.runtime.prefilled import prefill

# characters of what the place needs
_BUDGET = 3000


@dataclass(frozen=True, slots=True)
class Held:
    """The answer on ``text`` alone; ``needed`` are the paths of the clauses that were added, with the reason."""

    answer: str
    text: str
    needed: tuple[str, ...]


def held_text(case: Case) -> tuple[str, tuple[str, ...]]:
    """The expected place with its sentence, and the clauses that it needs, in the order of the document."""
    spans = [case.reading.chunks[i].span for i in case.passages] or [case.span]
    found = closure(case.document, (), within=spans, budget=_BUDGET)
    pieces: list[Span] = list(spans)
    needed: list[str] = []
    for item in found.added:
        if not any(item.span.overlap(span) for span in pieces):
            pieces.append(item.span)
            needed.append(f"{case.document.clauses[item.clause].path}: {item.why}")
    return SEPARATOR.join(case.document.text[span.start : span.end] for span in sorted(pieces)), tuple(needed)


def hold(case: Case, max_new_tokens: int) -> Held:
    """Ask again on that text. Raises as :func:`softlookup.runtime.prefilled.prefill`."""
    text, needed = held_text(case)
    prefilled = prefill(case.loaded, case.template, text)
    decoded = prefilled.answer(case.suffix, max_new_tokens=max_new_tokens)
    return Held(decoded.text, text, needed)
