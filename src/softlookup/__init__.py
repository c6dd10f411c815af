"""softlookup: ask long contracts questions on your own machine, with clause citations or an honest abstention.

Names load on first use (PEP 562), so that ``import softlookup`` never loads torch or transformers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Answer": "softlookup.evidence.answer",
    "Session": "softlookup.session.session",
    "SoftlookupError": "softlookup.errors",
    "load_model": "softlookup.runtime.load",
    "observe": "softlookup.runtime.observe",
    "read_document": "softlookup.documents.read",
    "tiled_attention": "softlookup.runtime.tiled_attention",
}

__all__ = [
    "Answer",
    "Session",
    "SoftlookupError",
    "__version__",
    "load_model",
    "observe",
    "read_document",
    "tiled_attention",
]

if TYPE_CHECKING:
    from softlookup.documents.read import read_document
    from softlookup.errors import SoftlookupError
    from softlookup.evidence.answer import Answer
    from softlookup.runtime.load import load_model
    from softlookup.runtime.observe import observe
    from softlookup.runtime.tiled_attention import tiled_attention
    from softlookup.session.session import Session


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'softlookup' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
