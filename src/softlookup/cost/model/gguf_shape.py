"""A GGUF header -> :class:`ModelShape`: heads from its fields, weights counted in its tensor table.

Which fields exist depends on the converter; what was missing and assumed is noted. Window patterns that llama.cpp
keeps in its code (``llama_model::load_hparams``) are repeated here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from softlookup.cost.model.gguf_header import GGUFHeader, SkippedArray, TensorEntry
from softlookup.cost.model.shapes import MAX_LAYERS, MAX_TOKENS, MAX_WIDTH, Layer, LayerKind, ModelShape
from softlookup.errors import ModelError

# every so-many-th layer is full; 1: the window is not used at all (phi3)
_WINDOW_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2, "cohere2": 4, "olmo2": 4, "llama4": 4, "phi3": 1}
# matrix products of a block are stored as tensors of two or three dimensions; experts have one more
_EXPERT = re.compile(r"_exps\.")
_BLOCK = re.compile(r"blk\.(\d+)\.(.+)")
_NOT_WEIGHTS = ("rope_freqs", "rope_factors")
_MAX_NAME = 80


class _Fields:
    """Fields of the file's architecture, checked; a list stands for one value per layer."""

    def __init__(self, header: GGUFHeader) -> None:
        self.header = header
        architecture = header.fields.get("general.architecture")
        if not isinstance(architecture, str) or not re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", architecture):
            raise self.error("does not state general.architecture, or no plain word as one")
        self.architecture = architecture
        self.missing: list[str] = []

    def raw(self, name: str) -> Any:
        return self.header.fields.get(f"{self.architecture}.{name}")

    def number(self, name: str, most: int = MAX_WIDTH, low: int = 1) -> int | None:
        value = self.raw(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= most:
            raise self.error(f"states {name} = {str(value)[:40]}, a number from {low} to {most:,} is needed")
        return value

    def required(self, name: str, most: int = MAX_WIDTH) -> int:
        value = self.number(name, most)
        if value is None:
            raise self.error(f"does not state {self.architecture}.{name}")
        return value

    def per_layer(self, name: str, layers: int, default: int) -> list[int]:
        """One number per layer from a number or a list of them."""
        value = self.raw(name)
        if isinstance(value, list):
            if len(value) != layers:
                raise self.error(f"states {name} for {len(value)} layers, it has {layers}")
            for number in value:
                if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= MAX_WIDTH:
                    raise self.error(f"states {name} = {number} of a layer, a number from 0 to {MAX_WIDTH:,} is needed")
            return [int(n) for n in value]
        if value is None:
            self.missing.append(name)
            return [default] * layers
        return [self.number(name, low=0) or 0] * layers

    def error(self, what: str) -> ModelError:
        return ModelError(f"{self.header.path} {what}", "convert the model again with a current converter")


def shape_from_gguf(header: GGUFHeader) -> ModelShape:
    """The shape. Raises ``ModelError`` for missing or contradictory fields."""
    fields = _Fields(header)
    _check_whole(header)
    count = fields.required("block_count", MAX_LAYERS)
    width = fields.required("embedding_length")
    tensors = [entry for entry in header.tensors if not entry.name.startswith(_NOT_WEIGHTS)]
    blocks: dict[int, list[TensorEntry]] = defaultdict(list)
    for entry in tensors:
        if match := _BLOCK.match(entry.name):
            blocks[int(match[1])].append(entry)
    names = {entry.name: entry for entry in tensors}
    vocabulary = _vocabulary(fields, names)
    experts = (fields.number("expert_count", low=0) or 0, fields.number("expert_used_count", low=0) or 0)
    if experts[1] > experts[0]:
        raise fields.error(f"uses {experts[1]} of {experts[0]} experts")
    tied = "output.weight" not in names
    layers = _layers(fields, count, width, blocks, experts)
    if tensors:
        _check_table(fields, layers, blocks, names.get("token_embd.weight"))
    embeddings = width * vocabulary * (1 if tied else 2)
    total = sum(entry.elements for entry in tensors) if tensors else None
    in_layers = sum(layer.weights for layer in layers)
    return ModelShape(
        name=_name(header), hidden_size=width, vocab_size=vocabulary,
        tied=tied, layers=layers, other_weights=max(0, (total or 0) - embeddings - in_layers),
        context=fields.number("context_length", MAX_TOKENS), expert_count=experts[0], experts_per_token=experts[1],
        notes=_notes(fields, total), counted=total, architecture=fields.architecture,
    )  # fmt: skip


def _check_whole(header: GGUFHeader) -> None:
    """A part of a split model states all fields and lists some of the tensors: its plan would be far too small."""
    parts = header.fields.get("split.count", 0)
    if isinstance(parts, int) and parts > 1:
        raise ModelError(
            f"{header.path} is one of {parts} parts of a model", "join them first: llama-gguf-split --merge"
        )


def _check_table(
    fields: _Fields, layers: tuple[Layer, ...], blocks: dict[int, list[TensorEntry]], embedding: TensorEntry | None
) -> None:
    """The tensors must be those of the model that the fields describe; a block without heads may have none."""
    empty = next((index for index, layer in enumerate(layers) if layer.query_heads and index not in blocks), None)
    if empty is not None:
        raise fields.error(f"states {len(layers)} layers and lists no tensor of layer {empty}")
    width = fields.required("embedding_length")
    if embedding is not None and (len(embedding.dimensions) != 2 or embedding.dimensions[0] != width):
        raise fields.error(f"states embedding_length = {width}, its embeddings are {list(embedding.dimensions)}")


def _name(header: GGUFHeader) -> str:
    """The model's own name in one short line, else that of the file."""
    own = header.fields.get("general.name")
    short = " ".join(own[: 4 * _MAX_NAME].split())[:_MAX_NAME] if isinstance(own, str) else ""
    return short or header.path.stem


def _notes(fields: _Fields, total: int | None) -> tuple[str, ...]:
    notes = [f"{name} is not stated and was assumed" for name in fields.missing]
    if total is None:
        notes.append("the file lists no tensors: weights are unknown")
    if fields.raw("context_length") is None:
        notes.append("the trained window is not stated")
    return tuple(notes)


def _vocabulary(fields: _Fields, names: dict[str, TensorEntry]) -> int:
    tokens = fields.header.fields.get("tokenizer.ggml.tokens")
    if "token_embd.weight" in names:
        return names["token_embd.weight"].dimensions[-1]
    if isinstance(tokens, SkippedArray):
        return tokens.length
    return fields.required("vocab_size", 1 << 26)


def _layers(
    fields: _Fields, count: int, width: int, blocks: dict[int, list[TensorEntry]], experts: tuple[int, int]
) -> tuple[Layer, ...]:
    heads = fields.per_layer("attention.head_count", count, 0)
    kv_heads = fields.per_layer("attention.head_count_kv", count, max(heads))
    if max(heads) < 1:
        raise fields.error(f"does not state {fields.architecture}.attention.head_count")
    latent = fields.number("attention.kv_lora_rank")
    windows = _windows(fields, count)
    shared = fields.number("attention.shared_kv_layers", MAX_LAYERS, low=0) or 0
    layers = []
    for index in range(count):
        projections, used, idle, small = _weights(blocks.get(index, []), experts)
        weights = {"projection_weights": projections, "ffn_weights": used, "idle_expert_weights": idle,
                   "small_weights": small}  # fmt: skip
        owner = _owner(windows, index, count - shared) if index >= count - shared else None
        if kv_heads[index] == 0 or heads[index] == 0 or any("ssm_" in entry.name for entry in blocks.get(index, [])):
            layers.append(_recurrent(fields, weights))
        elif latent is not None:
            layers.append(_latent(fields, latent, heads[index], weights))
        else:
            key, value = _widths(fields, width, heads[index], windows[index])
            kind: LayerKind = "full" if windows[index] is None else "window"
            layers.append(
                Layer(kind, heads[index], kv_heads[index], key, value, window=windows[index], owner=owner, **weights)
            )
    return tuple(layers)


def _weights(entries: list[TensorEntry], experts: tuple[int, int]) -> tuple[int, int, int, int]:
    """(projections, feed-forward of one token, idle experts, small) of one block."""
    projections = used = idle = small = 0
    for entry in entries:
        part = entry.name.split(".", 2)[2]
        if _EXPERT.search(part):
            active = entry.elements * experts[1] // experts[0] if experts[0] else entry.elements
            used, idle = used + active, idle + entry.elements - active
        elif len(entry.dimensions) < 2:
            small += entry.elements
        elif part.startswith("ffn_") and "norm" not in part:
            used += entry.elements
        else:
            projections += entry.elements
    return projections, used, idle, small


def _widths(fields: _Fields, width: int, heads: int, window: int | None) -> tuple[int, int]:
    """Key and value width of a head; window layers may have their own (Gemma 4)."""
    suffix = "_swa" if window is not None and fields.raw("attention.key_length_swa") is not None else ""
    key = fields.number(f"attention.key_length{suffix}")
    value = fields.number(f"attention.value_length{suffix}")
    if key is None and width % heads:
        raise fields.error(f"states no attention.key_length, and {width} is no multiple of {heads} heads")
    return key or width // heads, value or key or width // heads


def _latent(fields: _Fields, rank: int, heads: int, weights: dict[str, int]) -> Layer:
    """MLA. Newer files state the cached widths as key_length and the expanded ones as key_length_mla."""
    rope = fields.number("rope.dimension_count") or 64
    key = fields.number("attention.key_length_mla") or fields.required("attention.key_length")
    value = fields.number("attention.value_length_mla") or fields.required("attention.value_length")
    return Layer("latent", heads, heads, key, value, latent_width=rank + rope, rope_dim=rope, **weights)


def _recurrent(fields: _Fields, weights: dict[str, int]) -> Layer:
    inner, state = fields.number("ssm.inner_size") or 0, fields.number("ssm.state_size") or 0
    kernel, groups = fields.number("ssm.conv_kernel") or 0, fields.number("ssm.group_count") or 0
    elements = inner * state + kernel * (inner + 2 * groups * state)
    return Layer("recurrent", 0, 0, 0, 0, state_elements=elements, **weights)


def _windows(fields: _Fields, count: int) -> list[int | None]:
    window = fields.number("attention.sliding_window", MAX_TOKENS, low=0)
    if not window:
        return [None] * count
    pattern = fields.raw("attention.sliding_window_pattern")
    if isinstance(pattern, list) and len(pattern) == count:
        return [window if flag else None for flag in pattern]
    every = pattern if isinstance(pattern, int) and pattern >= 1 else _WINDOW_EVERY.get(fields.architecture, 0)
    if every == 1:
        return [None] * count
    if not every:
        fields.missing.append("attention.sliding_window_pattern (all layers have the window)")
        return [window] * count
    return [window if (index + 1) % every else None for index in range(count)]


def _owner(windows: list[int | None], index: int, first_shared: int) -> int | None:
    kinds = [each for each in range(first_shared) if (windows[each] is None) == (windows[index] is None)]
    return kinds[-1] if kinds else None
