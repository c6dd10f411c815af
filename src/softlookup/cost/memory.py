"""Bytes beside weights and cache: the score matrix of the course page, workspace, logits, cost of observation."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.cost.model.shapes import ModelShape


def score_matrix_bytes(shape: ModelShape, tokens: int, bytes_per_score: int = 2) -> int:
    """[1, H, T, T] of one layer with all its heads, in fp16: what a materialised score matrix would take."""
    return max(layer.query_heads for layer in shape.layers) * tokens * tokens * bytes_per_score


def score_chunk_bytes(shape: ModelShape, tokens: int, rows: int = 512) -> int:
    """Scores of ``rows`` queries in fp32, which unfused attention keeps at once: H rows T 4."""
    return max(layer.query_heads for layer in shape.layers) * rows * tokens * 4


def llama_cpp_compute_bytes(shape: ModelShape, tokens: int, rows: int = 512, *, flash_attention: bool = False) -> int:
    """llama.cpp's compute buffer, version-bound: the larger of attention and output.

    Attention off flash: scores H rows T 4, mask rows T 4 and four activations rows D 4; with it the scores are gone.
    Output: logits rows V 4 and one activation. Source: logged buffers of Llama-3.1-8B (8,480.01 MiB at 131,072
    tokens = 8,192 + 256 + 32) and 258.5 MiB at short lengths (= 250.5 + 8).
    """
    scores = 0 if flash_attention else score_chunk_bytes(shape, tokens, rows)
    activation = rows * shape.hidden_size * 4
    return max(scores + rows * tokens * 4 + 4 * activation, rows * shape.vocab_size * 4 + activation)


def logits_bytes(vocabulary: int, positions: int, bytes_per_logit: int = 4) -> int:
    """Logits of ``positions`` in fp32: T V 4 when an implementation keeps them all; only the last is needed."""
    return vocabulary * positions * bytes_per_logit


@dataclass(frozen=True, slots=True)
class Observation:
    """Bytes of looking at attention during one prefill of T tokens, and the FLOPs of statistics on few rows.

    ``weights`` is ``output_attentions`` in fp16: one layer's matrix for every layer.
    """

    weights: int
    row_statistics: int
    column_sums: int
    span_mass_all_rows: int
    span_mass: int
    extra_flops: int


def observation(shape: ModelShape, tokens: int, *, spans: int = 200, rows: int = 256) -> Observation:
    """Costs of ``spans`` clauses watched from the last ``rows`` queries (a question), and of the alternatives.

    Formulas: statistics 4 per query and head, 4 bytes each; column sums 4 bytes per key, layer and head; span mass
    4 bytes per row, head and span; one more QK^T for the watched rows: 2 H dk per visible pair.
    """
    watched = min(rows, tokens)
    layers = [layer for layer in shape.layers if layer.query_heads]
    heads = sum(layer.query_heads for layer in layers)
    pairs = watched * tokens - watched * (watched - 1) // 2
    return Observation(
        weights=heads * tokens * tokens * 2,
        row_statistics=4 * heads * tokens * 4,
        column_sums=heads * tokens * 4,
        span_mass_all_rows=heads * tokens * spans * 4,
        span_mass=heads * watched * spans * 4,
        extra_flops=sum(2 * layer.query_heads * layer.key_dim * pairs for layer in layers),
    )
