"""Cross references between clauses ("Section 5.1(a)", "前款", "such Losses") and what they point to.

Not for the labels themselves (``reference_labels.py``) nor for following references (``retrieval.expand``).
Statuses: resolved; dangling (no such clause in this document); external (a statute or another document);
inferred: the best guess, of three kinds. An anaphor ("such Losses") has the clause that defines the term as its
target; a label that leads nowhere after its first steps (2.2(c) where 2.2 has no (c)) the last clause that
exists; "this clause" inside 7.5 one of 7 and 7.5 where the document calls both of them clauses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from softlookup.documents.definitions.names import term_variants
from softlookup.documents.model import (
    Clause,
    CrossReference,
    DefinedTerm,
    Link,
    ReferenceKind,
    ReferenceStatus,
    Span,
)
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.anaphora import anaphora
from softlookup.documents.references.effects import with_effects
from softlookup.documents.references.label_index import LabelIndex
from softlookup.documents.references.label_steps import Place
from softlookup.documents.references.label_titles import TitleIndex
from softlookup.documents.references.labels import LabelKey
from softlookup.documents.references.links import with_links
from softlookup.documents.references.mentions import Mention, english_mentions
from softlookup.documents.references.mentions_zh import chinese_mentions
from softlookup.documents.references.outside import statute_mentions
from softlookup.documents.references.papers import Papers
from softlookup.documents.references.relative import (
    homes_of,
    levels_called,
    relative_chinese,
    relative_english,
    same_chinese,
)
from softlookup.documents.writing import has_chinese, simplified

_THEREOF_WITHIN = 200  # characters
_CAPITALISED = re.compile(r"[A-Z][\w’'&-]*(?:\s+[A-Z][\w’'&-]*){0,6}")
_GAP = re.compile(r"\n|\s{3}")
_LABEL_MOST = 40  # characters before the heading of a clause
_HEADING_MOST = 80  # characters of a label and its heading
_HEADING_ENDS = re.compile(r"[\n。；，;,:：]|\.\s")
_BELOW = re.compile(r"(?i:(?:sub-?)?paragraphs?)\s|\w+\s+[A-Z](?!\w)")
_LETTERED = re.compile(r"(\d+)([a-z])")
_ROMAN_LABEL = re.compile(r"(?:[A-Za-z.-]+|§+)\s+[\"“]?[IVXLC]+(?![A-Za-z])")
_LONE_ITEM = re.compile(r"\(([A-Za-z]{1,4})\)$")
_OF_DEFINITION = re.compile(
    r"(?:[”\"]?(?:\s*,|\s*,?\s+(?:and|or|and/or|to|through))\s*[“\"]?(?:\([A-Za-z0-9]{1,5}\)){1,3}[”\"]?){0,20}"
    r"\s+(?:of|in)\s+the\s+definition\s+(?:(?P<same>thereof)|of)\s*(?:the\s+term\s+)?[\"“]?(?P<name>[A-Z][\w’'&-]*(?:\s+(?:of\s+|and\s+)?[A-Z][\w’'&-]*){0,6})?"
)
_RECITALS = re.compile(r"(?<=[Tt]he[ \n])Recitals?\b|\bRecitals?(?=[ \n]\(?[A-Z1-9]\)?\b)")


def find_references(
    text: str, clauses: tuple[Clause, ...], terms: Sequence[DefinedTerm], links: Sequence[Link] = ()
) -> tuple[CrossReference, ...]:
    """Cross references in document order: explicit, relative, external and anaphoric ones, fields of the file.

    A list ("Sections 5.1, 5.2 or 5.3") gives one reference for each label, a range one with several targets.
    ``effect`` says how the source clause stands to the target. Text outside all clauses is not searched.
    Where the file itself links the words to a paragraph (``links``), that is the target, whatever is printed.
    """
    positions = ClausePositions(clauses)
    labels = LabelIndex(text, positions)
    titles = TitleIndex(text, clauses)
    plain = simplified(text)  # of the same length
    explicit = list(_explicit(text, plain, positions, labels, terms))
    levels = levels_called(plain, explicit)
    placed = [*explicit, *relative_chinese(plain, positions, labels, titles, levels)]
    found = chain(
        placed,
        same_chinese(plain, positions, placed),
        relative_english(text, positions, labels, levels, explicit),
        _statutes(text, positions),
        _recitals(text, positions, titles),
        anaphora(text, positions, terms),
    )
    result: list[CrossReference] = []
    linked = with_links(found, links, positions)
    for reference in sorted(linked, key=lambda r: (r.span.start, -r.span.end)):
        if not result or result[-1].span.end <= reference.span.start:
            result.append(reference)
    return tuple(with_effects(plain, result))


def _explicit(
    text: str, plain: str, positions: ClausePositions, labels: LabelIndex, terms: Sequence[DefinedTerm]
) -> Iterator[CrossReference]:
    starts = {_first_character(text, clause) for clause in positions.clauses if clause.number}
    defined = {name: term for term in reversed(terms) for name in (term.term, *term.aliases)}
    for mention in chain(english_mentions(text, Papers(text, terms)), chinese_mentions(plain, terms)):
        source = positions.innermost(mention.span.start)
        if source is None or _crosses(text, mention.span, positions):
            continue
        if mention.span.start in starts or _is_title(text, mention, positions.clauses[source]):
            continue
        named = _OF_DEFINITION.match(text, mention.span.end) if mention.key.kind == "item" else None
        term = _term_named(text, named, mention, defined) if named else None
        if term is not None:  # clause (a) of the definition of "Permitted Liens"
            place = labels.walk(term.clause, mention.key.parts)
            status: ReferenceStatus = "resolved" if place.exact else "inferred"
            yield CrossReference(mention.span, source, (place.clause,), status, kind=_kind(mention, status))
            continue
        reference = _resolved(plain, mention, source, labels)
        if reference.targets == (source,) and _translates_label(text, mention.span, positions.clauses[source]):
            continue
        if reference.targets or not mention.bare:
            yield reference


def _term_named(
    text: str, named: re.Match[str], mention: Mention, defined: Mapping[str, DefinedTerm]
) -> DefinedTerm | None:
    """The term whose definition holds the item: that of a name, or "Liens under (a) of the definition thereof"."""
    if not named["same"]:
        return defined.get(" ".join((named["name"] or "").split()))
    before = text[max(0, mention.span.start - _THEREOF_WITHIN) : mention.span.start]
    for words in reversed(_CAPITALISED.findall(before)):
        name = " ".join(words.split())
        term = next((defined[spelling] for spelling in term_variants(name) if spelling in defined), None)
        if term is not None:
            return term
    return None


def _crosses(text: str, span: Span, positions: ClausePositions) -> bool:
    """Whether a heading ends in the word and the next clause begins with the number: "Sales of Articles", "14.1"."""
    printed = text[span.start : span.end]
    return bool(_GAP.search(printed)) and positions.innermost(span.start) != positions.innermost(span.end - 1)


def _is_title(text: str, mention: Mention, clause: Clause) -> bool:
    """Whether the mention is the heading of its clause: "SECTION 5.21 SECTION 203." about a statute."""
    printed = text[mention.span.start : mention.span.end]
    return clause.heading == printed and len(text[clause.span.start : mention.span.start]) < _LABEL_MOST


def _translates_label(text: str, span: Span, clause: Clause) -> bool:
    """Whether a heading repeats its own label in the other language: 第一条 定义 Article 1 Definitions."""
    before = text[clause.span.start : span.start]
    if len(before) > _HEADING_MOST or _HEADING_ENDS.search(before[len(clause.number) :].lstrip(".、 ")):
        return False
    return has_chinese(clause.number) != has_chinese(text[span.start : span.end])


def _statutes(text: str, positions: ClausePositions) -> Iterator[CrossReference]:
    for span in statute_mentions(text):
        source = positions.innermost(span.start)
        if source is not None:
            yield CrossReference(span, source, (), "external", kind="external")


def _recitals(text: str, positions: ClausePositions, titles: TitleIndex) -> Iterator[CrossReference]:
    """References to "the Recitals": none when the document has no clause that looks like them."""
    matches = list(_RECITALS.finditer(text)) if "ecital" in text else []
    target = titles.recitals() if matches else None
    for match in matches if target is not None else ():
        source = positions.innermost(match.start())
        if source is not None and target is not None and source != target:
            yield CrossReference(Span(*match.span()), source, (target,), "resolved")


def _first_character(text: str, clause: Clause) -> int:
    inside = text[clause.span.start : clause.span.start + 200]
    return clause.span.start + len(inside) - len(inside.lstrip("#>* \t\n　"))


def _resolved(text: str, mention: Mention, source: int, labels: LabelIndex) -> CrossReference:
    status: ReferenceStatus = "external"
    targets: tuple[int, ...] = ()
    if not mention.external:
        place, targets = _targets(text, mention, source, labels)
        status = "dangling" if place is None else "resolved" if place.exact else "inferred"
        if place is not None and place.rivals and mention.last is None:
            targets, status = tuple(sorted((*targets, *place.rivals))), "ambiguous"
        around = labels.enclosing(source, "clause") if mention.own and place is None else None
        if around is not None:  # "this Section 5" in a clause whose own number was not recognised
            targets, status = (around,), "inferred"
        if not targets and mention.likely_statute:
            status = "external"
    return CrossReference(mention.span, source, targets, status, kind=_kind(mention, status))


def _kind(mention: Mention, status: ReferenceStatus) -> ReferenceKind:
    if status == "external":
        return "external"
    if mention.last is not None:
        return "range"
    return "relative" if mention.base is not None else "list" if mention.listed else "explicit"


def _targets(text: str, mention: Mention, source: int, labels: LabelIndex) -> tuple[Place | None, tuple[int, ...]]:
    """Where the label leads, and the clauses it names: several for a range."""
    first = _place(text, mention, mention.key, source, labels)
    if first is None:
        return None, ()
    if mention.last is None:
        return first, (first.clause,)
    last = _place(text, mention, mention.last, source, labels)
    if last is None:
        return first._replace(exact=False), (first.clause,)
    return Place(first.clause, first.exact and last.exact), labels.between(first.clause, last.clause)


def _place(text: str, mention: Mention, key: LabelKey, source: int, labels: LabelIndex) -> Place | None:
    if mention.base is None:
        item = _LONE_ITEM.search(text, mention.span.start, mention.span.end) if key.kind == "item" else None
        capital = item.group(1).isupper() if item else None
        place = labels.find(key, source, mention.within, mention.head, capital=capital)
        return place or _printed_otherwise(text, mention, key, source, labels)
    homes = homes_of(text, mention.span.start, mention.base, source, labels)  # 本条第二款, 前款第一项
    places = [labels.walk(home, key.parts) for home in dict.fromkeys(homes)]
    return next((place for place in places if place.exact), places[0] if places else None)


def _roman(text: str, mention: Mention, key: LabelKey, source: int, labels: LabelIndex) -> Place | None:
    """Where "Section II.A.1" and "Paragraph I(A)" lead in an outline whose headings are "I.", "A." and "1."."""
    if not _ROMAN_LABEL.match(text, mention.span.start, mention.span.end):
        return None
    heading = labels.find(LabelKey("roman", key.parts[:1]), source)
    if heading is None:
        return None
    place = labels.walk(heading.clause, key.parts[1:])
    return place if place.exact or len(key.parts) > 1 else None


def _printed_otherwise(text: str, mention: Mention, key: LabelKey, source: int, labels: LabelIndex) -> Place | None:
    """Where a number leads that no clause carries as it is printed: "subparagraph 1" of a list, "Section D", "9D"."""
    if key.kind not in ("clause", "article") or mention.within:
        return None
    roman = _roman(text, mention, key, source, labels)
    if roman is not None or key.kind == "article":
        return roman
    if len(key.parts) == 1 and _BELOW.match(text, mention.span.start):
        return labels.find(LabelKey("item", key.parts), source)
    lettered = _LETTERED.fullmatch(key.parts[-1])  # clause 9D, printed as 9 and D)
    steps = (*key.parts[:-1], *lettered.groups()) if lettered else ()
    place = labels.find(LabelKey(key.kind, steps), source, head=mention.head) if steps else None
    return place if place is not None and place.exact else None
