"""Which clause a label such as "8.2(a)", "Article V" or "第三条第二款" names; not for finding labels in text.

A label is read into a kind and parts, so that "Section 8.2", "8.2" and "８．２" are the same key, and so are
"第八条" and "八、". Schedules, exhibits and annexes open a namespace of their own: "Schedule 2/3.1".
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from softlookup.documents.model import Clause
from softlookup.documents.numbering import han_number, roman_number
from softlookup.documents.positions import ClausePositions

ZH_DIGITS = "〇○零一二三四五六七八九十百千两壹贰叁肆伍陆柒捌玖拾佰"
_NAMESPACE_WORDS = "schedule|exhibit|annexure|annex|appendix|attachment|附件|附表|附录|附则"
_EN_WORD = re.compile(
    rf"(section|sec\.|clause|article|art\.|paragraph|subsection|sub-?clause|part|chapter|§|{_NAMESPACE_WORDS})s?\s*",
    re.IGNORECASE,
)
# lower-case "i" is a list letter and stays as printed; so do the single letters C, D, L and M
_ROMAN = re.compile(r"[IVX]|(?=.{2})[IVXLC]+")
_ZH_STEP = re.compile(
    rf"第\s*([{ZH_DIGITS}\d.]+|\([{ZH_DIGITS}\d]+\))\s*(分编|[编章节条款项目])(?:之([{ZH_DIGITS}]+))?"
)
_PLAIN = re.compile(r"[^()\s]*\)?\s*(?:\(\s*[^()\s]{1,6}\s*\)\s*)*")
_KINDS = {"article": "article", "art.": "article", "part": "part", "chapter": "chapter"} | {
    "分编": "subpart", "编": "part", "章": "chapter", "节": "division",
    "条": "clause", "款": "item", "项": "item", "目": "item",
}  # fmt: skip
# where a label of one kind is looked for, best first: "Section 5" may be printed as "ARTICLE V"
_FALLBACKS = {"clause": ("clause", "article"), "article": ("article", "clause"), "item": ("item", "clause")}


# kinds that group clauses and are not counted with them
STRUCTURE_KINDS = ("part", "subpart", "chapter", "division")


class LabelKey(NamedTuple):
    """A label as a key. ``kind`` is clause, article, item, one of STRUCTURE_KINDS or a namespace word."""

    kind: str
    parts: tuple[str, ...]

    @property
    def opens_namespace(self) -> bool:
        """Whether the labels below this one count from the start again (schedules, exhibits, annexes)."""
        return re.fullmatch(_NAMESPACE_WORDS, self.kind) is not None


def number_value(numeral: str) -> str:
    """Arabic form of a Chinese, Roman (upper-case) or Arabic numeral; other text is returned lower-cased.

    >>> number_value("五百一十"), number_value("IV"), number_value("8"), number_value("ii")
    ('510', '4', '8', 'ii')
    """
    value = han_number(numeral)
    if value is None and _ROMAN.fullmatch(numeral):
        value = roman_number(numeral)
    return numeral.lower() if value is None else str(value)


@lru_cache(maxsize=4096)
def label_key(printed: str) -> LabelKey | None:
    """The key of a printed label; None when the text is no label.

    >>> label_key("Section 8.2(a)")
    LabelKey(kind='clause', parts=('8', '2', 'a'))
    >>> label_key("第五百一十条第二款")
    LabelKey(kind='clause', parts=('510', '款2'))
    """
    text = unicodedata.normalize("NFKC", printed).strip().strip(".、:,;\"“”' ")
    steps = list(_ZH_STEP.finditer(text))
    if steps:
        return _chinese_label(steps)
    word = _EN_WORD.match(text)
    kind = ""
    if word:
        kind = word.group(1).lower()
        text = text[word.end() :].strip('"“” ')
        kind = kind if re.fullmatch(_NAMESPACE_WORDS, kind) else _KINDS.get(kind, "clause")
    if not _PLAIN.fullmatch(text):
        return None
    bare = re.split(r"[\s(]", text, maxsplit=1)[0]
    printed_items = re.findall(r"\(\s*([^()\s]{1,6})\s*\)", text[len(bare) :])
    items = tuple(item.lower() if item.isascii() and item.isalpha() else number_value(item) for item in printed_items)
    return _plain_label(kind, bare.rstrip(")"), items)


def _chinese_label(steps: list[re.Match[str]]) -> LabelKey:
    kind = ""
    parts: list[str] = []
    for step in steps:
        numeral, unit, inserted = step.groups()
        step_kind = _KINDS[unit]
        if step_kind in STRUCTURE_KINDS or (step_kind == "clause" and kind != "clause"):
            parts = []  # 第六章第三节: the last absolute step names the place
        kind = kind if step_kind == "item" and kind else step_kind
        mark = "款" if unit == "款" else ""
        parts += [mark + number_value(piece) for piece in numeral.strip("()").split(".") if piece]
        if inserted:
            parts[-1] += "-" + number_value(inserted)
    return LabelKey(kind, tuple(parts))


def _plain_label(kind: str, bare: str, items: tuple[str, ...]) -> LabelKey | None:
    if not bare and not items:
        return LabelKey(kind, ("",)) if re.fullmatch(_NAMESPACE_WORDS, kind) else None
    if not bare:
        return LabelKey("item", items)
    pieces = [piece for piece in bare.split(".") if piece]
    if not kind and len(pieces) == 1 and bare.isascii() and bare.isalpha() and (bare.isupper() and roman_number(bare)):
        return LabelKey("item", (bare.lower(), *items)) if len(bare) <= 3 else None
    if not all(
        re.fullmatch(rf"\d+[A-Za-z]?|[A-Za-z]{{1,7}}(?:-\d+)?|[{ZH_DIGITS}]+|\d+-\d+", piece) for piece in pieces
    ):
        return None
    return LabelKey(kind or "clause", (*(number_value(piece) for piece in pieces), *items))


class LabelIndex:
    """All labels of a clause tree, resolved by namespace: own schedule first, then the main body."""

    def __init__(self, text: str, positions: ClausePositions) -> None:
        self._text = text
        self._positions = positions
        self._by_key: dict[tuple[str, LabelKey], list[int]] = defaultdict(list)
        self._keys: list[tuple[str, LabelKey | None]] = []
        self._children: dict[int, list[int]] = defaultdict(list)
        for clause in positions.clauses:
            if clause.parent is not None:
                self._children[clause.parent].append(clause.index)
            self._keys.append(self._register(clause))

    def _register(self, clause: Clause) -> tuple[str, LabelKey | None]:
        space, above = self._keys[clause.parent] if clause.parent is not None else ("", None)
        label = label_key(clause.number) if clause.number else None
        if label is None:
            return space, above
        if label.opens_namespace:
            self._by_key["", label].append(clause.index)
            return f"{label.kind} {'.'.join(label.parts)}", None
        if above is not None and above.kind in ("clause", "article", "item"):
            # "(a)" below 8.2 is 8.2(a), and a bare "1" below "1" is 1.1; "5.1" below "ARTICLE V" stands alone
            single = re.fullmatch(r"[\d\W]{1,5}", clause.number) and len(label.parts) == 1
            if label.kind == "item" or (single and above.kind != "article"):
                label = LabelKey(above.kind, (*above.parts, *label.parts))
        self._by_key[space, label].append(clause.index)
        return space, label

    def clause(self, index: int) -> Clause:
        """Clause ``index``."""
        return self._positions.clauses[index]

    def key_of(self, index: int) -> LabelKey | None:
        """Full key of clause ``index``: its own label, or that of the nearest labelled ancestor."""
        return self._keys[index][1]

    def children(self, index: int) -> list[int]:
        """Direct children of clause ``index`` in document order."""
        return self._children.get(index, [])

    def enclosing(self, source: int, kind: str) -> int | None:
        """The nearest clause of ``kind`` around ``source``, itself included; None when there is none.

        ``kind`` is one of the kinds of :class:`LabelKey`, "paragraph" (the clause itself), "top" (a 条: the
        outermost counted clause, 8 of 8.2) or "space" (the schedule that holds it).
        """
        lineage = list(self._positions.lineage(source))
        if kind == "paragraph":
            return source
        if kind == "top":
            tops = [c.index for c in lineage if c.number and self._top_number(c.index)]
            return tops[-1] if tops else None
        for clause in lineage:
            label = label_key(clause.number) if clause.number else None
            if label is None:
                continue
            if kind == "space" and label.opens_namespace:
                return clause.index
            if label.kind == kind and not (kind == "clause" and self._is_item(clause.index)):
                return clause.index
        if kind == "article":  # the outermost label, whatever it is called
            return next((clause.index for clause in reversed(lineage) if clause.number), None)
        return source if kind in ("clause", "item") and lineage[0].number else None

    def _top_number(self, index: int) -> bool:
        key = self._keys[index][1]
        return key is not None and key.kind == "clause" and len(key.parts) == 1

    def _is_item(self, index: int) -> bool:
        """A bare "1" that counts below another clause: a list item, not a 条 or a Section of its own."""
        own = label_key(self._positions.clauses[index].number)
        key = self._keys[index][1]
        return own is not None and key is not None and len(key.parts) > len(own.parts)

    def siblings(self, index: int) -> list[int]:
        """Clauses beside ``index``, itself included, in document order; a numbered one sees numbered ones.

        Articles that chapters separate stay neighbours: 前条 of the first article of a chapter.
        """
        clause = self._positions.clauses[index]
        if not clause.number:
            return self.children(clause.parent) if clause.parent is not None else [index]
        own = label_key(clause.number)
        if own is not None and own.kind == "clause" and not self._is_item(index):
            depth = len(own.parts)
            space = self._keys[index][0]
            return [
                other
                for (where, label), places in self._by_key.items()
                if where == space and label.kind == "clause" and len(label.parts) == depth
                and label.parts[:-1] == own.parts[:-1]
                for other in places
            ]  # fmt: skip
        beside = self.children(clause.parent) if clause.parent is not None else self._roots()
        return [other for other in beside if self._positions.clauses[other].number]

    def _roots(self) -> list[int]:
        return [clause.index for clause in self._positions.clauses if clause.parent is None]

    def between(self, first: int, last: int) -> tuple[int, ...]:
        """The range from ``first`` to ``last`` among siblings; the two ends when they are not siblings."""
        beside = self.siblings(first)
        if first in beside and last in beside and beside.index(first) <= beside.index(last):
            return tuple(beside[beside.index(first) : beside.index(last) + 1])
        return (first, last)

    def find(self, label: LabelKey, source: int, within: LabelKey | None = None) -> int | None:
        """The clause that ``label`` names when it is printed in clause ``source``; None when there is none.

        ``within`` restricts the search, for "paragraph 3 of Schedule 2" and "第二编第六章": the clause it
        names stands in when the label is not found inside it.
        """
        if within is not None:
            outer = self.find(within, source)
            inner = None if outer is None else self._find_below(label, outer)
            return outer if inner is None else inner
        if label.kind == "item":
            return self._find_item(label.parts, source)
        for space in dict.fromkeys((self._keys[source][0], "")):
            for kind in _FALLBACKS.get(label.kind, (label.kind,)):
                found = self._longest(space, kind, label.parts, source)
                if found is not None:
                    return found
        return None

    def _find_below(self, label: LabelKey, outer: int) -> int | None:
        space = self._keys[outer][0]
        for kind in _FALLBACKS.get(label.kind, (label.kind,)):
            found = self._longest(space, kind, label.parts, outer)
            if found is not None and any(c.index == outer for c in self._positions.lineage(found)):
                return found
        return None

    def _longest(self, space: str, kind: str, parts: tuple[str, ...], source: int) -> int | None:
        """The clause with the most of ``parts``; a 款 may be a numbered child or a paragraph."""
        marked = next((i for i, part in enumerate(parts) if part.startswith("款")), None)
        if marked is None:
            return self._shortened(space, kind, parts, source)
        numbered = tuple(part.removeprefix("款") for part in parts)
        for key in (numbered, numbered[: marked + 1]):
            child = self._by_key.get((space, LabelKey(kind, numbered[: marked + 1])))
            if child and self._positions.clauses[child[0]].number[0] not in "(（":  # (一) is a 项
                found = self._exact(space, kind, key, source)
                if found is not None:
                    return found
        return self._shortened(space, kind, (*parts[:marked], *numbered[marked + 1 :]), source)

    def _exact(self, space: str, kind: str, parts: tuple[str, ...], source: int) -> int | None:
        candidates = self._by_key.get((space, LabelKey(kind, parts)), [])
        return max(candidates, key=lambda index: (self._shared(index, source), -index), default=None)

    def _shortened(self, space: str, kind: str, parts: tuple[str, ...], source: int) -> int | None:
        """Exact label, then without trailing parts as long as the text of the shorter clause prints them."""
        for length in range(len(parts), 0, -1):
            candidates = self._by_key.get((space, LabelKey(kind, parts[:length])), [])
            candidates = [c for c in candidates if length == len(parts) or self._prints(c, parts, length)]
            if candidates:
                return max(candidates, key=lambda index: (self._shared(index, source), -index))
        return None

    def _prints(self, index: int, parts: tuple[str, ...], length: int) -> bool:
        """Whether clause ``index`` can hold the missing parts: letters run inside the text, decimals may."""
        if not all(part.isdigit() for part in parts[: length + 1]):
            return True
        span = self._positions.clauses[index].span
        inside = self._text[span.start : span.end]
        dotted = r"\.".join(map(re.escape, parts[: length + 1]))
        item = rf"[(（](?:{re.escape(parts[length])})[)）]"
        chinese = self._positions.clauses[index].number.endswith("条")
        return chinese or bool(re.search(rf"(?:^|\n\s*|[.;:]\s+){dotted}(?![\d.]*\d)|{item}", inside))

    def _shared(self, index: int, source: int) -> int:
        """Number of ancestors (or selves) that two clauses share: labels repeat in every article."""
        mine = {clause.index for clause in self._positions.lineage(source)}
        return sum(clause.index in mine for clause in self._positions.lineage(index))

    def _find_item(self, items: tuple[str, ...], source: int) -> int | None:
        """A child (b) of the source, or of its nearest ancestor that has one, for "clause (b)" inside 5.1."""
        for clause in self._positions.lineage(source):
            place = self._descend(clause.index, items)
            if place is not None:
                return place
        for clause in self._positions.lineage(source):  # (i), (ii), ... may run inside the text
            inside = unicodedata.normalize("NFKC", self._text[clause.span.start : clause.span.end])
            if f"({items[-1].removeprefix('款')})" in inside.lower().replace(" ", ""):
                return clause.index
        return None

    def _descend(self, index: int, items: tuple[str, ...]) -> int | None:
        place: int | None = None
        for item in (item for item in items if not item.startswith("款")):
            following = next((c for c in self._labelled_children(index) if self._last_part(c) == item), None)
            if following is None:
                break
            place = index = following
        return place

    def _labelled_children(self, index: int) -> Iterator[int]:
        for child in self.children(index):
            if self._positions.clauses[child].number:
                yield child
            else:  # an unnumbered paragraph may hold the list
                yield from self._labelled_children(child)

    def _last_part(self, index: int) -> str:
        label = label_key(self._positions.clauses[index].number)
        return label.parts[-1] if label else ""
