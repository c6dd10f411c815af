"""Find a model by name or path and load it; no conversion, no generation.

Accepted: nothing (the embedded model), a GGUF file (converted once, cached by SHA-256) or a Hugging Face
folder with safetensors. Pickle weights and custom code are refused.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from softlookup.errors import CapacityError, ModelError
from softlookup.runtime import embedded
from softlookup.runtime.convert import check_complete, convert_gguf
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.store import MANIFEST, read_manifest, sha256_of, verify_in_background

# weights up to this size in fp32 run in fp32, the dtype in which the CPU is exact and fast
_FP32_LIMIT_BYTES = 4 << 30


@dataclass(frozen=True, slots=True)
class ModelSource:
    """A model on disk, not loaded: cheap to make, enough to count tokens and plan.

    ``sha256`` identifies the weights: of the GGUF file, or over all weight files of a folder.
    """

    folder: Path
    name: str
    sha256: str
    note: str = ""

    @property
    def config(self) -> dict[str, Any]:
        """``config.json`` as a dictionary. Raises ``ModelError`` when it is missing or no JSON object."""
        try:
            config = json.loads((self.folder / "config.json").read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ModelError(
                f"the model folder {self.folder} has no readable config.json",
                "pass a Hugging Face model folder or a GGUF file",
            ) from error
        if not isinstance(config, dict):
            raise ModelError(f"config.json of {self.folder} is not a JSON object", "fetch the model again")
        return config

    @property
    def window(self) -> int:
        """Longest sequence the model was trained for, in tokens."""
        config = self.config
        config = config.get("text_config", config)
        window = config.get("max_position_embeddings")
        if not isinstance(window, int) or window < 1:
            raise ModelError(
                f"config.json of {self.folder} does not state max_position_embeddings",
                "softlookup will not guess a window: add it to config.json",
            )
        return window


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model ready to run. ``model`` and ``tokenizer`` are unchanged transformers objects."""

    source: ModelSource
    model: Any = field(repr=False)
    tokenizer: Any = field(repr=False)

    @property
    def window(self) -> int:
        """Longest sequence the model was trained for, in tokens."""
        return self.source.window


def find_model_source(model: str | Path | None = None, *, progress: Progress = no_progress) -> ModelSource:
    """Source of the embedded model (None), of a GGUF file, or of a Hugging Face folder.

    A GGUF file is converted on first use. Raises ``ModelError`` when there is nothing to load.
    """
    if model is None or str(model) == embedded.NAME:
        folder = embedded.find_embedded()
        if folder is None:
            raise ModelError("the embedded model is not in the cache yet", "run `softlookup model pull` once")
        return _cached_source(folder)
    path = Path(model).expanduser()
    if path.is_file():
        return _cached_source(convert_gguf(path, progress=progress))
    if not path.is_dir():
        raise ModelError(
            f"the model {str(model)!r} is neither a file nor a folder",
            "pass a Hugging Face folder or a GGUF file, or leave --model out for the embedded model",
        )
    if (path / MANIFEST).is_file():
        return _cached_source(path)
    return ModelSource(path, path.resolve().name, _folder_digest(path))


def load_model(model: str | Path | None = None, *, progress: Progress = no_progress) -> LoadedModel:
    """Load a model on the CPU. Raises ``ModelError`` (damaged, unsupported) or ``CapacityError`` (memory)."""
    source = find_model_source(model, progress=progress)
    progress("load", 0.0)
    manifest = source.folder / MANIFEST
    check = verify_in_background(source.folder, read_manifest(source.folder)) if manifest.is_file() else None
    try:
        loaded, tokenizer = _load(source)
    except MemoryError as error:
        raise CapacityError(f"{source.name} does not fit in memory", "choose a smaller model") from error
    finally:
        if check is not None:  # a damaged file is the better explanation of a failed load
            check.finish()
    progress("load", 1.0)
    return LoadedModel(source, loaded, tokenizer)


def _load(source: ModelSource) -> tuple[Any, Any]:
    from softlookup.runtime.quiet import quiet_transformers

    with quiet_transformers():
        from transformers import AutoModelForCausalLM, AutoTokenizer

        options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
        try:
            tokenizer = AutoTokenizer.from_pretrained(str(source.folder), **options)
            model, report = AutoModelForCausalLM.from_pretrained(
                str(source.folder), use_safetensors=True, dtype=_dtype_for(source), output_loading_info=True, **options
            )
        except MemoryError:
            raise
        except Exception as error:  # transformers raises many types on damaged folders
            reason = " ".join(str(error).split())[:160]
            raise ModelError(
                f"the model {source.name} cannot be loaded ({type(error).__name__}: {reason})",
                "check the folder, or convert again with `softlookup model pull`",
            ) from error
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(f"{source.name} has no fast tokenizer, so characters cannot be traced", "add a tokenizer.json")
    check_complete(source.name, report)
    _check_vocabulary(source, model, tokenizer)
    return model.eval(), tokenizer


def _check_vocabulary(source: ModelSource, model: Any, tokenizer: Any) -> None:
    rows = model.get_input_embeddings().num_embeddings
    if len(tokenizer) > rows:
        raise ModelError(
            f"the tokenizer of {source.name} has {len(tokenizer)} tokens but the model only {rows} embeddings",
            "the tokenizer belongs to another model: fetch the folder again",
        )


def _dtype_for(source: ModelSource) -> Any:
    import torch

    stored = sum(path.stat().st_size for path in source.folder.glob("*.safetensors"))
    # bf16 and fp16 files double in fp32; larger models keep the dtype they are stored in
    return torch.float32 if 2 * stored <= _FP32_LIMIT_BYTES else "auto"


def _cached_source(folder: Path) -> ModelSource:
    manifest = read_manifest(folder)
    return ModelSource(folder, manifest.name, manifest.source_sha256, manifest.note)


def _folder_digest(path: Path) -> str:
    weights = sorted(path.glob("*.safetensors"))
    if not weights:
        pickled = any(path.glob("*.bin")) or any(path.glob("*.pt"))
        raise ModelError(
            f"the model folder {path} has no safetensors file" + (" but pickled weights" if pickled else ""),
            "pickle can run code and is refused: convert it to safetensors"
            if pickled
            else "pass a Hugging Face model folder or a GGUF file",
        )
    digest = hashlib.sha256()
    for weight in weights:
        digest.update(f"{weight.name} {sha256_of(weight)}\n".encode())
    return digest.hexdigest()
