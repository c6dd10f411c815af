"""Floating-point operations of a prefill, a suffix and a decoded token; one multiply-add is 2. No seconds here.

Causal attention is counted as it is computed: query i sees i keys, so T(T+1)/2 scores, not T^2. Source of the
convention: flash-attention's benchmark script (causal halves); the full square would imply rates above the peak of
measured cards.
"""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.cost.model.shapes import Layer, ModelShape


@dataclass(frozen=True, slots=True)
class Flops:
    """FLOPs by part. ``linear`` are the matrix products with weights, ``total`` all of them."""

    projections: int
    attention: int
    ffn: int
    lm_head: int

    @property
    def linear(self) -> int:
        """Everything but attention: 2 FLOP per weight and token, LM head included."""
        return self.projections + self.ffn + self.lm_head

    @property
    def total(self) -> int:
        """All parts."""
        return self.linear + self.attention

    def __add__(self, other: Flops) -> Flops:
        return Flops(
            self.projections + other.projections,
            self.attention + other.attention,
            self.ffn + other.ffn,
            self.lm_head + other.lm_head,
        )

    def times(self, count: int) -> Flops:
        """The same work ``count`` times."""
        return Flops(self.projections * count, self.attention * count, self.ffn * count, self.lm_head * count)


def seen_keys(new: int, cached: int, window: int | None = None) -> int:
    """Pairs of query and visible key of ``new`` queries behind ``cached`` tokens.

    Full: n T0 + n(n+1)/2. Window W: each query sees at most W keys, itself included.

    >>> seen_keys(4, 0), seen_keys(2, 10), seen_keys(4, 0, window=2)
    (10, 23, 7)
    """
    whole = new * cached + new * (new + 1) // 2
    if window is None or cached + new <= window:
        return whole
    growing = max(0, min(new, window - cached))  # queries that still see everything before them
    return growing * cached + growing * (growing + 1) // 2 + (new - growing) * window


def attention_flops(layer: Layer, new: int, cached: int = 0) -> int:
    """Scores and values: 2 H (dk + dv) per visible pair. Recurrent: 2 products of the state per token.

    MLA is counted expanded in a prefill (heads of dk = nope + rope and dv), and absorbed for one token on a cache,
    where each cached token costs 2 H (latent + kv_rank); source: DeepSeek-V2, arXiv 2405.04434, section 2.1.
    """
    if layer.kind == "recurrent":
        return 4 * layer.state_elements * new
    if layer.kind == "latent" and new == 1 and cached:
        return 2 * layer.query_heads * (2 * layer.latent_width - layer.rope_dim) * (cached + 1)
    pairs = seen_keys(new, cached, layer.window)
    return 2 * layer.query_heads * (layer.key_dim + layer.value_dim) * pairs


def model_flops(shape: ModelShape, new: int, cached: int = 0, *, logits: int = 1) -> Flops:
    """FLOPs of ``new`` tokens behind ``cached`` ones; the LM head runs for ``logits`` positions (the last).

    A decoded token is ``new=1``.
    """
    return Flops(
        projections=2 * new * sum(layer.projection_weights for layer in shape.layers),
        attention=sum(attention_flops(layer, new, cached) for layer in shape.layers),
        ffn=2 * new * sum(layer.ffn_weights for layer in shape.layers),
        lm_head=2 * logits * shape.head_weights,
    )


def score_count(shape: ModelShape, tokens: int) -> int:
    """Scores of one prefill over all layers and heads, each of which is also one exponential: H T(T+1)/2."""
    return sum(
        layer.query_heads * seen_keys(tokens, 0, layer.window) for layer in shape.layers if layer.kind != "recurrent"
    )


def crossover_tokens(shape: ModelShape) -> int:
    """Length at which causal attention costs as much as the layers' matrix products.

    For full layers T = (layer weights) / (H (dk + dv) / 2): 6,144 for SmolLM2-135M, 53,248 for Llama-3-8B.
    """
    linear = 2 * sum(layer.projection_weights + layer.ffn_weights for layer in shape.layers)
    per_pair = sum(2 * layer.query_heads * (layer.key_dim + layer.value_dim) for layer in shape.layers) / 2
    return round(linear / per_pair) if per_pair else 0
