"""Settings of a session, checked once."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.cost.plan.request import MAX_SECONDS, MOST_SECONDS
from softlookup.cost.plan.strategy import StrategyName
from softlookup.errors import UsageError
from softlookup.evidence.question_bank import most_compared

DEFAULT_ALPHA = 0.05
DEFAULT_ANSWER_TOKENS = 80
# questions that share one retrieved context: more would leave each too few clauses of its own
QUESTIONS_PER_CONTEXT = 4


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a session. ``max_context_tokens`` limits the document text that the model reads.

    ``embeddings`` names an encoder folder, or "auto" the installed package, whose similarities join the ranking.
    An ``alpha`` below 1/40 runs further off-topic questions. ``cache``: ``ask`` keeps the bank's numbers on disk (no
    text of the document), so that a later run on the same document need not run the bank; and what the model read of
    a document that is longer than its window, which is as confidential as the document. ``strategy`` None: the plan's,
    which retrieves rather than wait longer than ``max_seconds`` for the first answer by windows.
    """

    alpha: float = DEFAULT_ALPHA
    max_answer_tokens: int = DEFAULT_ANSWER_TOKENS
    max_context_tokens: int | None = None
    embeddings: str | None = None
    cache: bool = True
    strategy: StrategyName | None = None
    max_seconds: float = MAX_SECONDS

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha must lie between 0 and 1, got {self.alpha}", "use 0.05, or 0.1 to abstain less")
        if self.alpha < 1 / (most_compared() + 1):
            raise UsageError(
                f"alpha {self.alpha} is below 1/{most_compared() + 1}, the smallest p-value that the question bank "
                "can give",
                "use --alpha 0.01 or more",
            )
        if not 1 <= self.max_answer_tokens <= 1024:
            raise UsageError(f"--max-answer-tokens must be 1 to 1024, got {self.max_answer_tokens}", "use 80")
        if not 1 <= self.max_seconds <= MOST_SECONDS:  # false for NaN too
            raise UsageError(
                f"--max-seconds must lie between 1 and {MOST_SECONDS:,}, got {self.max_seconds:,}", "correct the number"
            )
        if self.max_context_tokens is not None and self.max_context_tokens < 256:
            raise UsageError(f"--max-context-tokens must be at least 256, got {self.max_context_tokens}", "use 4096")
