"""What a careful reader would mark in the margin: dangling references, unused, undefined and doubled terms.

Not errors of the reader: the document is as it is. The numbers themselves are flagged by ``structure.py``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from softlookup.documents.definitions import names_party, term_variants
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
_LEAST_UNDEFINED = 2  # a capitalised phrase that occurs once is a title more often than a term
# a phrase after a determiner, inside a sentence: there English capitals mark a term
_PHRASE = re.compile(
    r"\b(?:[Tt]he|[Aa]ny|[Ee]ach|[Ss]uch|[Aa]n?|[Aa]ll|[Ii]ts|[Tt]heir|[Nn]o|[Ee]very|[Oo]ther)[ \n]"
    r"(?P<name>[A-Z][a-z]{2,20}(?:-[A-Z][a-z]{1,20})?(?:[ \n](?:of[ \n](?:the[ \n])?)?[A-Z][a-z]{2,20}){0,3})"
    r"(?=[ \n](?:[a-z(]|[,.;]?[ \n]?$)|[,.;:)’'])"
)
_QUOTED_ZH = re.compile(r"[“「『]([\u4e00-\u9fff]{2,12})[”」』]")
_NEVER_TERMS = re.compile(
    r"(?:Section|Article|Clause|Schedule|Exhibit|Annex|Appendix|Attachment|Paragraph|Agreement|Contract|Lease|State|"
    r"Commonwealth|County|City|Court|Courts|District|Republic|Kingdom|Union|United|Board|Chief|Vice|President|"
    r"Chairman|Secretary|Treasurer|Director|Internet|English|Delaware|New|North|South|West|East|January|February|"
    r"March|April|May|June|July|August|September|October|November|December|Monday|Tuesday|Wednesday|Thursday|"
    r"Friday|Saturday|Sunday|Mr|Mrs|Ms|Dr|Federal|Supreme|International|American|National)\b"
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
    for terms in by_name.values():
        first = terms[0]
        # a pointer ("has the meaning given in clause 7") and the definition there are one definition
        own = [term for term in terms if term.kind != "meaning_given_in"]
        if not any(term.uses for term in terms) and not names_party(document.text, first):
            yield Finding("unused_term", first.span, first.clause, "is used nowhere else")
        for again in own[1:]:
            yield Finding("term_defined_twice", again.span, again.clause, "is defined before")


def _undefined(document: Document) -> Iterator[Finding]:
    defined = {s for t in document.terms for name in (t.term, *t.aliases) for s in term_variants(name)}
    words = {word for name in defined for word in name.split()}
    places: dict[str, list[Span]] = defaultdict(list)
    lower = Counter(re.findall(r"\b[a-z]{3,20}\b", document.text))
    for match in _PHRASE.finditer(document.text):
        name = " ".join(match["name"].split())
        if name in defined or _NEVER_TERMS.match(name) or _LAW.search(name):
            continue
        if all(word in words for word in name.split()):
            continue  # made of defined terms: "Tenant Group Company" of "Tenant" and "Group Company"
        places[name].append(Span(*match.span("name")))
    for match in _QUOTED_ZH.finditer(document.text):
        if match[1] not in defined:
            places[match[1]].append(Span(*match.span(1)))
    for name, spans in places.items():
        rare = not name.isascii() or all(lower[word.lower()] <= 50 * len(spans) for word in name.split())
        if len(spans) >= _LEAST_UNDEFINED and rare:
            clause = document.clause_at(spans[0].start).index
            yield Finding("undefined_term", spans[0], clause, f"is used {len(spans)} times and not defined")


def _numbers(document: Document) -> Iterator[Finding]:
    for clause in document.clauses:
        for flag in clause.flags:
            if flag in _CLAUSE_FLAGS:
                end = min(clause.span.end, clause.span.start + len(clause.number))
                span = Span(clause.span.start, max(clause.span.start, end))
                yield Finding(flag, span, clause.index, _CLAUSE_FLAGS[flag])  # type: ignore[arg-type]
