"""How browsers and word processors print the number of a list item; no lists here."""

from __future__ import annotations

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
    (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
MARKERS = ("a", "A", "i", "I")
_HAN = "零一二三四五六七八九"


def browser_number(number: int, marker: str) -> str:
    """``number`` as a browser prints it; after z comes aa, then ab."""
    if marker == "01":
        return f"{number:02d}"
    if marker == "一" and 0 < number < 100:
        tens, ones = divmod(number, 10)
        return (_HAN[tens] if tens > 1 else "") + ("十" if tens else "") + (_HAN[ones] if ones or not tens else "")
    if marker not in ("a", "A") or not 26 < number < 4000:
        return print_number(number, marker)
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(97 + rest) + letters
    return letters.upper() if marker == "A" else letters


def print_number(number: int, marker: str) -> str:
    """``number`` as a word processor prints a list marker of kind "1", "a", "A", "i" or "I"; after z comes aa, bb."""
    if number < 1 or number > 3999 or marker not in MARKERS:
        return str(number)
    if marker in "aA":
        count, index = divmod(number - 1, 26)
        letters = chr(97 + index) * (count + 1)
        return letters.upper() if marker == "A" else letters
    printed = ""
    for value, sign in _ROMAN:
        while number >= value:
            printed += sign
            number -= value
    return printed.upper() if marker == "I" else printed
