"""Places that mention a clause by its label, in English; Chinese ones are found by ``reference_mentions_zh.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import Span
from softlookup.documents.reference_labels import LabelKey, head_length, label_key

_ITEM = r"\((?:[a-z]{1,2}|[A-Z]{1,2}|[ivxl]{1,6}|[IVXL]{1,6}|\d{1,3})\)"
_DOTTED = (
    r"\d{1,4}[A-Z]?(?:\.\d{1,3}|-\d{1,4})*(?:\.(?:[a-z]|[ivx]{2,4}|\d{1,2})(?![a-zA-Z]))*"
    rf"(?:\s?{_ITEM}|{_ITEM})*(?![\d%])"
)
_LETTER = r"[\"“]?(?:[IVXLC]{1,7}|[A-Z])(?:-\d+)?(?![\w’'&])[\"”]?"
_WORD = (
    r"(?:Sections?|Clauses?|Articles?|Paragraphs?|Sub-?sections?|Sub-?clauses?|Sub-?paragraphs?|Schedules?|Exhibits?|"
    r"Annex(?:es)?|Annexures?|Appendix|Appendices|Attachments?|Secs?\.|§§?)"
)
_MENTION_EN = re.compile(
    rf"(?<![\w-])(?P<word>(?i:{_WORD}))\s*(?P<label>{_DOTTED}|(?<=\s){_LETTER}(?:{_ITEM})*|(?:{_ITEM})+)(?!\w)"
)
_NEXT_EN = re.compile(
    rf"(?:\s*(?!{_ITEM})\([A-Z][^()\n]{{2,60}}\))?"  # Sections 5 (Payment) and 6
    rf"(?P<glue>\s*,\s*(?:and/or|and|or|&)?\s*|\s+(?:and/or|and|or|through|to|thru|&)\s+|\s*[–—-]\s*)"
    rf"(?:(?P<word>(?i:{_WORD}))\s*)?(?P<label>{_DOTTED}|{_LETTER}|(?:{_ITEM})+)(?!\w)"
)
_RANGE_GLUE = re.compile(r"through|thru|to|[–—-]")
_OF_CLAUSE = re.compile(rf"\s+of\s+(?:this\s+)?(?P<word>(?i:{_WORD}))\s*(?P<label>{_DOTTED}|{_LETTER})(?!\w)")
# "of the Exchange Act", "of the Company Disclosure Letter"; a heading in parentheses may stand between
_OF_OTHER = re.compile(
    r"(?:\s*\([^()]{1,60}\))?\s*,?\s*(?:inclusive\s*,?\s*)?of\s+(?:the\s+|such\s+|that\s+certain\s+|its\s+|their\s+|each\s+)?"
    r"(?P<name>(?:[A-Z]|\d+\s+[A-Z])[\w.’'&/-]*(?:\s+(?:[A-Z(][\w.’'&/()-]*|of|and|on|for))*)"
)
_ELSEWHERE = re.compile(r"\s*,?\s*(?:et\.?\s+seq|thereof\b|thereunder\b)")
# no contract has a hundred sections; "Section 409A" is the Internal Revenue Code
_STATUTE_NUMBER = r"\d{3}"
_OWN_NAMES = re.compile(
    r"(?:this|agreement|contract|terms|lease|deed|framework\s+terms|standard\s+terms|msa|mnda|section|article|"
    r"clause|schedule|exhibit|annex|appendix|attachment|agreement\s+and)\b(?!\s+(?:act|code|law))",
    re.IGNORECASE,
)
# only a paper can be the document itself, called by its title
_PAPER = re.compile(r"(?:Agreement|Contract|Terms|Lease|Deed|Addendum|Amendment|Licen[cs]e|Policy)$")
_STATUTE_BEFORE = re.compile(
    r"(?:\bCode|\bAct|\bRules?|\bRegulations?|\bTreas\.?\s+Reg\.?|U\.?\s?S\.?\s?C\.?(?:A\.)?|C\.?\s?F\.?\s?R\.?|\bStatutes?|"
    r"\bOrdinance|\bLaw|\bStat\.|\bUCC|\bERISA|\bD?FARS?|\bHIPAA|\bDGCL|\bGDPR)\s*,?\s*(?:\(?[\d.]+\)?\s*,?\s*)?$"
)
_OTHER_PAPER_BEFORE = re.compile(
    r"(?:Disclosure\s+(?:Letter|Schedules?|Memorandum)|[A-Z][\w.&]+\s+(?:Letter|Plan|Indenture|Prospectus))\s*,?\s*$"
)

# the rest of a line of a table of contents, also when its lines were joined: "  Publicity    53  Section"
_CONTENTS_LINE = re.compile(
    r"\.?\s+[A-Z][^.;:\n]{2,120}?(?:\s*\.{3,}\s*|\s{2,}|\s)\d{1,3}"
    r"(?=\s*\n|\s+(?:Section|SECTION|Article|ARTICLE|Exhibit|Annex)\s)"
)
_LABEL_WITHIN = 200  # characters: a label farther from its line start is a mention
_LETTERS = re.compile(r"[A-Za-z]+|§")
_THIS_BEFORE = re.compile(r"\bthis\s+$", re.IGNORECASE)


class Mention(NamedTuple):
    """One label in the text.

    The first ``head`` parts of ``key`` are one number, the others steps inside it. ``last`` closes a range,
    ``within`` names what holds the clause, outermost first, ``base`` is (step, unit) for 本条第二款 and 前款第一项,
    ``listed`` tells that it is one of several ("Sections 4 and 5"), and ``own`` tells "this Section 5": the mention
    itself says that it stands inside the target.
    """

    span: Span
    key: LabelKey
    last: LabelKey | None = None
    external: bool = False
    likely_statute: bool = False
    within: tuple[LabelKey, ...] = ()
    own: bool = False
    base: tuple[int, str] | None = None
    head: int = 1
    listed: bool = False


def english_mentions(text: str) -> Iterator[Mention]:
    """Mentions such as "Section 5.1(a)", each member of a list of its own, ranges as one."""
    title = " ".join(text[:600].lower().split())
    end = 0
    for match in _MENTION_EN.finditer(text):
        if match.start() < end or _is_printed_label(text, match):
            continue
        members = list(_members(text, match))
        if not members:
            continue
        end = members[-1][0].end
        outside = _named_before(text, match.start())
        last_word = _words(text, members)[-1]
        outside_after = _named_after(text, end, title)
        own = bool(_THIS_BEFORE.search(text, max(0, match.start() - 8), match.start()))
        head = 0
        for (span, printed, last), word in zip(members, _words(text, members), strict=True):
            # "clauses 1 and 2 and Section 27 of the Housing Act": the Act has the Section alone
            external = outside or (outside_after and word == last_word)
            key, within = _qualified(text, printed, end) if span.end == end else (printed, ())
            statute = bool(re.match(_STATUTE_NUMBER, key.parts[0]))
            label = re.sub(r"^[^\d(]+", "", text[span.start : span.end])
            if not label.startswith("("):  # "(b)" after 5.1(a) keeps the head of the list
                head = head_length(label.split()[0]) if label else 1
            yield Mention(span, key, last, external, statute, within, own=own, head=head, listed=len(members) > 1)


def _members(text: str, match: re.Match[str]) -> Iterator[tuple[Span, LabelKey, LabelKey | None]]:
    """(span, key, end of range) of every label of the list that starts at ``match``."""
    word = match["word"]
    plural = word.lower().rstrip(".").endswith(("s", "ces")) or word == "§§"
    key = _key(word, match["label"])
    if key is None:
        return
    span, base, last = Span(match.start(), match.end("label")), key, None
    while True:
        following = _NEXT_EN.match(text, span.end)
        if following is None:
            break
        word = following["word"] or word
        label = following["label"]
        items_only = label.startswith("(")
        items_follow = items_only and "(" in match["label"]
        if not (following["word"] or plural or items_follow or ("." in label and "." in match["label"])):
            break  # "Section 5 and 30 days": a bare number after a singular word is no label
        bare = following["word"] is None
        key = _sibling(base, label) if items_only and bare else _key(word, label)
        # "Sections 2.1 and 3.1, A pays": letters are listed after letters alone
        lettered = plural and match["label"][0] in '"“ABCDEFGHIJKLMNOPQRSTUVWXYZ'
        if key is None or (bare and label[0].isalpha() and not lettered):
            break
        place = Span(following.start("word") if following["word"] else following.start("label"), following.end("label"))
        if _RANGE_GLUE.search(following["glue"]) and last is None:
            span, last = Span(span.start, place.end), key
            continue
        yield span, base, last
        span, base, last = place, key, None
    yield span, base, last


def _key(word: str, label: str) -> LabelKey | None:
    singular = re.sub(r"(?i)^(schedule|exhibit|annexure|attachment)s$", r"\1", word)
    singular = re.sub(r"(?i)^annexes$", "Annex", re.sub(r"(?i)^appendices$", "Appendix", singular))
    if label.startswith("("):
        return label_key(label.replace(" ", ""))
    return label_key(f"{singular} {label.replace(' ', '')}")


def _sibling(base: LabelKey, label: str) -> LabelKey | None:
    """Key of "(b)" after "5.1(a)": 5.1(b)."""
    items = label_key(label)
    if items is None:
        return None
    alike = [i for i, part in enumerate(base.parts) if i and _style(part) == _style(items.parts[0])]
    stem = base.parts[: alike[-1]] if alike else base.parts[:-1]
    return LabelKey(base.kind, (*stem, *items.parts))


def _style(part: str) -> str:
    return "digit" if part.isdigit() else "roman" if re.fullmatch(r"[ivx]+", part) else "letter"


def _qualified(text: str, key: LabelKey, end: int) -> tuple[LabelKey, tuple[LabelKey, ...]]:
    """Key and surrounding clause, from the words after it: "clause (i) of Section 5.1"."""
    match = _OF_CLAUSE.match(text, end)
    outer = _key(match["word"], match["label"]) if match else None
    return (key, ()) if outer is None or outer.kind == "item" else (key, (outer,))


def _is_printed_label(text: str, match: re.Match[str]) -> bool:
    """Whether the words stand where a clause or a line of a table of contents is labelled, not mentioned."""
    word = match["word"]
    if word.isupper() and len(word) > 2 and re.search(r"[a-z]{2}", text[max(0, match.start() - 30) : match.start()]):
        return True  # "...as follows: ARTICLE I APPOINTMENT": a heading that lost its line break
    if _CONTENTS_LINE.match(text, match.end()):
        return True
    line_start = text.rfind("\n", max(0, match.start() - _LABEL_WITHIN), match.start()) + 1
    if line_start == 0 and match.start() > _LABEL_WITHIN:
        return False
    if text[line_start : match.start()].strip(" \t#>*|"):
        return False
    earlier = text[max(0, line_start - 80) : line_start].rstrip(" \t")
    fresh = not earlier.strip() or earlier.endswith("\n\n") or earlier.rstrip()[-1:] in ".;:。；："
    rest = text[match.end() : match.end() + 4]
    return (fresh or bool(re.match(r"\.?(?:\s{2,}|\t|\n)", rest))) and not word.lower().endswith("s")


def _words(text: str, members: Sequence[tuple[Span, LabelKey, LabelKey | None]]) -> list[str]:
    """The word that each member of a list is called by, its own or that of the member before: "section"."""
    words: list[str] = []
    for span, _, _ in members:
        printed = _LETTERS.match(text, span.start, span.end)
        own = printed is not None and (len(printed[0]) > 1 or printed[0] == "§")
        words.append(printed[0].lower().rstrip("s.") if printed and own else words[-1] if words else "")
    return words


def _named_before(text: str, start: int) -> bool:
    """Whether the words before place the label in a statute or in another document."""
    before = text[max(0, start - 60) : start]
    return bool(_STATUTE_BEFORE.search(before) or _OTHER_PAPER_BEFORE.search(before))


def _named_after(text: str, end: int, title: str) -> bool:
    """Whether the words after the last label do so: "of the Exchange Act"."""
    if _ELSEWHERE.match(text, end):
        return True
    match = _OF_OTHER.match(text, end)
    if match is None:
        return False
    name = " ".join(match["name"].split())
    names_itself = _PAPER.search(name) is not None and name.lower() in title
    return not _OWN_NAMES.match(name) and not names_itself
