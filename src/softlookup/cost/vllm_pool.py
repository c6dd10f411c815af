"""vLLM's cache pool: memory left for it, blocks, what its log line says, and how many requests it holds.

Version-bound: the hybrid allocator of vLLM 0.19 and the memory budget of 0.10 to 0.21.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
from softlookup.cost.model.dtypes import element_bytes
from softlookup.cost.model.shapes import Layer, ModelShape
from softlookup.errors import CapacityError

GIB = 1 << 30
VLLM = EnginePolicy("vllm")
# Peak of torch during the profile run, GiB, as vLLM logged it on an H100 at utilisation 0.95. It fell between two
# versions of one engine for one model, which is why it is kept by version.
# Source: llm-d-planner, accuracy_report.md, part 2.
LOGGED_ACTIVATION_PEAKS: dict[tuple[str, str], float] = {
    ("Qwen3-14B", "0.15"): 5.64, ("Qwen3-14B", "0.16"): 5.64, ("Qwen3-14B", "0.17"): 2.23, ("Qwen3-14B", "0.18"): 2.23,
    ("Llama-3.1-8B", "0.19"): 1.89, ("Qwen2.5-7B", "0.19"): 2.21, ("Gemma-3-27B", "0.19"): 3.99,
}  # fmt: skip
# From 0.17 on the sampler sets the peak: all logged ones lie within 3 % of this many bytes per logit
# of max_num_seqs rows (1,024 on cards of 70 GiB and more, else 256)
_SAMPLER_BYTES_PER_LOGIT = 15.5


def activation_peak(shape: ModelShape, device_bytes: float) -> float:
    """Bytes of the activation peak of vLLM 0.17 and later, a prior: 15.5 max_num_seqs V, at least 1 GiB."""
    rows = 1024 if device_bytes >= 70 * GIB else 256
    return max(float(GIB), _SAMPLER_BYTES_PER_LOGIT * rows * shape.vocab_size)


def available_kv_bytes(
    total: float, utilisation: float, weights: float, activation: float, non_torch: float, graphs: float = 0.0
) -> float:
    """Total x utilisation - weights - activation peak - non-torch; CUDA graphs are subtracted from v0.21 on only.

    Source: vLLM's profile run; the change of 0.21 is gpustack/runner PR #251.
    """
    return total * utilisation - weights - activation - non_torch - graphs


@dataclass(frozen=True, slots=True)
class BlockPool:
    """``blocks`` shared by ``groups`` groups of layers: their windows (None: full), one entry per group."""

    blocks: int
    groups: tuple[int | None, ...]
    block: int
    max_num_batched_tokens: int
    padding_layers: int = 0

    @property
    def logged_tokens(self) -> int:
        """The number behind "GPU KV cache size": floor(blocks / groups) x block, no capacity for hybrid models."""
        return self.blocks // len(self.groups) * self.block

    def blocks_per_request(self, tokens: int) -> int:
        """Blocks of one request: ceil(T / block) per full group; windows hold W - 1 and a batch, and one block."""
        used = 0
        for window in self.groups:
            if window is None:
                used += math.ceil(tokens / self.block)
            else:
                held = min(window - 1 + self.max_num_batched_tokens, tokens)
                used += math.ceil(held / self.block) + 1
        return used

    def concurrency(self, tokens: int) -> float:
        """Requests of ``tokens`` that fit at once."""
        return self.blocks / self.blocks_per_request(tokens)


def block_pool(
    shape: ModelShape, available: float, dtypes: KVDtypes | None = None, engine: EnginePolicy = VLLM, ranks: int = 1
) -> BlockPool:
    """The pool that ``available`` bytes give (per GPU; ``ranks``: tensor parallel, Hkv per rank at least 1).

    Layers are bucketed by kind; a group is as large as the smallest bucket, or the largest when that is under 1.5 of
    it; buckets are padded to whole groups. Raises ``CapacityError`` when nothing is left for the cache.
    """
    caching = [layer for layer in shape.layers if layer.owner is None and layer.kind != "recurrent"]
    buckets = Counter(layer.window for layer in caching)
    if available <= 0 or not buckets:
        raise CapacityError(
            f"no memory is left for the KV cache ({available / GIB:.2f} GiB)", "use a larger device or smaller weights"
        )
    size = _group_size(list(buckets.values()))
    groups: list[int | None] = []
    for window, count in buckets.items():
        groups += [window] * math.ceil(count / size)
    page = max(_page_bytes(layer, dtypes or KVDtypes(), engine, ranks) for layer in caching)
    blocks = int(available // (page * size))
    return BlockPool(
        blocks, tuple(groups), engine.block, engine.max_num_batched_tokens, len(groups) * size - len(caching)
    )


def _group_size(counts: Sequence[int]) -> int:
    smallest, largest = min(counts), max(counts)
    return largest if largest < 1.5 * smallest else smallest


def _page_bytes(layer: Layer, dtypes: KVDtypes, engine: EnginePolicy, ranks: int) -> float:
    """One block of one layer: block x Hkv (dk b_k + dv b_v), or block x latent width for MLA."""
    key, value = float(element_bytes(dtypes.key)), float(element_bytes(dtypes.value))
    if layer.kind == "latent" and not engine.expand_latent:
        return engine.block * layer.latent_width * key  # the latent is replicated on every rank
    heads = max(1, layer.kv_heads // ranks)
    return engine.block * heads * (layer.key_dim * key + layer.value_dim * value)
