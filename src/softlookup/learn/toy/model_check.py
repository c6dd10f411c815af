"""A trained decoder as ``check_model`` asks for one, with positions of its own making: right or wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from softlookup.attention import KVCache
from softlookup.attention.decoder import Abilities, Array, Slots
from softlookup.learn.toy.training import Trained

# position of the token that follows ``length`` cached ones, of which ``prompt`` came with the prompt
Places = Callable[[int, int], int]

PLACES: dict[str, Places] = {
    "right": lambda length, _prompt: length,
    "one too far": lambda length, _prompt: length + 1,
    "restarts at 0": lambda length, prompt: length - prompt,
    "always 0": lambda _length, _prompt: 0,
    "counts twice": lambda length, prompt: length + (length - prompt),
}


class ToyCache:
    """Keys and values, and how many tokens the prompt had."""

    def __init__(self, layers: int) -> None:
        self.kv, self.prompt = KVCache(layers), 0


@dataclass(frozen=True)
class CheckedToy:
    """The protocol of ``softlookup.attention.decoder.Decoder`` around a trained decoder."""

    trained: Trained
    places: Places

    @property
    def abilities(self) -> Abilities:
        """One growing cache; no padding, no packing."""
        shape = self.trained.model.shape
        return Abilities(
            shape.vocabulary,
            (None,) * shape.num_hidden_layers,
            dtype="float64",
            rotary=True,
            padding=False,
            slots=False,
        )

    def new_cache(self, kind: str, length: int) -> ToyCache:
        """Empty; of the growing kind alone."""
        del kind, length
        return ToyCache(self.trained.model.shape.num_hidden_layers)

    def forward(
        self, tokens: Array, *, cache: Any = None, positions: Array | None = None, padding: Array | None = None,
        documents: Array | None = None,
    ) -> Array:  # fmt: skip
        """Logits; tokens behind a prompt stand where ``places`` says, unless positions are given."""
        del padding, documents
        given = torch.tensor(np.array(tokens))
        where = None if positions is None else torch.tensor(np.array(positions))
        if cache is None:
            return np.asarray(self.trained.model(given, where))
        if not cache.kv.length:
            cache.prompt = given.shape[1]
        elif where is None:
            where = torch.arange(given.shape[1]) + self.places(cache.kv.length, cache.prompt)
        return np.asarray(self.trained.model(given, where, cache.kv))

    def crop(self, cache: Any, length: int) -> None:
        """Keep the first tokens."""
        cache.kv.trim(length)

    def reorder(self, cache: Any, rows: Array) -> None:
        """Other rows of the batch."""
        cache.kv.reorder(torch.tensor(np.array(rows)))

    def slots(self, cache: Any) -> list[Slots]:
        """Not offered."""
        raise NotImplementedError


def checked(trained: Trained, places: str = "right") -> CheckedToy:
    """``trained`` for ``check_model``; ``places``: a key of ``PLACES``, how it numbers the tokens that it decodes."""
    return CheckedToy(trained, PLACES[places])
