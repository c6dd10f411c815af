"""Converted models on disk: found, checked, published atomically; no conversion here.

A model folder is complete or absent. It is written under a temporary name, synced, and renamed; its
manifest lists size and SHA-256 of every file. A process that dies in between leaves a temporary
folder that the next writer removes. Writers hold ``models/.lock`` (flock: it dies with its owner).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from softlookup.errors import ModelError
from softlookup.runtime.directories import CACHE_VARIABLE, cache_directory, models_directory

MANIFEST = "softlookup-model.json"
SCHEMA = 1
_TEMPORARY_PREFIX = ".converting-"
_PULL_AGAIN = "run `softlookup model pull` (or name the source with --model) to convert it again"


@dataclass(frozen=True, slots=True)
class StoredModel:
    """Manifest of a converted model. ``files`` holds (name, bytes, SHA-256) of every other file."""

    schema: int
    name: str
    source: str
    source_sha256: str
    licence: str
    note: str
    files: tuple[tuple[str, int, str], ...]

    @property
    def folder(self) -> str:
        """Folder name: unique per source file, so that a changed source is another model."""
        return f"{self.name}-{self.source_sha256[:12]}"


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def list_models() -> list[tuple[Path, StoredModel]]:
    """Every complete model in the cache, by folder name; unreadable manifests are left out."""
    found = []
    for folder in sorted(models_directory().iterdir()):
        if folder.name.startswith(".") or not (folder / MANIFEST).is_file():
            continue
        with contextlib.suppress(ModelError):
            found.append((folder, read_manifest(folder)))
    return found


def find_model(source_sha256: str) -> Path | None:
    """Folder of the model converted from the file with this SHA-256, None when absent."""
    for folder, manifest in list_models():
        if manifest.source_sha256 == source_sha256:
            return folder
    return None


def read_manifest(folder: Path) -> StoredModel:
    """Manifest of ``folder``. Raises ``ModelError`` when it is missing or damaged."""
    try:
        fields = json.loads((folder / MANIFEST).read_text("utf-8"))
        fields["files"] = tuple((str(n), int(size), str(digest)) for n, size, digest in fields["files"])
        manifest = StoredModel(**fields)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelError(f"the model cache entry {folder.name} has no readable manifest", _PULL_AGAIN) from error
    if manifest.schema != SCHEMA:
        raise ModelError(f"the model cache entry {folder.name} has schema {manifest.schema}, not {SCHEMA}", _PULL_AGAIN)
    return manifest


def verify_model(folder: Path, manifest: StoredModel) -> None:
    """Compare every file with its manifest entry. Raises ``ModelError`` on the first difference."""
    for name, size, digest in manifest.files:
        path = folder / name
        actual = path.stat().st_size if path.is_file() else -1
        if actual != size:
            state = "is missing" if actual < 0 else f"has {actual} bytes, not {size}"
            raise ModelError(f"the model cache is damaged: {folder.name}/{name} {state}", _PULL_AGAIN)
        if sha256_of(path) != digest:
            raise ModelError(f"the model cache is damaged: {folder.name}/{name} fails its SHA-256", _PULL_AGAIN)


def verify_in_background(folder: Path, manifest: StoredModel) -> VerificationInBackground:
    """Start :func:`verify_model` in a thread: hashing 540 MB hides behind the import of transformers."""
    return VerificationInBackground(folder, manifest)


class VerificationInBackground:
    """A running verification; :meth:`finish` raises what it found."""

    def __init__(self, folder: Path, manifest: StoredModel) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._future = self._pool.submit(verify_model, folder, manifest)

    def finish(self) -> None:
        """Wait for the end. Raises ``ModelError`` when a file differs from its manifest."""
        try:
            self._future.result()
        finally:
            self._pool.shutdown()


@contextlib.contextmanager
def publishing() -> Iterator[Path]:
    """A temporary folder for a conversion, under the writers' lock; removed on exit if still there.

    Folders that dead writers left behind are removed first (nobody else can hold the lock).
    """
    models = models_directory()
    with writable_cache(), (models / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for stale in models.glob(f"{_TEMPORARY_PREFIX}*"):
            shutil.rmtree(stale, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY_PREFIX, dir=models))
        try:
            yield temporary
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def writable_cache() -> Iterator[None]:
    """Turn an ``OSError`` of the block (read-only, full disk) into a ``ModelError`` that says what to do."""
    try:
        yield
    except OSError as error:
        raise ModelError(
            f"the model cache {cache_directory()} cannot be written ({error.strerror or error})",
            f"free some space or set {CACHE_VARIABLE} to a directory with at least 1 GB free",
        ) from error


def publish(temporary: Path, manifest: StoredModel) -> Path:
    """Sync ``temporary``, write its manifest last, and rename it to its final name (replacing a damaged one)."""
    files = [path for path in sorted(temporary.iterdir()) if path.is_file()]
    for path in files:
        _sync(path)
    entries = tuple((path.name, path.stat().st_size, sha256_of(path)) for path in files)
    complete = StoredModel(**{**asdict(manifest), "files": entries})
    (temporary / MANIFEST).write_text(json.dumps(asdict(complete), indent=1), "utf-8")
    _sync(temporary / MANIFEST)
    _sync(temporary)
    final = temporary.parent / complete.folder
    if final.exists():  # damaged, or converted by an older version: move it out of the way first
        shutil.rmtree(final)
    temporary.rename(final)
    _sync(final.parent)
    return final


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
