"""Chooses what the model reads of a document that does not fit its window; not for ranking passages.

A :class:`Context` is made of exact excerpts of the document, in its order, and maps every character back.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from softlookup.documents.model import CrossReference, Document, Span
from softlookup.errors import UsageError
from softlookup.retrieval.chunks import Chunk, without_contents
from softlookup.retrieval.expand import Expansion
from softlookup.retrieval.reading_queue import ReadingQueue

SEPARATOR = "\n[...]\n"  # stands for left-out text, visible to the model and to the reader
_HEADING_CHARS = 160  # an ancestor's first line longer than this is no heading
_MISSES = 3  # passages in a row that do not fit: the budget is used up

Reason = Literal["bm25", "attention", "definition", "reference", "heading", "document"]
RankedBy = Literal["bm25", "attention"]
_MATCH: dict[RankedBy, tuple[Reason, str]] = {
    "bm25": ("bm25", "matches the words of the question"),
    "attention": ("attention", "the model looked at it while it read the question in a window"),
}
_OPENING: tuple[Reason, str] = ("document", "no passage matches the question: the document from its start")


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """Part of a context: ``span`` of the document, why it is there (``why`` in words), and its clause."""

    span: Span
    reason: Reason
    clause: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """Excerpts of a document as fed to the model.

    ``spans`` are disjoint document spans in order, joined in ``text`` by :data:`SEPARATOR`; ``pieces`` say
    why each part is there. ``tokens`` is ``count_tokens(text)``, None when nobody counted. ``cut`` are needed
    clauses that the budget left out, ``dangling`` references of the excerpts to clauses that do not exist.
    """

    text: str
    spans: tuple[Span, ...]
    pieces: tuple[ContextPiece, ...]
    tokens: int | None = None
    cut: tuple[Expansion, ...] = ()
    dangling: tuple[CrossReference, ...] = ()

    def to_document(self, offset: int) -> int | None:
        """Document offset of character ``offset`` of ``text``; None inside a separator or outside."""
        starts = self._starts()
        place = bisect_right(starts, offset) - 1
        if place < 0 or offset - starts[place] >= len(self.spans[place]):
            return None
        return self.spans[place].start + offset - starts[place]

    def to_context(self, offset: int) -> int | None:
        """Offset in ``text`` of character ``offset`` of the document; None when that was left out."""
        place = bisect_right([span.start for span in self.spans], offset) - 1
        if place < 0 or offset >= self.spans[place].end:
            return None
        return self._starts()[place] + offset - self.spans[place].start

    def _starts(self) -> list[int]:
        starts, position = [], 0
        for span in self.spans:
            starts.append(position)
            position += len(span) + len(SEPARATOR)
        return starts


def full_context(document: Document, *, count_tokens: Callable[[str], int] | None = None) -> Context:
    """The whole document as one excerpt; offsets map to themselves."""
    span = Span(0, len(document.text))
    piece = ContextPiece(span, "document", 0, "the whole document")
    tokens = None if count_tokens is None else count_tokens(document.text)
    return Context(document.text, (span,), (piece,), tokens)


def span_context(document: Document, span: Span) -> Context:
    """One excerpt of the document."""
    piece = ContextPiece(span, "document", document.clause_at(span.start).index, "a window of the document")
    return Context(document.text[span.start : span.end], (span,), (piece,))


def select_context(
    document: Document,
    chunks: Sequence[Chunk],
    rankings: Sequence[NDArray[np.float64]],
    *,
    count_tokens: Callable[[str], int],
    max_context_tokens: int,
    ranked_by: RankedBy = "bm25",
    asked: int | None = None,
    closure: bool = True,
) -> Context:
    """Best passages of every question, their headings, and the clauses they refer to, within a token budget.

    ``rankings`` holds one array of scores per question, shape [len(chunks)]; passages are taken in turn, the
    best of each question first, and what a passage needs soon after it. Rankings beyond the first ``asked`` are there
    for comparison: what only their passages need is left out. Without ``closure``, nothing but ranked passages is read.
    ``count_tokens(result.text) <= max_context_tokens`` holds for the result.
    Raises ``UsageError`` when a ranking has another length, or when no passage fits the budget.
    """
    if not rankings or any(len(scores) != len(chunks) for scores in rankings):
        sizes = [len(scores) for scores in rankings]
        needed = f"one score per passage is required for every question ({len(chunks)} passages), got {sizes}"
        raise UsageError(needed, "rank the same passages")
    selection = _Selection(document, count_tokens, max_context_tokens)
    readable = {chunk.index for chunk in without_contents(document, chunks)}
    masked = [np.where([chunk.index in readable for chunk in chunks], scores, 0.0) for scores in rankings]
    if not any((scores > 0).any() for scores in masked):  # no passage has a word of any question
        _take_opening(selection, chunks)
        return selection.context((), ())
    queue = ReadingQueue(document, chunks, masked, asked if closure else 0)
    _take_in_turn(selection, chunks, queue, _MATCH[ranked_by])
    return selection.context(queue.needs, queue.dangling)


def _take_in_turn(
    selection: _Selection, chunks: Sequence[Chunk], queue: ReadingQueue, because: tuple[Reason, str]
) -> None:
    """Adds what is worth most until several passages in a row do not fit, and then the needs that still do."""
    misses = 0
    while (candidate := queue.pop()) is not None:
        if candidate.need is not None:
            item = candidate.need
            selection.add([ContextPiece(item.span, item.via, item.clause, item.why)])
        elif misses < _MISSES:
            passage = list(_with_headings(selection.document, chunks[candidate.passage], because))
            if selection.add(passage):
                queue.took(candidate.passage)
                misses = 0
            else:
                misses += 1


def _take_opening(selection: _Selection, chunks: Sequence[Chunk]) -> None:
    """Adds passages from the start of the document until several in a row do not fit."""
    misses = 0
    for chunk in chunks:
        misses = 0 if selection.add(list(_with_headings(selection.document, chunk, _OPENING))) else misses + 1
        if misses == _MISSES:
            break


def _with_headings(document: Document, chunk: Chunk, because: tuple[Reason, str]) -> Iterator[ContextPiece]:
    for clause in document.ancestors(chunk.clause):
        inside = document.text[clause.span.start : clause.span.end]
        start = clause.span.start + len(inside) - len(inside.lstrip())
        line = inside.lstrip().split("\n", 1)[0].rstrip()
        if clause.number and 0 < len(line) <= _HEADING_CHARS and start + len(line) <= chunk.span.start:
            yield ContextPiece(Span(start, start + len(line)), "heading", clause.index, "heads the passage below")
    yield ContextPiece(chunk.span, because[0], chunk.clause, because[1])


class _Selection:
    """Grows a context piece by piece, and never beyond a token limit."""

    def __init__(self, document: Document, count_tokens: Callable[[str], int], most: int) -> None:
        self.document = document
        self._count = count_tokens
        self._most = most
        self._pieces: list[ContextPiece] = []
        self._tokens = 0  # sum over pieces: spares counting the whole context each time
        self._separator = count_tokens(SEPARATOR)

    def add(self, pieces: Sequence[ContextPiece]) -> bool:
        """Adds the parts of ``pieces`` that are not there yet; False, and no change, if they do not fit."""
        fresh = [part for piece in pieces for part in self._uncovered(piece)]
        cost = sum(self._count(self.slice(part.span)) + self._separator for part in fresh)
        if self._tokens + cost > self._most:
            return False
        self._pieces += fresh
        self._tokens += cost
        return True

    def context(self, needed: Sequence[Expansion], dangling: tuple[CrossReference, ...]) -> Context:
        """The context; drops last pieces should the tokens of the whole exceed those of the parts."""
        while True:
            spans = _joined(self.document.text, [piece.span for piece in self._pieces])
            text = SEPARATOR.join(self.slice(span) for span in spans)
            tokens = self._count(text)
            if tokens <= self._most and self._pieces:
                break
            if len(self._pieces) < 2:
                limit = f"a context needs room for one passage, got {self._most} tokens"
                raise UsageError(limit, "raise max_context_tokens")
            self._pieces.pop()
            while len(self._pieces) > 1 and self._pieces[-1].reason == "heading":
                self._pieces.pop()  # it headed the passage that was dropped
        pieces = tuple(sorted(self._pieces, key=lambda piece: piece.span))
        cut = tuple(item for item in needed if not any(s.overlap(item.span) == len(item.span) for s in spans))
        return Context(text, spans, pieces, tokens, cut, dangling)

    def slice(self, span: Span) -> str:
        """Document text of ``span``."""
        return self.document.text[span.start : span.end]

    def _uncovered(self, piece: ContextPiece) -> Iterator[ContextPiece]:
        """The parts of ``piece`` that no earlier piece holds, without white space at their ends."""
        start = piece.span.start
        taken = sorted(p.span for p in self._pieces if p.span.overlap(piece.span))
        for span in [*taken, Span(piece.span.end, piece.span.end)]:
            inside = self.document.text[start : max(start, min(span.start, piece.span.end))]
            if inside.strip():
                first = start + len(inside) - len(inside.lstrip())
                part = Span(first, first + len(inside.strip()))
                yield ContextPiece(part, piece.reason, piece.clause, piece.why)
            start = max(start, span.end)


def _joined(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    """Spans in order, merged where only white space lies between them."""
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and not text[merged[-1].end : span.start].strip():
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        else:
            merged.append(span)
    return tuple(merged)
