"""Every error that softlookup raises on purpose; not for errors of the programmer.

::

    SoftlookupError                    exit 1
    ├── UsageError                     exit 2   empty question, contradictory options
    ├── DocumentError                  exit 4   the document cannot be read
    ├── ModelError                     exit 5   model, tokenizer or cache fault
    ├── CapacityError                  exit 6   does not fit memory or the model's window
    └── CancellationError              exit 130 whoever asked has left

A message is one line: what is required, what came, and the remedy.
Exit code 3 (no evidence) and 4 for a partly read document are outcomes, not errors.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line, the same for every command."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NO_EVIDENCE = 3
    DOCUMENT = 4
    MODEL = 5
    CAPACITY = 6
    INTERRUPTED = 130


class SoftlookupError(Exception):
    """Base class of all errors raised on purpose.

    ``message`` says what is required and what came; ``remedy`` says what to do about it.
    """

    exit_code: ExitCode = ExitCode.ERROR

    def __init__(self, message: str, remedy: str = "") -> None:
        self.message = message
        self.remedy = remedy
        super().__init__(f"{message}; {remedy}" if remedy else message)


class UsageError(SoftlookupError):
    """The command line or the call is wrong."""

    exit_code = ExitCode.USAGE


class DocumentError(SoftlookupError):
    """The document is missing, empty, encrypted, damaged or of a kind that is not read."""

    exit_code = ExitCode.DOCUMENT


class ModelError(SoftlookupError):
    """The model, its tokenizer or the model cache is missing, damaged or unsupported."""

    exit_code = ExitCode.MODEL


class CapacityError(SoftlookupError):
    """The request does not fit memory or the trained window of the model."""

    exit_code = ExitCode.CAPACITY


class CancellationError(SoftlookupError):
    """Raised by whoever listens to the progress of a question that nobody waits for any more."""

    exit_code = ExitCode.INTERRUPTED
