"""Attention in one function with the steps that people get wrong as arguments; the right one and planted mistakes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

Visible = Callable[[int, int], torch.Tensor]


def causal(q_length: int, kv_length: int) -> torch.Tensor:
    """Bool [Tq, Tk], True = attend: lower triangle, aligned bottom right."""
    return torch.ones(q_length, kv_length, dtype=torch.bool).tril(kv_length - q_length)


def _upper(q_length: int, kv_length: int) -> torch.Tensor:
    return torch.ones(q_length, kv_length, dtype=torch.bool).triu(kv_length - q_length)


def _everything(q_length: int, kv_length: int) -> torch.Tensor:
    return torch.ones(q_length, kv_length, dtype=torch.bool)


def _without_own(q_length: int, kv_length: int) -> torch.Tensor:
    return torch.ones(q_length, kv_length, dtype=torch.bool).tril(kv_length - q_length - 1)


def _and_next(q_length: int, kv_length: int) -> torch.Tensor:
    return torch.ones(q_length, kv_length, dtype=torch.bool).tril(kv_length - q_length + 1)


def _top_left(q_length: int, kv_length: int) -> torch.Tensor:
    return torch.ones(q_length, kv_length, dtype=torch.bool).tril()


@dataclass(frozen=True)
class Mistake:
    """How an attention function departs from the right one; the defaults do not.

    ``visible(Tq, Tk)``: who sees whom. ``power``: scores are q.k / D**power. ``after_softmax``: hidden weights
    become 0 after the softmax instead of their scores -inf before it.
    """

    visible: Visible = causal
    power: float = 0.5
    after_softmax: bool = False

    def scale(self, head_dim: int) -> float:
        """What q.k is multiplied by."""
        return float(head_dim**-self.power)


MISTAKES: dict[str, Mistake] = {
    "right": Mistake(),
    "no scale": Mistake(power=0.0),
    "divide by d": Mistake(power=1.0),
    "wrong triangle": Mistake(visible=_upper),
    "no mask": Mistake(visible=_everything),
    "mask after softmax": Mistake(after_softmax=True),
    "hides the own token": Mistake(visible=_without_own),
    "shows the next token": Mistake(visible=_and_next),
    "aligned top left": Mistake(visible=_top_left),
}


def attention_weights(
    query: torch.Tensor, key: torch.Tensor, *, causal: bool = True, mistake: Mistake = MISTAKES["right"]
) -> torch.Tensor:
    """Weights [B, H, Tq, Tk] of query [B, H, Tq, D] on key [B, H, Tk, D]; a row that sees no key is 0."""
    scores = query @ key.transpose(-1, -2) * mistake.scale(query.shape[-1])
    if not causal:
        return scores.softmax(-1)
    allowed = mistake.visible(query.shape[2], key.shape[2])
    if mistake.after_softmax:
        return scores.softmax(-1) * allowed
    # a row of -inf alone would be NaN, and its gradient too: such rows are computed on zeros and dropped
    seen = allowed.any(-1, keepdim=True)
    return scores.masked_fill(~allowed & seen, -torch.inf).softmax(-1) * seen


def attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    causal: bool = True,
    *,
    mistake: Mistake = MISTAKES["right"],
) -> torch.Tensor:
    """Output [B, H, Tq, Dv]; differentiable, for small inputs. What the decoder uses and ``check_fn`` examines."""
    return attention_weights(query, key, causal=causal, mistake=mistake) @ value
