"""Defined terms of a contract and the places that use them; not for references to clause numbers.

English: “X” means / shall mean / has the meaning given in, (the "X"), hereinafter called "X", and bare
``X means`` lines of a definitions section. Chinese: “X”是指, 所称X是指, （以下简称“X”）, 甲方：...
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from softlookup.documents.model import Clause, DefinedTerm, Span, TermKind
from softlookup.documents.positions import ClausePositions

_MAX_WORDS = 9  # a longer quotation is a sentence, not a name
# Markdown keeps its marks: **"Fees"**</span> means
_MARKUP = r"(?:\*{1,2}|_{1,2}|</?\w+[^<>\n]{0,80}>)*"
_OPEN, _CLOSE = r"[\"“”„＂]\*{0,2}", rf"\*{{0,2}}[\"“”＂]{_MARKUP}"
_NAME = r"[^\"“”„＂\n*]{1,90}?"
_QUOTED = rf"{_OPEN}\s*({_NAME})\s*{_CLOSE}"
_VERB = (
    r"(?P<means>(?:shall|will)\s+(?:also\s+)?mean\b|means?\b(?!\s+of\b)|means:|is\s+defined\s+as\b"
    r"|shall\s+refer\s+to\b|refers?\s+to\b)"
    r"|(?P<given>(?:(?:shall|will)\s+have|have|has|bears?|(?:is|are)\s+used\s+with)\s+the\s+(?:respective\s+)?(?:same\s+)?"
    r"meanings?\b|(?:is|are)\s+defined\s+in\b|shall\s+be\s+as\s+defined\b)"
)
# what may stand between the name and the verb: “Control”, when used of a person, means
_BETWEEN = r"(?:\s*(?:,|\(|of\b|when\b|as\b|with\b|for\b|in\b|used\b)[^\"“”.;\n]{0,80}?)?"
_MEANS = re.compile(
    rf"(?:{_OPEN}\s*{_NAME}\s*{_CLOSE}\s*(?:,\s*(?:and|or)?|/|and|or|\((?:and|or)?)\s*){{0,3}}"
    rf"{_QUOTED}\)?{_BETWEEN}\s*[,:]?\s*(?:each\s+)?(?:{_VERB})",
)
_NAME_IN_LIST = re.compile(_QUOTED)
_INSIDE = r"(?:[^()\[\]\"“”]|\([^()\s]{1,4}\))"  # a parenthesis may hold "401(k)" and "Product(s)"
_PARENTHESIS = re.compile(rf"[(\[]({_INSIDE}{{0,200}}[\"“”](?:{_INSIDE}|[\"“”]){{0,240}})[)\]]")
# the quotation in a parenthesis names what stands before it only after such words
_LEAD = re.compile(
    r"(?:^|\b(?:the|a|an|this|as|called|named|to|such|each|individually|collectively|together|and|or|jointly|"
    r"severally|hereinafter|herein|hereafter|also|any|all|our|their|its|his|either|singly|be|being)|[,;:/&])[\s,:]*$",
    re.IGNORECASE,
)
_NOT_A_DEFINITION = re.compile(r"\bdefined\b|\bmeaning\b|\bi\.e\.|\be\.g\.|\bsuch as\b|\bform of\b", re.IGNORECASE)
_COMMON_SPEECH = re.compile(r"\b(?:commonly|generally|customarily|so[-\s])\s*(?:referred\s+to|known|called)\b[^()]*$")
_SHORT_NAME = re.compile(
    r"\b(?:(?:hereinafter|hereafter|herein|collectively|together|individually|sometimes|each|is|are|be|being)\s*,?\s+"
    r"(?:\w+\s+){0,3}?)"
    r"(?:referred\s+to|called|known|designated|defined)\s*(?:\s+(?:herein|hereinafter|collectively|individually|to))*"
    rf"\s*,?\s*(?:as\s+)?(?:(?:the|a|an|this)\s+)?{_QUOTED}",
)
_BARE_MEANS = re.compile(
    r"^[ \t]*(?:\(?[\dA-Za-z.]{1,8}[.)][ \t]+)?([A-Z][\w’'&/\- ]{0,60}?)[ \t]+"
    rf"(?:{_VERB})",
    re.MULTILINE,
)
_LABELLED_NAME = re.compile(rf"^[ \t]*(?:\(?[\w.]{{1,8}}[.)][ \t]+)?{_QUOTED}[ \t]*(?::|–|—|-[ \t])", re.MULTILINE)
_DEFINITIONS_HEADING = re.compile(r"definition|defined terms|interpretation|定义|释义|用语", re.IGNORECASE)
_NO_TERMS = frozenset(("as is", "as-is", "as available", "n/a", "tbd", "including", "includes", "or", "and", "s", "x"))

_ZH_OPEN, _ZH_CLOSE = r"[\"“”「『＂]", r"[\"“”」』＂]"
_ZH_QUOTED = rf"{_ZH_OPEN}([^\"“”「『」』＂\n。；]{{1,40}}){_ZH_CLOSE}"
_ZH_VERB = r"(?:是指|系指|意指|特指|均指|即指|是特指|指的是|一词指|指)"
_ZH_MEANS = re.compile(
    rf"(?:{_ZH_QUOTED}(?:或|及|和|、|/)?){{0,3}}{_ZH_QUOTED}(?:[（(][^（）()\n]{{1,40}}[)）])?\s*[，,:：]?\s*{_ZH_VERB}"
)
# “质保期”具有第十一条规定的含义; “控制”的定义见第三条
_ZH_GIVEN = re.compile(
    rf"(?:{_ZH_QUOTED}(?:或|及|和|、|/)?){{0,3}}{_ZH_QUOTED}(?:[（(][^（）()\n]{{1,40}}[)）])?(?:一词)?\s*[，,]?\s*(?:应|应当|均)?"
    r"(?:具有[^。；\n]{1,60}?(?:含义|涵义|意义|定义)|(?:的)?(?:含义|涵义|定义)(?:见|同|依照|按照|适用|与|以|由|规定于|载于))"
)
_ZH_SO_CALLED = re.compile(
    rf"所称(?:的)?{_ZH_OPEN}?([^，,。；;：:\n\"“”「」]{{1,24}}?){_ZH_CLOSE}?\s*[，,]?\s*{_ZH_VERB}"
)
_ZH_LABEL = (
    r"(?:第[〇○零一二三四五六七八九十百千两\d]+条|[一二三四五六七八九十]+、|[（(][一二三四五六七八九十\d]+[)）]"
    r"|\d+(?:\.\d+)*[、.．)）]?)"
)
_ZH_BARE = re.compile(
    rf"(?:^|(?<=[。；\n]))[ \t　]*{_ZH_LABEL}?[ \t　]*"
    r"([\u4e00-\u9fff][\u4e00-\u9fffA-Za-z0-9/、]{1,17}?)[，,]?(?:是指|系指|意指)",
    re.MULTILINE,
)
# "买卖合同是……的合同。": the statute's way to define without a verb of meaning
_ZH_GENUS = re.compile(
    rf"^[ \t　]*{_ZH_LABEL}[ \t　]*([\u4e00-\u9fff]{{1,8}}?([\u4e00-\u9fff]{{2}}))是"
    r"[^。；\n]{5,160}的\2[。；，]",
    re.MULTILINE,
)
_ZH_SHORT = r"(?:以下|下文|下|以上)\s*(?:均|分别|合并|单独|共同|或)*\s*(?:简称|统称|合称|称)(?:为|作)?\s*[:：]?\s*"
_ZH_SHORT_QUOTED = re.compile(rf"{_ZH_SHORT}((?:{_ZH_QUOTED}(?:、|和|或|及|/|与)?)+)")
_ZH_SHORT_BARE = re.compile(
    rf"[（(\[【][^（）()\[\]【】\n]{{0,20}}{_ZH_SHORT}([^（）()\[\]【】\n\"“”，。]{{1,16}})[)）\]】]"
)
_ZH_SHORT_OPEN = re.compile(rf"[，,]\s*{_ZH_SHORT}([\u4e00-\u9fff]{{2,16}})[。；，]")
_ZH_PARTY = re.compile(r"^[ \t　]*[^\n：:，。]{0,12}?([甲乙丙丁戊]方)[^\n：:，。]{0,12}[：:]", re.MULTILINE)
_ZH_ROLE = re.compile(r"[甲乙丙丁戊]方")
_ZH_NAME_LIST = re.compile(_ZH_QUOTED)
_PARTY_LABELS_WITHIN = 3000  # characters: party labels stand on the first page, signature blocks on the last


class TermUse(NamedTuple):
    """An occurrence of a defined term: ``text[start:end]`` uses ``terms[term]``."""

    start: int
    end: int
    term: int


class _Found(NamedTuple):
    name: str
    start: int
    kind: TermKind
    aliases: tuple[str, ...] = ()


def find_definitions(text: str, clauses: tuple[Clause, ...]) -> tuple[DefinedTerm, ...]:
    """Defined terms of ``text`` in document order.

    ``DefinedTerm.span`` is the printed name inside its quotes, so ``text[span] == term`` unless the name is
    broken over lines. A term that is defined twice appears twice; a party that is given the same short name again
    (on the cover page, in the recitals, by a label "甲方：") does not. Text outside all clauses is not searched.
    """
    positions = ClausePositions(clauses)
    found = [
        *_english_means(text),
        *_english_parentheses(text),
        *_english_short_names(text),
        *_english_definition_sections(text, positions),
        *_chinese(text),
    ]
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
        span = Span(item.start, item.start + len(item.name))
        terms.append(DefinedTerm(_one_line(item.name), span, clause, item.kind, item.aliases))
    return tuple(terms)


def _subjects(text: str, start: int) -> Iterator[str]:
    """What the short name at ``start`` stands for, so that the same name of the same thing counts once.

    The words before the parenthesis ("Tarn Ltd" of 'Tarn Ltd (the "Supplier")') and, for a party of a Chinese
    contract, its role alone: there is one 甲方.
    """
    if _ZH_ROLE.match(text, start):
        yield "role"
        return
    before = text[max(0, start - 200) : start]
    opened = max(before.rfind("("), before.rfind("（"), before.rfind("["))
    words = re.findall(r"\w+", before[:opened] if opened >= 0 else before)
    if words:
        yield " ".join(words[-3:]).lower()
    line = before.rfind("\n")
    leading = re.findall(r"\w+", before[line + 1 :])
    if len(leading) > 1 and leading[0][0].isupper():
        yield " ".join(leading[:3]).lower()


_KIND_ORDER: tuple[TermKind, ...] = ("means", "meaning_given_in", "parenthetical", "short_name")


def definition_spans(text: str, terms: Sequence[DefinedTerm]) -> tuple[Span, ...]:
    """For each term the text that defines it.

    For "means" and "meaning_given_in" from the start of the line of the name to the end of the paragraph or
    the next definition; for a parenthesis or a short name the sentence-like stretch around the name.
    """
    starts = sorted(term.span.start for term in terms if term.kind in ("means", "meaning_given_in"))
    spans = []
    for term in terms:
        line_start = max(text.rfind("\n", 0, term.span.start) + 1, _sentence_start(text, term.span.start))
        line_end = text.find("\n", term.span.end)
        line_end = len(text) if line_end < 0 else line_end
        if term.kind in ("means", "meaning_given_in"):
            after = bisect_right(starts, term.span.start)
            following = starts[after] if after < len(starts) else len(text)
            end = line_end if following >= line_end else max(term.span.end, text.rfind(".", 0, following) + 1)
            spans.append(Span(line_start, end))
        else:
            stop = re.compile(r"[.;。；](?:\s|$)|[。；]").search(text, term.span.end, line_end)
            spans.append(Span(line_start, stop.start() + 1 if stop else line_end))
    return tuple(spans)


def find_uses(text: str, terms: Sequence[DefinedTerm]) -> tuple[TermUse, ...]:
    """Every use of ``terms`` in ``text`` outside the definition of the term itself, in document order.

    Longest match wins; English is case-sensitive and matches plural, singular and possessive. A term that is
    defined more than once is used by its nearest earlier definition, or else by its first one.
    One compiled pattern: linear in ``len(text)`` whatever the number of terms.
    """
    variants = _variants(terms)
    if not variants:
        return ()
    defining = definition_spans(text, terms)
    uses = []
    for match in _pattern(variants).finditer(text):
        indices = variants[_one_line(match.group())]
        earlier = bisect_right([terms[i].span.start for i in indices], match.start())
        term = indices[max(0, earlier - 1)]
        span = defining[term] if terms[term].kind == "means" else terms[term].span
        if not span.start <= match.start() < span.end:
            uses.append(TermUse(match.start(), match.end(), term))
    return tuple(uses)


def term_variants(term: str) -> tuple[str, ...]:
    """Spellings that count as ``term``: itself, and plural and singular for English names.

    >>> term_variants("Losses")
    ('Losses', 'Loss')
    """
    if not term.isascii() and not re.search(r"[A-Za-z]$", term):
        return (term,)
    variants = [term]
    if term.endswith("ies"):
        variants.append(term[:-3] + "y")
    elif term.endswith(("sses", "xes", "shes", "ches")):
        variants.append(term[:-2])
    elif term.endswith("s") and not term.endswith("ss"):
        variants.append(term[:-1])
    elif term[-1:].isalpha():
        consonant_y = term.endswith("y") and term[-2:-1] not in "aeiou"
        plural = term[:-1] + "ies" if consonant_y else term + ("es" if term[-1] in "sxz" else "s")
        variants.append(plural)
    return tuple(variants)


def _one_line(name: str) -> str:
    return " ".join(name.split())


def _sentence_start(text: str, offset: int) -> int:
    """Start of the sentence that holds ``offset``, looking back at most 400 characters."""
    window = text[max(0, offset - 400) : offset]
    stops = [match.end() for match in re.finditer(r"(?<![A-Z])[.;](?=\s+[\"“(A-Z])\s+|[。；]", window)]
    return offset - len(window) + stops[-1] if stops else 0


def _variants(terms: Sequence[DefinedTerm]) -> dict[str, list[int]]:
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
    """One pattern that finds the longest spelling at each place; a trie keeps it linear."""
    trie: dict[str, dict] = {}  # type: ignore[type-arg]
    for spelling in spellings:
        node = trie
        for letter in spelling:
            node = node.setdefault(letter, {})
        node[""] = {}
    # ASCII names end at word boundaries; Chinese text has none
    return re.compile(rf"(?<![A-Za-z0-9_])(?=\S){_trie_pattern(trie)}(?![A-Za-z0-9_])|" + _cjk_pattern(spellings))


def _cjk_pattern(spellings: Iterable[str]) -> str:
    """Alternation of the spellings that may touch letters or digits: "向甲方A座" uses 甲方."""
    cjk = sorted((s for s in spellings if not s.isascii()), key=len, reverse=True)
    return "|".join(re.escape(spelling) for spelling in cjk) or r"(?!)"


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


def _is_name(name: str) -> bool:
    """Whether a quotation can be the name of a defined term."""
    words = name.split()
    lowered = name.strip(" .,").lower()
    return (
        0 < len(words) <= _MAX_WORDS
        and lowered not in _NO_TERMS
        and not lowered.startswith(("or ", "and "))  # the gap between two quotations
        and any(letter.isalnum() for letter in name)
        and not name.strip().replace(".", "").isdigit()
    )


def _names(pattern: re.Pattern[str], text: str, start: int, end: int, group: int = 1) -> Iterator[tuple[str, int]]:
    """(name, offset) of every quotation in ``text[start:end]``, with outer punctuation stripped."""
    for match in pattern.finditer(text, start, end):
        raw = match.group(group)
        name = raw.strip().rstrip(".,;: ")
        if name and _is_name(name):
            yield name, match.start(group) + len(raw) - len(raw.lstrip())


def _english_means(text: str) -> Iterator[_Found]:
    for match in _MEANS.finditer(text):
        kind: TermKind = "means" if match.group("means") else "meaning_given_in"
        names = list(_names(_NAME_IN_LIST, text, match.start(), match.end()))
        if names:
            aliases = tuple(_one_line(name) for name, _ in names[1:])
            yield _Found(names[0][0], names[0][1], kind, aliases)


def _english_parentheses(text: str) -> Iterator[_Found]:
    for match in _PARENTHESIS.finditer(text):
        inside = match.group(1)
        if _NOT_A_DEFINITION.search(inside) or "以下" in inside or "简称" in inside:
            continue
        named = bool(
            re.search(r"\b(?:the|each|collectively|hereinafter|herein|called|an?)\b", inside.split('"')[0][:60])
        )
        previous = match.start(1)
        for name, start in _names(_NAME_IN_LIST, text, match.start(1), match.end(1)):
            lead = text[previous : start - 1].rstrip('"“”* ')
            previous = start + len(name) + 1
            capital = name[0].isupper() or any(letter.isupper() for letter in name)
            if _COMMON_SPEECH.search(text, max(0, match.start() - 60), start):
                continue
            if (capital or named) and _LEAD.search(lead.strip()) and not name.startswith(("http", "www.")):
                yield _Found(name, start, "parenthetical")


def _english_short_names(text: str) -> Iterator[_Found]:
    for match in _SHORT_NAME.finditer(text):
        for name, start in _names(_NAME_IN_LIST, text, match.start(1) - 1, match.end()):
            yield _Found(name, start, "short_name")


def _english_definition_sections(text: str, positions: ClausePositions) -> Iterator[_Found]:
    """Unquoted ``X means`` and ``"X": ...`` lines inside clauses that are headed "Definitions"."""
    for clause in positions.clauses:
        if not _DEFINITIONS_HEADING.search(clause.heading):
            continue
        start, end = clause.span.start, clause.span.end
        for match in _BARE_MEANS.finditer(text, start, end):
            name = match.group(1).strip()
            large = [word for word in name.split() if len(word) > 3 and word not in ("with", "from", "than")]
            if _is_name(name) and all(word[0].isupper() or word[0].isdigit() for word in large):
                yield _Found(name, match.start(1), "means" if match.group("means") else "meaning_given_in")
        for match in _LABELLED_NAME.finditer(text, start, end):
            if _is_name(match.group(1)):
                yield _Found(match.group(1), match.start(1), "means")


def _chinese(text: str) -> Iterator[_Found]:
    patterns: tuple[tuple[re.Pattern[str], TermKind], ...] = ((_ZH_MEANS, "means"), (_ZH_GIVEN, "meaning_given_in"))
    for quoted, kind in patterns:
        for match in quoted.finditer(text):
            names = list(_names(_ZH_NAME_LIST, text, match.start(), match.end()))
            if names:
                yield _Found(*names[0], kind, tuple(name for name, _ in names[1:]))
    for pattern in (_ZH_SO_CALLED, _ZH_BARE, _ZH_GENUS):
        for match in pattern.finditer(text):
            name = match.group(1)
            if not name.startswith(("本", "是", "前", "上述", "所称", "该")):
                yield _Found(name, match.start(1), "means")
    for match in _ZH_SHORT_QUOTED.finditer(text):
        for name, start in _names(_ZH_NAME_LIST, text, match.start(1), match.end(1)):
            yield _Found(name, start, "short_name")
    for pattern in (_ZH_SHORT_BARE, _ZH_SHORT_OPEN):
        for match in pattern.finditer(text):
            yield _Found(match.group(1), match.start(1), "short_name")
    # "甲方（买方）：某公司（以下简称“甲方”）" names the party twice; the words 以下简称 say it better
    seen = {name for name in ("甲方", "乙方", "丙方", "丁方", "戊方") if _introduced(text, name)}
    for match in _ZH_PARTY.finditer(text, 0, _PARTY_LABELS_WITHIN):
        if match.group(1) not in seen:
            seen.add(match.group(1))
            yield _Found(match.group(1), match.start(1), "short_name")


def _introduced(text: str, name: str) -> bool:
    """Whether 以下简称 gives ``name`` on the first page."""
    return any(
        name in match.group(1)
        for pattern in (_ZH_SHORT_QUOTED, _ZH_SHORT_BARE, _ZH_SHORT_OPEN)
        for match in pattern.finditer(text, 0, _PARTY_LABELS_WITHIN)
    )
