"""The one function of this package: attention that also reports how every query looked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal

from softlookup.attention.inputs import check_inputs
from softlookup.attention.stats import AttentionOutput, AttentionStats, StatsRequest
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from softlookup.attention.inputs import AttentionInputs

Implementation = Literal["reference", "tiled", "probe", "triton"]

# loaded when asked for: none needs the libraries of another
_FUNCTIONS = {
    "reference": "reference_attention",
    "tiled": "tiled_attention",
    "probe": "probe_attention",
    "triton": "triton_attention",
}


def attention(  # noqa: PLR0913 - keyword-only, the field's own names
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    *,
    causal: bool = False,
    q_offset: int | None = None,
    sliding_window: int | None = None,
    mask: torch.Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
    stats: StatsRequest | None = None,
    impl: Implementation | None = None,
) -> AttentionOutput:
    """Softmax attention of query [B, Hq, Tq, D] on key [B, Hkv, Tk, D] and value [B, Hkv, Tk, Dv].

    Hkv divides Hq, and query head h reads key head h // (Hq / Hkv). Query i sees key j when every rule
    given allows it: ``causal``: j <= i + q_offset, where ``q_offset`` defaults to Tk - Tq (lower-right aligned:
    the last query sees all keys); ``sliding_window`` W: j > i + q_offset - W, the W latest positions,
    its own included; ``mask``: bool, True = attend, broadcastable to [B, Hq, Tq, Tk].
    Scores are q.k times ``scale`` (default 1 / sqrt(D)), then ``softcap`` * tanh(scores / softcap).
    ``sinks`` [Hq] are learned logits that take part in the softmax and have no value.
    A query that sees no key gives zeros and is counted in ``empty_rows``.

    float32, float64, bfloat16 or float16; sums and statistics are float32 (float64 for float64).
    ``impl``: "tiled" (default, O(T) memory), "reference" (the definition, O(Tq Tk)), "probe" (statistics by
    torch's own fused kernels), "triton" (NVIDIA GPUs). None falls back to another.

    Raises ``UsageError`` for arguments that do not fit, NaN or infinite inputs, or a feature that ``impl``
    lacks, and ``CapacityError`` for statistics too large to return.
    """
    inputs = check_inputs(
        query, key, value, causal=causal, q_offset=q_offset, sliding_window=sliding_window,
        mask=mask, scale=scale, softcap=softcap, sinks=sinks,
    )  # fmt: skip
    _check_request(stats, inputs)
    return _implementation(impl or "tiled")(inputs, stats)


def attention_statistics(  # noqa: PLR0913 - as attention()
    query: torch.Tensor,
    key: torch.Tensor,
    *,
    stats: StatsRequest | None = None,
    causal: bool = False,
    q_offset: int | None = None,
    sliding_window: int | None = None,
    mask: torch.Tensor | None = None,
    scale: float | None = None,
    softcap: float | None = None,
    sinks: torch.Tensor | None = None,
) -> AttentionStats:
    """The statistics of :func:`attention` without its output: no value is read, half the matrix products are saved.

    Arguments as there; ``stats`` defaults to ``StatsRequest()``; by the tiled implementation.
    """
    from softlookup.attention.impl.tiled import tiled_statistics

    inputs = check_inputs(
        query, key, key, causal=causal, q_offset=q_offset, sliding_window=sliding_window,
        mask=mask, scale=scale, softcap=softcap, sinks=sinks,
    )  # fmt: skip
    request = stats if stats is not None else StatsRequest()
    _check_request(request, inputs)
    return tiled_statistics(inputs, request)


def _check_request(stats: StatsRequest | None, inputs: AttentionInputs) -> None:
    if stats is None:
        return
    if not isinstance(stats, StatsRequest):
        raise UsageError(f"stats must be a StatsRequest or None, got {type(stats).__name__}", "e.g. StatsRequest()")
    stats.check(inputs)


def _implementation(name: str) -> Callable[[AttentionInputs, StatsRequest | None], AttentionOutput]:
    if name not in _FUNCTIONS:
        raise UsageError(f"impl must be one of {', '.join(_FUNCTIONS)}, got {name!r}", "leave it out")
    module = import_module(f"softlookup.attention.impl.{name}")
    function: Callable[[AttentionInputs, StatsRequest | None], AttentionOutput] = getattr(module, _FUNCTIONS[name])
    return function
