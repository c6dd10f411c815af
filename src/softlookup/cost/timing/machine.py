"""What identifies this machine, its settings and a model on disk, for timings that must not be reused elsewhere.

Nothing is loaded and no weight file is read as a whole: the model's fingerprint samples it. Not a digest of weights.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import re
from pathlib import Path

from softlookup.errors import ModelError

# bytes of each sample, and how many samples of one file
_SAMPLE, _SAMPLES = 64 << 10, 8
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")


def processor_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_name() -> str:
    """Name of the processor as the system tells it, with family and model where it does.

    >>> processor_name() != ""
    True
    """
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text("utf-8", "replace").partition("\n\n")[0]
        facts = dict(re.findall(r"^([^\t:\n]+?)\s*:[ \t]*([^\n]*)$", text, re.MULTILINE))
        if name := facts.get("model name", "").strip():
            return f"{name} (family {facts.get('cpu family', '?')}, model {facts.get('model', '?')})"
    return platform.processor() or platform.machine() or "unknown processor"


def machine_name() -> str:
    """Processor and number of cores."""
    return f"{processor_name()}, {processor_cores()} cores"


def thread_setting() -> str:
    """What the environment says about threads; ``default`` when it says nothing."""
    given = [f"{name}={value}" for name in _THREAD_VARIABLES if (value := os.environ.get(name, "").strip())]
    return " ".join(given) or "default"


def engine_version() -> str:
    """Versions of this program and of the libraries that run the model; nothing is imported."""
    found = []
    for name in ("softlookup", "torch", "transformers"):
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} ?")
    return ", ".join(found)


def model_fingerprint(path: Path) -> str:
    """Tells models on disk apart: sizes, headers and samples of a GGUF file or of a folder's config and weights.

    Raises ``ModelError`` when a file cannot be read.
    """
    files = [path] if path.is_file() else [path / "config.json", *sorted(path.glob("*.safetensors"))]
    content = hashlib.sha256()
    for file in files:
        try:
            size = file.stat().st_size
            content.update(f"{file.suffix} {size}\n".encode())
            with file.open("rb") as stream:
                for number in range(_SAMPLES):
                    stream.seek(number * max(0, size - _SAMPLE) // (_SAMPLES - 1))
                    content.update(stream.read(_SAMPLE))
        except OSError as error:
            raise ModelError(f"{file} cannot be read ({error.strerror or error})", "check the path") from error
    return content.hexdigest()
