"""Cross references between clauses ("Section 5.1(a)", "前款", "such Losses") and what they point to.

Not for the labels themselves (``reference_labels.py``) nor for following references (``retrieval.expand``).
Statuses: resolved; dangling (no such clause in this document); external (a statute or another document);
inferred (an anaphor such as "such Losses", resolved to the definition of the term).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from softlookup.documents.definitions import find_uses, term_variants
from softlookup.documents.model import (
    Clause,
    CrossReference,
    DefinedTerm,
    ReferenceStatus,
    Span,
)
from softlookup.documents.positions import ClausePositions
from softlookup.documents.reference_effects import effect_of
from softlookup.documents.reference_labels import LabelIndex, LabelKey
from softlookup.documents.reference_mentions import Mention, chinese_mentions, english_mentions

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
_COUNTS = {"一": 1, "两": 2, "二": 2, "三": 3}
_SUCH_BEFORE = re.compile(r"\b(?:such|said|aforesaid)\s+$", re.IGNORECASE)
_SUCH_NOUN = re.compile(r"\b(?:such|said)\s+([a-z]+(?:\s[a-z]+)?)\b")
_SUCH_ZH = re.compile(r"(?:该等|该|上述|前述|此类|此等)$")


def find_references(text: str, clauses: tuple[Clause, ...], terms: Sequence[DefinedTerm]) -> tuple[CrossReference, ...]:
    """Cross references in document order: explicit, relative, external and anaphoric ones.

    A list ("Sections 5.1, 5.2 or 5.3") gives one reference for each label, a range one with several targets.
    ``effect`` says how the source clause stands to the target. Text outside all clauses is not searched.
    """
    positions = ClausePositions(clauses)
    labels = LabelIndex(text, positions)
    found = [
        *_explicit(text, positions, labels),
        *_relative_english(text, positions, labels),
        *_relative_chinese(text, positions, labels),
        *_anaphora(text, positions, terms),
    ]
    result: list[CrossReference] = []
    for reference in sorted(found, key=lambda r: (r.span.start, -r.span.end)):
        if not result or result[-1].span.end <= reference.span.start:
            result.append(reference)
    return tuple(result)


def _explicit(text: str, positions: ClausePositions, labels: LabelIndex) -> Iterator[CrossReference]:
    starts = {_first_character(text, clause) for clause in positions.clauses if clause.number}
    for mention in (*english_mentions(text), *chinese_mentions(text)):
        source = positions.innermost(mention.span.start)
        if source is None or mention.span.start in starts:
            continue
        yield _resolved(text, mention, source, labels)


def _first_character(text: str, clause: Clause) -> int:
    inside = text[clause.span.start : clause.span.start + 200]
    return clause.span.start + len(inside) - len(inside.lstrip("#>* \t\n　"))


def _resolved(text: str, mention: Mention, source: int, labels: LabelIndex) -> CrossReference:
    status: ReferenceStatus
    targets: tuple[int, ...] = ()
    if mention.external:
        status = "external"
    else:
        targets = _targets(text, mention, source, labels)
        status = "resolved" if targets else "dangling"
        around = labels.enclosing(source, "clause") if mention.own and not targets else None
        if around is not None:  # "this Section 5" in a clause whose own number was not recognised
            targets, status = (around,), "inferred"
        if not targets and mention.likely_statute:
            status = "external"
    return CrossReference(mention.span, source, targets, status, effect_of(text, mention.span))


def _targets(text: str, mention: Mention, source: int, labels: LabelIndex) -> tuple[int, ...]:
    if mention.base:  # 本条第二款, 前条第一款
        step, kind = mention.base
        if kind == "paragraph":
            base = _paragraph_targets(text, mention.span.start, step, 1, source, labels)
        else:
            base = _relative_targets(step, kind, 1, source, labels)
        if not base:
            return ()
        key = labels.key_of(base[0])
        exact = labels.find(LabelKey(key.kind, (*key.parts, *mention.key.parts)), source) if key else None
        return (exact if exact is not None else base[0],)
    first = labels.find(mention.key, source, mention.within)
    if first is None:
        return ()
    if mention.last is None:
        return (first,)
    last = labels.find(mention.last, source, mention.within)
    return (first,) if last is None else labels.between(first, last)


def _relative_english(text: str, positions: ClausePositions, labels: LabelIndex) -> Iterator[CrossReference]:
    for match in _RELATIVE_EN.finditer(text):
        source = positions.innermost(match.start())
        if source is None:
            continue
        step = _STEPS_EN.get(match["which"].lower().split()[-1], -1)
        unit = match["unit"].lower().replace("-", "")
        kind = _KINDS_EN.get(unit, "item" if unit.startswith("sub") else "clause")
        targets = _relative_targets(step, kind, 1, source, labels)
        yield from _relative_reference(text, match.span(), source, targets, step)


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
        yield from _relative_reference(text, match.span(), source, targets, step)


def _relative_reference(
    text: str, place: tuple[int, int], source: int, targets: tuple[int, ...], step: int
) -> Iterator[CrossReference]:
    """One reference, or none without targets: "this Article" is then the whole document.

    A preceding paragraph that is no clause of its own does not count as a missing clause either.
    """
    if targets:
        span = Span(*place)
        yield CrossReference(span, source, targets, "resolved", effect_of(text, span, preceding=step < 0))


def _relative_targets(step: int, kind: str, count: int, source: int, labels: LabelIndex) -> tuple[int, ...]:
    """Clauses meant by "this Section" (step 0), 前条 (step -1, ``count`` of them), "next clause" (step 1)."""
    home = labels.enclosing(source, kind)
    if home is None or step == 0:
        return () if home is None else (home,)
    siblings = labels.siblings(home)
    place = siblings.index(home)
    if step > 0:
        return tuple(siblings[place + 1 : place + 1 + count])
    return tuple(siblings[max(0, place - count) : place])


def _paragraph_targets(
    text: str, offset: int, step: int, count: int, source: int, labels: LabelIndex
) -> tuple[int, ...]:
    """Clauses meant by 本款 and 前款: a 款 is a paragraph, which may or may not be a clause of its own."""
    clause = labels.clause(source)
    article = labels.enclosing(source, "clause")
    home = source if article is None else article
    if step == 0:
        return (source,)
    if "\n" in text[clause.span.start : offset].strip():  # the paragraph before stands in the same clause
        return (home,)
    siblings = labels.siblings(source)
    place = siblings.index(source)
    beside = siblings[max(0, place - count) : place] if step < 0 else siblings[place + 1 : place + 1 + count]
    if beside:
        return tuple(beside)
    return (clause.parent,) if clause.parent is not None and step < 0 else ()


def _anaphora(text: str, positions: ClausePositions, terms: Sequence[DefinedTerm]) -> Iterator[CrossReference]:
    seen: set[int] = set()
    for use in find_uses(text, terms):
        before = text[max(0, use.start - 12) : use.start]
        such = _SUCH_BEFORE.search(before) or _SUCH_ZH.search(before)
        if such:
            seen.add(use.start)
            yield from _inferred(positions, Span(use.start - len(such.group()), use.end), terms[use.term])
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
        yield CrossReference(span, source, (term.clause,), "inferred")
