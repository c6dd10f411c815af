"""The document's KV cache: filled once, read by every question, cut back after each; nothing on disk.

transformers' ``DynamicLayer`` copies the whole cache on every append; here keys and values are written
into storage with room to spare (attention/kv_storage.py), and the model gets views of it. Length, storage and
positions move together, because the length lives in one place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, LinearAttentionCacheLayerMixin

from softlookup.attention.kv_storage import LayerStorage
from softlookup.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch

# appended at a time when the storage is full; one question with its answer usually fits
_ROOM = 512


class GrowingLayer(DynamicLayer):  # type: ignore[misc]  # transformers has no types
    """A ``DynamicLayer`` whose storage has spare room. keys, values: views [B, Hkv, length, D]."""

    def __init__(self) -> None:
        super().__init__()
        # not by half as KVCache does: the prefix of a long document may be most of the memory
        self._storage = LayerStorage(lambda needed: needed + _ROOM)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *_args: object, **_kwargs: object
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append [B, Hkv, n, D] and return all keys and values so far."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        self._storage.truncate(self.get_seq_length())  # transformers' own crop and reset change keys and values alone
        self.keys, self.values = self._storage.append(key_states, value_states)
        return self.keys, self.values

    def reserve(self, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        """All keys and values [B, Hkv, length + ``count``, D], the last ``count`` to be written by the caller.

        They belong to the layer after :meth:`extend`. The layer must hold keys already.
        """
        self._storage.truncate(self.get_seq_length())
        room = self._storage.reserve(count)
        self._show()  # the storage may have moved
        return room

    def extend(self, count: int) -> None:
        """Count ``count`` positions that were written after :meth:`reserve`."""
        self._storage.extend(count)
        self._show()

    def truncate(self, length: int) -> None:
        """Keep the first ``length`` positions; the storage stays."""
        self._storage.truncate(length)
        self._show()

    def _show(self) -> None:
        kept = self._storage.kept()
        if kept is not None:
            self.keys, self.values = kept


class PrefixCache:
    """KV cache of one prefix. ``length`` counts its tokens; positions of what follows start there.

    Sliding-window layers keep all keys as well (the mask does the windowing), since a layer that drops
    old keys could not be cut back to the prefix. Raises ``ModelError`` for recurrent layers.
    """

    def __init__(self, config: Any) -> None:
        self.cache = DynamicCache(config=config)
        self.cache.layers = [_growing(layer) for layer in self.cache.layers]
        self.ids: tuple[int, ...] = ()

    @property
    def length(self) -> int:
        """Number of prefix tokens."""
        return len(self.ids)

    @property
    def nbytes(self) -> int:
        """Bytes of the keys and values in use."""
        tensors = [t for layer in self.cache.layers for t in (layer.keys, layer.values) if t is not None]
        return sum(t.numel() * t.element_size() for t in tensors)

    @classmethod
    def restored(
        cls, config: Any, ids: Sequence[int], tensors: Sequence[tuple[torch.Tensor, torch.Tensor]]
    ) -> PrefixCache:
        """The cache of ``ids`` from what :meth:`held` gave. Raises ``ValueError`` when the shapes cannot be of it."""
        result = cls(config)
        layers = result.cache.layers[: len(tensors)]
        if len(layers) < len(tensors) or not tensors:
            raise ValueError(f"{len(tensors)} layers for a model of {len(result.cache.layers)}")
        for layer, (key, value) in zip(layers, tensors, strict=True):
            if key.dim() != 4 or key.shape[:3] != value.shape[:3] or key.shape[2] != len(ids):
                raise ValueError(f"keys {tuple(key.shape)} and values {tuple(value.shape)} of {len(ids)} tokens")
            layer.update(key, value)
        result.extend(ids)
        return result

    def held(self) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
        """Keys and values [B, Hkv, length, D] of the layers that have read the prefix; views, not to be changed."""
        return tuple((layer.keys, layer.values) for layer in self.cache.layers if layer.keys is not None)

    def extend(self, ids: Sequence[int]) -> None:
        """Record ``ids`` as part of the prefix after the model has read them."""
        self.ids = (*self.ids, *ids)
        held = self.cache.get_seq_length()
        if held != self.length:
            raise ModelError(
                f"the KV cache holds {held} tokens where {self.length} were read", "this is a bug: report it"
            )

    def crop(self) -> None:
        """Forget everything after the prefix, also after a forward pass that stopped between layers."""
        for layer in self.cache.layers:
            if isinstance(layer, GrowingLayer):
                layer.truncate(self.length)


def _growing(layer: object) -> Any:
    if isinstance(layer, LinearAttentionCacheLayerMixin):
        raise ModelError(
            "recurrent layers keep no keys and cannot be observed", "use a model with attention layers only"
        )
    return GrowingLayer() if isinstance(layer, DynamicLayer) else layer
