"""The clauses that a clause needs to be understood: definitions, clauses it refers to or that override it.

Breadth-first over typed edges, without a model; not for choosing the first clauses (``bm25.py``) and not a
proof that nothing else matters. Every added clause carries the reason for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from softlookup.documents.definitions import TermUse, definition_spans, names_party, term_variants
from softlookup.documents.model import Clause, CrossReference, Document, ReferenceEffect, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.reference_effects import is_anaphor, reference_lists
from softlookup.errors import UsageError

_WHOLE_CLAUSE = 1500  # characters: a longer target contributes its own text up to here, marked partial
_DEFINING_CLAUSE = 500  # characters: a longer clause contributes only the paragraph that defines the term
_COMMON_SHARE = 0.15  # of the clauses: a term used in more of them explains nothing
_COMMON_LEAST = 8  # clauses: in a short contract even an important term is used in every other clause
_MOST_TERMS = 4  # definitions for the words of one passage or clause, the rarest terms
_MOST_INCOMING = 16  # clauses that name one clause as overridden: more are boilerplate
_LONG_LIST = 5  # clauses that one sentence merely lists ("Clauses 1, 7, 9, 11 and 12 survive")
# parties, the document itself and its date: they are in every clause and need no explanation
_BOILERPLATE = re.compile(
    r"(?:this\s+|the\s+)?(?:agreement|contract|deed|lease|terms|part(?:y|ies)|(?:each|either|other|neither|no)\s+party|"
    r"both\s+parties|company)"
    r"|(?:本)?(?:合同|协议|本合同|本协议|协议书|合同书)|[甲乙丙丁戊]方|双方|各方|任何一方|当事人",
    re.IGNORECASE,
)
# in which order edges are followed: what changes the meaning first, what merely names a term last
_RANK: dict[ReferenceEffect, int] = {
    "overrides": 0, "exception_to": 0, "subject_to": 1, "refers": 3, "same_as_preceding": 3,
}  # fmt: skip
_RANK_BACK: dict[ReferenceEffect, int] = {"overrides": 0, "exception_to": 0, "subject_to": 2}
_RANK_ANAPHOR = 1
_RANK_TERM = 4
_STRONG = 2  # edges of this rank or less are followed further
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
    rank: float
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


class _Covered:
    """Union of spans that are already there; asks in O(log n) whether it holds another."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for span in spans:
            self.add(span)

    def add(self, span: Span) -> None:
        low = bisect_left(self._ends, span.start)
        high = bisect_right(self._starts, span.end)
        start = min([span.start, *self._starts[low:high][:1]])
        end = max([span.end, *self._ends[low:high][-1:]])
        self._starts[low:high], self._ends[low:high] = [start], [end]

    def touches(self, span: Span) -> bool:
        at = bisect_right(self._ends, span.start)
        return at < len(self._starts) and self._starts[at] < span.end

    def holds(self, span: Span) -> bool:
        at = bisect_right(self._starts, span.start) - 1
        return at >= 0 and self._ends[at] >= span.end


class ClauseGraph:
    """Edges between the clauses of one document; build it once for many closures."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._positions = ClausePositions(document.clauses)
        self._defining = definition_spans(document.text, document.terms)
        self._references = sorted(document.references, key=lambda reference: reference.span)
        self._reference_starts = [reference.span.start for reference in self._references]
        self._pointing_at: dict[int, list[CrossReference]] = defaultdict(list)
        for reference in self._references:
            for target in reference.targets if reference.effect in _WORDS_BACK else ():
                if len(self._pointing_at[target]) < _MOST_INCOMING:
                    self._pointing_at[target].append(reference)
        # a sentence that lists many clauses says something about the list, not about them
        self._listed = {
            reference.span
            for group in reference_lists(document.text, self._references)
            if len(group) >= _LONG_LIST and group[0].effect == "refers"
            for reference in group
        }
        uses = (TermUse(u.start, u.end, place) for place, term in enumerate(document.terms) for u in term.uses)
        self._uses = sorted(uses)
        self._use_starts = [use.start for use in self._uses]
        spread: dict[int, set[int]] = defaultdict(set)
        for use in self._uses:
            spread[use.term].add(self._positions.innermost(use.start) or 0)
        self._spread = {term: len(places) for term, places in spread.items()}
        self._common = max(_COMMON_LEAST, _COMMON_SHARE * sum(bool(c.number) for c in document.clauses))
        self._terms_of: dict[int, list[int]] = defaultdict(list)
        for index, term in enumerate(document.terms):
            self._terms_of[term.clause].append(index)

    def clauses_in(self, span: Span) -> tuple[int, ...]:
        """Clauses whose own text overlaps ``span``, in document order: the seeds for a passage."""
        first = self._positions.innermost(span.start)
        touched = {first}
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

        In this order: clauses that override, except or limit a seed or that a seed overrides; what "such Losses"
        stands for; clauses that a seed refers to; definitions of the four rarest terms that it uses (never of
        parties, of "Agreement" or of a term that stands in every other clause), taken from the clause that a
        definition points to ("has the meaning given in clause 7"). Beyond the first step only overriding, excepting
        and limiting edges are followed. Clauses that a sentence merely lists, five or more, are left out, and so
        are those around the seed ("this clause").

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
        covered = _Covered(within if within is not None else [self.document.clauses[seed].span for seed in seeds])
        frontier = self._frontier(seeds, within)
        added: list[Expansion] = []
        cut: list[Expansion] = []
        dangling: list[CrossReference] = []
        left = budget
        for step in range(1, depth + 1):
            if step == 1:
                dangling = [r for place in frontier for r in self._said(place) if r.status == "dangling"]
            following: list[_Place] = []
            for edge in self._best_edges(frontier, first=step == 1):
                # a remote clause that holds a seed says where the seed stands, not what it means
                if covered.holds(edge.span) or (step > 1 and covered.touches(edge.span)):
                    continue
                covered.add(edge.span)
                item = Expansion(edge.target, edge.why, edge.via, edge.source, step, edge.span, edge.partial)
                price = 0 if left is None else (cost or len)(edge.span)
                if left is not None and price > left:
                    cut.append(item)
                    continue
                left = None if left is None else left - price
                added.append(item)
                if edge.rank <= _STRONG:
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

    def _said(self, place: _Place) -> Iterator[CrossReference]:
        """References in the own text of the clause, inside the span."""
        start = max(place.span.start, self.document.clauses[place.clause].span.start)
        end = min(place.span.end, self.document.clauses[place.clause].span.end)
        first, last = bisect_left(self._reference_starts, start), bisect_left(self._reference_starts, end)
        return (r for r in self._references[first:last] if r.source_clause == place.clause)

    def _best_edges(self, frontier: Sequence[_Place], *, first: bool) -> list[_Edge]:
        """Edges of the frontier, the most valuable first; one for each text to add."""
        edges = [edge for place in frontier for edge in (*self._outgoing(place), *self._incoming(place.clause))]
        if first:
            edges += self._definitions(frontier)
        else:
            edges = [edge for edge in edges if edge.rank <= _STRONG and edge.via == "reference"]
        best: dict[Span, _Edge] = {}
        for edge in sorted(edges, key=lambda edge: edge.rank):
            best.setdefault(edge.span, edge)
        return list(best.values())

    def _outgoing(self, place: _Place) -> Iterator[_Edge]:
        clause = place.clause
        name = clause_name(self.document.clauses[clause])
        above = {around.index for around in self._positions.lineage(clause)}
        for reference in self._said(place):
            if is_anaphor(self.document.text, reference):
                yield from self._anaphor(reference, clause, name)
                continue
            if reference.span in self._listed:
                continue
            for target in reference.targets:
                if target in above:
                    continue  # "this clause" says where the reader is
                span, partial = self._contribution(target)
                why = _WORDS_OUT[reference.effect].format(source=name)
                yield _Edge(_RANK[reference.effect], target, why, "reference", clause, span, partial)

    def _anaphor(self, reference: CrossReference, clause: int, name: str) -> Iterator[_Edge]:
        words = self.document.text[reference.span.start : reference.span.end]
        if _BOILERPLATE.fullmatch(re.sub(r"^\w+\s+|^[该此上前]\w?[等述类]?", "", words)):
            return
        term = self._term_of(words, reference.targets)
        if term is not None:
            if not _BOILERPLATE.fullmatch(self.document.terms[term].term):
                yield from self._definition_edges(term, clause, _RANK_ANAPHOR)
            return
        for target in reference.targets:
            span, partial = self._contribution(target)
            yield _Edge(
                _RANK_ANAPHOR, target, f'defines what {name} calls "{words}"', "definition", clause, span, partial
            )

    def _incoming(self, clause: int) -> Iterator[_Edge]:
        """Clauses that say "notwithstanding" or "subject to" this clause or one that holds it."""
        for target in self._positions.lineage(clause):
            for reference in self._pointing_at.get(target.index, ()):
                if reference.source_clause != clause:
                    span, partial = self._contribution(reference.source_clause)
                    why = _WORDS_BACK[reference.effect].format(source=clause_name(target))
                    rank = _RANK_BACK[reference.effect] + (0.5 if target.index != clause else 0)
                    yield _Edge(rank, reference.source_clause, why, "reference", clause, span, partial)

    def _definitions(self, frontier: Sequence[_Place]) -> Iterator[_Edge]:
        """Definitions of the terms that the frontier uses, the rarest of each passage first."""
        for passage in dict.fromkeys(place.span for place in frontier):
            places = {place.clause for place in frontier if place.span == passage}
            first, last = bisect_left(self._use_starts, passage.start), bisect_left(self._use_starts, passage.end)
            used: dict[int, int] = {}
            for use in self._uses[first:last]:
                clause = self._positions.innermost(use.start)
                if clause in places and self._explains(use.term):
                    used.setdefault(use.term, clause)
            order = sorted(used, key=lambda term: (self._spread[term], self.document.terms[term].span.start))
            for place, term in enumerate(order[:_MOST_TERMS]):
                yield from self._definition_edges(term, used[term], _RANK_TERM + place / 10)

    def _explains(self, term: int) -> bool:
        """Whether the definition helps the reader: that of a party, or of a word in every clause, does not."""
        defined = self.document.terms[term]
        boilerplate = _BOILERPLATE.fullmatch(defined.term) or names_party(self.document.text, defined)
        return self._spread[term] <= self._common and not boilerplate

    def _definition_edges(self, term: int, source: int, rank: float) -> Iterator[_Edge]:
        """The paragraph that defines the term or, for a pointer to it ("has the meaning given in"), its target."""
        defined = self.document.terms[term]
        span, partial = self._defining[term], False
        if defined.kind == "meaning_given_in":
            pointers = [r for r in self._said(_Place(defined.clause, span)) if r.status == "resolved" and r.targets]
            for target in pointers[0].targets[:1] if pointers else ():
                span, partial = self._given(defined.term, target)
                why = f'gives the meaning of "{defined.term}"'
                yield _Edge(rank, target, why, "definition", source, span, partial)
                return
        elif len(self._terms_of[defined.clause]) == 1:
            whole, _ = self._contribution(defined.clause)
            # a clause that defines this term alone comes with its list
            span = whole if len(whole) <= _DEFINING_CLAUSE else span
        yield _Edge(rank, defined.clause, f'defines "{defined.term}"', "definition", source, span, partial)

    def _given(self, name: str, target: int) -> tuple[Span, bool]:
        """Text of clause ``target`` that gives the meaning of ``name``: all of it when it is short."""
        if len(self.document.clauses[target].span) > _WHOLE_CLAUSE // 2:
            inside = self.document.clauses[target].span
            for index, term in enumerate(self.document.terms):
                if term.term == name and inside.start <= term.span.start < inside.end:
                    return self._defining[index], False
        return self._contribution(target)

    def _term_of(self, words: str, targets: Sequence[int]) -> int | None:
        """The term that ``words`` ("such Losses") stand for: the target clause may define many."""
        lowered = words.lower()
        for index in (index for target in targets for index in self._terms_of[target]):
            defined = self.document.terms[index]
            spellings = (spelling for name in (defined.term, *defined.aliases) for spelling in term_variants(name))
            if any(lowered.endswith(spelling.lower()) for spelling in spellings):
                return index
        return None

    def _contribution(self, index: int) -> tuple[Span, bool]:
        """Text that clause ``index`` adds, and whether it is only a part of the clause."""
        span = self.document.clauses[index].span
        if len(span) <= _WHOLE_CLAUSE:
            return Span(span.start, span.start + len(self.document.text[span.start : span.end].rstrip())), False
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
