"""The labels of an English list: "Sections 5.1(a), (b) and 6.2 to 6.4"; where lists stand is ``reference_mentions.py``.

Also the patterns that labels in running text are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from softlookup.documents.model import Span
from softlookup.documents.references.labels import LabelKey, label_key
from softlookup.documents.tree.numbering import letter_number, roman_number

ITEM = r"\((?:[a-z]{1,2}|[A-Z]{1,2}|[ivxl]{1,6}|[IVXL]{1,6}|\d{1,3})\)"
DOTTED = (
    r"\d{1,4}[A-Z]?(?:[.-]\d{1,4}){0,9}(?:\.(?:[a-z]|[ivx]{2,4}|\d{1,2})(?![a-zA-Z])){0,4}"
    rf"(?:\s?{ITEM}){{0,9}}(?![\d%])"
)
LETTER = (
    r"(?:(?:[A-Z]|[IVX]{1,5})(?:\.(?:\d{1,3}|[A-Z])){1,9}(?![^\W\u4e00-\u9fff]|[’'&])"  # A.1.2, II.B
    r"|(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Eleven|Twelve)(?![\w’'-])(?!\s(?:Hundred|and\s[A-Z]))"
    r"|[\"“]?(?:[IVXLC]{1,7}|[A-Z])(?:-\d+)?(?![^\W\u4e00-\u9fff]|[’'&])[\"”]?)"
)
SPACES = ("Schedules?", "Exhibits?", "Annex(?:es)?", "Annexures?", "Appendix", "Appendices", "Attachments?")
INNER = ("Sections?", "Clauses?", "Articles?", "Paragraphs?", "Sub-?(?:section|clause|paragraph|division)s?")
WORD = rf"(?:{'|'.join((*INNER, *SPACES))}|Secs?\.|§§?)"
# the label ends there, or a blank was lost before the next word: "Clause 3.1of this Agreement"
END = r"(?!\.?\d)(?:(?![^\W\u4e00-\u9fff])|(?=(?:of|and|or|to|hereof|shall|above|below)\b))"
_NEXT_EN = re.compile(
    # Sections 5 (Payment) and 6, Exhibits 8 ("Rent") and 9, Sections 3 [Term], 4
    rf"(?:\s*(?:(?!{ITEM})\([A-Za-z*\"“][^()\n]{{1,80}}\)|\[[A-Z][^\[\]\n]{{1,60}}\]))?"
    r"[”\"]?(?P<glue>\s*[,;]\s*(?:,\s*)?(?i:and/or|and|or|&)?\s*|\s+(?i:and/or|and|or|&)\s+"
    r"|\s+(?i:through|to|thru)(?:\s+and\s+including)?\s+|\s*[–—-]\s*)"
    rf"(?:(?P<word>(?i:{WORD}))\s*)?(?:[\"“](?=\())?(?P<label>{DOTTED}|{LETTER}|(?:{ITEM}){{1,9}}){END}"
)
_HERE = re.compile(r"\s+(?:hereof|above|below|of\s+this\s+[A-Z])")  # Section 8 or 9 hereof
_RANGE_GLUE = re.compile(r"through|thru|to|[–—-]", re.IGNORECASE)
_DECIMAL_RANGE = re.compile(r"(\d{1,2}(?:\.\d{1,3}){1,3})-(\d{1,2}(?:\.\d{1,3}){1,3})")
_HALF_ITEM = re.compile(r"\s(?P<item>[a-z])\)")  # Clause 16.1 b)
_LISTED_ITEM = re.compile(r"\(([^()]{1,6})\)")
_NEAR = 8  # letters that "(a) or (h)" may skip
_ENUMERATED_WITHIN = 600  # characters in which "(x)" stands before "(y)" when both count phrases of a sentence


def members_of(text: str, match: re.Match[str]) -> Iterator[tuple[Span, LabelKey, LabelKey | None]]:
    """(span, key, end of range) of every label of the list that starts at ``match``."""
    word = match["word"]
    printed, end = _whole_label(text, match)
    base = key_of(word, printed)
    if base is None:
        return
    span, last = Span(match.start(), end), None
    while (following := _NEXT_EN.match(text, span.end)) is not None:
        word = following["word"] or word
        key = _following_key(text, span, base, printed, following, word, match["label"])
        if key is None:
            break
        start, end = following.start("word" if following["word"] else "label"), following.end("label")
        goes_on = following["word"] is None and following["label"].startswith("(")
        printed = printed + following["label"] if goes_on else following["label"]
        if _RANGE_GLUE.search(following["glue"]) and last is None:
            span, last = Span(span.start, end), key
            continue
        yield span, base, last
        span, base, last = Span(start, end), key, None
    yield span, base, last


def _whole_label(text: str, match: re.Match[str]) -> tuple[str, int]:
    """The first label and its end, with the "b)" of "Clause 16.1 b)" unless that closes a parenthesis."""
    printed, end = match["label"], match.end("label")
    half = _HALF_ITEM.match(text, end) if printed[-1].isdigit() else None
    if half and text.rfind("(", max(0, end - 200), end) <= text.rfind(")", max(0, end - 200), end):
        return f"{printed}({half['item']})", half.end()
    return printed, end


def _following_key(
    text: str, span: Span, base: LabelKey, printed: str, following: re.Match[str], word: str, first: str
) -> LabelKey | None:
    """Key of the label after the member at ``span``; None when the list has ended before it."""
    label, bare, plural = following["label"], following["word"] is None, is_plural(word)
    items_only = label.startswith("(")
    items_follow = items_only and "(" in printed
    if bare and ";" in following["glue"] and not plural:
        return None
    sure = plural or items_follow or ("." in label and "." in first) or _HERE.match(text, following.end())
    if bare and not sure:
        return None  # "Section 5 and 30 days": a bare number after a singular word is no label
    ranged = following["glue"].split()[:1] in (["to"], ["TO"])
    other = key_of(word, label) if ranged and following["word"] else None
    if other is not None and other.kind != base.kind:
        return None  # Annex A to Schedule 2
    promised = plural and printed == first  # "clauses (a)" alone would be no plural
    if bare and items_follow and not promised and not _continues(text, span.start, printed, label):
        return None
    # "Sections 2.1 and 3.1, A pays": letters are listed after letters alone
    lettered = plural and first[0] in '"“ABCDEFGHIJKLMNOPQRSTUVWXYZ'
    if bare and label[0].isalpha() and not lettered:
        return None
    return _sibling(base, label) if items_only and bare else key_of(word, label)


def is_plural(word: str) -> bool:
    """Whether the word announces several labels: "Sections", "Appendices", "§§"."""
    return word.lower().rstrip(".").endswith(("s", "ces")) or word == "§§"


def key_of(word: str, label: str) -> LabelKey | None:
    """Key of ``label`` called by ``word``, singular or plural; None when it is none."""
    word = "§" if word == "§§" else word
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


def as_range(member: tuple[Span, LabelKey, LabelKey | None]) -> tuple[Span, LabelKey, LabelKey | None]:
    """The member as a range when its label is one: "4-6"."""
    span, key, last = member
    ends = re.fullmatch(r"(\d{1,2})-(\d{1,2})", key.parts[-1])
    decimals = _DECIMAL_RANGE.fullmatch(".".join(key.parts)) if last is None and "." not in key.parts[-1] else None
    if decimals and key.kind == "clause":
        first, second = (tuple(label.split(".")) for label in decimals.groups())
        if len(first) == len(second) and first[:-1] == second[:-1] and int(first[-1]) < int(second[-1]):
            return span, key._replace(parts=first), key._replace(parts=second)
    if (
        last is None
        and ends
        and len(key.parts) == 1
        and key.kind in ("clause", "article")
        and int(ends[1]) < int(ends[2])
    ):
        return span, key._replace(parts=(ends[1],)), key._replace(parts=(ends[2],))
    return member


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
