"""Finds the shape and the stored weights of what a user names: a preset, config.json, GGUF file or model folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from softlookup.cost.figures import Figure, exact
from softlookup.cost.model.config_json import shape_from_config_file
from softlookup.cost.model.dtypes import dtype_name, element_bytes, is_mix, storage_bytes
from softlookup.cost.model.gguf_header import read_gguf_header
from softlookup.cost.model.gguf_shape import shape_from_gguf
from softlookup.cost.model.presets import preset_shape
from softlookup.cost.model.safetensors_files import check_complete, safetensors_totals
from softlookup.cost.model.shapes import ModelShape
from softlookup.errors import ModelError, UsageError

DEFAULT_MODEL = "SmolLM2-135M"


@dataclass(frozen=True, slots=True)
class CostModel:
    """A shape, how its weights are stored, and their bytes. ``bytes_per_weight`` averages over a file's types."""

    shape: ModelShape
    dtype: str
    weight_bytes: Figure
    bytes_per_weight: float
    origin: str


def find_model(name: str | None = None, dtype: str | None = None) -> CostModel:
    """The model that ``name`` stands for; None is the embedded one. ``dtype`` overrides how weights are stored.

    Raises ``ModelError`` for what cannot be found or read, ``UsageError`` for an unknown ``dtype``.
    """
    if name is None:
        return _from_shape(preset_shape(DEFAULT_MODEL), dtype, "preset")
    if not name.strip():
        raise UsageError("a model needs a name or a path, got an empty one", "leave it out for the embedded model")
    path = Path(name).expanduser()
    if path.is_dir():
        return _from_folder(path, dtype)
    if path.is_file():
        return _from_gguf(path, dtype) if _is_gguf(path) else _from_shape(shape_from_config_file(path), dtype, "config")
    if re.search(r"\.(json|gguf|safetensors)$", name) or name.startswith((".", "~", "/")):
        found = "no regular file" if path.exists() else "no file or folder"
        raise ModelError(f"there is {found} {name!r}", "check the path")
    base, quantisation = _split(name)
    return _from_shape(preset_shape(base), dtype or quantisation, "preset")


def stored_as(model: CostModel, dtype: str) -> CostModel:
    """The same model with its weights in another storage type."""
    return _from_shape(model.shape, dtype, model.origin)


def _split(name: str) -> tuple[str, str | None]:
    """A preset's name without a storage type at its end: "SmolLM2-135M-Instruct-Q4_1" is q4_1."""
    match = re.fullmatch(r"(.+?)[-_.:](q\d[\w]*|iq\d[\w]*|f16|f32|bf16|fp16|fp32|fp8|mxfp4)", name, re.IGNORECASE)
    return (match[1], match[2].lower()) if match else (name, None)


def _is_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF" or path.suffix.lower() == ".gguf"
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error


def _from_shape(shape: ModelShape, dtype: str | None, origin: str) -> CostModel:
    """Weights by the formula: parameters x bytes per element, exact when the tensors all have one plain type."""
    if dtype is None and shape.dtype is None and origin in ("config", "folder"):
        shape = replace(shape, notes=(*shape.notes, "the weights' dtype is not stated: bf16 assumed"))
    stored = _stated(shape) if dtype is None else dtype_name(dtype)
    value = storage_bytes(shape.parameters, stored)
    per_weight = float(element_bytes(stored))
    formula = f"{shape.parameters:,} parameters x {per_weight:g} B ({stored})"
    figure = exact(value, "B", formula)
    if is_mix(stored) or per_weight < 2:  # norms and often embeddings stay wider in quantised files
        figure = Figure(value, "B", "prior", 0.97 * value, 1.15 * value, formula)
    return CostModel(shape, stored, figure, per_weight, origin)


def _stated(shape: ModelShape) -> str:
    """How the configuration says that weights are stored. Raises ``ModelError`` for a type that is not known."""
    stated = shape.dtype or "bf16"
    try:
        return dtype_name(stated)
    except UsageError as error:
        raise ModelError(
            f"the configuration of {shape.name} states the unknown dtype {stated[:40]!r}",
            "correct it, or say how weights are stored: --weight-dtype bf16",
        ) from error


def _from_gguf(path: Path, dtype: str | None) -> CostModel:
    header = read_gguf_header(path)
    shape = shape_from_gguf(header)
    if dtype is not None or not header.tensors:
        return _from_shape(shape, dtype, "gguf")
    size = sum(entry.bytes for entry in header.tensors)
    elements = sum(entry.elements for entry in header.tensors)
    largest = max(header.tensors, key=lambda entry: entry.bytes).dtype
    figure = exact(size, "B", f"sum over {len(header.tensors)} tensors of {path.name}")
    return CostModel(shape, largest, figure, size / elements, "gguf")


def _from_folder(path: Path, dtype: str | None) -> CostModel:
    config = path / "config.json"
    if not config.is_file():
        files = sorted(each for each in path.glob("*.gguf") if each.is_file())  # opening a pipe would wait for ever
        if len(files) == 1:
            return _from_gguf(files[0], dtype)
        raise ModelError(f"{path} has no config.json and not exactly one GGUF file", "pass a model folder or a file")
    shape = shape_from_config_file(config)
    files = sorted(path.glob("*.safetensors"))
    if dtype is not None or not files:
        return _from_shape(shape, dtype, "folder")
    totals = safetensors_totals(files)
    check_complete(path, totals)
    if totals.elements == 0:
        return _from_shape(shape, dtype, "folder")
    figure = exact(totals.bytes, "B", f"sum over the tensors of {len(files)} safetensors files")
    stored = _stated(shape)
    return CostModel(shape, stored, figure, totals.bytes / max(shape.parameters, 1), "folder")
