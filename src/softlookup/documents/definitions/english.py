"""English forms of definition: “X” means, (the "X"), hereinafter called "X"; merging them is ``definitions.py``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import takewhile

from softlookup.documents.definitions.names import Found, is_name, names_in, one_line
from softlookup.documents.model import TermKind
from softlookup.documents.positions import ClausePositions
from softlookup.documents.writing import has_english

# Markdown keeps its marks: **"Fees"**</span> means
_MARKUP = r"(?:[*_]|</?\w[^<>\n]{0,80}>)*+"  # possessive: a row of marks can be cut in one way only
_OPEN, _CLOSE = r"[\"“”„＂]\*{0,2}", rf"\*{{0,2}}[\"“”＂]{_MARKUP}"
_NAME = r"[^\"“”„＂\n*]{1,90}?"
_QUOTED = rf"{_OPEN}\s*+({_NAME})\s*{_CLOSE}"
_VERB = (
    r"(?P<means>(?:shall|will)\s+(?:also\s+)?mean\b|[Mm]eans?\b(?!\s+of\b)|means:|(?:is|shall\s+be)\s+defined\s+as\b|(?:shall\s+)?includes?\b"
    r"|shall\s+refer\s+to\b|refers?\s+to\b|designates?\b|denotes?\b|shall\s+be\s+deemed\s+to\s+(?:mean|include|(?:have\s+)?occur(?:red)?)\b"
    r"|(?:shall\s+)?(?:have|has)\s+(?:a\s+|the\s+)?(?:corresponding|correlative|comparable)\s+meanings?\b|shall\s+be\s+construed\s+accordingly\b)"
    r"|(?P<given>(?:(?:shall|will)\s+(?:have|bear)|have|has|bears?|(?:is|are)\s+used\s+with)\s+the\s+(?:respective\s+)?(?:same\s+)?"
    r"meanings?\b|(?:is|are)\s+defined\s+in\b|(?:shall\s+be\s+)?as\s+defined\s+in\b|shall\s+be\s+as\s+defined\b)"
)
# what may stand between the name and the verb: “Control”, when used of a person, means
_BETWEEN = (
    r"(?:\s+and\s+(?:comparable|similar|like|correlative)\s+terms)?"
    r"(?:\s*(?:,|\(|of\b|when\b|as\b|with\b|for\b|in\b|used\b)[^\"“”.;\n]{0,80}?)?"
)
_MEANS = re.compile(
    rf"(?:{_OPEN}\s*+{_NAME}\s*{_CLOSE}\s*+(?:,\s*+(?:and|or)?|/|and|or|\((?:and|or)?)\s*+){{0,3}}"
    rf"{_QUOTED}\)?{_BETWEEN}\s*+[,:]?\s*+(?:each\s+)?(?:{_VERB})",
)
_NAME_IN_LIST = re.compile(_QUOTED)
_INSIDE = r"(?:[^()（）\[\]\"“”]|\([^()\s]{1,4}\))"  # a parenthesis may hold "401(k)" and "Product(s)"
_PARENTHESIS = re.compile(rf"[(\[（]({_INSIDE}{{0,200}}[\"“”](?:{_INSIDE}|[\"“”]){{0,240}})[)\]）]")
# the quotation in a parenthesis names what stands before it only after such words
_LEAD = re.compile(
    r"(?:^|\b(?:the|a|an|this|as|called|named|to|such|each|individually|collectively|together|and|or|jointly|"
    r"severally|hereinafter|herein|hereafter|also|any|all|our|their|its|his|either|singly|be|being)|[,;:/&，])[\s,:]*$",
    re.IGNORECASE,
)
_NOT_A_DEFINITION = re.compile(r"\bdefined\b|\bmeaning\b|\bi\.e\.|\be\.g\.|\bsuch as\b|\bform of\b", re.IGNORECASE)
_COMMON_SPEECH = re.compile(r"\b(?:commonly|generally|customarily|so[-\s])\s*(?:referred\s+to|known|called)\b[^()]*$")
_SHORT_NAME = re.compile(
    r"\b(?:(?:hereinafter|hereafter|herein|collectively|together|individually|sometimes|each|is|are|be|being)\s*,?\s+"
    r"(?:\w+\s+){0,3}?)"
    r"(?:referred\s+to|called|known|designated|defined|termed)\s*(?:\s+(?:herein|hereinafter|collectively|individually|to))*"
    rf"\s*,?\s*(?:as\s+)?(?:(?:the|a|an|this)\s+)?{_QUOTED}",
)
# ‘Agreement’ and ''Agreement'': only where the words around leave no doubt, for these marks are apostrophes too
_SINGLE = r"(?:‘|''|``|')([A-Z][^‘’`'\"“”\n]{1,60})(?:’|''|')"
_SINGLE_QUOTED = re.compile(
    rf"\((?:the|this|each,?\s+an?|collectively,?(?:\s+the)?|together,?(?:\s+the)?)\s+{_SINGLE}\)"
    rf"|(?<![\w'’]){_SINGLE}\s+(?P<verb>{_VERB})"
)
# “Person” includes a company; references to a “person” include; a word in quotes at the head of such a sentence
_INCLUDES = re.compile(
    rf"(?:\b[Rr]eferences?\s+(?:herein\s+|in\s+this\s+\w+\s+)?to\s+(?:(?:an?|the|any)\s+)?{_QUOTED}\s*"
    r"(?:shall\s+be\s+(?:construed|taken)|(?:shall\s+)?(?:includes?|means?)|are\s+(?:references\s+)?to|is\s+(?:a\s+reference\s+)?to)\b"
    r")"
)
_EACH = re.compile(
    r"\b(?:each(?:\s+of\s+(?:them|which|whom|the\s+foregoing))?,?\s+(?:is\s+)?an?|"
    r"(?:each|individually|collectively|together|jointly),?\s+(?:(?:referred\s+to|known)\s+)?(?:herein\s+)?as\s+(?:the|an?)|"
    r"[Ff]or\s+(?:the\s+)?purposes?\s+of\s+this\s+\w+,(?:\s+the\s+term)?(?=[^.\n]{2,60}?\s(?:shall\s+)?includes?\b))"
    rf"\s+{_QUOTED}"
)
# the **Support Policy** on the Cover Page: bold type marks the name, and the words after it where it is filled in
_BOLD = r"\*\*([A-Z][\w’'&/-]*(?:[ ][\w’'&/()-]+){0,6})\*\*"
_BOLD_POINTED = re.compile(
    rf"(?<=\b[Tt]he[ ]){_BOLD}(?:[ ]?\(\*\*[A-Z][\w ]{{1,30}}\*\*\))?"
    r"(?=,?[ ](?:if[ ]any,?[ ])?(?:(?:as[ ])?(?:identified|described|specified|set[ ]forth|listed|stated|defined)\b|"
    r"(?:on|in)[ ]the[ ](?:[A-Z]|\*\*)))"
)
_BOLD_PARENTHESIS = re.compile(rf"\((?:(?:the|each,?[ ]an?|collectively,?|together,?)[ ](?:the[ ])?)?{_BOLD}\)")
_BARE_LEAD = r"(?:(?:\(?[\dA-Za-z.]{1,8}[.)]|\d{1,3}(?:\.\d{1,3}){1,3})[ \t]++)?"
_BARE_BODY = rf"([A-Z][\w’'&/\- ]{{0,60}}?)[ \t]++(?:\([^()\n]{{1,80}}\)[ \t]++)?(?:{_VERB})"
_BARE_MEANS = re.compile(rf"^[ \t]*+{_BARE_LEAD}{_BARE_BODY}", re.MULTILINE)
_BARE_CLAUSE = re.compile(rf"\s{{0,4}}{_BARE_LEAD}{_BARE_BODY}")  # a clause may begin inside a line
_OR_NAME = re.compile(r"\s+or\s+(?=[A-Z])")
# “Early Event” and its explanation in the next cell of a table, which may begin with a column of numbers
_ROW_NUMBER = r"(?:(?:\(?[\w.]{1,8}[.)]?)[ \t]*[\t|][ \t]*)?"
_TABLED_NAME = re.compile(
    rf"^[ \t|]*+{_ROW_NUMBER}{_QUOTED}[ \t]*"
    rf"(?:(?:\t|\||[ ]{{3,}})\s*(?=[^\s\"“”])|(?:\n[ \t]*\n|\n)\s*(?=[a-z]|[A-Z][a-z]+[ ][a-z]))",
    re.MULTILINE,
)
# the same in a PDF, where one blank parts the cells and the name may be broken over two lines
_SPACED_NAME = re.compile(
    rf"^[ \t]*+{_ROW_NUMBER}{_OPEN}\s*+((?:[^\"“”„＂\n*]{{1,60}}\n)?[^\"“”„＂\n*]{{1,60}}?)\s*{_CLOSE}[ \t]"
    r"(?=(?:the|an?|any|all|each|every|that|those|such|this|one|both|either|in|for|with|as|if|when)\s)",
    re.MULTILINE,
)
_SPACED_LEAST = 2
# rows of a table under the heads "Term" and "Meaning"
_TERM_HEADS = re.compile(
    r"^[ \t|]*(?:(?:No\.?|#|Clause|Ref\.?|[\d.]{1,6})[ \t]*[\t|][ \t]*)?(?:Defined\s+)?"
    r"(?:Terms?|Expressions?|Words?)[ \t]*[\t|][ \t]*"
    r"(?:Meanings?|Definitions?|Interpretation)\b",
    re.MULTILINE | re.IGNORECASE,
)
_TERM_ROW = re.compile(rf"^[ \t|]*+{_ROW_NUMBER}([A-Z][\w’'&/()\- ]{{0,60}}?)[ \t]*[\t|][ \t]*(?=[^\s|])", re.MULTILINE)
_LABELLED_NAME = re.compile(
    rf"(?:^[ \t]*+(?:\(?[\w.]{{1,8}}[.)][ \t]++)?|;[ ](?:and[ ])?){_QUOTED}[ \t]*(?:[:：]|–|—|-[ \t])", re.MULTILINE
)
# "Permit: any licence ..." counts where several such lines follow each other, or where the clause announces them
_BARE_LABEL = re.compile(
    r"^[ \t]*+([A-Z][\w’'&/\- ]{1,50}):[ \t]+(?=\S)(?P<given>(?:has|have)\s+the\s+meanings?\b)?", re.MULTILINE
)
_BARE_LABELS_LEAST = 4
_ANNOUNCED = re.compile(
    r"\b(?:in\s+this\s+\w+(?:\s\w+){0,3}\s*[:—–]|the\s+(?:following\s+)?definitions\b|following\s+(?:\w+\s+){0,4}(?:terms|words|expressions|"
    r"meanings|definitions)\b|have\s+the\s+following\s+meanings?)",
    re.IGNORECASE,
)
_ANNOUNCED_WITHIN = 600  # characters
_NO_LABELS = frozenset(
    ("note", "notes", "source", "attention", "address", "email", "tel", "telephone", "fax", "date", "page")
)
# **Completion Date**: 1 July, **Deposit** means ten pounds: Markdown prints the names in bold without quotes
_BOLD_LINE = re.compile(
    rf"^[ \t>]*+(?:(?:[-*•+]|\(?[\w.]{{1,8}}[.)])[ \t]++)?"
    rf"(?:\*\*|__)([A-Z][\w’'&/()\- ]{{0,60}}?):?(?:\*\*|__)(?:[ \t]*[:–—][ \t]*|[ \t]+(?={_VERB}))"
    r"(?P<given_here>(?:has|have)\s+the\s+meanings?\b)?",
    re.MULTILINE,
)
_BARE_INSIDE = re.compile(rf"(?<=;[ ])(?:and[ ])?{_BARE_BODY}")
_LABEL_BEFORE = re.compile(
    r"\b(?:sections?|clauses?|articles?|paragraphs?|schedules?|exhibits?|annex|appendix)\s+(?:[\dIVXLC][\w.()-]{0,20}|[A-Z])\s*$",
    re.IGNORECASE,
)
_LISTED_LABEL_BEFORE = re.compile(
    r"\b(?:sections|clauses|articles|paragraphs|schedules|exhibits|annexes|appendices)\s[^;\n]{0,180}?(?:,|\band|\bor)\s+"
    r"(?:[\dIVXLC][\w.()-]{0,20}|[A-Z])\s*$",
    re.IGNORECASE,
)
_ADJECTIVE = re.compile(
    r"(?!(?:herein\w*|hereafter|hereunder|below|above|and|or|as|in|for|collectively|together|respectively)\b)[a-z]{2,20}[)\]]"
)
_DEFINITIONS_HEADING = re.compile(r"definition|defined terms|interpretation|定义|释义|用语", re.IGNORECASE)


def english_definitions(text: str, positions: ClausePositions) -> Iterator[Found]:
    """Names that ``text`` defines, in no order, some of them more than once."""
    if not has_english(text):
        return
    yield from _english_means(text)
    yield from _english_parentheses(text)
    yield from _english_short_names(text)
    yield from _english_bold_names(text)
    for match in _SINGLE_QUOTED.finditer(text):
        name, start = match.group(1) or match.group(2), max(match.start(1), match.start(2))
        kind: TermKind = "parenthetical" if match.group(1) else "means" if match["means"] else "meaning_given_in"
        if is_name(name):
            yield Found(name, start, kind)
    yield from _english_definition_sections(text, positions)


def _english_means(text: str) -> Iterator[Found]:
    for match in _MEANS.finditer(text):
        kind: TermKind = "means" if match.group("means") else "meaning_given_in"
        names = list(names_in(_NAME_IN_LIST, text, match.start(), match.end()))
        if names:
            aliases = tuple(one_line(name) for name, _ in names[1:])
            yield Found(names[0][0], names[0][1], kind, aliases)


def _english_parentheses(text: str) -> Iterator[Found]:
    for match in _PARENTHESIS.finditer(text):
        inside = match.group(1)
        if _is_heading_of_label(text, match.start(), inside):
            continue
        if _NOT_A_DEFINITION.search(inside) or "以下" in inside or "简称" in inside:
            continue
        named = bool(
            re.search(r"\b(?:the|each|collectively|hereinafter|herein|called|an?)\b", inside.split('"')[0][:60])
        )
        previous = match.start(1)
        for name, start in names_in(_NAME_IN_LIST, text, match.start(1), match.end(1)):
            lead = text[previous : start - 1].rstrip('"“”* ')
            previous = start + len(name) + 1
            capital = name[0].isupper() or any(letter.isupper() for letter in name)
            if _COMMON_SPEECH.search(text, max(0, match.start() - 60), start):
                continue
            after = text[start + len(name) : match.end()].lstrip('"”* ')
            if _ADJECTIVE.match(after) and previous == start + len(name) + 1 and not lead:
                continue  # electronic mail ("PDF" format)
            if (capital or named) and _LEAD.search(lead.strip()) and not name.startswith(("http", "www.")):
                yield Found(name, start, "parenthetical")


def _is_heading_of_label(text: str, start: int, inside: str) -> bool:
    """Whether the words ``inside`` parentheses at ``start`` are the title of a label: Exhibits 8 and 9 ("Rent")."""
    if inside.strip()[:1] not in ('"', "“"):
        return False  # Exhibit A (the "Plan")
    listed = _LISTED_LABEL_BEFORE.search(text, max(0, start - 200), start)
    return listed is not None or _LABEL_BEFORE.search(text, max(0, start - 40), start) is not None


def _english_short_names(text: str) -> Iterator[Found]:
    for match in _SHORT_NAME.finditer(text):
        for name, start in names_in(_NAME_IN_LIST, text, match.start(1) - 1, match.end()):
            yield Found(name, start, "short_name")
    for match in _INCLUDES.finditer(text):
        for name, start in names_in(_NAME_IN_LIST, text, match.start(), match.end()):
            yield Found(name, start, "means")
    for match in _EACH.finditer(text):
        words = match.group().lower()
        means = words.startswith("for")
        for name, start in names_in(_NAME_IN_LIST, text, match.start(), match.end()):
            yield Found(name, start, "means" if means else "short_name" if " as " in words else "parenthetical")


def _english_bold_names(text: str) -> Iterator[Found]:
    """Names that Markdown prints in bold where they are introduced."""
    for match in _BOLD_POINTED.finditer(text):
        yield Found(match.group(1), match.start(1), "meaning_given_in")
    for match in _BOLD_PARENTHESIS.finditer(text):
        yield Found(match.group(1), match.start(1), "parenthetical")


def _bare_name(match: re.Match[str]) -> Iterator[Found]:
    """The name of "Gross Margin means", or of "Manufacture or Manufacturing means"; its words begin with capitals."""
    name, *aliases = (one_line(name) for name in _OR_NAME.split(match.group(1)))
    words = [word for word in match.group(1).split() if len(word) > 3 and word not in ("with", "from", "than")]
    if is_name(name) and all(word[0].isupper() or word[0].isdigit() for word in words):
        kind: TermKind = "means" if match.group("means") else "meaning_given_in"
        yield Found(name, match.start(1), kind, tuple(aliases))


def _english_definition_sections(text: str, positions: ClausePositions) -> Iterator[Found]:
    """Unquoted ``X means`` and ``"X": ...`` lines inside clauses that are headed "Definitions"."""
    for clause in positions.clauses:
        if not _DEFINITIONS_HEADING.search(clause.heading):
            continue
        start, end = clause.span.start, clause.span.end
        for match in _BARE_MEANS.finditer(text, start, end):
            yield from _bare_name(match)
        following = (positions.clauses[at] for at in range(clause.index + 1, len(positions.clauses)))
        for below in takewhile(lambda c: c.span.start < end, following):  # noqa: B023
            begins = _BARE_CLAUSE.match(text, below.span.start, end)
            yield from _bare_name(begins) if begins else ()
        yield from _unquoted(text, start, end)
        for match in _BARE_INSIDE.finditer(text, start, end):
            yield from _bare_name(match)
        rows = [match for match in _SPACED_NAME.finditer(text, start, end) if is_name(match.group(1))]
        rows = rows if len(rows) >= _SPACED_LEAST else []
        for match in (*_LABELLED_NAME.finditer(text, start, end), *_TABLED_NAME.finditer(text, start, end), *rows):
            if is_name(match.group(1)):
                yield Found(match.group(1), match.start(1), "means")


def _unquoted(text: str, start: int, end: int) -> Iterator[Found]:
    """Names without quotes in a clause of definitions: "Permit: any licence", bold ones, rows under "Term"."""
    labels = [m for m in _BARE_LABEL.finditer(text, start, end) if _is_unquoted(m.group(1))]
    times = Counter(match.group(1) for match in labels)
    labels = [match for match in labels if times[match.group(1)] == 1]  # a page's foot says "Source: ..." again
    announced = _ANNOUNCED.search(text, start, min(end, start + _ANNOUNCED_WITHIN)) is not None
    for match in labels if announced or len(labels) >= _BARE_LABELS_LEAST else ():
        yield Found(match.group(1), match.start(1), "meaning_given_in" if match["given"] else "means")
    for match in _BOLD_LINE.finditer(text, start, end):
        if _is_unquoted(match.group(1)):
            given = match["given"] or match["given_here"]
            yield Found(match.group(1), match.start(1), "meaning_given_in" if given else "means")
    heads = _TERM_HEADS.search(text, start, end)
    for match in _TERM_ROW.finditer(text, heads.end(), end) if heads else ():
        if _is_unquoted(match.group(1)):
            yield Found(match.group(1), match.start(1), "means")


def _is_unquoted(name: str) -> bool:
    """Whether words without quotes look like a name: capitals, but not "Note"."""
    words = [word for word in name.split() if len(word) > 3 and word not in ("with", "from", "than")]
    capitals = all(word.strip("(")[:1].isupper() or word[0].isdigit() for word in words)
    return capitals and is_name(name) and name.lower() not in _NO_LABELS
