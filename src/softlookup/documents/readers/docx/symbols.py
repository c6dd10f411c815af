"""Characters of symbol fonts (``w:sym``) as Unicode; only of those that contracts use, no font is read."""

from __future__ import annotations

import re

UNKNOWN = "\ufffd"


def _run(start: int, characters: str) -> dict[int, str]:
    """Consecutive codes from ``start``; a blank leaves a code out."""
    return {start + place: c for place, c in enumerate(characters) if c != " "}


_SYMBOL = (
    _run(0x20, " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_")
    | _run(0x61, "αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼")
    | _run(0xA1, "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…")
    | _run(0xC0, "ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊〈®©™∑")
    | {0x20: " ", 0xF1: "〉", 0xF2: "∫"}
)
_WINGDINGS = (
    _run(0x81, "①②③④⑤⑥⑦⑧⑨⑩")
    | _run(0x8C, "❶❷❸❹❺❻❼❽❾❿")
    | {
        0x20: " ", 0x21: "✏", 0x22: "✂", 0x28: "☎", 0x2A: "✉", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0x71: "❑",
        0x72: "❒", 0x75: "◆", 0x76: "❖", 0x77: "⬥", 0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xAB: "★",
        0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔", 0xEF: "⇦", 0xF0: "⇨", 0xFB: "✗",
        0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
    }
)  # fmt: skip
_WINGDINGS_2 = {
    0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x97: "•", 0x98: "●", 0xA2: "■", 0xA3: "□",
}  # fmt: skip
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}
_OTHER_SYMBOL_FONTS = re.compile(r"wingdings|webdings|symbol|mt extra|marlett|dingbats|monotype sorts|icons", re.I)


def symbol(font: str, code: str) -> str:
    """Character that ``w:sym`` prints; U+FFFD when it is not known.

    >>> symbol("Symbol", "F0B3"), symbol("Wingdings", "F0FC"), symbol("Arial", "00A7")
    ('≥', '✓', '§')
    """
    if not re.fullmatch(r"[0-9A-Fa-f]{1,5}", code):
        return UNKNOWN
    value = int(code, 16)
    table = _FONTS.get(font.strip().lower())
    is_private = 0xE000 <= value <= 0xF8FF
    if table is not None and (is_private or value < 0x100):
        return table.get(value - 0xF000 if is_private else value, UNKNOWN)
    if is_private or value < 0x20 or 0xD800 <= value < 0xE000 or _OTHER_SYMBOL_FONTS.search(font):
        return UNKNOWN
    return chr(value)
