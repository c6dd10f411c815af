"""Is the attention computed as it is defined? Scale, mask and output of one layer's question rows; no statistics.

These tests need no baseline: a scale that the configuration does not state, a key that causality hides, and an output
that differs from softmax(scale q k, masked) v are faults of the implementation, whatever the document says.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from softlookup.diagnostics.alerts import Alert

if TYPE_CHECKING:
    import torch

    from softlookup.runtime.attention_calls import AttentionCall

# largest difference of the kernel's output from ours, relative to the largest entry of ours
OUTPUT_TOLERANCE = 1e-3
OUTPUT_TOLERANCE_HALF = 5e-2
_SCALE_TOLERANCE = 1.02


def expected_scale(config: Any, head_dim: int) -> float | None:
    """The factor of q.k that ``config`` states; None where it states none that can be read.

    Models that normalise queries and keys, or compress them, choose other factors in their code.
    """
    config = config.get_text_config() if hasattr(config, "get_text_config") else config
    stated = getattr(config, "query_pre_attn_scalar", None)
    if stated:
        return 1.0 / math.sqrt(float(stated))
    multiplier = getattr(config, "attention_multiplier", None)
    if multiplier:
        return float(multiplier)
    unreadable = ("kv_lora_rank", "qk_layernorm", "use_qk_norm", "scale_attn_by_inverse_layer_idx")
    if any(getattr(config, name, None) for name in unreadable):
        return None
    # named by hand, since only these are known to divide by sqrt(head_dim) and nothing else
    if getattr(config, "model_type", "") in _PLAIN_SCALE:
        return float(head_dim**-0.5)
    return None


_PLAIN_SCALE = frozenset({
    "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi3", "gpt_oss", "smollm3", "olmo2",
    "starcoder2", "gemma",
})  # fmt: skip


def implementation_alerts(
    call: AttentionCall, rows: slice, config: Any = None, *, output: bool = True
) -> Iterator[Alert]:
    """Alerts of one layer; ``config`` is the model's, None leaves the scale untested, as ``output`` the output."""
    if config is not None:
        yield from _scale_alerts(call, config)
    yield from _mask_alerts(call, rows)
    if output:
        yield from _output_alerts(call, rows)


def _scale_alerts(call: AttentionCall, config: Any) -> Iterator[Alert]:
    expected = expected_scale(config, call.query.shape[-1])
    if expected is None:
        return
    ratio = call.scale / expected
    if ratio <= 0 or max(ratio, 1 / ratio) > _SCALE_TOLERANCE:
        yield Alert("wrong_scale", call.scale, expected, call.layer)


def _mask_alerts(call: AttentionCall, rows: slice) -> Iterator[Alert]:
    """The last query row is the last key's own; window W: that key and the W - 1 before it."""
    import torch

    q_length, kv_length = call.query.shape[1], call.key.shape[1]
    positions = torch.arange(q_length)[rows, None] + kv_length - q_length
    keys = torch.arange(kv_length)[None]
    expected = keys <= positions
    visible = torch.ones_like(expected) if call.visible is None else call.visible[rows]
    future = int((visible & ~expected).sum(-1).max())
    if future:
        yield Alert("mask_future", future, 0, call.layer, detail=f"up to {future} later keys in one row")
    if call.sliding_window:
        expected &= keys > positions - int(call.sliding_window)
    missing = int((expected & ~visible).sum(-1).max())
    if missing:
        yield Alert("mask_past", missing, 0, call.layer, detail=f"up to {missing} earlier keys in one row")


def _output_alerts(call: AttentionCall, rows: slice) -> Iterator[Alert]:
    """First and last row: the first has hidden keys behind it, the last sees the most."""
    import torch

    if call.output is None or call.value is None:
        return
    start, stop, _ = rows.indices(call.query.shape[1])
    chosen = torch.tensor(sorted({start, stop - 1}))
    output = call.output[:, chosen].float()
    if not bool(torch.isfinite(output).all()):
        bad = (~torch.isfinite(output)).flatten(1).any(-1).nonzero().flatten()
        yield Alert("non_finite", math.inf, 0, call.layer, int(bad[0]), heads=len(bad), detail="output of the kernel")
        return
    expected = _reference(call, chosen)
    if not bool(torch.isfinite(expected).all()):
        return  # q, k or v: told by the statistics
    size = expected.abs().amax(dim=(1, 2)).clamp(min=1e-20)
    off = (output - expected).abs().amax(dim=(1, 2)) / size
    exact = call.query.dtype in (torch.float32, torch.float64)
    threshold = OUTPUT_TOLERANCE if exact else OUTPUT_TOLERANCE_HALF
    wrong = off > threshold
    if bool(wrong.any()):
        worst = int(off.argmax())
        yield Alert("kernel_mismatch", float(off[worst]), threshold, call.layer, worst, heads=int(wrong.sum()))


def _reference(call: AttentionCall, chosen: torch.Tensor) -> torch.Tensor:
    """[Hq, rows, Dv] by the definition, from the mask that the kernel was given."""
    from softlookup.attention.rows import row_weights

    value = call.value
    if value is None:
        raise AssertionError("checked before")
    visible = None if call.visible is None else call.visible[chosen]
    weights = row_weights(call.query[:, chosen], call.key, visible, call.scale, call.softcap, call.sinks)
    shared = weights.shape[0] // value.shape[0]
    grouped = weights.view(value.shape[0], shared * len(chosen), -1)
    return (grouped @ value.float()).view(weights.shape[0], len(chosen), -1)
