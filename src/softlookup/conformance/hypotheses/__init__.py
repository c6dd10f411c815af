"""Every mistake that has a name; a name is used when its numbers are the observed ones, never by likeness."""

from __future__ import annotations

from softlookup.conformance.contract import Contract
from softlookup.conformance.hypotheses.heads import of_heads
from softlookup.conformance.hypotheses.hypothesis import Hypothesis
from softlookup.conformance.hypotheses.masking import masking
from softlookup.conformance.hypotheses.scores import of_scores
from softlookup.conformance.hypotheses.softmax import of_softmax


def all_hypotheses(contract: Contract) -> list[Hypothesis]:
    """In order of preference: where two have the same numbers on every case, the first is the name."""
    return [*masking(contract), *of_scores(), *of_heads(), *of_softmax()]
