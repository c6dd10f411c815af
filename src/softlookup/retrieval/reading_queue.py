"""In which order passages and the clauses that they need are read; whether one fits is ``context.py``'s.

One queue instead of fixed shares: the definition that the best passage uses comes before the tenth passage, and before
what the sixth passage cites. Of a fixed share for the closure, needs of middling passages took most.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from softlookup.documents.model import CrossReference, Document, Span
from softlookup.retrieval.chunks import Chunk
from softlookup.retrieval.expand import ClauseGraph, Expansion

_NEED_WORTH = 0.5  # of the passage that needs it; 0.3 to 0.7 choose about the same (benchmarks/closure_recall.py, dev)


def _worth(rank: int) -> float:
    return 3 / (rank + 2)  # flatter than 1 / rank, by which the needs of the first passage push out the fourth


class Candidate(NamedTuple):
    """Something to read: the passage ``passage`` (its place among the chunks), or the clause ``need``."""

    passage: int
    need: Expansion | None = None


class ReadingQueue:
    """Candidates, the worthiest first; :meth:`took` adds what a passage that was taken needs.

    A passage is worth 3 / (its rank + 2) for the question that ranks it best. A clause that it needs is worth half of
    that, divided by the root of its place among the needs of the passage, plus what its own words are worth, but never
    more than the passage. Needs are those of passages that one of the first ``asked`` rankings ranks best (default:
    all).
    """

    def __init__(
        self, document: Document, chunks: Sequence[Chunk], rankings: Sequence[NDArray[np.float64]], asked: int | None
    ) -> None:
        self._chunks = chunks
        self._starts = [chunk.span.start for chunk in chunks]
        self._graph = ClauseGraph(document)
        self._worth: dict[int, float] = {}
        self._asked: set[int] = set()
        self._needs: dict[Span, Expansion] = {}
        self._dangling: dict[CrossReference, None] = {}
        for place, scores in enumerate(rankings):
            self._rank(scores, asked is None or place < asked)
        # equal worth: in the order of the questions, since the dictionary keeps it
        self._heap = [(-worth, number, Candidate(index)) for number, (index, worth) in enumerate(self._worth.items())]
        heapq.heapify(self._heap)
        self._number = len(self._heap)

    def _rank(self, scores: NDArray[np.float64], asked: bool) -> None:
        order = np.argsort(-np.asarray(scores), kind="stable")
        for rank, index in enumerate((int(index) for index in order if scores[index] > 0), 1):
            worth = _worth(rank)
            if worth > self._worth.get(index, 0.0):
                self._worth[index] = worth
                (self._asked.add if asked else self._asked.discard)(index)

    @property
    def needs(self) -> tuple[Expansion, ...]:
        """Every clause that passages taken so far need."""
        return tuple(self._needs.values())

    @property
    def dangling(self) -> tuple[CrossReference, ...]:
        """References of passages taken so far to clauses that do not exist."""
        return tuple(self._dangling)

    def pop(self) -> Candidate | None:
        """The worthiest candidate that is left; None when none is."""
        return heapq.heappop(self._heap)[2] if self._heap else None

    def took(self, passage: int) -> None:
        """Queue what ``passage`` needs."""
        if passage not in self._asked:
            return
        needed = self._graph.closure((), within=[self._chunks[passage].span])
        self._dangling.update(dict.fromkeys(needed.dangling))
        for place, need in enumerate(needed.added, 1):
            self._needs.setdefault(need.span, need)
            worth = _NEED_WORTH * self._worth[passage] / place**0.5 + self._own_worth(need.span)
            worth = min(worth, self._worth[passage])  # the best passage of another question is read first
            heapq.heappush(self._heap, (-worth, self._number, Candidate(passage, need)))
            self._number += 1

    def _own_worth(self, span: Span) -> float:
        """Of the best passage that shares text with ``span``."""
        best, at = 0.0, max(0, bisect_right(self._starts, span.start) - 1)
        while at < len(self._chunks) and self._starts[at] < span.end:
            if self._chunks[at].span.end > span.start:
                best = max(best, self._worth.get(at, 0.0))
            at += 1
        return best
