"""How a clause stands to the one it refers to: subject to it, overriding it, an exception to it.

Not for what it refers to (``reference_labels.py``).
"""

from __future__ import annotations

import re

from softlookup.documents.model import ReferenceEffect, Span

_REACH = 140  # characters looked at before and after a reference
# only such words may stand between "subject to" and the label it governs
_LINK = (
    r"(?:[\s,(]+(?:the|other|terms?|conditions?|provisions?|limitations?|requirements?|exceptions?|restrictions?|rights?|"
    r"obligations?|matters?|as|is|are|otherwise|expressly|specifically|provided|permitted|required|set|forth|contained|"
    r"stated|described|contemplated|specified|in|of|by|under|to|for|pursuant|any|anything|any\s+other|provision|"
    r"contrary|else|herein|elsewhere|foregoing|and|or|this|agreement|section|sections|clause|clauses|article|articles|"
    r"paragraph|paragraphs|subsection|hereof|with|respect|accordance|extent|compliance|below|above|[\d.]+"
    r"(?:\([a-z0-9]+\))*|\([a-z0-9]+\)|[ivx]+|[a-z]))*[\s,(]*$"
)
_BEFORE_EN: tuple[tuple[re.Pattern[str], ReferenceEffect], ...] = tuple(
    (re.compile(head + _LINK, re.IGNORECASE), effect)  # type: ignore[misc]
    for head, effect in (
        (r"\b(?:notwithstanding|despite|in\s+spite\s+of)", "overrides"),
        (r"\b(?:except|other\s+than|save|unless|but\s+for|excluding)", "exception_to"),
        (r"\b(?:subject\s+(?:always\s+|only\s+|further\s+)?to|conditioned\s+(?:up)?on)", "subject_to"),
    )
)
_AFTER_EN: tuple[tuple[re.Pattern[str], ReferenceEffect], ...] = (
    (re.compile(r"\s*(?:\([^)]*\))?,?\s*(?:(?:does|do|shall|will)\s+not\s+apply\b|(?:to\s+the\s+contrary\s+)?notwithstanding\b)",
                re.IGNORECASE), "overrides"),
)  # fmt: skip
_OWN_ZH = r"(?:本合同|本协议|本法)?(?:的)?$"
# words before the label, words after it
_BEFORE_ZH: tuple[tuple[re.Pattern[str], re.Pattern[str], ReferenceEffect], ...] = tuple(
    (re.compile(head), re.compile(tail), effect)  # type: ignore[misc]
    for head, tail, effect in (
        (
            r"(?:除|除了|除非)(?:按照?|依照|依据|根据|符合|本合同|本协议|本法|适用|有|出现|发生)*$",
            r"外|另有|除外",
            "exception_to",
        ),
        (r"但(?:是|书)?[，,]?(?:符合|有|依照|属于|根据|适用)?" + _OWN_ZH, r"除外", "exception_to"),
        (r"(?:尽管|虽有|虽然|不论|无论|不管|即使)(?:有)?" + _OWN_ZH, r"", "overrides"),
        (r"(?:不受|不适用)" + _OWN_ZH, r"", "overrides"),
        (
            r"(?:受限于|受制于|须遵守|应遵守|受|以|在符合|在遵守|在不违反|在满足|在不影响)" + _OWN_ZH,
            r"约束|限制|前提|为准|情况下|规定|约定|$",
            "subject_to",
        ),
    )
)
_SAME_ZH_BEFORE = re.compile(r"(?:参照适用|参照|比照|准用|同样适用|适用)$")
_SAME_EN_AFTER = re.compile(r"[^.;]{0,60}\b(?:mutatis\s+mutandis|likewise|in\s+the\s+same\s+way)\b", re.IGNORECASE)
_SENTENCE_STOP = re.compile(r"[.;](?=\s+[A-Z(])|[。；]|\n\s*\n")


def effect_of(text: str, span: Span, *, preceding: bool = False) -> ReferenceEffect:
    """Effect that the words around the reference at ``span`` give it; "refers" when they give none.

    ``preceding`` tells that the reference is to the clause before: only then it can be "same_as_preceding".
    """
    before = text[max(0, span.start - _REACH) : span.start]
    stops = list(_SENTENCE_STOP.finditer(before))
    before = before[stops[-1].end() :] if stops else before
    after = text[span.end : span.end + _REACH]
    stop = _SENTENCE_STOP.search(after)
    after = after[: stop.start()] if stop else after
    for pattern, effect in _BEFORE_EN:
        if pattern.search(before):
            return effect
    for pattern, effect in _AFTER_EN:
        if pattern.match(after):
            return effect
    for head, tail, effect in _BEFORE_ZH:
        # a list "除第八条、第九条另有规定外" shares the head of its first member
        if head.search(_without_list(before)) and tail.search(after[:40]):
            return effect
    if preceding and (_SAME_ZH_BEFORE.search(before) or _SAME_EN_AFTER.match(after)):
        return "same_as_preceding"
    return "refers"


_LIST_ZH = re.compile(r"(?:第?[^，。；、和及或\s]{1,12}[条款项](?:、|和|及|或|以及|或者|与|至))+$")


def _without_list(before: str) -> str:
    return _LIST_ZH.sub("", before) if before.endswith(("、", "和", "及", "或", "者", "与", "至")) else before
