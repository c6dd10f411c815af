"""A named way to be wrong: a code, the change of the right variant that it means, and where to look in the code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# from worst to mildest; leak: what must be hidden is seen
SEVERITIES = ("leak", "wrong", "unsafe", "precision", "info")


@dataclass(frozen=True)
class Hypothesis:
    """``changes`` of a :class:`Variant` whose numbers must be those observed before the name is used.

    ``needs``: arguments without which a call is not touched. ``likely``: the line of code, in words.
    """

    code: str
    changes: Mapping[str, Any]
    severity: str
    likely: str
    needs: frozenset[str] = field(default_factory=frozenset)

    @property
    def key(self) -> str:
        """``area.item`` without what was measured: what baselines hang on."""
        return self.code.split("(")[0].split("=")[0]


def hypothesis(code: str, severity: str, likely: str, needs: str = "", **changes: Any) -> Hypothesis:
    """``needs`` is a list of arguments in one text."""
    return Hypothesis(code, changes, severity, likely, frozenset(needs.split()))
