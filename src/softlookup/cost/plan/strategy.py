"""How one document is read, with the reason in words: what a plan hands to those who read. Decides nothing."""

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

    ``window_tokens``: document tokens of each window of the hybrid strategy, 0 otherwise. ``first_answer_seconds`` and
    ``next_answer_seconds`` are predictions, None where nothing was predicted.
    """

    strategy: StrategyName
    reason: str
    document_tokens: int
    context_tokens: int
    window: int
    window_tokens: int = 0
    first_answer_seconds: float | None = None
    next_answer_seconds: float | None = None
