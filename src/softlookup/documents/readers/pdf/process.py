"""Starts the process that runs pdfium and takes its frames, with a clock on every page; no layout here.

A page on which the process dies or hangs is lost and said to be lost; the process starts again after it, a few
times, so that one bad page does not cost the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from softlookup.documents.readers.pdf import frames as pdf_frames
from softlookup.documents.readers.pdf.frames import FileFrame, Frame, PageFrame


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one document: seconds for the whole and for a page, memory of the process, times it starts again, pages."""

    wall_seconds: float = 300.0
    page_seconds: float = 30.0
    cpu_seconds: int = 240
    memory: int = 2 * 1024 * 1024 * 1024
    restarts: int = 4
    pages: int = 20_000


LIMITS = Limits()
CHILD = "softlookup.documents.readers.pdf.child"
_WAITING = 8  # frames that may wait for the reader; more would only fill memory


def frames(data: bytes, password: str | None, limits: Limits = LIMITS) -> Iterator[Frame]:
    """The file's frame, then one per page in order; ends early when the process dies too often."""
    first = 1
    pages: int | None = None
    deadline = time.monotonic() + limits.wall_seconds
    for _ in range(limits.restarts + 1):
        arguments = [str(number) for number in (limits.cpu_seconds, limits.memory, first, limits.pages)]
        with Child(CHILD, arguments) as child:
            child.send(json.dumps(password).encode() + b"\n", data)
            for head, body in child.frames(limits.page_seconds, deadline):
                if "end" in head:
                    return
                if "page" in head:
                    yield pdf_frames.page_frame(head, body)
                    first = head["page"] + 1
                elif "error" in head:
                    yield pdf_frames.file_frame(head)
                    return
                elif pages is None:
                    pages = head["pages"]
                    yield pdf_frames.file_frame(head)
        if pages is None or first > pages or time.monotonic() > deadline:
            return
        yield PageFrame(first, failed="the reader stopped on this page")
        first += 1


class Child:
    """One run of a module of ours in a process of its own; killed at the end of the ``with`` block."""

    def __init__(self, module: str, arguments: list[str]) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(  # noqa: S603  (our own module, no shell)
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._taken: queue.Queue[tuple[dict[str, Any], list[bytes]] | None] = queue.Queue(_WAITING)
        self._over = threading.Event()

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # for what was not sent any more
                    pipe.close()

    def send(self, *pieces: bytes) -> None:
        """Hand over all input, in the background: the process may answer, or die, before it has read all."""
        threading.Thread(target=self._send, args=pieces, daemon=True).start()
        threading.Thread(target=self._take, daemon=True).start()

    def frames(self, page_seconds: float, deadline: float) -> Iterator[tuple[dict[str, Any], list[bytes]]]:
        """Frames as they come; ends with the process, or when one takes too long."""
        while True:
            wait = min(page_seconds, deadline - time.monotonic())
            try:
                frame = self._taken.get(timeout=max(0.0, wait))
            except queue.Empty:
                return
            if frame is None:
                return
            yield frame

    def _send(self, *pieces: bytes) -> None:
        pipe = _opened(self._process.stdin)
        try:
            for piece in pieces:
                pipe.write(piece)
            pipe.close()
        except (OSError, ValueError):  # it died; what it said before counts
            return

    def _take(self) -> None:
        pipe = _opened(self._process.stdout)
        frame: tuple[dict[str, Any], list[bytes]] | None
        while not self._over.is_set():
            try:
                frame = pdf_frames.read(pipe)
            except (OSError, ValueError, KeyError, TypeError):
                frame = None
            while not self._over.is_set():
                try:
                    self._taken.put(frame, timeout=0.2)
                    break
                except queue.Full:
                    continue
            if frame is None:
                return


def _opened(pipe: Any) -> BinaryIO:
    opened: BinaryIO = pipe
    return opened


__all__ = ["CHILD", "LIMITS", "Child", "FileFrame", "Limits", "frames"]
