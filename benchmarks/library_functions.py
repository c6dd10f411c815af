"""The list of public attention and rotary functions that are checked, and what is known of them; no judgement here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from functions_elsewhere import (
    jax_attention,
    keras_multihead,
    keras_ops,
    mlx_attention,
    onnxruntime_attention,
    x_transformers,
)
from functions_rotary import CONFIGS, mlx_rotary, transformers_rotary, x_transformers_rotary
from functions_torch import softlookup_attention, torch_flex, torch_multihead, torch_sdpa, transformers_attention
from softlookup.conformance import Adapter, Contract


@dataclass(frozen=True)
class Entry:
    """One function: ``build`` gives it with its contract and adapter; ``package`` is what has to be installed."""

    name: str
    package: str
    build: Callable[[], tuple[Callable[..., Any], Contract, Adapter]]
    rotary: bool = False
    known: tuple[str, ...] = ()  # codes of true findings, examined in docs/findings.md


def entries() -> Iterator[Entry]:
    """All of them, cheap libraries first."""
    for impl in ("reference", "tiled", "probe", "triton"):
        yield Entry(f"softlookup {impl}", "torch", lambda impl=impl: softlookup_attention(impl))
    for backend in ("default", "MATH", "FLASH_ATTENTION"):
        yield Entry(f"torch SDPA {backend}", "torch", lambda backend=backend: torch_sdpa(backend))
    yield Entry("torch FlexAttention", "torch", torch_flex)
    for weights in (False, True):
        name = f"torch nn.MultiheadAttention need_weights={weights}"
        known = ("dead_row=nan(want=zero)",) if weights else ()
        yield Entry(name, "torch", lambda weights=weights: torch_multihead(need_weights=weights), known=known)
    for kind in ("eager", "sdpa"):
        yield Entry(f"transformers {kind}", "transformers", lambda kind=kind: transformers_attention(kind))
    yield Entry("jax dot_product_attention", "jax", jax_attention)
    yield Entry("mlx fast SDPA", "mlx", mlx_attention)
    yield Entry("onnxruntime Attention", "onnxruntime", onnxruntime_attention)
    yield Entry("keras ops dot_product_attention", "keras", keras_ops)
    yield Entry("keras MultiHeadAttention", "keras", keras_multihead)
    for flash in (False, True):
        name = f"x-transformers Attend flash={flash}"
        yield Entry(name, "x-transformers", lambda flash=flash: x_transformers(flash=flash))
        yield Entry(f"{name} grouped", "x-transformers", lambda flash=flash: x_transformers(flash=flash, grouped=True),
                    known=("gqa.tile",))  # fmt: skip
    for name in CONFIGS:
        yield Entry(
            f"transformers rotary {name}", "transformers", lambda name=name: transformers_rotary(name), rotary=True
        )
    yield Entry("mlx fast rope", "mlx", mlx_rotary, rotary=True)
    yield Entry("x-transformers rotary", "x-transformers", x_transformers_rotary, rotary=True)
