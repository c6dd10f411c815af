"""Full context or retrieval, with the reason in words; seconds and bytes are not estimated here yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

# template (about 60 tokens), a question of at most MAX_QUESTION_TOKENS, and the answer
MAX_QUESTION_TOKENS = 512
RESERVED_TOKENS = 768


@dataclass(frozen=True, slots=True)
class Strategy:
    """How a document is read. ``context_tokens`` is the budget for document text."""

    strategy: Literal["full_context", "retrieval"]
    reason: str
    document_tokens: int
    context_tokens: int
    window: int


def choose_strategy(
    document_tokens: int,
    window: int,
    *,
    max_context_tokens: int | None = None,
    reserved: int = RESERVED_TOKENS,
) -> Strategy:
    """Full context when the document fits the trained window beside question and answer, else retrieval.

    ``max_context_tokens`` is the user's own limit. Raises ``ValueError`` when nothing is left for text.
    """
    room = window - reserved
    if max_context_tokens is not None:
        room = min(room, max_context_tokens)
    if room < 1:
        raise ValueError(f"a window of {window} tokens leaves no room for text beside {reserved} reserved tokens")
    if document_tokens <= room:
        reason = f"the document's {document_tokens:,} tokens fit the model's trained window of {window:,}"
        return Strategy("full_context", reason, document_tokens, document_tokens, window)
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
