"""Which clause a label such as "8.2(a)", "Article V" or "第三条第二款" names; not for finding labels in text.

A label is read into a kind and parts, so that "Section 8.2", "8.2" and "８．２" are the same key, and so are
"第八条" and "八、". Schedules, exhibits and annexes open a namespace of their own: "Schedule 2/3.1".
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from softlookup.documents.tree.numbering import FOLD, han_number, roman_number
from softlookup.documents.writing import simplified

ZH_DIGITS = "〇○零一二三四五六七八九十百千两壹贰叁肆伍陆柒捌玖拾佰"
_NAMESPACE_WORDS = "schedule|exhibit|annexure|annex|appendix|attachment|附件|附表|附录|附则"
_NAMESPACES = frozenset(_NAMESPACE_WORDS.split("|"))
_EN_WORD = re.compile(
    rf"(section|sec\.|clause|article|art\.|paragraph|sub-?section|sub-?clause|sub-?paragraph|sub-?division|part|chapter|§|{_NAMESPACE_WORDS})s?\s*",
    re.IGNORECASE,
)
# lower-case "i" is a list letter and stays as printed; so do the single letters C, D, L and M
_ROMAN = re.compile(r"[IVX]|(?=.{2})[IVXLC]+")
_ZH_STEP = re.compile(
    rf"第\s*(\d{{1,3}}-\d{{1,2}}(?=\s*条)|[{ZH_DIGITS}\d.]+|\([{ZH_DIGITS}\d]+\))\s*(分编|[编章节条款项目])(?:之([{ZH_DIGITS}]+))?"
    rf"|(?<=[条款项)])\s*\(([{ZH_DIGITS}\d]+|[a-z]{{1,4}})\)\s*[款项目]?"
)
# 第5.2(a)条: a decimal number with its items inside the step
_ZH_LETTERED = re.compile(r"第?\s*(\d+(?:\.\d+)*\s*(?:\(\s*[^()\s]{1,6}\s*\)\s*)*)[条款项]")
_PLAIN = re.compile(r"[^()\s]*\)?\s*(?:\(\s*[^()\s]{1,6}\s*\)\s*)*")
# fmt: off
_CARDINALS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)
# fmt: on
_WORD_VALUES = {word: str(n) for words in (_CARDINALS, _ORDINALS) for n, word in enumerate(words, 1)}
ORDINAL = "|".join(_ORDINALS)
# THE SECOND SCHEDULE
_ORDINAL_SPACE = re.compile(
    rf"(?:the\s+)?({ORDINAL})\s+(schedule|exhibit|annexure|annex|appendix|attachment)", re.IGNORECASE
)
_KINDS = {"article": "article", "art.": "article", "part": "part", "chapter": "chapter"} | {
    "分编": "subpart", "编": "part", "章": "chapter", "节": "division",
    "条": "clause", "款": "item", "项": "item", "目": "item",
}  # fmt: skip
# where a label of one kind is looked for, best first: "Section 5" may be printed as "ARTICLE V"
FALLBACKS = {
    "clause": ("clause", "article"),
    "article": ("article", "clause", "roman"),
    "item": ("item", "clause"),
}


# kinds that group clauses and are not counted with them
STRUCTURE_KINDS = ("part", "subpart", "chapter", "division")


class LabelKey(NamedTuple):
    """A label as a key. ``kind`` is clause, article, item, one of STRUCTURE_KINDS or a namespace word."""

    kind: str
    parts: tuple[str, ...]

    @property
    def opens_namespace(self) -> bool:
        """Whether the labels below this one count from the start again (schedules, exhibits, annexes)."""
        return self.kind in _NAMESPACES


def number_value(numeral: str) -> str:
    """Arabic form of a Chinese, Roman (upper-case) or Arabic numeral; other text is returned lower-cased.

    >>> number_value("五百一十"), number_value("IV"), number_value("8"), number_value("ii")
    ('510', '4', '8', 'ii')
    """
    if numeral.lower() in _WORD_VALUES:
        return _WORD_VALUES[numeral.lower()]
    value = han_number(numeral)
    if value is None and _ROMAN.fullmatch(numeral):
        value = roman_number(numeral)
    return numeral.lower() if value is None else str(value)


@lru_cache(maxsize=4096)
def label_key(printed: str) -> LabelKey | None:
    """The key of a printed label; None when the text is no label.

    >>> label_key("Section 8.2(a)")
    LabelKey(kind='clause', parts=('8', '2', 'a'))
    >>> label_key("第五百一十条第二款")
    LabelKey(kind='clause', parts=('510', '款2'))
    >>> label_key("第二十三条第（二）款第1项") == label_key("第二十三条（二）第1项")
    True
    """
    # a Cyrillic "(а)" is found under the Latin one that it looks like
    text = simplified(unicodedata.normalize("NFKC", printed).translate(FOLD)).strip().strip(".、:,;\"“”' ")
    ordinal = _ORDINAL_SPACE.fullmatch(text)
    if ordinal:
        return LabelKey(ordinal[2].lower(), (number_value(ordinal[1]),))
    lettered = _ZH_LETTERED.fullmatch(text)
    text = lettered.group(1).strip() if lettered and "(" in text else text
    steps = list(_ZH_STEP.finditer(text))
    if steps and steps[0].group(2):
        return _chinese_label(steps)
    word = _EN_WORD.match(text)
    kind = ""
    if word:
        kind = word.group(1).lower()
        text = text[word.end() :].strip('"“” ')
        kind = kind if re.fullmatch(_NAMESPACE_WORDS, kind) else _KINDS.get(kind, "clause")
    if not _PLAIN.fullmatch(text):
        return None
    bare = re.split(r"[\s(]", text, maxsplit=1)[0]
    printed_items = re.findall(r"\(\s*([^()\s]{1,6})\s*\)", text[len(bare) :])
    items = tuple(item.lower() if item.isascii() and item.isalpha() else number_value(item) for item in printed_items)
    return _plain_label(kind, bare.rstrip(")"), items)


def _chinese_label(steps: list[re.Match[str]]) -> LabelKey:
    kind = ""
    parts: list[str] = []
    for step in steps:
        numeral, unit, inserted, item = step.groups()
        if item:  # 第二十三条（二）
            parts.append(number_value(item))
            continue
        # 第3.1款 is a number of its own, whatever the contract calls it
        step_kind = "clause" if "." in numeral.strip(".") else _KINDS[unit]
        if step_kind in STRUCTURE_KINDS or (step_kind == "clause" and kind != "clause"):
            parts = []  # 第六章第三节: the last absolute step names the place
        kind = kind if step_kind == "item" and kind else step_kind
        # 第二款 is the second paragraph or the second number; 第（二）款 is what is printed as （二）
        mark = "款" if unit == "款" and numeral[0] != "(" and step_kind == "item" else ""
        parts += [mark + number_value(piece) for piece in numeral.strip("()").split(".") if piece]
        if inserted:
            parts[-1] += "-" + number_value(inserted)
    return LabelKey(kind, tuple(parts))


def _plain_label(kind: str, bare: str, items: tuple[str, ...]) -> LabelKey | None:
    if not bare and not items:
        return LabelKey(kind, ("",)) if re.fullmatch(_NAMESPACE_WORDS, kind) else None
    if not bare:
        return LabelKey("item", items)
    pieces = [piece for piece in bare.split(".") if piece]
    if not kind and len(pieces) == 1 and bare.isascii() and bare.isalpha() and (bare.isupper() and roman_number(bare)):
        return LabelKey("item", (bare.lower(), *items)) if len(bare) <= 3 else None
    if not all(
        re.fullmatch(rf"\d+[A-Za-z]?|[A-Za-z]{{1,7}}(?:-\d+)?|[{ZH_DIGITS}]+|\d+(?:-\d+){{1,3}}", piece)
        for piece in pieces
    ):
        return None
    return LabelKey(kind or "clause", (*(number_value(piece) for piece in pieces), *items))


def roman_heading(number: str) -> LabelKey | None:
    """The key of a heading that is a Roman numeral alone: "III." may be called Article III."""
    bare = number.strip(". ")
    value = roman_number(bare) if _ROMAN.fullmatch(bare) else None
    return None if value is None else LabelKey("roman", (str(value),))


def head_length(printed: str) -> int:
    """Number of leading parts that the number of the clause itself gives: 2 of "5.1(a)", 1 of "第五条第二款".

    What follows are steps inside that clause. 0 for labels such as "(b)" and 第二项, which have steps alone.
    """
    bracketed = re.match(r"第?\s*([\d.]*\d)\s*[（(]", printed)
    if bracketed:
        return bracketed.group(1).count(".") + 1
    key = label_key(re.split(r"[（(]|(?<=条)", printed, maxsplit=1)[0])
    return 0 if key is None or key.kind == "item" else len(key.parts)
