"""A document read in a child process of its own: limits on memory, processor time and wall time; nothing is shared.

Every format is read there, not only PDF: a DOCX or an HTML file can make a parser slow, large or dead too. The child
has a process group, which is killed as a whole, so that the PDF reader's own child goes with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from softlookup import errors
from softlookup.documents.model import Document
from softlookup.errors import CancellationError, CapacityError, DocumentError, SoftlookupError
from softlookup.ui.server.transfer import from_plain

CHILD = "softlookup.ui.server.reading_child"
MOST_BYTES = 1 << 30  # of the child's answer; 1,000 pages with the place of every character are about 60 MB
_SECRETS = ("SOFTLOOKUP_TOKEN",)
_KINDS = ("DocumentError", "UsageError", "CapacityError", "SoftlookupError")
SPLIT = "split it into smaller files, or read it with `softlookup read`, which has no such limit"


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Of one document: wall seconds, seconds of a processor, bytes of memory.

    The memory must exceed that of the PDF reader's own child, which is limited to 2 GiB.
    """

    seconds: float = 300.0
    cpu_seconds: int = 300
    memory: int = 4 << 30


class LimitedReading:
    """One reading; :meth:`run` blocks, :meth:`stop` ends it from another thread."""

    def __init__(self, path: Path, shown: str, limits: ReadLimits, child: str = CHILD) -> None:
        self._path, self._shown, self._limits, self._child = path, shown, limits, child
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._stopped = self._late = False

    def run(self) -> Document:
        """The document, whose path is the name that is shown.

        Raises ``DocumentError`` for what the reader refuses and for what it does not survive, ``CapacityError`` for
        more time or memory than allowed, ``CancellationError`` after :meth:`stop`.
        """
        answer = self._answer()
        if self._stopped:
            raise CancellationError("whoever asked for this document has left")
        if self._late:
            raise CapacityError(f"{self._shown} was not read within {self._limits.seconds:g} seconds", SPLIT)
        try:
            found = json.loads(answer)
            if "error" in found:
                raise self._refusal(found["error"])
            document = from_plain(Document, found["document"])
        except (ValueError, KeyError, TypeError) as error:
            raise DocumentError(
                f"the reader did not survive {self._shown}", "the file is damaged or hostile: save it anew, or as PDF"
            ) from error
        return replace(document, source=replace(document.source, path=self._shown))

    def stop(self) -> None:
        """Kill the child, and let :meth:`run` raise."""
        with self._lock:
            self._stopped = True
            self._kill()

    def _answer(self) -> bytes:
        with self._lock:
            if self._stopped:
                return b""
            self._process = process = self._start()
        clock = threading.Timer(self._limits.seconds, self._time_out)
        clock.daemon = True
        clock.start()
        try:
            assert process.stdout is not None  # noqa: S101 - a pipe was asked for
            answer = process.stdout.read(MOST_BYTES + 1)
            return answer if len(answer) <= MOST_BYTES else b""
        finally:
            clock.cancel()
            with self._lock:
                self._kill()
            process.wait()
            if process.stdout is not None:
                process.stdout.close()

    def _start(self) -> subprocess.Popen[bytes]:
        environment = {name: value for name, value in os.environ.items() if name not in _SECRETS}
        environment |= {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p), "OPENBLAS_NUM_THREADS": "1"}
        limits = self._limits
        return subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-m", self._child, str(limits.cpu_seconds), str(limits.memory), str(self._path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )

    def _time_out(self) -> None:
        with self._lock:
            self._late = True
            self._kill()

    def _kill(self) -> None:
        """Kill the whole group; the child has not been waited for, so its number is still its own."""
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _refusal(self, told: dict[str, Any]) -> SoftlookupError:
        if told["kind"] == "MemoryError":
            return CapacityError(
                f"{self._shown} needs more memory than the {self._limits.memory:,} bytes allowed", SPLIT
            )
        kind = getattr(errors, told["kind"]) if told["kind"] in _KINDS else SoftlookupError
        message, remedy = str(told["message"]), str(told["remedy"])
        if "--password-env" in remedy:  # who asks here gives no options of the command line
            remedy = "save a copy without a password and give that, or read it with `softlookup ask --password-env`"
        error: SoftlookupError = kind(message.replace(str(self._path), self._shown), remedy)
        return error
