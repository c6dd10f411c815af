"""Documents that clients add and open: stored, read in a limited process, described; parsed ones stay in memory.

Runs in the event loop; reading happens in threads of its own, each with a child process, beside the worker.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.documents.as_dict import coverage_dict
from softlookup.errors import SoftlookupError
from softlookup.ui.server.problems import NotFoundError, OverloadError
from softlookup.ui.server.reading import LimitedReading, ReadLimits
from softlookup.ui.server.store import DocumentStore, Incoming, StoredDocument, new_id, with_plan

if TYPE_CHECKING:
    from softlookup.documents.model import Document
    from softlookup.session import Session
    from softlookup.ui.server.settings import Settings

_KEPT_CHARACTERS = 20_000_000  # of parsed documents in memory; a page has about 3,000
_MOST_WAITING = 16


class Documents:
    """Adds, opens and describes documents of ``store``.

    ``session`` plans and counts tokens, and loads no model: it is not the one of the worker.
    """

    def __init__(self, settings: Settings, store: DocumentStore, session: Session) -> None:
        self.store = store
        self._session = session
        self._limits = ReadLimits(settings.read_seconds, int(settings.read_seconds), settings.read_memory)
        self._threads = ThreadPoolExecutor(settings.readers, "softlookup-reader")
        self._most = settings.readers + _MOST_WAITING
        self._reading = 0
        self._parsed: OrderedDict[str, Document] = OrderedDict()
        self._opening: dict[str, asyncio.Task[Document]] = {}

    def close(self) -> None:
        """Start no more readings."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def add(self, incoming: Incoming) -> StoredDocument:
        """Read what came in and publish it; nothing is left of it when it cannot be read.

        A file that is there already, byte for byte and under the same name, stays one document.
        """
        try:
            await asyncio.to_thread(incoming.close)
            document = await self._read(incoming.path, incoming.name)
            known = self.store.with_digest(document.source.sha256, incoming.name)
            if known is not None:
                return await self.describe(known.id)
            facts = StoredDocument(
                id=new_id(), name=incoming.name, suffix=incoming.suffix, format=document.source.format,
                sha256=document.source.sha256, bytes=document.source.size, characters=len(document.text),
                clauses=len(document.clauses), coverage=coverage_dict(document.coverage),
                created=datetime.now(UTC).isoformat(timespec="microseconds"),
            )  # fmt: skip
            facts = await asyncio.to_thread(self._planned, facts, document)
            published = await asyncio.to_thread(self.store.publish, incoming, facts)
            self._keep(published.id, document)
            return published
        finally:
            await asyncio.shield(asyncio.to_thread(incoming.discard))

    async def open(self, name: str) -> Document:
        """The parsed document with the id ``name``, read again when it is no longer in memory.

        Raises ``NotFoundError``.
        """
        facts = self.store.get(name)
        if name in self._parsed:
            self._parsed.move_to_end(name)
            return self._parsed[name]
        task = self._opening.get(name)
        if task is None:  # many who ask at once wait for one reading
            task = asyncio.create_task(self._read(self.store.path(facts), facts.name))
            self._opening[name] = task
            task.add_done_callback(lambda _: self._opening.pop(name, None))
        document = await asyncio.shield(task)
        if name not in self._parsed:
            self._keep(name, document)
        return document

    async def describe(self, name: str) -> StoredDocument:
        """What is known of a document, with tokens and plan of the present model. Raises ``NotFoundError``."""
        facts = self.store.get(name)
        if facts.model == self.model_digest():
            return facts
        facts = await asyncio.to_thread(self._planned, facts, await self.open(name))
        await asyncio.to_thread(self.store.update, facts)
        return facts

    async def page_png(self, name: str, page: int) -> bytes:
        """PNG of page ``page`` (from 1). Raises ``NotFoundError`` when it has none or it cannot be drawn."""
        facts = self.store.get(name)
        if facts.format != "pdf":
            raise NotFoundError("this document has no pages to show", "only a PDF has")
        path = self.store.path(facts)

        def drawn() -> bytes | None:
            from softlookup.ui.page_images import page_images

            images = page_images(path.read_bytes(), [page])
            return images[page].png if page in images else None

        png = await asyncio.get_running_loop().run_in_executor(self._threads, drawn)
        if png is None:
            raise NotFoundError(f"page {page} is not there, or cannot be drawn", "check the page number")
        return png

    def listed(self) -> tuple[StoredDocument, ...]:
        """Every document; tokens and plan are None where another model had made them."""
        model = self.model_digest()
        return tuple(
            facts if facts.model == model else replace(facts, tokens=None, plan=None) for facts in self.store.list()
        )

    def forget(self, name: str) -> None:
        """Keep nothing of a document in memory."""
        self._parsed.pop(name, None)

    def model_digest(self) -> str:
        """Digest of the model's weights, "" while there is no model."""
        try:
            return self._session.source.sha256
        except SoftlookupError:
            return ""

    async def _read(self, path: Path, shown: str) -> Document:
        if self._reading >= self._most:
            raise OverloadError(f"{self._reading} documents are being read already", "try again later", 10)
        reading = LimitedReading(path, shown, self._limits)
        self._reading += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, reading.run)
        except asyncio.CancelledError:
            reading.stop()
            raise
        finally:
            self._reading -= 1

    def _keep(self, name: str, document: Document) -> None:
        self._parsed[name] = document
        while len(self._parsed) > 1 and sum(len(one.text) for one in self._parsed.values()) > _KEPT_CHARACTERS:
            self._parsed.popitem(last=False)

    def _planned(self, facts: StoredDocument, document: Document) -> StoredDocument:
        """``facts`` with the model's count and plan; without them where there is no model or nothing to read."""
        from softlookup.session import OpenDocument

        try:
            opened = OpenDocument(self._session, document, 0.0)
            plan = opened.plan
            return with_plan(facts, plan.request.tokens, plan_summary(plan), self._session.source.sha256)
        except SoftlookupError:
            return replace(facts, tokens=None, plan=None, model=self.model_digest())


def plan_summary(plan: Any) -> dict[str, Any]:
    """What a client wants to know of a plan: how the document will be read, why, and how long that takes."""
    chosen = plan.chosen
    return {
        "strategy": None if chosen is None else chosen.name,
        "reason": plan.decision.reason,
        "change": plan.decision.change,
        "first_answer_seconds": None if chosen is None else chosen.first_answer.value,
        "next_answer_seconds": None if chosen is None else chosen.next_answer.value,
        "warnings": list(plan.warnings),
    }
