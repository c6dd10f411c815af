"""Seconds of the steps that every strategy is made of: prefill, suffix, off-topic bank, answer. No strategy here.

A step either runs the whole model or stops after the last evidence layer, without the LM head (``evidence``): then
FLOPs, weights read and cache are those of the layers up to it.
"""

from __future__ import annotations

from softlookup.cost.figures import Figure, exact
from softlookup.cost.flops import Flops, model_flops
from softlookup.cost.kv_cache import sequence_bytes
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.seconds import DecodeTraffic, decode_figure, prefill_figure, sum_figure, weights_read


def prefill_seconds(request: PlanRequest, tokens: int, cached: int = 0, *, evidence: bool = False) -> Figure:
    """Seconds of ``tokens`` behind ``cached`` ones: their FLOPs, or one reading of the weights where that is longer."""
    shape = request.evidence_shape if evidence else request.model.shape
    flops = model_flops(shape, tokens, cached, logits=0 if evidence else 1)
    return _longer(request, flops, tokens, tokens + cached, 0, evidence=evidence)


def suffix_seconds(request: PlanRequest, cached: int, *, evidence: bool = False) -> Figure:
    """A question behind a cached document: its FLOPs, or one pass over weights and cache, whichever takes longer."""
    shape = request.evidence_shape if evidence else request.model.shape
    flops = model_flops(shape, request.question_tokens, cached, logits=0 if evidence else 1)
    length = cached + request.question_tokens
    return _longer(request, flops, request.question_tokens, length, cached, evidence=evidence)


def bank_flops(request: PlanRequest, cached: int) -> Flops:
    """The off-topic questions behind a cached context, up to the last evidence layer.

    q questions of n tokens in all see the context and themselves, not each other: n = q m + r, so r questions of
    m + 1 tokens and q - r of m.
    """
    count = request.bank_questions
    length, longer = divmod(request.bank_tokens, count)
    found = Flops(0, 0, 0, 0)
    for tokens, times in ((length, count - longer), (length + 1, longer)):
        if tokens and times:
            found += model_flops(request.evidence_shape, tokens, cached, logits=0).times(times)
    return found


def bank_seconds(request: PlanRequest, cached: int) -> Figure:
    """The bank, packed into one pass: its FLOPs, or one pass over weights and cache up to the evidence layers."""
    if not request.bank_tokens:
        return exact(0.0, "s", "no bank")
    flops = bank_flops(request, cached)
    return _longer(request, flops, request.bank_tokens, cached + request.bank_tokens, cached, evidence=True)


def decode_milliseconds(request: PlanRequest, tokens: int, batch: int = 1) -> Figure:
    """Milliseconds per token of an answer behind ``tokens``, in the middle of the answer.

    ``batch`` requests that decode together read the weights once and a cache each.
    """
    shape = request.model.shape
    length = tokens + request.answer_tokens // 2
    weights = weights_read(shape, bytes_per_weight=request.model.bytes_per_weight, batch=batch)
    traffic = DecodeTraffic(weights, batch * sequence_bytes(shape, length, request.kv, request.engine))
    return decode_figure(traffic, len(shape.layers), request.device, request.efficiency)


def _longer(request: PlanRequest, flops: Flops, tokens: int, length: int, cached: int, *, evidence: bool) -> Figure:
    """Compute, or one pass over the weights and the cache of ``cached`` tokens, whichever takes longer.

    ``length``: tokens that the step's last query sees; published efficiencies hold up to some length.
    """
    shape, model = (request.evidence_shape if evidence else request.model.shape), request.model
    efficiency = request.efficiency.of_observed_rows if cached else request.efficiency
    compute = prefill_figure(flops, length, request.device, efficiency, model.dtype)
    weights = weights_read(shape, bytes_per_weight=model.bytes_per_weight, batch=tokens, lm_head=not evidence)
    cache = sequence_bytes(shape, cached, request.kv, request.engine) if cached else 0
    one_pass = decode_figure(DecodeTraffic(weights, cache), len(shape.layers), request.device, request.efficiency)
    reading = sum_figure(
        [(1e-3, one_pass)], "s", "one pass over weights and KV" if cached else "one reading of the weights"
    )
    return max(compute, reading, key=lambda each: each.value)
