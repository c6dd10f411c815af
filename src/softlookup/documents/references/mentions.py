"""Places that mention a clause by its label, in English; Chinese ones are found by ``reference_mentions_zh.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import Span
from softlookup.documents.references.labels import ORDINAL, LabelKey, head_length, label_key
from softlookup.documents.references.members import (
    DOTTED,
    END,
    INNER,
    ITEM,
    LETTER,
    SPACES,
    WORD,
    as_range,
    is_plural,
    key_of,
    members_of,
)
from softlookup.documents.references.outside import named_after, named_before
from softlookup.documents.references.papers import Papers

_MENTION_EN = re.compile(
    rf"(?=[A-Za-z§])(?<![A-Za-z0-9_-])(?P<word>(?i:{WORD}))\s*(?:[\"“](?=\())?"
    rf"(?P<label>{DOTTED}|(?<=\s){LETTER}(?:{ITEM}){{0,9}}|(?:{ITEM}){{1,9}}){END}"
)
_OF_CLAUSE = re.compile(
    r"\s+of\s+(?:the\s+(?:first|second|third|fourth|fifth|last|final|penultimate|next)\s+(?:sentence|paragraph)\s+of\s+)?"
    rf"(?:(?:this|the|such)\s+)?(?P<word>(?i:{WORD})|Part)\s*(?P<label>{DOTTED}|{LETTER}(?:{ITEM}){{0,9}}){END}"
)
_TO_SCHEDULE = re.compile(
    rf"\s+to\s+(?P<word>(?i:{'|'.join(SPACES)}))\s+(?P<label>{DOTTED}|{LETTER}){END}"
)  # Annex A to Schedule 2
_ORDINAL_SPACE = (
    rf"(?:(?i:the)\s+)?(?i:{ORDINAL})\s+"
    r"(?:Schedule|Exhibit|Annex|Appendix|SCHEDULE|EXHIBIT|ANNEX|APPENDIX)\b(?!\s+[\dA-Z]\b)"
)
_OF_ORDINAL = re.compile(rf"\s+(?:of|to|in)\s+(?P<space>{_ORDINAL_SPACE})")  # paragraph 1 of the First Schedule
_IN_ORDINAL = re.compile(
    rf"(?<![\w-])(?P<space>{_ORDINAL_SPACE})"
    rf"(?:\s*,\s*(?:at\s+)?(?P<word>(?i:{'|'.join(INNER)}|Part))\s+(?P<label>{DOTTED}|{LETTER}){END})?"
)
# Exhibit 11 Clause 1.2; Annex I, Part 2; after a comma only what is smaller than a clause
_INSIDE = re.compile(
    rf"(?:\s+(?P<word>(?i:{'|'.join(INNER)}|Parts?|Secs?\.|§§?))|\s*,\s*(?P<small>(?i:Part|Paragraph|Para\.)))"
    rf"\s+(?P<label>{DOTTED}|{LETTER}){END}"
)
_PART_OF = re.compile(
    rf"(?<![\w-])(?P<word>Part)\s+(?P<label>\d{{1,2}}|[IVX]{{1,5}}|[A-Z])"
    rf"(?=\s+of\s+(?:(?:this|the)\s+)?(?i:{'|'.join(SPACES)})\s)"
)
# pursuant to 10.01(b)(iii)
_BARE = re.compile(rf"(?<![\w.$§€£-])\d{{1,2}}\.\d{{1,2}}(?:{ITEM}){{1,4}}{END}")
_BARE_BEFORE = re.compile(r"\b(?:to|under|in|of|by|with|and|or|per|see|from)\s$", re.IGNORECASE)
# no contract has a hundred sections; "Section 409A" is the Internal Revenue Code
_HOLDERS_MOST = 3
_STATUTE_NUMBER = r"\d{3}|\d+-\d+-\d+"
# the rest of a line of a table of contents, also when its lines were joined: "  Publicity    53  Section"
_CONTENTS_LINE = re.compile(
    r"\.?\s+[A-Z][^.\n]{2,120}?(?:\s*\.{3,}\s*|\.?\s{2,}|\.?\s)\d{1,3}"
    r"(?=\s*\n|\s+(?:(?:Section|SECTION|Article|ARTICLE|Exhibit|Annex)\s|\d{1,2}\.\d{1,2}\.?\s+[A-Z]))"
    r"|\s?\.{5,}"
)
_LOST_BREAK = re.compile(r"[a-z]{2}[^a-zA-Z]*[.:;!?”\"]\s+$")
_CAPITALS = re.compile(r"[\s.:–—-]{1,6}[A-Z][A-Z]")
# in a list of exhibits whose lines were joined: "Exhibit B - Form of Deed", "Exhibit C        Form of Lease"
_LIST_ENTRY = re.compile(
    r"(?:[ ]{1,3}[-–—][ ]{1,3}|[ ]{5,40})(?:Form|Certificate|List|Description|Legal|[A-Z][a-z]+\s(?:of|and)\s)"
)
_SENTENCE_BEFORE = re.compile(r"(?<![\w-])[a-z]+[\s(,“\"]+$")  # "as in Appendix B - Marks" is no entry
_DASHED_TITLE = re.compile(r"[ ]{1,3}[-–—][ ]{1,3}[A-Z]")  # SCHEDULE B - Marks SCHEDULE C - Domain Names
# "Clause 3. Payment" at the start of a line: the heading of a clause of the paper that is amended
_QUOTED_HEADING = re.compile(r"(?:[.:]|\s[-–—])?[ \t]+[A-Z(]|[.:]?[ \t]*\n")
# "Clause 1 applies." begins a paragraph with a reference; a heading goes on with a capital or a full stop
_SENTENCE_AFTER = re.compile(
    r"(?:,[ ]|[ ]\([A-Z][^()\n]{1,60}\)[ ,]{1,2}|[ ])"
    r"(?:and|or|to|through|of|above|below|hereof|shall|will|may|must|is|are|was|were|has|"
    r"have|does|do|did|applies|apply|survives?|governs?|contains?|sets?|states?|provides?|requires?|prevails?|remains?|"
    r"continues?|ceases?|limits?|takes?|as|in|which|does|relates?|creates?|deals?|describes?|lists?|also|only|"
    r"cannot|binds?|expires?|ends?|overrides?)\b"
)
_LABEL_WITHIN = 200  # characters: a label farther from its line start is a mention
_LETTERS = re.compile(r"[A-Za-z]+|§")
_THIS_BEFORE = re.compile(r"\bthis\s+$", re.IGNORECASE)


class Mention(NamedTuple):
    """One label in the text.

    The first ``head`` parts of ``key`` are one number, the others steps inside it. ``last`` closes a range,
    ``within`` names what holds the clause, outermost first, ``base`` is (step, unit) for 本条第二款 and 前款第一项,
    ``listed`` tells that it is one of several ("Sections 4 and 5"), and ``own`` tells "this Section 5": the mention
    itself says that it stands inside the target. ``bare`` is a number without the word for a clause, which counts
    only where it names one.
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
    bare: bool = False


def english_mentions(text: str, papers: Papers | None = None) -> Iterator[Mention]:
    """Mentions such as "Section 5.1(a)", each member of a list of its own, ranges as one.

    ``papers`` tell which contract is this one; without them only the text does, and not its defined terms.
    """
    papers = Papers(text) if papers is None else papers
    end = 0
    for match in _MENTION_EN.finditer(text):
        if match.start() < end or _is_printed_label(text, match) or _is_commission(text, match):
            continue
        if match["label"].startswith("(s)") and match.end("word") == match.start("label"):
            continue  # article(s)
        nested = _nested(text, match, papers)
        found = [nested] if nested else _listed(text, match, papers)
        yield from found
        end = max((mention.span.end for mention in found), default=end)
    for match in _PART_OF.finditer(text):
        yield from _listed(text, match, papers)
    yield from _ordinal_spaces(text, papers)
    for match in _BARE.finditer(text):
        key = label_key(match.group())
        if key is not None and _BARE_BEFORE.search(text, max(0, match.start() - 8), match.start()):
            external = named_after(text, match.end(), papers) or named_before(text, match.start(), papers)
            yield Mention(Span(*match.span()), key, external=external, head=2, bare=True)


def _ordinal_spaces(text: str, papers: Papers) -> Iterator[Mention]:
    """Mentions such as "the Second Schedule" and "the Second Schedule, paragraph 1"."""
    for match in _IN_ORDINAL.finditer(text):
        outer = label_key(match["space"])
        line = text[max(0, match.start() - _LABEL_WITHIN) : match.start()].rpartition("\n")[2]
        if outer is None or not line.strip(" #*|\t"):
            continue  # the heading of the schedule
        external = named_before(text, match.start(), papers) or named_after(text, match.end(), papers)
        key = key_of(match["word"], match["label"]) if match["word"] else None
        span = Span(match.start("space"), match.end())
        if key is None:
            yield Mention(span, outer, external=external)
        else:
            head = max(1, head_length(match["label"]))
            yield Mention(span, key, external=external, within=(outer,), head=head)


def _nested(text: str, match: re.Match[str], papers: Papers) -> Mention | None:
    """Exhibit 11 Clause 1.2: one label inside another."""
    outer = key_of(match["word"], match["label"])
    if outer is None or not outer.opens_namespace:
        return None
    inside = _INSIDE.match(text, match.end("label"))
    key = key_of(inside["word"] or inside["small"], inside["label"]) if inside else None
    if inside is None or key is None:
        return None
    span = Span(match.start(), inside.end("label"))
    external = named_before(text, match.start(), papers) or named_after(text, span.end, papers)
    return Mention(span, key, external=external, within=(outer,), head=max(1, head_length(inside["label"])))


def _listed(text: str, match: re.Match[str], papers: Papers) -> list[Mention]:
    """Every label of the list that begins at ``match``, mostly one."""
    members = list(members_of(text, match))
    if not members:
        return []
    words = _words(text, members)
    end = members[-1][0].end
    outside = named_before(text, match.start(), papers)
    holders, whole, first = _holder(text, end)
    several = _shares_holder(text, members)
    shared = several and is_plural(match["word"]) and len(set(words)) == 1
    outside_after = named_after(text, whole, papers)
    own = bool(_THIS_BEFORE.search(text, max(0, match.start() - 8), match.start()))
    mentions: list[Mention] = []
    head = 0
    for (span, key, last), word in zip(map(as_range, members), words, strict=True):
        # "clauses 1 and 2 and Section 27 of the Housing Act": the Act has the Section alone
        external = outside or (outside_after and word == words[-1])
        statute = re.match(_STATUTE_NUMBER, key.parts[0]) is not None or _is_form(key)
        label = re.sub(r"^[^\d(]+", "", text[span.start : span.end])
        if not label.startswith("("):  # "(b)" after 5.1(a) keeps the head of the list
            head = min(head_length(label.split()[0]), len(key.parts)) if label else 1
        # "paragraphs 1 and 3 of Schedule 2" are both in Schedule 2
        held = bool(holders) and (span.end == end or key.kind == "item" or shared)
        within = holders if held else ()
        place = Span(span.start, whole) if held and span.end == end and not several else span
        listed = len(members) > 1
        mentions.append(Mention(place, key, last, external, statute, within, own=own, head=head, listed=listed))
    if holders and several:  # "clauses (i) and (ii) of Section 5.1": Section 5.1 holds both
        mentions.append(_held(text, Span(first, whole), holders, external=outside or outside_after))
    return mentions


def _shares_holder(text: str, members: Sequence[tuple[Span, LabelKey, LabelKey | None]]) -> bool:
    """Whether words such as "of Section 5.1" hold a list or a range; a last member with its own word has them alone."""
    return as_range(members[0])[2] is not None or (len(members) > 1 and not text[members[-1][0].start].isalpha())


def _held(text: str, span: Span, holders: tuple[LabelKey, ...], *, external: bool) -> Mention:
    """The words that say what holds a list, as a mention of their own."""
    label = re.sub(r"^\D+", "", text[span.start : span.end].split(" of ", maxsplit=1)[0])
    own = bool(_THIS_BEFORE.search(text, max(0, span.start - 8), span.start))
    return Mention(span, holders[-1], external=external, within=holders[:-1], own=own, head=max(1, head_length(label)))


def _is_form(key: LabelKey) -> bool:
    """Whether the label is that of a form of the Securities and Exchange Commission: Schedule 13D."""
    return key.kind == "schedule" and re.fullmatch(r"1[34][a-z](?:-\d)?", key.parts[0], re.IGNORECASE) is not None


def _holder(text: str, end: int) -> tuple[tuple[LabelKey, ...], int, int]:
    """What holds the clause by the words after it ("(i) of Section 5.1"), outermost first; their end and start."""
    holders: list[LabelKey] = []
    start = end
    while len(holders) < _HOLDERS_MOST:
        ordinal = _OF_ORDINAL.match(text, end)
        space = label_key(ordinal["space"]) if ordinal else None
        if ordinal is not None and space is not None:
            start = start if holders else ordinal.start("space")
            holders.insert(0, space)
            end = ordinal.end()
            continue
        match = _OF_CLAUSE.match(text, end) or _TO_SCHEDULE.match(text, end)
        outer = key_of(match["word"], match["label"]) if match else None
        if match is None or outer is None or outer.kind == "item":
            break
        start = start if holders else match.start("word")
        holders.insert(0, outer)
        end = match.end("label")
    return tuple(holders), end, start


def _is_printed_label(text: str, match: re.Match[str]) -> bool:
    """Whether the words stand where a clause or a line of a table of contents is labelled, not mentioned."""
    word = match["word"]
    # "...as follows: ARTICLE I APPOINTMENT": a heading that lost its line break
    upper = word.isupper() and len(word) > 2 and not is_plural(word) and _CAPITALS.match(text, match.end())
    if upper and _LOST_BREAK.search(text, max(0, match.start() - 30), match.start()):
        return True
    if _CONTENTS_LINE.match(text, match.end()):
        return True
    if word[:1].isupper() and not is_plural(word) and _DASHED_TITLE.match(text, match.end()):
        shouted = word.isupper() and len(word) > 2
        if shouted or not _SENTENCE_BEFORE.search(text, max(0, match.start() - 30), match.start()):
            return True
    if word[:1].isupper() and not is_plural(word) and _LIST_ENTRY.match(text, match.end()):
        return True
    line_start = text.rfind("\n", max(0, match.start() - _LABEL_WITHIN), match.start()) + 1
    if line_start == 0 and match.start() > _LABEL_WITHIN:
        return False
    lead = text[line_start : match.start()].strip(" \t#>*|")
    if lead:
        return lead in ("“", '"') and not is_plural(word) and _QUOTED_HEADING.match(text, match.end()) is not None
    earlier = text[max(0, line_start - 80) : line_start].rstrip(" \t")
    fresh = not earlier.strip() or earlier.endswith("\n\n") or earlier.rstrip()[-1:] in ".;:。；："
    rest = text[match.end() : match.end() + 4]
    in_sentence = _SENTENCE_AFTER.match(text, match.end()) is not None
    return (
        not in_sentence and (fresh or bool(re.match(r"\.?(?:\s{2,}|\t|\n)", rest))) and not word.lower().endswith("s")
    )


def _is_commission(text: str, match: re.Match[str]) -> bool:
    """Whether "SEC. 13" ends a sentence about the Commission, and a page."""
    return match["word"] == "SEC." and text[max(0, match.start() - 4) : match.start()].lower() == "the "


def _words(text: str, members: Sequence[tuple[Span, LabelKey, LabelKey | None]]) -> list[str]:
    """The word that each member of a list is called by, its own or that of the member before: "section"."""
    words: list[str] = []
    for span, _, _ in members:
        printed = _LETTERS.match(text, span.start, span.end)
        own = printed is not None and (len(printed[0]) > 1 or printed[0] == "§")
        words.append(printed[0].lower().rstrip("s.") if printed and own else words[-1] if words else "")
    return words
