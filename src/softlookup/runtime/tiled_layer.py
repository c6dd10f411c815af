"""One layer of a transformers model by tiled attention: its mask as arguments, its output as transformers wants it.

For whole models see `runtime/tiled_attention.py`.
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.attention.api import attention
from softlookup.attention.inputs import check_inputs
from softlookup.attention.masks import visible_tile
from softlookup.attention.stats import AttentionOutput, StatsRequest
from softlookup.errors import ModelError
from softlookup.runtime.observable import TILED

# mask entries that are compared at a time
_ENTRIES = 1 << 22
# masks of one pass: one per kind of layer
_MASKS_KEPT = 8


def register() -> None:
    """Make the implementation known to transformers, with the masks of SDPA."""
    if TILED not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(TILED, _forward)
        ALL_MASK_ATTENTION_FUNCTIONS.register(TILED, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


def _forward(  # noqa: PLR0913, PLR0917 - the interface of transformers
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    softcap: float | None = None,
    sliding_window: int | None = None,
    is_causal: bool | None = None,
    s_aux: torch.Tensor | None = None,
    dropout: float = 0.0,
    **_arguments: Any,
) -> tuple[torch.Tensor, None]:
    """The interface of transformers: output [B, Tq, Hq, Dv], no weights."""
    if dropout:
        raise ModelError("tiled attention has no dropout", "call model.eval() first")
    arguments = {"scaling": scaling, "softcap": softcap, "sliding_window": sliding_window, "is_causal": is_causal}
    result = attend(module, (query, key, value), attention_mask, arguments | {"s_aux": s_aux}, None)
    return as_transformers(result), None


def as_transformers(result: AttentionOutput) -> torch.Tensor:
    """Output [B, Hq, Tq, Dv] as transformers wants it."""
    return result.output.transpose(1, 2).contiguous()


def attend(
    module: Any,
    tensors: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    mask: torch.Tensor | None,
    arguments: Any,
    request: StatsRequest | None,
    q_offset: int = 0,
) -> AttentionOutput:
    """One layer's attention with statistics; ``mask`` as SDPA would get it, ``arguments`` those of transformers.

    ``q_offset``: position of query 0 among the keys, which the statistics count distances from.
    """
    query, key, value = tensors
    sinks = arguments.get("s_aux")
    shared = {
        "scale": arguments.get("scaling"),
        "softcap": arguments.get("softcap"),
        "sinks": None if sinks is None else sinks.detach(),
    }
    if mask is None:
        stated = arguments.get("is_causal")
        causal = bool(getattr(module, "is_causal", True) if stated is None else stated)
        # read in 5.24: no mask means every key for one row, causal from the upper left for more
        rules: dict[str, Any] = {"causal": causal and query.shape[2] > 1, "q_offset": 0}
    else:
        rules = _rules(query, key, mask, arguments.get("sliding_window"))
    if not rules.get("causal"):  # hides nothing then
        rules = rules | {"q_offset": q_offset}
    return attention(query, key, value, stats=request, **shared, **rules)


# the rules that a mask was found to repeat, by the mask itself: several layers share one
_known: list[tuple[weakref.ref[torch.Tensor], int | None, dict[str, Any]]] = []


def _rules(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor, window: int | None) -> dict[str, Any]:
    """Arguments of attention() that show the same keys as ``mask``, without it where it only repeats them."""
    for ref, known, rules in _known:
        if ref() is mask and known == window:
            return rules
    if mask.dtype != torch.bool:
        raise ModelError(f"tiled attention takes bool masks, got {mask.dtype}", "pass a 2-D attention_mask")
    found: dict[str, Any] = {"mask": mask}
    for rules in ({"causal": True, "sliding_window": window}, {"causal": True}):
        if _repeats(query, key, mask, rules):
            found = rules
            break
    _known[:] = [(weakref.ref(mask), window, found), *_known[: _MASKS_KEPT - 1]]
    return found


def _repeats(query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor, rules: dict[str, Any]) -> bool:
    """Whether ``rules``, lower-right aligned, show exactly what ``mask`` [B or 1, Hq or 1, Tq, Tk] shows."""
    if mask.shape[2] != query.shape[2] or mask.shape[3] != key.shape[2]:
        return False
    inputs = check_inputs(query, key, key, **rules)
    keys = torch.arange(key.shape[2], device=mask.device)
    step = max(1, _ENTRIES // (mask.shape[0] * mask.shape[1] * mask.shape[3]))
    for rows in torch.split(torch.arange(query.shape[2], device=mask.device), step):
        shown = visible_tile(inputs, rows, keys)
        if shown is None or not bool((mask[:, :, rows] == shown).all()):
            return False
    return True
