"""The arguments of one attention call, checked once; not for computing anything.

Every implementation takes an :class:`AttentionInputs`, so that all of them agree on defaults, alignment and
what is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING

import torch

from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

# positions and offsets beyond this are mistakes, and would overflow int64 when added
_FARTHEST = 2**40
# float32 computes with caps of this size and its inverse
_SMALLEST_CAP = 1e-30
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


@dataclass(frozen=True, slots=True, eq=False)
class AttentionInputs:
    """Checked arguments of :func:`softlookup.attention.attention`.

    query [B, Hq, Tq, D], key [B, Hkv, Tk, D], value [B, Hkv, Tk, Dv]; ``mask`` bool with 4 dimensions, each
    1 or that of [B, Hq, Tq, Tk], True = attend; ``sinks`` [Hq]. Key j is visible to query i when
    j <= i + q_offset (``causal``), j > i + q_offset - sliding_window, and the mask is True.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    causal: bool
    q_offset: int
    sliding_window: int | None
    mask: torch.Tensor | None
    scale: float
    softcap: float | None
    sinks: torch.Tensor | None

    @property
    def batch(self) -> int:
        """B."""
        return self.query.shape[0]

    @property
    def heads(self) -> int:
        """Hq."""
        return self.query.shape[1]

    @property
    def kv_heads(self) -> int:
        """Hkv."""
        return self.key.shape[1]

    @property
    def group(self) -> int:
        """Query heads per key/value head; query head h reads key head h // group."""
        return self.heads // self.kv_heads

    @property
    def q_length(self) -> int:
        """Tq."""
        return self.query.shape[2]

    @property
    def kv_length(self) -> int:
        """Tk."""
        return self.key.shape[2]

    @property
    def dtype(self) -> torch.dtype:
        """Of query, key, value and output."""
        return self.query.dtype

    @property
    def compute_dtype(self) -> torch.dtype:
        """Of scores, sums and statistics: float64 for float64 inputs, else float32."""
        return torch.float64 if self.dtype == torch.float64 else torch.float32


def check_inputs(  # noqa: PLR0913 - as attention()
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
) -> AttentionInputs:
    """Check the arguments and fill in defaults: scale 1 / sqrt(D), q_offset Tk - Tq (lower-right aligned).

    Raises ``UsageError`` with the requirement, what came, and the remedy.
    """
    _check_tensors(query, key, value)
    # lazy negation is a flag on the tensor that a kernel reading memory would not see
    query, key, value = query.resolve_neg(), key.resolve_neg(), value.resolve_neg()
    if not isinstance(causal, bool):
        raise UsageError(f"causal must be True or False, got {causal!r}", "a mask goes into mask=")
    kv_length = key.shape[2]
    if q_offset is None:
        q_offset = kv_length - query.shape[2]
    elif isinstance(q_offset, bool) or not isinstance(q_offset, int):
        raise UsageError(
            f"q_offset must be an int, got {q_offset!r}", "give the position of query row 0 among the keys"
        )
    elif abs(q_offset) > _FARTHEST:
        raise UsageError(f"q_offset must be within {_FARTHEST:,} of 0, got {q_offset:,}", "count it in keys")
    if sliding_window is not None and (
        isinstance(sliding_window, bool) or not isinstance(sliding_window, int) or sliding_window < 1
    ):
        raise UsageError(
            f"sliding_window must be at least 1 (it counts the query's own position), got {sliding_window!r}",
            "use None for no window",
        )
    if sliding_window is not None:
        sliding_window = min(sliding_window, 2 * _FARTHEST)
    _check_real("scale", scale)
    _check_real("softcap", softcap)
    if scale is None:
        scale = 1.0 / math.sqrt(query.shape[-1])
    elif not math.isfinite(scale):
        raise UsageError(f"scale must be finite, got {scale}", "leave it out for 1 / sqrt(D)")
    if softcap is not None and not _SMALLEST_CAP <= softcap <= 1 / _SMALLEST_CAP:
        wanted = "positive and finite" if not 0 < softcap < math.inf else "between 1e-30 and 1e30"
        raise UsageError(f"softcap must be {wanted}, got {softcap}", "use None for no cap")
    return AttentionInputs(
        query,
        key,
        value,
        bool(causal),
        q_offset,
        sliding_window,
        _checked_mask(mask, query, kv_length),
        float(scale),
        None if softcap is None else float(softcap),
        _checked_sinks(sinks, query),
    )


def _check_real(name: str, number: object) -> None:
    if number is not None and (isinstance(number, bool) or not isinstance(number, Real)):
        raise UsageError(f"{name} must be a number, got {number!r}", "leave it out for the default")


def raise_for_non_finite(inputs: AttentionInputs, names: Sequence[str] = ("query", "key", "value")) -> None:
    """Raise ``UsageError`` naming the first of these tensors that holds NaN or infinity."""
    for name in names:
        tensor: torch.Tensor = getattr(inputs, name)
        if tensor.numel() == 0:
            continue
        low, high = torch.aminmax(tensor.detach())  # no temporary of the tensor's size
        if not (math.isfinite(low) and math.isfinite(high)):
            raise UsageError(
                f"{name} must be finite, it holds NaN or infinite numbers", f"zero the padded positions of {name}"
            )


def _check_kind(name: str, tensor: object, query: torch.Tensor) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise UsageError(f"{name} must be a torch tensor, got {type(tensor).__name__}", "convert it first")
    if tensor.dim() != 4:
        raise UsageError(
            f"{name} must have 4 dimensions [B, H, T, D], got shape {_shape(tensor)}",
            "add the missing dimensions, e.g. with unsqueeze(0)",
        )
    if tensor.device.type == "meta" or tensor.layout != torch.strided:
        came = f"{tensor.layout} on {tensor.device}"
        raise UsageError(f"{name} must be a dense tensor with numbers, got {came}", "convert it first")
    if tensor.dtype not in DTYPES:
        raise UsageError(
            f"{name} must be float32, float64, bfloat16 or float16, got {tensor.dtype}", "convert it first"
        )
    if tensor.dtype != query.dtype or tensor.device != query.device:
        raise UsageError(
            f"query, key and value must share dtype and device, got query {query.dtype} on {query.device} "
            f"and {name} {tensor.dtype} on {tensor.device}",
            "convert them first",
        )


def _check_tensors(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
    named = (("query", query), ("key", key), ("value", value))
    for name, tensor in named:
        _check_kind(name, tensor, query)
    shapes = ", ".join(f"{name} {_shape(tensor)}" for name, tensor in named)
    if not query.shape[0] == key.shape[0] == value.shape[0]:
        raise UsageError(f"batch sizes must be equal, got {shapes}", "expand the smaller one")
    if key.shape[1] != value.shape[1] or key.shape[2] != value.shape[2]:
        raise UsageError(f"key and value must have the same heads and length, got {shapes}", "check the cache")
    if query.shape[3] != key.shape[3]:
        raise UsageError(f"query and key must have the same D, got {shapes}", "check the projections")
    if key.shape[1] == 0 or query.shape[1] == 0 or query.shape[1] % key.shape[1]:
        raise UsageError(
            f"key has {key.shape[1]} heads, which must divide query's {query.shape[1]}, got {shapes}",
            "check the order of the dimensions: [B, H, T, D]",
        )
    if query.shape[0] == 0 or query.shape[3] == 0:
        raise UsageError(f"B and D must be at least 1, got {shapes}", "give at least one batch entry")
    if key.shape[2] == 0:
        raise UsageError(
            f"key must hold at least one position, got {shapes}", "do not call attention on an empty cache"
        )


def _checked_mask(mask: torch.Tensor | None, query: torch.Tensor, kv_length: int) -> torch.Tensor | None:
    if mask is None:
        return None
    full = (*query.shape[:3], kv_length)
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool:
        came = mask.dtype if isinstance(mask, torch.Tensor) else type(mask).__name__
        raise UsageError(
            f"mask must be a bool tensor (True = attend), got {came}",
            "for an additive mask pass `mask > -1e4` or alike",
        )
    if mask.device != query.device:
        raise UsageError(f"mask is on {mask.device}, query on {query.device}", "move it to the same device")
    padded = mask.reshape((1,) * (4 - mask.dim()) + tuple(mask.shape)) if mask.dim() < 4 else mask
    if padded.dim() > 4 or any(have not in (1, want) for have, want in zip(padded.shape, full, strict=True)):
        raise UsageError(
            f"mask must be broadcastable to [B, Hq, Tq, Tk] = {list(full)}, got {_shape(mask)}",
            "a key padding mask [B, Tk] needs mask[:, None, None, :]",
        )
    return padded


def _checked_sinks(sinks: torch.Tensor | None, query: torch.Tensor) -> torch.Tensor | None:
    if sinks is None:
        return None
    if not isinstance(sinks, torch.Tensor) or not sinks.is_floating_point() or tuple(sinks.shape) != (query.shape[1],):
        came = f"{sinks.dtype} {_shape(sinks)}" if isinstance(sinks, torch.Tensor) else type(sinks).__name__
        raise UsageError(
            f"sinks must be floats [Hq] = [{query.shape[1]}], one learned logit per query head, got {came}",
            "for the mass of the first keys use StatsRequest(sink_mass=n)",
        )
    if sinks.device != query.device:
        raise UsageError(f"sinks are on {sinks.device}, query on {query.device}", "move them to the same device")
    if not bool((sinks < math.inf).all()):  # -inf is a sink without weight
        raise UsageError("sinks must not be NaN or +inf", "use None for no sinks")
    return sinks.resolve_neg()


def _shape(tensor: torch.Tensor) -> str:
    return str(list(tensor.shape))


def check_positions(name: str, positions: Sequence[int], length: int) -> tuple[int, ...]:
    """Distinct positions in 0..length-1 as a tuple. Raises ``UsageError``."""
    checked = tuple(int(position) for position in positions)
    wrong = [position for position in checked if not 0 <= position < length]
    if wrong:
        raise UsageError(f"{name} must lie in 0..{length - 1}, got {wrong[0]}", "count positions from 0")
    if len(set(checked)) != len(checked):
        raise UsageError(f"{name} must be distinct, got a repeated position", "drop the repetition")
    return checked
