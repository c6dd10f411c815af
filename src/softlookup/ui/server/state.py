"""Everything that one running server holds; made by ``app.create_app``, started and stopped with the app."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from softlookup.errors import SoftlookupError
from softlookup.runtime.directories import state_directory
from softlookup.session import Session
from softlookup.ui.server.documents import Documents
from softlookup.ui.server.jobs import Job, Jobs
from softlookup.ui.server.problems import OverloadError
from softlookup.ui.server.settings import Settings
from softlookup.ui.server.store import DocumentStore
from softlookup.ui.server.talks import Talks
from softlookup.ui.server.work import OpenDocuments

_TEMPORARY = "softlookup-serve-"


class ServerState:
    """The parts of a server. ``csrf_token`` is that of this process, for forms of pages."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._temporary = settings.store is None
        self.folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY)) if settings.store is None else settings.store
        self.session = Session(settings.model, options=settings.options)
        self.store = DocumentStore(self.folder, settings.max_documents)
        # counts tokens and plans in other threads than the worker's; loads no model
        self.planning = Session(settings.model, options=settings.options)
        self.documents = Documents(settings, self.store, self.planning)
        self.opened = OpenDocuments(self.session, settings)
        self.jobs = Jobs(settings.queue, self.opened.shrink)
        self.talks = Talks(self.store.folder if settings.history else None)
        self.csrf_token = secrets.token_urlsafe(32)
        self.secret = secrets.token_bytes(32)
        self._stop_by: float | None = None
        self._started = False

    def start(self) -> None:
        """Lock the store, learn what is there, start the worker; without effect once it was done.

        Raises ``UsageError`` when another server has the store.
        """
        if self._started:
            return
        self.store.open()
        self._started = True
        self.talks.load([facts.id for facts in self.store.list()])
        self.jobs.start()

    async def delete(self, document: str) -> None:
        """Delete a document and everything that is kept of it. Raises ``NotFoundError``."""
        self.talks.forget_document(self.store.get(document).id)
        self.documents.forget(document)
        self.opened.discard(document)
        await asyncio.to_thread(self.store.delete, document)
        with suppress(OverloadError):  # the worker lets go now rather than after the next question
            self.jobs.submit("upkeep", lambda _: None, background=True)

    def warm(self) -> None:
        """Load the model before the first question, in the worker."""
        self.jobs.submit("upkeep", self._load, background=True)

    @property
    def stops(self) -> bool:
        """Whether the server was told to stop."""
        return self._stop_by is not None

    def begin_stop(self) -> None:
        """Take no more questions; the running one has ``drain`` seconds from now."""
        if self._stop_by is None:
            self._stop_by = time.monotonic() + self.settings.drain
            self.jobs.drain()

    async def stop(self) -> None:
        """End the running job at the latest now, and let go of everything."""
        self.begin_stop()
        left = (self._stop_by or 0.0) - time.monotonic()
        await asyncio.to_thread(self.jobs.close, left)
        await asyncio.to_thread(self.abandon)

    def abandon(self) -> None:
        """Let go of store and threads, whatever runs; a temporary store is removed."""
        self.documents.close()
        self.store.close()
        if self._temporary:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _load(self, job: Job) -> None:
        """A model that is missing or damaged is told to whoever asks."""
        try:
            with self.session.heard_by(job.report):
                _ = self.session.loaded
        except SoftlookupError:
            return


def default_store() -> Path:
    """The folder of ``softlookup serve`` among this user's own."""
    return state_directory() / "serve"
