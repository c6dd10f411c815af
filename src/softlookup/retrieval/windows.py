"""Cuts a document into overlapping windows of passages, each short enough for a model; reads and ranks nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from softlookup.documents.model import Document, Span
from softlookup.errors import CapacityError
from softlookup.retrieval.chunks import Chunk

# 1/8 of a window repeats the end of the one before: what a passage leans on is before it in at least one of them
OVERLAP = 8


@dataclass(frozen=True, slots=True)
class Window:
    """The passages ``[first, last)`` of a document, and their text without white space at the ends."""

    first: int
    last: int
    span: Span


def document_windows(
    document: Document,
    chunks: Sequence[Chunk],
    *,
    count_tokens: Callable[[str], int],
    window_tokens: int,
) -> tuple[Window, ...]:
    """Windows of at most ``window_tokens`` tokens that hold every passage whole, each in at most two of them.

    Each begins with the last passages of the one before, an eighth of ``window_tokens`` or a little more.
    Raises ``CapacityError`` when a single passage is longer.
    """
    sizes = [count_tokens(document.text[chunk.span.start : chunk.span.end]) + 1 for chunk in chunks]
    windows: list[Window] = []
    first = 0
    while not windows or windows[-1].last < len(chunks):
        last = _fitting(document, chunks, sizes, first, count_tokens, window_tokens)
        # an overlap that leaves no room for anything new would never end
        while windows and last <= windows[-1].last and first < windows[-1].last:
            first += 1
            last = _fitting(document, chunks, sizes, first, count_tokens, window_tokens)
        windows.append(Window(first, last, Span(chunks[first].span.start, chunks[last - 1].span.end)))
        first = _overlap_start(sizes, windows[-1], window_tokens // OVERLAP)
    return tuple(windows)


def _fitting(
    document: Document,
    chunks: Sequence[Chunk],
    sizes: Sequence[int],
    first: int,
    count_tokens: Callable[[str], int],
    most: int,
) -> int:
    """The largest ``last`` with passages ``[first, last)`` in ``most`` tokens."""
    last, used = first, 0
    while last < len(chunks) and used + sizes[last] <= most:
        used += sizes[last]
        last += 1
    # passages are counted one by one, which need not add up: the window as a whole decides
    while last > first and count_tokens(document.text[chunks[first].span.start : chunks[last - 1].span.end]) > most:
        last -= 1
    if last == first:
        raise CapacityError(
            f"a passage of {sizes[first] - 1} tokens does not fit a window of {most}",
            "use a model with a longer window, or raise --max-context-tokens",
        )
    return last


def _overlap_start(sizes: Sequence[int], window: Window, tokens: int) -> int:
    """Where the next window begins: ``tokens`` before the end of ``window``, after its first passage."""
    first, repeated = window.last, 0
    while first > window.first + 1 and repeated < tokens:
        first -= 1
        repeated += sizes[first]
    return first
