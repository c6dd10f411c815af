"""Typed look-up in a configuration of unknown origin: every failure is one line that names the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from softlookup.cost.model.shapes import MAX_WIDTH
from softlookup.errors import ModelError


class Fields:
    """A configuration and the name of what it was read from."""

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self.values = values
        self.where = where

    def integer(self, *names: str, low: int = 1, high: int = MAX_WIDTH) -> int | None:
        """The first of ``names`` that is set. Raises ``ModelError`` for a number outside ``low`` to ``high``."""
        for name in names:
            value = self.values.get(name)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ModelError(
                    f"{name} of {self.where} must be a whole number from {low:,} to {high:,}, got {_short(value)}",
                    "correct the file or take it again from its source",
                )
            return value
        return None

    def required(self, *names: str, low: int = 1, high: int = MAX_WIDTH) -> int:
        """The same for a field that cannot be assumed."""
        value = self.integer(*names, low=low, high=high)
        if value is None:
            raise ModelError(f"{self.where} does not state {' or '.join(names)}", "add the field: it is not guessed")
        return value

    def flag(self, name: str, *, default: bool) -> bool:
        """A Boolean field."""
        value = self.values.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise ModelError(f"{name} of {self.where} must be true or false, got {_short(value)}", "correct the file")
        return value

    def names(self, name: str, count: int) -> Sequence[str] | None:
        """A list of ``count`` words, such as ``layer_types``."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != count or not all(isinstance(item, str) for item in value):
            raise ModelError(f"{name} of {self.where} must list {count} names, got {_short(value)}", "correct the file")
        return value

    def integers(self, name: str) -> Sequence[int]:
        """A list of whole numbers, empty when absent."""
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, int) and item >= 0 for item in value):
            raise ModelError(f"{name} of {self.where} must list whole numbers, got {_short(value)}", "correct the file")
        return value

    def of_layer(self, index: int) -> Fields:
        """The same with what ``per_layer_config`` states for one layer."""
        layers = self.values.get("per_layer_config")
        own = layers.get(str(index), layers.get(index)) if isinstance(layers, Mapping) else None
        return Fields({**self.values, **own}, self.where) if isinstance(own, Mapping) else self


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
