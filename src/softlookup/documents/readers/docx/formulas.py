"""Formulas (OMML) in one line: what is put between their parts so that 1 over 2 is not read as 12."""

from __future__ import annotations

from lxml import etree

from softlookup.documents.readers.docx.package import attribute, child, local

_BEFORE = {"den": "/", "sup": "^", "sub": "_", "lim": "_"}
_GROUPED = frozenset(("num", "den", "sup", "sub", "lim"))
MATH = frozenset(("num", "den", "sup", "sub", "lim", "rad", "d", "nary", "deg", "mr", "func"))
_NAMESPACES = ("/math", "officeDocument/2006/math")


def around(element: etree._Element) -> tuple[str, str]:
    """Characters to print before and after ``element`` of a formula; ("", "") for other elements."""
    tag = str(element.tag)
    if not tag.partition("}")[0].endswith(_NAMESPACES):
        return "", ""
    name = local(element)
    if name in _GROUPED:
        is_empty = not any(e.text for e in element.iter() if local(e) == "t")
        if is_empty:
            return "", ""
        is_long = sum(len(e.text or "") for e in element.iter() if local(e) == "t") > 1
        left, right = ("(", ")") if is_long else ("", "")
        return _BEFORE.get(name, "") + left, right
    if name == "rad":
        return "√(", ")"
    if name == "d":
        properties = child(element, "dPr")
        return _delimiter(properties, "begChr", "("), _delimiter(properties, "endChr", ")")
    if name == "nary":
        return _delimiter(child(element, "naryPr"), "chr", "∫"), ""
    return ("", "; ") if name == "mr" else ("", "")


def _delimiter(properties: etree._Element | None, name: str, default: str) -> str:
    found = child(properties, name)
    return default if found is None else attribute(found, "val")[:1]
