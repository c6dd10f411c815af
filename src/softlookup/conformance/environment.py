"""Versions and device of a check: a report without them has been retracted before as that of a stale build."""

from __future__ import annotations

import platform
import sys
from importlib import metadata


def environment(framework: str) -> dict[str, str]:
    """Python, platform, softlookup and the library of the function."""
    found = {"python": platform.python_version(), "platform": f"{sys.platform} {platform.machine()}"}
    for package in dict.fromkeys(("softlookup", "numpy", framework)):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found
