"""Whether words that look a certain way are in the wanted view of a page; not for how they came to look so."""

from __future__ import annotations

from dataclasses import dataclass

from softlookup.documents.model import Flag, View
from softlookup.documents.readers.html.styles import Look


@dataclass(slots=True)
class Shown:
    """``underline_inserts`` tells that the page is a redline that underlines what it inserts."""

    view: View
    underline_inserts: bool = False

    def revision(self, look: Look) -> Flag | None:
        """Whether the words were struck out or inserted."""
        if look.struck:
            return "deleted"
        return "inserted" if look.inserted or (look.underlined and self.underline_inserts) else None

    def hidden(self, look: Look) -> Flag | None:
        """Why words that look so are not in this view of the page; None when they are."""
        if look.flag is not None:
            return look.flag
        revision = self.revision(look)
        if revision == "deleted":
            return "deleted" if self.view == "final" else None
        return "inserted" if revision == "inserted" and self.view == "original" else None

    def mark(self, look: Look) -> Flag | None:
        """How such words are marked in the text."""
        return self.revision(look) if self.view == "markup" else None
