"""Places that mention a clause by its label, in English; Chinese ones are found by ``reference_mentions_zh.py``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import Span
from softlookup.documents.numbering import letter_number, roman_number
from softlookup.documents.reference_labels import LabelKey, head_length, label_key
from softlookup.documents.reference_outside import named_after, named_before

_ITEM = r"\((?:[a-z]{1,2}|[A-Z]{1,2}|[ivxl]{1,6}|[IVXL]{1,6}|\d{1,3})\)"
_DOTTED = (
    r"\d{1,4}[A-Z]?(?:\.\d{1,4}|-\d{1,4})*(?:\.(?:[a-z]|[ivx]{2,4}|\d{1,2})(?![a-zA-Z]))*"
    rf"(?:\s?{_ITEM}|{_ITEM})*(?![\d%])"
)
_LETTER = r"[\"“]?(?:[IVXLC]{1,7}|[A-Z])(?:-\d+)?(?![\w’'&])[\"”]?"
_SPACES = ("Schedules?", "Exhibits?", "Annex(?:es)?", "Annexures?", "Appendix", "Appendices", "Attachments?")
_INNER = ("Sections?", "Clauses?", "Articles?", "Paragraphs?", "Sub-?sections?", "Sub-?clauses?", "Sub-?paragraphs?")
_WORD = rf"(?:{'|'.join((*_INNER, *_SPACES))}|Secs?\.|§§?)"
# the label ends there, or a blank was lost before the next word: "Clause 3.1of this Agreement"
_END = r"(?!\.?\d)(?:(?!\w)|(?=(?:of|and|or|to|hereof|shall|above|below)\b))"
_MENTION_EN = re.compile(
    rf"(?<![\w-])(?P<word>(?i:{_WORD}))\s*(?:[\"“](?=\())?"
    rf"(?P<label>{_DOTTED}|(?<=\s){_LETTER}(?:{_ITEM})*|(?:{_ITEM})+){_END}"
)
_NEXT_EN = re.compile(
    # Sections 5 (Payment) and 6, Exhibits 8 ("Rent") and 9
    rf"(?:\s*(?!{_ITEM})\((?:[A-Z][^()\n]{{2,60}}|[\"“][^()\"“”\n]{{1,60}}[\"”])\))?"
    rf"(?P<glue>\s*,\s*(?:,\s*)?(?i:and/or|and|or|&)?\s*|\s+(?i:and/or|and|or|through|to|thru|&)\s+|\s*[–—-]\s*)"
    rf"(?:(?P<word>(?i:{_WORD}))\s*)?(?P<label>{_DOTTED}|{_LETTER}|(?:{_ITEM})+){_END}"
)
_RANGE_GLUE = re.compile(r"through|thru|to|[–—-]", re.IGNORECASE)
_OF_CLAUSE = re.compile(
    r"\s+of\s+(?:the\s+(?:first|second|third|fourth|fifth|last|final|penultimate|next)\s+(?:sentence|paragraph)\s+of\s+)?"
    rf"(?:(?:this|the|such)\s+)?(?P<word>(?i:{_WORD}))\s*(?P<label>{_DOTTED}|{_LETTER}(?:{_ITEM})*){_END}"
)
# Exhibit 11 Clause 1.2; Annex I, Part 2; after a comma only what is smaller than a clause
_INSIDE = re.compile(
    rf"(?:\s+(?P<word>(?i:{'|'.join(_INNER)}|Parts?|Secs?\.|§§?))|\s*,\s*(?P<small>(?i:Part|Paragraph|Para\.)))"
    rf"\s+(?P<label>{_DOTTED}|{_LETTER}){_END}"
)
_PART_OF = re.compile(
    rf"(?<![\w-])(?P<word>Part)\s+(?P<label>\d{{1,2}}|[IVX]{{1,5}}|[A-Z])"
    rf"(?=\s+of\s+(?:(?:this|the)\s+)?(?i:{'|'.join(_SPACES)})\s)"
)
_HALF_ITEM = re.compile(r"\s(?P<item>[a-z])\)")  # Clause 16.1 b)
# pursuant to 10.01(b)(iii)
_BARE = re.compile(rf"(?<![\w.$§€£-])\d{{1,2}}\.\d{{1,2}}(?:{_ITEM}){{1,4}}{_END}")
_BARE_BEFORE = re.compile(r"\b(?:to|under|in|of|by|with|and|or|per|see|from)\s$", re.IGNORECASE)
_LISTED_ITEM = re.compile(r"\(([^()]{1,6})\)")
_NEAR = 8  # letters that "(a) or (h)" may skip
_ENUMERATED_WITHIN = 600  # characters in which "(x)" stands before "(y)" when both count phrases of a sentence
# no contract has a hundred sections; "Section 409A" is the Internal Revenue Code
_STATUTE_NUMBER = r"\d{3}|\d+-\d+-\d+"
# the rest of a line of a table of contents, also when its lines were joined: "  Publicity    53  Section"
_CONTENTS_LINE = re.compile(
    r"\.?\s+[A-Z][^.;:\n]{2,120}?(?:\s*\.{3,}\s*|\s{2,}|\s)\d{1,3}"
    r"(?=\s*\n|\s+(?:Section|SECTION|Article|ARTICLE|Exhibit|Annex)\s)"
)
_LOST_BREAK = re.compile(r"[a-z]{2}[^a-zA-Z]*[.:;!?”\"]\s+$")
_CAPITALS = re.compile(r"[\s.:–—-]{1,6}[A-Z][A-Z]")
# in a list of exhibits whose lines were joined: "Exhibit B - Form of Deed", "Exhibit C        Form of Lease"
_LIST_ENTRY = re.compile(
    r"(?:[ ]{1,3}[-–—][ ]{1,3}|[ ]{5,40})(?:Form|Certificate|List|Description|Legal|[A-Z][a-z]+\s(?:of|and)\s)"
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


def english_mentions(text: str) -> Iterator[Mention]:
    """Mentions such as "Section 5.1(a)", each member of a list of its own, ranges as one."""
    title = " ".join(text[:600].lower().split())
    end = 0
    for match in _MENTION_EN.finditer(text):
        if match.start() < end or _is_printed_label(text, match) or _is_commission(text, match):
            continue
        nested = _nested(text, match)
        found = [nested] if nested else _listed(text, match, title)
        yield from found
        end = max((mention.span.end for mention in found), default=end)
    for match in _PART_OF.finditer(text):
        yield from _listed(text, match, title)
    for match in _BARE.finditer(text):
        key = label_key(match.group())
        if key is not None and _BARE_BEFORE.search(text, max(0, match.start() - 8), match.start()):
            external = named_after(text, match.end(), title) or named_before(text, match.start())
            yield Mention(Span(*match.span()), key, external=external, head=2, bare=True)


def _nested(text: str, match: re.Match[str]) -> Mention | None:
    """Exhibit 11 Clause 1.2: one label inside another."""
    outer = _key(match["word"], match["label"])
    if outer is None or not outer.opens_namespace:
        return None
    inside = _INSIDE.match(text, match.end("label"))
    key = _key(inside["word"] or inside["small"], inside["label"]) if inside else None
    if inside is None or key is None:
        return None
    span = Span(match.start(), inside.end("label"))
    external = named_before(text, match.start()) or named_after(text, span.end, "")
    return Mention(span, key, external=external, within=(outer,), head=max(1, head_length(inside["label"])))


def _listed(text: str, match: re.Match[str], title: str) -> list[Mention]:
    """Every label of the list that begins at ``match``, mostly one."""
    members = list(_members(text, match))
    if not members:
        return []
    words = _words(text, members)
    end = members[-1][0].end
    outside = named_before(text, match.start())
    outer, whole = _holder(text, end)
    outside_after = named_after(text, whole, title)
    own = bool(_THIS_BEFORE.search(text, max(0, match.start() - 8), match.start()))
    mentions: list[Mention] = []
    head = 0
    for (span, key, last), word in zip(map(_as_range, members), words, strict=True):
        # "clauses 1 and 2 and Section 27 of the Housing Act": the Act has the Section alone
        external = outside or (outside_after and word == words[-1])
        statute = re.match(_STATUTE_NUMBER, key.parts[0]) is not None or _is_form(key)
        label = re.sub(r"^[^\d(]+", "", text[span.start : span.end])
        if not label.startswith("("):  # "(b)" after 5.1(a) keeps the head of the list
            head = head_length(label.split()[0]) if label else 1
        held = outer is not None and (span.end == end or key.kind == "item")
        within = (outer,) if outer is not None and held else ()
        place = Span(span.start, whole) if held and span.end == end else span
        listed = len(members) > 1
        mentions.append(Mention(place, key, last, external, statute, within, own=own, head=head, listed=listed))
    return mentions


def _members(text: str, match: re.Match[str]) -> Iterator[tuple[Span, LabelKey, LabelKey | None]]:
    """(span, key, end of range) of every label of the list that starts at ``match``."""
    word = match["word"]
    plural = _is_plural(word)
    printed, end = match["label"], match.end("label")
    half = _HALF_ITEM.match(text, end) if printed[-1].isdigit() else None
    if half and text.rfind("(", max(0, end - 200), end) <= text.rfind(")", max(0, end - 200), end):
        printed, end = f"{printed}({half['item']})", half.end()
    key = _key(word, printed)
    if key is None:
        return
    span, base, last = Span(match.start(), end), key, None
    while True:
        following = _NEXT_EN.match(text, span.end)
        if following is None:
            break
        if following["word"]:
            word = following["word"]
            plural = _is_plural(word)
        label = following["label"]
        items_only = label.startswith("(")
        items_follow = items_only and "(" in printed
        if not (following["word"] or plural or items_follow or ("." in label and "." in match["label"])):
            break  # "Section 5 and 30 days": a bare number after a singular word is no label
        if items_only and not following["word"] and "(" in printed and not _continues(text, span.start, printed, label):
            break
        bare = following["word"] is None
        key = _sibling(base, label) if items_only and bare else _key(word, label)
        # "Sections 2.1 and 3.1, A pays": letters are listed after letters alone
        lettered = plural and match["label"][0] in '"“ABCDEFGHIJKLMNOPQRSTUVWXYZ'
        if key is None or (bare and label[0].isalpha() and not lettered):
            break
        place = Span(following.start("word") if following["word"] else following.start("label"), following.end("label"))
        if _RANGE_GLUE.search(following["glue"]) and last is None:
            span, last = Span(span.start, place.end), key
            printed = printed + label if items_only and bare else label
            continue
        yield span, base, last
        span, base, last = place, key, None
        printed = printed + label if items_only and bare else label
    yield span, base, last


def _is_plural(word: str) -> bool:
    return word.lower().rstrip(".").endswith(("s", "ces")) or word == "§§"


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
    alike = [
        i for i, part in enumerate(base.parts) if (i or base.kind == "item") and _style(part) == _style(items.parts[0])
    ]
    stem = base.parts[: alike[-1]] if alike else base.parts[:-1]
    return LabelKey(base.kind, (*stem, *items.parts))


def _style(part: str) -> str:
    return "digit" if part.isdigit() else "roman" if re.fullmatch(r"[ivx]+", part) else "letter"


def _as_range(member: tuple[Span, LabelKey, LabelKey | None]) -> tuple[Span, LabelKey, LabelKey | None]:
    """The member as a range when its label is one: "4-6"."""
    span, key, last = member
    ends = re.fullmatch(r"(\d{1,2})-(\d{1,2})", key.parts[-1])
    if last is None and ends and len(key.parts) == 1 and key.kind == "clause" and int(ends[1]) < int(ends[2]):
        return span, key._replace(parts=(ends[1],)), key._replace(parts=(ends[2],))
    return member


def _is_form(key: LabelKey) -> bool:
    """Whether the label is that of a form of the Securities and Exchange Commission: Schedule 13D."""
    return key.kind == "schedule" and re.fullmatch(r"1[34][a-z](?:-\d)?", key.parts[0], re.IGNORECASE) is not None


def _holder(text: str, end: int) -> tuple[LabelKey | None, int]:
    """What holds the clause by the words after it, and where they end: "clause (i) of Section 5.1"."""
    match = _OF_CLAUSE.match(text, end)
    outer = _key(match["word"], match["label"]) if match else None
    return (None, end) if match is None or outer is None or outer.kind == "item" else (outer, match.end("label"))


def _continues(text: str, start: int, printed: str, label: str) -> bool:
    """Whether "(b)" after "5.1(a) or" is a further label, not the next phrase of "(x) ... or (y) ..."."""
    items, following = _LISTED_ITEM.findall(printed), _LISTED_ITEM.findall(label)[0]
    before = re.findall(r"(?<=\s)\(([^()\s]{1,6})\)(?=\s)", text[max(0, start - _ENUMERATED_WITHIN) : start])
    for style in _styles(following):
        rank = _rank(following, style)
        alike = [_rank(item, style) for item in items if style in _styles(item)]
        if alike and rank == alike[-1] + 1:
            return True
        counted = any(style in _styles(item) and _rank(item, style) + 1 == rank for item in before)
        near = alike and alike[-1] < rank <= alike[-1] + _NEAR
        if near and not counted and not (style.startswith("letter") and _styles(following)[0] != style):
            return True
    return False


def _styles(item: str) -> tuple[str, ...]:
    """Ways to count an item, the likeliest first: "i" is Roman, or the letter after "h"."""
    if item.isdigit():
        return ("digit",)
    case = "" if item.islower() else " capital"
    roman = (f"roman{case}",) if re.fullmatch(r"[ivxIVX]+", item) else ()
    return roman + ((f"letter{case}",) if len(item) <= 2 and letter_number(item) else ())


def _rank(item: str, style: str) -> int:
    """Place of an item among its kind: 2 for "b", "2", "ii" and "B"."""
    if style == "digit":
        return int(item)
    return (roman_number(item) if style.startswith("roman") else letter_number(item)) or 0


def _is_printed_label(text: str, match: re.Match[str]) -> bool:
    """Whether the words stand where a clause or a line of a table of contents is labelled, not mentioned."""
    word = match["word"]
    # "...as follows: ARTICLE I APPOINTMENT": a heading that lost its line break
    upper = word.isupper() and len(word) > 2 and not _is_plural(word) and _CAPITALS.match(text, match.end())
    if upper and _LOST_BREAK.search(text, max(0, match.start() - 30), match.start()):
        return True
    if _CONTENTS_LINE.match(text, match.end()):
        return True
    if word[:1].isupper() and not _is_plural(word) and _LIST_ENTRY.match(text, match.end()):
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
