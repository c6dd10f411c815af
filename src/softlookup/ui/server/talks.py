"""Sessions of the API: questions on one document and what was answered, in memory; with ``--history`` on disk too."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.documents.model import Span
from softlookup.errors import CapacityError
from softlookup.evidence.answer import Answer
from softlookup.ui.server.problems import NotFoundError
from softlookup.ui.server.store import ID, replace_file
from softlookup.ui.server.transfer import from_plain, plain
from softlookup.ui.server.work import Asked

if TYPE_CHECKING:
    from softlookup.diagnostics.diagnosis import Diagnosis
    from softlookup.diagnostics.inspection_result import Inspection

MOST_TALKS = 256
MOST_TURNS = 200
SCHEMA = 1
HISTORY = "history"
TALK_ID = re.compile(r"ses_[0-9a-f]{24}")


@dataclass(frozen=True, slots=True)
class _Kept:
    """One turn as it lies on disk."""

    answer: Answer
    fed: tuple[Span, ...]


@dataclass(slots=True)
class Turn:
    """One answered question; what was looked into later stays in memory only."""

    answer: Answer
    fed: tuple[Span, ...]
    inspection: Inspection | None = None
    diagnosis: Diagnosis | None = None


@dataclass(slots=True)
class Talk:
    """Questions on one document, in the order in which they were answered."""

    id: str
    document: str
    created: str
    turns: list[Turn] = field(default_factory=list)


class Talks:
    """All sessions; every method may be called from any thread. ``folder`` None: nothing is written."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._known: dict[str, Talk] = {}
        self._lock = threading.Lock()

    def load(self, documents: Sequence[str]) -> None:
        """Take up what an earlier run kept of these documents; a damaged file is left alone."""
        for document in documents if self._folder is not None else ():
            for path in sorted((self._history(document)).glob("ses_*.json")):
                with suppress(OSError, ValueError, KeyError, TypeError):
                    talk = _loaded(json.loads(path.read_text("utf-8")))
                    if talk.document == document and TALK_ID.fullmatch(talk.id) and talk.id == path.stem:
                        self._known[talk.id] = talk

    def begin(self, document: str) -> Talk:
        """A new session. Raises ``CapacityError`` when there are too many."""
        with self._lock:
            if len(self._known) >= MOST_TALKS:
                raise CapacityError(f"there are {MOST_TALKS} sessions, no more", "delete some first")
            talk = Talk(f"ses_{secrets.token_hex(12)}", document, datetime.now(UTC).isoformat(timespec="microseconds"))
            self._known[talk.id] = talk
        self._write(talk)
        return talk

    def get(self, name: str) -> Talk:
        """The session with the id ``name``. Raises ``NotFoundError``."""
        talk = self._known.get(name)
        if talk is None:
            raise NotFoundError("there is no such session", "GET /v1/sessions lists those that are there")
        return talk

    def list(self) -> tuple[Talk, ...]:
        """Every session, the oldest first."""
        with self._lock:
            return tuple(sorted(self._known.values(), key=lambda talk: (talk.created, talk.id)))

    def room(self, talk: Talk, questions: int) -> None:
        """Raise ``CapacityError`` when so many further questions do not fit."""
        if len(talk.turns) + questions > MOST_TURNS:
            raise CapacityError(f"a session holds {MOST_TURNS} questions, no more", "begin another session")

    def remember(self, talk: Talk, asked: Asked) -> None:
        """Add one answer, and write the session where history is kept."""
        with self._lock:
            talk.turns.append(Turn(asked.answer, asked.fed))
        self._write(talk)

    def attach(
        self,
        talk: Talk,
        question: str,
        *,
        inspection: Inspection | None = None,
        diagnosis: Diagnosis | None = None,
    ) -> None:
        """Keep what was looked into beside the last answer to ``question``, where the session holds one."""
        with self._lock:
            turn = next((turn for turn in reversed(talk.turns) if turn.answer.question == question), None)
            if turn is not None:
                turn.inspection = inspection or turn.inspection
                turn.diagnosis = diagnosis or turn.diagnosis

    def delete(self, name: str) -> None:
        """Forget a session, on disk too. Raises ``NotFoundError``."""
        talk = self.get(name)
        with self._lock:
            self._known.pop(talk.id, None)
        if self._folder is not None:
            (self._history(talk.document) / f"{talk.id}.json").unlink(missing_ok=True)

    def forget_document(self, document: str) -> None:
        """Forget every session on a document that was deleted."""
        with self._lock:
            for name in [name for name, talk in self._known.items() if talk.document == document]:
                del self._known[name]

    def _history(self, document: str) -> Path:
        if self._folder is None or not ID.fullmatch(document):
            raise NotFoundError("no history is kept of this", "start the server with --history")
        return self._folder / document / HISTORY

    def _write(self, talk: Talk) -> None:
        if self._folder is None:
            return
        folder = self._history(talk.document)
        if not folder.parent.is_dir():  # deleted meanwhile
            return
        folder.mkdir(mode=0o700, exist_ok=True)
        turns = [plain(_Kept(turn.answer, turn.fed)) for turn in talk.turns]
        content: dict[str, Any] = {
            "schema": SCHEMA, "id": talk.id, "document": talk.document, "created": talk.created, "turns": turns,
        }  # fmt: skip
        replace_file(folder / f"{talk.id}.json", json.dumps(content).encode())


def _loaded(found: dict[str, Any]) -> Talk:
    if found["schema"] != SCHEMA:
        raise ValueError("another schema")
    kept = [from_plain(_Kept, turn) for turn in found["turns"]]
    return Talk(found["id"], found["document"], found["created"], [Turn(turn.answer, turn.fed) for turn in kept])
