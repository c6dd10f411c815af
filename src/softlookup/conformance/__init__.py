"""Finds wrong attention implementations and names the mistake; needs numpy, and the library of the function alone.

``check_fn`` reads an attention function through its outputs, ``check_rope`` a rotary function, ``check_model`` a
decoder along several paths; a contract or the model's configuration says what is right. Names are hypotheses that
reproduce the observed numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

_HOMES = {
    "Adapter": "softlookup.conformance.adapters",
    "Contract": "softlookup.conformance.contract",
    "Finding": "softlookup.conformance.report",
    "Report": "softlookup.conformance.report",
    "check_fn": "softlookup.conformance.check",
    "check_model": "softlookup.conformance.models.check",
    "check_rope": "softlookup.conformance.rope",
    "find_contract": "softlookup.conformance.contract",
}

__all__ = ["Adapter", "Contract", "Finding", "Report", "check_fn", "check_model", "check_rope", "find_contract"]

if TYPE_CHECKING:
    from softlookup.conformance.adapters import Adapter
    from softlookup.conformance.check import check_fn
    from softlookup.conformance.contract import Contract, find_contract
    from softlookup.conformance.models.check import check_model
    from softlookup.conformance.report import Finding, Report
    from softlookup.conformance.rope import check_rope


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'softlookup.conformance' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
