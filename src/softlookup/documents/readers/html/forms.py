"""What a form field shows: its value, or a blank to fill in; nothing is sent or run."""

from __future__ import annotations

from lxml import etree

from softlookup.documents.readers.html.source import attribute

BLANK = "____"
_UNTYPED = frozenset(("hidden", "submit", "reset", "button", "image", "file", "password", "color", "range"))


def field_text(element: etree._Element, tag: str) -> tuple[str, str]:
    """What ``<input>``, ``<select>`` or ``<textarea>`` shows, and the choices that are not chosen."""
    if tag == "textarea":
        return " ".join("".join(map(str, element.itertext())).split()) or BLANK, ""
    if tag == "select":
        return _chosen(element)
    kind = attribute(element, "type").lower()
    if kind in ("checkbox", "radio"):
        return ("☒ " if element.get("checked") is not None else "☐ "), ""
    if kind in _UNTYPED:
        return "", ""
    return attribute(element, "value") or BLANK, ""  # an unknown type is a text field, as in a browser


def _chosen(element: etree._Element) -> tuple[str, str]:
    options = [
        (" ".join("".join(map(str, option.itertext())).split()), option.get("selected") is not None)
        for option in element.iter("option")
    ]
    chosen = [text for text, is_chosen in options if is_chosen and text]
    others = [text for text, is_chosen in options if text and not (is_chosen and chosen)]
    return ", ".join(chosen) or BLANK, "\n".join(others)
