"""Everything that ``softlookup plan`` says about one request, gathered; the formulas live in their own modules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from softlookup.cost.figures import Figure, exact
from softlookup.cost.flops import Flops, crossover_tokens, model_flops, score_count
from softlookup.cost.kv_cache import (
    kv_bytes,
    kv_bytes_by_layer,
    kv_bytes_per_token,
    sequence_bytes,
    state_bytes,
)
from softlookup.cost.memory import Observation, logits_bytes, observation, score_chunk_bytes, score_matrix_bytes
from softlookup.cost.plan.decision import AskedStrategy, Decision, decide
from softlookup.cost.plan.plan_texts import say
from softlookup.cost.plan.request import PlanRequest, window_line
from softlookup.cost.plan.steps import bank_seconds, decode_milliseconds, prefill_seconds, suffix_seconds
from softlookup.cost.plan.strategies import StrategyCost, strategy_costs
from softlookup.cost.pool import Pool, pool_of
from softlookup.cost.seconds import DecodeTraffic, bound_by, sum_figure, weights_read


@dataclass(frozen=True, slots=True)
class Intensity:
    """FLOP per byte of a prefill and of one decoded token, beside the device's ridge point."""

    prefill: float
    decode: float
    ridge: float
    prefill_bound: str
    decode_bound: str


@dataclass(frozen=True, slots=True)
class CostEstimate:
    """The estimate of a request. ``warnings``: one line each, for stderr."""

    request: PlanRequest
    flops: Flops
    decode_flops: Flops
    traffic: DecodeTraffic
    intensity: Intensity
    pool: Pool
    observation: Observation
    strategies: tuple[StrategyCost, ...]
    decision: Decision
    figures: dict[str, Figure]
    warnings: tuple[str, ...]

    @property
    def chosen(self) -> StrategyCost | None:
        """The row of the decision, None when nothing is possible."""
        return next((row for row in self.strategies if row.name == self.decision.strategy), None)

    def to_dict(self) -> dict[str, Any]:
        """The estimate for JSON: plain numbers, and under ``figures`` the kind, interval and formula of each."""
        request, shape, flops = self.request, self.request.model.shape, self.flops
        plain = {
            name: int(figure.value) if figure.unit.startswith("B") else figure.value
            for name, figure in self.figures.items()
            if not name.startswith("flops.")
        }
        return {
            "schema": 1,
            "tokens": request.tokens,
            "model": {
                "name": shape.name, "architecture": shape.architecture, "layers": len(shape.layers),
                "context": shape.context, "dtype": request.model.dtype, "origin": request.model.origin,
                "notes": list(shape.notes),
            },
            "device": {"name": request.device.name, "count": request.device.count},
            "engine": request.engine.name,
            **plain,
            "kv_bytes_by_layer": list(kv_bytes_by_layer(shape, request.tokens, request.kv, request.engine)),
            "flops": {
                "projections": flops.projections, "attention": flops.attention, "ffn": flops.ffn,
                "lm_head": flops.lm_head, "total": flops.total,
            },
            "arithmetic_intensity": {
                "prefill": self.intensity.prefill, "decode": self.intensity.decode, "ridge": self.intensity.ridge,
                "prefill_bound_by": self.intensity.prefill_bound, "decode_bound_by": self.intensity.decode_bound,
            },
            "observation": {name: getattr(self.observation, name) for name in Observation.__dataclass_fields__},
            "strategies": [row.to_dict() for row in self.strategies],
            "decision": self.decision.to_dict(),
            "warnings": list(self.warnings),
            "figures": {name: figure.to_dict() for name, figure in self.figures.items()},
        }  # fmt: skip


def estimate(request: PlanRequest, strategy: AskedStrategy = "auto") -> CostEstimate:
    """The estimate. That nothing fits the device is a result, not an error: the decision says so.

    Raises ``CapacityError`` when a ``strategy`` that is asked for is not possible.
    """
    shape, tokens = request.model.shape, request.tokens
    pool = pool_of(request)
    rows = strategy_costs(request, pool)
    weights = weights_read(shape, bytes_per_weight=request.model.bytes_per_weight)
    traffic = DecodeTraffic(weights, sequence_bytes(shape, tokens, request.kv, request.engine))
    flops, decode_flops = model_flops(shape, tokens), model_flops(shape, 1, tokens)
    return CostEstimate(
        request, flops, decode_flops, traffic, _intensity(request, flops, decode_flops, traffic), pool,
        observation(shape, tokens), rows, decide(request, pool, rows, strategy),
        _figures(request, flops, pool),
        tuple(_warnings(request)),
    )  # fmt: skip


def _intensity(request: PlanRequest, flops: Flops, decoded: Flops, traffic: DecodeTraffic) -> Intensity:
    """Prefill: weights once and the cache written and read once (fused attention keeps tiles on chip)."""
    moved = traffic.weights + 2 * traffic.kv
    prefill, decode = flops.total / moved, decoded.total / traffic.total
    device = request.device
    return Intensity(
        prefill,
        decode,
        device.ridge,
        bound_by(flops.total, moved, device),
        bound_by(decoded.total, traffic.total, device),
    )


def _figures(request: PlanRequest, flops: Flops, pool: Pool) -> dict[str, Figure]:
    shape, tokens, engine = request.model.shape, request.tokens, request.engine
    cache = kv_bytes(shape, tokens, request.kv, engine)
    cached = Figure(cache, "B", engine.kind, cache, cache, "sum of all layers, cost/kv_cache.py", _engine(request))
    per_token = kv_bytes_per_token(shape, request.kv, engine)
    prefill, decode = prefill_seconds(request, tokens), decode_milliseconds(request, tokens)
    room = tokens if request.room is None else max(1, min(tokens, request.room))
    looks = [(1.0, bank_seconds(request, room)), (1.0, suffix_seconds(request, room, evidence=True))]
    answer = sum_figure([(1.0, prefill), (1e-3 * request.answer_tokens, decode)], "s", "prefill + answer x decode")
    counted = "tensor table" if shape.counted is not None else "formula of the architecture"
    found = {
        "parameters": _counted(request, shape.parameters, counted),
        "active_parameters": _counted(request, shape.active_parameters, "K of E experts, both embeddings"),
        "weight_bytes": request.model.weight_bytes,
        "kv_bytes": cached,
        "kv_bytes_per_token": Figure(per_token, "B/token", engine.kind, per_token, per_token, "layers that keep all"),
        "state_bytes": exact(state_bytes(shape, request.kv), "B", "recurrent layers, per sequence, fp32"),
        "score_matrix_bytes": exact(score_matrix_bytes(shape, tokens), "B", "one layer, all heads, fp16: H T^2 2"),
        "score_chunk_bytes": exact(score_chunk_bytes(shape, tokens), "B", "unfused, 512 rows, fp32: H 512 T 4"),
        "logits_bytes": exact(logits_bytes(shape.vocab_size, tokens), "B", "of all positions, fp32: T V 4"),
        "softmax_exponentials": exact(score_count(shape, tokens), "", "H T(T+1)/2 per layer"),
        "crossover_tokens": exact(crossover_tokens(shape), "tokens", "attention = matrix products"),
        "prefill_seconds": prefill,
        "decode_ms_per_token": decode,
        "observation_seconds": sum_figure(looks, "s", "off-topic bank and question behind the document or one window"),
        "answer_seconds": answer,
        "workspace_bytes": pool.workspace,
        "kv_pool_bytes": pool.available,
        "max_concurrency": pool.requests,
        "max_tokens_of_one_request": pool.longest,
    }  # fmt: skip
    for part in ("projections", "attention", "ffn", "lm_head", "total"):
        found[f"flops.{part}"] = exact(getattr(flops, part), "FLOP", "2 per multiply-add; causal; LM head once")
    return found


def _counted(request: PlanRequest, value: int, formula: str) -> Figure:
    """Exact, unless the family is unknown and biases and norms were assumed."""
    if any("is not known" in note for note in request.model.shape.notes):
        return Figure(value, "parameters", "prior", 0.98 * value, 1.02 * value, formula)
    return exact(value, "parameters", formula)


def _engine(request: PlanRequest) -> str:
    versions = {"tensors": "what the architecture needs", "transformers": "transformers 5.x DynamicCache",
                "llama.cpp": "llama.cpp iSWA, 2025-12 on", "vllm": "vLLM 0.19 hybrid allocator"}  # fmt: skip
    return versions[request.engine.name]


def _warnings(request: PlanRequest) -> list[str]:
    line = "" if request.fits_window else window_line(request)
    found = [say(request.language, "not_offered", line=line)] if line else []
    return [*found, *request.model.shape.notes]
