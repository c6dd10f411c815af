"""Sizes in safetensors files, read from their headers or predicted for the Llama family; no tensor data is read.

Format: 8 bytes of header length (little endian), a JSON object padded with blanks to a multiple of 8, the data.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from softlookup.cost.model.dtypes import storage_bytes
from softlookup.cost.model.shapes import ModelShape
from softlookup.errors import ModelError

# the format's own limit
_MAX_HEADER = 100_000_000


@dataclass(frozen=True, slots=True)
class TensorTotals:
    """Elements and bytes of all tensors; ``plain``: every tensor holds one number per weight (no packed formats)."""

    elements: int
    bytes: int
    plain: bool


def safetensors_totals(paths: list[Path]) -> TensorTotals:
    """Totals over ``paths``. Raises ``ModelError`` for a header that is damaged or contradicts the file's size."""
    elements = size = 0
    plain = True
    for path in paths:
        for name, entry in _header(path).items():
            if name == "__metadata__":
                continue
            count, length, dtype = _tensor(path, name, entry)
            elements, size = elements + count, size + length
            plain = plain and dtype in ("F64", "F32", "F16", "BF16")
    return TensorTotals(elements, size, plain)


def check_complete(folder: Path, totals: TensorTotals) -> None:
    """Raise ``ModelError`` when the folder's index speaks of more bytes than its files hold: a shard is missing."""
    index = folder / "model.safetensors.index.json"
    try:
        metadata = json.loads(index.read_text("utf-8")).get("metadata") if index.is_file() else None
    except (OSError, ValueError, RecursionError, AttributeError):
        return  # the headers themselves were readable: an index that is not adds nothing
    stated = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(stated, int) and totals.bytes < stated:
        raise ModelError(
            f"{folder} holds {totals.bytes:,} of the {stated:,} bytes that its index lists", "fetch the missing shards"
        )


def _header(path: Path) -> Mapping[str, object]:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(_MAX_HEADER, size - 8):
                raise ModelError(
                    f"{path} states a header of {length:,} bytes in a file of {size:,}", "fetch the file again"
                )
            header = json.loads(file.read(length))
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error
    except (struct.error, ValueError, RecursionError) as error:
        raise ModelError(f"{path} is no safetensors file", "fetch the file again") from error
    if not isinstance(header, dict):
        raise ModelError(f"the header of {path} is no JSON object", "fetch the file again")
    ends = [e["data_offsets"][1] for n, e in header.items() if n != "__metadata__" and _has_offsets(e)]
    if ends and max(ends) + 8 + length != size:
        raise ModelError(
            f"{path} has {size:,} bytes, its header describes {max(ends) + 8 + length:,}", "fetch the file again"
        )
    return header


def _has_offsets(entry: object) -> bool:
    offsets = entry.get("data_offsets") if isinstance(entry, dict) else None
    return isinstance(offsets, list) and len(offsets) == 2 and all(type(item) is int for item in offsets)


def _tensor(path: Path, name: str, entry: object) -> tuple[int, int, str]:
    if not isinstance(entry, dict) or not _has_offsets(entry) or not isinstance(entry.get("shape"), list):
        raise ModelError(f"{path} describes tensor {name[:60]!r} incompletely", "fetch the file again")
    start, end = entry["data_offsets"]
    shape = entry["shape"]
    if not all(type(item) is int and item >= 0 for item in shape) or not 0 <= start <= end:
        raise ModelError(f"{path} gives tensor {name[:60]!r} an impossible shape", "fetch the file again")
    return math.prod(shape), end - start, str(entry.get("dtype"))


def llama_file_bytes(shape: ModelShape, dtype: str = "bf16") -> int:
    """Exact bytes of ``model.safetensors`` of a Llama-like model, header included, as transformers saves it.

    Tensors come sorted by name. SmolLM2-135M: 8 + 30,528 + 269,030,016 = 269,060,552 bytes.
    """
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    offset = 0
    for name, dimensions in sorted(_llama_tensors(shape)):
        end = offset + storage_bytes(math.prod(dimensions), dtype)
        header[name] = {"dtype": dtype.upper(), "shape": dimensions, "data_offsets": [offset, end]}
        offset = end
    text = len(json.dumps(header, separators=(",", ":")))
    return 8 + math.ceil(text / 8) * 8 + offset


def _llama_tensors(shape: ModelShape) -> Iterator[tuple[str, list[int]]]:
    width = shape.hidden_size
    yield "model.embed_tokens.weight", [shape.vocab_size, width]
    yield "model.norm.weight", [width]
    if not shape.tied:
        yield "lm_head.weight", [shape.vocab_size, width]
    for index, layer in enumerate(shape.layers):
        queries, keys = layer.query_heads * layer.key_dim, layer.kv_heads * layer.key_dim
        inner = layer.ffn_weights // (3 * width)
        parts = {
            "input_layernorm": [width], "post_attention_layernorm": [width], "mlp.down_proj": [width, inner],
            "mlp.gate_proj": [inner, width], "mlp.up_proj": [inner, width], "self_attn.k_proj": [keys, width],
            "self_attn.o_proj": [width, queries], "self_attn.q_proj": [queries, width],
            "self_attn.v_proj": [keys, width],
        }  # fmt: skip
        for part, dimensions in parts.items():
            yield f"model.layers.{index}.{part}.weight", dimensions
