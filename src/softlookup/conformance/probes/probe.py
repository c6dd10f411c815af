"""A probe: cases that make one feature bite, and the variants that it must be able to tell from the right one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from softlookup.conformance.case import Case
from softlookup.conformance.oracle import attend
from softlookup.conformance.variant import Variant

# what a difference of weights has to exceed to be seen in any dtype that is tried
VISIBLE = 0.02


@dataclass(frozen=True)
class Probe:
    """``id`` is area.what; ``without`` changes the right variant into one that ignores the feature.

    ``optional``: a function may refuse these calls without having broken anything.
    """

    id: str
    cases: tuple[Case, ...]
    without: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """Arguments that a function must have to be asked this."""
        return frozenset().union(*(case.features for case in self.cases))

    def is_vacuous(self, right: Variant) -> bool:
        """Whether a function that ignores the feature would pass: then a pass means nothing."""
        if not self.without:
            return False
        wrong = right.but(**self.without)
        return not any(differ(attend(case, right), attend(case, wrong)) for case in self.cases)


def differ(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any], tolerance: float = VISIBLE) -> bool:
    """Beyond ``tolerance`` somewhere, or NaN in one place and not in the other."""
    if one.shape != other.shape or (np.isnan(one) != np.isnan(other)).any():
        return True
    return bool((np.abs(np.nan_to_num(one) - np.nan_to_num(other)) > tolerance).any())
