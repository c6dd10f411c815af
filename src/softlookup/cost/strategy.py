"""How one document is read, from token counts alone, with the reason in words; costs are not estimated here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StrategyName = Literal["full_context", "retrieval", "hybrid"]

# template (about 60 tokens), a question of at most MAX_QUESTION_TOKENS, and the answer
MAX_QUESTION_TOKENS = 512
RESERVED_TOKENS = 768
# the context that an answer comes from in the hybrid strategy: the best clauses and what they need
FINAL_CONTEXT_TOKENS = 4_096
# in windows shorter than this the question bank costs more than the text
LEAST_WINDOW_TOKENS = 1_024


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a document is read. ``context_tokens`` is the budget for the document text that an answer comes from.

    ``window_tokens``: document tokens of each window of the hybrid strategy, 0 otherwise.
    """

    strategy: StrategyName
    reason: str
    document_tokens: int
    context_tokens: int
    window: int
    window_tokens: int = 0


def choose_strategy(
    document_tokens: int,
    window: int,
    *,
    max_context_tokens: int | None = None,
    reserved: int = RESERVED_TOKENS,
    wanted: StrategyName | None = None,
) -> Strategy:
    """Full context when the document fits the trained window beside question and answer, else hybrid.

    ``max_context_tokens`` is the user's own limit on what is read: retrieval keeps to it. ``wanted``: the strategy
    that the user asks for. Raises ``ValueError`` when nothing is left for text, or ``wanted`` is not possible.
    """
    room = window - reserved
    if max_context_tokens is not None:
        room = min(room, max_context_tokens)
    if room < 1:
        raise ValueError(f"a window of {window} tokens leaves no room for text beside {reserved} reserved tokens")
    unlimited = max_context_tokens is None and room >= LEAST_WINDOW_TOKENS
    if wanted == "hybrid" or (wanted is None and document_tokens > room and unlimited):
        return _hybrid(document_tokens, window, room)
    if document_tokens <= room and wanted != "retrieval":
        reason = f"the document's {document_tokens:,} tokens fit the model's trained window of {window:,}"
        return Strategy("full_context", reason, document_tokens, document_tokens, window)
    if wanted == "full_context":
        raise ValueError(
            f"full context is not possible: the document has {document_tokens:,} tokens, {room:,} are left for it"
        )
    limit = (
        f"the limit of {max_context_tokens:,} context tokens"
        if max_context_tokens is not None and max_context_tokens < window - reserved
        else f"the {room:,} tokens that the model's window of {window:,} leaves for it"
    )
    reason = (
        f"the document's {document_tokens:,} tokens exceed {limit}: clauses are retrieved by BM25, "
        "with the definitions and references they need"
    )
    return Strategy("retrieval", reason, document_tokens, room, window)


def _hybrid(document_tokens: int, window: int, room: int) -> Strategy:
    if room < LEAST_WINDOW_TOKENS and room < document_tokens:
        raise ValueError(
            f"windows of {room} tokens are too short to be read one by one, {LEAST_WINDOW_TOKENS} are the least"
        )
    reason = (
        f"the document's {document_tokens:,} tokens are read in overlapping windows of {room:,}, so that all of it is "
        "seen; the best clauses, with the definitions and references they need, are read once more for the answer"
    )
    return Strategy("hybrid", reason, document_tokens, min(room, FINAL_CONTEXT_TOKENS), window, room)
