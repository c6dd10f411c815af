"""KV cache for decoding with :func:`softlookup.attention.attention`: storage, length and positions move together.

Knows no model and rotates nothing: keys are stored as they come. The cache that transformers' models use is
`runtime/kv_cache.py`, on the same storage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch

from softlookup.attention.inputs import DTYPES
from softlookup.attention.kv_storage import LayerStorage, reserved
from softlookup.errors import CapacityError, UsageError

# reserved beyond what is needed, so that single tokens do not copy the storage of a short text each time
_ROOM = 64


class CachedLayer(NamedTuple):
    """What the new queries of one layer may see: key [B, Hkv, Tk, D], value [B, Hkv, Tk, Dv], the new ones last.

    ``positions`` int64 [Tk] on the CPU; ``q_offset`` = Tk - n, the index of the first new key, as
    :func:`softlookup.attention.attention` takes it. Views, good until the cache changes.
    """

    key: torch.Tensor
    value: torch.Tensor
    positions: torch.Tensor
    q_offset: int


class KVCache:
    """Keys and values of ``num_layers`` layers for one batch whose rows share their positions.

    A step appends the same n positions to every layer, in order. ``max_length``: refuse more positions, and
    reserve storage for them at once; without it storage grows by half when full. ``sliding_window`` W, one for
    all layers or a sequence with None for layers without: such a layer keeps W - 1 + ``trim_room`` positions and
    returns W - 1 earlier ones and the new ones; attention still needs ``sliding_window=W`` for chunks of several
    queries. Gradients do not flow through the cache. Raises ``UsageError`` for values that do not fit.
    """

    def __init__(
        self,
        num_layers: int,
        *,
        max_length: int | None = None,
        sliding_window: int | Sequence[int | None] | None = None,
        trim_room: int = 1,
    ) -> None:
        _check_count("num_layers", num_layers, 1)
        _check_count("trim_room", trim_room, 0)
        if max_length is not None:
            _check_count("max_length", max_length, 1)
        windows = list(sliding_window) if isinstance(sliding_window, Sequence) else [sliding_window] * num_layers
        if len(windows) != num_layers:
            raise UsageError(
                f"sliding_window needs one entry per layer, got {len(windows)} for {num_layers}", "use None for none"
            )
        for window in windows:
            if window is not None:
                _check_count("sliding_window", window, 1)
        self.max_length = max_length
        self._windows = windows
        self._layers = [LayerStorage(self._capacity, window=window, trim_room=trim_room) for window in windows]
        self._shapes: list[tuple[object, ...] | None] = [None] * num_layers
        self._batch: int | None = None
        self._length = 0
        self._positions = torch.empty(0, dtype=torch.int64)  # of complete steps, then of the step at work, then room
        self._step = 0  # positions of the step at work
        self._next = 0  # the layer that it waits for

    @property
    def length(self) -> int:
        """Number of positions, of complete steps."""
        return self._length

    @property
    def positions(self) -> torch.Tensor:
        """int64 [length] on the CPU, increasing; a windowed layer keeps the last of them."""
        return self._positions[: self._length].clone()

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are kept."""
        return sum(layer.nbytes for layer in self._layers)

    @property
    def reserved_nbytes(self) -> int:
        """Bytes of the storage, room included."""
        return sum(layer.reserved_nbytes for layer in self._layers)

    def append(
        self,
        layer: int,
        key: torch.Tensor,
        value: torch.Tensor,
        positions: torch.Tensor | Sequence[int] | None = None,
    ) -> CachedLayer:
        """Append key [B, Hkv, n, D] and value [B, Hkv, n, Dv] to ``layer``; what its new queries may see.

        ``positions`` [n], increasing, default: those that follow the last one (0 at first); the later layers of a
        step may leave them out. Windowed layers need positions without gaps. Raises ``UsageError`` for what does
        not fit and ``CapacityError`` beyond ``max_length``; the cache is then as before.
        """
        if layer != self._next:
            raise UsageError(
                f"layers must come in order, each once per step: layer {self._next} of {len(self._layers)} is next, "
                f"got {layer}",
                "trim(cache.length) forgets an unfinished step",
            )
        shape = self._checked_shape(layer, key, value)
        new = key.shape[2]
        if layer == 0:
            self._begin_step(new, positions)
        else:
            self._check_step(layer, new, positions)
        self._shapes[layer], self._batch = shape, key.shape[0]
        keys, values = self._layers[layer].append(key, value)
        self._step, self._next = new, layer + 1
        stop = self._length + new
        if self._next == len(self._layers):
            self._length, self._step, self._next = stop, 0, 0
        count = keys.shape[2]
        return CachedLayer(keys, values, self._positions[stop - count : stop].clone(), count - new)

    def trim(self, length: int) -> None:
        """Forget everything from the ``length``-th position on, in all layers, and an unfinished step.

        Raises ``UsageError``, changing nothing, where a windowed layer no longer holds what ``length`` needs:
        0 always works, and up to ``trim_room`` positions can be taken back.
        """
        if isinstance(length, bool) or not isinstance(length, int) or not 0 <= length <= self._length:
            raise UsageError(f"length must be 0 to {self._length}, got {length!r}", "trim cannot lengthen a cache")
        for number, layer in enumerate(self._layers):
            if 0 < length < layer.shortest:
                raise UsageError(
                    f"layer {number} with sliding_window={self._windows[number]} dropped positions that a length of "
                    f"{length} needs; {layer.shortest} is the shortest it can go back to",
                    "give a larger trim_room, or trim(0) and append again",
                )
        for layer in self._layers:
            layer.truncate(length)
        self._length, self._step, self._next = length, 0, 0

    def reorder(self, batch_index: torch.Tensor | Sequence[int]) -> None:
        """Row i of the batch becomes what row ``batch_index[i]`` was, in all layers (beam search).

        The batch may grow or shrink. Raises ``UsageError`` for indices outside the batch or an unfinished step.
        """
        if self._next:
            raise UsageError(f"the step at work waits for layer {self._next}", "finish it, or trim(cache.length)")
        if self._batch is None:
            raise UsageError("an empty cache has no batch to reorder", "append first")
        index = torch.as_tensor(batch_index)
        integers = not index.is_floating_point() and index.dtype != torch.bool
        if index.dim() != 1 or not index.numel() or not integers or index.min() < 0 or index.max() >= self._batch:
            raise UsageError(
                f"batch_index must be integers from 0 to {self._batch - 1}, got {index.tolist()}", "one per new row"
            )
        for layer in self._layers:
            layer.select(index.to(torch.int64))
        self._batch = len(index)

    def _capacity(self, needed: int) -> int:
        return needed + max(needed // 2, _ROOM) if self.max_length is None else self.max_length

    def _checked_shape(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[object, ...]:
        """What must stay the same from step to step: heads, D, Dv, dtype and device."""
        for name, tensor in (("key", key), ("value", value)):
            if not isinstance(tensor, torch.Tensor) or tensor.dim() != 4 or tensor.dtype not in DTYPES:
                came = f"{tensor.dtype} {list(tensor.shape)}" if isinstance(tensor, torch.Tensor) else type(tensor)
                raise UsageError(f"{name} must be a float tensor [B, Hkv, n, D], got {came}", "check the projections")
        if key.shape[:3] != value.shape[:3] or key.dtype != value.dtype or key.device != value.device:
            raise UsageError(
                f"key and value must share B, Hkv, n, dtype and device, got {_described(key)} and {_described(value)}",
                "check the projections",
            )
        if key.shape[2] == 0:
            raise UsageError(f"at least one position must come, got key {list(key.shape)}", "skip empty steps")
        shape = (key.shape[1], key.shape[3], value.shape[3], key.dtype, key.device)
        if self._shapes[layer] not in (None, shape) or self._batch not in (None, key.shape[0]):
            raise UsageError(
                f"layer {layer} holds (Hkv, D, Dv, dtype, device) {self._shapes[layer]} for B = {self._batch}, "
                f"got {shape} for B = {key.shape[0]}",
                "use one cache per batch and model",
            )
        return shape

    def _begin_step(self, new: int, positions: torch.Tensor | Sequence[int] | None) -> None:
        """Check and record the positions of a step behind those of complete steps."""
        stop = self._length + new
        if self.max_length is not None and stop > self.max_length:
            raise CapacityError(
                f"the cache has room for max_length {self.max_length} positions and holds {self._length} "
                f"({self.nbytes:,} bytes), got {new} more",
                "trim it, or give a larger max_length",
            )
        last = int(self._positions[self._length - 1]) if self._length else -1
        at = torch.arange(last + 1, last + 1 + new) if positions is None else _checked_positions(positions, new)
        steps = at.diff()
        if int(at[0]) <= last or (new > 1 and int(steps.min()) < 1):
            raise UsageError(
                f"positions must increase from above {last}, got {at[:8].tolist()}", "trim the cache to go back"
            )
        gap = (self._length > 0 and int(at[0]) != last + 1) or (new > 1 and int(steps.max()) > 1)
        if gap and any(window is not None for window in self._windows):
            raise UsageError(
                f"windowed layers need positions without gaps, got {at[:8].tolist()} after {last}",
                "a window counts positions, and attention counts keys",
            )
        if stop > len(self._positions):
            self._positions = reserved(self._positions, self._capacity(stop), dim=0)
        self._positions[self._length : stop] = at

    def _check_step(self, layer: int, new: int, positions: torch.Tensor | Sequence[int] | None) -> None:
        """A later layer brings the same positions as layer 0 did."""
        if new != self._step:
            raise UsageError(
                f"layer 0 of this step brought {self._step} positions, layer {layer} brings {new}",
                "append the same tokens to every layer",
            )
        at = self._positions[self._length : self._length + new]
        if positions is not None and not torch.equal(_checked_positions(positions, new), at):
            raise UsageError(
                f"layer {layer} brings other positions than layer 0 did ({at[:8].tolist()} ...)",
                "leave positions out after layer 0",
            )


def _checked_positions(positions: torch.Tensor | Sequence[int], new: int) -> torch.Tensor:
    at = torch.as_tensor(positions)
    if at.is_floating_point() or at.dtype == torch.bool or tuple(at.shape) != (new,) or int(at.min()) < 0:
        raise UsageError(
            f"positions must be {new} integers from 0 on, got {at.dtype} {list(at.shape)}", "one per new key"
        )
    return at.to("cpu", torch.int64)


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(f"{name} must be an int of at least {least}, got {value!r}", "check the model's config")


def _described(tensor: torch.Tensor) -> str:
    return f"{tensor.dtype} {list(tensor.shape)} on {tensor.device}"
