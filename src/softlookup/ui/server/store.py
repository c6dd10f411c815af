"""Documents on disk: each a folder that is there whole or not at all; no reading of what they say.

``documents/<id>/`` holds ``original.<ext>`` and ``meta.json``. It is written under a temporary name, synced and
renamed; what a process that died has left is removed at the next start. Ids are made here: no name of a client becomes
a path. One server at a time: the folder is locked.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, BinaryIO

from softlookup.errors import CapacityError, SoftlookupError, UsageError
from softlookup.ui.server.problems import NotFoundError

EXTENSIONS = (".txt", ".md", ".markdown", ".html", ".htm", ".xhtml", ".docx", ".docm", ".pdf")
ID = re.compile(r"doc_[0-9a-f]{24}")
MOST_NAME = 255
_INCOMING, _OUTGOING = ".incoming-", ".outgoing-"
META = "meta.json"


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What ``meta.json`` says. ``name`` is the client's file name, as text; ``suffix`` that of the stored file.

    ``tokens`` and ``plan`` belong to the model with the digest ``model``; None while there is none.
    """

    id: str
    name: str
    suffix: str
    format: str
    sha256: str
    bytes: int
    characters: int
    clauses: int
    coverage: dict[str, Any]
    created: str
    tokens: int | None = None
    plan: dict[str, Any] | None = None
    model: str = ""


class Incoming:
    """A file on its way in; it becomes a document by :meth:`DocumentStore.publish`, or is discarded."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name
        suffix = Path(name).suffix.lower()
        self.suffix = suffix if suffix in EXTENSIONS else ""
        self.path = folder / f"original{self.suffix}"
        self.size = 0
        self._stream: BinaryIO = os.fdopen(
            os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb"
        )

    def write(self, piece: bytes) -> None:
        """Append to the file."""
        self._stream.write(piece)
        self.size += len(piece)

    def close(self) -> None:
        """Everything written is on disk."""
        if not self._stream.closed:
            self._stream.flush()
            os.fsync(self._stream.fileno())
            self._stream.close()

    def discard(self) -> None:
        """Leave nothing behind; without effect after publishing."""
        with suppress(OSError):
            self._stream.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class DocumentStore:
    """The documents of one folder; every method may be called from any thread."""

    def __init__(self, folder: Path, most: int) -> None:
        self.folder = folder / "documents"
        self._root, self._most = folder, most
        self._known: dict[str, StoredDocument] = {}
        self._lock = threading.Lock()
        self._owner: int | None = None

    def open(self) -> None:
        """Lock the folder, remove what was left over, and learn what is there.

        Raises ``SoftlookupError`` when another server has it or it cannot be written.
        """
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._owner = os.open(self._root / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            fcntl.flock(self._owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self.close()
            raise UsageError(
                f"the store {self._root} is used by another server", "stop that one, or give --store DIR or --no-store"
            ) from error
        except OSError as error:
            raise SoftlookupError(
                f"the store {self._root} cannot be written ({error.strerror or error})", "give --store DIR"
            ) from error
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith((_INCOMING, _OUTGOING)):
                shutil.rmtree(path, ignore_errors=True)
            elif ID.fullmatch(path.name) and (found := _read_meta(path)) is not None:
                self._known[found.id] = found

    def close(self) -> None:
        """Give the folder free."""
        if self._owner is not None:
            os.close(self._owner)
            self._owner = None

    def begin(self, name: str) -> Incoming:
        """A file that the client calls ``name``. Raises ``CapacityError`` when the store is full."""
        if len(self._known) >= self._most:
            raise CapacityError(f"the store holds {self._most:,} documents, no more", "delete some first")
        folder = self.folder / f"{_INCOMING}{secrets.token_hex(12)}"
        try:
            folder.mkdir(mode=0o700)
            return Incoming(folder, shown_name(name))
        except OSError as error:
            raise _unwritable(error) from error

    def publish(self, incoming: Incoming, facts: StoredDocument) -> StoredDocument:
        """Make the incoming file a document under the id of ``facts``; whole or not at all."""
        try:
            incoming.close()
            _write(incoming.folder / META, asdict(facts))
            _sync(incoming.folder)
            incoming.folder.rename(self.folder / facts.id)
            _sync(self.folder)
        except OSError as error:
            raise _unwritable(error) from error
        with self._lock:
            self._known[facts.id] = facts
        return facts

    def list(self) -> tuple[StoredDocument, ...]:
        """Every document, the oldest first."""
        with self._lock:
            return tuple(sorted(self._known.values(), key=lambda found: (found.created, found.id)))

    def get(self, name: str) -> StoredDocument:
        """The document with the id ``name``. Raises ``NotFoundError``; looks at no file."""
        with self._lock:
            found = self._known.get(name)
        if found is None:
            raise NotFoundError("there is no such document", "GET /v1/documents lists those that are there")
        return found

    def with_digest(self, sha256: str, name: str | None = None) -> StoredDocument | None:
        """A document with the same bytes, and under ``name`` where one is given; None when there is none."""
        same = (found for found in self.list() if found.sha256 == sha256)
        return next((found for found in same if name in (None, found.name)), None)

    def update(self, facts: StoredDocument) -> None:
        """Replace what is said of a document; without effect when it was deleted meanwhile."""
        with self._lock:
            if facts.id not in self._known:
                return
            self._known[facts.id] = facts
            with suppress(OSError):  # it is worked out again when it is asked for again
                replace_file(self.folder / facts.id / META, json.dumps(asdict(facts)).encode())

    def delete(self, name: str) -> None:
        """Remove a document and what is beside it. Raises ``NotFoundError``."""
        facts = self.get(name)
        with self._lock:
            self._known.pop(facts.id, None)
        gone = self.folder / f"{_OUTGOING}{secrets.token_hex(12)}"
        with suppress(FileNotFoundError):
            (self.folder / facts.id).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def path(self, facts: StoredDocument) -> Path:
        """The stored file. Raises ``NotFoundError`` when something else lies in its place."""
        path = self.folder / facts.id / f"original{facts.suffix}"
        if path.is_symlink() or path.parent.is_symlink() or not path.is_file():
            raise NotFoundError(f"the file of document {facts.id} is gone from the store", "delete it and add it again")
        return path


def new_id() -> str:
    """A name that nobody can guess and no client has chosen."""
    return f"doc_{secrets.token_hex(12)}"


def shown_name(name: str) -> str:
    """A client's file name without its folders and no longer than 255 characters; it names no path."""
    last = name.replace("\\", "/").rpartition("/")[2].strip()
    return last.encode("utf-8", "replace").decode("utf-8")[:MOST_NAME] or "document"


def replace_file(path: Path, content: bytes) -> None:
    """Write ``path`` whole or not at all; raises ``OSError``."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(6)}")
    try:
        _write_bytes(temporary, content)
        temporary.replace(path)
        _sync(path.parent)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def with_plan(facts: StoredDocument, tokens: int, plan: dict[str, Any], model: str) -> StoredDocument:
    """``facts`` with what the model's tokenizer counts and the plan says."""
    return replace(facts, tokens=tokens, plan=plan, model=model)


def _read_meta(folder: Path) -> StoredDocument | None:
    """What ``meta.json`` says, None when the folder is not one of ours."""
    if folder.is_symlink() or (folder / META).is_symlink():
        return None
    try:
        found = json.loads((folder / META).read_text("utf-8"))
        facts = StoredDocument(**{field.name: found[field.name] for field in fields(StoredDocument)})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return facts if facts.id == folder.name and facts.suffix in ("", *EXTENSIONS) else None


def _write(path: Path, value: dict[str, Any]) -> None:
    _write_bytes(path, json.dumps(value).encode())


def _write_bytes(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritable(error: OSError) -> SoftlookupError:
    return SoftlookupError(
        f"the store cannot be written ({error.strerror or error})", "free some space, or give --store DIR"
    )
