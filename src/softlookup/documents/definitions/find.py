"""Defined terms of a contract and the places that use them; not for references to clause numbers.

English: “X” means / shall mean / has the meaning given in, (the "X"), hereinafter called "X", and bare
``X means`` lines of a definitions section. Chinese: “X”是指, 所称X是指, （以下简称“X”）, 甲方：...
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from softlookup.documents.definitions.chinese import chinese_definitions
from softlookup.documents.definitions.english import english_definitions
from softlookup.documents.definitions.names import one_line
from softlookup.documents.definitions.names import term_variants as term_variants  # noqa: PLC0414
from softlookup.documents.model import Clause, DefinedTerm, Span, TermKind
from softlookup.documents.positions import ClausePositions
from softlookup.documents.writing import has_chinese

_LOOK_BACK = 400  # characters before a name in which its sentence starts
_LEAD_MOST = 120  # characters before the name of a term that "means" something
_LEAD = re.compile(r"(?:\d+(?:\.\d+)*\.?\s+)?(?:[Tt]he\s+(?:term|word|expression)s?\s+)?[\"“”*_「『]{1,4}\s*$")
_LONG_PARAGRAPH = 1000  # characters: longer ones say more than the definition
_DEFINITION_MOST = 3000  # characters
_WRAPPED_LINE = 40  # characters: a shorter line is not broken, it ends
_SENTENCE_STOP = re.compile(r"[.;。；](?:\s|$)|[。；]")
_FRESH_LINE = re.compile(r"[ \t　]*(?:\n|[\"“(（*#•]|\d+[.)、]|第)")  # the next line starts something of its own
_ITEM_LINE = re.compile(
    r"\s{1,4}(?:(?P<letter>\(?[a-z]{1,4}[.)])|(?P<digit>\(?\d{1,2}[.)、．])(?!\d)|(?P<han>[（(][一二三四五六七八九十]{1,3}[)）])"
    r"|(?P<bullet>[•–-]))"
)
_COMPANY = re.compile(
    r"\b(?:[A-Z][\w’'&.-]{0,40},?\s+){1,6}?(?:Ltd|LTD|Limited|LIMITED|plc|PLC|Inc|INC|LLC|LLP|Corp|Corporation|CORPORATION|Company|Co|GmbH|GMBH|"
    r"S\.?A|N\.?V|B\.?V|AG|L\.?P)\b"
)
_FOREGOING = re.compile(r"\([^()\"“]{0,40}\bof\s+the\s+foregoing\b(?:[^()\"“]|\([^()\s]{1,5}\))*[\"“]\s*$")
_FOREGOING_WITHIN = 160  # characters
_CAPITAL = re.compile(r"[A-Z]")
_PARTY_BEFORE = re.compile(r"公司|企业|中心|身份证|住所|\b(?:an?\s+individual|corporation|partnership|company)\b")
_ZH_ROLE = re.compile(r"[甲乙丙丁戊]方")
_KIND_ORDER: tuple[TermKind, ...] = ("means", "meaning_given_in", "parenthetical", "short_name")


class TermUse(NamedTuple):
    """An occurrence of a defined term: ``text[start:end]`` uses ``terms[term]``."""

    start: int
    end: int
    term: int


def find_definitions(text: str, clauses: tuple[Clause, ...]) -> tuple[DefinedTerm, ...]:
    """Defined terms of ``text`` in document order.

    ``DefinedTerm.span`` is the printed name inside its quotes, so ``text[span] == term`` unless the name is
    broken over lines. A term that is defined twice appears twice; a party that is given the same short name again
    (on the cover page, in the recitals, by a label "甲方：") does not. Text outside all clauses is not searched.
    Each term knows its ``uses``.
    """
    positions = ClausePositions(clauses)
    found = [*english_definitions(text, positions), *chinese_definitions(text)]
    terms: list[DefinedTerm] = []
    taken: set[int] = set()
    named: set[tuple[str, str]] = set()
    for item in sorted(found, key=lambda item: (item.start, _KIND_ORDER.index(item.kind))):
        clause = positions.innermost(item.start)
        if item.start in taken or clause is None:
            continue
        taken.add(item.start)
        if item.kind in ("parenthetical", "short_name"):
            subjects = {(item.name, subject) for subject in _subjects(text, item.start)}
            if subjects & named:
                continue
            named |= subjects
        clause = _whole_list(text, positions, clause, item.start)
        span = Span(item.start, item.start + len(item.name))
        terms.append(DefinedTerm(one_line(item.name), span, clause, item.kind, item.aliases))
    return _with_uses(text, terms)


def _whole_list(text: str, positions: ClausePositions, clause: int, start: int) -> int:
    """The clause of a list whose last item names them all: "(E) fail to act (any of the foregoing, a "Change")"."""
    parent, after = positions.clauses[clause].parent, clause + 1
    if parent is None or positions.clauses[clause].number[:1] != "(":
        return clause
    if not _FOREGOING.search(text, max(0, start - _FOREGOING_WITHIN), start):
        return clause
    last = after == len(positions.clauses) or positions.clauses[after].parent not in (parent, clause)
    return parent if last else clause


def _with_uses(text: str, terms: Sequence[DefinedTerm]) -> tuple[DefinedTerm, ...]:
    """``terms`` with the places that use them."""
    uses: list[list[Span]] = [[] for _ in terms]
    for use in find_uses(text, terms):
        uses[use.term].append(Span(use.start, use.end))
    return tuple(replace(term, uses=tuple(spans)) for term, spans in zip(terms, uses, strict=True))


def _subjects(text: str, start: int) -> Iterator[str]:
    """What the short name at ``start`` stands for, so that the same name of the same thing counts once.

    The words before the parenthesis and the last company in its paragraph ("Tarn Ltd, a company of Wales (the
    "Supplier")"); for a party of a Chinese contract its role alone: there is one 甲方.
    """
    if _ZH_ROLE.match(text, start):
        yield ""
        return
    before = text[max(0, start - 300) : start].rsplit("\n\n", 1)[-1]
    opened = max(before.rfind("("), before.rfind("（"), before.rfind("["))
    before = before[:opened] if opened >= 0 else before
    words = re.findall(r"\w+", before[-80:])
    if words:
        yield " ".join(words[-3:]).lower()
    companies = _COMPANY.findall(before) if _CAPITAL.search(before) else []
    if companies:
        yield " ".join(companies[-1].split()).lower()


def definition_spans(text: str, terms: Sequence[DefinedTerm]) -> tuple[Span, ...]:
    """For each term the text that defines it.

    For "means" and "meaning_given_in" from the start of the line of the name to the end of the paragraph, with the
    list that it introduces, or to the next definition; for a parenthesis or a short name the sentence-like stretch
    around the name. At most 3,000 characters after the name.
    """
    starts = sorted(term.span.start for term in terms if term.kind in ("means", "meaning_given_in"))
    spans = []
    for term in terms:
        start = term.span.start
        line_start = max(text.rfind("\n", max(0, start - _LOOK_BACK), start) + 1, _sentence_start(text, start))
        if term.kind in ("means", "meaning_given_in"):
            if start - line_start > _LEAD_MOST:  # a paragraph of many sentences: begin at the quotation
                lead = _LEAD.search(text, max(0, start - 80), start)
                line_start = lead.start() if lead else start
            after = bisect_right(starts, term.span.start)
            following = starts[after] if after < len(starts) else len(text)
            end = _with_list(text, _paragraph_end(text, term.span.end), following)
            if following < end:
                cut = max(text.rfind(mark, term.span.end, following) + 1 for mark in ".;。；\n")
                # names that share a sentence share the definition
                end = cut or _sentence_end(text, following, end)
            elif end - start > _LONG_PARAGRAPH and "\n" not in text[start:end]:
                end = _sentence_end(text, start + _LONG_PARAGRAPH // 2, end)
            spans.append(Span(line_start, end))
        else:
            line_end = min(_paragraph_end(text, term.span.end), term.span.end + _LOOK_BACK)
            spans.append(Span(line_start, _sentence_end(text, term.span.end, line_end)))
    return tuple(spans)


def _sentence_end(text: str, start: int, end: int) -> int:
    stop = _SENTENCE_STOP.search(text, start, end)
    return stop.start() + 1 if stop else end


def names_party(text: str, term: DefinedTerm) -> bool:
    """Whether ``term`` is a short name of a company or person: (the "Supplier"), （以下简称“甲方”）."""
    if term.kind not in ("parenthetical", "short_name"):
        return False
    # what the name stands for begins after the parenthesis of the name before it
    before = re.split(r"[)）;。]", text[max(0, term.span.start - 160) : term.span.start])[-1]
    return bool(_ZH_ROLE.match(text, term.span.start) or _PARTY_BEFORE.search(before) or _COMPANY.search(before))


def _paragraph_end(text: str, start: int) -> int:
    """End of the paragraph that holds ``start``: a line that goes on in the next one does not end it."""
    end = start
    while True:
        at = text.find("\n", end, start + _DEFINITION_MOST)
        if at < 0:
            return min(len(text), start + _DEFINITION_MOST)
        line = text[max(end, at - 120) : at].rstrip()
        if not line or line[-1] in ".;:。；：!?！？" or _FRESH_LINE.match(text, at + 1) or at - end < _WRAPPED_LINE:
            return at
        end = at + 1


def _with_list(text: str, end: int, most: int) -> int:
    """``end`` moved past the items that follow a colon: "means: (a) rent; (b) tax"."""
    if text[max(0, end - 3) : end].rstrip()[-1:] not in (":", "：", "—"):
        return end
    item = _ITEM_LINE.match(text, end)
    kind = item.lastgroup if item else None
    limit = min(most, end + _DEFINITION_MOST)
    while item is not None and item.lastgroup == kind and item.start() < limit:
        end = _paragraph_end(text, item.end())
        item = _ITEM_LINE.match(text, end)
    return min(end, most)


def find_uses(text: str, terms: Sequence[DefinedTerm]) -> tuple[TermUse, ...]:
    """Every use of ``terms`` in ``text`` outside the definition of the term itself, in document order.

    Longest match wins; English is case-sensitive and matches plural, singular and possessive. A term that is
    defined more than once is used by its nearest earlier definition, or else by its first one.
    One compiled pattern: linear in ``len(text)`` whatever the number of terms.
    """
    variants = spellings_of(terms)
    if not variants:
        return ()
    defining = definition_spans(text, terms)
    starts = {spelling: [terms[i].span.start for i in indices] for spelling, indices in variants.items()}
    uses = []
    for match in _pattern(variants).finditer(text):
        spelling = one_line(match.group())
        indices = variants[spelling]
        earlier = bisect_right(starts[spelling], match.start())
        term = indices[max(0, earlier - 1)]
        span = defining[term] if terms[term].kind == "means" else terms[term].span
        if not span.start <= match.start() < span.end:
            uses.append(TermUse(match.start(), match.end(), term))
    return tuple(uses)


def _sentence_start(text: str, offset: int) -> int:
    """Start of the sentence that holds ``offset``, at most 400 characters before it."""
    first = max(0, offset - _LOOK_BACK)
    window = text[first:offset]
    stops = [match.end() for match in re.finditer(r"(?<![A-Z])[.;](?=\s+(?:[\"“(A-Z]|\d+\.\d))\s+|[。；]", window)]
    if stops:
        return first + stops[-1]
    word = window.find(" ") + 1 if first else 0  # a longer sentence starts at a word
    return first + word


def spellings_of(terms: Sequence[DefinedTerm]) -> dict[str, list[int]]:
    """Spelling -> indices of the terms it stands for, in document order; exact names beat derived ones."""
    exact: dict[str, list[int]] = {}
    derived: dict[str, list[int]] = {}
    order = sorted(range(len(terms)), key=lambda i: terms[i].span.start)
    for index in order:
        for name in (terms[index].term, *terms[index].aliases):
            exact.setdefault(name, []).append(index)
            for spelling in term_variants(name)[1:]:
                derived.setdefault(spelling, []).append(index)
    return {**derived, **exact}


def _pattern(spellings: Iterable[str]) -> re.Pattern[str]:
    """One pattern that finds the longest spelling at each place; tries keep it linear."""
    names = list(spellings)
    latin, chinese = (_trie(n for n in names if has_chinese(n) is wanted) for wanted in (False, True))
    # words end at word boundaries; Chinese text has none: "向甲方A座" uses 甲方
    return re.compile(
        rf"(?<![A-Za-z0-9_]){_first(latin)}{_trie_pattern(latin)}(?![A-Za-z0-9_])|{_first(chinese)}{_trie_pattern(chinese)}"
    )


def _trie(spellings: Iterable[str]) -> dict:  # type: ignore[type-arg]
    trie: dict[str, dict] = {}  # type: ignore[type-arg]
    for spelling in spellings:
        node = trie
        for letter in spelling:
            node = node.setdefault(letter, {})
        node[""] = {}
    return trie


def _first(trie: dict) -> str:  # type: ignore[type-arg]
    """Look at one character before any branch is tried; matches nothing for an empty trie."""
    letters = "".join(re.escape(letter) for letter in trie if letter)
    return f"(?=[{letters}])" if letters else r"(?!)"


def _trie_pattern(node: dict) -> str:  # type: ignore[type-arg]
    branches = [
        (r"\s+" if letter == " " else re.escape(letter)) + _trie_pattern(child)
        for letter, child in node.items()
        if letter
    ]
    if not branches:
        return ""
    body = branches[0] if len(branches) == 1 and "" not in node else f"(?:{'|'.join(branches)})"
    return body + ("?" if "" in node else "")
