"""The account of an HTML page: what was left out and why, in words and in numbers; reads nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from softlookup.documents.model import Aside, CoverageCounts

UNSEEN = ("hidden", "tiny", "low_contrast", "offpage")
# elements that hold no text for a reader of the page, with what to call them; "" where nobody would miss them
DROPPED = {
    "script": "scripts", "style": "style sheets", "iframe": "frames", "object": "objects", "embed": "objects",
    "applet": "objects", "noscript": "noscript parts", "template": "templates", "svg": "drawings",
    "math": "formulas", "title": "", "head": "", "xml": "XML islands", "ix:header": "iXBRL headers",
    "frame": "frames", "video": "videos", "audio": "sounds", "canvas": "drawings",
    "button": "buttons", "datalist": "", "base": "", "link": "", "meta": "",
}  # fmt: skip


@dataclass(slots=True)
class Account:
    """Counts by name while the page is read."""

    counts: Counter[str] = field(default_factory=Counter)
    templates: int = 0
    tables: int = 0
    rules_not_applied: int = 0
    underline_inserts: bool = False

    def notes(self, asides: tuple[Aside, ...]) -> tuple[str, ...]:
        """What was left out and why, in words."""
        sizes: Counter[str] = Counter()
        for aside in asides:
            sizes.update({flag: len(aside.text) for flag in aside.flags})
        found: list[str] = []
        unseen = {flag: sizes[flag] for flag in UNSEEN if sizes[flag]}
        if unseen:
            kinds = ", ".join(f"{name.replace('_', ' ')} {size}" for name, size in unseen.items())
            found.append(f"hidden text left out: {sum(unseen.values())} characters ({kinds})")
        if sizes["deleted"]:
            found.append(f"struck-out text left out: {sizes['deleted']} characters")
        if sizes["inserted"]:
            found.append(f"inserted text left out: {sizes['inserted']} characters")
        if self.underline_inserts and self.counts["insertions"]:
            found.append("underlined words are taken for insertions, for others are struck out")
        if self.templates:
            found.append(f"template code removed in {self.templates} places")
        if self.counts["form fields"]:
            found.append(f"form fields shown by their value or ____: {self.counts['form fields']}")
        names = sorted({*filter(None, DROPPED.values()), "comments", "redirections"})
        dropped = [f"{name} {self.counts[name]}" for name in names if self.counts[name]]
        if dropped:
            found.append(f"not read, for they are no text: {', '.join(dropped)}")
        if self.rules_not_applied:
            found.append(f"style rules that may hide text and were not applied: {self.rules_not_applied}")
        return tuple(found)

    def counted(self, asides: tuple[Aside, ...]) -> CoverageCounts:
        """The numbers of the coverage account."""
        counts = self.counts
        return CoverageCounts(
            tables=self.tables,
            footnotes=counts["footnotes"],
            endnotes=counts["endnotes"],
            comments=counts["Word comment"],
            headers=sum(1 for aside in asides if aside.kind == "header"),
            footers=sum(1 for aside in asides if aside.kind == "footer"),
            pictures=counts["pictures"],
            form_fields=counts["form fields"],
            insertions=counts["insertions"],
            deletions=counts["deletions"],
            hidden_characters=sum(len(a.text) for a in asides if a.flags and a.flags[0] in UNSEEN),
        )
