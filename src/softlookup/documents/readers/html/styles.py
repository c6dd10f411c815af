"""What of CSS decides whether words can be seen: hidden, tiny, off the page, white on white, struck out.

Style sheets of the page with simple selectors (tag, .class, #id and their combinations) and inline styles; no
layout, no media queries, nothing is loaded. A hiding rule with another selector is counted, not applied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lxml import etree

from softlookup.documents.model import Flag
from softlookup.documents.readers.html.colors import Color, contrast_is_low, parse_color
from softlookup.documents.readers.html.counters import Counters
from softlookup.documents.readers.html.source import attribute

_MAX_RULES = 5_000
_MAX_SHEET = 2_000_000  # characters
_STATEMENT = re.compile(r"@(?:import|charset|namespace)\b[^;{}]{0,2000};", re.I)
_BLOCK = re.compile(r"@(?P<kind>[a-z-]{1,30})(?P<query>[^{};]{0,500})\{", re.I)
_BRACE = re.compile(r"[{}]")
_SIMPLE = re.compile(
    r"(?P<tag>[A-Za-z][\w]{0,20}|\*)?(?P<rest>(?:[.#][A-Za-z_\u0080-\uffff-][\w\u0080-\uffff-]{0,80}){0,4})"
)
_HIDES = re.compile(r"display\s{0,5}:\s{0,5}none|visibility\s{0,5}:\s{0,5}(?:hidden|collapse)|mso-hide", re.I)
_LENGTH = re.compile(r"(-?\d{0,6}\.?\d{1,6})\s{0,3}(px|pt|em|rem|%|in|cm|mm|ex|)")
_POINTS = {"px": 0.75, "pt": 1.0, "in": 72.0, "cm": 28.35, "mm": 2.835, "": 0.75}
_TINY = 1.5  # points
_GAP = 4.0  # points: room between inline elements that reads as a blank
_FAR = -300.0  # points: no hanging indent reaches so far
_STRUCK_TAGS = frozenset(("s", "del", "strike"))
_LOOKED_AT = frozenset(
    ("style", "class", "id", "hidden", "aria-hidden", "color", "bgcolor", "background", "text", "role")
)


@dataclass(frozen=True, slots=True)
class Look:
    """How the words of an element look; inherited by what is inside it."""

    gone: Flag | None = None
    invisible: bool = False
    points: float = 12.0
    color: Color = (0, 0, 0)
    background: Color = (255, 255, 255)
    struck: bool = False
    underlined: bool = False
    inserted: bool = False
    pre: bool = False

    @property
    def flag(self) -> Flag | None:
        """Why the words cannot be seen; None when they can."""
        if self.gone is not None:
            return self.gone
        if self.invisible:
            return "hidden"
        if self.points < _TINY:
            return "tiny"
        return "low_contrast" if contrast_is_low(self.color, self.background) else None


@dataclass(slots=True)
class StyleSheet:
    """Rules of the ``<style>`` blocks of a page."""

    by_key: dict[str, list[tuple[int, int, str, frozenset[str], str]]] = field(default_factory=dict)
    counters: Counters = field(default_factory=Counters)
    count: int = 0
    not_applied: int = 0

    def add(self, css: str) -> None:
        """Take the rules of one style block."""
        css = _STATEMENT.sub(" ", re.sub(r"/\*.*?\*/|<!--|-->", " ", css[:_MAX_SHEET], flags=re.S))
        for rule in _without_print_rules(css).split("}"):
            selectors, brace, declared = rule.partition("{")
            for selector in selectors.split(",") if brace else ():
                self._add_rule(selector.strip(), declared)

    def _add_rule(self, selector: str, declared: str) -> None:
        found = _SIMPLE.fullmatch(selector)
        if found is None or not selector or self.count >= _MAX_RULES:
            self.counters.add(selector, declarations(declared), declared)
            self.not_applied += bool(_HIDES.search(declared)) and ":" not in selector
            return
        names = frozenset(re.findall(r"[.#][^.#]+", found["rest"] or ""))
        tag = "" if (found["tag"] or "*") == "*" else found["tag"].lower()
        weight = sum(100 if name[0] == "#" else 10 for name in names) + bool(tag)
        key = min(names) if names else (tag or "*")
        self.count += 1
        self.by_key.setdefault(key, []).append((weight, self.count, tag, names, declared))

    def style_of(self, element: etree._Element, tag: str) -> str:
        """Declarations that apply to ``element``, the strongest last."""
        inline = attribute(element, "style")
        if not self.count:
            return inline
        keys = [f".{name}" for name in attribute(element, "class").split()]
        if identity := attribute(element, "id"):
            keys.append(f"#{identity}")
        own = frozenset(keys)
        rules = [
            rule
            for key in (*own, tag, "*")
            for rule in self.by_key.get(key, ())
            if rule[2] in ("", tag) and rule[3] <= own
        ]
        return ";".join([rule[4] for rule in sorted(rules, key=lambda rule: rule[:2])] + [inline])


def _without_print_rules(css: str) -> str:
    """``css`` without the blocks for other media than a screen, and with the others unwrapped."""
    pieces: list[str] = []
    position = 0
    for block in _BLOCK.finditer(css):
        if block.start() < position:
            continue
        depth, at = 1, block.end()
        for brace in _BRACE.finditer(css, block.end()):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                at = brace.end()
                break
        else:
            at = len(css)
        pieces.append(css[position : block.start()])
        if block["kind"].lower() == "media" and not re.search(r"\bprint\b|speech|width", block["query"], re.I):
            pieces.append(css[block.end() : at - 1])
        position = at
    return "".join(pieces) + css[position:]


@lru_cache(maxsize=4096)
def declarations(style: str) -> dict[str, str]:
    """Properties of a style text in lower case; a later one wins, unless an earlier one is important."""
    found: dict[str, str] = {}
    important: set[str] = set()
    for declaration in style.split(";"):
        name, colon, value = declaration.partition(":")
        name, value = name.strip().lower(), value.strip().lower()
        if not colon or not name:
            continue
        is_important = value.endswith("important")
        if is_important:
            value = value.rpartition("!")[0].strip()
        if name in important and not is_important:
            continue
        if is_important:
            important.add(name)
        found[name] = value
    return found


def is_plain(element: etree._Element) -> bool:
    """True when no attribute of ``element`` can change how it looks."""
    names = element.keys()
    return not names or not any(name in _LOOKED_AT for name in names)


def look_of(element: etree._Element, tag: str, style: dict[str, str], outer: Look) -> Look:
    """Look of ``element`` inside something that looks like ``outer``."""
    look = outer
    if tag in _STRUCK_TAGS or "line-through" in style.get("text-decoration", "") + style.get(
        "text-decoration-line", ""
    ):
        look = replace(look, struck=True)
    if tag == "ins":
        look = replace(look, inserted=True)
    if tag in ("u", "ins") or "underline" in style.get("text-decoration", "") + style.get("text-decoration-line", ""):
        look = replace(look, underlined=True)
    look = _colored(element, style, look)
    if style:
        look = _styled(style, look)
    if element.get("hidden") is not None or attribute(element, "aria-hidden").lower() == "true":
        look = replace(look, gone=look.gone or "hidden")
    return look


def _colored(element: etree._Element, style: dict[str, str], look: Look) -> Look:
    color = style.get("color") or attribute(element, "color") or attribute(element, "text")
    background = style.get("background-color") or style.get("background") or attribute(element, "bgcolor")
    if attribute(element, "background"):
        background = "url"
    if color:
        parsed = parse_color(color)
        if parsed == "transparent":
            return replace(look, gone=look.gone or "hidden")
        look = replace(look, color=look.color if parsed == "" else parsed)
    if background:
        parsed = parse_color(background)
        if parsed not in ("", "transparent"):
            look = replace(look, background=parsed)
    return look


def _styled(style: dict[str, str], look: Look) -> Look:
    gone = look.gone
    if style.get("display") == "none" or style.get("mso-hide") == "all" or _is_cut_away(style):
        gone = gone or "hidden"
    elif _is_off_page(style):
        gone = gone or "offpage"
    points = _font_points(style, look.points)
    if gone != look.gone or points != look.points:
        look = replace(look, gone=gone, points=points)
    visibility = style.get("visibility", "")
    if visibility:
        look = replace(look, invisible=visibility in ("hidden", "collapse"))
    space = style.get("white-space", "")
    return replace(look, pre=space.startswith("pre") and space != "pre-line") if space else look


def makes_gap(style: dict[str, str], side: str) -> bool:
    """True when a style moves the words of an inline element away from those at ``side``."""
    room = style.get(f"padding-{side}") or style.get(f"margin-{side}") or ""
    return (_points(room, 12.0) or 0.0) >= _GAP


def _is_cut_away(style: dict[str, str]) -> bool:
    """Nothing is left to see: opacity zero, a box without size that hides what flows over, clipped to nothing."""
    opacity = style.get("opacity", "")
    if opacity and (_points(opacity, 1.0) or 0.0) < 0.04 and opacity[0] in "0.":
        return True
    if style.get("overflow", "").startswith("hidden"):
        sizes = [style.get(name) for name in ("width", "height", "max-width", "max-height")]
        if any(
            size is not None and _points(size, 12.0) is not None and 0 <= (_points(size, 12.0) or 0) < 1.0
            for size in sizes
        ):
            return True
    clip = style.get("clip", "").replace(" ", "")
    return (
        bool(re.match(r"rect\((?:0|1)(?:px)?,?(?:0|1)(?:px)?,?(?:0|1)(?:px)?,?(?:0|1)(?:px)?\)", clip))
        or (style.get("clip-path", "").replace(" ", "") in ("inset(50%)", "inset(100%)", "circle(0)"))
        or "scale(0)" in style.get("transform", "")
    )


def _is_off_page(style: dict[str, str]) -> bool:
    names = ["text-indent", "margin-left", "margin-top"]
    if style.get("position") in ("absolute", "fixed", "relative"):
        names += ["left", "top", "right", "bottom"]
    return any((_points(style[name], 12.0) or 0.0) < _FAR for name in names if name in style)


def _font_points(style: dict[str, str], outer: float) -> float:
    size = style.get("font-size")
    if size is None:
        short = _LENGTH.search(style.get("font", ""))
        size = short[0] if short and short[2] else None
    if size is None:
        return outer
    points = _points(size, outer)
    return points if points is not None else (12.0 if re.search("small|medium|large", size) else outer)


def _points(length: str, outer: float) -> float | None:
    """A CSS length in points; None when it is no number."""
    found = _LENGTH.match(length.strip())
    if found is None:
        return None
    value = float(found[1])
    if found[2] in ("em", "ex"):
        return value * outer
    if found[2] == "rem":
        return value * 12.0
    return value * outer / 100 if found[2] == "%" else value * _POINTS[found[2]]
