"""Keys and values of one layer in storage with room to spare; knows no positions and checks no arguments.

Appending writes into the room; the storage is copied only when it is full, to a size that its owner chooses. With
a window only the latest positions are kept, and the storage stays below twice that number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Callable


class LayerStorage:
    """One layer. ``length`` counts every position appended and not truncated, also those that a window dropped.

    ``capacity_for(n)`` gives the positions, n or more, to reserve where n are needed. ``window`` W: an append
    returns W - 1 earlier positions and the new ones, which is all that the new queries may see; W - 1 +
    ``trim_room`` are kept, so that ``trim_room`` positions can be taken back.
    """

    def __init__(self, capacity_for: Callable[[int], int], *, window: int | None = None, trim_room: int = 1) -> None:
        self.length = 0
        self._capacity_for = capacity_for
        self._context = None if window is None else window - 1
        self._keep = None if window is None else window - 1 + trim_room
        self._key: torch.Tensor | None = None  # [B, Hkv, capacity, D]
        self._value: torch.Tensor | None = None
        self._start = 0  # where the kept positions begin in the storage
        self._held = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values that are kept."""
        return sum(part.numel() * part.element_size() for part in self.kept() or ())

    @property
    def reserved_nbytes(self) -> int:
        """Bytes of the storage, room included."""
        return sum(part.numel() * part.element_size() for part in (self._key, self._value) if part is not None)

    @property
    def shortest(self) -> int:
        """The shortest length above 0 that :meth:`truncate` can go to; 0 where it can go to any."""
        if self._context is None or self._held == self.length:
            return 0
        return self.length - self._held + self._context

    def kept(self) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Views [B, Hkv, kept, D] in order of position; None before the first append."""
        return self._last(self._held)

    def append(self, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Append [B, Hkv, n, D] and [B, Hkv, n, Dv]; all that the new queries may see, oldest first.

        The result is a view, good until the next call that changes this storage. No gradient flows into it.
        """
        new = key.shape[2]
        before = self._held if self._context is None else min(self._held, self._context)
        if self._keep is not None and self._held + new > 2 * self._keep:
            return self._replace(key, value, before)
        storage = self._with_room(key, value, new)
        stop = self._start + self._held
        with torch.no_grad():
            for target, source in zip(storage, (key, value), strict=True):
                target[:, :, stop : stop + new] = source
        self.length += new
        self._held += new
        self._drop()
        return storage[0][:, :, stop - before : stop + new], storage[1][:, :, stop - before : stop + new]

    def reserve(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Views [B, Hkv, kept + ``count``, D]: the kept positions, then room that the caller may write to.

        What was written counts after :meth:`extend`. Needs an append before. For storage without a window.
        """
        kept = self.kept()
        if kept is None:
            raise RuntimeError("reserve needs keys and values, to know their shapes: append first")
        storage = self._with_room(*kept, count)
        stop = self._start + self._held + count
        return storage[0][:, :, self._start : stop], storage[1][:, :, self._start : stop]

    def extend(self, count: int) -> None:
        """Count ``count`` positions that were written behind the kept ones after :meth:`reserve`."""
        self.length += count
        self._held += count

    def truncate(self, length: int) -> None:
        """Forget all positions from ``length`` on: 0, or at least ``shortest``. The storage stays."""
        if length < self.length:
            self._held -= self.length - length
            if length == 0:
                self._start = self._held = 0
            self.length = length

    def select(self, batch_index: torch.Tensor) -> None:
        """Row i of the batch becomes a copy of what row ``batch_index[i]`` was."""
        kept = self.kept()
        if kept is None or self._key is None:
            return
        index = batch_index.to(self._key.device)
        capacity = self._key.shape[2]
        self._key, self._value = (reserved(part.index_select(0, index), capacity) for part in kept)
        self._start = 0

    def _last(self, count: int) -> tuple[torch.Tensor, torch.Tensor] | None:
        if self._key is None or self._value is None:
            return None
        stop = self._start + self._held
        return self._key[:, :, stop - count : stop], self._value[:, :, stop - count : stop]

    def _drop(self) -> None:
        if self._keep is not None and self._held > self._keep:
            self._start += self._held - self._keep
            self._held = self._keep

    def _with_room(self, key: torch.Tensor, value: torch.Tensor, new: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Storage with room for ``new`` positions behind the kept ones."""
        if self._key is not None and self._value is not None:
            capacity = self._key.shape[2]
            if self._start + self._held + new <= capacity:
                return self._key, self._value
        else:
            capacity = 0
        needed = self._held + new
        if needed > capacity:
            capacity = self._capacity_for(needed)
            if self._keep is not None:
                capacity = min(capacity, 2 * self._keep)
        kept = self.kept() or (key[:, :, :0], value[:, :, :0])
        moved = reserved(kept[0], capacity), reserved(kept[1], capacity)
        self._key, self._value = moved
        self._start = 0
        return moved

    def _replace(self, key: torch.Tensor, value: torch.Tensor, before: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Append more than a window can hold: the result is built beside the storage, which gets the last ones."""
        earlier = self._last(before)
        seen = (key, value)
        if earlier is not None and before:
            seen = torch.cat([earlier[0], key], 2), torch.cat([earlier[1], value], 2)
        keep, new = self._keep or 0, key.shape[2]
        # more than 2 keep came and at most keep were held, so that the new ones alone fill it
        capacity = min(self._capacity_for(keep), 2 * keep)
        self._key, self._value = (reserved(part[:, :, new - keep :], capacity) for part in (key, value))
        self.length += new
        self._start, self._held = 0, keep
        return seen


def reserved(used: torch.Tensor, capacity: int, dim: int = 2) -> torch.Tensor:
    """A new tensor with room for ``capacity`` positions along ``dim`` that begins with ``used``."""
    shape = list(used.shape)
    shape[dim] = capacity
    with torch.inference_mode(mode=False):  # an inference tensor could not be written to outside of that mode
        grown = torch.empty(shape, dtype=used.dtype, device=used.device)
    with torch.no_grad():
        grown.narrow(dim, 0, used.shape[dim]).copy_(used)
    return grown
