"""CSS colours, as far as needed to see that text has the colour of its background; nothing else."""

from __future__ import annotations

import re
from functools import lru_cache

# red, green, blue; or a name that is not known (then only the same name has no contrast); "" for none
Color = tuple[int, int, int] | str

_NAMES: dict[str, tuple[int, int, int]] = {
    "white": (255, 255, 255), "black": (0, 0, 0), "snow": (255, 250, 250), "ivory": (255, 255, 240),
    "ghostwhite": (248, 248, 255), "whitesmoke": (245, 245, 245), "floralwhite": (255, 250, 240),
    "azure": (240, 255, 255), "mintcream": (245, 255, 250), "aliceblue": (240, 248, 255),
    "seashell": (255, 245, 238), "lightyellow": (255, 255, 224), "honeydew": (240, 255, 240),
    "silver": (192, 192, 192), "gray": (128, 128, 128), "grey": (128, 128, 128), "red": (255, 0, 0),
    "blue": (0, 0, 255), "navy": (0, 0, 128), "green": (0, 128, 0), "windowtext": (0, 0, 0),
    "window": (255, 255, 255), "yellow": (255, 255, 0), "maroon": (128, 0, 0), "teal": (0, 128, 128),
}  # fmt: skip
_KEYWORDS = ("inherit", "initial", "unset", "currentcolor", "none", "auto")
_HEX = re.compile(r"#?([0-9a-f]{8}|[0-9a-f]{6}|[0-9a-f]{3,4})(?![0-9a-z])")
_PART = r"\s{0,5}(\d{1,3})%?\s{0,5}"
_FUNCTION = re.compile(rf"rgba?\({_PART}[, ]{_PART}[, ]{_PART}(?:[,/]\s{{0,5}}(\d?\.?\d{{0,6}})%?\s{{0,5}})?\)")
_LOWEST = 1.2  # ratio of luminances as in WCAG; 1 is none at all


def parse_color(value: str) -> Color:
    """Colour named in ``value``, "transparent", "" when it says nothing, else the words themselves."""
    value = value.strip().lower()
    if "url" in value or "gradient" in value:
        return "picture"
    function = _FUNCTION.search(value)
    if function is not None:
        if function[4] and float(function[4] if function[4] != "." else 0) < 0.04:
            return "transparent"
        return (min(255, int(function[1])), min(255, int(function[2])), min(255, int(function[3])))
    for word in value.split():
        if word in _NAMES:
            return _NAMES[word]
        if word == "transparent":
            return word
        found = _HEX.fullmatch(word)
        if found is not None:
            digits = found[1]
            if len(digits) in (3, 4):
                digits = "".join(2 * digit for digit in digits)
            if digits[6:] and int(digits[6:], 16) < 10:
                return "transparent"
            return (int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))
    return "" if not value or value in _KEYWORDS else value


@lru_cache(maxsize=4096)
def contrast_is_low(first: Color, second: Color) -> bool:
    """True when text in one colour on the other cannot be seen."""
    if first == second:
        return True
    if isinstance(first, str) or isinstance(second, str):
        return False
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05) < _LOWEST


def _luminance(color: tuple[int, int, int]) -> float:
    parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in color]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
