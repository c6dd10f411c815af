"""One worker thread for everything that uses the model, in order of arrival, and what each job has to tell.

The model is not made for two threads, so there is one. A job is cancelled by raising ``CancellationError`` where its
work reports progress, which leaves document and model as they were.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from softlookup.errors import CancellationError, SoftlookupError
from softlookup.ui.server.problems import OverloadError, as_typed, error_body

Kind = Literal["upkeep", "ask", "inspect", "diagnose", "report"]
State = Literal["queued", "running", "done", "failed", "cancelled"]
LOG = logging.getLogger(__name__)
_KEPT = 100  # finished jobs that can still be asked for


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a job tells: "progress", "delta", "answer", "result", "error" or, always last, "done"."""

    name: str
    data: dict[str, Any]


class Job:
    """One piece of work. ``background``: it goes on although nobody follows it."""

    def __init__(self, kind: Kind, work: Callable[[Job], Any], document: str, *, background: bool) -> None:
        self.id = f"job_{secrets.token_hex(12)}"
        self.kind, self.document, self.background = kind, document, background
        self.state: State = "queued"
        self.result: Any = None
        self.error: SoftlookupError | None = None
        self.ahead = 0
        self._work = work
        self._phase, self._fraction = "queued", 0.0
        self._events: list[Event] = []
        self._lock = threading.Lock()
        self._followers: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._cancelled: SoftlookupError | None = None
        self._texts: dict[int, str] = {}

    @property
    def finished(self) -> bool:
        """Whether nothing more will come."""
        return self.state in ("done", "failed", "cancelled")

    @property
    def progress(self) -> Event:
        """How far it is: the phase, the fraction of it, and how many jobs come first."""
        return Event(
            "progress", {"phase": self._phase, "fraction": round(self._fraction, 4), "queue_position": self.ahead}
        )

    def report(self, phase: str, fraction: float) -> None:
        """Progress of the work; raises ``CancellationError`` once the job was cancelled."""
        if self._cancelled is not None and phase != "load":  # a model that is nearly there is kept for the next
            raise CancellationError(self._cancelled.message, self._cancelled.remedy)
        self._phase, self._fraction = phase, fraction
        self.wake()

    def say(self, question: int, text: str) -> None:
        """The words so far of the answer to question number ``question``."""
        before = self._texts.get(question, "")
        if text.startswith(before) and len(text) > len(before):
            self._texts[question] = text
            self.tell("delta", {"question": question, "text": text[len(before) :]})

    def tell(self, name: str, data: dict[str, Any]) -> None:
        """Add an event that every follower gets."""
        with self._lock:
            self._events.append(Event(name, data))
        self.wake()

    def wake(self) -> None:
        """Let the followers look."""
        with self._lock:
            followers = list(self._followers)
        for loop, event in followers:
            with suppress(RuntimeError):  # its loop has ended
                loop.call_soon_threadsafe(event.set)

    def cancel(self, why: SoftlookupError | None = None) -> None:
        """End it as soon as its work reports progress; without effect on a finished one."""
        if self._cancelled is None:
            self._cancelled = why or CancellationError("whoever asked has left", "")

    async def follow(self, heartbeat: float | None = None) -> AsyncIterator[Event | None]:
        """Events as they come, progress only as it stands; None after ``heartbeat`` seconds of silence."""
        woken = asyncio.Event()
        follower = (asyncio.get_running_loop(), woken)
        with self._lock:
            self._followers.add(follower)
        sent, shown = 0, None
        try:
            while True:
                woken.clear()
                over = self.finished
                if not over and (now := self.progress) != shown:
                    shown = now
                    yield now
                while sent < len(self._events):
                    sent += 1
                    yield self._events[sent - 1]
                if over:
                    return
                try:
                    await asyncio.wait_for(woken.wait(), heartbeat)
                except TimeoutError:
                    yield None
        finally:
            with self._lock:
                self._followers.discard(follower)

    async def outcome(self) -> Any:
        """What the work returned. Raises its error."""
        async for _ in self.follow():
            pass
        if self.error is not None:
            raise self.error
        return self.result

    def run(self) -> None:
        """Do the work; the worker's thread only."""
        self.state = "running"
        self.ahead = 0
        try:
            self.report("start", 0.0)
            self.result = self._work(self)
            self.end("done")
        except CancellationError as error:
            self.end("cancelled", self._cancelled or error)
        except SoftlookupError as error:
            self.end("failed", error)
        except Exception as error:  # the worker must live on
            LOG.exception("a job of kind %s failed", self.kind)
            self.end("failed", as_typed(error))

    def end(self, state: State, error: SoftlookupError | None = None) -> None:
        """Tell the error and that it is over."""
        self.error = error
        if error is not None:
            self.tell("error", error_body(error))
        with self._lock:
            self._events.append(Event("done", {"state": state}))
            self.state = state
        self._work = _nothing  # what it held can go
        self.wake()


def _nothing(_: Job) -> None:
    return None


class Jobs:
    """The queue and its worker. ``most`` jobs wait at most; ``idle`` runs in the worker after each job."""

    def __init__(self, most: int, idle: Callable[[], None] = lambda: None) -> None:
        self._most, self._idle = most, idle
        self._queue: deque[Job] = deque()
        self._known: OrderedDict[str, Job] = OrderedDict()
        self._changed = threading.Condition()
        self._closing = False
        self._seconds = 1.0  # of a job, as they were lately
        self.running: Job | None = None
        self._thread = threading.Thread(target=self._run, name="softlookup-worker", daemon=True)

    def start(self) -> None:
        """Start the worker."""
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Jobs in the queue."""
        return len(self._queue)

    @property
    def stuck(self) -> bool:
        """Whether the worker still works although it was told to end."""
        return self._closing and self._thread.is_alive()

    def submit(self, kind: Kind, work: Callable[[Job], Any], document: str = "", *, background: bool = False) -> Job:
        """Queue ``work``. Raises ``OverloadError`` when the queue is full or the server stops."""
        job = Job(kind, work, document, background=background)
        with self._changed:
            if self._closing:
                raise stopping()
            if len(self._queue) >= self._most:
                raise OverloadError(
                    f"{len(self._queue)} questions wait already, no more are taken", "try again later", self._retry()
                )
            job.ahead = len(self._queue) + (self.running is not None)
            self._queue.append(job)
            self._known[job.id] = job
            self._forget()
            self._changed.notify()
        return job

    def get(self, name: str) -> Job | None:
        """A job by its id, as long as it is remembered."""
        return self._known.get(name)

    def cancel(self, job: Job, why: SoftlookupError | None = None) -> None:
        """Take a queued job out of the queue, or end a running one at its next word."""
        job.cancel(why)
        with self._changed:
            queued = job in self._queue
            if queued:
                self._queue.remove(job)
        if queued:
            job.end("cancelled", why or CancellationError("whoever asked has left", ""))
            self._count()

    def drain(self) -> None:
        """Take no more, and end what has not begun; the running job goes on."""
        with self._changed:
            self._closing = True
            left = list(self._queue)
            self._queue.clear()
            self._changed.notify()
        for job in left:
            job.end("cancelled", stopping())

    def close(self, seconds: float) -> None:
        """Let the running job finish within ``seconds``, then cancel it; blocks."""
        self.drain()
        if not self._thread.is_alive():
            return
        self._thread.join(max(0.0, seconds))
        if self.running is not None:
            self.running.cancel(stopping())
            self._thread.join(5.0)  # a daemon: one that hears nothing does not keep the process

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._queue and not self._closing:
                    self._changed.wait()
                if not self._queue:
                    return
                self.running = job = self._queue.popleft()
            self._count()
            start = time.monotonic()
            job.run()
            self._seconds = 0.7 * self._seconds + 0.3 * (time.monotonic() - start)
            with self._changed:
                self.running = None
            del job
            self._idle()

    def _count(self) -> None:
        """Tell every waiting job its place."""
        with self._changed:
            places = list(enumerate(self._queue, start=int(self.running is not None)))
        for ahead, job in places:
            if job.ahead != ahead:
                job.ahead = ahead
                job.wake()

    def _forget(self) -> None:
        over = [name for name, job in self._known.items() if job.finished]
        for name in over[: max(0, len(over) - _KEPT)]:
            del self._known[name]

    def _retry(self) -> int:
        return int(min(600, max(1, self._seconds * (len(self._queue) + 1))))


def stopping() -> OverloadError:
    """The error of everything that comes while the server stops."""
    return OverloadError("the server is stopping", "try again in a minute", 60)
