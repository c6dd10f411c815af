"""Calibrations on disk, so that the bank runs once per document and not once per process; measures nothing.

A file holds numbers alone: the null, the scores of the off-topic questions, and a digest. No text of the document, no
name and no path: the file's name is a digest of everything that the numbers depend on. Who has the document can tell
from it that it was read here, so files are readable by the user alone.

A cache, not a store: a file that is damaged, cut or of something else is computed again and replaced, and where
nothing can be written nothing is kept. Neither is an error.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from softlookup import __version__
from softlookup.errors import ModelError
from softlookup.evidence.attribution import TEMPER
from softlookup.evidence.question_bank import BANK_VERSION
from softlookup.runtime.directories import cache_directory

if TYPE_CHECKING:
    from softlookup.evidence.question_bank import QuestionBank
    from softlookup.evidence.reading import Reading

FloatArray = npt.NDArray[np.float64]

# raised when the mass, the null or the scores of the same rows are computed in another way
CALIBRATION_VERSION = 2
# 8,000 tokens take about 40 kB with the embedded model, and up to some MB where the heads are not profiled
_MOST_FILES = 500
_MOST_BYTES = 256 << 20
_TEMPORARY_PREFIX = ".calibration-"
_STALE_SECONDS = 3600.0
_NAMES = ("null", "off_topic", "spread")


def calibration_folder() -> Path:
    """Where calibrations lie; deleting it costs time only. Raises ``ModelError`` or ``OSError`` when it cannot be."""
    folder = cache_directory() / "calibrations"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def calibration_key(reading: Reading, bank: QuestionBank) -> str:
    """SHA-256 over everything that a calibration depends on: text, passages, model, template, heads, bank, method.

    The tokens of text and questions, and the rows that are read, stand for themselves: neither a tokenizer nor a
    model's configuration is part of the weights' digest.
    """
    import torch

    prefilled, places = reading.prefilled, reading.passage_map
    model = prefilled.loaded.model
    configuration = {name: value for name, value in model.config.to_dict().items() if name != "_name_or_path"}
    questions = (*bank.questions, *bank.further)
    facts: dict[str, Any] = {
        "method": [CALIBRATION_VERSION, __version__, torch.__version__, TEMPER],
        "text": _digest(reading.context.text.encode("utf-8", "surrogatepass")),
        "tokens": _digest(np.asarray(prefilled.prefix.ids, dtype=np.int64).tobytes()),
        "passages": [_digest(places.passage_of_token.tobytes()), *places.document, places.count],
        "model": [prefilled.loaded.source.sha256, str(model.dtype), str(model.config._attn_implementation)],
        "configuration": configuration,
        "template": prefilled.template.sha256,
        "heads": [reading.profile.heads, reading.profile.weights, reading.one_scale],
        "bank": [BANK_VERSION, bank.language, len(bank.questions), len(bank.compared)],
        "questions": [[prefilled.template.question_only(q).ids, reading.rows(q)] for q in questions],
    }
    return _digest(json.dumps(facts, skipkeys=True, default=str).encode())


def find_calibration(
    key: str, null_shape: tuple[int, int], off_topic_shape: tuple[int, int]
) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Null, off-topic scores and spread that were kept under ``key``; None unless they are whole and unchanged."""
    try:
        path = calibration_folder() / f"{key}.npz"
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
            values, digest = tuple(content[name] for name in _NAMES), content["digest"]
    except Exception:  # noqa: BLE001 - a damaged archive fails in many ways, and each means: compute it again
        return None
    if any(array.dtype != np.float64 for array in values):
        return None
    if tuple(array.shape for array in values) != (null_shape, off_topic_shape, null_shape[:1]):
        return None
    if digest.tobytes() != _content_digest(key, values):
        return None
    with suppress(OSError):  # what is used stays longest
        os.utime(path)
    null, off_topic, spread = values
    return null, off_topic, spread


def keep_calibration(key: str, null: FloatArray, off_topic: FloatArray, spread: FloatArray) -> None:
    """Write atomically, readable by the user alone, and drop what was not used for longest.

    Numbers that are not finite are not kept: they tell of a failing run, which the next one need not repeat.
    """
    values = (null, off_topic, spread)
    if not all(np.isfinite(array).all() for array in values) or sum(array.nbytes for array in values) > _MOST_BYTES:
        return
    digest = np.frombuffer(_content_digest(key, values), dtype=np.uint8)
    with suppress(OSError, ModelError):
        folder = calibration_folder()
        descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY_PREFIX, dir=folder)
        try:
            # not synced: what a crash leaves half written is found by its digest
            with os.fdopen(descriptor, "wb") as stream:
                np.savez(stream, null=null, off_topic=off_topic, spread=spread, digest=digest)
            Path(temporary).replace(folder / f"{key}.npz")
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
        _drop_oldest(folder)


def _drop_oldest(folder: Path) -> None:
    """Keep the newest files within both limits; what writers that died left behind goes too."""
    found = []
    for path in folder.iterdir():
        with suppress(OSError):  # another process dropped it
            facts = path.stat()
            if path.suffix == ".npz":
                found.append((facts.st_mtime_ns, facts.st_size, path))
            elif path.name.startswith(_TEMPORARY_PREFIX) and facts.st_mtime < time.time() - _STALE_SECONDS:
                path.unlink()
    used = 0
    for number, (_, size, path) in enumerate(sorted(found, reverse=True), 1):
        used += size
        if number > _MOST_FILES or used > _MOST_BYTES:
            with suppress(OSError):
                path.unlink()


def _content_digest(key: str, values: Sequence[FloatArray]) -> bytes:
    content = hashlib.sha256(key.encode())
    for array in values:
        content.update(repr(array.shape).encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.digest()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
