"""Runs the app under uvicorn: one socket, signals, draining, and time for clients that say nothing."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import FrameType
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from softlookup.errors import UsageError
from softlookup.ui.server.app import create_app
from softlookup.ui.server.settings import Settings
from softlookup.ui.server.state import ServerState

MOST_CONNECTIONS = 256
_KEEP_ALIVE = 15
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def serve(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT; ``ready`` hears the address once requests are answered.

    Raises ``UsageError`` for an address that cannot be used or a store that another server has. Ends the process itself
    where the worker is still deep in the model: a thread that wakes up while the interpreter is taken down aborts it.
    """
    server = Server.prepared(settings, ready)
    server.serve_all()
    if server.state.jobs.stuck:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


class Server(uvicorn.Server):
    """uvicorn's server, which tells the state that it stops, and whose end by a signal is a success."""

    def __init__(self, app: Any, state: ServerState, bound: socket.socket, ready: Callable[[str], None]) -> None:
        super().__init__(_config(app, state.settings))
        self.state, self._bound, self._ready = state, bound, ready

    @classmethod
    def prepared(cls, settings: Settings, ready: Callable[[str], None]) -> Server:
        """A server with its socket and its store, which answers nobody yet."""
        bound = _bound(settings)
        try:
            app = create_app(replace(settings, port=bound.getsockname()[1]))
            state: ServerState = app.state.server
            try:
                state.start()  # here, where an error is the caller's; the lifespan finds it done
            except BaseException:
                state.abandon()
                raise
        except BaseException:
            bound.close()
            raise
        return cls(app, state, bound, ready)

    def serve_all(self) -> None:
        """Answer until the end; then nothing is left open."""
        try:
            asyncio.run(self.serve([self._bound]))
        finally:
            self._bound.close()
            self.state.abandon()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's; then whoever waits is told."""
        await super().startup(sockets)
        self._ready(self.state.settings.address)
        self.state.warm()  # not before: what it imports would hold up the first page

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what has not begun, let the rest finish for a while."""
        self.state.begin_stop()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends the server in order; a second one at once."""
        try:
            before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        except ValueError:  # not the main thread: whoever runs it there stops it by ``should_exit``
            yield
            return
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """Stop; the second time without waiting."""
        self.force_exit = self.should_exit
        self.should_exit = True


class PatientProtocol(H11Protocol):
    """HTTP whose clients have a limited time to begin a request: one that says nothing holds no connection."""

    _idle = 30.0  # of the class that ``_patient`` makes

    def connection_made(self, transport: Any) -> None:
        """Start the clock."""
        super().connection_made(transport)
        self._clock = self.loop.call_later(self._idle, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the clock."""
        self._clock.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A request that has begun is timed by the app; what comes before its end of headers is timed here."""
        waiting = self.cycle is None or self.cycle.response_complete
        super().data_received(data)
        begun = self.cycle is not None and not self.cycle.response_complete
        if begun:
            self._clock.cancel()
        elif waiting and self._clock.cancelled():
            self._clock = self.loop.call_later(self._idle, self._give_up)

    def _give_up(self) -> None:
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


def _patient(idle: float) -> type[PatientProtocol]:
    """The protocol with a time-out of its own: uvicorn makes its objects and passes it nothing of ours."""
    return type("PatientProtocol", (PatientProtocol,), {"_idle": idle})


def _config(app: Any, settings: Settings) -> uvicorn.Config:
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)
    return uvicorn.Config(
        app,
        http=_patient(settings.idle_seconds),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,  # paths name documents
        server_header=False,
        proxy_headers=False,  # who asks is not what a header says
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=max(1, round(settings.drain)),
    )


def _bound(settings: Settings) -> socket.socket:
    """A listening socket. Raises ``UsageError``."""
    host = settings.host.strip("[]")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind(address)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise UsageError(
            f"{settings.host} port {settings.port} cannot be used ({error.strerror or error})",
            "choose another --port, or 0 for a free one",
        ) from error
    return bound
