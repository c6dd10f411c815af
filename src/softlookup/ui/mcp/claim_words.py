"""The verdict on a claimed citation, and one sentence for it in the language of the question; measures nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from softlookup.documents.language import Language, language_of
from softlookup.ui.mcp.claim import Claim, ClausePlace, QuoteFound
from softlookup.ui.mcp.rows import NOTICE, cut
from softlookup.ui.mcp.seen import Attention, Look

if TYPE_CHECKING:
    from softlookup.documents.model import Document

Verdict = Literal[
    "may_cite", "may_cite_with", "not_seen", "not_tested", "no_such_clause", "quote_differs", "quote_elsewhere",
    "quote_absent", "not_unique",
]  # fmt: skip
_SENTENCES: dict[Verdict, tuple[str, str]] = {
    "may_cite": (
        "The place exists as claimed, and the question looks at it (p {p}): it may be cited.",
        "该处与所称一致，且问题的注意力指向该处（p {p}）：可以引用。",
    ),
    "may_cite_with": (
        "The place exists, and a clause that the question looks at needs it ({via}): it may be cited with that clause.",
        "该处存在，且问题所指向的条款需要与其一并阅读（{via}）：可以与该条款一并引用。",
    ),
    "not_seen": (
        "The place exists, but off-topic questions look at it as much (p {p}); this one most at {top}: check by hand.",
        "该处存在，但问题对其的关注不高于无关问题（p {p}），最关注的是{top}。未经人工核对请勿引用。",
    ),
    "not_tested": (
        "The place exists as claimed; whether the question looks at it could not be tested: {why}.",
        "该处与所称一致；但无法检验问题是否指向该处：{why}。",
    ),
    "no_such_clause": (
        "The document has no clause that is printed as {named}; do not cite it.",
        "文件中没有编号为{named}的条款，请勿引用。",
    ),
    "quote_differs": (
        "The quote is not verbatim: it differs in blanks, width or case; cite the document's own words.",
        "引文与原文不完全一致：空白、全半角或大小写不同；请引用原文。",
    ),
    "quote_elsewhere": (
        "The quote is in the document, but not in {named}; it stands in {places}.",
        "引文见于文件，但不在{named}，而在{places}。",
    ),
    "quote_absent": (
        "The quoted words are not in the document's text{where}; do not cite them.",
        "文件正文中没有所引文字{where}，请勿引用。",
    ),
    "not_unique": (
        "The claim fits {count} places; give the clause together with a longer quote.",
        "所称内容对应{count}处，请同时给出条款编号和更长的引文。",
    ),
}
_WHY_NOT: dict[str, tuple[str, str]] = {
    "no_evidence_heads": (
        "the attention of this model is no evidence in this language", "该模型的注意力在此语言下不能作为依据",
    ),
    "not_fed": (
        "the document is long, and the clauses chosen for this question do not hold it whole ({note} tokens were read)",
        "文件较长，为该问题选取的条款未完整包含该处（已读{note}个词元）",
    ),
    "out_of_reach": (
        "it is out of reach of the model's sliding windows", "该处超出模型滑动窗口的范围",
    ),
    "no_passage": (
        "it is a table of contents or holds no words of its own", "该处为目录或没有自身文字",
    ),
}  # fmt: skip
_NOT_TESTED: dict[Language, tuple[str, ...]] = {
    "en": (
        "whether the place answers the question, and whether an answer says what it means",
        "whether another place answers it better, or changes what this one says",
    ),
    "zh": ("该处是否回答了问题，回答与其含义是否一致", "是否有其他条款更能回答问题，或改变了该处的含义"),
}
_NO_NUMBER = ("text without a number", "无编号文字")


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What ``check_clause`` tells. ``may_cite`` is true for the verdicts may_cite and may_cite_with only.

    ``attention`` is null where the claim already failed on the text, or could not be tested.
    """

    notice: str
    path: str
    sha256: str
    question: str
    verdict: Verdict
    may_cite: bool
    sentence: Annotated[str, Field(description="The verdict in words, in the language of the question.")]
    clause: ClausePlace | None
    quote: QuoteFound | None
    attention: Attention | None
    not_tested: Annotated[tuple[str, ...], Field(description="What this check does not say.")]
    complete: Annotated[bool, Field(description="Whether all of the file's text could be read.")]


def text_verdict(claim: Claim) -> Verdict | None:
    """What the text alone says against a claim; None when the claim stands and the model has to look."""
    clause, quote = claim.clause, claim.quote
    if clause is not None and not clause.matches:
        return "no_such_clause"
    if quote is not None:
        if not quote.count:
            return "quote_absent"
        if quote.in_clause == 0:
            return "quote_elsewhere"
        if quote.check == "differs":
            return "quote_differs"
    return None if claim.place is not None else "not_unique"


def look_verdict(look: Look) -> Verdict:
    """What the model's look says of a claim that stands in the text."""
    if look.attention is None:
        return "not_tested"
    if look.attention.seen:
        return "may_cite"
    return "may_cite_with" if look.attention.reached_from else "not_seen"


def check_result(document: Document, question: str, claim: Claim, look: Look | None) -> CheckResult:
    """Everything together; ``look`` None where the text alone decides."""
    verdict = (look_verdict(look) if look is not None else text_verdict(claim)) or "not_tested"
    return CheckResult(
        NOTICE, document.source.path, document.source.sha256, question, verdict,
        verdict in ("may_cite", "may_cite_with"), _sentence(verdict, claim, look, language_of(question)), claim.clause,
        claim.quote, None if look is None else look.attention, _NOT_TESTED[language_of(question)],
        document.coverage.complete,
    )  # fmt: skip


def _sentence(verdict: Verdict, claim: Claim, look: Look | None, language: Language) -> str:
    zh = language == "zh"
    quote, attention = claim.quote, None if look is None else look.attention
    why = _WHY_NOT.get(look.why_not or "", ("", "")) if look is not None else ("", "")
    facts = {
        "p": "" if attention is None else f"{attention.p_value:.3f}",
        "via": "" if attention is None else attention.reached_from,
        "top": "" if attention is None else _name(attention.strongest[0].clause if attention.strongest else "", zh=zh),
        "why": why[zh].format(note=cut(look.note) if look is not None else ""),
        "named": "" if claim.clause is None else cut(claim.clause.named, 60),
        "places": _places(quote, zh=zh),
        "where": "" if quote is None or not quote.where else f"（{quote.where}）" if zh else f" ({quote.where})",
        "count": str(_count(claim)),
    }
    return _SENTENCES[verdict][zh].format(**facts)


def _places(quote: QuoteFound | None, *, zh: bool) -> str:
    names = dict.fromkeys(_name(place.clause, zh=zh) for place in (quote.places if quote is not None else ()))
    return ("、" if zh else ", ").join(names)


def _count(claim: Claim) -> int:
    """Places that a claim fits."""
    if claim.quote is not None:
        return claim.quote.in_clause or claim.quote.count
    return 0 if claim.clause is None else claim.clause.matches


def _name(label: str, *, zh: bool) -> str:
    return label or _NO_NUMBER[zh]
