"""The three ways to read one document, each with its seconds, memory and what it can lose. No decision here.

Full context: one prefill, kept for further questions. Retrieval: a new short context per question. Hybrid: windows of
the trained length see every token, their best passages form a short final context.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from softlookup.cost.figures import Figure, exact
from softlookup.cost.flops import model_flops
from softlookup.cost.kv_cache import sequence_bytes
from softlookup.cost.pool import Pool
from softlookup.cost.request import PlanRequest, window_line
from softlookup.cost.seconds import DecodeTraffic, decode_figure, prefill_figure, sum_figure, weights_read

StrategyName = Literal["full_context", "retrieval", "hybrid"]
# eight blocks of 4,096 tokens, the course page's example; a quarter of a shorter document
MAX_RETRIEVED_TOKENS = 32_768
_MIN_RETRIEVED_TOKENS = 2_048
# share of a window that repeats the end of the one before, so that no passage is cut at both
_OVERLAP = 8


@dataclass(frozen=True, slots=True)
class StrategyCost:
    """One row of the plan. ``obstacle``: why it cannot run here ("" when it can).

    ``seen``: document tokens that the model reads at all; ``fed``: those of the context that it answers from.
    """

    name: StrategyName
    first_answer: Figure
    next_answer: Figure
    memory: Figure
    loses: str
    seen: int
    fed: int
    obstacle: str = ""

    def total_seconds(self, questions: int) -> float:
        """All questions."""
        return self.first_answer.value + (questions - 1) * self.next_answer.value

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON: plain numbers, the figures beside them."""
        return {
            "name": self.name, "first_answer_seconds": self.first_answer.value,
            "next_answer_seconds": self.next_answer.value, "memory_bytes": int(self.memory.value), "loses": self.loses,
            "tokens_seen": self.seen, "tokens_fed": self.fed, "possible": not self.obstacle, "obstacle": self.obstacle,
            "figures": {
                "first_answer_seconds": self.first_answer.to_dict(), "next_answer_seconds": self.next_answer.to_dict(),
                "memory_bytes": self.memory.to_dict(),
            },
        }  # fmt: skip


def retrieved_tokens(request: PlanRequest) -> int:
    """Document tokens of a retrieved context: a quarter, from 2,048 to 32,768, and what window and document hold."""
    wanted = min(MAX_RETRIEVED_TOKENS, max(_MIN_RETRIEVED_TOKENS, request.tokens // 4), request.tokens)
    return wanted if request.room is None else max(1, min(wanted, request.room))


def window_count(tokens: int, room: int) -> int:
    """Windows of ``room`` tokens, each repeating the last eighth of the one before, that cover ``tokens``.

    >>> window_count(8_000, 8_000), window_count(15_001, 8_000)
    (1, 3)
    """
    if tokens <= room:
        return 1
    return 1 + math.ceil((tokens - room) / max(1, room - room // _OVERLAP))


def window_length(tokens: int, room: int) -> int:
    """Length of each of these windows when they are equally long."""
    count = window_count(tokens, room)
    return min(room, math.ceil((tokens + (count - 1) * (room // _OVERLAP)) / count))


def prefill_seconds(request: PlanRequest, tokens: int, cached: int = 0) -> Figure:
    """Seconds of ``tokens`` behind ``cached`` ones: their FLOPs, or one reading of the weights where that is longer."""
    shape, model = request.model.shape, request.model
    compute = prefill_figure(
        model_flops(shape, tokens, cached), tokens + cached, request.device, request.efficiency, model.dtype
    )
    weights = weights_read(shape, bytes_per_weight=model.bytes_per_weight, batch=tokens)
    reading = decode_figure(DecodeTraffic(weights, 0), len(shape.layers), request.device, request.efficiency)
    return max(compute, sum_figure([(1e-3, reading)], "s", "one reading of the weights"), key=lambda each: each.value)


def decode_milliseconds(request: PlanRequest, tokens: int, batch: int = 1) -> Figure:
    """Milliseconds per token of an answer behind ``tokens``, in the middle of the answer.

    ``batch`` requests that decode together read the weights once and a cache each.
    """
    shape = request.model.shape
    length = tokens + request.answer_tokens // 2
    weights = weights_read(shape, bytes_per_weight=request.model.bytes_per_weight, batch=batch)
    traffic = DecodeTraffic(weights, batch * sequence_bytes(shape, length, request.kv, request.engine))
    return decode_figure(traffic, len(shape.layers), request.device, request.efficiency)


def suffix_seconds(request: PlanRequest, cached: int) -> Figure:
    """A question behind a cached document: its FLOPs, or one pass over weights and cache, whichever takes longer."""
    compute = prefill_seconds(request, request.question_tokens, cached)
    one_pass = sum_figure([(1e-3, decode_milliseconds(request, cached))], "s", "one pass over weights and KV")
    return max(compute, one_pass, key=lambda figure: figure.value)


def strategy_costs(request: PlanRequest, pool: Pool) -> tuple[StrategyCost, ...]:
    """Full context, retrieval and hybrid for ``request``."""
    return (_full(request, pool), _retrieval(request, pool), _hybrid(request, pool))


def _answer(request: PlanRequest, tokens: int) -> tuple[float, Figure]:
    """The answer's tokens, decoded beside those of the other requests."""
    return 1e-3 * request.answer_tokens, decode_milliseconds(request, tokens, request.concurrency)


def _memory(request: PlanRequest, pool: Pool, tokens: int) -> Figure:
    """Weights, the cache of one request, and workspace."""
    length = tokens + request.question_tokens + request.answer_tokens
    cache = sequence_bytes(request.model.shape, length, request.kv, request.engine)
    parts = [(1.0, request.model.weight_bytes), (1.0, exact(cache, "B")), (1.0, pool.workspace)]
    return sum_figure(parts, "B", "weights + KV + workspace")


def _too_large(request: PlanRequest, pool: Pool, tokens: int) -> str:
    """Why ``concurrency`` requests of ``tokens`` do not fit, "" when they do."""
    length = tokens + request.question_tokens + request.answer_tokens
    needed = request.concurrency * sequence_bytes(request.model.shape, length, request.kv, request.engine)
    left = max(0.0, pool.available.value)
    if needed <= left:
        return ""
    several = f" for {request.concurrency} requests" if request.concurrency > 1 else ""
    return f"its KV needs {needed / 1e9:.3g} GB{several}, {request.device.name} leaves {left / 1e9:.3g} GB"


def _full(request: PlanRequest, pool: Pool) -> StrategyCost:
    tokens = request.tokens
    suffix, answer = suffix_seconds(request, tokens), _answer(request, tokens)
    obstacle = _too_large(request, pool, tokens) if request.fits_window else window_line(request)
    return StrategyCost(
        "full_context",
        sum_figure([(1.0, prefill_seconds(request, tokens)), (1.0, suffix), answer], "s", "prefill, question, answer"),
        sum_figure([(1.0, suffix), answer], "s", "question behind the kept prefix + answer"),
        _memory(request, pool, tokens),
        "nothing", tokens, tokens, obstacle,
    )  # fmt: skip


def _retrieval(request: PlanRequest, pool: Pool) -> StrategyCost:
    fed = retrieved_tokens(request)
    first = sum_figure(
        [(1.0, prefill_seconds(request, fed + request.question_tokens)), _answer(request, fed)], "s",
        "prefill of the retrieved context + answer",
    )  # fmt: skip
    unread = request.tokens - fed
    loses = "nothing: the whole document is retrieved" if not unread else (
        f"{unread:,} of {request.tokens:,} tokens are never read; references and definitions among them are missing "
        "unless the closure adds them"
    )  # fmt: skip
    obstacle = _no_room(request) or _too_large(request, pool, fed)
    return StrategyCost("retrieval", first, first, _memory(request, pool, fed), loses, fed, fed, obstacle)


def _hybrid(request: PlanRequest, pool: Pool) -> StrategyCost:
    """Windows are read once and kept; a question passes each and then reads the best passages."""
    fed = retrieved_tokens(request)
    room = request.tokens if request.room is None else max(1, min(request.room, request.tokens))
    # shorter windows where memory holds no longer ones, as long as they exceed the final context
    held = int(pool.longest.value) // request.concurrency - request.question_tokens - request.answer_tokens
    room = min(room, max(held, fed, 1))
    windows = window_count(request.tokens, room)
    length = window_length(request.tokens, room)
    final = [(1.0, prefill_seconds(request, fed + request.question_tokens)), _answer(request, fed)]
    question = [(float(windows), suffix_seconds(request, length)), *final]
    reading = (float(windows), prefill_seconds(request, length))
    loses = (
        f"no token is unseen; the answer itself reads {fed:,} of {request.tokens:,} tokens, with links between the "
        f"{windows} windows only through the closure"
    )
    if windows == 1:
        loses = f"no token is unseen; the answer itself reads {fed:,} of {request.tokens:,} tokens"
    largest = max(length, fed)
    return StrategyCost(
        "hybrid",
        sum_figure([reading, *question], "s", "windows + question in each + final context + answer"),
        sum_figure(question, "s", "question in each kept window + final context + answer"),
        _memory(request, pool, largest), loses, request.tokens, fed,
        _no_room(request) or _too_large(request, pool, largest),
    )  # fmt: skip


def _no_room(request: PlanRequest) -> str:
    if request.room is not None and request.room < 1:
        return f"a window of {request.model.shape.context:,} leaves no room beside {request.reserved:,} reserved tokens"
    return ""
