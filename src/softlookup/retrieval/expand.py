"""The clauses that a clause needs to be understood: definitions, clauses it refers to or that override it.

Breadth-first over the typed edges of ``clause_edges.py``, without a model; not for choosing the first clauses
(``bm25.py``) and not a proof that nothing else matters. Every added clause carries the reason for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from softlookup.documents.model import CrossReference, Document, Span
from softlookup.errors import UsageError
from softlookup.retrieval.clause_edges import STRONG_RANK, WHOLE_CLAUSE, ClauseEdges, EdgeKind, Place
from softlookup.retrieval.covered import CoveredText


@dataclass(frozen=True, slots=True)
class Expansion:
    """A clause brought in by clause ``source``, ``depth`` steps from a seed.

    ``span`` is the text to add: the whole clause, the defining paragraph of a long definitions clause, or the
    first part of a long target (then ``partial``). ``edge`` is the kind of the last step; ``reverse`` tells that
    this clause names ``source`` and not the other way round.
    """

    clause: int
    why: str
    via: Literal["definition", "reference"]
    source: int
    depth: int
    span: Span
    partial: bool = False
    edge: EdgeKind = "refers"
    reverse: bool = False


@dataclass(frozen=True, slots=True)
class Closure:
    """Result of :func:`closure`: ``cut`` did not fit the budget, ``dangling`` point to no clause."""

    added: tuple[Expansion, ...]
    cut: tuple[Expansion, ...]
    dangling: tuple[CrossReference, ...]

    @property
    def complete(self) -> bool:
        """Whether nothing was cut and nothing dangles."""
        return not self.cut and not self.dangling


class ClauseGraph:
    """Closures over the clauses of one document; build it once for many."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._edges = ClauseEdges(document)

    def clauses_in(self, span: Span) -> tuple[int, ...]:
        """Clauses whose own text overlaps ``span``, in document order: the seeds for a passage."""
        return self._edges.clauses_in(span)

    def closure(
        self,
        seeds: Sequence[int],
        *,
        within: Sequence[Span] | None = None,
        depth: int = 2,
        budget: int | None = None,
        cost: Callable[[Span], int] | None = None,
    ) -> Closure:
        """Clauses that ``seeds`` need, at most ``depth`` steps away, most valuable first.

        In this order: clauses that override, except or limit a seed or that a seed overrides; what "such Losses"
        stands for; clauses that a seed refers to, and the one that brings in the schedule around it; definitions of
        the four rarest terms that it uses (never of parties, of "Agreement" or of a term that stands in every other
        clause), taken from the clause that a definition points to ("has the meaning given in clause 7"). Beyond the
        first step only overriding, excepting and limiting edges are followed. Clauses that a sentence merely lists,
        five or more, are left out, and so are those around the seed ("this clause").

        A seed of up to 1,500 characters counts with its children, a longer one with its own text; ``within``
        replaces that by what these spans say (passages), of all clauses when ``seeds`` is empty. ``budget``
        bounds the sum of ``cost(expansion.span)`` (default: characters); what does not fit is in
        ``Closure.cut`` and is not followed. Text of a seed is never added.
        Raises ``UsageError`` for an unknown clause.
        """
        unknown = [seed for seed in seeds if not 0 <= seed < len(self.document.clauses)]
        if unknown:
            size = len(self.document.clauses)
            raise UsageError(f"seeds must be clause indices below {size}, got {unknown[0]}", "use Clause.index")
        covered = CoveredText(within if within is not None else [self.document.clauses[seed].span for seed in seeds])
        frontier = self._frontier(seeds, within)
        added: list[Expansion] = []
        cut: list[Expansion] = []
        dangling: list[CrossReference] = []
        left = budget
        for step in range(1, depth + 1):
            if step == 1:
                dangling = [r for place in frontier for r in self._edges.said(place) if r.status == "dangling"]
            following: list[Place] = []
            for edge in self._edges.best_edges(frontier, first=step == 1):
                # a remote clause that holds a seed says where the seed stands, not what it means
                if covered.holds(edge.span) or (step > 1 and covered.touches(edge.span)):
                    continue
                covered.add(edge.span)
                item = Expansion(
                    edge.target,
                    edge.why,
                    edge.via,
                    edge.source,
                    step,
                    edge.span,
                    edge.partial,
                    edge.kind,
                    edge.reverse,
                )
                price = 0 if left is None else (cost or len)(edge.span)
                if left is not None and price > left:
                    cut.append(item)
                    continue
                left = None if left is None else left - price
                added.append(item)
                if edge.rank <= STRONG_RANK:
                    following += [Place(index, edge.span) for index in self._edges.clauses_in(edge.span)]
            frontier = list(dict.fromkeys(following))
        return Closure(tuple(added), tuple(cut), tuple(dict.fromkeys(dangling)))

    def _frontier(self, seeds: Sequence[int], within: Sequence[Span] | None) -> list[Place]:
        if within is not None:
            wanted = set(seeds)
            return [
                Place(c, span) for span in within for c in self._edges.clauses_in(span) if c in wanted or not wanted
            ]
        places: list[Place] = []
        for seed in seeds:
            span = self.document.clauses[seed].span
            # a short clause counts with its children, a chapter only with its own words
            inside = self._edges.clauses_in(span) if len(span) <= WHOLE_CLAUSE else (seed,)
            places += [Place(index, span) for index in inside]
        return list(dict.fromkeys(places))


def closure(
    document: Document,
    seeds: Sequence[int],
    *,
    within: Sequence[Span] | None = None,
    depth: int = 2,
    budget: int | None = None,
    cost: Callable[[Span], int] | None = None,
) -> Closure:
    """:meth:`ClauseGraph.closure` for a single question; build a :class:`ClauseGraph` for more."""
    return ClauseGraph(document).closure(seeds, within=within, depth=depth, budget=budget, cost=cost)
