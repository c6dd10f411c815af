"""How a clause stands to the one it refers to: subject to it, overriding it, an exception to it.

Not for what it refers to (``label_index.py``). The members of a list share the words around the whole list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from softlookup.documents.model import CrossReference, ReferenceEffect, Span

_REACH = 140  # characters looked at before and after a reference
# only such words may stand between "subject to" and the label it governs
_LINK = (
    r"(?:[\s,(]+(?:the|other|terms?|conditions?|provisions?|limitations?|requirements?|exceptions?|restrictions?|rights?|"
    r"remainder|rest|balance|including|without|limitation|but|not|limited|disclosed|indemnification|indemnity|except|"
    r"obligations?|matters?|as|is|are|otherwise|expressly|specifically|provided|permitted|required|set|forth|contained|"
    r"stated|described|contemplated|specified|in|of|by|under|to|for|pursuant|any|anything|"
    r"contrary|else|herein|elsewhere|foregoing|and|or|this|agreement|sections?|clauses?|articles?|"
    r"paragraphs?|subsection|hereof|with|respect|accordance|extent|compliance|below|above|"
    r"[\d.]{0,12}(?:\([a-z0-9]{1,5}\)){0,4}(?=\s+of\b))(?=[\s,(]|$))*+[\s,(]*$"
)
_BEFORE_EN: tuple[tuple[re.Pattern[str], ReferenceEffect], ...] = tuple(
    (re.compile(head + _LINK, re.IGNORECASE), effect)  # type: ignore[misc]
    for head, effect in (
        (r"\b(?:notwithstanding|despite|in\s+spite\s+of)", "overrides"),
        (r"\b(?:except|other\s+than|save|unless|but\s+for|excluding)", "exception_to"),
        (
            r"\b(?:subject\s+(?:always\s+|only\s+|further\s+)?to|without\s+prejudice\s+to|conditioned\s+(?:up)?on)",
            "subject_to",
        ),
    )
)
_OPENS_SUBJECT = re.compile(
    r"(?:^|[,;:.()\n]|\b(?:and|but))\s*subject\s+(?:always\s+)?to\b[^.;]{0,100}$", re.IGNORECASE
)
_STATUTE_AFTER = re.compile(r"[^.;,]{0,60}\b(?:ERISA|Code|Act|Laws?|Regulations?|Rules?)\b")
_AFTER_EN = re.compile(r"\s*(?:\([^)]{0,100}\))?,?\s*(?:to\s+the\s+contrary\s+)?notwithstanding\b", re.IGNORECASE)
_NOT_APPLIED_EN = re.compile(
    r"\s*(?:\([^)]{0,100}\))?,?\s*(?:does|do|shall|will)\s+not\s+apply\b(?!\s*[.;])", re.IGNORECASE
)
_OWN_ZH = r"(?:本合同|本协议|本法)?(?:的)?(?:前述|上述|前款)?$"
# words before the label, words after it
_BEFORE_ZH: tuple[tuple[re.Pattern[str], re.Pattern[str], ReferenceEffect], ...] = tuple(
    (re.compile(head), re.compile(tail), effect)  # type: ignore[misc]
    for head, tail, effect in (
        # "除适用本条外，还适用……" adds and excepts nothing
        (
            r"(?:除|除了|除非)(?:按照?|依照|依据|根据|符合|本合同|本协议|本法|适用|有|出现|发生|披露函|章程)*$",
            r"(?:外(?!，?(?:还|并|也|同时|参照|均|仍))|另有|除外)",
            "exception_to",
        ),
        (r"但(?:是|书)?[，,]?(?:符合|有|依照|属于|根据|适用)?" + _OWN_ZH, r"除外", "exception_to"),
        (r"(?:尽管|虽有|虽然|不论|无论|不管|即使)(?:有)?" + _OWN_ZH, r"", "overrides"),
        (r"不受" + _OWN_ZH, r"", "overrides"),
        # the source excepts something from the clause that it names
        (r"不适用" + _OWN_ZH, r"", "exception_to"),
        (r"不属于" + _OWN_ZH, r"^(?:所|中)?(?:规定|约定|所称|列明|所列)", "exception_to"),
        (r"但(?:是|书)?[，,]?(?:依照|根据|按照)?" + _OWN_ZH, r"^[^。；]{0,30}不(?:在此限|受此限)", "exception_to"),
        (r"(?:受限于|受制于|须遵守|应遵守)" + _OWN_ZH, r"", "subject_to"),
        (r"受" + _OWN_ZH, r"^[^，。；]{0,12}(?:约束|限制|制约|规限)", "subject_to"),
        (r"以" + _OWN_ZH, r"^[^，。；]{0,8}(?:为前提|为条件|为准)", "subject_to"),
        (
            r"(?:在符合|在遵守|在不违反|在满足|在不影响)" + _OWN_ZH,
            r"前提|情况下|条件下|规定|约定",
            "subject_to",
        ),
    )
)
_NOT_APPLIED_ZH = re.compile(r"(?:所|的)?(?:规定|约定)?(?:的)?[^，。；、]{0,8}不适用")
_EXCEPT_AFTER_ZH = re.compile(r"(?:对此)?另有(?:规定|约定)的?[，,]?(?:除外|从其(?:规定|约定))")
_SAME_ZH_BEFORE = re.compile(r"(?:参照适用|参照|比照|准用|同样适用|同等适用)$")
# 程序与前款的规定相同; 计算标准同前款
_LIKE_ZH_BEFORE = re.compile(r"(?:[与和]|(?P<same>(?<!合)同))$")
_LIKE_ZH_AFTER = re.compile(r"(?:所|中)?(?:规定|约定)?的?[^，。；不]{0,6}(?:相同|一致)|(?P<end>[。，；]|$)")
_SAME_EN_AFTER = re.compile(r"[^.;]{0,60}\b(?:mutatis\s+mutandis|likewise|in\s+the\s+same\s+way)\b", re.IGNORECASE)
# without any of these words there is no effect, and most references have none
_HINTS_BEFORE = (
    *("notwithstanding", "spite", "despite", "except", "other", "save", "unless", "but", "excluding", "subject"),
    *(
        "conditioned",
        "prejudice",
        "适用",
        "参照",
        "比照",
        "准用",
        "除",
        "但",
        "尽管",
        "虽",
        "论",
        "不管",
        "即使",
        "不受",
    ),
    *("受", "遵守", "以", "符合", "违反", "满足", "影响", "不属于", "同"),
)
_HINTS_AFTER = (
    *("apply", "notwithstanding", "mutatis", "likewise", "way", "不适用", "另有", "不在此限", "不受此限"),
    *("相同", "一致"),
)
_MARKUP = re.compile(r"</?[a-z][^<>\n]{0,80}>|\*\*")  # Markdown keeps inline HTML
_SENTENCE_STOP = re.compile(r"[.;](?=\s+[A-Z(])|[。；]|\n\s*\n")
_PRECEDING = re.compile(r"(?:the\s+)?(?:immediately\s+)?(?:preceding|previous|foregoing|prior)\b|[前上]", re.IGNORECASE)
_ITSELF = re.compile(r"this\b|本", re.IGNORECASE)
_TITLE = (
    r"(?:\s{0,2}(?:[（(“\"][^（）()“”\"\n]{1,60}[）)”\"]|\[[^\[\]\n]{1,60}\]))?"  # clause 5 (Payment), 第五条“付款”
)
_SENTENCE_OF = r"the\s+(?:first|second|third|fourth|fifth|last|final)\s+sentence\s+of\s+"
_GLUE = re.compile(
    rf"{_TITLE}(?:"
    r"\s*,?\s+(?:and/or|and|or|nor|&|as\s+well\s+as)\s+(?:(?:to|in|under|by|of|with)\s+)?"
    rf"(?:{_SENTENCE_OF}|the\s+(?:provisions|terms)\s+of\s+)?"
    r"|(?:的)?(?:规定|约定)?\s*(?:、|和/或|和|及|与|或者|或|以及|至|到)\s*(?:按照|依照|根据)?(?:本合同|本协议|本法)?(?:的)?"
    r")",
    re.IGNORECASE,
)
_COMMA = re.compile(
    rf"{_TITLE}\s*,\s*(?:in\s+(?={_SENTENCE_OF}))?(?:{_SENTENCE_OF})?"
)  # joins a list only when "and" or a bare number follows
_GLUE_MOST = 120


def with_effects(text: str, references: Sequence[CrossReference]) -> Iterator[CrossReference]:
    """``references``, in document order, with the effect that the words around them give.

    "Subject to clauses 5, 6 and 7" makes the source subject to all three. Anaphors keep theirs.
    """
    for group in reference_lists(text, references):
        span = Span(group[0].span.start, group[-1].span.end)
        effect = effect_of(text, span)
        if effect == "subject_to" and group[0].status == "external" and _of_statute(text, span):
            effect = "refers"
        for reference in group:
            keeps = effect == "refers" or is_anaphor(reference)
            yield reference if keeps else replace(reference, effect=effect)


def _of_statute(text: str, span: Span) -> bool:
    """Whether something is subject to a statute, as in "a plan that is subject to Title IV of ERISA"."""
    opens = _OPENS_SUBJECT.search(text, max(0, span.start - _REACH), span.start)
    return opens is None and _STATUTE_AFTER.match(text, span.end) is not None


def is_anaphor(reference: CrossReference) -> bool:
    """Whether the reference points back with a word ("such Losses", 该等损失) and not with a label."""
    return reference.kind == "anaphora"


def reference_lists(text: str, references: Sequence[CrossReference]) -> Iterator[list[CrossReference]]:
    """References that are members of one list, in order; a reference alone is a list of one."""
    group: list[CrossReference] = []
    pending = 0  # members at the end of ``group`` that only a comma joins so far
    for reference in references:
        glue = text[group[-1].span.end : reference.span.start] if group else ""
        if group and len(glue) <= _GLUE_MOST and group[-1].source_clause == reference.source_clause:
            bare = text[reference.span.start] in "(0123456789"
            if _GLUE.fullmatch(glue) or (bare and _COMMA.fullmatch(glue)):
                group.append(reference)
                pending = 0
                continue
            if _COMMA.fullmatch(glue):
                group.append(reference)
                pending += 1
                continue
        yield from _settled(group, pending)
        group, pending = [reference], 0
    yield from _settled(group, pending)


def _settled(group: list[CrossReference], pending: int) -> Iterator[list[CrossReference]]:
    """The list without members that a comma alone joined: "Subject to clause 5, clause 7 applies"."""
    kept = group[: len(group) - pending]
    if kept:
        yield kept
    for reference in group[len(group) - pending :]:
        yield [reference]


def effect_of(text: str, span: Span) -> ReferenceEffect:
    """Effect that the words around the references at ``span`` give them; "refers" when they give none."""
    before = _MARKUP.sub("", text[max(0, span.start - _REACH) : span.start])
    after = text[span.end : span.end + _REACH]
    lowered, following = before.lower(), after.lower()
    if not any(h in lowered for h in _HINTS_BEFORE) and not any(h in following for h in _HINTS_AFTER):
        return "refers"
    stops = list(_SENTENCE_STOP.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    stop = _SENTENCE_STOP.search(after)
    after = after[: stop.start()] if stop else after
    for pattern, effect in _BEFORE_EN:
        if pattern.search(before):
            return effect
    if _NOT_APPLIED_EN.match(after) or _EXCEPT_AFTER_ZH.match(after) or _NOT_APPLIED_ZH.match(after):
        return "exception_to"
    if _AFTER_EN.match(after):
        return "overrides"
    for head, tail, effect in _BEFORE_ZH:
        if head.search(before) and tail.search(after[:40]):
            # "以本条为准" puts the clause above others
            return (
                "refers" if effect == "subject_to" and _ITSELF.match(text, span.start) and "为准" in after else effect
            )
    like, alike = _LIKE_ZH_BEFORE.search(before), _LIKE_ZH_AFTER.match(after)
    if like and alike and (like["same"] or not alike["end"]):
        return "same_as_preceding"
    preceding = _PRECEDING.match(text, span.start)
    if preceding and (_SAME_ZH_BEFORE.search(before) or _SAME_EN_AFTER.match(after)):
        return "same_as_preceding"
    return "refers"
