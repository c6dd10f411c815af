"""Which papers a document calls by name: itself ("this Lease", "the Agreement") or another ("the Head Lease").

For references such as "clause 2 of the Facilities Agreement"; not for statutes (``reference_outside.py``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from softlookup.documents.model import DefinedTerm

_FIRST_PAGE = 600  # characters that may hold the title
_WINDOW = 320  # characters around a defined name that say what it is
_NOUN = (
    r"(?:agreements?|contracts?|sub-?contract|lease|underlease|deed|indenture|licen[cs]e|polic(?:y|ies)|terms|conditions|"
    r"guarantee|guaranty|charter|memorandum|undertaking|letter|instrument|order\s+form|addendum|amendment|mortgage|note)"
)
_GENERIC = re.compile(
    r"(?:section|article|clause|schedule|exhibit|annex|appendix|attachment|part|this|agreement|contract|"
    r"framework\s+terms|standard\s+terms)\b(?!\s+(?:act|code|law))",
    re.IGNORECASE,
)
# a document that calls itself otherwise means another paper by "the Lease" or "the MSA"
_OWN_NOUN = re.compile(r"(?:lease|deed|terms|msa|mnda)\b(?!\s+(?:act|code|law))", re.IGNORECASE)
_PARTS = re.compile(r"(?:section|article|clause|schedule|exhibit|annex|appendix|attachment|part)\b", re.IGNORECASE)
# only a paper can be the document itself, called by its title
_PAPER = re.compile(
    r"(?:Agreement|Contract|Terms|Conditions|Lease|Deed|Addendum|Amendment|Licen[cs]e|Policy|Indenture|Guarantee|Charter)$"
)
_ANOTHER = re.compile(r"\b(?:the|that|certain|such|an?|said|to|under|amend(?:s|ing)|\w+[’']s)\s[\"“]?(?:the\s)?$")
_WORD = r"(?!(?:the|an?|that|this|its|under|of|to|is)\b)[\w’'&/-]{1,24}\s+"
_THIS = re.compile(
    rf"\b[Tt](?:his|HIS)\s+[\"“*]{{0,3}}((?:{_WORD}){{0,5}}?(?i:{_NOUN}|msa|mnda))\b[\"”*]{{0,3}}"
    r"(?:\s+((?:of|for)\s+[A-Za-z]{1,20}))?"
)
_DATED = r"(?:dated|made\s+(?:on|as\s+of)|executed\s+on|of\s+even\s+date)\b"
_BOUND = rf"(?:{_DATED}|made\b|entered\s+into|executed|between\b|by\s+and\s+between\b)"
_NAMED = re.compile(
    rf"\b(?P<which>this|the|an?|that(?:\s+certain)?|certain|such|its)\s+(?:{_WORD}){{0,6}}?(?i:{_NOUN})\b",
    re.IGNORECASE,
)
_MEANS = re.compile(
    rf"[\"”“*_\s]{{0,6}}(?:means?|shall\s+mean|refers\s+to|:)\s*(?:the|an?|that(?:\s+certain)?|any)\s+"
    rf"(?:[\w’'&/-]{{1,24}}\s+){{0,8}}?(?i:{_NOUN})\b",
    re.IGNORECASE,
)
_OWN_WORDS = re.compile(r"\b(?:this|these|hereto|herein)\b", re.IGNORECASE)
_LOWER_PAPER = re.compile(
    r"\s*,?\s*(?:(?:of|in|under)\s+(?:another|any\s+other|that|such|those)\s+(?:[a-z]{2,20}\s+){0,2}"
    r"(?:agreement|contract|lease|deed|instrument|indenture|policy|act|law|statute|regulation|code)s?\b"
    r"|of\s+(?:the|an?)\s+(?P<name>(?!present|above|foregoing|whole|entire|said|attached|same|within)[a-z-]{3,20}"
    r"(?:\s+[a-z-]{3,20})?\s+(?:agreement|contract|lease|deed|indenture))\b)"
)
_NAME = r"[A-Z][\w’'&-]*(?:[ ](?:(?:of|and)[ ])?[A-Z][\w’'&-]*){0,5}"
_NAME_BEFORE = re.compile(rf"(?<![\w.-])(?P<the>(?:the|an?|such|its|under|of|in)\s+|The\s+)?(?P<name>{_NAME})[ ]$")
_SPACE_WORD = re.compile(r"(?:Schedule|Exhibit|Annex|Append|Attachment)", re.IGNORECASE)
_LED_BEFORE = re.compile(
    rf"(?:^|[.;:(\n]\s{{0,3}})(?:Under|In|By|Pursuant\s+to|As\s+(?:defined|stated|set\s+out)\s+in)\s+(?:the\s+)?"
    rf"(?P<name>{_NAME})\s*,\s*$"
)
_FIRST_WORD = re.compile(r"(?:The|An?|Under|In|Of)\s")
_CLAUSES = re.compile(r"\b(?:Contractual|Model)\s+Clauses,?\s*$")


class Papers:
    """The papers that one document names."""

    def __init__(self, text: str, terms: Sequence[DefinedTerm] = ()) -> None:
        self._title = " ".join(text[:_FIRST_PAGE].lower().split())
        self._this = {
            " ".join(words.lower().split())
            for match in _THIS.finditer(text)
            for words in (match[1], f"{match[1]} {match[2] or ''}")
        }
        self._nouns = {word for name in self._this for word in name.split()}
        self._defined: dict[str, bool] = {}
        for term in terms:
            other = _is_other(text, term)
            if other is not None:
                for name in (term.term, *term.aliases):
                    self._defined.setdefault(name.lower(), other)

    def is_other(self, name: str, which: str = "the") -> bool:
        """Whether ``which name`` ("that certain Lease") is a paper that is not this document."""
        if _PARTS.match(name):
            return False
        if which.lower().split()[:1] in (["that"], ["another"], ["any"], ["those"]):
            return True
        defined = self._defined.get(name.lower())
        if defined is not None:
            return defined
        if _OWN_NOUN.match(name):
            return not self._calls_itself(name)
        return not _GENERIC.match(name) and not (_PAPER.search(name) is not None and self._is_title(name))

    def named_before(self, text: str, start: int) -> bool:
        """Whether the words before a label name another paper: "the Lease Section 4", "Under the MSA, section 3"."""
        window = max(0, start - 90)
        before = text[window:start]
        if "lauses" in before and _CLAUSES.search(before):
            return True
        last = before.rstrip().rpartition(" ")[2]  # a quick look before the search
        if last.endswith(","):
            match = _LED_BEFORE.search(text, window, start)
        else:
            match = _NAME_BEFORE.search(text, window, start) if last[:1].isupper() else None
        if match is None or _SPACE_WORD.match(text, start):  # a list of exhibits whose lines were joined
            return False
        name = _FIRST_WORD.sub("", match["name"], count=1)
        # an index of terms prints "Supply Agreement Section 7.3" without an article
        if not (match.re is _LED_BEFORE or match["the"] or name != match["name"] or name.isupper()):
            return False
        known = self._defined.get(name.lower())
        return known if known is not None else _PAPER.search(name) is not None and self.is_other(name)

    def named_after(self, text: str, end: int) -> bool:
        """Whether words in small letters after a label do: "of another agreement", "of the facilities agreement"."""
        match = _LOWER_PAPER.match(text, end)
        if match is None:
            return False
        name = match["name"]
        return name is None or not (name in self._this or self._is_title(name))

    def _calls_itself(self, name: str) -> bool:
        """Whether the document is "the Lease" or "the Deed of Guarantee": its title or "this Lease" says so."""
        lowered = name.lower()
        if lowered in self._this or self._is_title(name):
            return True
        noun = lowered.split()[0]
        return len(lowered.split()) == 1 and (noun in self._nouns or not self._nouns)

    def _is_title(self, name: str) -> bool:
        """Whether the first page calls the document so, and not another: "under the Separation Agreement"."""
        places = [found.start() for found in re.finditer(rf"(?<!\w){re.escape(name.lower())}(?!\w)", self._title)]
        return any(not _ANOTHER.search(self._title, max(0, place - 30), place) for place in places)


def _shares_noun(phrase: str, name: str) -> bool:
    """Whether both end in the same paper: "this supply agreement" and "Agreement"."""
    return phrase.lower().split()[-1] == name.lower().split()[-1]


def _is_other(text: str, term: DefinedTerm) -> bool | None:
    """Whether the definition of ``term`` says that it is another paper; None when it says neither."""
    if term.kind == "means":
        after = text[term.span.end : term.span.end + _WINDOW]
        match = _MEANS.match(after)
        if match is None:
            return None
        rest = re.split(r"[.;]\s|\n", after[match.end() :], maxsplit=1)[0]
        return True if re.search(_DATED, rest) and not _OWN_WORDS.search(match[0] + rest) else None
    if term.kind == "meaning_given_in":
        return None
    start = max(0, term.span.start - _WINDOW)
    before = re.split(r"[.;]\s+(?=[A-Z(])|\n\s*\n", text[start : term.span.start])[-1]
    named = list(_NAMED.finditer(before))
    if not named:
        return None
    last = named[-1]
    if (
        last["which"].lower() == "this"
    ):  # "the letter delivered with this Agreement (the "Disclosure Letter")" is another
        return False if _PAPER.search(term.term) and _shares_noun(last[0], term.term) else None
    rest = before[last.end() :]
    # "the terms agreed between the parties (the "Agreement")" may be these: a generic name needs a date
    generic = _GENERIC.match(term.term) or term.term.lower() in ("terms", "conditions")
    certain = "certain" in last["which"].lower()
    bound = certain or re.search(_DATED if generic else _BOUND, rest[:160], re.IGNORECASE)
    # the deed (the "Head Lease")
    close = len(rest.strip(' \t\n(“"*')) <= len("the ") and len(term.term.split()) > 1 and _PAPER.search(term.term)
    if _OWN_WORDS.search(rest):
        return None
    is_this = re.search(r"\bthis\s+(?:is|constitutes)\s*$", before[: last.start()], re.IGNORECASE)
    return True if (bound or close) and not is_this else None
