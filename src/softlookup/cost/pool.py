"""Memory of a device that is left for caches, and how many requests it holds at once. No time here."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.cost.figures import Figure, weakest
from softlookup.cost.kv_cache import sequence_bytes
from softlookup.cost.memory import llama_cpp_compute_bytes
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.vllm_pool import GIB, activation_peak, available_kv_bytes, block_pool

# what the driver, libraries and captured graphs take beside torch; replaced by measurement where there is one
_NON_TORCH = 0.25 * GIB
_GRAPHS = 0.9 * GIB
# rows of a prefill that are computed at once where an engine chunks it
_CHUNK = 512
# told of a model whose sequences take no memory that is known: no more requests can be asked for
_MOST_REQUESTS = 1_000_000


@dataclass(frozen=True, slots=True)
class Pool:
    """``available`` bytes for caches; ``requests`` that fit; ``longest``: tokens of one sequence."""

    workspace: Figure
    available: Figure
    requests: Figure
    longest: Figure


def workspace_figure(request: PlanRequest) -> Figure:
    """Activations of a prefill beside weights and cache.

    vLLM: the sampler's peak. llama.cpp: its compute buffer with flash attention. Otherwise rows (6 D + 3 F) 4 bytes,
    with all rows for transformers and 512 for a chunked prefill.
    """
    shape, engine = request.model.shape, request.engine.name
    if engine == "vllm":
        value = activation_peak(shape, request.device.memory)
        return Figure(value, "B", "version-bound", 0.7 * value, 1.8 * value, "15.5 max_num_seqs V, vLLM 0.17 on")
    if engine == "llama.cpp":
        value = float(llama_cpp_compute_bytes(shape, request.tokens, request.engine.n_ubatch, flash_attention=True))
        return Figure(value, "B", "version-bound", 0.9 * value, 1.3 * value, "mask rows T 4 + 4 rows D 4, or logits")
    rows = request.tokens if engine == "transformers" else min(_CHUNK, request.tokens)
    inner = max(layer.ffn_weights for layer in shape.layers) / (3 * shape.hidden_size)
    value = 4.0 * rows * (6 * shape.hidden_size + 3 * inner) + 4.0 * shape.vocab_size
    return Figure(value, "B", "prior", 0.5 * value, 2 * value, "rows (6 D + 3 F) 4 + 4 V")


def pool_of(request: PlanRequest) -> Pool:
    """The pool of ``request``'s device. ``requests`` is 0 when the weights alone do not fit."""
    device, weights = request.device, request.model.weight_bytes
    workspace = workspace_figure(request)
    total = device.memory * device.count
    other = (_NON_TORCH + _GRAPHS) if device.device_class in ("datacenter", "consumer") else _NON_TORCH
    peak = max(workspace.value, GIB) if other > _NON_TORCH else workspace.value

    def left(weight: float, activation: float) -> float:
        return available_kv_bytes(total, request.utilisation, weight, activation, other)

    value = left(weights.value, peak)
    high = left(weights.low, peak * workspace.low / workspace.value)
    low = left(weights.high, peak * workspace.high / workspace.value)
    formula = "memory x utilisation - weights - activations - context and graphs"
    available = Figure(value, "B", weakest("prior", workspace.kind), low, high, formula, device.name)
    held = [_held(request, each) for each in (value, low, high)]
    requests = Figure(held[0], "requests", "prior", held[1], held[2], "floor(pool / KV(T + answer))", device.name)
    lengths = [_longest(request, each) for each in (value, low, high)]
    longest = Figure(
        lengths[0], "tokens", "prior", lengths[1], lengths[2], "cache of the longest sequence", device.name
    )
    return Pool(workspace, available, requests, longest)


def _held(request: PlanRequest, available: float) -> int:
    """Whole requests that ``available`` bytes hold under the engine's policy."""
    if available <= 0:
        return 0
    length = request.tokens + request.question_tokens + request.answer_tokens
    shape = request.model.shape
    caching = any(layer.owner is None and layer.kind != "recurrent" for layer in shape.layers)
    if request.engine.name == "vllm" and caching:
        return int(block_pool(shape, available, request.kv, request.engine).concurrency(length))
    one = sequence_bytes(shape, length, request.kv, request.engine)
    return int(available // one) if one else _MOST_REQUESTS


def _longest(request: PlanRequest, available: float) -> int:
    """Tokens of the longest single sequence whose cache fits, by bisection: caches grow with length."""
    shape = request.model.shape
    if available <= 0 or sequence_bytes(shape, 1, request.kv, request.engine) > available:
        return 0
    low, high = 1, 1 << 36
    while high - low > 1:
        middle = (low + high) // 2
        if sequence_bytes(shape, middle, request.kv, request.engine) <= available:
            low = middle
        else:
            high = middle
    return low
