"""Where a learner reads and types: wrapped lines out, one bounded line in."""

from __future__ import annotations

import os
import shutil
import sys

from softlookup.cli.escape import printable
from softlookup.cli.wrapping import WIDTH, wrapped_wide

# nobody types more; the rest of a longer line is dropped
_MOST_TYPED = 4096
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def width() -> int:
    """Columns to write in: those of the terminal, at most 100."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def say(text: str = "", first: str = "", indent: int = 0, *, strong: bool = False) -> None:
    """A paragraph on stdout; ``strong``: in bold, where the terminal can."""
    lines = wrapped_wide(first, printable(text), width(), indent)
    sys.stdout.write("\n".join(map(bold, lines) if strong else lines) + "\n")


def block(text: str, indent: int = 4) -> None:
    """Lines as they are, indented."""
    for line in printable(text).split("\n"):
        sys.stdout.write(f"{' ' * indent}{line}".rstrip() + "\n")


def bold(text: str) -> str:
    """Escaped ``text`` in bold, where the terminal can."""
    return f"{_BOLD}{text}{_PLAIN}" if _styled() else text


def dim(text: str) -> str:
    """Escaped ``text`` dimmed, where the terminal can."""
    return f"{_DIM}{text}{_PLAIN}" if _styled() else text


def _styled() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def somebody_types() -> bool:
    """Whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def typed(prompt: str) -> str | None:
    """One line of stdin without its end, or None at the end of input."""
    sys.stdout.write(prompt)
    sys.stdout.flush()
    line = _line()
    if not (line and somebody_types()):  # nobody has ended the line of the prompt
        sys.stdout.write("\n")
    return None if not line else line.rstrip("\r\n")


def _line() -> str:
    """A line with its end; empty at the end of input. Bytes that are no text become escapes, which nobody means."""
    if sys.stdin is None:
        return ""
    source = getattr(sys.stdin, "buffer", sys.stdin)  # a terminal's own encoding is UTF-8 everywhere this runs
    line = rest = source.readline(_MOST_TYPED)
    while len(rest) == _MOST_TYPED and rest[-1:] not in ("\n", b"\n"):
        rest = source.readline(_MOST_TYPED)
    return line.decode("utf-8", "backslashreplace") if isinstance(line, bytes) else str(line)
