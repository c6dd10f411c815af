"""Labels that belong to a statute or to another document: "Section 11 of the Securities Act", "31 C.F.R. 800.402".

English only; not for labels of the document itself (``reference_mentions.py``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from softlookup.documents.model import Span
from softlookup.documents.writing import has_english

# "of the Exchange Act", "of the Company Disclosure Letter"; a heading in parentheses may stand between
_OF_OTHER = re.compile(
    r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?(?:(?:of|to|under|in)\s+|of(?=the\s))"
    r"(?P<article>the\s+|such\s+|that\s+certain\s+|its\s+|their\s+|each\s+|an?\s+)?"
    r"(?P<name>(?:[A-Z]|\d+\s+[A-Z])[\w.’'&/-]*(?:\s+(?:[A-Z(][\w.’'&/()-]*|of|and|on|for))*)"
)
_OF = re.compile(r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?of\b")
# "to the Disclosure Schedule" says where a label stands only when a paper or a statute follows
_PAPER_NAME = re.compile(
    r"\b(?:Agreement|Contract|Lease|Deed|Indenture|Plan|Letter|Schedules?|Memorandum|Act|Code|Law|Rules?|Regulations?|"
    r"Statutes?|ERISA|UCC|Report|Form|Filing|Registration\s+Statement)\b"
)
_ELSEWHERE = re.compile(r"\s*,?\s*(?:et\.?\s+seq|thereof\b|thereunder\b)")
_OWN_NAMES = re.compile(
    r"(?:this|agreement|contract|terms|lease|deed|framework\s+terms|standard\s+terms|msa|mnda|section|article|"
    r"clause|schedule|exhibit|annex|appendix|attachment|part|agreement\s+and)\b(?!\s+(?:act|code|law))",
    re.IGNORECASE,
)
# only a paper can be the document itself, called by its title
_PAPER = re.compile(r"(?:Agreement|Contract|Terms|Lease|Deed|Addendum|Amendment|Licen[cs]e|Policy)$")
_STATUTE_BEFORE = re.compile(
    r"(?:\bCode|\bAct|\bRules?|\bRegulations?|\bTreas\.?\s+Reg\.?|U\.?\s?S\.?\s?C\.?(?:A\.)?|C\.?\s?F\.?\s?R\.?|\bStatutes?|"
    r"\bOrdinance|\bLaws?|\bStat\.|\bUCC|\bERISA|\bD?FARS?|\bHIPAA|\bDGCL|\bGDPR|\bDirective)"
    r"\s*,?\s*\(?(?:\((?:EU|EC|UK)\)\s*)?(?:(?:No\.?\s*)?\(?[\d./]+\)?\s*,?\s*)?$"
)
_OTHER_PAPER_BEFORE = re.compile(
    r"(?:Disclosure\s+(?:Letter|Schedules?|Memorandum)|[A-Z][\w.&]+\s+(?:Letter|Plan|Indenture|Prospectus)|"
    r"Form\s+[A-Z0-9-]{1,8}(?:\s*,\s*Part\s+[\w-]{1,6})?)\s*,?\s*$"
)
_ANOTHER = re.compile(r"\b(?:the|that|certain|such|an?|said)\s[\"“]?$")
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


def named_before(text: str, start: int) -> bool:
    """Whether the words before place the label in a statute or in another document."""
    before = text[max(0, start - 60) : start]
    return bool(_STATUTE_BEFORE.search(before) or _OTHER_PAPER_BEFORE.search(before))


def named_after(text: str, end: int, title: str) -> bool:
    """Whether the words after the last label do so: "of the Exchange Act". ``title`` is the lower-case first page."""
    if _ELSEWHERE.match(text, end):
        return True
    match = _OF_OTHER.match(text, end)
    if match is None:
        return False
    name = " ".join(match["name"].split()).rstrip(".’'")
    if not _OF.match(text, end) and (not match["article"] or not _PAPER_NAME.search(name)):
        return False
    names_itself = _PAPER.search(name) is not None and _is_title(name, title)
    return not _OWN_NAMES.match(name) and not names_itself


def _is_title(name: str, first_page: str) -> bool:
    """Whether the first page calls the document itself so, and not another: "under the Separation Agreement"."""
    places = [found.start() for found in re.finditer(re.escape(name.lower()), first_page)]
    return any(not _ANOTHER.search(first_page, max(0, place - 30), place) for place in places)
