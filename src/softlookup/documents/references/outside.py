"""Labels that belong to a statute or to another document: "Section 11 of the Securities Act", "31 C.F.R. 800.402".

English only; not for labels of the document itself (``reference_mentions.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from softlookup.documents.model import Span
from softlookup.documents.references.papers import Papers
from softlookup.documents.writing import has_english

# "of the Exchange Act", "of the Company Disclosure Letter"; a heading in parentheses may stand between
_OF_OTHER = re.compile(
    r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?(?:(?:of|to|under|in|OF|TO|UNDER|IN)\s+|of(?=the\s))"
    r"(?P<article>the\s+|THE\s+|such\s+|that\s+(?:certain\s+)?|those\s+|another\s+|any\s+other\s+|its\s+|their\s+|each\s+|an?\s+)?"
    r"(?P<name>(?:[A-Z]|\d+\s+[A-Z])[\w.’'&/-]*(?:\s+(?:[A-Z(][\w.’'&/()-]*|of|and|on|for))*)"
)
_OF = re.compile(r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?(?:of|OF)\b")
# "to the Disclosure Schedule" says where a label stands only when a paper or a statute follows
_PAPER_NAME = re.compile(
    r"\b(?:Agreement|Contract|Lease|Deed|Indenture|Plan|Letter|Schedules?|Memorandum|Act|Code|Law|Rules?|Regulations?|"
    r"Statutes?|ERISA|UCC|Report|Form|Filing|Registration\s+Statement)\b"
)
_ELSEWHERE = re.compile(r"\s*,?\s*(?:et\.?\s+seq|thereof\b|thereunder\b|therein\b)")
_STATUTE_BEFORE = re.compile(
    r"(?:\bCode|\bAct|\bRules?|\bRegulations?|\bTreas\.?\s+Reg\.?|U\.?\s?S\.?\s?C\.?(?:A\.)?|C\.?\s?F\.?\s?R\.?|\bStatutes?|"
    r"\bOrdinance|\bLaws?|\bStat\.|\bUCC|\bERISA|\bD?FARS?|\bHIPAA|\bDGCL|\bGDPR|\bDirective"
    r"|\b(?:regulation|directive)(?=\s+(?:\((?:EU|EC|UK)\)|\d+/)))"
    # "the Companies Act 2006. Articles 1 and 3" ends a sentence after the year
    r"\s*,?\s*\(?(?:\((?:EU|EC|UK)\)\s*)?(?:(?:No\.?\s*)?\(?\d(?:[\d./]*\d)?(?:/[A-Z]{2,3})?\)?\s*,?\s*)?$"
)
_OTHER_PAPER_BEFORE = re.compile(
    r"(?:Disclosure\s+(?:Letter|Schedules?|Memorandum)|[A-Z][\w.&]+\s+(?:Letter|Plan|Indenture|Prospectus)|"
    r"Form\s+[A-Z0-9-]{1,8}(?:\s*,\s*Part\s+[\w-]{1,6})?)\s*,?\s*$"
)
# sections 1-3, Companies Act 2006; Articles 1 and 3 GDPR
_BESIDE = re.compile(
    r"(?:\s*,\s*|\s+)(?:GDPR|UCC|ERISA|DGCL|CISG|BGB|HGB|TFEU)\b(?=\s*[.,;:)]|\s+[a-z]|\s*$)"
    r"|\s*,\s*(?:the\s+)?(?:[A-Z][\w’'&-]*\s+(?:(?:and|of|the|for|on)\s+)?){1,8}(?:Act|Code|Ordinance|Order|Regulations?|Rules|Directive)\b"
    r"(?:\s+\(?(?:19|20)\d\d|(?=\s*[.,;)]))"
)
_ITEMS = r"(?:\([a-zA-Z0-9]{1,5}\))*"
_STATUTORY = (
    r"(?:[A-Z][\w.’'&-]*\s+(?:(?:and|of|the|for|on)\s+)?){0,6}"
    r"(?:Act|Code|Laws?|Statutes?|Rules?|Regulations?|ERISA|HIPAA|UCC|DGCL|Constitution|Ordinance|Directive)\b"
)
# citations whose words are none of the words for clauses
_STATUTE = re.compile(
    r"(?<![\w.])(?:"
    # 17 C.F.R. § 240.10b-5
    r"\d{1,2}\s+(?:C\.?\s?F\.?\s?R\.?|U\.?\s?S\.?\s?C\.?(?:\s?A\.)?)\s*(?:(?:Parts?|Sections?|Secs?\.|§{1,2})\s*)?"
    rf"\d[\w.-]{{0,12}}(?<![.-]){_ITEMS}"
    # Rule 10b-5, Rule 144; a small number only with the statute that it belongs to
    rf"|Rules?\s+(?:\d{{1,3}}[a-zA-Z]{{1,2}}\d?(?:-\d{{1,3}})?|\d{{3}}[A-Z]?)(?![\w]){_ITEMS}"
    rf"|Rules?\s+\d{{1,2}}(?:\.\d{{1,3}})?(?![\w.]){_ITEMS}(?=\s+(?:of|under)\s+the\s+{_STATUTORY})"
    # Title IV of ERISA, Chapter 11 of the Bankruptcy Code, Part 6 of Subtitle B of Title I of ERISA
    r"|(?:Title|Subtitle|Chapter|Subchapter|Part|Subpart)\s+(?:[IVXLC]{1,7}|\d{1,4}|[A-Z])(?!\w)"
    r"(?:\s+of\s+(?:Title|Subtitle|Chapter|Subchapter|Part|Subpart)\s+(?:[IVXLC]{1,7}|\d{1,4}|[A-Z])(?!\w)){0,3}"
    rf"(?=\s+of\s+(?:the\s+)?{_STATUTORY})"
    # Part 2.1(a) of the Company Disclosure Schedule
    rf"|Parts?\s+\d{{1,2}}\.\d{{1,3}}{_ITEMS}(?=\s+of\s+the\s+(?:[A-Z]\w*\s+){{0,4}}(?:Schedules?|Letter)\b)"
    # Item 404 of Regulation S-K
    rf"|Items?\s+\d{{1,4}}(?:\.\d{{1,3}})?{_ITEMS}(?=\s+of\s+(?:Regulation|Form|Schedule)\s)"
    r")"
)


def statute_mentions(text: str) -> Iterator[Span]:
    """Places that cite a statute in words that never name a clause of a contract."""
    for match in _STATUTE.finditer(text) if has_english(text) else ():
        yield Span(*match.span())


def named_before(text: str, start: int, papers: Papers) -> bool:
    """Whether the words before place the label in a statute or in another document."""
    before = re.split(r"\n\s*\n", text[max(0, start - 60) : start])[-1]  # a heading "Law" cites no statute
    if _STATUTE_BEFORE.search(before) or _OTHER_PAPER_BEFORE.search(before):
        return True
    return papers.named_before(text, start)


def named_after(text: str, end: int, papers: Papers) -> bool:
    """Whether the words after the last label do so: "of the Exchange Act", ", Companies Act 2006", "of that lease"."""
    if _ELSEWHERE.match(text, end) or _BESIDE.match(text, end) or papers.named_after(text, end):
        return True
    match = _OF_OTHER.match(text, end)
    if match is None:
        return False
    name = " ".join(match["name"].split()).rstrip(".’'")
    if not _OF.match(text, end) and (not match["article"] or not _PAPER_NAME.search(name)):
        return False
    return papers.is_other(name, match["article"] or "")
