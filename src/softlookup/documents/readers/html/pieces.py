"""Elements that are read as a whole: form fields, pictures, Word's list numbers, and what is no text; no walking."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lxml import etree

from softlookup.documents.model import Flag
from softlookup.documents.readers.html.account import DROPPED, Account
from softlookup.documents.readers.html.forms import field_text
from softlookup.documents.readers.html.lists import word_label, word_list
from softlookup.documents.readers.html.source import TEMPLATE_MARK, attribute, plain
from softlookup.documents.readers.html.writer import Context, Writer

# no part of the page, but what they say is kept aside
_KEPT_ASIDE = ("noscript", "template", "object", "iframe", "applet", "math", "svg", "button")
_CHECKED = re.compile(r"\b(?P<no>not checked|unchecked|not selected|empty box)\b|\b(?:checked|selected)\b", re.I)
_PARAGRAPHS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li")


@dataclass(slots=True)
class Pieces:
    """Writes such elements; ``hidden`` says why one is not seen, None when it is."""

    writer: Writer
    account: Account

    def drop(self, element: etree._Element, tag: str) -> None:
        """Count an element that holds no text of the page."""
        counts = self.account.counts
        if name := DROPPED[tag]:
            counts[name] += 1
        if tag == "head":
            counts["scripts"] += sum(1 for _ in element.iter("script"))
            counts["style sheets"] += sum(1 for _ in element.iter("style"))
        if tag in ("head", "meta"):
            counts["redirections"] += sum(
                1 for meta in element.iter("meta") if attribute(meta, "http-equiv").lower() == "refresh"
            )
        if tag in _KEPT_ASIDE:
            words = " ".join(" ".join(str(t) for t in element.itertext() if isinstance(t, str)).split())
            flag: Flag | None = None if tag == "button" else "hidden"
            self.writer.hide(plain(TEMPLATE_MARK.sub("", words)), flag, where=f"<{tag}>")

    def field(self, element: etree._Element, tag: str, context: Context, hidden: Flag | None) -> None:
        """Write what a form field shows."""
        shown, others = field_text(element, tag)
        if not shown:
            return
        self.account.counts["form fields"] += 1
        if hidden is not None:
            self.writer.hide(shown, hidden)
            return
        is_value = attribute(element, "value") == shown or tag != "input"
        self.writer.add(shown, context, generated=not is_value or set(shown) == {"_"})
        if others:
            self.writer.hide(others, None, where="choices of a form field")

    def picture(self, element: etree._Element, context: Context, hidden: Flag | None) -> None:
        """Count a picture; write one that stands for a box to tick."""
        checked = _CHECKED.search(attribute(element, "alt"))
        if checked is not None and hidden is None:
            self.writer.add("☐ " if checked["no"] else "☒ ", context, generated=True)
            self.account.counts["form fields"] += 1
        else:
            self.account.counts["pictures"] += 1

    def word_label(self, element: etree._Element, context: Context, hidden: Flag | None, mark: Flag | None) -> None:
        """Write the number that Word put before the text of a list paragraph."""
        label, is_bullet = word_label(element)
        if hidden is not None:
            self.writer.hide(label, hidden)
            return
        begins = self.writer.place[1] == 0
        self.writer.add(label + " ", context, mark=mark)
        parent = element.getparent()
        while parent is not None and tag_of(parent) not in _PARAGRAPHS:
            parent = parent.getparent()
        stated = word_list(attribute(parent, "style")) if parent is not None else None
        if stated is not None and not is_bullet and begins:
            self.writer.state_label(label, *stated)


def tag_of(element: etree._Element) -> str:
    """Name of an element in lower case without its namespace; "" for comments. ``ix:header`` keeps its prefix."""
    return element.tag.rsplit("}", 1)[-1].lower() if isinstance(element.tag, str) else ""
