"""What the server was told, checked once; no files are touched here."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from softlookup.errors import UsageError
from softlookup.session.options import Options

DEFAULT_PORT = 8321
MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE
LEAST_TOKEN = 16
_LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server.

    ``store`` None: a temporary folder that is removed at the end. ``token``: every request needs it; a host that
    others can reach requires one. ``allowed_hosts``: further names under which the server may be addressed.
    ``allowed_paths``: folders from which a client may name files. ``history`` keeps questions and answers beside the
    document. ``max_upload`` and ``open_bytes`` are bytes; ``open_bytes`` limits what the model keeps in memory of open
    documents, ``open_documents`` their number. ``readers`` documents are read at once, each for at most
    ``read_seconds`` and in ``read_memory`` bytes. ``idle_seconds``: a client that sends nothing for so long is cut.
    ``drain``: seconds that a running job has when the server is told to stop.
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()
    store: Path | None = None
    history: bool = False
    allowed_paths: tuple[Path, ...] = ()
    max_upload: int = 64 * MEBIBYTE
    max_documents: int = 1000
    idle_seconds: float = 30.0
    queue: int = 64
    readers: int = 2
    read_seconds: float = 300.0
    read_memory: int = 4 * GIBIBYTE
    open_documents: int = 8
    open_bytes: int = 1536 * MEBIBYTE
    drain: float = 30.0
    model: str | Path | None = None
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise UsageError(f"--port must be 0 to 65535, got {self.port}", f"use {DEFAULT_PORT}, or 0 for a free one")
        if self.token is not None and (len(self.token) < LEAST_TOKEN or not _is_plain(self.token)):
            raise UsageError(
                f"a token of at least {LEAST_TOKEN} letters, digits and signs is required",
                "make one with `python -c 'import secrets; print(secrets.token_urlsafe())'`",
            )
        for name in self.allowed_hosts:
            if not name or "/" in name or not _is_plain(name):
                raise UsageError(
                    f"--allowed-host must be a name such as desk.example, got {name!r}", "leave out http:// and paths"
                )
        if not self.is_loopback and self.token is None:
            raise UsageError(
                f"--host {self.host} can be reached by others, so a token is required",
                "give --token-file or set SOFTLOOKUP_TOKEN, or leave --host out",
            )
        for name, value, least in (
            ("--max-upload", self.max_upload, 1), ("--queue", self.queue, 1), ("--drain", self.drain, 0),
            ("--open-documents", self.open_documents, 1), ("--readers", self.readers, 1),
        ):  # fmt: skip
            if not value >= least:  # false for NaN too
                raise UsageError(f"{name} must be at least {least}, got {value}", "correct the number")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def host_names(self) -> frozenset[str]:
        """Values of the Host header that are answered, in lower case, with the port."""
        own = () if self.host in {"0.0.0.0", "::", "[::]"} else (_bracketed(self.host),)  # noqa: S104 - compared
        names = {*_LOOPBACK_NAMES, *own, *map(_bracketed, self.allowed_hosts)}
        with_port = {f"{name}:{self.port}".lower() for name in names if not _has_port(name)}
        exact = {name.lower() for name in names if _has_port(name)}
        bare = {name.lower() for name in names} if self.port == 80 else set()
        return frozenset(with_port | exact | bare)

    @property
    def address(self) -> str:
        """The page's address for a browser on this machine."""
        host = "127.0.0.1" if self.host in {"0.0.0.0", "::", "[::]"} else _bracketed(self.host)  # noqa: S104
        return f"http://{host}:{self.port}"


def _bracketed(host: str) -> str:
    """An IPv6 address as it stands in a URL."""
    return f"[{host}]" if host.count(":") > 1 and not host.startswith("[") else host


def _has_port(name: str) -> bool:
    return name.rpartition("]")[2].rpartition(":")[1] == ":"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text
