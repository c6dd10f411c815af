"""References that name a clause by its place: "this Section", "the preceding clause", 本条, 前款, 该条.

Labels with a number, also 本条第二款, are read by ``reference_mentions_zh.py``; their relative part leads here.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from softlookup.documents.model import CrossReference, ReferenceStatus, Span
from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.label_index import LabelIndex
from softlookup.documents.references.label_titles import TitleIndex
from softlookup.documents.references.labels import ZH_DIGITS, label_key
from softlookup.documents.writing import has_chinese, has_english

_RELATIVE_EN = re.compile(
    r"\b(?P<which>this|(?:the\s+)?(?:immediately\s+)?(?:preceding|previous|foregoing|prior|following|next))\s+"
    r"(?P<unit>section|sub-?section|clause|sub-?clause|article|paragraph|sub-?paragraph|schedule|exhibit|annex|appendix)"
    r"\b(?!\s*(?:\d|[\"“]?\(?[a-z0-9]{1,4}\)|[IVXLC]+\b|[A-Z]\b))",
    re.IGNORECASE,
)
_NOT_ZH = {
    "条": r"款|件|例|约(?!定)|第|前",
    "款": r"项|式|额|第",
    "项": r"目|下|第",
    "章": r"程|第",
    "节": r"第",
    "编": r"第",
}
_RELATIVE_ZH = re.compile(
    rf"(?P<home>本条|第[{ZH_DIGITS}\d]{{1,9}}条)?(?P<which>本|前|上|后|(?<!以)下)(?P<count>[一两二三四五])?(?P<unit>"
    + "|".join(f"{unit}(?!{rest})" for unit, rest in _NOT_ZH.items())
    + r")(?P<named>通则|总则|附则|一般规定)?"
)
_SAME_ZH = re.compile(r"该(?P<unit>条(?!款|件|例|约(?!定)|第)|款(?!项|式|额|第)|项(?!目|下|第))")
_SAME_WITHIN = 80  # characters: 该条 is the article that was named last
_UNIT_KINDS = {"条": "top", "款": "clause", "项": "item", "章": "chapter", "节": "division", "编": "part"}
_STEPS_EN = {"this": 0, "following": 1, "next": 1}
_STEPS_ZH = {"本": 0, "前": -1, "上": -1, "后": 1, "下": 1}
_KINDS_EN = {"article": "article"} | dict.fromkeys(("schedule", "exhibit", "annex", "appendix"), "space")
_CALLED = re.compile(
    rf"(?:(?P<unit>section|clause|article|paragraph)s?\s+\d+(?P<below>\.\d+)?"
    rf"|第\s*[{ZH_DIGITS}\d]{{1,12}}(?P<below_zh>\.\d{{1,4}})?[\d.]{{0,20}}(?P<unit_zh>条))",
    re.IGNORECASE,
)
_OF_THE_PART = re.compile(r"\b(?:for\s+(?:the\s+)?purposes?\s+of|nothing\s+in)\s+$", re.IGNORECASE)
# "the Supplier's obligations under this Section are subject to": what stands in other parts of the whole
_FOR_PURPOSE_ZH = re.compile(r"为本条(?:之|的)?目的")
_WHOLE = re.compile(
    r"\b(?:(?:obligations|rights|remedies|warranties|indemnities|covenants)(?:\s+(?:set\s+forth|contained|stated|given))?"
    r"\s+(?:in|under|of)|(?:breach(?:es)?|violations?)\s+of|failure\s+to\s+comply\s+with)\s+$",
    re.IGNORECASE,
)
_RARELY = 4  # "clause 7" at least once for so many "clause 7.5": the document does call the whole a clause
_THIS = re.compile(r"\bthis\s+$", re.IGNORECASE)
_PARAGRAPH_SEARCHED = 20_000  # characters of a clause in which a paragraph break is looked for
_COUNTS = {"一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5}

Levels = Counter[tuple[str, bool]]


def levels_called(text: str, explicit: Sequence[CrossReference]) -> Levels:
    """How often the document says "clause 7" (("clause", True)) and "clause 7.5" (("clause", False))."""
    called: Levels = Counter()
    for reference in explicit:
        printed = _CALLED.match(text, reference.span.start, reference.span.end)
        if printed and reference.targets:
            unit = printed["unit"] or printed["unit_zh"]
            called[unit.lower(), (printed["below"] or printed["below_zh"]) is None] += 1
    return called


def relative_english(
    text: str, positions: ClausePositions, labels: LabelIndex, levels: Levels, explicit: Sequence[CrossReference] = ()
) -> Iterator[CrossReference]:
    """References such as "this Section"; none without target: "this Article" is then the whole document.

    ``explicit`` are the references with a label: "this Section 18" tells what "this Section" is in the same clause.
    """
    own = {
        (r.source_clause, text[r.span.start : r.span.end].split(maxsplit=1)[0].lower()): r.targets[0]
        for r in explicit
        if r.targets and _THIS.search(text, max(0, r.span.start - 6), r.span.start)
    }
    for match in _RELATIVE_EN.finditer(text) if has_english(text) else ():
        source = positions.innermost(match.start())
        if source is None:
            continue
        step = _STEPS_EN.get(match["which"].lower().split()[-1], -1)
        unit = match["unit"].lower().replace("-", "")
        kind = _KINDS_EN.get(unit, "item" if unit.startswith("sub") else "clause")
        targets = relative_targets(step, kind, 1, source, labels)
        status: ReferenceStatus = "resolved"
        if kind == "clause" and step == 0 and targets:
            inner, before = targets[0], max(0, match.start() - 50)
            part = _OF_THE_PART.search(text, before, match.start()) is not None
            targets, status = this_clause(unit, inner, source, labels, levels, part=part)
            if status == "inferred" and not part and targets == (inner,):
                whole = labels.enclosing(source, "top")
                named = own.get((source, unit))  # "breach of this Section 18 ... of this Section"
                if whole is not None and (_WHOLE.search(text, before, match.start()) or named == whole):
                    targets = (whole,)
        yield from _reference(match.span(), source, targets, status)


def this_clause(
    unit: str, inner: int, source: int, labels: LabelIndex, levels: Levels, *, part: bool = False
) -> tuple[tuple[int, ...], ReferenceStatus]:
    """The clause that "this clause" means inside 7.5: 7 or 7.5, whichever level the document calls so.

    A document that calls both so is unclear. In the British usage of "clause", and for a 条, the whole of clause 7
    is then likelier ("not liable under this clause" at the head of an exception), else the innermost number is, as
    it is after the words "for the purposes of" and "nothing in" (``part``).
    """
    top = labels.enclosing(source, "top")
    if top is None or top == inner:
        return (inner,), "resolved"
    whole, below = levels[unit, True], levels[unit, False]
    if whole and not below:
        return (top,), "resolved"
    if below and not whole:
        return (inner,), "resolved"
    british = unit in ("clause", "条") and whole * _RARELY >= below and whole > 0 and not part
    return (top if british else inner,), "inferred"


def relative_chinese(
    text: str, positions: ClausePositions, labels: LabelIndex, titles: TitleIndex, levels: Levels
) -> Iterator[CrossReference]:
    """本条, 前款, 前两款, 本条前三款, 本章, 本编通则, and 下款."""
    for match in _RELATIVE_ZH.finditer(text) if has_chinese(text) else ():
        source = positions.innermost(match.start())
        step = _STEPS_ZH[match["which"]]
        vague = match["which"] in "上下后" and not (match["count"] or match["unit"] in "条款")
        if source is None or vague or (step == 0 and match["count"]):
            continue
        targets, status = _chinese_targets(text, match, step, source, labels, titles, levels)
        start = match.start() if match["home"] and match["unit"] == "款" else match.start("which")
        end = match.end() if match["named"] and targets else match.end("unit")
        yield from _reference((start, end), source, targets, status)


def _chinese_targets(
    text: str, match: re.Match[str], step: int, source: int, labels: LabelIndex, titles: TitleIndex, levels: Levels
) -> tuple[tuple[int, ...], ReferenceStatus]:
    count = _COUNTS.get(match["count"] or "一", 1)
    unit = match["unit"]
    if match["home"] and unit == "款" and step == -1:  # 本条前三款: the first three paragraphs
        home = _home(match["home"], source, labels)
        return (() if home is None else tuple(labels.paragraphs(home)[:count])), "resolved"
    if unit == "款":
        return paragraph_targets(text, match.start("which"), step, count, source, labels), "resolved"
    targets = relative_targets(step, _UNIT_KINDS[unit], count, source, labels)
    if unit == "编" and step == 0 and not targets:
        targets = titles.book(source)
    if match["named"] and targets:
        targets = titles.headed(match["named"], targets[0]) or targets
    inner = labels.enclosing(source, "clause") if unit == "条" and step == 0 and targets else None
    if inner is not None and inner != targets[0] and levels["条", False] and labels.counted_through(inner):
        part = _FOR_PURPOSE_ZH.match(text, max(0, match.start("which") - 1)) is not None
        return this_clause("条", inner, source, labels, levels, part=part)
    return targets, "resolved"


def _home(printed: str, source: int, labels: LabelIndex) -> int | None:
    if printed == "本条":
        return labels.enclosing(source, "top")
    key = label_key(printed)
    place = labels.find(key, source) if key is not None else None
    return None if place is None else place.clause


def same_chinese(
    text: str, positions: ClausePositions, references: Sequence[CrossReference]
) -> Iterator[CrossReference]:
    """该条 and 该款: the clause of the reference before it, which must stand close."""
    ordered = sorted(references, key=lambda r: r.span.end)
    ends = [reference.span.end for reference in ordered]
    for match in _SAME_ZH.finditer(text) if has_chinese(text) else ():
        at = bisect_left(ends, match.start() + 1) - 1
        source = positions.innermost(match.start())
        if at < 0 or source is None or match.start() - ends[at] > _SAME_WITHIN or not ordered[at].targets:
            continue
        if match["unit"] in text[ordered[at].span.start : ordered[at].span.end]:
            yield CrossReference(Span(*match.span()), source, ordered[at].targets, "inferred", kind="relative")


def _reference(
    place: tuple[int, int], source: int, targets: tuple[int, ...], status: ReferenceStatus
) -> Iterator[CrossReference]:
    """One reference, or none without targets: "this Article" is then the whole document.

    A preceding paragraph that is no clause of its own does not count as a missing clause either.
    """
    if targets:
        yield CrossReference(Span(*place), source, targets, status, kind="relative")


def homes_of(text: str, offset: int, base: tuple[int, str], source: int, labels: LabelIndex) -> tuple[int, ...]:
    """Clauses that may be the 本条 of 本条第二款 at ``offset``, the likeliest first."""
    step, unit = base
    if unit == "款":
        return paragraph_targets(text, offset, step, 1, source, labels)
    kinds = ("top", "clause") if unit == "条" else (_UNIT_KINDS[unit],)
    return tuple(chain.from_iterable(relative_targets(step, kind, 1, source, labels) for kind in kinds))


def relative_targets(step: int, kind: str, count: int, source: int, labels: LabelIndex) -> tuple[int, ...]:
    """Clauses meant by "this Section" (step 0), 前条 (step -1, ``count`` of them), "next clause" (step 1)."""
    home = labels.enclosing(source, kind)
    if home is None or step == 0:
        return () if home is None else (home,)
    return labels.neighbours(home, 1, count) if step > 0 else labels.neighbours(home, -count, -1)


def paragraph_targets(
    text: str, offset: int, step: int, count: int, source: int, labels: LabelIndex
) -> tuple[int, ...]:
    """Clauses meant by 本款 and 前款: a 款 is a paragraph, which may or may not be a clause of its own."""
    article = labels.enclosing(source, "clause")
    counted = labels.paragraphs(article) if article is not None else []
    mine = next((c for c in labels.lineage(source) if c in counted), None)
    source = labels.paragraph_of(source)
    if mine is not None and len(counted) > 1 and (mine != article or source == article):
        place = counted.index(mine)
        start = labels.clause(mine).span.start
        before = text[start : min(offset, start + _PARAGRAPH_SEARCHED)].lstrip()
        later_line = "\n" in before and source == mine != article
        if step == 0 or (later_line and step < 0 and count == 1):
            return (mine,)
        beside = counted[max(0, place - count) : place] if step < 0 else counted[place + 1 : place + 1 + count]
        if beside:
            return tuple(beside)
    clause = labels.clause(source)
    if step == 0:
        return (source,)
    # the paragraph before may stand in the same clause
    if "\n" in text[clause.span.start : min(offset, clause.span.start + _PARAGRAPH_SEARCHED)].lstrip():
        return (source if article is None else article,)
    beside_it = labels.neighbours(source, -count, -1) if step < 0 else labels.neighbours(source, 1, count)
    if beside_it:
        return beside_it
    return (clause.parent,) if clause.parent is not None and step < 0 else ()
