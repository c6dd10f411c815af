"""The three ways to read one document, each with its seconds, memory and what it can lose. No decision here.

Full context: one prefill, kept for further questions. Retrieval: a new short context per question. Hybrid: windows of
the trained length see every token, their best passages form a short final context. On every context that is read the
off-topic bank runs once, up to the last evidence layer: it says how much attention a question without an answer draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from softlookup.cost.figures import Figure, exact
from softlookup.cost.kv_cache import sequence_bytes
from softlookup.cost.plan.losses import Loss
from softlookup.cost.plan.plan_texts import say
from softlookup.cost.plan.request import PlanRequest, window_line
from softlookup.cost.plan.steps import bank_seconds, decode_milliseconds, prefill_seconds, suffix_seconds
from softlookup.cost.plan.strategy import FINAL_CONTEXT_TOKENS, LEAST_WINDOW_TOKENS, StrategyName
from softlookup.cost.pool import Pool
from softlookup.cost.seconds import sum_figure

STRATEGIES: tuple[StrategyName, ...] = ("full_context", "retrieval", "hybrid")
# eight blocks of 4,096 tokens, the course page's example; a quarter of a shorter document, but not less than what finds
# most (a context of 7,400 tokens holds every piece of .80 of the answers, one of 4,000 of .62: docs/evidence.md)
MAX_RETRIEVED_TOKENS = 32_768
_USUAL_RETRIEVED_TOKENS = 8_192
_MIN_RETRIEVED_TOKENS = 2_048
# share of a window that repeats the end of the one before, so that no passage is cut at both
_OVERLAP = 8


@dataclass(frozen=True, slots=True)
class StrategyCost:
    """One row of the plan. ``obstacle``: why it cannot run here ("" when it can).

    ``seen``: document tokens that the model reads at all; ``fed``: those of the context that it answers from.
    ``windows``: how many windows hybrid reads, and ``window_tokens`` how long they are; 1 and ``fed`` otherwise.
    ``loss``: what the document at hand loses, None for a plan of a length alone. ``reading``: seconds of reading the
    document, or its windows, without bank and question; ``final``: those of reading hybrid's final context.
    """

    name: StrategyName
    first_answer: Figure
    next_answer: Figure
    memory: Figure
    loses: str
    seen: int
    fed: int
    obstacle: str = ""
    windows: int = 1
    window_tokens: int = 0
    loss: Loss | None = None
    reading: Figure = field(default_factory=lambda: exact(0.0, "s"))
    final: Figure = field(default_factory=lambda: exact(0.0, "s"))

    def total_seconds(self, questions: int) -> float:
        """All questions, asked in one run."""
        return self.first_answer.value + (questions - 1) * self.next_answer.value

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON: plain numbers, the figures beside them."""
        return {
            "name": self.name, "first_answer_seconds": self.first_answer.value,
            "next_answer_seconds": self.next_answer.value, "memory_bytes": int(self.memory.value), "loses": self.loses,
            "loss": None if self.loss is None else self.loss.to_dict(),
            "tokens_seen": self.seen, "tokens_fed": self.fed, "windows": self.windows,
            "window_tokens": self.window_tokens or self.fed, "possible": not self.obstacle, "obstacle": self.obstacle,
            "figures": {
                "first_answer_seconds": self.first_answer.to_dict(), "next_answer_seconds": self.next_answer.to_dict(),
                "memory_bytes": self.memory.to_dict(), "reading_seconds": self.reading.to_dict(),
            },
        }  # fmt: skip


def retrieved_tokens(request: PlanRequest) -> int:
    """Document tokens of a retrieved context: a quarter, from 8,192 to 32,768, and what window and document hold."""
    wanted = min(MAX_RETRIEVED_TOKENS, max(_USUAL_RETRIEVED_TOKENS, request.tokens // 4), request.tokens)
    return wanted if request.room is None else max(1, min(wanted, request.room))


def final_tokens(request: PlanRequest) -> int:
    """Document tokens of hybrid's final context: those of ``softlookup ask``, and what window and document hold."""
    wanted = min(FINAL_CONTEXT_TOKENS, request.tokens)
    return wanted if request.room is None else max(1, min(wanted, request.room))


def window_step(room: int) -> int:
    """Tokens from the start of a window to the start of the next: seven eighths of ``room``."""
    return max(1, room - room // _OVERLAP)


def window_count(tokens: int, room: int) -> int:
    """Windows of ``room`` tokens, each repeating the last eighth of the one before, that cover ``tokens``.

    >>> window_count(8_000, 8_000), window_count(15_001, 8_000)
    (1, 3)
    """
    if tokens <= room:
        return 1
    return 1 + math.ceil((tokens - room) / window_step(room))


def last_window(tokens: int, room: int) -> int:
    """Tokens of the last of these windows; the others have ``room``.

    >>> last_window(15_001, 8_000), last_window(5_000, 8_000)
    (1001, 5000)
    """
    return tokens - (window_count(tokens, room) - 1) * window_step(room)


def strategy_costs(request: PlanRequest, pool: Pool) -> tuple[StrategyCost, ...]:
    """Full context, retrieval and hybrid for ``request``."""
    return (_full(request, pool), _retrieval(request, pool), _hybrid(request, pool))


def _answer(request: PlanRequest, tokens: int) -> tuple[float, Figure]:
    """The answer's tokens, decoded beside those of the other requests."""
    return 1e-3 * request.answer_tokens, decode_milliseconds(request, tokens, request.concurrency)


def _context_parts(request: PlanRequest, tokens: int) -> list[tuple[float, Figure]]:
    """Reading a context and answering from it: prefill + bank + question + answer."""
    return [
        (1.0, prefill_seconds(request, tokens)),
        (1.0, bank_seconds(request, tokens)),
        (1.0, suffix_seconds(request, tokens)),
        _answer(request, tokens),
    ]


def _cache_bytes(request: PlanRequest, tokens: int, *, evidence: bool = False) -> int:
    """Cache of one request; of the layers up to the last evidence layer for a window that is only looked at."""
    shape = request.evidence_shape if evidence else request.model.shape
    length = tokens + request.question_tokens + (0 if evidence else request.answer_tokens)
    return sequence_bytes(shape, length, request.kv, request.engine)


def _memory(request: PlanRequest, pool: Pool, cache: int) -> Figure:
    """Weights, the cache of one request, and workspace."""
    parts = [(1.0, request.model.weight_bytes), (1.0, exact(cache, "B")), (1.0, pool.workspace)]
    return sum_figure(parts, "B", "weights + KV + workspace")


def _too_large(request: PlanRequest, pool: Pool, cache: int) -> str:
    """Why ``concurrency`` requests with a cache of ``cache`` bytes do not fit, "" when they do."""
    needed, left = request.concurrency * cache, max(0.0, pool.available.value)
    if needed <= left:
        return ""
    device, count = request.device, request.concurrency
    if not left:
        weights, memory = request.model.weight_bytes.value / 1e9, device.memory * device.count / 1e9
        return say(request.language, "no_memory", weights=weights, device=device.name, memory=memory)
    several = say(request.language, "several", count=count) if count > 1 else ""
    values = {"needed": needed / 1e9, "several": several, "device": device.name, "left": left / 1e9}
    return say(request.language, "over_memory", **values)


def _full(request: PlanRequest, pool: Pool) -> StrategyCost:
    """First: prefill of T + bank + question + answer. Next: question behind the kept prefix + answer."""
    tokens = request.tokens
    parts, cache = _context_parts(request, tokens), _cache_bytes(request, tokens)
    obstacle = _too_large(request, pool, cache) if request.fits_window else window_line(request)
    return StrategyCost(
        "full_context",
        sum_figure(parts, "s", "prefill + bank + question + answer"),
        sum_figure(parts[2:], "s", "question behind the kept prefix + answer"),
        _memory(request, pool, cache),
        say(request.language, "lose_nothing"), tokens, tokens, obstacle, reading=parts[0][1],
    )  # fmt: skip


def _retrieval(request: PlanRequest, pool: Pool) -> StrategyCost:
    """Every answer: prefill of the retrieved context + bank + question + answer, since each needs other clauses."""
    fed = _held(request, pool, retrieved_tokens(request))
    parts = _context_parts(request, fed)
    first = sum_figure(parts, "s", "prefill of the retrieved context + bank + question + answer")
    unread, cache = request.tokens - fed, _cache_bytes(request, fed)
    key = "lose_retrieval" if unread else "lose_retrieval_nothing"
    return StrategyCost(
        "retrieval", first, first, _memory(request, pool, cache),
        say(request.language, key, unread=unread, tokens=request.tokens), fed, fed,
        no_room(request) or _too_large(request, pool, cache), reading=parts[0][1],
    )  # fmt: skip


def _hybrid(request: PlanRequest, pool: Pool) -> StrategyCost:
    """Windows of ``room`` tokens, read up to the last evidence layer; then a final context, read whole.

    First = sum over windows of (prefill + bank + question, up to the evidence layer) + final context (prefill + bank +
    question + answer). Next, of the same run = sum over windows of the question + final context. A question of a later
    run reads the windows again. Windows are cut at passages, so that they are a little shorter than counted here.
    """
    fed, room = _hybrid_lengths(request, pool)
    count, last = window_count(request.tokens, room), last_window(request.tokens, room)
    lengths = [(float(count - 1), room), (1.0, last)] if count > 1 else [(1.0, last)]
    question = [(times, suffix_seconds(request, length, evidence=True)) for times, length in lengths]
    windows = [(times, prefill_seconds(request, length, evidence=True)) for times, length in lengths]
    reading = [*windows, *((times, bank_seconds(request, length)) for times, length in lengths)]
    final = _context_parts(request, fed)
    longest = min(room, request.tokens)
    cache = max(_cache_bytes(request, longest, evidence=True), _cache_bytes(request, fed))
    key = "lose_one_window" if count == 1 else "lose_windows"
    return StrategyCost(
        "hybrid",
        sum_figure([*reading, *question, *final], "s", "windows (prefill + bank + question) + final context"),
        sum_figure([*question, *final], "s", "question in each window of the run + final context"),
        _memory(request, pool, cache),
        say(request.language, key, fed=fed, tokens=request.tokens, windows=count),
        request.tokens, fed, no_room(request) or _cannot_window(request) or _too_large(request, pool, cache),
        count, longest, reading=sum_figure(windows, "s", "prefill of the windows"), final=final[0][1],
    )  # fmt: skip


def _hybrid_lengths(request: PlanRequest, pool: Pool) -> tuple[int, int]:
    """Tokens of the final context and of a window: what the model's window holds, less where memory is short.

    Windows do not become shorter than the final context.
    """
    fed = _held(request, pool, final_tokens(request))
    room = request.tokens if request.room is None else max(1, min(request.room, request.tokens))
    return fed, max(fed, _held(request, pool, room))


def _held(request: PlanRequest, pool: Pool, wanted: int) -> int:
    """``wanted`` document tokens, or what memory holds of them, at least 2,048: below that a context is of no use."""
    held = int(pool.longest.value) // request.concurrency - request.question_tokens - request.answer_tokens
    return min(wanted, max(held, _MIN_RETRIEVED_TOKENS))


def no_room(request: PlanRequest) -> str:
    """Why the trained window holds no document token beside question and answer, "" when it does."""
    context = request.model.shape.context
    if request.room is not None and request.room < 1:
        return say(request.language, "no_room", window=context, reserved=request.reserved)
    return ""


def _cannot_window(request: PlanRequest) -> str:
    """Why windows are no way to read: they read everything, and short ones cost more by the bank than by the text."""
    limit = request.max_context_tokens
    if limit is not None and request.tokens > limit:
        return say(request.language, "reads_all", tokens=request.tokens, limit=limit)
    if request.room is not None and request.room < min(LEAST_WINDOW_TOKENS, request.tokens):
        return say(request.language, "short_windows", room=request.room, least=LEAST_WINDOW_TOKENS)
    return ""
