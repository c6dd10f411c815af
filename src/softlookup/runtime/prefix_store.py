"""Keys and values of text that a model has read, on disk, so that a further question need not read it again.

One safetensors file per prefix, readable by the user alone: what the model read can be told from it, so it is as
confidential as the document. A cache, not a store: a file that is damaged, cut or of something else is ignored and
replaced; where there is no room nothing is kept. Neither is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from softlookup import __version__
from softlookup.errors import ModelError
from softlookup.runtime.directories import cache_directory
from softlookup.runtime.kv_cache import PrefixCache

if TYPE_CHECKING:
    import torch

    from softlookup.runtime.load import LoadedModel

# the windows of a document of 250,000 tokens with the embedded model
MOST_BYTES = 8 << 30
# the file system keeps at least this
LEAST_FREE_BYTES = 4 << 30
_SUFFIX = ".safetensors"
_TEMPORARY_PREFIX = ".prefix-"
# the writer of safetensors puts its bytes in a file of its own beside ours before it renames it
_LEFT_BEHIND = (_TEMPORARY_PREFIX, ".tmp")
_STALE_SECONDS = 3600.0


def prefix_folder() -> Path:
    """Where they lie; deleting it costs time only. Raises ``ModelError`` or ``OSError`` when it cannot be made."""
    folder = cache_directory() / "prefixes"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def prefix_key(loaded: LoadedModel, ids: Sequence[int], last_layer: int | None) -> str:
    """SHA-256 over everything that the keys and values depend on: tokens, weights, configuration, versions."""
    import torch
    import transformers

    model = loaded.model
    configuration = {name: value for name, value in model.config.to_dict().items() if name != "_name_or_path"}
    facts: dict[str, Any] = {
        "versions": [__version__, torch.__version__, transformers.__version__],
        "tokens": hashlib.sha256(np.asarray(ids, dtype=np.int64).tobytes()).hexdigest(),
        "model": [loaded.source.sha256, str(model.dtype), str(model.config._attn_implementation)],
        "configuration": configuration,
        "last_layer": last_layer,
    }
    return hashlib.sha256(json.dumps(facts, skipkeys=True, default=str).encode()).hexdigest()


class PrefixStore:
    """Prefixes in one folder, at most ``most_bytes`` together; what was not used for longest goes first."""

    def __init__(self, *, most_bytes: int = MOST_BYTES, least_free_bytes: int = LEAST_FREE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._least_free = least_free_bytes
        self._checked: set[tuple[str, int]] = set()
        self.kept_bytes = 0  # written by this object
        self.found = 0  # prefixes that need not be read

    def find(self, key: str, ids: Sequence[int], config: Any) -> PrefixCache | None:
        """The keys and values kept under ``key`` for the tokens ``ids``; None unless they are there and unchanged."""
        from safetensors import safe_open

        try:
            path = prefix_folder() / f"{key}{_SUFFIX}"
            with safe_open(path, framework="pt") as stream:
                facts = stream.metadata() or {}
                tensors = [
                    (stream.get_tensor(f"{layer}.key"), stream.get_tensor(f"{layer}.value"))
                    for layer in range(int(facts["layers"]))
                ]
            place = (key, path.stat().st_mtime_ns)
            if place not in self._checked and _digest(key, tensors) != facts["digest"]:
                return None
            restored = PrefixCache.restored(config, ids, tensors)
            with suppress(OSError):  # what is used stays longest
                os.utime(path)
            self._checked.add((key, path.stat().st_mtime_ns))
            self.found += 1
            return restored
        except Exception:  # noqa: BLE001 - a damaged file fails in many ways, and each means: read the text again
            return None

    def keep(self, key: str, cache: PrefixCache) -> bool:
        """Write atomically; False where there is no room or nothing can be written."""
        from safetensors import SafetensorError
        from safetensors.torch import save_file

        tensors = cache.held()
        try:
            folder = prefix_folder()
            if not self._room_for(folder, cache.nbytes):
                return False
            descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY_PREFIX, dir=folder)
            os.close(descriptor)
            try:
                named = {
                    f"{layer}.{name}": tensor.contiguous()
                    for layer, pair in enumerate(tensors)
                    for name, tensor in zip(("key", "value"), pair, strict=True)
                }
                facts = {"layers": str(len(tensors)), "digest": _digest(key, tensors)}
                save_file(named, temporary, metadata=facts)
                Path(temporary).chmod(0o600)  # the writer makes a new file of the usual mode
                path = folder / f"{key}{_SUFFIX}"
                Path(temporary).replace(path)
            except BaseException:
                with suppress(OSError):
                    Path(temporary).unlink()
                raise
        except (OSError, ModelError, SafetensorError):  # the last one is what a full disk gives
            return False
        self._checked.add((key, path.stat().st_mtime_ns))
        self.kept_bytes += cache.nbytes
        return True

    def _room_for(self, folder: Path, size: int) -> bool:
        """Make room for ``size`` bytes by dropping what was not used for longest; False where it cannot be made."""
        free = shutil.disk_usage(folder).free
        if size > self._most_bytes or free < self._least_free:
            return False
        found = []
        for path in folder.iterdir():
            with suppress(OSError):  # another process dropped it
                facts = path.stat()
                if path.suffix == _SUFFIX:
                    found.append((facts.st_mtime_ns, facts.st_size, path))
                elif path.name.startswith(_LEFT_BEHIND) and facts.st_mtime < time.time() - _STALE_SECONDS:
                    path.unlink()
        used = sum(each[1] for each in found)
        for _, held, path in sorted(found):
            if used + size <= self._most_bytes and free - size >= self._least_free:
                break
            with suppress(OSError):
                path.unlink()
                used, free = used - held, free + held
        return used + size <= self._most_bytes and free - size >= self._least_free


def _digest(key: str, tensors: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> str:
    content = hashlib.blake2b(key.encode(), digest_size=32)
    for pair in tensors:
        for tensor in pair:
            content.update(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
            content.update(tensor.contiguous().flatten().view(_bytes_type()).numpy().data)
    return content.hexdigest()


def _bytes_type() -> torch.dtype:
    import torch

    return torch.uint8
