"""Names what a question asks about that the cited clauses never mention: another party, event or amount.

Attention singles out the clause on the same topic, also when the question is about somebody else. This check reads
words only. It is conservative: it looks at roles, names, events and amounts alone, knows their common synonyms, and
is silent where the clauses speak of every party or in another language. Silence is no sign that a clause answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from softlookup.documents.language import Language, language_of
from softlookup.evidence.near_miss_words import (
    EVENTS_EN,
    EVENTS_ZH,
    NO_NAMES,
    ROLES_EN,
    ROLES_ZH,
    is_no_other_party,
)
from softlookup.evidence.values import as_written, values_in, values_spelled

# clauses that speak of everybody: any party is mentioned
_EVERYBODY_EN = re.compile(
    r"\b(?:(?:either|each|neither|both|any|one|a|other|defaulting|breaching|non-?\w{1,12}ing)\s(?:of\sthe\s)?"
    r"part(?:y|ies)|the\sparties|mutual(?:ly)?)\b",
    re.IGNORECASE,
)
_EVERYBODY_ZH = re.compile("双方|各方|任何一方|任一方|一方|对方|守约方|违约方|当事人|三方|四方")
_LETTERED_ZH = re.compile("[甲乙丙丁]方")
# a question that lists alternatives asks about one of them
_OR = re.compile(r"\bor\b|\bsuch as\b|或|还是|、", re.IGNORECASE)
_CHANGE_OF_CONTROL = re.compile(r"\bchange\s(?:of|in)\s(?:the\s)?control\b", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]{0,40}")
_CLAUSE_NUMBER = re.compile(
    r"\b(?:section|clause|article|schedule|exhibit|annex|appendix|paragraph)\s[\dIVXLC.()a-z]{1,12}"
    r"|第[零〇一二三四五六七八九十百\d]{1,6}[条款章节项]|附件[一二三四五六七八九十\d]{0,3}",
    re.IGNORECASE,
)
# a question also makes up small numbers ("closed for five days, is that a breach?")
_SMALLEST_AMOUNT = 100
# how far behind a name the role stands that a contract gives it: Astrid Pedersen of Dock 4 ("Guarantor")
_NAMED_AS = re.compile(r"[^\n\"“]{0,80}[\"“](?:the\s)?([A-Za-z][\w ]{1,40})[\"”]")
MOST_NAMED = 3


def not_mentioned(question: str, cited: Sequence[str], document: str) -> tuple[str, ...]:
    """Words of ``question`` for a party, event, name or amount that none of the ``cited`` texts mentions.

    ``cited`` are the cited clauses, with headings, and what their closure added. ``document`` is the whole text: a
    name or a general role counts only if the document uses it elsewhere, for otherwise the question is in its own
    words; a guarantor or a third lettered party that no clause names counts in any case.
    """
    if not cited:
        return ()
    asked = _CLAUSE_NUMBER.sub(" ", _plain(question))
    told = _plain("\n".join(cited))
    known = values_spelled(told)
    amounts = (value for value in values_in(asked) - known if not value.startswith("month"))
    found = list(as_written(asked, sorted(value for value in amounts if float(value) >= _SMALLEST_AMOUNT)))
    language = language_of(question)
    if language_of(told) == language:
        kinds = _missing_zh(asked, told, document) if language == "zh" else _missing_en(asked, told, document)
        one_of = _OR.search(asked) is not None
        # (word, said): of alternatives, all must be missing
        words = [word for kind in kinds for word in _unsaid(kind, one_of=one_of)]
        found = [*words, *found]
    return tuple(dict.fromkeys(found))[:MOST_NAMED]


def near_miss_reason(missing: Sequence[str], language: Language) -> str:
    """The reason for review, in the language of the question."""
    if language == "zh":
        return f"所引条款未提及{'、'.join(f'“{word}”' for word in missing)}，可能讲的是另一方、另一事件或另一金额"
    named = ", ".join(f'"{word}"' for word in missing)
    return f"the cited clauses do not mention {named}: they may be about another party, event or amount"


Finds = list[tuple[str, bool]]


def _unsaid(finds: Finds, *, one_of: bool) -> list[str]:
    if one_of and any(said for _, said in finds):
        return []
    return [word for word, said in finds if not said]


def _missing_en(asked: str, told: str, document: str) -> tuple[Finds, Finds]:
    words = _words(told)
    parties = (
        [] if _EVERYBODY_EN.search(told) else [*_roles_en(asked, words, document), *_names(asked, words, document)]
    )
    events = []
    for stems, mentions in EVENTS_EN:
        word = next((m.group() for m in _WORD.finditer(asked) if m.group().lower().startswith(stems)), None)
        if word is not None:
            events.append((word, any(other.startswith(mentions) for other in words)))
    return parties, events


def _roles_en(asked: str, words: set[str], document: str) -> Finds:
    everywhere = _words(document)
    found = []
    for match in _WORD.finditer(asked):
        group = next((group for group in ROLES_EN if _singular(match.group().lower()) in group), ())
        # a generic word for a party may stand for a role that the document calls otherwise
        if is_no_other_party(group) or any(_mentions(everywhere, member) for member in group):
            found.append((match.group(), any(_mentions(words, member) for member in group)))
    return found


def _names(asked: str, words: set[str], document: str) -> Finds:
    """Capitalised words inside a sentence of the question that stand in the document."""
    found, first = [], True
    for match in _WORD.finditer(asked):
        word = _singular(match.group().lower())
        named = match.group()[0].isupper() and len(word) > 3 and word not in NO_NAMES
        if named and not first and not any(word in group for group in ROLES_EN) and match.group() in document:
            known = (word, *_roles_of(match.group(), document))
            found.append((match.group(), any(_mentions(words, name) for name in known)))
        first = asked[match.end() : match.end() + 1] in {".", "?", "!", ":"}
    return found


def _roles_of(name: str, document: str) -> list[str]:
    """What the document calls the bearer of a name: the last word of the role defined behind the name."""
    defined = _NAMED_AS.match(document, document.find(name) + len(name))
    return [] if defined is None else [_singular(defined[1].split()[-1].lower())]


def _missing_zh(asked: str, told: str, document: str) -> tuple[Finds, Finds]:
    parties: Finds = []
    if _EVERYBODY_ZH.search(told) is None:
        lettered = _LETTERED_ZH.search(document) is not None
        parties = [(word, word in told) for word in _LETTERED_ZH.findall(asked) if lettered]
        if _LETTERED_ZH.search(told) is None:  # a role may be one of them: the words cannot tell
            for group in ROLES_ZH:
                named = _found_zh(asked, group)
                known = is_no_other_party(group) and _LETTERED_ZH.search(document) is None
                if named is not None and (known or _found_zh(document, group) is not None):
                    parties.append((named, _found_zh(told, group) is not None))
    events = []
    for asks, mentions in EVENTS_ZH:
        named = _found_zh(asked, asks)
        if named is not None:
            events.append((named, _found_zh(told, mentions) is not None))
    return parties, events


def _found_zh(text: str, group: Iterable[str]) -> str | None:
    """The first word of ``group`` in ``text``; 许可人 inside 被许可人 is not."""
    return next((word for word in group if word in (text if word[0] != "许" else text.replace("被许可", ""))), None)


def _words(text: str) -> set[str]:
    return {match.group().lower() for match in _WORD.finditer(_CHANGE_OF_CONTROL.sub(" changeofcontrol ", text))}


def _mentions(words: set[str], word: str) -> bool:
    return not {word, f"{word}s", f"{word}'s", f"{word}’s"}.isdisjoint(words)


def _singular(word: str) -> str:
    word = re.sub(r"['’]s?$", "", word)
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text)
