"""The scoring functions of 2014 to 2017 (and general with a scale, as transformers have it), with their parameters.

Several seeds lie side by side as the first axis S.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

Parameters = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Scorer:
    """How well a key fits a query.

    ``score(parameters, query [S, B, Tq, d], key [S, B, Tk, d])`` gives [S, B, Tq, Tk]. ``shapes(d)``: its parameters,
    drawn with standard deviation d**-0.5, so that what a matrix gives has the variance of what it takes.
    """

    shapes: Callable[[int], dict[str, tuple[int, ...]]]
    score: Callable[[Parameters, torch.Tensor, torch.Tensor], torch.Tensor]

    def parameters(self, d: int, seeds: int = 1) -> Parameters:
        """Of seeds 0, 1, ...: each tensor [S, ...], float64."""
        drawn: dict[str, list[torch.Tensor]] = {name: [] for name in self.shapes(d)}
        for seed in range(seeds):
            draw = torch.Generator().manual_seed(1000 + seed)
            for name, shape in self.shapes(d).items():
                drawn[name].append(torch.randn(shape, generator=draw, dtype=torch.float64) * d**-0.5)
        return {name: torch.stack(each) for name, each in drawn.items()}

    def count(self, d: int) -> int:
        """Number of parameters."""
        return sum(torch.Size(shape).numel() for shape in self.shapes(d).values())


def _additive(parameters: Parameters, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    """One tanh per query, key and coordinate: v . tanh(W q + U k)."""
    asked = query @ parameters["W"][:, None]  # [S, B, Tq, d]
    offered = key @ parameters["U"][:, None]  # [S, B, Tk, d]
    hidden = torch.tanh(asked[..., :, None, :] + offered[..., None, :, :])  # [S, B, Tq, Tk, d]
    return (hidden @ parameters["v"][:, None, None, :, None]).squeeze(-1)


def _dot(_parameters: Parameters, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query @ key.transpose(-1, -2)


def _general(parameters: Parameters, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = query @ parameters["W"][:, None] @ key.transpose(-1, -2)
    return found


def _general_scaled(parameters: Parameters, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return _general(parameters, query, key) / math.sqrt(query.shape[-1])


def _scaled(_parameters: Parameters, query: torch.Tensor, key: torch.Tensor) -> torch.Tensor:
    return query @ key.transpose(-1, -2) / math.sqrt(query.shape[-1])


SCORERS: dict[str, Scorer] = {
    "additive": Scorer(lambda d: {"W": (d, d), "U": (d, d), "v": (d,)}, _additive),
    "dot": Scorer(lambda _d: {}, _dot),
    "general": Scorer(lambda d: {"W": (d, d)}, _general),
    "scaled dot": Scorer(lambda _d: {}, _scaled),
    "scaled general": Scorer(lambda d: {"W": (d, d)}, _general_scaled),
}


def bytes_for_backward(scorer: Scorer, length: int, d: int) -> int:
    """Bytes of the tensors that autograd keeps for one [T, T] of scores in float64, each storage once."""
    kept: dict[int, int] = {}
    held: list[torch.Tensor] = []  # storages must stay alive, or an address could come twice

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        held.append(tensor)
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    query, key = (torch.ones(1, 1, length, d, dtype=torch.float64, requires_grad=True) for _ in range(2))
    parameters = {name: each.requires_grad_() for name, each in scorer.parameters(d).items()}
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        scorer.score(parameters, query, key)
    return sum(kept.values())
