"""`softlookup mcp` in a process of its own, and the official client in a thread of the test; no assertions here."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

SECONDS = 240


@dataclass
class Served:
    """A client whose calls block."""

    loop: asyncio.AbstractEventLoop
    client: Any = None
    steps: list[tuple[float, str]] = field(default_factory=list)

    def run(self, coroutine: Any) -> Any:
        """What the coroutine returns."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(SECONDS)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of one call; its progress is in ``steps``."""
        self.steps.clear()

        async def hear(number: float, _: float | None, words: str | None) -> None:
            self.steps.append((number, words or ""))

        return self.run(self.client.call_tool(tool, arguments, progress_callback=hear))

    def found(self, tool: str, **arguments: Any) -> tuple[dict[str, Any], str]:
        """Structured result, which the client has validated, and text of a call that must not fail."""
        result = self.call(tool, **arguments)
        if result.is_error:
            raise AssertionError(result.content[0].text)
        return result.structured_content, result.content[0].text

    def error(self, tool: str, **arguments: Any) -> str:
        """Text of a call that must fail, as a result of the tool."""
        result = self.call(tool, **arguments)
        if not result.is_error:
            raise AssertionError("it did not fail")
        return str(result.content[0].text)


def command(root: Path, model: Path, *options: str) -> list[str]:
    """The command line of a server."""
    return [sys.executable, "-m", "softlookup", "mcp", "--root", str(root), "--model", str(model), *options]


def environment(cache: Path) -> dict[str, str]:
    """Its environment."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "SOFTLOOKUP_CACHE": str(cache)}


@contextmanager
def served(root: Path, model: Path, cache: Path, *options: str) -> Iterator[Served]:
    """A running server; the client is entered and left by one task, as its cancel scopes want."""
    program, *arguments = command(root, model, *options)
    parameters = StdioServerParameters(command=program, args=arguments, env=environment(cache))
    found = Served(asyncio.new_event_loop())
    ready, over = threading.Event(), asyncio.Event()

    async def live() -> None:
        async with Client(parameters) as found.client:
            ready.set()
            await over.wait()

    def work() -> None:
        try:
            found.loop.run_until_complete(live())
        finally:
            ready.set()
            found.loop.close()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        if not ready.wait(SECONDS) or found.client is None:
            raise RuntimeError("the server did not start")
        yield found
    finally:
        if not found.loop.is_closed():
            found.loop.call_soon_threadsafe(over.set)
        thread.join(SECONDS)
