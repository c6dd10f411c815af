"""One counter in one number format of WordprocessingML (``ST_NumberFormat``, ISO 29500-1, 17.18.59).

Where Word departs from the standard ([MS-OI29500], 2.1.540) Word's form is printed, because that is what the
parties saw. Not for counting (``docx_numbering.py``) or for reading labels back (``numbering.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlookup.documents.readers.html.reader import print_number

# beyond this no contract counts, and some formats repeat a sign once per cycle
_MAX_SPELLED = 99_999
_HAN = "一二三四五六七八九"
_HANGUL = "일이삼사오육칠팔구"
_LATIN = {"lowerLetter": "a", "upperLetter": "A", "lowerRoman": "i", "upperRoman": "I"}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
# signs for the first values; decimal after the last
_SIGNS = {
    "decimalEnclosedCircle": _CIRCLED,
    "decimalEnclosedCircleChinese": _CIRCLED,
    "decimalEnclosedFullstop": "⒈⒉⒊⒋⒌⒍⒎⒏⒐⒑⒒⒓⒔⒕⒖⒗⒘⒙⒚⒛",
    "decimalEnclosedParen": "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽⑾⑿⒀⒁⒂⒃⒄⒅⒆⒇",
    "ideographEnclosedCircle": "㈠㈡㈢㈣㈤㈥㈦㈧㈨㈩",
    "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
    "ideographZodiac": "子丑寅卯辰巳午未申酉戌亥",
}
# signs that are doubled, then tripled, after the last
_REPEATED = {
    "chicago": "*†‡§",
    "ganada": "가나다라마바사아자차카타파하",
    "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
    "russianLower": "абвгдежзиклмнопрстуфхцчшщыэюя",
    "russianUpper": "АБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЫЭЮЯ",
}
# one sign a decimal digit
_DIGITS = {
    "decimalFullWidth": "０１２３４５６７８９",
    "decimalFullWidth2": "０１２３４５６７８９",
    "ideographDigital": "〇" + _HAN,
    "japaneseDigitalTenThousand": "〇" + _HAN,
    "taiwaneseDigital": "○" + _HAN,
    "koreanDigital": "영" + _HANGUL,
    "koreanDigital2": "零" + _HAN,
    "hindiNumbers": "०१२३४५६७८९",
    "thaiNumbers": "๐๑๒๓๔๕๖๗๘๙",
}


@dataclass(frozen=True, slots=True)
class _Counting:
    """How a language names powers of ten; ``bare`` names them without the digit one before them."""

    digits: str
    units: str
    zero: str = ""
    bare: str = ""
    bare_ten: bool = False  # only a leading ten loses its one: 十一, but 一百一十


_CHINESE = _Counting(_HAN, "十百千万", zero="零", bare_ten=True)
_COUNTINGS = {
    "chineseCountingThousand": _CHINESE,
    "taiwaneseCountingThousand": _Counting(_HAN, "十百千萬", zero="零", bare_ten=True),
    "chineseLegalSimplified": _Counting("壹贰叁肆伍陆柒捌玖", "拾佰仟万", zero="零"),
    "ideographLegalTraditional": _Counting("壹貳參肆伍陸柒捌玖", "拾佰仟萬", zero="零"),
    "japaneseCounting": _Counting(_HAN, "十百千万", bare="十百千"),
    "japaneseLegal": _Counting("壱弐参四伍六七八九", "拾百阡萬"),
    "koreanCounting": _Counting(_HANGUL, "십백천만", bare="십백천만"),
}
_ONES = (
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first", "two": "second", "three": "third", "five": "fifth", "eight": "eighth", "nine": "ninth",
    "twelve": "twelfth",
}  # fmt: skip
# how a custom format begins ([MS-DOCX], 2.4) -> the format that counts like it
_CUSTOM = {
    "One": "cardinalText", "First": "ordinalText", "1st": "ordinal", "a": "lowerLetter", "A": "upperLetter",
    "i": "lowerRoman", "I": "upperRoman", "１": "decimalFullWidth", "①": "decimalEnclosedCircle",
    "⒈": "decimalEnclosedFullstop", "⑴": "decimalEnclosedParen", "㈠": "ideographEnclosedCircle",
    "甲": "ideographTraditional", "子": "ideographZodiac", "*": "chicago", "1": "decimal",
}  # fmt: skip
_PADDED = re.compile(r"0{1,20}1(?![0-9])")


def print_counter(number: int, style: str) -> str:
    """``number`` in the number format ``style`` (a ``w:numFmt`` value); decimal for formats not known.

    >>> print_counter(21, "chineseCounting"), print_counter(28, "lowerLetter"), print_counter(4, "upperRoman")
    ('二十一', 'bb', 'IV')
    """
    if style in ("none", "bullet"):
        return ""
    if style.startswith("padded:"):
        return f"{number:0{int(style[7:])}d}"
    if style in _LATIN:
        return print_number(number, _LATIN[style])
    if style == "decimalZero":
        return f"{number:02d}"
    if style == "numberInDash":
        return f"- {number} -"
    if not 0 <= number <= _MAX_SPELLED:
        return str(number)
    return _words(number, style) or _signs(number, style) or _counted_asian(number, style) or str(number)


def custom_format(pattern: str) -> str | None:
    """The number format that a ``w:format`` such as "001, 002, 003, ..." asks for; None when it is not known.

    >>> custom_format("001, 002, 003, ..."), custom_format("First, Second, ...")
    ('padded:3', 'ordinalText')
    """
    first = pattern.split(",", 1)[0].strip()
    if _PADDED.fullmatch(first):
        return f"padded:{len(first)}"
    return _CUSTOM.get(first)


def _words(number: int, style: str) -> str:
    if style == "hex":
        return f"{number:X}"
    if style == "ordinal":
        ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending}"
    if style == "cardinalText":
        return _cardinal(number).capitalize()
    if style == "ordinalText":
        head, separator, last = _last_word(_cardinal(number))
        ordinal = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
        return (head + separator + ordinal).capitalize()
    return ""


def _cardinal(number: int) -> str:
    if number == 0:
        return "zero"
    parts = []
    for size, name in ((1000, "thousand"), (100, "hundred")):
        if number >= size:
            parts.append(f"{_cardinal(number // size)} {name}")
            number %= size
    if number >= 20:
        parts.append(_TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else ""))
    elif number:
        parts.append(_ONES[number])
    return " ".join(parts)


def _last_word(words: str) -> tuple[str, str, str]:
    cut = max(words.rfind(" "), words.rfind("-"))
    return (words[:cut], words[cut], words[cut + 1 :]) if cut >= 0 else ("", "", words)


def _signs(number: int, style: str) -> str:
    signs = _SIGNS.get(style, "")
    if 1 <= number <= len(signs):
        return signs[number - 1]
    repeated = _REPEATED.get(style, "")
    if repeated and 1 <= number <= 50 * len(repeated):
        count, index = divmod(number - 1, len(repeated))
        return repeated[index] * (count + 1)
    if style == "ideographZodiacTraditional" and number:
        stems, branches = _SIGNS["ideographTraditional"], _SIGNS["ideographZodiac"]
        return stems[(number - 1) % 10] + branches[(number - 1) % 12]
    return ""


def _counted_asian(number: int, style: str) -> str:
    digits = _DIGITS.get(style)
    if style in ("chineseCounting", "taiwaneseCounting"):
        if number < 100:
            return _counted(number, _CHINESE)
        digits = "○" + _HAN  # from a hundred on one sign a digit
    if digits is not None:
        return "".join(digits[int(c)] for c in str(number))
    counting = _COUNTINGS.get(style)
    return _counted(number, counting) if counting is not None else ""


def _counted(number: int, counting: _Counting) -> str:
    """A numeral with units ("一百零五"), a single zero for a gap where the language has one."""
    if number == 0:
        return counting.zero or "〇"
    printed = ""
    gap = False
    text = str(number)
    for place, character in enumerate(text):
        digit, power = int(character), len(text) - place - 1
        if digit == 0:
            gap = bool(printed)
            continue
        unit = counting.units[power - 1] if power else ""
        one = digit == 1 and unit != "" and unit in counting.bare
        # Word writes no zero in a number of five places, as [MS-OI29500] 2.1.540 e says
        zero = counting.zero if gap and len(text) < 5 else ""
        printed += zero + ("" if one else counting.digits[digit - 1]) + unit
        gap = False
    ten = counting.digits[0] + counting.units[0]
    return printed[1:] if counting.bare_ten and number < 20 and printed.startswith(ten) else printed
