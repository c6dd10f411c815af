"""Decides whether a printed line begins a paragraph or goes on with the line before; joins nothing."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from softlookup.documents.readers.pdf.hyphens import CUT
from softlookup.documents.readers.pdf.lines import Line
from softlookup.documents.tree.numbering import FOLD, Label, label_at

_FINAL = tuple('.;:!?。；：！？”"')
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\w{0,5}\s*\Z|…{2,}\s*\d*\s*\Z")
HAN = re.compile(r"[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef“”‘’…—\U00020000-\U0003ffff]")
_DEFINES = re.compile(r"[“\"][A-Z][^”\"]{1,60}[”\"]\s{1,3}(?:means?|shall mean|has the meaning|is defined)\b")
_GOES_ON = re.compile(r"(?:[,，、]|(?<![^ ])(?:and|or|the|of|to|by|in|for|with|an?|any|such|this|its|as|at|on|from))\Z")
# a number after one of these may be that of a reference, at the end of a line too
_REFERS = re.compile(
    r"(?:[,、第]|(?<![a-z])(?i:and|or|to|sections?|clauses?|articles?|paragraphs?|schedules?|items?|nos?\.))\Z"
)
_SAME_LEFT = 3.0  # points
_LONGEST_LABEL = 14  # characters, with the blank after it
_HEAD = 200  # characters in which a label ends
_TAIL = 400  # characters at the end of a line that decide


def pitch_of(lines: Sequence[Line]) -> float:
    """Usual distance between baselines of neighbouring lines; 0 when unknown."""
    gaps = [round(a.bottom - b.bottom, 1) for a, b in itertools.pairwise(lines) if 4 < a.bottom - b.bottom < 40]
    return sorted(gaps)[len(gaps) // 3] if gaps else 0.0


def right_margin(lines: Sequence[Line]) -> float:
    """Where full lines end: nine in ten lines end no further to the right."""
    rights = sorted(line.right for line in lines)
    return rights[int(len(rights) * 0.9)] if rights else 0.0


def opens_label(text: str) -> bool:
    """True when the line starts with a clause label that is no plain number before a lower-case word."""
    head = text[:_HEAD]
    folded = head.translate(FOLD)
    label = label_at(folded, 0, head)
    if label is None:
        return False
    rest = folded[label.end :].lstrip(" .")
    bare = label.readings[0].style == "decimal1" and folded[label.end - 1 : label.end] not in (".", "、", ")")
    if bare or (label.has_keyword and not folded.startswith(("第", "附"))):
        return bool(rest[:1].isupper()) or not rest or rest[:1] in "-–—:"
    return True


def starts_after_break(previous: str, text: str, *, filled: bool = False) -> bool:
    """True when ``text``, the first line of a page, does not go on with ``previous``, the last one before.

    ``filled``: that one reaches the right margin, so that a capital after it may be that of a name.
    """
    if opens_label(text) or _LEADERS.search(previous[-_TAIL:]):
        return True
    if previous.endswith(CUT) or _GOES_ON.search(previous[-12:]):
        return False
    if previous.endswith(_FINAL):
        return True
    runs_on = text[0].islower() or bool(HAN.match(text[0]) and HAN.match(previous[-1]))
    return not runs_on and not (filled and not text.isupper() and not previous.isupper())


def starts(before: Line, line: Line, text: str, pitch: float, right: float) -> bool:
    """True when ``line`` begins a paragraph on the same page as ``before``."""
    previous = before.text
    if _LEADERS.search(previous[-_TAIL:]) or _LEADERS.search(text[-_TAIL:]):
        return True
    if line.top == 0.0 == line.bottom:  # no geometry for this page
        return opens_label(text) or previous.endswith(_FINAL)
    gap = before.bottom - line.bottom
    if gap < -2.0 or (pitch and gap > 1.45 * pitch and gap > 1.2 * line.height):
        return not (gap < -2.0 and text[0].islower())
    if abs(gap) < 1.0 and line.left >= before.right:
        return False  # the same printed line in two runs
    final = previous.endswith(_FINAL)
    # a row of a table, a form or a signature block
    is_row = ("\t" in previous or "\t" in text) and not text[0].islower() and not continues_cell(before, line)
    if is_row or (final and (_DEFINES.match(text) or (pitch and gap > 1.15 * pitch))):
        return True
    short = right > 0 and before.right < right - 0.12 * right
    if opens_label(text) and (final or short or abs(line.left - before.left) > 0.5):
        return True
    if short and (final or not text[0].islower()):
        return not previous.endswith((",", "，", "、")) or final
    return final and line.left > before.left + 12.0 and abs(line.left - _text_left(before)) > 3.0


def is_next_label(opening: Line, before: Line, line: Line) -> bool:
    """True when ``line`` has the label after that of ``opening``, which begins the paragraph of ``before``.

    So "16." below "15." at the same left begins a paragraph though the line between them is full.
    """
    if abs(line.left - opening.left) > _SAME_LEFT or not opens_label(line.text) or _REFERS.search(before.text[-14:]):
        return False
    here, first = _label_of(line), _label_of(opening)
    if here is None or first is None:
        return False
    pairs = itertools.product(first.readings, here.readings)
    return any(a.style == b.style and (*a.values[:-1], a.values[-1] + 1) == b.values for a, b in pairs)


def _label_of(line: Line) -> Label | None:
    head = line.text[:_HEAD]
    return label_at(head.translate(FOLD), 0, head)


def continues_cell(before: Line, line: Line) -> bool:
    """True when ``line`` is the next line of the last cell of the row ``before``."""
    return (
        "\t" in before.text
        and "\t" not in line.text
        and bool(before.gaps)
        and abs(line.left - before.gaps[-1][2]) < _SAME_LEFT
        and not before.text.endswith(_FINAL)
        and not opens_label(line.text)
    )


def _text_left(line: Line) -> float:
    """Where the text of a line begins: after its label when that hangs out to the left."""
    if line.gaps and line.gaps[0][0] <= _LONGEST_LABEL:
        return line.gaps[0][2]
    return line.left
