"""GGUF file -> safetensors folder in the model cache, once per file; no network, no loading for use.

transformers reads GGUF itself, but needs 25 to 35 s for 135M parameters and its ``save_pretrained``
refuses a model that came from GGUF, so the tensors and the configuration are written here.
"""

from __future__ import annotations

import contextlib
import io
import struct
from pathlib import Path
from typing import Any

from softlookup.errors import ModelError
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.store import (
    SCHEMA,
    StoredModel,
    find_model,
    publish,
    publishing,
    read_manifest,
    sha256_of,
    verify_model,
)

_GGUF_MAGIC = b"GGUF"
# llama.cpp writes 2 and 3; a larger count than these means a lying header, not a larger model
_GGUF_VERSIONS = (2, 3)
_MAX_TENSORS = 1_000_000
_MAX_FIELDS = 1_000_000


def convert_gguf(
    path: Path,
    *,
    name: str | None = None,
    licence: str = "",
    note: str = "",
    progress: Progress = no_progress,
) -> Path:
    """Folder of the model converted from ``path``; converts only when the cache does not hold it intact.

    Raises ``ModelError`` for a file that is no GGUF, is truncated, or is of an unsupported architecture.
    """
    check_gguf_header(path)
    digest = sha256_of(path)
    existing = find_model(digest)
    if existing is not None:
        try:
            verify_model(existing, read_manifest(existing))
        except ModelError:
            pass  # damaged: convert again below, which replaces it
        else:
            return existing
    with publishing() as temporary:
        again = find_model(digest)  # another process may have finished while this one waited
        if again is not None and again != existing:
            return again
        _write_folder(path, temporary, progress)
        manifest = StoredModel(
            schema=SCHEMA,
            name=_plain_name(name or path.stem),
            source=path.name,
            source_sha256=digest,
            licence=licence,
            note=note,
            files=(),
        )
        return publish(temporary, manifest)


def check_gguf_header(path: Path) -> None:
    """Read the fixed header. Raises ``ModelError`` unless magic, version and counts are plausible."""
    try:
        with path.open("rb") as stream:
            head = stream.read(24)
    except OSError as error:
        raise ModelError(f"the model file {path} cannot be read ({error.strerror})", "check the path") from error
    if len(head) < 24 or head[:4] != _GGUF_MAGIC:
        raise ModelError(f"{path.name} is not a GGUF file", "pass a GGUF file or a Hugging Face model folder")
    version, tensors, fields = struct.unpack("<IQQ", head[4:])
    if version not in _GGUF_VERSIONS or not 0 < tensors < _MAX_TENSORS or not 0 < fields < _MAX_FIELDS:
        raise ModelError(
            f"{path.name} has an implausible GGUF header (version {version}, {tensors} tensors, {fields} fields)",
            "the file is damaged: fetch it again",
        )


def check_complete(name: str, report: dict[str, Any]) -> None:
    """Refuse a model with missing tensors: transformers fills them with random numbers and only warns.

    ``report`` is what ``from_pretrained`` returns with ``output_loading_info``. Raises ``ModelError``.
    """
    missing = sorted(report["missing_keys"])
    if missing:
        raise ModelError(
            f"{name} lacks {len(missing)} of the model's tensors, among them {missing[0]}",
            "its weights are incomplete: fetch it again",
        )


def _write_folder(source: Path, target: Path, progress: Progress) -> None:
    from softlookup.runtime.quiet import quiet_transformers

    with quiet_transformers():
        import torch
        from safetensors import SafetensorError
        from safetensors.torch import save_file
        from transformers import AutoModelForCausalLM, AutoTokenizer

        progress("convert", 0.05)
        try:
            where: dict[str, Any] = {"gguf_file": source.name, "local_files_only": True}
            tokenizer = AutoTokenizer.from_pretrained(str(source.parent), **where)
            progress("convert", 0.35)
            with contextlib.redirect_stderr(io.StringIO()):  # it draws a bar of its own
                model, report = AutoModelForCausalLM.from_pretrained(
                    str(source.parent), dtype=torch.float32, output_loading_info=True, **where
                )
        except Exception as error:  # transformers and gguf raise many types on damaged or unknown files
            raise ModelError(
                f"{source.name} cannot be converted ({_one_line(error)})",
                "check that the file is complete and its architecture is supported by transformers",
            ) from error
        check_complete(source.name, report)
        progress("convert", 0.85)
        tied = bool(getattr(model.config, "tie_word_embeddings", False))
        tensors = {
            key: value.contiguous()
            for key, value in model.state_dict().items()
            if not (tied and key == "lm_head.weight")
        }
        try:
            save_file(tensors, str(target / "model.safetensors"), metadata={"format": "pt"})
        except SafetensorError as error:  # a full disk, among others: `publishing` tells the user
            raise OSError(str(error)) from error
        (target / "model.safetensors").chmod(0o600)
        model.config.__dict__.pop("quantization_config", None)  # the tensors are no longer quantised
        model.config.save_pretrained(str(target))
        if model.generation_config is not None:
            model.generation_config.save_pretrained(str(target))
        tokenizer.save_pretrained(str(target))
        progress("convert", 1.0)


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}"


def _plain_name(name: str) -> str:
    return "".join(character if character.isalnum() or character in "-_." else "-" for character in name) or "model"
