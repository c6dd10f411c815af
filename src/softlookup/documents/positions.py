"""Fast answer to "which clause is here?" for code that asks thousands of times; not part of the model.

:meth:`softlookup.documents.model.Document.clause_at` walks the clauses; this index answers in O(log n)
and needs only the clause tuple, so that it works before a ``Document`` exists.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from softlookup.documents.model import Clause, Span


class ClausePositions:
    """Index from character offsets to clauses. ``clauses`` come in document order, parents first."""

    def __init__(self, clauses: tuple[Clause, ...]) -> None:
        self.clauses = clauses
        self._starts: list[int] = []
        self._owners: list[int | None] = []
        stack: list[Clause] = []
        for clause in clauses:
            while stack and stack[-1].span.end <= clause.span.start:
                self._close(stack)
            stack.append(clause)
            self._mark(clause.span.start, clause.index)
        while stack:
            self._close(stack)

    def _close(self, stack: list[Clause]) -> None:
        closed = stack.pop()
        self._mark(closed.span.end, stack[-1].index if stack else None)

    def _mark(self, start: int, owner: int | None) -> None:
        if self._starts and self._starts[-1] == start:
            self._owners[-1] = owner
        else:
            self._starts.append(start)
            self._owners.append(owner)

    def innermost(self, offset: int) -> int | None:
        """Index of the innermost clause that holds ``offset``; None outside all clauses."""
        place = bisect_right(self._starts, offset) - 1
        return self._owners[place] if place >= 0 else None

    def containing(self, span: Span) -> int | None:
        """Index of the innermost clause that holds all of ``span``; None when no clause does."""
        index = self.innermost(span.start)
        while index is not None and self.clauses[index].span.end < span.end:
            index = self.clauses[index].parent
        return index

    def lineage(self, index: int | None) -> Iterator[Clause]:
        """Clause ``index``, its parent, its grandparent, ...; nothing for None."""
        while index is not None:
            yield self.clauses[index]
            index = self.clauses[index].parent

    def own_text(self) -> Iterator[tuple[int, Span]]:
        """(clause index, span) pieces that tile the clauses: each clause without its descendants."""
        for place, owner in enumerate(self._owners[:-1]):  # the last mark closes the last clause
            start, end = self._starts[place], self._starts[place + 1]
            if owner is not None and end > start:
                yield owner, Span(start, end)
