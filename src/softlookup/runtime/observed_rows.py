"""Statistics of some query rows of one attention call, in positions of the sequence; keeps nothing between calls.

A call's tensors count keys from the first that its cache still holds and say nothing of padding; what leaves
this file counts columns of the sequence, and rows of padding are blank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import torch

from softlookup.attention.api import attention_statistics
from softlookup.attention.stats import AttentionStats, StatsRequest, TopK
from softlookup.errors import ModelError, UsageError
from softlookup.runtime.observable import TILED
from softlookup.runtime.tiled_layer import attend
from softlookup.runtime.visibility import padding_of

if TYPE_CHECKING:
    from softlookup.runtime.attention_hook import LayerCall
    from softlookup.runtime.visibility import Visibility

# not counted in rows
_PER_KEY = ("key_mass",)


@dataclass(frozen=True, slots=True, eq=False)
class ObservedRows:
    """``stats`` [B, Hq, rows]; ``key_mass`` [B, Hq, Tk] of the call's keys or None; ``padded`` [B, rows] or None.

    A padded row has no keys, argmax -1 and NaN, like one that sees nothing, and adds nothing to ``key_mass``.
    """

    stats: AttentionStats
    key_mass: torch.Tensor | None
    padded: torch.Tensor | None


def observed_rows(call: LayerCall, seen: Visibility, start: int, stop: int, request: StatsRequest) -> ObservedRows:
    """Statistics of the rows start..stop-1 of ``call``; ``seen`` is their visibility.

    ``request`` counts keys in columns of the sequence; an int ``sink_mass`` counts from the first token that is
    no padding. Raises ``ModelError`` where the model's queries or keys cannot be used, e.g. NaN.
    """
    padded = padding_of(call, call.q_offset + start, call.q_offset + stop)
    padded = None if padded is None or bool(padded.all()) else ~padded
    # one call for the whole batch, unless entries differ in their first token or count different rows
    uniform = call.padding is None or bool((call.padding == call.padding[:1]).all())
    entries = [slice(None)] if uniform and padded is None else [slice(b, b + 1) for b in range(call.query.shape[0])]
    parts = [_entry(call, seen, entry, (start, stop), request, padded) for entry in entries]
    stats = _in_columns(parts[0] if len(parts) == 1 else joined(parts, dim=0), call)
    if padded is not None:
        stats = _blanked(stats, padded)
    return ObservedRows(replace(stats, key_mass=None, key_mass_rows=None), stats.key_mass, padded)


def _entry(
    call: LayerCall,
    seen: Visibility,
    entry: slice,
    rows: tuple[int, int],
    request: StatsRequest,
    padded: torch.Tensor | None,
) -> AttentionStats:
    mask = seen.mask if seen.mask is None or seen.mask.shape[0] == 1 else seen.mask[entry]
    if mask is None and seen.padding is not None:
        shown = seen.padding[entry][:1]
        mask = None if bool(shown.all()) else shown[:, None, None]
    sinks = call.arguments.get("s_aux")
    local = _local(request, call, entry)
    if padded is not None and request.key_mass:
        live = (~padded[entry][0]).nonzero()[:, 0].tolist()
        local = replace(local, key_mass_rows=live)
    query = call.query[entry, :, rows[0] : rows[1]]
    try:
        # the model may run with gradients or in autocast; its statistics do neither
        with torch.no_grad(), torch.autocast(query.device.type, enabled=False):
            if call.implementation == TILED and query.shape == call.query.shape:
                return _with_output(call, local, seen.q_offset)
            return attention_statistics(
                query.detach(), call.key[entry].detach(), stats=local, causal=seen.causal, q_offset=seen.q_offset,
                sliding_window=seen.sliding_window, mask=mask, scale=call.arguments.get("scaling"),
                softcap=call.arguments.get("softcap"), sinks=None if sinks is None else sinks.detach(),
            )  # fmt: skip
    except UsageError as error:  # the request was checked before: what does not fit is the model's
        raise ModelError(f"layer {call.layer} cannot be observed: {error.message}", "check the model") from error


def _with_output(call: LayerCall, request: StatsRequest, q_offset: int) -> AttentionStats:
    """Output and statistics of all rows in one pass, with the bits of the output alone."""
    result = attend(call.module, (call.query, call.key, call.value), call.mask, call.arguments, request, q_offset)
    if result.stats is None:
        raise AssertionError("asked for")
    call.outputs.append(result)
    return result.stats


def _local(request: StatsRequest, call: LayerCall, entry: slice) -> StatsRequest:
    """``request`` in key indices of the call; columns that its keys do not hold have no weight and drop out."""
    length = call.key.shape[-2]
    changed: dict[str, object] = {}
    if request.sink_mass:
        columns = request.sink_mass
        if isinstance(columns, int):
            first = 0 if call.padding is None else int(call.padding[entry][0].to(torch.int8).argmax())
            columns = range(first, first + columns)
        changed["sink_mass"] = [at - call.kv_offset for at in columns if 0 <= at - call.kv_offset < length]
    if request.span_mass is not None:
        changed["span_mass"] = [
            tuple(min(max(at - call.kv_offset, 0), length) for at in span) for span in request.span_mass
        ]
    return replace(request, **changed)  # type: ignore[arg-type]


def _in_columns(stats: AttentionStats, call: LayerCall) -> AttentionStats:
    def moved(index: torch.Tensor) -> torch.Tensor:
        return torch.where(index >= 0, index + call.kv_offset, index)

    top = stats.top_k
    return replace(
        stats,
        kv_length=stats.kv_length + call.kv_offset,
        argmax=None if stats.argmax is None else moved(stats.argmax),
        top_k=None if top is None else TopK(moved(top.index), top.weight, top.score),
    )


def _blanked(stats: AttentionStats, padded: torch.Tensor) -> AttentionStats:
    """``stats`` with the rows of padding as if they saw nothing."""
    blank = padded[:, None]

    def blanked(name: str, values: torch.Tensor) -> torch.Tensor:
        where = blank.reshape(blank.shape + (1,) * (values.dim() - 3))
        fill = {"visible_keys": 0, "argmax": -1, "top_k.index": -1, "top_k.weight": 0.0, "top_k.score": -torch.inf}
        return values.masked_fill(where, fill.get(name, torch.nan))

    return _mapped(stats, blanked)


def _mapped(stats: AttentionStats, change: Callable[[str, torch.Tensor], torch.Tensor]) -> AttentionStats:
    """``change(name, values)`` of every per-row tensor; top_k's are "top_k.index" and so on."""
    changed: dict[str, object] = {}
    for entry in fields(stats):
        value = getattr(stats, entry.name)
        if isinstance(value, torch.Tensor) and entry.name not in ("sinks", *_PER_KEY):
            changed[entry.name] = change(entry.name, value)
        elif isinstance(value, TopK):
            changed[entry.name] = TopK(
                *(change(f"top_k.{name}", getattr(value, name)) for name in ("index", "weight", "score"))
            )
    return replace(stats, **changed)  # type: ignore[arg-type]


def joined(parts: Sequence[AttentionStats], dim: int) -> AttentionStats:
    """The batch entries (``dim`` 0) or the query rows (``dim`` 2) of all parts, one after the other."""
    last = parts[-1]
    changed: dict[str, object] = {}
    for entry in fields(last):
        values = [getattr(part, entry.name) for part in parts]
        if isinstance(values[0], torch.Tensor) and entry.name != "sinks":
            changed[entry.name] = torch.cat(values, dim=dim)
        elif isinstance(values[0], TopK):
            names = ("index", "weight", "score")
            changed[entry.name] = TopK(*(torch.cat([getattr(value, n) for value in values], dim=dim) for n in names))
    if last.span_mass is not None:
        changed["span_rows"] = tuple(range(sum(part.visible_keys.shape[2] for part in parts)))
    return replace(last, **changed)  # type: ignore[arg-type]
