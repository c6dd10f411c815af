"""Why one clause is read with another, in the language of the document; the edges are ``clause_edges.py``'s."""

from __future__ import annotations

from softlookup.documents.language import language_of
from softlookup.documents.model import Clause, ReferenceEffect

_OUT: dict[ReferenceEffect, tuple[str, str]] = {
    "refers": ("{0} refers to it", "{0}提及该处"),
    "subject_to": ("{0} is subject to it", "{0}以其为前提"),
    "overrides": ("{0} overrides it", "{0}优先于该处"),
    "exception_to": ("{0} makes it an exception", "{0}将其列为例外"),
    "same_as_preceding": ("{0} applies it likewise", "{0}参照该处"),
}
_BACK: dict[ReferenceEffect, tuple[str, str]] = {
    "subject_to": ("is subject to {0}", "以{0}为前提"),
    "overrides": ("overrides {0}", "优先于{0}"),
    "exception_to": ("excepts {0}", "以{0}为例外"),
}
_SAMPLE = 20_000  # characters: enough to tell the language of a document


class EdgeWording:
    """Reasons of edges for one document."""

    def __init__(self, text: str) -> None:
        self._chinese = language_of(text[:_SAMPLE]) == "zh"

    def said(self, effect: ReferenceEffect, source: Clause) -> str:
        """``source`` names the clause that is added."""
        return _OUT[effect][self._chinese].format(self.name(source))

    def said_back(self, effect: ReferenceEffect, source: Clause) -> str:
        """The added clause names ``source``."""
        return _BACK[effect][self._chinese].format(self.name(source))

    def called(self, source: Clause, words: str) -> str:
        """The added clause holds what ``source`` means by ``words`` ("such losses")."""
        name = self.name(source)
        return f"{name}所称“{words}”的出处" if self._chinese else f'defines what {name} calls "{words}"'

    def brings_in(self, schedule: Clause) -> str:
        """The added clause is the one that says what ``schedule`` is for."""
        return f"引出{self.name(schedule)}" if self._chinese else f"brings in {self.name(schedule)}"

    def gives_meaning(self, term: str) -> str:
        """The added clause gives the meaning that a definition points to."""
        return f"给出“{term}”的含义" if self._chinese else f'gives the meaning of "{term}"'

    def defines(self, term: str) -> str:
        """The added text defines ``term``."""
        return f"定义“{term}”" if self._chinese else f'defines "{term}"'

    def name(self, clause: Clause) -> str:
        """How a clause is called in a reason."""
        return clause_name(clause, chinese=self._chinese)


def clause_name(clause: Clause, *, chinese: bool = False) -> str:
    """How a clause is called: "clause 8.2", "Section 4", "第三条", or by its heading or place."""
    label = clause.path or clause.number
    if not label:
        if clause.heading:
            return f"“{clause.heading[:40]}”" if chinese else f'"{clause.heading[:40]}"'
        return f"未编号条款{clause.index}" if chinese else f"unnumbered clause {clause.index}"
    if label[0].isdigit() or label[0] in "(（":
        return f"条款{label}" if chinese else f"clause {label}"
    return label
