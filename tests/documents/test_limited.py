"""The limits of hostile-file tests: each kind of fault is planted once and caught; a healthy file is read."""

from __future__ import annotations

import pytest

from .builders import LEASE_EN, pdf
from .limited import MIB, Job, Limits, faults, read_limited, run_limited

SMALL = Limits(memory=1024 * MIB, cpu_seconds=2, wall_seconds=4.0)
PATIENT = Limits(
    memory=1024 * MIB, cpu_seconds=30, wall_seconds=60.0
)  # to fill the memory takes seconds on a busy host


@pytest.mark.parametrize(
    ("fault", "kind", "detail"),
    [
        ("untyped", "untyped", "KeyError: 'planted'"),
        ("segfault", "crash", "SIGSEGV"),
        ("sleep", "hang", "more than 4.0 s"),
        ("burn", "hang", "processor time"),
        ("allocate", "memory", "MemoryError"),
        ("grow", "memory", "MemoryError"),
    ],
)
def test_planted_faults_are_caught_and_the_next_job_is_read(fault, kind, detail):
    limits = PATIENT if kind == "memory" else SMALL
    caught, healthy = run_limited([Job(b"", fault=fault), Job(LEASE_EN.encode(), "lease.txt")], limits)
    assert (caught.kind, detail in caught.detail) == (kind, True)
    assert not caught.good
    assert healthy.kind == "document"
    assert healthy.clauses > 5
    assert len(list(faults([caught, healthy]))) == 1


def test_outcome_tells_refusals_memory_and_time():
    refused = read_limited(b"\x89PNG\r\n\x1a\n", "a.png")
    assert refused.kind == "refused"
    assert "PNG" in refused.detail
    small = read_limited(b"1. Rent. Ten.\n" * 10, "a.txt")
    large = read_limited(b"The tenant pays rent, and the owner repairs the roof of the house.\n\n" * 20_000, "a.txt")
    assert small.characters == 140
    assert 0 < small.peak < large.peak < 400 * MIB
    assert large.peak > small.peak + 4 * MIB


def test_forked_pdf_reads_what_the_started_process_reads():
    data = pdf([[(72.0, 700.0, "1. Rent. Ten a month."), (72.0, 680.0, "2. Term. A year.")], []])
    started, forked = read_limited(data, "a.pdf"), run_limited([Job(data, "a.pdf")], forked_pdf=True)[0]
    assert started.kind == "document"
    assert (started.characters, started.clauses, started.states) == (forked.characters, forked.clauses, forked.states)
