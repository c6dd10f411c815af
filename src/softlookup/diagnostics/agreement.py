"""Does an answer agree with the place that should hold it? By values and words alone; not a judge of meaning."""

from __future__ import annotations

import re
from dataclasses import dataclass

from softlookup.documents.language import language_of
from softlookup.evidence.values import unsupported_values, values_in

# share of the answer's own words that must stand in the place when neither names a value
WORDS_NEEDED = 0.5
_WORD = re.compile(r"[a-z]{3,40}|[\u3400-\u9fff]{2}")
_COMMON = frozenset({
    "the", "and", "for", "that", "this", "with", "shall", "may", "must", "not", "any", "all", "are", "was",
    "has", "have", "which", "what", "who", "when", "where", "how", "under", "from", "into", "than", "then",
    "such", "each", "its", "his", "her", "their", "between", "agreement", "contract", "clause", "answer",
    "question",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Agreement:
    """``strange``: values of the answer that the place lacks; ``missing``: values of the quote that the answer lacks.

    ``words``: share of the answer's words that stand in the place, None where values decided.
    """

    agrees: bool
    strange: tuple[str, ...]
    missing: tuple[str, ...]
    words: float | None


def agreement(answer: str, passage: str, question: str, quote: str | None = None) -> Agreement:
    """Compare ``answer`` with ``passage``; of a ``quote`` that has values, one at least must be in the answer.

    Values of the question count as known: an answer may repeat them.
    """
    strange = unsupported_values(answer, [passage, question])
    own = values_in(answer) - values_in(question)
    wanted = values_in(quote) - values_in(question) if quote is not None else frozenset()
    missing = tuple(sorted(wanted)) if wanted and not wanted & values_in(answer) else ()
    if strange or missing or own:
        return Agreement(not strange and not missing, strange, missing, None)
    words = _words(answer) - _words(question) - _COMMON
    share = len(words & _words(passage)) / len(words) if words else 0.0
    return Agreement(share >= WORDS_NEEDED, (), (), share)


def _words(text: str) -> frozenset[str]:
    """Words of Latin letters, or pairs of Han characters."""
    if language_of(text) == "zh":
        return frozenset(text[i : i + 2] for i in range(len(text) - 1) if _WORD.fullmatch(text[i : i + 2]))
    return frozenset(_WORD.findall(text.casefold()))
