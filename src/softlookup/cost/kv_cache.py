"""Bytes of the key/value cache, layer by layer, under the policy of an engine. Weights and time are not here.

Formulas: full T Hkv (dk b_k + dv b_v); window: the engine's cells instead of T; MLA (DeepSeek-V2, arXiv 2405.04434)
T (rank + rope) b, one tensor; shared KV 0; recurrent layers 0, their constant state is :func:`state_bytes`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from softlookup.cost.figures import Kind
from softlookup.cost.model.dtypes import storage_bytes
from softlookup.cost.model.shapes import MAX_TOKENS, Layer, ModelShape
from softlookup.errors import UsageError

EngineName = Literal["tensors", "transformers", "llama.cpp", "vllm"]
ENGINES: tuple[EngineName, ...] = ("tensors", "transformers", "llama.cpp", "vllm")


@dataclass(frozen=True, slots=True)
class EnginePolicy:
    """How an engine sizes the cache. ``tensors`` is what the architecture needs, whatever runs it.

    ``transformers`` (5.24, DynamicCache built with the configuration): window layers keep W - 1 tokens, MLA its latent
    vector. ``llama.cpp`` (iSWA, 2025-12 on): ``pad256(min(T, W n_seq + n_ubatch))`` cells per window layer;
    ``swa_full`` gives all. ``vllm`` (hybrid allocator): blocks of 16 tokens; a window layer holds those of
    ``min(W - 1 + max_num_batched_tokens, T)`` tokens and one more. ``expand_latent``: MLA heads are cached
    decompressed, as llama.cpp did before its MLA support.
    """

    name: EngineName = "tensors"
    n_ubatch: int = 512
    n_seq: int = 1
    swa_full: bool = False
    block: int = 16
    max_num_batched_tokens: int = 8192
    expand_latent: bool = False

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise UsageError(f"the engine {self.name!r} is not known", f"use one of {', '.join(ENGINES)}")
        for name in ("n_ubatch", "n_seq", "block", "max_num_batched_tokens"):
            if not 1 <= getattr(self, name) <= 1 << 24:
                raise UsageError(f"{name} must lie between 1 and {1 << 24:,}, got {getattr(self, name)}", "correct it")

    @property
    def kind(self) -> Kind:
        """How well the sizes are known."""
        return "exact" if self.name == "tensors" else "version-bound"

    def cells(self, tokens: int, window: int | None) -> int:
        """Tokens that one layer stores for a sequence of ``tokens``."""
        if self.name == "vllm":
            if window is None:
                return math.ceil(tokens / self.block) * self.block
            held = min(window - 1 + self.max_num_batched_tokens, tokens)
            return (math.ceil(held / self.block) + 1) * self.block
        if window is None or (self.name == "llama.cpp" and self.swa_full):
            return tokens
        if self.name == "transformers":
            return min(tokens, max(1, window - 1))
        if self.name == "llama.cpp":
            return math.ceil(min(tokens, window * self.n_seq + self.n_ubatch) / 256) * 256
        return min(tokens, window)


TENSORS = EnginePolicy()


@dataclass(frozen=True, slots=True)
class KVDtypes:
    """Storage of keys and of values; MLA's one tensor uses that of keys. ``state``: recurrent layers."""

    key: str = "bf16"
    value: str = "bf16"
    state: str = "f32"


def layer_kv_bytes(layer: Layer, tokens: int, dtypes: KVDtypes, engine: EnginePolicy = TENSORS) -> int:
    """Bytes of one layer for one sequence of ``tokens``."""
    if layer.owner is not None or layer.kind == "recurrent":
        return 0
    if layer.kind == "latent" and not engine.expand_latent:
        return storage_bytes(engine.cells(tokens, None) * layer.latent_width, dtypes.key)
    heads = engine.cells(tokens, layer.window) * layer.kv_heads
    return storage_bytes(heads * layer.key_dim, dtypes.key) + storage_bytes(heads * layer.value_dim, dtypes.value)


def kv_bytes_by_layer(
    shape: ModelShape, tokens: int, dtypes: KVDtypes | None = None, engine: EnginePolicy = TENSORS
) -> tuple[int, ...]:
    """Bytes of every layer. Raises ``UsageError`` for a length that is negative or absurd."""
    check_tokens(tokens)
    types = dtypes or KVDtypes()
    return tuple(layer_kv_bytes(layer, tokens, types, engine) for layer in shape.layers)


def kv_bytes(shape: ModelShape, tokens: int, dtypes: KVDtypes | None = None, engine: EnginePolicy = TENSORS) -> int:
    """Bytes of the whole cache for one sequence of ``tokens``."""
    return sum(kv_bytes_by_layer(shape, tokens, dtypes, engine))


def state_bytes(shape: ModelShape, dtypes: KVDtypes | None = None) -> int:
    """State of the recurrent layers of one sequence, whatever its length; no part of the KV cache."""
    return storage_bytes(sum(layer.state_elements for layer in shape.layers), (dtypes or KVDtypes()).state)


def sequence_bytes(
    shape: ModelShape, tokens: int, dtypes: KVDtypes | None = None, engine: EnginePolicy = TENSORS
) -> int:
    """What one sequence occupies: KV cache and recurrent state."""
    return kv_bytes(shape, tokens, dtypes, engine) + state_bytes(shape, dtypes)


def kv_bytes_per_token(shape: ModelShape, dtypes: KVDtypes | None = None, engine: EnginePolicy = TENSORS) -> int:
    """What one token occupies in the layers that keep every token; window and recurrent layers do not grow.

    A model whose layers all have windows grows until they are full: then its window layers are counted.
    """
    plain = replace(engine, name="tensors", expand_latent=engine.expand_latent)
    growing: Sequence[Layer] = [layer for layer in shape.layers if layer.kind in ("full", "latent")]
    growing = growing or [layer for layer in shape.layers if layer.kind == "window"]
    # 256 tokens make whole blocks of every storage type
    return sum(layer_kv_bytes(replace(layer, kind="full", window=None) if layer.window else layer, 256,
                              dtypes or KVDtypes(), plain) for layer in growing) // 256  # fmt: skip


def check_tokens(tokens: int, what: str = "tokens") -> None:
    """Raise ``UsageError`` for a number of tokens that no model reads."""
    if not 1 <= tokens <= MAX_TOKENS:
        raise UsageError(f"{what} must lie between 1 and {MAX_TOKENS:,}, got {tokens:,}", "pass the length in tokens")
