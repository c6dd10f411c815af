"""Files that clients name, read in a limited child process; the parsed documents stay in memory for a while.

Runs in the event loop. A file is copied first: what is asked about does not change under the questions. A file that
has changed since is read anew.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.errors import CapacityError, DocumentError
from softlookup.ui.mcp.roots import Located, locate, open_file
from softlookup.ui.server.reading import CHILD, LimitedReading, ReadLimits

if TYPE_CHECKING:
    from softlookup.documents.model import Document
    from softlookup.retrieval.expand import ClauseGraph
    from softlookup.ui.server.settings import Settings

_KEPT_CHARACTERS = 20_000_000  # of parsed documents in memory; a page has about 3,000
_PIECE = 1 << 20
_State = tuple[int, ...]


class Shelved:
    """A parsed document. ``name`` is one for its path and content together."""

    def __init__(self, document: Document, state: _State) -> None:
        self.document = document
        self.state = state
        path = hashlib.sha256(document.source.path.encode("utf-8", "surrogateescape")).hexdigest()
        self.name = f"{document.source.sha256}:{path}"

    @cached_property
    def graph(self) -> ClauseGraph:
        """Which clause needs which."""
        from softlookup.retrieval.expand import ClauseGraph

        return ClauseGraph(self.document)


class Shelf:
    """Reads and keeps documents below ``roots`` (resolved)."""

    def __init__(self, roots: Sequence[Path], settings: Settings, child: str = CHILD) -> None:
        self._roots, self._most, self._child = tuple(roots), settings.max_upload, child
        self._limits = ReadLimits(settings.read_seconds, int(settings.read_seconds), settings.read_memory)
        self._readers = asyncio.Semaphore(settings.readers)
        self._folder = Path(tempfile.mkdtemp(prefix="softlookup-mcp-"))
        self._kept: OrderedDict[Path, Shelved] = OrderedDict()
        self._running: set[LimitedReading] = set()

    async def open(self, named: str) -> Shelved:
        """The document that ``named`` leads to. Raises as :func:`locate`, and what the reader raises."""
        located = await asyncio.to_thread(locate, named, self._roots)
        known = self._kept.get(located.real)
        if known is not None and known.state == await asyncio.to_thread(_state_now, located):
            self._kept.move_to_end(located.real)
            return known
        async with self._readers:
            copy, state = await asyncio.to_thread(self._copied, located)
            try:
                document = await self._read(copy, located.shown)
            finally:
                copy.unlink(missing_ok=True)
        self._kept[located.real] = shelved = Shelved(document, state)
        self._kept.move_to_end(located.real)
        while len(self._kept) > 1 and sum(len(one.document.text) for one in self._kept.values()) > _KEPT_CHARACTERS:
            self._kept.popitem(last=False)
        return shelved

    def close(self) -> None:
        """End what is being read, and leave no file behind; may be called from a signal handler."""
        for reading in tuple(self._running):
            reading.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    async def _read(self, copy: Path, shown: str) -> Document:
        reading = LimitedReading(copy, shown, self._limits, self._child)
        self._running.add(reading)
        try:
            return await asyncio.to_thread(reading.run)
        except asyncio.CancelledError:
            reading.stop()
            raise
        finally:
            self._running.discard(reading)

    def _copied(self, located: Located) -> tuple[Path, _State]:
        """A copy of the file and the state that it had. Raises ``CapacityError`` for one that is too large."""
        file = open_file(located)
        number, name = tempfile.mkstemp(suffix=located.real.suffix.lower(), dir=self._folder)
        copy, size = Path(name), 0
        try:
            with open(file, "rb") as source, open(number, "wb") as target:  # noqa: PTH123 - descriptors
                state = _state(os.fstat(source.fileno()))
                while size <= self._most and (piece := source.read(_PIECE)):
                    target.write(piece)
                    size += len(piece)
                after = _state(os.fstat(source.fileno()))
        except OSError as error:
            copy.unlink(missing_ok=True)
            raise DocumentError(
                f"{located.shown} cannot be read ({error.strerror or error})", "check it, and the space for a copy"
            ) from error
        if size > self._most or after != state:
            copy.unlink(missing_ok=True)
        if size > self._most:
            raise CapacityError(
                f"{located.shown} is larger than the {self._most:,} bytes allowed", "start with a larger --max-file"
            )
        if after != state:
            raise DocumentError(f"{located.shown} changes while it is read", "try again when it is written")
        return copy, state


def _state_now(located: Located) -> _State:
    try:
        return _state(located.real.lstat())
    except OSError:
        return ()


def _state(facts: os.stat_result) -> _State:
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns
