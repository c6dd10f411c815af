"""A real server on a free port in a thread of the test, and one in a process of its own; no assertions here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from softlookup.session import Options
from softlookup.ui.server.serve import Server
from softlookup.ui.server.settings import Settings
from softlookup.ui.server.state import ServerState

SHORT = Options(max_answer_tokens=4)
# with this nearly every question finds evidence, so that an answer is decoded
EAGER = 0.95


@dataclass
class Served:
    """A running server: its address, a client of it, and its state for a look inside."""

    address: str
    client: httpx.Client
    state: ServerState
    server: Server

    def add(self, text: str, name: str = "mooring.txt") -> str:
        """Id of a new document."""
        response = self.client.post("/v1/documents", files={"file": (name, text.encode())})
        response.raise_for_status()
        return str(response.json()["id"])


@contextmanager
def served(**settings: Any) -> Iterator[Served]:
    """A server with these settings, stopped at the end."""
    told: list[str] = []
    ready = threading.Event()

    def say(address: str) -> None:
        told.append(address)
        ready.set()

    server = Server.prepared(Settings(**{"port": 0, "options": SHORT, "drain": 5.0, **settings}), say)
    thread = threading.Thread(target=server.serve_all)
    thread.start()
    try:
        if not ready.wait(30):
            raise RuntimeError("the server did not start")
        with httpx.Client(base_url=told[0], timeout=60) as client:
            yield Served(told[0], client, server.state, server)
    finally:
        server.should_exit = True
        thread.join(30)


@contextmanager
def process(store: Path, model: Path, *options: str, **environment: str) -> Iterator[tuple[Any, httpx.Client]]:
    """``softlookup serve`` in a process of its own, killed at the end; with a client."""
    command = [sys.executable, "-m", "softlookup", "serve", "--port", "0", "--store", str(store), "--model", str(model)]
    started = subprocess.Popen(
        [*command, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
    )
    try:
        assert started.stdout is not None
        line = started.stdout.readline()
        if "http" not in line:
            raise RuntimeError(f"no address: {line}{started.communicate()[1]}")
        with httpx.Client(base_url=line.split()[-1], timeout=60) as client:
            yield started, client
    finally:
        started.kill()
        started.wait()
        for pipe in (started.stdout, started.stderr):
            if pipe is not None:
                pipe.close()


def wait_until(true: Any, seconds: float = 20.0) -> None:
    """Return when ``true()`` is; fail after a while."""
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            raise AssertionError("it did not come true")
        time.sleep(0.02)
