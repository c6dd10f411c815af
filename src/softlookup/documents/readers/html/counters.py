"""List numbers that a style sheet makes with CSS counters, as Google Docs exports them; no other generated content.

``.lst-0>li:before{content:counter(ctn-0,decimal) ". "}`` with ``counter-increment`` on ``.lst-0>li``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from softlookup.documents.readers.html.numbers import browser_number

_ITEM = re.compile(r"(?:ol|ul)?\.([\w-]{1,80})\s{0,5}>\s{0,5}li(?P<before>::?before)?")
_CONTENT = re.compile(
    r"\"(?P<double>[^\"]{0,40})\"|'(?P<single>[^']{0,40})'|counters?\(\s{0,5}(?P<name>[\w-]{1,80})[^,)]{0,20}"
    r"(?:,\s{0,5}(?P<style>[\w-]{1,30}))?\s{0,5}\)"
)
_RESET = re.compile(r"([A-Za-z_][\w-]{0,80})(?:\s{1,5}(-?\d{1,6}))?")
_STYLES = {
    "decimal": "1", "lower-latin": "a", "lower-alpha": "a", "upper-latin": "A", "upper-alpha": "A",
    "lower-roman": "i", "upper-roman": "I", "decimal-leading-zero": "01", "cjk-ideographic": "一",
}  # fmt: skip


@dataclass(slots=True)
class Counters:
    """What each list class prints before its items, which counter it moves, and where the counters stand."""

    content: dict[str, str] = field(default_factory=dict)
    moves: dict[str, str] = field(default_factory=dict)
    values: dict[str, int] = field(default_factory=dict)

    def add(self, selector: str, declared: dict[str, str], raw: str) -> None:
        """Take a rule for the items of a list class; ``raw`` holds its declarations as written."""
        item = _ITEM.fullmatch(selector)
        if item is None:
            return
        if item["before"] and "counter" in declared.get("content", ""):
            self.content[item[1]] = raw[raw.lower().find("content") :].partition(":")[2].partition(";")[0]
        elif "counter-increment" in declared:
            self.moves[item[1]] = declared["counter-increment"].split()[0]

    def reset(self, style: dict[str, str]) -> None:
        """Set the counters that a list resets."""
        for name, value in _RESET.findall(style.get("counter-reset", "")[:1000]):
            self.values[name] = int(value or 0)

    def label(self, classes: list[str]) -> str | None:
        """What is printed before the next item of a list with these classes; None when nothing is."""
        known = next((name for name in classes if name in self.content), None)
        if known is None:
            return None
        counter = self.moves.get(known, "")
        self.values[counter] = self.values.get(counter, 0) + 1
        printed = ""
        for piece in _CONTENT.finditer(self.content[known]):
            if piece["name"]:
                number = self.values.get(piece["name"].lower(), 0)
                printed += browser_number(number, _STYLES.get(piece["style"] or "decimal", "1"))
            else:
                printed += piece["double"] or piece["single"] or ""
        return printed.strip()
