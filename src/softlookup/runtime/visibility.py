"""Which keys each query of an attention call sees, as arguments of our own attention; computes no scores.

transformers says it by the mask, its absence and the implementation; the rules were read in 5.24. A mask that
only repeats causality, a window and padding becomes arguments, so that nothing of size Tq x Tk is made here.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from softlookup.errors import ModelError
from softlookup.runtime.observable import ONE_ROW, TILED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from softlookup.runtime.attention_hook import LayerCall

# mask entries that are compared at a time: bounds the temporaries to tens of MiB
_ENTRIES = 1 << 22
# verdicts kept: one per kind of layer and a few row selections of one pass
_VERDICTS = 32


@dataclass(frozen=True, slots=True, eq=False)
class Visibility:
    """Rows start..stop-1 of a pass: ``causal``, ``q_offset``, ``sliding_window`` and ``mask`` as of attention().

    ``q_offset`` is the position of row ``start`` among the call's keys. ``padding`` [B, Tk] bool, True = a
    token, hides further keys (None: none); ``mask`` bool [1 or B, 1 or Hq, rows, Tk] only where the rest cannot say it.
    """

    causal: bool
    q_offset: int
    sliding_window: int | None
    padding: torch.Tensor | None
    mask: torch.Tensor | None


@dataclass(slots=True, eq=False)
class VisibilityReader:
    """Reads calls; remembers what it found out about masks that several layers of a pass share."""

    _known: list[tuple[weakref.ref[torch.Tensor], tuple[object, ...], Visibility]] = field(default_factory=list)

    def read(self, call: LayerCall, start: int, stop: int) -> Visibility:
        """Visibility of the rows start..stop-1 of ``call``. Raises ``ModelError`` for masks that change scores."""
        if call.mask is None:
            return without_mask(call, start)
        window = call.arguments.get("sliding_window")
        key = (window, call.q_offset, call.kv_offset, start, stop)
        for ref, known, verdict in self._known:
            if ref() is call.mask and known == key:
                return verdict
        verdict = _with_mask(call, call.mask, start, stop, window)
        self._known = [(weakref.ref(call.mask), key, verdict), *self._known[: _VERDICTS - 1]]
        return verdict


def padding_of(call: LayerCall, first: int, stop: int) -> torch.Tensor | None:
    """Bool [B, columns], True = a token, of the columns first..stop-1 of the sequence; None: no padding known."""
    if call.padding is None:
        return None
    known = call.padding[:, first:stop]
    # room of a static cache that causality hides, or tokens of a pass that came without a 2-D mask
    return torch.nn.functional.pad(known, (0, stop - first - known.shape[1]), value=True)


def without_mask(call: LayerCall, start: int) -> Visibility:
    """SDPA: None with one row is "all keys", with more "causal from the upper left" if the layer is causal."""
    offset = call.q_offset - call.kv_offset
    causal = call.implementation in ("sdpa", TILED, ONE_ROW) and call.query.shape[-2] > 1 and _is_causal(call)
    if causal and offset:
        raise ModelError(
            f"layer {call.layer} attends without a mask after {call.q_offset} cached positions, so that its rows "
            "do not see their own",
            "let transformers make the mask: pass a 2-D attention_mask or none",
        )
    return Visibility(causal, offset + start, None, None, None)


def _is_causal(call: LayerCall) -> bool:
    stated = call.arguments.get("is_causal")
    return bool(getattr(call.module, "is_causal", True) if stated is None else stated)


def _with_mask(call: LayerCall, mask: torch.Tensor, start: int, stop: int, window: int | None) -> Visibility:
    mask = _checked_mask(call, mask)
    offset = call.q_offset - call.kv_offset
    padding = padding_of(call, call.kv_offset, call.kv_offset + call.key.shape[-2])
    shapes = [(True, window), (True, None), (False, None)] if window is not None else [(True, None), (False, None)]
    hiding = [None] if padding is None else [padding, None]
    for causal, width, hidden in ((*shape, hidden) for shape in shapes for hidden in hiding):
        rule = Visibility(causal, offset + start, width, hidden, None)
        if all(_follows(part, rule, first) for first, part in _parts(call, mask, start, stop)):
            return rule
    parts = [part for _, part in _parts(call, mask, start, stop)]
    whole = mask[:, :, start:stop] if mask.dtype == torch.bool else torch.cat(parts, dim=2)
    return Visibility(causal=False, q_offset=offset + start, sliding_window=None, padding=padding, mask=whole)


def _checked_mask(call: LayerCall, mask: torch.Tensor) -> torch.Tensor:
    """The mask with its last two dimensions at full size."""
    shape = (*call.query.shape[:3], call.key.shape[-2])
    if mask.dim() != 4 or any(have not in (1, want) for have, want in zip(mask.shape, shape, strict=True)):
        raise ModelError(
            f"a mask of shape {list(mask.shape)} on scores {list(shape)} cannot be observed",
            "pass a 2-D attention_mask",
        )
    if mask.dtype == torch.bool and call.implementation == "eager":
        raise ModelError(
            "a bool mask under eager attention is added to the scores as 0 and 1 and hides nothing",
            "pass an additive mask, 0 where visible",
        )
    if mask.dtype != torch.bool and not mask.is_floating_point():
        raise ModelError(f"a mask of {mask.dtype} cannot be observed", "pass a bool or additive mask")
    return mask.expand(*mask.shape[:2], *shape[2:])


def _parts(call: LayerCall, mask: torch.Tensor, start: int, stop: int) -> Iterator[tuple[int, torch.Tensor]]:
    """(first, bool [1 or B, 1 or Hq, rows, Tk]) of a few rows at a time, first counted from ``start``."""
    step = max(1, _ENTRIES // (mask.shape[0] * mask.shape[1] * mask.shape[3]))
    for first in range(start, stop, step):
        part = mask[:, :, first : min(first + step, stop)]
        if part.dtype != torch.bool:
            hidden = part <= torch.finfo(part.dtype).min / 2
            if not bool((hidden | (part == 0)).all()):
                raise ModelError(
                    f"layer {call.layer} adds a bias to its scores (a mask with numbers other than 0 and the lowest)",
                    "use a model without ALiBi or other biases",
                )
            part = ~hidden
        yield first - start, part


def shown(seen: Visibility, first: int, rows: int, kv_length: int, device: torch.device) -> torch.Tensor:
    """Bool [1 or B, 1 or Hq, rows, Tk], True = sees, of the rows first.. of ``seen``; for few rows at a time."""
    if seen.mask is not None:
        return seen.mask[:, :, first : first + rows].to(device)
    keys = torch.arange(kv_length, device=device)[None]
    at = torch.arange(rows, device=device)[:, None] + seen.q_offset + first
    visible = keys <= at if seen.causal else torch.ones(rows, kv_length, dtype=torch.bool, device=device)
    if seen.sliding_window is not None:
        visible = visible & (keys > at - seen.sliding_window)
    if seen.padding is None:
        return visible[None, None]
    return visible[None, None] & seen.padding[:, None, None].to(device)


def _follows(part: torch.Tensor, rule: Visibility, first: int) -> bool:
    """Whether ``part``, rows first.. of the rule, shows exactly what the rule shows."""
    rows, keys = part.shape[2:]
    return bool((part == shown(rule, first, rows, keys, part.device)).all())
