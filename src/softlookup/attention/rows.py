"""Attention weights of a few query rows, for readers that need them whole; statistics are `attention_statistics`.

Memory is Hq x Tq x Tk floats of one layer for the rows that are asked for: a question has 10 to 60, and
the callers go question by question.
"""

from __future__ import annotations

import torch


def row_scores(
    query: torch.Tensor,
    key: torch.Tensor,
    visible: torch.Tensor | None,
    scale: float,
    softcap: float | None = None,
) -> torch.Tensor:
    """Scaled scores [Hq, Tq, Tk] in fp32, -inf where ``visible`` [Tq, Tk] is False.

    query [Hq, Tq, D], key [Hkv, Tk, D] with Hkv dividing Hq; query head h reads key head
    h // (Hq / Hkv). Softcap: ``cap * tanh(score / cap)`` after the scale, before the mask.
    """
    heads, rows, dim = query.shape
    kv_heads = key.shape[0]
    if heads % kv_heads:
        raise ValueError(f"key has {kv_heads} heads, which must divide query's {heads}")
    grouped = query.float().reshape(kv_heads, heads // kv_heads * rows, dim) * scale
    scores = (grouped @ key.float().transpose(-1, -2)).view(heads, rows, -1)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if visible is not None:
        scores = scores.masked_fill(~visible, -torch.inf)
    return scores


def row_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    visible: torch.Tensor | None,
    scale: float,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """Attention weights [Hq, Tq, Tk] in fp32; a row that sees no key is all zeros. Arguments as :func:`row_scores`.

    ``sinks`` [Hq] are learned logits that take part in the softmax and have no key: the weights then sum to less
    than one.
    """
    scores = row_scores(query, key, visible, scale, softcap)
    if sinks is not None:
        column = sinks.float()[:, None, None].expand(-1, scores.shape[1], 1)
        return torch.softmax(torch.cat([scores, column], dim=-1), dim=-1)[..., :-1]
    return torch.nan_to_num_(torch.softmax(scores, dim=-1), nan=0.0)
