"""Reads the header of a GGUF file within bounds: a lying header gives one clear error, never a large allocation.

Format: magic, version, tensor count, field count; fields (key, type, value); tensor table (name, dimensions, type,
offset); data. Source: the GGUF specification of ggml. Long arrays (vocabularies) are skipped, not kept; no tensor
data is read. Not for loading a model.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from softlookup.cost.model.dtypes import GGML_TYPES, element_bytes
from softlookup.errors import ModelError

_VERSIONS = (2, 3)
_MAX_TENSORS = 200_000
_MAX_FIELDS = 100_000
_MAX_NAME = 4096
# a chat template may have tens of kilobytes; nothing that is kept here is longer
_MAX_TEXT = 4 << 20
# per-layer arrays are kept, vocabularies are not
_KEPT_ITEMS = 20_000
# texts of a vocabulary; the largest public ones have 300,000
_MAX_TEXTS = 4 << 20
_MAX_DIMENSIONS = 4
_MAX_ELEMENTS = 1 << 48
_SCALARS: dict[int, str] = {
    0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class TensorEntry:
    """One line of the tensor table. ``dimensions`` as GGUF stores them, the fastest first."""

    name: str
    dimensions: tuple[int, ...]
    dtype: str

    @property
    def elements(self) -> int:
        """Number of weights."""
        return math.prod(self.dimensions)

    @property
    def bytes(self) -> int:
        """Bytes in the file, block scales included."""
        return math.ceil(self.elements * element_bytes(self.dtype))


@dataclass(frozen=True, slots=True)
class SkippedArray:
    """A long array that was passed over: its length is all that is needed."""

    length: int


@dataclass(frozen=True, slots=True)
class GGUFHeader:
    """Fields and tensor table. A field's value is a number, text, Boolean, list, or :class:`SkippedArray`."""

    path: Path
    fields: dict[str, Any]
    tensors: tuple[TensorEntry, ...]


def read_gguf_header(path: Path) -> GGUFHeader:
    """The header of ``path``. Raises ``ModelError`` for a file that is no GGUF, is cut off, or contradicts itself."""
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            return _Reader(file, path, size).header()
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error


class _Reader:
    """Every read is checked against what is left of the file before anything is allocated."""

    def __init__(self, file: BinaryIO, path: Path, size: int) -> None:
        self.file, self.path, self.size = file, path, size
        self.position = 0

    def header(self) -> GGUFHeader:
        if self.take(4) != b"GGUF":
            raise self.error("is no GGUF file")
        version = self.number("<I")
        if version not in _VERSIONS:
            raise self.error(f"has GGUF version {version}, supported are 2 and 3 (little endian)")
        tensors = self.count("<Q", _MAX_TENSORS, 24, "tensors")
        fields = self.count("<Q", _MAX_FIELDS, 13, "fields")
        values: dict[str, Any] = {}
        for _ in range(fields):
            key = self.text(_MAX_NAME, "a key")
            if key in values:
                raise self.error(f"states {key[:60]!r} twice")
            values[key] = self.value(self.number("<I"))
        table = tuple(self.tensor() for _ in range(tensors))
        self.check_data(values, table)
        return GGUFHeader(self.path, values, table)

    def take(self, length: int) -> bytes:
        if length > self.size - self.position:
            raise self.error(f"ends inside its header (byte {self.size:,})")
        data = self.file.read(length)
        if len(data) != length:
            raise self.error("was cut off while it was read")
        self.position += length
        return data

    def skip(self, length: int) -> None:
        if length > self.size - self.position:
            raise self.error(f"ends inside its header (byte {self.size:,})")
        self.position = self.file.seek(length, 1)

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.take(struct.calcsize(layout)))[0]

    def count(self, layout: str, most: int, smallest: int, what: str) -> int:
        """A number of entries of at least ``smallest`` bytes each, which must fit the rest of the file."""
        found = int(self.number(layout))
        if found > most or found * smallest > self.size - self.position:
            raise self.error(f"claims {found:,} {what}, more than it can hold")
        return found

    def text(self, most: int, what: str) -> str:
        length = self.count("<Q", most, 1, f"bytes of {what}")
        try:
            return self.take(length).decode("utf-8")
        except UnicodeDecodeError as error:
            raise self.error(f"has {what} that is no UTF-8") from error

    def value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self.number(_SCALARS[kind])
        if kind == _STRING:
            return self.text(_MAX_TEXT, "text")
        if kind == _ARRAY:
            return self.array()
        raise self.error(f"uses the unknown field type {kind}")

    def array(self) -> list[Any] | SkippedArray:
        kind = int(self.number("<I"))
        if kind in _SCALARS:
            width = struct.calcsize(_SCALARS[kind])
            length = self.count("<Q", self.size, width, "array items")
            if length > _KEPT_ITEMS:
                self.skip(length * width)
                return SkippedArray(length)
            return [self.number(_SCALARS[kind]) for _ in range(length)]
        if kind != _STRING:  # arrays of arrays are allowed by the format and used by nobody
            raise self.error(f"uses an array of the unsupported type {kind}")
        length = self.count("<Q", _MAX_TEXTS, 8, "texts")
        for _ in range(length):
            self.skip(self.count("<Q", _MAX_TEXT, 1, "bytes of text"))
        return SkippedArray(length)

    def tensor(self) -> TensorEntry:
        name = self.text(_MAX_NAME, "a tensor name")
        rank = self.number("<I")
        if not 1 <= rank <= _MAX_DIMENSIONS:
            raise self.error(f"gives tensor {name[:60]!r} {rank:,} dimensions")
        dimensions = tuple(int(self.number("<Q")) for _ in range(rank))
        kind = self.number("<I")
        offset = int(self.number("<Q"))
        if kind not in GGML_TYPES:
            raise self.error(f"gives tensor {name[:60]!r} the unknown type {kind}")
        if min(dimensions) < 1 or math.prod(dimensions) > _MAX_ELEMENTS:
            raise self.error(f"gives tensor {name[:60]!r} an impossible size")
        entry = TensorEntry(name, dimensions, GGML_TYPES[kind])
        if offset + entry.bytes > self.size:
            raise self.error(f"places tensor {name[:60]!r} beyond its end (the file may be incomplete)")
        return entry

    def check_data(self, fields: dict[str, Any], table: tuple[TensorEntry, ...]) -> None:
        """All tensors together must fit behind the header, aligned."""
        names = {entry.name for entry in table}
        if len(names) != len(table):
            raise self.error("lists a tensor twice")
        alignment = fields.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 1 <= alignment <= 1 << 20:
            raise self.error(f"states the impossible alignment {alignment!r}")
        if sum(entry.bytes for entry in table) > self.size - self.position:
            raise self.error("describes more tensor data than it holds (the file may be incomplete)")

    def error(self, what: str) -> ModelError:
        return ModelError(f"{self.path} {what}", "fetch the file again or take another one")
