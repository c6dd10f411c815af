"""Tracked changes and what else decides whether words are in the text: the context of an element.

Not for walking the file (``docx_runs.py``, ``docx_blocks.py``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from lxml import etree

from softlookup.documents.model import Flag, View
from softlookup.documents.readers.docx.package import attribute, child, local

# elements that wrap changed words, or stand in properties and say that a mark, a row or a cell was changed
CHANGES = frozenset(("ins", "del", "moveFrom", "moveTo", "cellIns", "cellDel"))
_TAKEN_OUT = frozenset(("del", "moveFrom", "cellDel"))
_MOVED = frozenset(("moveFrom", "moveTo"))


@dataclass(frozen=True, slots=True)
class Context:
    """What the elements around some words say about them.

    ``hidden`` is Word's hidden text; ``background`` is the colour behind the words ("" when nobody knows),
    ``style`` the paragraph style.
    """

    inserted: bool = False
    deleted: bool = False
    moved: bool = False
    hidden: bool = False
    low_contrast: bool = False
    tiny: bool = False
    detail: str = ""
    background: str = "FFFFFF"
    style: str = ""

    @property
    def flags(self) -> tuple[Flag, ...]:
        """Everything that is to be told of words in this context."""
        if not (self.inserted or self.deleted or self.is_unseen):
            return ()
        told: tuple[tuple[bool, Flag], ...] = (
            (self.deleted, "deleted"), (self.inserted, "inserted"), (self.moved, "moved"),
            (self.hidden, "hidden"), (self.low_contrast, "low_contrast"), (self.tiny, "tiny"),
        )  # fmt: skip
        return tuple(flag for is_so, flag in told if is_so)

    @property
    def is_unseen(self) -> bool:
        """True for words that a reader of the printed page cannot see."""
        return self.hidden or self.low_contrast or self.tiny

    def is_in(self, view: View) -> bool:
        """True when the view has what stands here, seen or not."""
        if view == "final":
            return not self.deleted
        return view == "markup" or not self.inserted

    def is_shown(self, view: View) -> bool:
        """True when words in this context are part of the text."""
        return not self.is_unseen and self.is_in(view)


@dataclass(slots=True)
class Revisions:
    """The tracked changes met so far, and the rules for one view."""

    view: View
    counts: Counter[str]

    def enter(self, context: Context, change: etree._Element) -> Context:
        """Context inside ``change``, which is one of ``CHANGES``; the change is counted."""
        name = local(change)
        self.counts[name] += 1
        detail = ", ".join(filter(None, (attribute(change, "author"), attribute(change, "date"))))
        taken_out = name in _TAKEN_OUT
        return replace(
            context,
            deleted=context.deleted or taken_out,
            inserted=context.inserted or not taken_out,
            moved=context.moved or name in _MOVED,
            detail=detail or context.detail,
        )

    def enter_all(self, context: Context, properties: etree._Element | None) -> Context:
        """Context inside a paragraph mark, a row or a cell with these properties."""
        if properties is not None:
            for element in properties:
                if local(element) in CHANGES:
                    context = self.enter(context, element)
        return context

    def paragraph_properties(self, paragraph: etree._Element) -> etree._Element | None:
        """``w:pPr`` as the view has it: the old one in the original when it was changed."""
        properties = child(paragraph, "pPr")
        if self.view == "original":
            old = child(child(properties, "pPrChange"), "pPr")
            return properties if old is None else old
        return properties

    def run_properties(self, run: etree._Element) -> etree._Element | None:
        """``w:rPr`` of a run as the view has it."""
        properties = child(run, "rPr")
        following = None if properties is None else properties.getnext()
        if following is not None and local(following) == "rPr":
            properties = following  # in formulas m:rPr comes before w:rPr
        if self.view == "original":
            old = child(child(properties, "rPrChange"), "rPr")
            return properties if old is None else old
        return properties

    def numbers_were_added(self, number_properties: etree._Element | None) -> bool:
        """True when the numbering of the paragraph is itself an insertion that the view leaves out."""
        return self.view == "original" and child(number_properties, "ins") is not None

    @property
    def insertions(self) -> int:
        """Insertions met, moves left aside."""
        return self.counts["ins"] + self.counts["cellIns"]

    @property
    def deletions(self) -> int:
        """Deletions met, moves left aside."""
        return self.counts["del"] + self.counts["cellDel"]

    @property
    def moves(self) -> int:
        """Moved pieces; each stands in the file twice."""
        return max(self.counts["moveFrom"], self.counts["moveTo"])
