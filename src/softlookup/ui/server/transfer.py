"""Frozen dataclasses as JSON and back, by their type hints; for what crosses a process or lies on disk.

Not pickle: a reader that a hostile file has taken over can send wrong values, but it can run nothing here.
"""

from __future__ import annotations

import base64
import types
import typing
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")
Decoder = Callable[[Any], Any]


def plain(value: Any) -> Any:
    """``value`` as dictionaries, lists, strings, numbers; bytes as base64."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def from_plain(kind: type[T], value: Any) -> T:
    """The ``kind`` that :func:`plain` made ``value`` of. Raises ``ValueError`` for anything else."""
    result: T = _decoder(cast("Any", kind))(value)
    return result


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


@cache
def _decoder(hint: Any) -> Decoder:
    """The function that checks and builds a value of ``hint``."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if isinstance(hint, type) and is_dataclass(hint):
        return _dataclass_decoder(hint)
    if origin is tuple:
        return _tuple_decoder(arguments)
    if origin in (types.UnionType, typing.Union):
        return _union_decoder(arguments)
    if origin is typing.Literal:
        return _one_of(frozenset(arguments))
    if hint is bytes:
        return _bytes
    if hint in (str, int, float, bool, type(None)):
        return _scalar(hint)
    raise TypeError(f"values of {hint} are not transferred")


def _dataclass_decoder(kind: type) -> Decoder:
    hints = typing.get_type_hints(kind)
    parts: list[tuple[str, Decoder]] = []

    def decode(value: Any) -> Any:
        if not parts:  # not before the first use: classes may refer to each other
            parts.extend((name, _decoder(hints[name])) for name in _names(kind))
        if not isinstance(value, dict) or len(value) != len(parts):
            raise ValueError(f"{kind.__name__} needs {len(parts)} fields")
        try:
            return kind(**{name: part(value[name]) for name, part in parts})
        except KeyError as error:
            raise ValueError(f"{kind.__name__} lacks {error}") from error

    return decode


def _tuple_decoder(arguments: tuple[Any, ...]) -> Decoder:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        item = _decoder(arguments[0])
        return lambda value: tuple([item(part) for part in _listed(value)])
    items = [_decoder(argument) for argument in arguments]

    def decode(value: Any) -> Any:
        if len(_listed(value)) != len(items):
            raise ValueError(f"a list of {len(items)} is required")
        return tuple(item(part) for item, part in zip(items, value, strict=True))

    return decode


def _union_decoder(arguments: tuple[Any, ...]) -> Decoder:
    parts = [_decoder(argument) for argument in arguments]

    def decode(value: Any) -> Any:
        for part in parts:
            try:
                return part(value)
            except ValueError:
                continue
        raise ValueError(f"{type(value).__name__} is none of {len(parts)} kinds")

    return decode


def _one_of(allowed: frozenset[Any]) -> Decoder:
    def decode(value: Any) -> Any:
        if not isinstance(value, str | int) or value not in allowed:
            raise ValueError("unknown value")
        return value

    return decode


def _scalar(kind: type) -> Decoder:
    def decode(value: Any) -> Any:
        if type(value) is kind:
            return value
        if kind is float and type(value) is int:
            return float(value)
        raise ValueError(f"{kind.__name__} is required, got {type(value).__name__}")

    return decode


def _listed(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise ValueError("a list is required")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, str):
        raise ValueError("base64 is required")
    return base64.b64decode(value, validate=True)
