"""How well every passage fits a question by words and, with an encoder, by embeddings; the model reads nothing here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from softlookup.retrieval.bm25 import BM25Index


class Encoder(Protocol):
    """Sentence embeddings: unit vectors, and whether the vocabulary covers a text."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Unit vectors [len(texts), D]."""

    def knows(self, text: str) -> bool:
        """Whether ``text`` is made of words that the encoder has learned."""


@dataclass(frozen=True, slots=True)
class SearchScores:
    """Scores of all passages of a document for one question.

    ``lexical`` [passages] BM25, of which ``ceiling`` is what a passage with every word of the question would score;
    ``semantic`` [passages] cosine of embeddings, None without a fitting encoder.
    """

    lexical: NDArray[np.float64]
    ceiling: float = 1.0
    semantic: NDArray[np.float64] | None = None

    def of(self, places: Sequence[int]) -> SearchScores:
        """Those of some passages."""
        chosen = list(places)
        return SearchScores(
            self.lexical[chosen], self.ceiling, None if self.semantic is None else self.semantic[chosen]
        )


class PassageSearch:
    """Scores of all passages of one document; index and embeddings are made when they are first needed."""

    def __init__(self, texts: Sequence[str], encoder: Encoder | None = None) -> None:
        self._texts = tuple(texts)
        self._encoder = encoder
        self._vectors: NDArray[np.float64] | None = None

    @cached_property
    def lexical(self) -> BM25Index:
        """BM25 index over the passages."""
        return BM25Index(self._texts)

    def similarities(self, question: str) -> NDArray[np.float64] | None:
        """Cosine [passages] of the embeddings of ``question`` and the passages; None without a fitting encoder."""
        if self._encoder is None or not self._texts or not self._encoder.knows(question):
            return None
        if self._vectors is None:
            self._vectors = self._encoder.encode(self._texts)
        result: NDArray[np.float64] = self._vectors @ self._encoder.encode([question])[0]
        return result

    def scores(self, question: str) -> SearchScores:
        """Everything that is known of the passages without reading them with the model."""
        return SearchScores(self.lexical.scores(question), self.lexical.ceiling(question), self.similarities(question))

    def ranking(self, question: str) -> NDArray[np.float64]:
        """Scores [passages], not negative, by which clauses are retrieved for ``question``."""
        lexical, semantic = self.lexical.scores(question), self.similarities(question)
        if semantic is None:
            return lexical
        # of the best each: what both find comes first, what one of them finds comes next
        return _of_the_best(lexical) + _of_the_best(np.maximum(semantic, 0.0))


def _of_the_best(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores / (scores.max() or 1.0)
