"""Reads files in child processes with limits, so that a bomb, a hang or a crash is an outcome and not an accident.

``run_limited`` sends many jobs to one child in turn and starts another one when it dies. The child itself is
``limited_child.py``; the limits are address space, processor time and a wall clock per job. Not for speed claims.
"""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

MIB = 1024 * 1024
Kind = Literal["document", "refused", "untyped", "broken", "memory", "hang", "crash"]
GOOD: frozenset[Kind] = frozenset(("document", "refused"))
_CHILD = Path(__file__).with_name("limited_child.py")


@dataclass(frozen=True, slots=True)
class Limits:
    """Address space in bytes, processor seconds and wall seconds of one job."""

    memory: int = 3072 * MIB
    cpu_seconds: int = 20
    wall_seconds: float = 40.0


@dataclass(frozen=True, slots=True)
class Job:
    """A file to read: ``name`` gives its extension, ``options`` go to ``read_document``.

    ``fault`` runs a planted fault of ``limited_child.FAULTS`` instead, to show that the limits work.
    """

    data: bytes
    name: str = "file.txt"
    options: dict[str, Any] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job: "document", a typed refusal, or a fault; ``peak`` in bytes is 0 after a crash.

    "broken" is a document that breaks a rule of the model; "memory" an allocation above the limit.
    """

    kind: Kind
    detail: str = ""
    seconds: float = 0.0
    peak: int = 0
    characters: int = 0
    clauses: int = 0
    terms: int = 0
    references: int = 0
    states: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        """True for the two outcomes that a hostile file may have."""
        return self.kind in GOOD


def read_limited(data: bytes, name: str, limits: Limits | None = None, **options: Any) -> Outcome:
    """Outcome of one file in a child of its own."""
    return run_limited([Job(data, name, options)], limits)[0]


def run_limited(jobs: Iterable[Job], limits: Limits | None = None, *, forked_pdf: bool = False) -> list[Outcome]:
    """One outcome per job, in order.

    ``forked_pdf`` lets the PDF reader fork its process instead of starting an interpreter for each file:
    the same code with the same limits, twenty times as fast.
    """
    limits = limits or Limits()
    outcomes: list[Outcome] = []
    child: _Child | None = None
    try:
        for job in jobs:
            if child is None:
                child = _Child(limits, forked_pdf=forked_pdf)
            outcome = child.run(job)
            if outcome.kind in ("hang", "crash", "memory"):  # after MemoryError the process is no fair place
                child.end()
                child = None
            outcomes.append(outcome)
    finally:
        if child is not None:
            child.end()
    return outcomes


class _Child:
    """One process of ``limited_child.py``."""

    def __init__(self, limits: Limits, *, forked_pdf: bool) -> None:
        self._limits = limits
        command = [sys.executable, str(_CHILD), str(limits.memory), str(limits.cpu_seconds), str(int(forked_pdf))]
        path = os.pathsep.join(p for p in sys.path if p)
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path}, start_new_session=True,
        )  # fmt: skip
        try:
            self._receive(60.0)  # it says when its imports are done, so that they do not count
        except (EOFError, TimeoutError):
            self.end()
            raise RuntimeError(f"{_CHILD.name} did not start: run it by hand to see why") from None

    def run(self, job: Job) -> Outcome:
        """Send ``job``, wait for its outcome at most as long as the wall clock allows."""
        started = time.monotonic()
        message = pickle.dumps((job.data, job.name, job.options, job.fault))
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(struct.pack("<Q", len(message)) + message)
            self._process.stdin.flush()
            fields = self._receive(self._limits.wall_seconds)
        except TimeoutError:
            return Outcome("hang", f"more than {self._limits.wall_seconds} s", time.monotonic() - started)
        except (EOFError, BrokenPipeError):
            return self._death(time.monotonic() - started)
        return Outcome(**fields, seconds=time.monotonic() - started)

    def _death(self, seconds: float) -> Outcome:
        status = self._process.wait()
        if -status == signal.SIGXCPU:
            return Outcome("hang", f"more than {self._limits.cpu_seconds} s of processor time", seconds)
        name = signal.Signals(-status).name if status < 0 else f"exit {status}"
        return Outcome("crash", name, seconds)

    def _receive(self, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        (size,) = struct.unpack("<Q", self._exactly(8, deadline))
        fields: dict[str, Any] = pickle.loads(self._exactly(size, deadline))
        return fields

    def _exactly(self, size: int, deadline: float) -> bytes:
        assert self._process.stdout is not None
        received = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self._process.stdout, selectors.EVENT_READ)
            while len(received) < size:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    raise TimeoutError
                piece = os.read(self._process.stdout.fileno(), size - len(received))
                if not piece:
                    raise EOFError
                received += piece
        return received

    def end(self) -> None:
        """Stop the process and what it started."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def faults(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """One line per outcome that no file may have."""
    return (f"{at}: {o.kind} {o.detail}" for at, o in enumerate(outcomes) if not o.good)
