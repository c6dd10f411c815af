"""Prints a label from its reading: the inverse of ``numbering.parse_label`` up to spelling; not for document text.

What a document prints is kept as printed (``Clause.label``). This is for labels that nobody printed, and for the
proof that a label was read right: ``parse_label(print_label(reading))`` gives ``reading`` back.
"""

from __future__ import annotations

from softlookup.documents.tree.numbering import Reading
from softlookup.documents.tree.numerals import ENCLOSED, han_numeral

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ZH_UNITS = {"zh-part": "编", "zh-subpart": "分编", "zh-chapter": "章", "zh-division": "节", "zh-article": "条"}
_WORDS = {"article": "Article", "part": "Part", "section": "Section"}


def print_label(reading: Reading) -> str:
    """The usual spelling of a label: "5.2", "(iv)", "Article 3", "第三条之一", "（二）".

    >>> print_label(Reading("lower-roman()", (4,)))
    '(iv)'
    """
    style, value = reading.style, reading.values[0]
    inserted = _letters(reading.inserted).upper() if reading.inserted else ""
    if style in _ZH_UNITS:
        tail = f"之{han_numeral(reading.values[1])}" if len(reading.values) > 1 else ""
        return f"第{han_numeral(value)}{_ZH_UNITS[style]}{tail}"
    if style in _WORDS:
        return f"{_WORDS[style]} {value}{inserted}"
    if style == "schedule":
        return f"Schedule {value}"
    if style in ENCLOSED:
        return chr(ord(ENCLOSED[style][0]) + value - 1)
    if style == "zh-list":
        return f"{han_numeral(value)}、"
    if style == "zh-paren":
        return f"（{han_numeral(value)}）"
    if style.startswith("decimal"):
        marks = {"decimal1": ".", "decimal1、": "、"}.get(style, "")
        return ".".join(map(str, reading.values)) + inserted + marks
    return _listed(style, value)


def _listed(style: str, value: int) -> str:
    """Labels whose style ends with its punctuation: "lower-letter()", "upper-roman.", "number)"."""
    kind = style.rstrip("().")
    printed = str(value)
    if "letter" in kind:
        printed = _letters(value)
    elif "roman" in kind:
        printed = _roman(value)
    printed = printed.upper() if kind.startswith("upper") else printed
    marks = style[len(kind) :]
    return f"({printed})" if marks == "()" else printed + marks


def _letters(number: int) -> str:
    count, index = divmod(number - 1, 26)
    return chr(97 + index) * (count + 1)


def _roman(number: int) -> str:
    printed = ""
    for value, sign in _ROMAN:
        while number >= value:
            printed += sign
            number -= value
    return printed
