"""The clauses that a clause needs to be understood: definitions, clauses it refers to or that override it.

Breadth-first over typed edges, without a model; not for choosing the first clauses (``bm25.py``) and not a
proof that nothing else matters. Every added clause carries the reason for it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from softlookup.documents.definitions import TermUse, definition_spans, find_uses
from softlookup.documents.model import Clause, CrossReference, Document, ReferenceEffect, Span
from softlookup.documents.positions import ClausePositions
from softlookup.errors import UsageError

_WHOLE_CLAUSE = 1500  # characters: a longer target contributes its own text up to here, marked partial
_COMMON_SHARE = 0.25  # of the clauses: a term used in more of them ("Agreement", 甲方) explains nothing
_COMMON_LEAST = 8  # clauses: in a short contract even an important term is used in every other clause
# in which order edges are followed: what changes the meaning first, what merely names a term last
_RANK: dict[str, int] = {
    "overrides": 0, "exception_to": 0, "subject_to": 1, "anaphora": 2, "refers": 3, "same_as_preceding": 3,
    "reverse": 1, "use": 4, "common": 9,
}  # fmt: skip
_WORDS_OUT: dict[ReferenceEffect, str] = {
    "refers": "{source} refers to it",
    "subject_to": "{source} is subject to it",
    "overrides": "{source} overrides it",
    "exception_to": "{source} makes it an exception",
    "same_as_preceding": "{source} applies it likewise",
}
_WORDS_BACK: dict[ReferenceEffect, str] = {
    "subject_to": "is subject to {source}",
    "overrides": "overrides {source}",
    "exception_to": "excepts {source}",
}


@dataclass(frozen=True, slots=True)
class Expansion:
    """A clause brought in by clause ``source``, ``depth`` steps from a seed.

    ``span`` is the text to add: the whole clause, the defining paragraph of a long definitions clause, or the
    first part of a long target (then ``partial``).
    """

    clause: int
    why: str
    via: Literal["definition", "reference"]
    source: int
    depth: int
    span: Span
    partial: bool = False


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


class _Edge(NamedTuple):
    rank: int
    target: int
    why: str
    via: Literal["definition", "reference"]
    source: int
    span: Span
    partial: bool


class _Place(NamedTuple):
    """The own text of ``clause`` inside ``span``."""

    clause: int
    span: Span


class ClauseGraph:
    """Edges between the clauses of one document; build it once for many closures."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._positions = ClausePositions(document.clauses)
        self._defining = definition_spans(document.text, document.terms)
        self._references: dict[int, list[CrossReference]] = defaultdict(list)
        self._pointing_at: dict[int, list[CrossReference]] = defaultdict(list)
        for reference in document.references:
            self._references[reference.source_clause].append(reference)
            if reference.effect in _WORDS_BACK:
                for target in reference.targets:
                    self._pointing_at[target].append(reference)
        self._uses: dict[int, list[TermUse]] = defaultdict(list)
        spread: dict[int, set[int]] = defaultdict(set)
        for use in find_uses(document.text, document.terms):
            clause = self._positions.innermost(use.start)
            if clause is not None:
                self._uses[clause].append(use)
                spread[use.term].add(clause)
        limit = max(_COMMON_LEAST, _COMMON_SHARE * sum(bool(c.number) for c in document.clauses))
        self._common = {term for term, places in spread.items() if len(places) > limit}

    def clauses_in(self, span: Span) -> tuple[int, ...]:
        """Clauses whose own text overlaps ``span``, in document order: the seeds for a passage."""
        touched = {self._positions.innermost(span.start)}
        first = self._positions.innermost(span.start)
        for clause in self.document.clauses[first or 0 :]:
            if clause.span.start >= span.end:
                break
            if clause.span.start >= span.start:
                touched.add(clause.index)
        return tuple(sorted(index for index in touched if index is not None))

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
        seen = list(within) if within is not None else [self.document.clauses[seed].span for seed in seeds]
        frontier = self._frontier(seeds, within)
        added: list[Expansion] = []
        cut: list[Expansion] = []
        dangling: list[CrossReference] = []
        left = budget
        for step in range(1, depth + 1):
            dangling += [r for place in frontier for r in self._said(place) if r.status == "dangling"]
            following: list[_Place] = []
            for edge in sorted(self._edges(frontier, first=step == 1), key=lambda edge: edge.rank):
                if any(span.start <= edge.span.start and edge.span.end <= span.end for span in seen):
                    continue
                seen.append(edge.span)
                item = Expansion(edge.target, edge.why, edge.via, edge.source, step, edge.span, edge.partial)
                price = 0 if left is None else (cost or len)(edge.span)
                if left is not None and price > left:
                    cut.append(item)
                    continue
                left = None if left is None else left - price
                added.append(item)
                following += [_Place(index, edge.span) for index in self.clauses_in(edge.span)]
            frontier = list(dict.fromkeys(following))
        return Closure(tuple(added), tuple(cut), tuple(dict.fromkeys(dangling)))

    def _frontier(self, seeds: Sequence[int], within: Sequence[Span] | None) -> list[_Place]:
        if within is not None:
            wanted = set(seeds)
            return [_Place(c, span) for span in within for c in self.clauses_in(span) if c in wanted or not wanted]
        places: list[_Place] = []
        for seed in seeds:
            span = self.document.clauses[seed].span
            # a short clause counts with its children, a chapter only with its own words
            inside = self.clauses_in(span) if len(span) <= _WHOLE_CLAUSE else (seed,)
            places += [_Place(index, span) for index in inside]
        return list(dict.fromkeys(places))

    def _said(self, place: _Place) -> list[CrossReference]:
        """References in the own text of the clause, inside the span."""
        return [r for r in self._references[place.clause] if r.span.overlap(place.span)]

    def _edges(self, frontier: Sequence[_Place], *, first: bool) -> list[_Edge]:
        edges: list[_Edge] = []
        uses: list[_Edge] = []
        for place in frontier:
            edges += self._outgoing(place)
            edges += self._incoming(place.clause)
            uses += self._definitions(place)
        informative = [edge for edge in uses if edge.rank < _RANK["common"]]
        # boilerplate terms are followed only when a seed has nothing else to follow
        return edges + (uses if first and not informative and not edges else informative)

    def _outgoing(self, place: _Place) -> Iterator[_Edge]:
        clause = place.clause
        name = clause_name(self.document.clauses[clause])
        for reference in self._said(place):
            for target in reference.targets:
                span, partial = self._contribution(target)
                if reference.status == "inferred":
                    words = self.document.text[reference.span.start : reference.span.end]
                    term = self._term_of(reference)
                    if term is None:
                        why = f'defines what {name} calls "{words}"'
                        yield _Edge(_RANK["anaphora"], target, why, "definition", clause, span, partial)
                    elif term not in self._common:
                        yield self._definition_edge(term, clause, _RANK["anaphora"])
                else:
                    why = _WORDS_OUT[reference.effect].format(source=name)
                    yield _Edge(_RANK[reference.effect], target, why, "reference", clause, span, partial)

    def _incoming(self, clause: int) -> Iterator[_Edge]:
        """Clauses that say "notwithstanding" or "subject to" this clause or one that holds it."""
        for target in self._positions.lineage(clause):
            for reference in self._pointing_at[target.index]:
                if reference.source_clause != clause:
                    span, partial = self._contribution(reference.source_clause)
                    why = _WORDS_BACK[reference.effect].format(source=clause_name(target))
                    rank = _RANK["reverse"] + (target.index != clause)
                    yield _Edge(rank, reference.source_clause, why, "reference", clause, span, partial)

    def _definitions(self, place: _Place) -> Iterator[_Edge]:
        counted = Counter(
            use.term for use in self._uses[place.clause] if place.span.start <= use.start < place.span.end
        )
        for term, _ in counted.most_common():
            yield self._definition_edge(term, place.clause, _RANK["common" if term in self._common else "use"])

    def _definition_edge(self, term: int, source: int, rank: int) -> _Edge:
        defined = self.document.terms[term]
        span, partial = self._contribution(defined.clause)
        if len(self.document.clauses[defined.clause].span) > _WHOLE_CLAUSE // 2:
            span, partial = self._defining[term], False
        return _Edge(rank, defined.clause, f'defines "{defined.term}"', "definition", source, span, partial)

    def _term_of(self, reference: CrossReference) -> int | None:
        """The term that "such Losses" at ``reference.span`` stands for: the target clause may define many."""
        words = self.document.text[reference.span.start : reference.span.end].lower()
        for index, term in enumerate(self.document.terms):
            if term.clause in reference.targets and term.term.lower().rstrip("s") in words:
                return index
        return None

    def _contribution(self, index: int) -> tuple[Span, bool]:
        """Text that clause ``index`` adds, and whether it is only a part of the clause."""
        span = self.document.clauses[index].span
        text = self.document.text[span.start : span.end]
        end = span.start + len(text.rstrip())
        if end - span.start <= _WHOLE_CLAUSE:
            return Span(span.start, end), False
        stop = self.document.text.rfind("\n", span.start + 1, span.start + _WHOLE_CLAUSE)
        stop = stop if stop > span.start + _WHOLE_CLAUSE // 2 else span.start + _WHOLE_CLAUSE
        return Span(span.start, stop), True


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


def clause_name(clause: Clause) -> str:
    """How a clause is called in a reason: "clause 8.2", "Section 4", "第三条", or by its heading or place."""
    label = clause.path or clause.number
    if not label:
        return f'"{clause.heading[:40]}"' if clause.heading else f"unnumbered clause {clause.index}"
    return f"clause {label}" if label[0].isdigit() or label[0] in "(（" else label
