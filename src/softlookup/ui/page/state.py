"""What the page keeps in memory beside the server: documents cut into parts, page images, questions that run.

Runs in the event loop, except where a thread is named. All of it can be lost: it is made again from the store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import Depends, Request

from softlookup.errors import SoftlookupError
from softlookup.ui.page.sheets import Sheets
from softlookup.ui.page.shown import ShownDocument
from softlookup.ui.server.problems import NotFoundError

if TYPE_CHECKING:
    from softlookup.ui.server.jobs import Job
    from softlookup.ui.server.state import ServerState
    from softlookup.ui.server.talks import Talk

_MOST_SHOWN = 6
_MOST_RUNS = 200


class Run:
    """A question, or a diagnosis of turn ``turn``, that was sent from the page; ``job`` once it is queued."""

    def __init__(
        self, kind: Literal["ask", "diagnose"], talk: Talk, question: str, turn: int | None = None, expect: str = ""
    ) -> None:
        self.kind, self.talk, self.question = kind, talk, question
        self.turn, self.expect = turn, expect
        self.job: Job


class PageState:
    """The page's memory."""

    def __init__(self, server: ServerState) -> None:
        self.server = server
        self.sheets = Sheets()
        self._shown: OrderedDict[str, ShownDocument] = OrderedDict()
        self._runs: OrderedDict[str, Run] = OrderedDict()

    async def shown(self, name: str) -> ShownDocument:
        """The document with the id ``name``, cut into parts. Raises ``NotFoundError``."""
        document = await self.server.documents.open(name)
        found = self._shown.get(name)
        if found is None or found.document is not document:
            found = await asyncio.to_thread(ShownDocument, document, self._count_tokens)
            self._shown[name] = found
        self._shown.move_to_end(name)
        while len(self._shown) > _MOST_SHOWN:
            self._shown.popitem(last=False)
        return found

    def forget(self, name: str) -> None:
        """Keep nothing of a document."""
        self._shown.pop(name, None)
        self.sheets.forget(name)

    def talk(self, document: str, name: str = "") -> Talk | None:
        """The session ``name`` of a document; without a name its latest one, None while there is none.

        Raises ``NotFoundError`` for a session of another document.
        """
        if name:
            found = self.server.talks.get(name)
            if found.document != document:
                raise NotFoundError("this session is about another document", "open the document again")
            return found
        own = self.talks(document)
        return own[-1] if own else None

    def talks(self, document: str) -> list[Talk]:
        """Sessions of a document, the oldest first."""
        return [talk for talk in self.server.talks.list() if talk.document == document]

    def begin(self, run: Run, job: Job) -> None:
        """Remember a run and its job; the oldest finished ones are forgotten."""
        run.job = job
        self._runs[run.job.id] = run
        over = [name for name, known in self._runs.items() if known.job.finished]
        for name in over[: max(0, len(self._runs) - _MOST_RUNS)]:
            del self._runs[name]

    def run(self, name: str) -> Run:
        """The run whose job has the id ``name``. Raises ``NotFoundError``."""
        found = self._runs.get(name)
        if found is None:
            raise NotFoundError("this question is not known any more", "ask again")
        return found

    def unfinished(self, talk: Talk) -> list[Run]:
        """Runs of a session that have not ended, the latest first."""
        return [run for run in reversed(self._runs.values()) if run.talk is talk and not run.job.finished]

    def _count_tokens(self, text: str) -> int:
        """Tokens of the model, characters while there is none."""
        try:
            return self.server.planning.count_tokens(text)
        except SoftlookupError:
            return len(text)


def page_state(request: Request) -> PageState:
    """The page's memory of the server that got ``request``; made at the first one."""
    state = request.app.state
    if not hasattr(state, "page"):
        state.page = PageState(state.server)
    found: PageState = state.page
    return found


Page = Annotated[PageState, Depends(page_state)]
