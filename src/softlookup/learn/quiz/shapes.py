"""The plain decoder that questions about cost are asked of."""

from __future__ import annotations

from softlookup.cost.model.shapes import Layer, ModelShape


def decoder(layers: int, heads: int, kv_heads: int, head_dim: int, vocabulary: int = 32_000) -> ModelShape:
    """D = heads x head_dim; Q, K, V and output projections, and an FFN of two D x 4D matrices."""
    width = heads * head_dim
    projections = 2 * width * width + 2 * width * kv_heads * head_dim
    layer = Layer("full", heads, kv_heads, head_dim, head_dim, projections, 8 * width * width)
    return ModelShape("decoder", width, vocabulary, tied=False, layers=(layer,) * layers)
