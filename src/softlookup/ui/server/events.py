"""Jobs to clients: server-sent events, and the end of a job whose client has left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from softlookup.errors import CancellationError
from softlookup.ui.escape import json_line

if TYPE_CHECKING:
    from fastapi import Request

    from softlookup.ui.server.jobs import Event, Job, Jobs

T = TypeVar("T")
HEARTBEAT = 10.0  # seconds of silence after which a comment is sent, so that nobody on the way gives up
EVENT_STREAM = "text/event-stream"


def sse(event: Event) -> bytes:
    """One event; its JSON is a single line, so nothing in it can end it early."""
    return f"event: {event.name}\ndata: {json_line(event.data)}\n\n".encode()


async def job_events(jobs: Jobs, job: Job) -> AsyncIterator[bytes]:
    """The events of a job as bytes; a client that leaves ends the job, unless it is one of the background."""
    try:
        async for event in job.follow(HEARTBEAT):
            yield b": waiting\n\n" if event is None else sse(event)
    finally:
        if not job.finished and not job.background:
            jobs.cancel(job)


async def outcome(request: Request, jobs: Jobs, job: Job) -> Any:
    """What the job returns; a client that leaves ends it. Raises the job's error."""
    try:
        return await unless_gone(request, job.outcome())
    finally:
        if not job.finished and not job.background:
            jobs.cancel(job)


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """What ``work`` returns; it is cancelled when the client leaves. The request's body must have been read."""
    task = asyncio.ensure_future(work)
    watch = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise CancellationError("whoever asked has left")
        return task.result()
    finally:
        for one in (task, watch):
            if not one.done():
                one.cancel()
                with suppress(asyncio.CancelledError):
                    await one


async def _gone(request: Request) -> None:
    """Returns when the client closes the connection."""
    while (await request.receive())["type"] != "http.disconnect":
        continue
