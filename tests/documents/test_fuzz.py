"""2,000 seeded mutations of every format: each is read or refused in one typed line; no crash, no hang.

Every Document that comes out keeps the rules of the model (``invariants.py``). ``SOFTLOOKUP_FUZZ_SEED`` gives other
mutations; the share of files that were read shows that the mutations reach the clause tree and the references.
"""

from __future__ import annotations

import os

import pytest

from .fuzz import mutants
from .limited import Limits, Outcome, faults, run_limited

SEED = int(os.environ.get("SOFTLOOKUP_FUZZ_SEED", "1"))
COUNT = 1000  # two tests of each format, so that processes share them
READ_SHARE = 0.4
LIMITS = Limits(cpu_seconds=20, wall_seconds=60.0)


def share(outcomes: list[Outcome]) -> float:
    """Share of the files that became a Document."""
    return sum(outcome.kind == "document" for outcome in outcomes) / len(outcomes)


@pytest.mark.parametrize("part", range(2))
@pytest.mark.parametrize("name", ["docx", "pdf", "html", "edgar", "markdown", "text"])
def test_mutated_files_are_read_or_refused(name, part, record_property):
    seed = 10 * SEED + part
    outcomes = run_limited(mutants(name, seed, COUNT), LIMITS, forked_pdf=True)
    assert not list(faults(outcomes)), f"seed {seed}"
    assert all(len(outcome.detail) < 1000 and "\n" not in outcome.detail for outcome in outcomes)
    record_property("read", share(outcomes))
    assert share(outcomes) >= READ_SHARE
    assert sum(outcome.clauses > 3 for outcome in outcomes) > 0.2 * COUNT
    assert sum(outcome.references > 0 for outcome in outcomes) > 0.1 * COUNT


def test_mutated_pdfs_through_the_started_process():
    outcomes = run_limited(mutants("pdf", 10 * SEED + 9, 12), LIMITS)
    assert not list(faults(outcomes))
    assert share(outcomes) >= READ_SHARE


def test_same_seed_gives_the_same_files():
    for name in ("docx", "pdf", "html"):
        first, again = ([job.data for job in mutants(name, 5, 20)] for _ in range(2))
        assert len(set(first)) > 10
        assert first == again
