"""Where timings of models lie, and what names a model there; light, so that planning stays so. Reads no timings."""

from __future__ import annotations

from pathlib import Path

from softlookup.cost.timing.machine import model_fingerprint
from softlookup.runtime import embedded
from softlookup.runtime.directories import cache_directory


def timings_folder() -> Path:
    """Folder of the calibrations; it need not exist. Raises ``ModelError`` when the cache cannot be made."""
    return cache_directory() / "timings"


def fingerprint_of(model: str | Path | None) -> str | None:
    """Fingerprint of the files behind ``model`` (None: the embedded one); None for a mere name.

    Raises ``ModelError`` when they cannot be read.
    """
    if model is None or str(model) == embedded.NAME:
        return embedded.GGUF_SHA256
    path = Path(model).expanduser()
    if path.is_file() and path.suffix != ".json":
        return model_fingerprint(path)
    if path.is_dir() and any(path.glob("*.safetensors")):
        return model_fingerprint(path)
    return None
