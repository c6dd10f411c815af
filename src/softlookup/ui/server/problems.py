"""Errors as HTTP: which status, and the body ``{"error": {message, remedy, type, code}}``; raises nothing itself."""

from __future__ import annotations

from typing import Any

from softlookup.errors import (
    CancellationError,
    CapacityError,
    DocumentError,
    ModelError,
    SoftlookupError,
    UsageError,
)


class NotFoundError(UsageError):
    """Something that the client named is not there."""


class OverloadError(SoftlookupError):
    """The queue is full, or the server is about to stop; ``retry_after`` is in seconds."""

    def __init__(self, message: str, remedy: str, retry_after: int) -> None:
        super().__init__(message, remedy)
        self.retry_after = retry_after


class RefusedError(SoftlookupError):
    """A request that is turned away before its content matters: host, origin, token, size, time."""

    def __init__(self, status: int, code: str, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.code = code


class UnsupportedError(UsageError):
    """A parameter that would have to be ignored; ``param`` names it."""

    def __init__(self, param: str, message: str, remedy: str) -> None:
        super().__init__(message, remedy)
        self.param = param


# the first that fits counts
_STATUS: tuple[tuple[type[SoftlookupError], int, str], ...] = (
    (NotFoundError, 404, "not_found"),
    (UnsupportedError, 400, "unsupported_parameter"),
    (UsageError, 400, "invalid_request"),
    (DocumentError, 422, "unreadable_document"),
    (CapacityError, 413, "too_large"),
    (OverloadError, 503, "overloaded"),
    (CancellationError, 503, "cancelled"),
    (ModelError, 500, "model_fault"),
    (SoftlookupError, 500, "server_error"),
)
_MISSING_MODEL = "not in the cache yet"


def status_of(error: SoftlookupError) -> tuple[int, str]:
    """HTTP status and machine-readable code of ``error``."""
    if isinstance(error, RefusedError):
        return error.status, error.code
    if isinstance(error, ModelError) and _MISSING_MODEL in error.message:
        return 503, "model_missing"
    return next((status, code) for kind, status, code in _STATUS if isinstance(error, kind))


def error_body(error: SoftlookupError) -> dict[str, Any]:
    """The JSON body; ``type`` follows OpenAI's words, ``param`` is there where one is to blame."""
    status, code = status_of(error)
    return {
        "error": {
            "message": " ".join(str(error).split()),
            "remedy": error.remedy,
            "type": "invalid_request_error" if status < 500 else "server_error",
            "code": code,
            "param": getattr(error, "param", None),
        }
    }


def error_headers(error: SoftlookupError) -> dict[str, str]:
    """Headers that belong to the status."""
    if isinstance(error, OverloadError):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, RefusedError) and error.status == 401:
        return {"WWW-Authenticate": "Bearer"}
    if status_of(error)[0] == 503:
        return {"Retry-After": "10"}
    return {}


def as_typed(error: BaseException) -> SoftlookupError:
    """``error`` itself where it is typed, else an internal error whose text tells nothing of the inside."""
    if isinstance(error, SoftlookupError):
        return error
    return SoftlookupError(
        f"internal error ({type(error).__name__})", "look into the server's log, and report what stands there"
    )
