"""Reads weights off the attention that runs by giving it other values; the model's own pass is not changed.

With values of one the output is the sum of a row's weights; with values that mark the keys which a row must not see
(the future, and what lies before a sliding window) it is their mass. The kernel, the mask and the arguments are
those of the pass itself, so a mask that comes after the softmax or keeps the wrong triangle shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from softlookup.runtime.attention_hook import LayerCall, hook_attention
from softlookup.runtime.observable import wrapped_attention

if TYPE_CHECKING:
    from softlookup.runtime.prefilled import Prefilled
    from softlookup.runtime.prompt import Suffix


@dataclass(slots=True)
class KernelProbe:
    """Worst numbers over layers, heads and rows; a receiver for ``hook_attention``.

    ``row_sum_error``: largest distance of a row's weights from one. ``hidden_mass``: largest mass on keys that
    causality or the layer's window hides; ``hidden_layer`` where. ``scales``: what each layer multiplies its scores by.
    """

    row_sum_error: float = 0.0
    hidden_mass: float = 0.0
    hidden_layer: int = -1
    scales: dict[int, float | None] = field(default_factory=dict)

    def __call__(self, call: LayerCall) -> None:
        """Probe one layer."""
        self.scales[call.layer] = call.arguments.get("scaling")
        rows, values = _values(call)
        inner = wrapped_attention(call.implementation, call.module)
        output = inner(call.module, call.query, call.key, values, call.mask, **dict(call.arguments))[0][0]
        sums = output[..., 0].double()
        if call.arguments.get("s_aux") is None:  # a learned sink takes its share
            self.row_sum_error = max(self.row_sum_error, _worst(sums - 1))
        # [rows, Hq, channels]: channel 1 + i belongs to row rows[i]
        marked = output[rows, :, torch.arange(1, 1 + len(rows))].double()
        worst = _worst(marked)
        if worst > self.hidden_mass or self.hidden_layer < 0:
            self.hidden_mass, self.hidden_layer = worst, call.layer


def _worst(values: torch.Tensor) -> float:
    return float("inf") if not bool(torch.isfinite(values).all()) else float(values.abs().max())


def _values(call: LayerCall) -> tuple[torch.Tensor, torch.Tensor]:
    """Chosen rows, and values [B, Hkv, Tk, Dv]: ones, then one channel per chosen row that marks its hidden keys."""
    length, keys, channels = call.query.shape[-2], call.key.shape[-2], call.value.shape[-1]
    count = min(length, channels - 1)
    rows = torch.tensor(sorted({round(i * (length - 1) / max(1, count - 1)) for i in range(count)}))
    at = (rows + call.q_offset - call.kv_offset)[None]
    key = torch.arange(keys)[:, None]
    hidden = key > at
    window = call.arguments.get("sliding_window")
    if window is not None:
        hidden = hidden | (key <= at - window)
    values = torch.zeros_like(call.value)
    values[..., 0] = 1.0
    values[..., 1 : 1 + len(rows)] = hidden.to(values.dtype)
    return rows, values


def probe_kernel(prefilled: Prefilled, suffix: Suffix) -> KernelProbe:
    """Probe the passes of ``prefilled``'s model: the whole prompt in one, and the suffix behind the cache."""
    probe = KernelProbe()
    start = len(prefilled.prefix)
    model = prefilled.loaded.model
    with torch.inference_mode(), hook_attention(model, probe), prefilled._scratch():
        prefilled._forward(suffix.ids, range(start, start + len(suffix)), base=True)
        model.base_model(torch.tensor([list(prefilled.prefix.ids)]), use_cache=False)
    return probe
