"""Calibrations on disk, one JSON file each, found by what they hold for. Measures nothing and predicts nothing.

Files hold numbers, names of hardware and versions; they are written atomically and readable by the user alone. One
that is damaged is ignored, with a notice; one made under other settings is not used, with a notice of what differs.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from softlookup.cost.timing.calibration import Calibration, CalibrationKey, calibration_from_dict
from softlookup.errors import SoftlookupError

_MOST_FILES = 50
_MOST_BYTES = 256 << 10
_TEMPORARY_PREFIX = ".timing-"
AGAIN = "run `softlookup plan --calibrate` again"
_NAMES = {
    "device": "the processor", "engine": "the engine", "engine_version": "the engine's version",
    "model_fingerprint": "the model", "dtype": "the number format", "kv_dtype": "the number format of the cache",
    "attention": "the attention implementation", "threads": "the number of threads",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Found:
    """A calibration that may be used, if any; ``same_model``: made with this very model. ``notices`` for stderr."""

    calibration: Calibration | None
    same_model: bool
    notices: tuple[str, ...]


def keep_calibration(folder: Path, calibration: Calibration) -> Path:
    """Write ``calibration``, replacing the one for the same settings; the oldest beyond 50 go.

    Raises ``SoftlookupError`` when it cannot be written: who measured for a minute wants to know.
    """
    text = json.dumps(_sealed(calibration), indent=1)
    path = folder / f"{_name(calibration.key)}.json"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(prefix=_TEMPORARY_PREFIX, dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(temporary).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise SoftlookupError(
            f"the calibration cannot be written to {folder} ({error.strerror or error})",
            "free some space, or set SOFTLOOKUP_CACHE to a writable directory",
        ) from error
    for old in _newest_first(folder)[_MOST_FILES:]:
        with suppress(OSError):
            old.unlink()
    return path


def find_calibration(folder: Path, wanted: CalibrationKey) -> Found:
    """The calibration for ``wanted``; else one of another model under otherwise the same settings; else none."""
    known, notices = read_calibrations(folder)
    differing = [(each, each.key.differing(wanted)) for each in known]
    for each, names in differing:
        if not names and wanted.model_fingerprint:
            return Found(each, same_model=True, notices=notices)
    own = [(each, names) for each, names in differing if "model_fingerprint" not in names and wanted.model_fingerprint]
    if own:
        notices = (*notices, _refusal(*min(own, key=lambda pair: len(pair[1])), wanted))
    for each, names in differing:
        if set(names) <= {"model_fingerprint"}:
            return Found(each, same_model=False, notices=notices)
    if differing and not own:
        notices = (*notices, _refusal(*min(differing, key=lambda pair: len(pair[1])), wanted))
    return Found(None, same_model=False, notices=notices)


def read_calibrations(folder: Path) -> tuple[list[Calibration], tuple[str, ...]]:
    """All whole calibrations in ``folder``, newest first, and a notice for each damaged file."""
    found, notices = [], []
    for path in _newest_first(folder)[:_MOST_FILES]:
        try:
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError("it is too large")
            found.append(_opened(json.loads(path.read_text("utf-8"))))
        except (OSError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())[:100]
            notices.append(f"the calibration {path.name} is damaged and ignored ({reason}); {AGAIN}")
    return found, tuple(notices)


def _refusal(calibration: Calibration, names: list[str], wanted: CalibrationKey) -> str:
    """Why a calibration is not used: the first setting that differs, with both values, and how many more."""
    first = next((name for name in names if name != "model_fingerprint"), names[0])
    before, now = (str(getattr(key, first))[:80] for key in (calibration.key, wanted))
    more = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return (
        f"the calibration of {calibration.date[:10]} is not used: {_NAMES[first]} differs{more}, {before!r} then, "
        f"{now!r} now; seconds are priors, {AGAIN}"
    )


def _name(key: CalibrationKey) -> str:
    return hashlib.sha256(json.dumps(asdict(key), sort_keys=True).encode()).hexdigest()[:32]


def _newest_first(folder: Path) -> list[Path]:
    found = []
    with suppress(OSError):
        for path in folder.iterdir():
            with suppress(OSError):  # another process dropped it
                if path.suffix == ".json" and path.is_file():
                    found.append((path.stat().st_mtime_ns, path.name, path))
    return [path for _, _, path in sorted(found, reverse=True)]


def _sealed(calibration: Calibration) -> dict[str, object]:
    content = calibration.to_dict()
    return {**content, "sha256": _digest(content)}


def _opened(content: object) -> Calibration:
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    body = {name: value for name, value in content.items() if name != "sha256"}
    if content.get("sha256") != _digest(body):
        raise ValueError("its content has changed since it was written")
    return calibration_from_dict(body)


def _digest(content: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
