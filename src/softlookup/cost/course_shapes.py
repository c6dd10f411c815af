"""The course page's model in the variants that its account needs; its sizes are the page's, its vocabulary is not."""

from __future__ import annotations

from softlookup.cost.model.shapes import Layer, ModelShape

TOKENS = 131_072
LAYERS, WIDTH, HEADS, HEAD_DIM = 24, 4096, 32, 128
# the page states none; this one belongs to current models of the size and gives the LM head 1.05 GB
VOCABULARY = 128_256
RETRIEVED = 8 * 4096


def course_shape(kv_heads: int = HEADS, *, gated: bool = False) -> ModelShape:
    """L 24, D 4096, H 32, d_k 128; FFN two D x 4D matrices, or three D x 3.5D when ``gated`` (SwiGLU)."""
    ffn = 3 * WIDTH * (7 * WIDTH // 2) if gated else 2 * WIDTH * 4 * WIDTH
    projections = 2 * WIDTH * HEADS * HEAD_DIM + 2 * WIDTH * kv_heads * HEAD_DIM
    layer = Layer("full", HEADS, kv_heads, HEAD_DIM, HEAD_DIM, projections, ffn)
    return ModelShape("contract-qa", WIDTH, VOCABULARY, tied=False, layers=(layer,) * LAYERS, context=TOKENS)
