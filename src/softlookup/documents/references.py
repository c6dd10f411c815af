"""Cross references between clauses ("Section 5.1(a)", "前款", "such Losses") and what they point to.

Not for the labels themselves (``reference_labels.py``) nor for following references (``retrieval.expand``).
Statuses: resolved; dangling (no such clause in this document); external (a statute or another document);
inferred: the best guess, of three kinds. An anaphor ("such Losses") has the clause that defines the term as its
target; a label that leads nowhere after its first steps (2.2(c) where 2.2 has no (c)) the last clause that
exists; "this clause" inside 7.5 one of 7 and 7.5 where the document calls both of them clauses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from softlookup.documents.definitions import term_variants
from softlookup.documents.label_index import LabelIndex, Place
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
from softlookup.documents.reference_effects import with_effects
from softlookup.documents.reference_labels import LabelKey
from softlookup.documents.reference_links import with_links
from softlookup.documents.reference_mentions import Mention, english_mentions
from softlookup.documents.reference_mentions_zh import chinese_mentions

_RELATIVE_EN = re.compile(
    r"\b(?P<which>this|(?:the\s+)?(?:immediately\s+)?(?:preceding|previous|foregoing|prior|following|next))\s+"
    r"(?P<unit>section|sub-?section|clause|sub-?clause|article|paragraph|sub-?paragraph|schedule|exhibit|annex|appendix)"
    r"\b(?!\s*(?:\d|\(?[ivx]+\)|[IVXLC]+\b|[A-Z]\b))",
    re.IGNORECASE,
)
_RELATIVE_ZH = re.compile(
    r"(?P<which>本|前|上|后|下)(?P<count>一|两|二|三)?(?P<unit>条(?!款|件|例|约|第)|款(?!项|式|额|第)|项(?!目|下|第)|章(?!程|第)|节(?!第)|编(?!第))"
)
_UNIT_KINDS = {"条": "top", "款": "clause", "项": "item", "章": "chapter", "节": "division", "编": "part"}
_STEPS_EN = {"this": 0, "following": 1, "next": 1}
_STEPS_ZH = {"本": 0, "前": -1, "上": -1, "后": 1, "下": 1}
_KINDS_EN = {"article": "article"} | dict.fromkeys(("schedule", "exhibit", "annex", "appendix"), "space")
_CALLED = re.compile(r"(?P<unit>section|clause|article|paragraph)s?\s+\d+(?P<below>\.\d+)?", re.IGNORECASE)
_RARELY = 4  # "clause 7" at least once for so many "clause 7.5": the document does call the whole a clause
_PARAGRAPH_SEARCHED = 20_000  # characters of a clause in which a paragraph break is looked for
_COUNTS = {"一": 1, "两": 2, "二": 2, "三": 3}
_SUCH_BEFORE = re.compile(r"\b(?:such|said|aforesaid)\s+$", re.IGNORECASE)
_SUCH_NOUN = re.compile(r"\b(?:such|said)\s+([a-z]+(?:\s[a-z]+)?)\b")
_SUCH_ZH = re.compile(r"(?:该等|该|上述|前述|此类|此等)$")


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
    explicit = list(_explicit(text, positions, labels))
    levels = _levels_called(text, explicit)
    found = chain(
        explicit,
        _relative_english(text, positions, labels, levels),
        _relative_chinese(text, positions, labels),
        _anaphora(text, positions, terms),
    )
    result: list[CrossReference] = []
    linked = with_links(found, links, positions)
    for reference in sorted(linked, key=lambda r: (r.span.start, -r.span.end)):
        if not result or result[-1].span.end <= reference.span.start:
            result.append(reference)
    return tuple(with_effects(text, result))


def _explicit(text: str, positions: ClausePositions, labels: LabelIndex) -> Iterator[CrossReference]:
    starts = {_first_character(text, clause) for clause in positions.clauses if clause.number}
    for mention in chain(english_mentions(text), chinese_mentions(text)):
        source = positions.innermost(mention.span.start)
        if source is None or mention.span.start in starts:
            continue
        yield _resolved(text, mention, source, labels)


def _first_character(text: str, clause: Clause) -> int:
    inside = text[clause.span.start : clause.span.start + 200]
    return clause.span.start + len(inside) - len(inside.lstrip("#>* \t\n　"))


def _resolved(text: str, mention: Mention, source: int, labels: LabelIndex) -> CrossReference:
    status: ReferenceStatus = "external"
    targets: tuple[int, ...] = ()
    if not mention.external:
        place, targets = _targets(text, mention, source, labels)
        status = "dangling" if place is None else "resolved" if place.exact else "inferred"
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
        return labels.find(key, source, mention.within, mention.head)
    step, unit = mention.base  # 本条第二款, 前款第一项
    if unit == "款":
        homes = _paragraph_targets(text, mention.span.start, step, 1, source, labels)
    else:
        kinds = ("top", "clause") if unit == "条" else (_UNIT_KINDS[unit],)
        homes = tuple(chain.from_iterable(_relative_targets(step, kind, 1, source, labels) for kind in kinds))
    places = [labels.walk(home, key.parts) for home in dict.fromkeys(homes)]
    return next((place for place in places if place.exact), places[0] if places else None)


def _levels_called(text: str, explicit: Sequence[CrossReference]) -> Counter[tuple[str, bool]]:
    """How often the document says "clause 7" (("clause", True)) and "clause 7.5" (("clause", False))."""
    called: Counter[tuple[str, bool]] = Counter()
    for reference in explicit:
        printed = _CALLED.match(text, reference.span.start, reference.span.end)
        if printed and reference.targets:
            called[printed["unit"].lower(), printed["below"] is None] += 1
    return called


def _relative_english(
    text: str, positions: ClausePositions, labels: LabelIndex, levels: Counter[tuple[str, bool]]
) -> Iterator[CrossReference]:
    for match in _RELATIVE_EN.finditer(text):
        source = positions.innermost(match.start())
        if source is None:
            continue
        step = _STEPS_EN.get(match["which"].lower().split()[-1], -1)
        unit = match["unit"].lower().replace("-", "")
        kind = _KINDS_EN.get(unit, "item" if unit.startswith("sub") else "clause")
        targets = _relative_targets(step, kind, 1, source, labels)
        status: ReferenceStatus = "resolved"
        if kind == "clause" and step == 0 and targets:
            targets, status = _this_clause(unit, targets[0], source, labels, levels)
        yield from _relative_reference(match.span(), source, targets, status)


def _this_clause(
    unit: str, inner: int, source: int, labels: LabelIndex, levels: Counter[tuple[str, bool]]
) -> tuple[tuple[int, ...], ReferenceStatus]:
    """The clause that "this clause" means inside 7.5: 7 or 7.5, whichever level the document calls so.

    A document that calls both so is unclear. In the British usage of "clause" the whole of clause 7 is then
    likelier ("not liable under this clause" at the head of an exception), else the innermost number is.
    """
    top = labels.enclosing(source, "top")
    if top is None or top == inner:
        return (inner,), "resolved"
    whole, part = levels[unit, True], levels[unit, False]
    if whole and not part:
        return (top,), "resolved"
    if part and not whole:
        return (inner,), "resolved"
    british = unit == "clause" and whole * _RARELY >= part and whole > 0
    return (top if british else inner,), "inferred"


def _relative_chinese(text: str, positions: ClausePositions, labels: LabelIndex) -> Iterator[CrossReference]:
    for match in _RELATIVE_ZH.finditer(text):
        source = positions.innermost(match.start())
        step = _STEPS_ZH[match["which"]]
        vague = match["which"] in "上下后" and not (match["count"] or match["unit"] in "条款")
        if source is None or vague or (step == 0 and match["count"]):
            continue
        count = _COUNTS.get(match["count"] or "一", 1)
        if match["unit"] == "款":
            targets = _paragraph_targets(text, match.start(), step, count, source, labels)
        else:
            targets = _relative_targets(step, _UNIT_KINDS[match["unit"]], count, source, labels)
        yield from _relative_reference(match.span(), source, targets, "resolved")


def _relative_reference(
    place: tuple[int, int], source: int, targets: tuple[int, ...], status: ReferenceStatus
) -> Iterator[CrossReference]:
    """One reference, or none without targets: "this Article" is then the whole document.

    A preceding paragraph that is no clause of its own does not count as a missing clause either.
    """
    if targets:
        yield CrossReference(Span(*place), source, targets, status, kind="relative")


def _relative_targets(step: int, kind: str, count: int, source: int, labels: LabelIndex) -> tuple[int, ...]:
    """Clauses meant by "this Section" (step 0), 前条 (step -1, ``count`` of them), "next clause" (step 1)."""
    home = labels.enclosing(source, kind)
    if home is None or step == 0:
        return () if home is None else (home,)
    return labels.neighbours(home, 1, count) if step > 0 else labels.neighbours(home, -count, -1)


def _paragraph_targets(
    text: str, offset: int, step: int, count: int, source: int, labels: LabelIndex
) -> tuple[int, ...]:
    """Clauses meant by 本款 and 前款: a 款 is a paragraph, which may or may not be a clause of its own."""
    source = labels.paragraph_of(source)
    clause = labels.clause(source)
    article = labels.enclosing(source, "clause")
    if step == 0:
        return (source,)
    # the paragraph before may stand in the same clause
    if "\n" in text[clause.span.start : min(offset, clause.span.start + _PARAGRAPH_SEARCHED)].lstrip():
        return (source if article is None else article,)
    beside = labels.neighbours(source, -count, -1) if step < 0 else labels.neighbours(source, 1, count)
    if beside:
        return beside
    return (clause.parent,) if clause.parent is not None and step < 0 else ()


def _anaphora(text: str, positions: ClausePositions, terms: Sequence[DefinedTerm]) -> Iterator[CrossReference]:
    seen: set[int] = set()
    for term in terms:
        for use in term.uses:
            before = text[max(0, use.start - 12) : use.start]
            such = _SUCH_BEFORE.search(before) or _SUCH_ZH.search(before)
            if such:
                seen.add(use.start)
                yield from _inferred(positions, Span(use.start - len(such.group()), use.end), term)
    lowered: dict[str, DefinedTerm] = {}
    for term in terms:
        for spelling in (v for name in (term.term, *term.aliases) for v in term_variants(name)):
            lowered.setdefault(spelling.lower(), term)
    for match in _SUCH_NOUN.finditer(text):
        if match.start(1) in seen:
            continue
        noun = match.group(1)
        for name in (noun, noun.split()[0]):
            if name in lowered:
                span = Span(match.start(), match.start(1) + len(name))
                yield from _inferred(positions, span, lowered[name])
                break


def _inferred(positions: ClausePositions, span: Span, term: DefinedTerm) -> Iterator[CrossReference]:
    source = positions.innermost(span.start)
    if source is not None and source != term.clause:
        yield CrossReference(span, source, (term.clause,), "inferred", kind="anaphora")
