"""A decoder of two layers in float64 whose attention step can be a wrong one; trains on a CPU in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from softlookup.attention import KVCache
from softlookup.attention.rope import RotaryEmbedding
from softlookup.learn.toy.mistakes import MISTAKES, Mistake, attend


@dataclass(frozen=True)
class ToyShape:
    """Sizes under their usual names; ``head_dim`` D need not be hidden_size / num_attention_heads."""

    vocabulary: int
    hidden_size: int = 64
    num_hidden_layers: int = 2
    num_attention_heads: int = 2
    head_dim: int = 32
    intermediate_size: int = 128


@dataclass
class _Record:
    """Rotated queries and keys of every layer, [B, H, T, D], of the latest pass."""

    query: list[torch.Tensor] = field(default_factory=list)
    key: list[torch.Tensor] = field(default_factory=list)


class ToyDecoder(torch.nn.Module):
    """Embedding, layers of attention and MLP around a residual stream, unembedding; RMS norms without parameters.

    ``mistake``: how its attention departs from the right one, in training and after it.
    Weights are drawn so that queries and keys start with unit variance.
    """

    def __init__(self, shape: ToyShape, mistake: Mistake = MISTAKES["right"], seed: int = 0) -> None:
        super().__init__()
        self.shape, self.mistake = shape, mistake
        self.rope = RotaryEmbedding(shape.head_dim, theta=1000.0)
        draw = torch.Generator().manual_seed(seed)

        def weight(rows: int, columns: int, spread: float) -> torch.nn.Parameter:
            drawn = torch.randn(rows, columns, generator=draw, dtype=torch.float64)
            return torch.nn.Parameter(drawn * spread)

        hidden, inner = shape.hidden_size, shape.num_attention_heads * shape.head_dim
        self.embedding = weight(shape.vocabulary, hidden, 1.0)
        self.layers = torch.nn.ModuleList(
            torch.nn.ParameterDict({
                "query": weight(hidden, inner, hidden**-0.5),
                "key": weight(hidden, inner, hidden**-0.5),
                "value": weight(hidden, inner, hidden**-0.5),
                "out": weight(inner, hidden, inner**-0.5 / 2),
                "up": weight(hidden, shape.intermediate_size, hidden**-0.5),
                "down": weight(shape.intermediate_size, hidden, shape.intermediate_size**-0.5 / 2),
            })
            for _ in range(shape.num_hidden_layers)
        )  # fmt: skip
        self.head = weight(hidden, shape.vocabulary, hidden**-0.5)
        self.latest = _Record()

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor | None = None, cache: KVCache | None = None
    ) -> torch.Tensor:
        """Logits [B, T, V] of tokens [B, T], which follow what ``cache`` holds and are added to it.

        ``positions`` [T] turn queries and keys; by default those that follow the cached ones.
        """
        start = 0 if cache is None else cache.length
        if positions is None:
            positions = torch.arange(start, start + tokens.shape[1])
        x = self.embedding[tokens]  # [B, T, hidden]
        self.latest = _Record()
        for number in range(self.shape.num_hidden_layers):
            layer = self._layer(number)
            x = x + self._attention(number, _normed(x), positions, cache) @ layer["out"]
            x = x + torch.nn.functional.silu(_normed(x) @ layer["up"]) @ layer["down"]
        return _normed(x) @ self.head

    def _attention(self, number: int, x: torch.Tensor, positions: torch.Tensor, cache: KVCache | None) -> torch.Tensor:
        """[B, T, H * D] of x [B, T, hidden]."""
        layer = self._layer(number)
        query, key, value = (self._heads(x @ layer[name]) for name in ("query", "key", "value"))
        query, key = self.rope.apply(query, positions), self.rope.apply(key, positions)
        if cache is not None:
            key, value, *_ = cache.append(number, key, value)
        self.latest.query.append(query.detach())
        self.latest.key.append(key.detach())
        return attend(query, key, value, mistake=self.mistake).transpose(1, 2).flatten(2)

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        """[B, T, H * D] -> [B, H, T, D]."""
        return x.reshape(*x.shape[:2], self.shape.num_attention_heads, self.shape.head_dim).transpose(1, 2)

    def _layer(self, number: int) -> dict[str, torch.Tensor]:
        layer: Any = self.layers[number]  # a ParameterDict
        found: dict[str, torch.Tensor] = layer
        return found


def _normed(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)
