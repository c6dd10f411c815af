"""Numerals as printed: Chinese, Roman, letters, words, enclosed signs; not for whole labels (``numbering.py``)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

HAN = "〇○零一二三四五六七八九十百千万两兩壹贰叁肆伍陆柒捌玖拾佰貳參陸"
_HAN_ORDER = "零一二三四五六七八九"
_HAN_DIGITS = {c: i for i, c in enumerate(_HAN_ORDER)} | {c: i for i, c in enumerate("〇壹贰叁肆伍陆柒捌玖")}
_HAN_DIGITS |= {"○": 0, "两": 2, "兩": 2, "貳": 2, "參": 3, "陸": 6, "叄": 3}
_HAN_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000, "万": 10000, "萬": 10000}
_ROMAN_DIGITS = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ROMAN_FORM = re.compile(r"m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\Z")
_CARDINALS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SIMPLE = {word: n for words in (_CARDINALS, _ORDINALS) for n, word in enumerate(words.split(), start=1)}
_ROUND = {ten: 10 * n for n, ten in enumerate(_TENS, start=2)}
_ROUND |= {f"{ten[:-1]}ieth": number for ten, number in _ROUND.items()}
_ONES = "|".join(word for word, n in _SIMPLE.items() if n < 10)
# a number in words from one to ninety-nine or first to ninety-ninth, for the middle of a pattern without case
NUMBER_WORDS = rf"(?:{'|'.join(_TENS)})(?:[ ]?[-–][ ]?|[ ])(?:{_ONES})\b|" + "|".join(
    sorted({**_SIMPLE, **_ROUND}, key=len, reverse=True)
)


def word_number(words: str) -> int | None:
    """Value of a number in words ("ten", "Twenty-First", "THIRTY TWO"); None when it is none."""
    parts = re.split(r"[\s–-]+", words.lower())
    if len(parts) == 1:
        return _SIMPLE.get(parts[0]) or _ROUND.get(parts[0])
    ten, one = _ROUND.get(parts[0]), _SIMPLE.get(parts[1])
    return ten + one if ten is not None and one is not None and one < 10 and len(parts) == 2 else None


# style of an enclosed sign -> its characters, as a range of a regular expression
ENCLOSED = {"circled": "①-⑳", "circled()": "⑴-⒇", "circled.": "⒈-⒛", "zh-circled": "㈠-㈩", "upper-roman-sign": "Ⅰ-Ⅻ"}


def han_number(numeral: str) -> int | None:
    """Value of a Chinese numeral ("三十五", "一○一", "贰拾", "35"); None when it is none."""
    if numeral.isdigit() and numeral.isascii():
        return int(numeral)
    if not any(c in _HAN_UNITS for c in numeral):
        digits = [_HAN_DIGITS.get(c) for c in numeral]
        if not digits or None in digits:
            return None
        return int("".join(str(d) for d in digits))
    total = current = 0
    for character in numeral:
        if character in _HAN_DIGITS:
            current = _HAN_DIGITS[character]
        elif character in _HAN_UNITS:
            unit = _HAN_UNITS[character]
            if unit == 10000:
                total, current = (total + current) * unit, 0
            else:
                total, current = total + max(current, 1) * unit, 0
        else:
            return None
    return total + current


def han_numeral(number: int) -> str:
    """``number`` (below 10,000) as laws print it: 三十五, 一百零一."""
    if number < 0 or number >= 10_000:
        return str(number)
    printed, zero = "", False
    for unit, sign in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, number = divmod(number, unit)
        if digit:
            one_left_out = digit == 1 and unit == 10 and not printed
            printed += ("零" if zero else "") + ("" if one_left_out else _HAN_ORDER[digit]) + sign
            zero = False
        else:
            zero = bool(printed)
    return printed or "零"


@lru_cache(maxsize=512)
def roman_number(numeral: str) -> int | None:
    """Value of a Roman numeral in either case; None when it is none."""
    lower = numeral.lower()
    if not lower or not _ROMAN_FORM.match(lower):
        return None
    total = 0
    for here, after in zip(lower, lower[1:] + " ", strict=True):
        value = _ROMAN_DIGITS[here]
        total += -value if _ROMAN_DIGITS.get(after, 0) > value else value
    return total


def enclosed_number(sign: str) -> tuple[str, int] | None:
    """Style and value of one sign such as "③", "⑶", "⒊", "㈢" or "Ⅲ"; None when it is none."""
    for style, between in ENCLOSED.items():
        if between[0] <= sign <= between[-1]:
            return style, int(unicodedata.numeric(sign))
    return None


def letter_number(letters: str) -> int | None:
    """Value of "a", ..., "z", "aa", "bb" (letters repeat, as in word processors); None when it is none."""
    lower = letters.lower()
    if not lower or len(set(lower)) != 1 or not "a" <= lower[0] <= "z":
        return None
    return ord(lower[0]) - 96 + 26 * (len(lower) - 1)
