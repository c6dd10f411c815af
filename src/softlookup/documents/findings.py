"""What a careful reader would mark in the margin: dangling references, unused, undefined and doubled terms.

Not errors of the reader: the document is as it is. The numbers themselves are flagged by ``structure.py``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from softlookup.documents.definitions.find import find_uses, names_party, term_variants
from softlookup.documents.model import DefinedTerm, Document, Span

FindingKind = Literal[
    "dangling_reference", "ambiguous_reference", "stale_reference", "unused_term", "undefined_term",
    "term_defined_twice", "duplicate_number", "out_of_order", "gap_before", "confusable",
]  # fmt: skip
_CLAUSE_FLAGS: dict[str, str] = {
    "duplicate_number": "the number is used more than once at its level",
    "out_of_order": "the number is smaller than the one before it",
    "gap_before": "numbers are missing before this one",
    "confusable": "the label holds letters of another alphabet that look like the usual ones",
}
_UPPER = {ord(letter): ord(letter.upper()) for letter in "abcdefghijklmnopqrstuvwxyz"}
_COMMON_WORD = 50  # times as often in small letters: "the Work" is then no term but a slip
_SAME_PARENTHESIS = 120  # characters between two names of one party
# TARN LIMITED is the company's name, no use of "Tarn"
_COMPANY_GOES_ON = re.compile(
    r"(?:[ \n]+[A-Z][\w&]*){0,3}[ \n,]+"
    r"(?:limited|ltd|plc|inc|llc|llp|corp(?:oration)?|company|gmbh|ag|s\.?a|b\.?v|n\.?v)\b",
    re.IGNORECASE,
)
_PARENTHESIS_ENDS = re.compile(r"[)）\n]")
_LEAST_UNDEFINED = 2  # a capitalised phrase that occurs once is a title more often than a term
# a phrase after a determiner, inside a sentence: there English capitals mark a term
_PHRASE = re.compile(
    r"\b(?:[Tt]he|[Aa]ny|[Ee]ach|[Ss]uch|[Aa]n?|[Aa]ll|[Ii]ts|[Tt]heir|[Nn]o|[Ee]very|[Oo]ther)[ \n]"
    r"(?P<name>[A-Z][a-z]{2,20}(?:-[A-Z][a-z]{1,20})?(?:[ \n](?:of[ \n](?:the[ \n])?)?[A-Z][a-z]{2,20}){0,3})"
    r"(?=[ \n](?:[a-z(]|[,.;]?[ \n]?$)|[,.;:)’'](?!\w))"
)
_QUOTED_ZH = re.compile(r"[“「『]([\u4e00-\u9fff]{2,12})[”」』]")
_NEVER_TERMS = re.compile(
    r"(?:Sections?|Articles?|Clauses?|Schedules?|Exhibits?|Annex(?:es)?|Appendix|Attachments?|Paragraphs?|"
    r"Agreement|Contract|Lease|State|"
    r"Commonwealth|County|City|Court|Courts|District|Republic|Kingdom|Union|United|Board|Chief|Vice|President|"
    r"Chairman|Secretary|Treasurer|Director|Internet|English|Delaware|New|North|South|West|East|January|February|"
    r"March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|"
    r"Friday|Saturday|Sunday|Mr|Mrs|Ms|Dr|Federal|Supreme|International|American|National|Commission|Recitals?|"
    r"Part(?:y|ies))\b"
)
# the phrase goes on: the Securities and Exchange Commission
_GOES_ON = re.compile(r"[ \n](?:and|of|&|for)[ \n](?:the[ \n])?[A-Z]|-[A-Z]")
_PROPER = re.compile(r"\b(?:Republic|Kingdom|States?|Government|Ministry|University|Department|Bank|Courts?)\b")
_DETERMINED = 0.8  # of the places of a word that no common noun looks like stand after "the" or "a" if it is a term
# endings of common nouns; a proper name ("Virginia") has none and is never written small
_COMMON_ENDING = re.compile(
    r"(?:tion|sion|ment|ity|ty|ry|er|or|ing|ee|ance|ence|ure|age|ship|ism|ness|al|ist|ware|date|work|line|site|fee|"
    r"period|plan|price|right|law|cost|loss|tax|mark|name|report|list|area|year|day|program|project|event|notice)(?:s|es)?$",
    re.IGNORECASE,
)
_LAW = re.compile(r"\b(?:Act|Code|Rules?|Law|Regulations?|Statute|Directive|Convention|Treaty)$")


@dataclass(frozen=True, slots=True)
class Finding:
    """One remark about ``text[span]`` in ``clause``; ``detail`` is a sentence part for a person."""

    kind: FindingKind
    span: Span
    clause: int
    detail: str


def find_findings(document: Document) -> tuple[Finding, ...]:
    """All remarks, in document order. Terms "used but not defined" are candidates for a person to judge."""
    found = [*_references(document), *_terms(document), *_undefined(document), *_numbers(document)]
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.kind)))


def _references(document: Document) -> Iterator[Finding]:
    for reference in document.references:
        if reference.status == "dangling":
            yield Finding("dangling_reference", reference.span, reference.source_clause, "names no clause here")
        elif reference.status == "ambiguous":
            detail = f"{len(reference.targets)} clauses have this number"
            yield Finding("ambiguous_reference", reference.span, reference.source_clause, detail)
    for link in document.links:
        if link.computed:
            clause = document.clause_at(link.span.start).index
            detail = f"its target is now numbered {link.computed}"
            yield Finding("stale_reference", link.span, clause, detail)


def _terms(document: Document) -> Iterator[Finding]:
    by_name: dict[str, list[DefinedTerm]] = defaultdict(list)
    for term in document.terms:
        by_name[term.term].append(term)
    unused: list[DefinedTerm] = []
    for terms in by_name.values():
        # a pointer ("has the meaning given in clause 7") and the definition there are one definition
        own = [term for term in terms if term.kind != "meaning_given_in"]
        for again in own[1:]:
            yield Finding("term_defined_twice", again.span, again.clause, "is defined before")
        first = terms[0]
        if any(term.uses for term in terms) or first.term.islower():
            continue
        if not names_party(document.text, first) or _has_another_name(document, first):
            unused.append(first)
    written = _written_otherwise(document.text, unused)
    for term in unused:
        if term.span not in written:
            yield Finding("unused_term", term.span, term.clause, "is used nowhere else")


def _has_another_name(document: Document, party: DefinedTerm) -> bool:
    """Whether the parenthesis that names ``party`` gives it another name, which is used: ("Tarn" or the "Buyer")."""
    return any(
        other.uses
        and other.term != party.term
        and abs(other.span.start - party.span.start) <= _SAME_PARENTHESIS
        and not _PARENTHESIS_ENDS.search(document.text, *sorted((other.span.start, party.span.start)))
        for other in document.terms
    )


def _written_otherwise(text: str, terms: Sequence[DefinedTerm]) -> set[Span]:
    """Spans of those ``terms`` that are used with other capitals, as PROGRAM is by "the Program"."""
    capitals = [replace(term, term=term.term.translate(_UPPER), aliases=()) for term in terms]
    uses = find_uses(text.translate(_UPPER), capitals)
    return {
        terms[use.term].span
        for use in uses
        if not text[use.start : use.end].islower() and not _COMPANY_GOES_ON.match(text, use.end)
    }


def _undefined(document: Document) -> Iterator[Finding]:
    names = {spelling for t in document.terms for name in (t.term, *t.aliases) for spelling in term_variants(name)}
    defined = {name.lower() for name in names}
    places = _capitalised_phrases(document.text, defined)
    for match in _QUOTED_ZH.finditer(document.text):
        if match[1].lower() not in defined:
            places[match[1]].append(Span(*match.span(1)))
    for name in [name for name in places if name.endswith("s") and name[:-1] in places]:
        places[name[:-1]] = sorted(places[name[:-1]] + places.pop(name))
    lower = Counter(re.findall(r"\b[a-z]{3,20}\b", document.text))
    capital = Counter(re.findall(r"\b[A-Z][a-z]{2,20}\b", document.text))
    for name, spans in places.items():
        if len(spans) >= _LEAST_UNDEFINED and (not name.isascii() or _is_term(name, len(spans), lower, capital)):
            clause = document.clause_at(spans[0].start).index
            yield Finding("undefined_term", spans[0], clause, f"is used {len(spans)} times and not defined")


def _capitalised_phrases(text: str, defined: set[str]) -> dict[str, list[Span]]:
    """Phrases that English capitals mark as terms, with their places; none that is ``defined`` or made of such."""
    words = {word for name in defined for word in name.split()}
    places: dict[str, list[Span]] = defaultdict(list)
    for match in _PHRASE.finditer(text):
        name = " ".join(match["name"].split())
        if _NEVER_TERMS.match(name) or _LAW.search(name) or _PROPER.search(name):
            continue
        if _GOES_ON.match(text, match.end("name")):
            continue  # the Securities and Exchange Commission
        parts = re.split(r" of (?:the )?", name.lower())
        if any(part in defined for part in parts) or all(word in words for word in name.lower().split()):
            continue  # Losses of Tenants; "Tenant Group Company" of "Tenant" and "Group Company"
        places[name].append(Span(*match.span("name")))
    return places


def _is_term(name: str, times: int, lower: Counter[str], capital: Counter[str]) -> bool:
    """Whether a phrase that stands ``times`` times after "the" or "a" is a term and no proper name."""
    words = [word for word in name.split() if word not in ("of", "the")]
    rare = all(lower[word.lower()] <= _COMMON_WORD * times for word in words)
    strange = [word for word in words if not lower[word.lower()] and not _COMMON_ENDING.search(word)]
    # in Virginia, under Virginia law: a proper name stands without an article too
    return rare and all(times >= _DETERMINED * max(1, capital[word]) for word in strange)


def _numbers(document: Document) -> Iterator[Finding]:
    for clause in document.clauses:
        for flag in clause.flags:
            if flag in _CLAUSE_FLAGS:
                end = min(clause.span.end, clause.span.start + len(clause.number))
                span = Span(clause.span.start, max(clause.span.start, end))
                yield Finding(flag, span, clause.index, _CLAUSE_FLAGS[flag])  # type: ignore[arg-type]
