"""Typed edges from the text of a clause to the texts that it needs; following them is ``expand.py``.

Kinds: a term that the clause uses ("defines"), a clause that it cites ("refers", "same_as_preceding"), the rules
between clauses ("subject_to", "overrides", "exception_to", in both directions: a clause that begins with
"notwithstanding clause 8" belongs to clause 8), and the clause that brings a schedule in ("schedule_of").
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from softlookup.documents.definitions.find import TermUse, definition_spans, names_party, term_variants
from softlookup.documents.model import CrossReference, Document, ReferenceEffect, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.effects import is_anaphor, reference_lists
from softlookup.documents.references.labels import label_key
from softlookup.retrieval.edge_wording import EdgeWording

EdgeKind = Literal[
    "defines", "refers", "subject_to", "overrides", "exception_to", "same_as_preceding", "schedule_of"
]  # fmt: skip
WHOLE_CLAUSE = 1500  # characters: a longer target contributes its own text up to here, marked partial
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
_RANK_SCHEDULE = 3
_RANK_TERM = 4
STRONG_RANK = 2  # edges of this rank or less are followed further


class Edge(NamedTuple):
    """One step from clause ``source``: ``span`` of clause ``target`` is worth reading, for the reason ``why``.

    Edges of a lower ``rank`` are followed first. ``reverse`` tells that the target names the source.
    """

    rank: float
    target: int
    why: str
    kind: EdgeKind
    source: int
    span: Span
    partial: bool
    reverse: bool = False

    @property
    def via(self) -> Literal["definition", "reference"]:
        """Whether a term or a label led here."""
        return "definition" if self.kind == "defines" else "reference"


class Place(NamedTuple):
    """The own text of ``clause`` inside ``span``."""

    clause: int
    span: Span


class ClauseEdges:
    """Edges between the clauses of one document; built once."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._positions = ClausePositions(document.clauses)
        self._words = EdgeWording(document.text)
        self._defining = definition_spans(document.text, document.terms)
        self._references = sorted(document.references, key=lambda reference: reference.span)
        self._reference_starts = [reference.span.start for reference in self._references]
        self._pointing_at: dict[int, list[CrossReference]] = defaultdict(list)
        for reference in self._references:
            for target in reference.targets if reference.effect in _RANK_BACK else ():
                if len(self._pointing_at[target]) < _MOST_INCOMING:
                    self._pointing_at[target].append(reference)
        self._brings_in = self._schedule_sources()
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

    def _schedule_sources(self) -> dict[int, CrossReference]:
        """Schedule -> the first reference from outside that brings it in."""
        found: dict[int, CrossReference] = {}
        for reference in self._references:
            for target in reference.targets:
                inside = self.document.clauses[target].span
                if target not in found and not inside.overlap(reference.span) and self._is_schedule(target):
                    found[target] = reference
        return found

    def _is_schedule(self, index: int) -> bool:
        label = label_key(self.document.clauses[index].number)
        return label is not None and label.opens_namespace

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

    def said(self, place: Place) -> Iterator[CrossReference]:
        """References in the own text of the clause, inside the span."""
        start = max(place.span.start, self.document.clauses[place.clause].span.start)
        end = min(place.span.end, self.document.clauses[place.clause].span.end)
        first, last = bisect_left(self._reference_starts, start), bisect_left(self._reference_starts, end)
        return (r for r in self._references[first:last] if r.source_clause == place.clause)

    def best_edges(self, frontier: Sequence[Place], *, first: bool) -> list[Edge]:
        """Edges of the frontier, the most valuable first; one for each text to add."""
        edges = [edge for place in frontier for edge in (*self._outgoing(place), *self._incoming(place.clause))]
        if first:
            edges += [edge for place in frontier for edge in self._schedule(place.clause)]
            edges += self._definitions(frontier)
        else:
            edges = [edge for edge in edges if edge.rank <= STRONG_RANK and edge.via == "reference"]
        best: dict[Span, Edge] = {}
        for edge in sorted(edges, key=lambda edge: edge.rank):
            best.setdefault(edge.span, edge)
        return list(best.values())

    def _outgoing(self, place: Place) -> Iterator[Edge]:
        clause = place.clause
        above = {around.index for around in self._positions.lineage(clause)}
        for reference in self.said(place):
            if is_anaphor(reference):
                yield from self._anaphor(reference, clause)
                continue
            if reference.span in self._listed:
                continue
            for target in reference.targets:
                if target in above:
                    continue  # "this clause" says where the reader is
                span, partial = self._contribution(target)
                why = self._words.said(reference.effect, self.document.clauses[clause])
                yield Edge(_RANK[reference.effect], target, why, reference.effect, clause, span, partial)

    def _anaphor(self, reference: CrossReference, clause: int) -> Iterator[Edge]:
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
            why = self._words.called(self.document.clauses[clause], words)
            yield Edge(_RANK_ANAPHOR, target, why, "defines", clause, span, partial)

    def _incoming(self, clause: int) -> Iterator[Edge]:
        """Clauses that say "notwithstanding" or "subject to" this clause or one that holds it."""
        for target in self._positions.lineage(clause):
            for reference in self._pointing_at.get(target.index, ()):
                if reference.source_clause != clause:
                    span, partial = self._contribution(reference.source_clause)
                    why = self._words.said_back(reference.effect, target)
                    rank = _RANK_BACK[reference.effect] + (0.5 if target.index != clause else 0)
                    yield Edge(
                        rank, reference.source_clause, why, reference.effect, clause, span, partial, reverse=True
                    )

    def _schedule(self, clause: int) -> Iterator[Edge]:
        """The clause that brings in the schedule around ``clause``: it says what the schedule is for."""
        for around in self._positions.lineage(clause):
            reference = self._brings_in.get(around.index)
            if reference is not None:
                span, partial = self._contribution(reference.source_clause)
                why = self._words.brings_in(around)
                yield Edge(
                    _RANK_SCHEDULE, reference.source_clause, why, "schedule_of", clause, span, partial, reverse=True
                )

    def _definitions(self, frontier: Sequence[Place]) -> Iterator[Edge]:
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

    def _definition_edges(self, term: int, source: int, rank: float) -> Iterator[Edge]:
        """The paragraph that defines the term or, for a pointer to it ("has the meaning given in"), its target."""
        defined = self.document.terms[term]
        span, partial = self._defining[term], False
        if defined.kind == "meaning_given_in":
            pointers = [r for r in self.said(Place(defined.clause, span)) if r.status == "resolved" and r.targets]
            for target in pointers[0].targets[:1] if pointers else ():
                span, partial = self._given(defined.term, target)
                why = self._words.gives_meaning(defined.term)
                yield Edge(rank, target, why, "defines", source, span, partial)
                return
        elif len(self._terms_of[defined.clause]) == 1:
            whole, _ = self._contribution(defined.clause)
            # a clause that defines this term alone comes with its list
            span = whole if len(whole) <= _DEFINING_CLAUSE else span
        yield Edge(rank, defined.clause, self._words.defines(defined.term), "defines", source, span, partial)

    def _given(self, name: str, target: int) -> tuple[Span, bool]:
        """Text of clause ``target`` that gives the meaning of ``name``: all of it when it is short."""
        if len(self.document.clauses[target].span) > WHOLE_CLAUSE // 2:
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
        if len(span) <= WHOLE_CLAUSE:
            return Span(span.start, span.start + len(self.document.text[span.start : span.end].rstrip())), False
        stop = self.document.text.rfind("\n", span.start + 1, span.start + WHOLE_CLAUSE)
        stop = stop if stop > span.start + WHOLE_CLAUSE // 2 else span.start + WHOLE_CLAUSE
        return Span(span.start, stop), True
