"""Okapi BM25 over short passages, English and Chinese alike; not a search engine for many documents.

Scores follow Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
equation 3.15, with the idf of Lucene (never negative). Chinese is indexed by character bigrams, with single
characters as a fallback, because no word list is needed and two-character words (赔偿) are found.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from softlookup.retrieval.function_words import FRAME_TERMS, FUNCTION_CHARACTERS, STOP_WORDS

K1 = 1.2
B = 0.75
_TOKEN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+|\d+(?:[.,]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_SINGLE_CHARACTER_WEIGHT = 0.25  # of a query character beside its bigrams
_FRAME_WEIGHT = 0.1  # not 0: "who are the parties?" asks with nothing else


def tokens(text: str) -> list[str]:
    """Index terms of ``text``: stemmed lower-case words, numbers, and Chinese bigrams and single characters.

    >>> tokens("The Licensee's Payments, Section 8.2")
    ['licensee', 'payment', 'section', '8.2']
    >>> tokens("赔偿责任")
    ['赔偿', '偿责', '责任', '赔', '偿', '责', '任']
    """
    if "<" in text:  # Markdown keeps inline HTML
        text = _TAG.sub(" ", text)
    folded = text if text.isascii() else unicodedata.normalize("NFKC", text).replace("’", "'")
    found: list[str] = []
    for run in _TOKEN.findall(folded.lower()):
        if run in STOP_WORDS:
            continue
        if run.isascii():
            found.append(stem(run))
        elif _CJK.match(run):
            found.extend(_chinese_terms(run))
        else:
            found.append(run)
    return found


def _chinese_terms(run: str) -> Iterator[str]:
    """Bigrams, then single characters; nothing that holds a grammatical character."""
    for first, second in pairwise(run):
        if first not in FUNCTION_CHARACTERS and second not in FUNCTION_CHARACTERS:
            yield first + second
    yield from (character for character in run if character not in FUNCTION_CHARACTERS)


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """A lower-case English word without its commonest endings; other words unchanged.

    Rules, in order: possessive; -ies to -y; -sses, -xes, -ches, -shes; -s; then -ing, -ed and a final -e, so
    that license, licensed, licensing and licenses agree. Words of up to three letters stay as they are.

    >>> [stem(w) for w in ("parties", "losses", "terminated", "licensing", "license", "less", "state's")]
    ['party', 'loss', 'terminat', 'licens', 'licens', 'less', 'stat']
    """
    word = word.removesuffix("'s").removesuffix("'")
    if not word.isascii() or len(word) <= 3 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "xes", "ches", "shes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        base = word[: -len(ending)]
        if word.endswith(ending) and len(base) >= 3 and any(vowel in base for vowel in "aeiouy"):
            doubled = len(base) > 3 and base[-1] == base[-2] and base[-1] not in "lsz"
            word = base[:-1] if doubled else base
            break
    return word[:-1] if word.endswith("e") and not word.endswith("ee") and len(word) > 4 else word


class BM25Index:
    """BM25 over ``texts``; immutable after construction.

    ``k1`` says how soon repetition stops counting, ``b`` how much long passages are held back (0 to 1).
    """

    def __init__(self, texts: Sequence[str], *, k1: float = K1, b: float = B) -> None:
        rows_of = [tokens(text) for text in texts]
        self._size = len(rows_of)
        lengths = np.array([len(row) for row in rows_of], dtype=np.int64)
        self._vocabulary: dict[str, int] = {}
        number = self._vocabulary.setdefault
        flat = [number(term, len(self._vocabulary)) for row in rows_of for term in row]
        # one (term, row) pair per posting, sorted by term; the count is the term frequency
        pairs = np.array(flat, dtype=np.int64) * self._size + np.repeat(np.arange(self._size), lengths)
        unique, frequency = np.unique(pairs, return_counts=True)
        term, self._rows = np.divmod(unique, max(1, self._size))
        self._starts = np.searchsorted(term, np.arange(len(self._vocabulary) + 1))
        containing = np.diff(self._starts)
        idf = np.log1p((self._size - containing + 0.5) / (containing + 0.5))
        self._idf = idf
        average = lengths.mean() if lengths.sum() else 1.0
        norms = k1 * (1 - b + b * lengths / average)
        self._gains = idf[term] * frequency * (k1 + 1) / (frequency + norms[self._rows])

    def __len__(self) -> int:
        return self._size

    def scores(self, query: str) -> NDArray[np.float64]:
        """BM25 score of every text for ``query``; shape [len(self)], 0 where no term of the query occurs.

        Terms that only frame a question about a contract ("clause", "party", 合同) weigh a tenth.
        """
        result = np.zeros(self._size, dtype=np.float64)
        terms = Counter(tokens(query))
        bigrams = any(len(term) == 2 and _CJK.match(term) for term in terms)
        for term, frequency in terms.items():
            number = self._vocabulary.get(term)
            if number is None:
                continue
            weight = _FRAME_WEIGHT if term in FRAME_TERMS else 1.0
            if bigrams and len(term) == 1 and _CJK.match(term):
                weight = _SINGLE_CHARACTER_WEIGHT
            place = slice(self._starts[number], self._starts[number + 1])
            result[self._rows[place]] += self._gains[place] * frequency * weight
        return result

    def ceiling(self, query: str) -> float:
        """What a text that holds every word of ``query`` once, at average length, would score; above 0.

        A score divided by it says how much of the question's words a text holds, which scores of one question among
        each other do not: words that no text holds count here, and there nowhere.
        """
        total = 0.0
        for term in set(tokens(query)):
            if len(term) == 1 and _CJK.match(term):
                continue  # its bigrams count
            number = self._vocabulary.get(term)
            idf = np.log1p((self._size + 0.5) / 0.5) if number is None else self._idf[number]
            total += float(idf) * (_FRAME_WEIGHT if term in FRAME_TERMS else 1.0)
        return max(total, 1e-6)
