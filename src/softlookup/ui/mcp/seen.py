"""Does the question look at the claimed place? The test of ``softlookup diagnose`` (seen or not), without an answer.

Runs in the worker. What it says: where the model's attention went. What it does not: that the place answers the
question, or that an answer made from it is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from softlookup.documents.language import language_of
from softlookup.documents.model import Span
from softlookup.evidence.citation import clause_label
from softlookup.evidence.clause_scores import clause_scores
from softlookup.retrieval.expand import closure

if TYPE_CHECKING:
    from softlookup.diagnostics.place import Place
    from softlookup.evidence.abstention import Decision
    from softlookup.evidence.attribution import FloatArray
    from softlookup.evidence.reading import Reading
    from softlookup.retrieval.chunks import Chunk
    from softlookup.session import OpenDocument

_STRONGEST = 3
NotTested = Literal["no_evidence_heads", "not_fed", "out_of_reach", "no_passage"]


@dataclass(frozen=True, slots=True)
class LookedAt:
    """A clause that the question looks at, by attention alone; ``p_value`` is family-wise over all passages."""

    clause: str
    heading: str
    score: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Attention:
    """What the model's attention says of the place: that of the best passage in it, of ``passages`` that were read."""

    rank: Annotated[int, Field(description="Of the place's best passage by score, from 1.")]
    passages: int
    score: float
    p_value: Annotated[
        float, Field(description="Rank of the place's score among those that off-topic questions give the same place.")
    ]
    p_kind: Annotated[
        Literal["named_place", "family_wise"],
        Field(description="named_place: of the claimed place alone; family_wise (long documents): of all passages."),
    ]
    family_p_value: Annotated[float, Field(description="The same, corrected for looking at all passages.")]
    alpha: float
    seen: Annotated[bool, Field(description="p_value is at most alpha.")]
    reached_from: Annotated[
        str, Field(description="Why a passage that stands out needs this place (a reference, a definition), or empty.")
    ]
    strongest: tuple[LookedAt, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """The attention, or why there is none to tell of; ``note`` has the details."""

    attention: Attention | None
    why_not: NotTested | None = None
    note: str = ""


def look_at(opened: OpenDocument, question: str, place: Place, span: Span, alpha: float) -> Look:
    """Read ``question`` on what ``softlookup ask`` would read for it, and tell of ``span``, which is ``place``'s."""
    profile = opened.session.profile
    if not profile.serves(language_of(question)):
        return Look(None, "no_evidence_heads", profile.note)
    if opened.strategy.strategy == "hybrid":
        (evidence,) = opened.evidence([question])
        at = [i for i, chunk in enumerate(evidence.chunks) if _holds(chunk, span)]
        if not at:
            return Look(None, "no_passage")
        return Look(_attention(opened, span, evidence.chunks, evidence.scores, evidence.decision, (at, None, alpha)))
    return _in_context(opened, opened.reading([question]), question, place, span, alpha)


def _in_context(opened: OpenDocument, reading: Reading, question: str, place: Place, span: Span, alpha: float) -> Look:
    from softlookup.diagnostics.case import Case, Fed
    from softlookup.diagnostics.feeding import not_fed
    from softlookup.diagnostics.measures import Measures
    from softlookup.diagnostics.reach import out_of_reach

    session, (begin, end) = opened.session, reading.prefilled.prefix.document
    retrieved = opened.strategy.strategy == "retrieval"
    case = Case(
        opened.document,
        Fed(reading.context, retrieved, opened.strategy.document_tokens, end - begin),
        question,
        place,
        loaded=session.loaded,
        template=session.template,
        open_reading=lambda: reading,
    )
    if not_fed(case).hit is not None:
        return Look(None, "not_fed", f"{end - begin:,} / {opened.strategy.document_tokens:,}")
    if not case.passages:
        return Look(None, "no_passage")
    if out_of_reach(case).hit is not None:
        return Look(None, "out_of_reach")
    # here, where its progress is heard; ``Measures`` finds it done
    reading.calibration(language_of(question), session.progress, alpha=alpha)
    session.progress("question", 0.0)
    measures = Measures(case, None, alpha, 1)
    test = (case.passages, measures.place_p_value, alpha)
    return Look(_attention(opened, span, reading.chunks, measures.scores, measures.decision, test))


def _attention(
    opened: OpenDocument,
    span: Span,
    chunks: Sequence[Chunk],
    scores: FloatArray,
    decision: Decision,
    test: tuple[Sequence[int], float | None, float],
) -> Attention:
    """``test``: the passages of the place, its own p-value where there is one, alpha."""
    at, own, alpha = test
    best = max(at, key=lambda place: float(scores[place]))
    family = float(decision.passage_p_values[best])
    p_value = family if own is None else own
    document = opened.document
    return Attention(
        rank=1 + int((scores > scores[best]).sum()),
        passages=len(chunks),
        score=round(float(scores[best]), 6),
        p_value=round(p_value, 4),
        p_kind="family_wise" if own is None else "named_place",
        family_p_value=round(family, 4),
        alpha=alpha,
        seen=p_value <= alpha,
        reached_from="" if p_value <= alpha else _reached_from(opened, span, chunks, scores, decision, alpha),
        strongest=tuple(
            LookedAt(row.clause, row.heading[:300], row.score, row.p_value)
            for row in clause_scores(document, chunks, scores, decision)[:_STRONGEST]
        ),
    )


def _reached_from(
    opened: OpenDocument,
    span: Span,
    chunks: Sequence[Chunk],
    scores: FloatArray,
    decision: Decision,
    alpha: float,
) -> str:
    """Why one of the three best passages that stand out needs the place, "" when none does."""
    document = opened.document
    for index in np.argsort(-scores, kind="stable")[:_STRONGEST]:
        if decision.passage_p_values[index] > alpha:
            continue
        for item in closure(document, (), within=[chunks[index].span]).added:
            if item.span.overlap(span):
                return f"{clause_label(document, chunks[index].clause)}: {item.why}"[:300]
    return ""


def _holds(chunk: Chunk, span: Span) -> bool:
    """Whether a passage holds a noteworthy part of the place, as in a diagnosis."""
    return chunk.span.overlap(span) >= max(1, 0.1 * min(len(span), 200))
