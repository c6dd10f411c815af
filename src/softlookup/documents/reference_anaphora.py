"""Words that point back to a defined term: "such Losses", "said Notice", 该保密信息; not for labels.

The target is the clause that defines the term, and the status always "inferred".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from softlookup.documents.definition_names import term_variants
from softlookup.documents.model import CrossReference, DefinedTerm, Span
from softlookup.documents.positions import ClausePositions

_SUCH_BEFORE = re.compile(r"\b(?:such|said|aforesaid)\s+$", re.IGNORECASE)
_SUCH_NOUN = re.compile(r"\b(?:such|said)\s+([a-z]+(?:\s[a-z]+)?)\b")
_SUCH_ZH = re.compile(r"(?:该等|该|上述|前述|此类|此等)$")
_QUOTES = '"“”„「『＂*_'
_CAPITALISED_USES = 3  # who writes "Action" so often means something else by "such action"


def anaphora(text: str, positions: ClausePositions, terms: Sequence[DefinedTerm]) -> Iterator[CrossReference]:
    """References by "such X" and 该X to the clauses that define X."""
    seen: set[int] = set()
    defining = _defining(terms)
    for term in terms:
        quoted = text[term.span.start - 1 : term.span.start] in _QUOTES if term.span.start else False
        for use in term.uses:
            before = text[max(0, use.start - 12) : use.start]
            such = _SUCH_BEFORE.search(before) or (_SUCH_ZH.search(before) if quoted else None)
            if such and not text[use.start : use.start + 1].islower():  # "such person" is a use like any other
                seen.add(use.start)
                yield from _inferred(positions, Span(use.start - len(such.group()), use.end), defining, term)
    lowered: dict[str, DefinedTerm] = {}
    for term in terms:
        if len(term.uses) < _CAPITALISED_USES:
            for spelling in (v for name in (term.term, *term.aliases) for v in term_variants(name)):
                if spelling != spelling.lower():
                    lowered.setdefault(spelling.lower(), term)
    for match in _SUCH_NOUN.finditer(text) if lowered else ():
        if match.start(1) in seen:
            continue
        noun = match.group(1)
        for name in (noun, noun.split()[0]):
            if name in lowered:
                span = Span(match.start(), match.start(1) + len(name))
                yield from _inferred(positions, span, defining, lowered[name])
                break


def _defining(terms: Sequence[DefinedTerm]) -> dict[str, list[DefinedTerm]]:
    """Name -> the terms that say what it means, and not only where that is said."""
    defining: dict[str, list[DefinedTerm]] = defaultdict(list)
    for term in terms:
        if term.kind != "meaning_given_in":
            defining[term.term].append(term)
    return defining


def _inferred(
    positions: ClausePositions, span: Span, defining: dict[str, list[DefinedTerm]], term: DefinedTerm
) -> Iterator[CrossReference]:
    if term.kind == "meaning_given_in":  # "has the meaning given in clause 7": clause 7 says it
        said = defining.get(term.term, [])
        earlier = [other for other in said if other.span.start < span.start]
        term = earlier[-1] if earlier else said[0] if said else term
    source = positions.innermost(span.start)
    if source is not None:
        yield CrossReference(span, source, (term.clause,), "inferred", kind="anaphora")
