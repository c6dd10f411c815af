"""Planted bugs in torch about memory, randomness and number formats; torch loads when one of them runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def attend(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
    """Correct for torch tensors [B, H, T, D]."""
    import torch

    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = q @ k.mT * q.shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(s.shape[-1] - s.shape[-2]), -torch.inf)
    return (s - s.amax(-1, keepdim=True)).softmax(-1) @ v


def strides(q: Any, k: Any, v: Any, *, causal: bool = False) -> Any:
    """Reads memory in storage order whatever the strides say."""
    import torch

    q, k, v = (torch.as_strided(x, x.shape, torch.empty(x.shape).stride()) for x in (q, k, v))
    return attend(q, k, v, causal)


def inplace(q: Any, k: Any, v: Any, *, causal: bool = False) -> Any:
    """Q is scaled in place."""
    scale = q.shape[-1] ** -0.5
    q *= scale
    return attend(q / scale, k, v, causal)


def dropout_eval(q: Any, k: Any, v: Any, *, causal: bool = False, dropout: float = 0.1, training: bool = True) -> Any:
    """Dropout is applied whatever ``training`` says."""
    import torch

    del training
    o = attend(q, k, v, causal)
    return torch.nn.functional.dropout(o, dropout) if dropout else o


def fp16_qk(q: Any, k: Any, v: Any, *, causal: bool = False) -> Any:
    """q.k in half precision, then the scale."""
    import torch

    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = (q.half().float() @ k.half().float().mT).half().float() * q.shape[-1] ** -0.5
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(s.shape[-1] - s.shape[-2]), -torch.inf)
    return s.softmax(-1) @ v


def fp16_softmax(q: Any, k: Any, v: Any, *, causal: bool = False) -> Any:
    """Every step of softmax in half precision."""
    import torch

    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    s = (q @ k.mT * q.shape[-1] ** -0.5).half()
    if causal:
        s = s.masked_fill(~torch.ones(s.shape[-2:], dtype=torch.bool).tril(s.shape[-1] - s.shape[-2]), -torch.inf)
    e = (s - s.amax(-1, keepdim=True)).exp()
    return (e / e.sum(-1, keepdim=True, dtype=torch.float32).half()).float() @ v


def fp16_pv(q: Any, k: Any, v: Any, *, causal: bool = False) -> Any:
    """Weights @ values summed key by key in half precision."""
    import torch

    eye = torch.eye(k.shape[2]).expand(*k.shape[:2], -1, -1)
    p = attend(q, k, eye, causal).half()
    v = v.repeat_interleave(q.shape[1] // v.shape[1], 1).half()
    acc = torch.zeros((*p.shape[:-1], v.shape[-1]), dtype=torch.half)
    for j in range(p.shape[-1]):
        acc = acc + p[..., j : j + 1] * v[:, :, j : j + 1]
    return acc.float()
