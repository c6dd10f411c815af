"""Where files live on this machine; creates nothing but directories."""

from __future__ import annotations

import os
from pathlib import Path

from softlookup.errors import ModelError

CACHE_VARIABLE = "SOFTLOOKUP_CACHE"


def cache_directory() -> Path:
    """``$SOFTLOOKUP_CACHE``, else the user cache directory of the platform; created with mode 0700.

    Raises ``ModelError`` when it cannot be created.
    """
    import platformdirs

    named = os.environ.get(CACHE_VARIABLE)
    path = Path(named).expanduser() if named else Path(platformdirs.user_cache_dir("softlookup"))
    return _created(path)


def state_directory() -> Path:
    """``state`` in ``$SOFTLOOKUP_CACHE``, else the user's state directory of the platform; created with mode 0700.

    Raises ``ModelError`` when it cannot be created.
    """
    import platformdirs

    named = os.environ.get(CACHE_VARIABLE)
    return _created(Path(named).expanduser() / "state" if named else Path(platformdirs.user_state_dir("softlookup")))


def _created(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ModelError(
            f"the cache directory {path} cannot be created ({error.strerror})",
            f"set {CACHE_VARIABLE} to a writable directory",
        ) from error
    return path


def models_directory() -> Path:
    """Directory that holds one folder per converted model. Raises ``ModelError`` when it cannot be created."""
    return _created(cache_directory() / "models")
