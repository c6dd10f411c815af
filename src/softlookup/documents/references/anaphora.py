"""Words that point back to a defined term: "such Losses", "said Notice", 该保密信息; not for labels.

The target is the clause that defines the term, and the status always "inferred".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from softlookup.documents.definitions.find import spellings_of
from softlookup.documents.definitions.names import one_line, term_variants
from softlookup.documents.model import CrossReference, DefinedTerm, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.writing import has_chinese

# a file may have lost the blank: "suchParty"
_SUCH = re.compile(r"\b(?:(?:[Ss]uch|[Ss]aid|[Aa]foresaid|SUCH|SAID)\s+|such(?=[A-Z][a-z]))")
_NOUN = re.compile(r"[a-z]+(?:\s[a-z]+)?\b")
_WORDS = re.compile(r"[\w&/()’'-]+")
_TAILS = ("", "'s", "’s", "'", "’", ")", "’s)", "'s)")
_WORDS_MOST = 9
_NAME_MOST = 120  # characters
_SUCH_ZH = re.compile(r"(?:该等|该|上述|前述|此类|此等)$")
_QUOTES = '"“”„「『＂*_'
# "such Acme Field Scientist" points back to a scientist and not to Acme
_PHRASE_GOES_ON = re.compile(r"[ \n]{1,3}[A-Z][a-z]")
_CAPITALISED_USES = 3  # who writes "Action" so often means something else by "such action"


def anaphora(text: str, positions: ClausePositions, terms: Sequence[DefinedTerm]) -> Iterator[CrossReference]:
    """References by "such X" and 该X to the clauses that define X."""
    defining = _defining(terms)
    yield from _english(text, positions, terms, defining)
    for term in terms if has_chinese(text) else ():
        quoted = term.span.start > 0 and text[term.span.start - 1] in _QUOTES
        for use in term.uses if quoted else ():
            such = _SUCH_ZH.search(text, max(0, use.start - 12), use.start)
            if such:
                yield from _inferred(positions, Span(such.start(), use.end), defining, term)


def _english(
    text: str, positions: ClausePositions, terms: Sequence[DefinedTerm], defining: dict[str, list[DefinedTerm]]
) -> Iterator[CrossReference]:
    spellings = spellings_of(terms)
    lowered: dict[str, DefinedTerm] = {}
    for term in terms:
        if len(term.uses) < _CAPITALISED_USES:
            for spelling in (v for name in (term.term, *term.aliases) for v in term_variants(name)):
                # "such agreement" is rarely the one that is (this "Agreement")
                if spelling != spelling.lower() and (term.kind == "means" or " " in spelling):
                    lowered.setdefault(spelling.lower(), term)
    for match in _SUCH.finditer(text) if terms else ():
        end, indices = _longest(text, match.end(), spellings)
        if indices and _PHRASE_GOES_ON.match(text, end):
            continue
        if indices:  # also inside the definition of the term, where it is no use
            earlier = [index for index in indices if terms[index].span.start < match.start()]
            yield from _inferred(
                positions, Span(match.start(), end), defining, terms[earlier[-1] if earlier else indices[0]]
            )
            continue
        noun = _NOUN.match(text, match.end())
        for name in (noun.group(), noun.group().split()[0]) if noun else ():
            if name in lowered:
                yield from _inferred(positions, Span(match.start(), match.end() + len(name)), defining, lowered[name])
                break


def _longest(text: str, start: int, spellings: dict[str, list[int]]) -> tuple[int, list[int]]:
    """End of the longest spelling at ``start`` and the terms that it stands for; small letters name no term."""
    if text[start : start + 1].islower():
        return start, []
    ends = [match.end() for match in _WORDS.finditer(text, start, start + _NAME_MOST)]
    for end in reversed(ends[:_WORDS_MOST]):
        for shorter in _TAILS:  # (such Losses), such Tenant's
            cut = end - len(shorter)
            indices = spellings.get(one_line(text[start:cut]), []) if text.endswith(shorter, start, end) else []
            if indices:
                return cut, indices
    return start, []


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
