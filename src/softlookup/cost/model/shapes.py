"""What a model is made of, layer by layer: the input of every formula in this package. Reads no files.

Symbols in this package: T tokens, L layers, D hidden width, H query heads, Hkv key/value heads, dk and dv their
widths, W sliding window, V vocabulary, K of E experts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from softlookup.errors import ModelError

LayerKind = Literal["full", "window", "latent", "recurrent"]

# beyond these a size is a damaged file, not a model: the largest public ones stay under a hundredth of them
MAX_LAYERS = 2_000
MAX_WIDTH = 1 << 24
MAX_TOKENS = 1 << 40


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer. Widths are per head, weights are numbers of parameters.

    ``projection_weights`` and ``ffn_weights`` take part in matrix products (``ffn_weights`` of the experts that one
    token uses), ``idle_expert_weights`` belong to the other experts, ``small_weights`` are norms, biases and sinks.
    ``owner`` is the layer whose keys and values this one reads instead of its own (shared KV).
    ``latent_width`` is the width of the one cached vector per token of MLA (kv_lora_rank + ``rope_dim``).
    ``state_elements`` is the state per sequence of a recurrent layer, whatever the length.
    """

    kind: LayerKind
    query_heads: int
    kv_heads: int
    key_dim: int
    value_dim: int
    projection_weights: int
    ffn_weights: int
    idle_expert_weights: int = 0
    small_weights: int = 0
    window: int | None = None
    owner: int | None = None
    latent_width: int = 0
    rope_dim: int = 0
    state_elements: int = 0

    def __post_init__(self) -> None:
        for name in ("query_heads", "kv_heads", "key_dim", "value_dim"):
            value = getattr(self, name)
            if not (0 if self.kind == "recurrent" else 1) <= value <= MAX_WIDTH:
                raise ModelError(f"a layer needs 1 to {MAX_WIDTH:,} {name}, got {value:,}", "check the configuration")
        if self.kind in ("full", "window") and self.query_heads % self.kv_heads:
            raise ModelError(
                f"query heads must be a multiple of key/value heads, got {self.query_heads} and {self.kv_heads}",
                "check num_attention_heads and num_key_value_heads",
            )
        if (self.kind == "window") != (self.window is not None):
            raise ModelError("a window layer, and no other, needs a window", "check sliding_window")
        if self.window is not None and self.window < 1:
            raise ModelError(f"a sliding window holds at least 1 token, got {self.window}", "check sliding_window")

    @property
    def weights(self) -> int:
        """All parameters of the layer."""
        return self.projection_weights + self.ffn_weights + self.idle_expert_weights + self.small_weights


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder: embedding, layers, final norm and LM head.

    ``other_weights``: the final norm and whatever belongs to no layer. ``context``: the trained window, None when
    unknown. ``notes``: what was missing and assumed. ``counted``: parameters counted in a file, which win over sums.
    """

    name: str
    hidden_size: int
    vocab_size: int
    tied: bool
    layers: tuple[Layer, ...]
    other_weights: int = 0
    context: int | None = None
    expert_count: int = 0
    experts_per_token: int = 0
    notes: tuple[str, ...] = ()
    counted: int | None = None
    architecture: str = ""
    dtype: str | None = field(default=None)

    def __post_init__(self) -> None:
        if not 1 <= len(self.layers) <= MAX_LAYERS:
            raise ModelError(f"a model has 1 to {MAX_LAYERS:,} layers, got {len(self.layers):,}", "check the file")
        for index, layer in enumerate(self.layers):
            if layer.owner is not None and not 0 <= layer.owner < index:
                raise ModelError(f"layer {index} cannot share the KV of layer {layer.owner}", "check the configuration")

    @property
    def head_weights(self) -> int:
        """Weights of the LM head, read once per decoded token even when they are the embedding's: D V."""
        return self.hidden_size * self.vocab_size

    @property
    def parameters(self) -> int:
        """All parameters; tied embeddings count once. Formula: embed + layers + final norm."""
        if self.counted is not None:
            return self.counted
        embeddings = self.head_weights * (1 if self.tied else 2)
        return embeddings + sum(layer.weights for layer in self.layers) + self.other_weights

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses: K of E experts, and both embeddings, as public counts do."""
        return self.parameters - sum(layer.idle_expert_weights for layer in self.layers)
