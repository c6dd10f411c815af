"""The result of a diagnosis: verdict, every test with its number, one sentence and one remedy; no computation."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

SCHEMA = 1

Verdict = Literal[
    "not_fed", "masked", "out_of_reach", "beyond_window", "implementation_fault", "not_seen", "not_selected",
    "misread", "unsupported_claim", "blind_spot", "no_fault",
]  # fmt: skip
# rung of the ladder that each verdict belongs to
RUNGS: dict[Verdict, str] = {
    "not_fed": "0a", "masked": "0b", "out_of_reach": "0b", "beyond_window": "0c", "implementation_fault": "1",
    "not_seen": "2", "not_selected": "3", "misread": "4", "unsupported_claim": "5", "blind_spot": "5",
    "no_fault": "-",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Test:
    """One test: ``value`` against ``threshold``; ``passed`` None for a number that decides nothing, or was not taken.

    ``detail`` says what was compared.
    """

    rung: str
    name: str
    value: float | None
    threshold: float | None
    passed: bool | None
    detail: str

    __test__ = False  # not a test of pytest


@dataclass(frozen=True, slots=True)
class Hit:
    """The rung where the ladder stopped; ``facts`` fill the sentences of ``variant`` (wording.py)."""

    verdict: Verdict
    variant: str = ""
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """What one rung found: its tests, and a hit when the ladder ends here."""

    tests: tuple[Test, ...]
    hit: Hit | None = None


@dataclass(frozen=True, slots=True)
class ExpectedPlace:
    """Where the truth stands, as the user says; ``start`` None when the text of the document does not hold it."""

    named: str
    clause: str
    start: int | None
    end: int | None
    quote: str


@dataclass(frozen=True, slots=True)
class NamedClause:
    """A clause by its printed path and the passage of it that is meant."""

    clause: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Run:
    """What the numbers depend on."""

    model: str
    model_sha256: str
    template_sha256: str
    heads: tuple[tuple[int, int], ...] | str
    alpha: float
    off_topic_questions: int
    rows: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The JSON object of ``softlookup diagnose --json``.

    ``sentence`` is for a lawyer, ``remedy`` for an engineer, in the language of the question. ``answer`` is what was
    diagnosed, ``answer_given`` whether it came from the user; ``distractor`` the clause that was used instead of the
    expected one. ``run`` is None where no model had to run.
    """

    question: str
    expected: ExpectedPlace | None
    answer: str
    answer_given: bool
    verdict: Verdict
    rung: str
    sentence: str
    remedy: str
    tests: tuple[Test, ...]
    distractor: NamedClause | None
    run: Run | None
    not_tested: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, with ``schema`` first; numbers that are not finite are null."""
        return {"schema": SCHEMA, **asdict(self), "tests": [_plain(test) for test in self.tests]}


def _plain(test: Test) -> dict[str, Any]:
    value = test.value if test.value is None or math.isfinite(test.value) else None
    return {**asdict(test), "value": value}
