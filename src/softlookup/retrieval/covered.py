"""A union of spans that answers quickly whether it holds another; knows nothing of clauses."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from softlookup.documents.model import Span


class CoveredText:
    """Union of spans; each question costs O(log n)."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in spans:
            self.add(span)

    def add(self, span: Span) -> None:
        """Join ``span`` to the union."""
        low = bisect_left(self._ends, span.start)
        high = bisect_right(self._starts, span.end)
        start = min([span.start, *self._starts[low:high][:1]])
        end = max([span.end, *self._ends[low:high][-1:]])
        self._starts[low:high], self._ends[low:high] = [start], [end]

    def touches(self, span: Span) -> bool:
        """Whether any character of ``span`` is in the union."""
        at = bisect_right(self._ends, span.start)
        return at < len(self._starts) and self._starts[at] < span.end

    def holds(self, span: Span) -> bool:
        """Whether all of ``span`` is in the union."""
        at = bisect_right(self._starts, span.start) - 1
        return at >= 0 and self._ends[at] >= span.end
