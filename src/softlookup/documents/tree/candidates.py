"""Places where a clause label may stand, each with the strength of the evidence; no decision here.

A label counts for more at the start of a paragraph than at a wrapped line, and for more before a heading
than before a lower-case word. ``sequences.py`` decides by continuity.
"""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from dataclasses import dataclass

from softlookup.documents.model import Block, LabelSource
from softlookup.documents.tree.numbering import ENCLOSED, Label, Reading, label_at, parse_label

MAX_LABELS = 30_000  # contracts have 300 in 100,000 characters, statutes 1,400; more than this costs many seconds
# what may stand before a label on its line: blanks, Markdown marks, inline tags
_LEAD = re.compile(r"(?:[ ]|[>#*_|•·+]|-(?=[ ])|\\(?=[\d(])|</?[a-zA-Z][^<>\n]{0,200}>)*")
_LINE = re.compile(r"^[^\S\n]*+\S[^\n]*", re.M)  # anchored: a line of a million blanks is tried once
_FIRST = rf"(?=[(\d§A-Z第{''.join(ENCLOSED.values())}]|[a-z][.)][ ]|[ivx]{{1,5}}[.)][ ])"
_MIDDLE = re.compile(
    rf"(?:(?<=[.;:)\]\"”’!?。；：,])[ ](?:and |or |\*\*)?|(?<![ ])[ ]{{2,}}+(?:and |or |\*\*)?){_FIRST}"
    r"|(?<=[a-z][.;:])(?=\([A-Za-z1]\)[ ]?[A-Z])"
)
# where line ends were lost: a number and a capitalised word after plain text
_LOST = re.compile(
    r"(?<=[A-Za-z\d)])[ ](?=\d{1,2}(?:\.\d{1,2})?\.[ ][A-Z]|\d{1,2}\.\d{1,2}(?:\.\d{1,2}){0,2}\.?[ ][A-Z][A-Za-z]"
    r"|(?:Section|SECTION)[ ]\d{1,2}\.\d{1,2}\.?[ ]{1,3}[A-Z])"
)
_NAME_BEFORE = re.compile(r"(?:^|[\s(])[A-Z][A-Za-z'’&/-]*\Z")
_CITING = re.compile(
    r"[ ]*(?:\([A-Za-z0-9]{1,5}\))*[ ]*(?:,?[ ]?(?:of|hereof|herein|hereto|above|below|thereof|"
    r"and|or|to|through|shall|is|are|was|were|will|may|"
    r"attached|in|as|for|by|with|which|that|has|have|hereunder|under|must|does|any|contained|relating|days?|"
    r"months?|years?|percent|business|calendar|if|on|from|the)\b|[,;]|\)|款|项|規定|规定|的|所|及|和|至|或|或者|、第)"
)
_FINAL = '.;:!?。；：！？)）”"’]_'
_CLAUSE_END = (";", ",", ":", "。", "；", "，", "：", " and", " or")  # no entry of a list of contents ends so
_OPENING_WORD = re.compile(r"[*_ \"“'‘\[(<]*([^\W_])")
_PAGE_TAIL = re.compile(
    r"(?:\.[ ]?){4,}[ ]*(?:[A-Z]-)?(?:\d{1,3}|[ivxlc]{1,6})?[ ]*$|(?:…|⋯){2,}"
    r"|[ ]{3,}\d{1,3}[ ]*$|\t\d{1,3}[ ]*$"
)
_UNMARKED = re.compile(r"\d{1,3}")
_INITIAL = re.compile(r"[A-Z]\.[ ]?(?:[A-Z]\.|[A-Z][a-z]+(?:-[A-Z][a-z]+)?[, ])")
_SHORT_ENTRY = 60
_LEADERS = re.compile(r"[^.\n]{2,120}(?:\.[ ]?){5}")
REFERRING = re.compile(
    r"(?:\b(?:in|of|to|under|with|and|or|by|this|per|see|from|than|such|said|through|pursuant|Section|Sections|"
    r"Article|Articles|Clause|Clauses|Exhibit|Schedule|paragraph|subsection|No)|,)[ ]*$",
)
_HEADING_OF_DECIMALS = re.compile(r"[ ]?[A-Z][^.\n]{1,90}?[ ]{2,9}(\d{1,2})\.\d{1,2}\b")
_CITED_BEFORE = re.compile(
    r"\b(?i:sections?|articles?|clauses?|exhibits?|schedules?|paragraphs?|subsections?|annex|appendix|this)\s*\Z"
    r"|(?:本|第|见|按|依)\s*\Z"
)
_NAMELESS_HEAD = re.compile(
    r"\n[ ]*(?:THE[ ]{1,3})?(?:(?:[A-Z]+[ ])?SCHEDULE|ANNEX(?:URE)?|APPENDIX)\s*\Z"
    r"|\n\n[ ]*(?:Schedule|Annex(?:ure)?|Appendix)[ ]*\n\s*\Z"
)

# words that lead to an amount on the next line: "the price is EUR", "by up to", "ends on"
_AMOUNT_BEFORE = re.compile(
    r"(?:\b(?:[A-Z]{3}|is|are|was|of|to|by|at|on|than|least|most|about|approximately|roughly|around|between|from|per|"
    r"exceeds?|exceeding|equals?|maximum|minimum)|[€$£¥]|人民币|为|约|至)"
    r"[^\S\n]*\n[^\S\n]*\Z"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A label with its evidence: ``start`` is where the clause would begin, ``strength`` may be negative.

    ``line_end`` is the end of the line it stands on; ``in_line`` tells that text stands before it there.
    ``listed`` tells that the line looks like one of a list of contents, ``ended`` that it ends as a clause does.
    A label with a ``list_id`` is a fact stated by the format, whatever it looks like.
    """

    start: int
    label: Label
    strength: float
    line_end: int
    in_line: bool
    source: LabelSource = "typed"
    listed: bool = False
    ended: bool = False
    list_id: str = ""
    list_level: int = 0


def find_candidates(
    text: str, folded: str, blocks: tuple[Block, ...], *, is_wrapped: bool
) -> tuple[Candidate, ...] | None:
    """Every place of ``text`` where a label may stand, in order of offset; None for more than ``MAX_LABELS``.

    ``folded`` is ``text.translate(FOLD)``; ``is_wrapped`` tells that lines were broken at a fixed width, so that
    a new line is no new paragraph.
    """
    if next(itertools.islice(_MIDDLE.finditer(folded), 3 * MAX_LABELS, None), None) is not None:
        return None
    by_start = {block.span.start: block for block in blocks}
    skipped = [block.span for block in blocks if block.kind in ("toc", "footnote", "endnote")]
    starts = [span.start for span in skipped]
    found: list[Candidate] = []
    previous_end, previous_blank = -1, True
    for line in _LINE.finditer(folded):
        start, end = line.span()
        previous_blank = previous_end < 0 or text.count("\n", previous_end, start) > 1
        at = bisect_right(starts, start) - 1
        if at < 0 or not skipped[at].start <= start < skipped[at].end:
            paragraph = previous_blank or not is_wrapped or _ends_short(folded, previous_end)
            found.extend(
                _line_candidates(text, folded, start, end, paragraph=paragraph, block=_block_in(by_start, text, start))
            )
        previous_end = end
        if len(found) > MAX_LABELS:
            return None
    return tuple(found)


def is_contents_entry(line: str) -> bool:
    """True for a line of a table of contents: leader dots, or a page number far to the right."""
    if _LEADERS.match(line):
        return True
    tail = _PAGE_TAIL.search(line) if len(line) <= 160 else None
    if tail is None:
        return False
    ended = line[: tail.start()].rstrip().endswith((".", ";", "。", "；")) and not tail[0].startswith((".", "…", "⋯"))
    return not ended or tail.start() < _SHORT_ENTRY  # a sentence, and the page number that followed it


def _block_in(by_start: dict[int, Block], text: str, start: int) -> Block | None:
    while start < len(text) and text[start].isspace():
        start += 1
    return by_start.get(start)


def _ends_short(folded: str, end: int) -> bool:
    """True when the line that ends at ``end`` is much shorter than a full one, as a heading is."""
    begin = folded.rfind("\n", 0, end) + 1
    line = folded[begin:end].strip()
    return len(line) < 45 and not line.endswith(",")


def _line_candidates(
    text: str, folded: str, start: int, end: int, *, paragraph: bool, block: Block | None
) -> list[Candidate]:
    found: list[Candidate] = []
    lead = _LEAD.match(folded, start, end)
    position = lead.end() if lead else start
    if block is not None and block.label:
        automatic = _automatic(text, folded, start, end, block)
        if automatic is not None:
            found.append(automatic)
            position = automatic.label.end
    if not found:
        label = label_at(folded, position, text)
        if label is not None and label.end <= end + 1:
            strength = _line_strength(folded, label, start, end, paragraph=paragraph)
            listed = is_contents_entry(folded[label.end : end])
            begin = start + _indent(text, start, end)
            ended = folded[max(start, end - 40) : end].rstrip(" *_").endswith(_CLAUSE_END)
            found.append(Candidate(begin, label, strength, end, in_line=False, listed=listed, ended=ended))
            position = label.end
    found.extend(_middle_candidates(text, folded, position, end))
    return found


def _indent(text: str, start: int, end: int) -> int:
    """Blanks before the first character; an invisible one is part of the clause, as it is of its block."""
    line = text[start:end]
    return len(line) - len(line.lstrip())


def _automatic(text: str, folded: str, start: int, end: int, block: Block) -> Candidate | None:
    """Candidate for a number that the format itself states; certain, so it outweighs any continuity."""
    parsed = parse_label(block.label)
    stands = text.startswith(block.label, block.span.start)
    if parsed is None and not (block.list_id and stands):
        return None
    lead = _LEAD.match(folded, start, end)
    printed = label_at(folded, lead.end() if lead else start, text)
    label_end = block.span.start + len(block.label) if stands else (printed.end if printed else start)
    if parsed is None:  # "First", "5A.": no form that a typed label is known by
        label = Label(block.span.start, label_end, block.label.rstrip(" .:："), (Reading("auto", (0,)),))
    else:
        label = Label(block.span.start, label_end, parsed.number, parsed.readings, parsed.has_keyword)
    source: LabelSource = "auto" if stands else "inferred"
    return Candidate(
        block.span.start, label, 6.0, end, in_line=False, source=source, list_id=block.list_id,
        list_level=block.level or 0,
    )  # fmt: skip


def _line_strength(folded: str, label: Label, start: int, end: int, *, paragraph: bool) -> float:
    strength = 1.5 if paragraph else (0.9 if _after_sentence(folded, start) else 0.2)
    before = folded[max(0, start - 40) : start]
    if _CITED_BEFORE.search(before) and not _NAMELESS_HEAD.search(before):
        strength -= 1.5  # a reference broken over two lines
    if _UNMARKED.fullmatch(label.number) and folded[label.end - 1 : label.end] not in (".", ")", "、", ":"):
        strength -= 0.6  # "64 Sidney Street", "23 September"
    elif _INITIAL.match(folded, label.start):
        strength -= 0.5  # "R. C. Boyd"
    elif _is_amount(folded, label, start, end):
        strength -= 2.5  # "EUR 2.000 per month", "3.5 kg" over two lines
    return strength + _follow_strength(folded, label, end)


def _is_amount(folded: str, label: Label, start: int, end: int) -> bool:
    """True for "2.000 per month" below "the price is EUR": a decimal whose line goes on with the one above it."""
    if label.has_keyword or label.readings[0].style != "decimal2":
        return False
    following = _OPENING_WORD.match(folded[label.end : min(end, label.end + 40)])
    if following is None or folded[label.end - 1] in "、:)":
        return False
    goes_on = following[1].islower() or (following[1] >= "\u3400" and not label.number[-1].isspace())
    return goes_on and bool(_AMOUNT_BEFORE.search(folded[max(0, start - 40) : start]))


def _after_sentence(folded: str, start: int) -> bool:
    before = folded[max(0, start - 60) : start].rstrip()
    return not before or before[-1] in _FINAL or before.endswith((" and", " or"))


def _follow_strength(folded: str, label: Label, end: int) -> float:
    rest = folded[label.end : min(end, label.end + 300)]  # bounded: a line may be megabytes long
    if not rest.strip(" *_."):
        return 0.6
    stripped = rest.lstrip(" .-–—:")
    if rest.startswith("(") and label.has_keyword and label.readings[0].style.startswith("decimal"):
        return -2.0 if _CITING.match(rest) else 0.0
    if _CITING.match(rest.replace("*", "")) and not _heading_case(stripped):
        return -2.0 if label.has_keyword else -0.4
    opening = _OPENING_WORD.match(stripped)
    if opening is None:
        return 0.2
    letter = opening[1]
    if letter.isupper() or letter >= "\u3400":
        return 0.6
    return -0.5 if letter.isdigit() else -0.1


def _heading_case(rest: str) -> bool:
    return bool(rest) and rest[0].isupper()


def _heads_decimals(folded: str, label: Label, end: int) -> bool:
    """True for "V. Improvements   5.00 The owner": the heading of the decimals that come right after it."""
    following = _HEADING_OF_DECIMALS.match(folded, label.end, min(end, label.end + 120))
    return following is not None and any(
        reading.style == "upper-roman." and reading.values == (int(following[1]),) for reading in label.readings
    )


def _middle_candidates(text: str, folded: str, position: int, end: int) -> list[Candidate]:
    """Labels inside a line: where lines were collapsed, or lists run on in a sentence."""
    found: list[Candidate] = []
    for gap in _MIDDLE.finditer(folded, position, end):
        label = label_at(folded, gap.end(), text)
        if label is None or label.end > end:
            continue
        before = folded[max(0, gap.start() - 24) : gap.start()]
        final = before.rstrip()[-1:] in tuple(".;:!?。；：")
        wide = gap.end() - gap.start() >= 2 and folded[gap.start() : gap.end()].startswith("  ")
        listed = before.rstrip().endswith(",") and label.readings[0].style.endswith("()")
        if REFERRING.search(before) and not wide and not listed:
            continue
        strength = (0.7 if wide else 0.1) + (0.5 if final else 0.0) + _follow_strength(folded, label, end)
        if strength < 0 and label.has_keyword:
            continue  # "Section 4.1 of the Lease"
        if folded.startswith("(", label.end) and label.readings[0].style.startswith("decimal"):
            strength -= 1.2  # "2.04(c)" in an index of defined terms
        if not wide and before.rstrip()[-1:] in tuple(",;:，；："):
            strength = min(strength, 0.9)  # inside its sentence, so no label of a line
        single = label.readings[0].style
        if single.endswith((".", "number)")) or single.startswith("decimal1"):
            # initials ("J. Smith"), years and amounts look like these
            if single.endswith(".") and not (wide and (final or _heads_decimals(folded, label, end))):
                continue
            strength -= 0.0 if (wide or final) else 0.8
            if _UNMARKED.fullmatch(label.number) and folded[label.end - 1] == " ":
                strength -= 0.8 if final else 1.4
        found.append(Candidate(gap.end(), label, strength, end, in_line=True))
    for gap in _LOST.finditer(folded, position, end):
        label = label_at(folded, gap.end(), text)
        if (
            label is not None
            and label.end <= end
            and not REFERRING.search(folded[max(0, gap.start() - 24) : gap.start()])
            and (not label.has_keyword or _NAME_BEFORE.search(folded[max(0, gap.start() - 24) : gap.start()]))
        ):
            found.append(Candidate(gap.end(), label, -0.2, end, in_line=True))
    return sorted({c.start: c for c in reversed(found)}.values(), key=lambda c: c.start)
