"""How every method of the evidence benchmarks scores the passages of a document; no metrics, no printing.

All methods rank the passages of ``ask`` (at most 600 characters, tables of contents left out). A document that does
not fit the model's window is read as ``ask`` reads it: questions in groups, clauses retrieved for each group. What
was not fed then ranks behind everything that was, for methods that need the model; the others see all passages.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from evidence_metrics import best_rank, standardised

if TYPE_CHECKING:
    from minilm import MiniLM
    from softlookup.evidence.abstention import Decision
    from softlookup.evidence.answer import Citation
    from softlookup.evidence.reading import Reading
    from softlookup.retrieval.chunks import Chunk
    from softlookup.runtime.attention_calls import AttentionCall
    from softlookup.runtime.prefilled import Pack
    from softlookup.session import OpenDocument

FloatArray = npt.NDArray[np.float64]

ALPHA = 0.05
ICR_NULL = "N/A"
# in the order of the tables
METHODS = (
    "random",
    "raw attention",
    "ICR",
    "BM25",
    "MiniLM",
    "BM25 + MiniLM",
    "attention",
    "fused",
    "fused + MiniLM",
)


@dataclass(frozen=True)
class Scored:
    """One question. ``scores`` {method: [passages]}, -inf for what the model was not fed.

    ``attention`` and ``fused`` [passages of the reading] and ``decision`` are what ``ask`` has.
    """

    question: str
    scores: dict[str, FloatArray]
    attention: FloatArray
    fused: FloatArray
    decision: Decision
    chunks: Sequence[Chunk]

    def ranks(self, gold: npt.NDArray[np.bool_]) -> dict[str, int]:
        """Rank of the best right passage, per method."""
        return {name: best_rank(values, gold) for name, values in self.scores.items()}

    @property
    def best(self) -> dict[str, float]:
        """Best score, per method."""
        return {name: float(values.max()) for name, values in self.scores.items()}


class Scorer:
    """Scores questions on one open document. ``minilm`` adds its methods; ``baselines`` random, raw attention, ICR.

    ``alpha`` decides, and chooses how many off-topic questions the p-values compare with.
    """

    def __init__(
        self,
        document: OpenDocument,
        *,
        minilm: MiniLM | None = None,
        baselines: bool = False,
        alpha: float = ALPHA,
    ) -> None:
        from softlookup.retrieval.chunks import without_contents

        self.document = document
        self.passages = without_contents(document.document, document.chunks)
        self.spans = [(chunk.span.start, chunk.span.end) for chunk in self.passages]
        self._place = {chunk.index: place for place, chunk in enumerate(self.passages)}
        self._minilm = minilm
        self._baselines = baselines
        self._alpha = alpha
        self._random = np.random.default_rng(0)

    def score(self, questions: Sequence[str]) -> Iterator[Scored]:
        """Every question in order, grouped as ``ask_all`` groups them."""
        from softlookup.session import QUESTIONS_PER_CONTEXT

        if self.document.strategy.strategy == "hybrid":
            for question, evidence in zip(questions, self.document.evidence(questions), strict=True):
                yield self._scored(question, evidence.chunks, evidence.scores, evidence.decision, {})
            return
        full = self.document.strategy.strategy == "full_context"
        size = max(1, len(questions)) if full else QUESTIONS_PER_CONTEXT
        for start in range(0, len(questions), size):
            yield from self._group(questions[start : start + size])

    def _group(self, group: Sequence[str]) -> Iterator[Scored]:
        from softlookup.documents.language import language_of
        from softlookup.evidence.abstention import decide

        reading = self.document.reading(group)
        mass = reading.mass(group)
        baselines = attention_baselines(reading, group) if self._baselines else [{} for _ in group]
        for place, question in enumerate(group):
            calibration = reading.calibration(language_of(question), alpha=self._alpha)
            attention = calibration.scores(mass[place], reading.profile.weights)
            decision = decide(attention, calibration.off_topic_maxima, self._alpha)
            yield self._scored(question, reading.chunks, attention, decision, baselines[place])

    def _scored(
        self,
        question: str,
        chunks: Sequence[Chunk],
        attention: FloatArray,
        decision: Decision,
        baselines: dict[str, FloatArray],
    ) -> Scored:
        """Scores of all methods from the ``attention`` on the passages that the model read."""
        from softlookup.evidence.citation import fused_scores
        from softlookup.retrieval.passage_search import SearchScores

        fed = np.array([self._place[chunk.index] for chunk in chunks], dtype=np.int64)
        scores = self._without_model(question)
        fused = fused_scores(attention, SearchScores(scores["BM25"][fed]))
        found = {**baselines, "attention": attention, "fused": fused}
        if self._minilm is not None:
            ceiling = self.document.lexical.ceiling(question)
            search = SearchScores(scores["BM25"][fed], ceiling, scores["MiniLM"][fed])
            found["fused + MiniLM"] = fused_scores(attention, search)
        scores.update({name: self._spread(values, fed) for name, values in found.items()})
        return Scored(question, scores, attention, fused, decision, chunks)

    def _without_model(self, question: str) -> dict[str, FloatArray]:
        lexical = self.document.lexical.scores(question)[[chunk.index for chunk in self.passages]]
        scores = {"BM25": lexical}
        if self._baselines:
            scores["random"] = self._random.random(len(self.passages))
        if self._minilm is not None:
            scores["MiniLM"] = self._vectors @ self._minilm.vectors([question])[0]
            scores["BM25 + MiniLM"] = standardised(lexical) + standardised(scores["MiniLM"])
        return scores

    @cached_property
    def _vectors(self) -> FloatArray:
        text = self.document.document.text
        return self._minilm.vectors([text[start:end] for start, end in self.spans])

    def _spread(self, values: FloatArray, fed: npt.NDArray[np.int64]) -> FloatArray:
        everywhere = np.full(len(self.passages), -np.inf)
        everywhere[fed] = values
        return everywhere


def cited(document: OpenDocument, scored: Scored) -> tuple[Citation, ...]:
    """The citations that ``ask`` shows for the question, with those that they need; () without evidence."""
    from softlookup.evidence.citation import citations, closure_citations

    if not scored.decision.found:
        return ()
    own = citations(document.document, scored.chunks, scored.attention, scored.fused, scored.decision, ALPHA)
    return (*own, *closure_citations(document.document, own)[0])


class TokenMass:
    """Attention on every document token, summed over all heads and layers; a callback for packed passes.

    ``question`` [questions, tokens] is the mean over the question's own rows, ``suffix`` over these and the
    template after them, up to the first answer token.
    """

    def __init__(self, document: tuple[int, int], questions: int) -> None:
        self._start, self._stop = document
        self.question = np.zeros((questions, self._stop - self._start))
        self.suffix = np.zeros_like(self.question)

    def collect(self, pack: Pack, call: AttentionCall) -> None:
        """Add one layer of one pack."""
        from softlookup.attention.rows import row_weights

        for index, suffix, start in zip(pack.indices, pack.suffixes, pack.starts, strict=True):
            rows = slice(start, start + len(suffix))
            visible = None if call.visible is None else call.visible[rows]
            weights = row_weights(call.query[:, rows], call.key, visible, call.scale, call.softcap)
            per_row = weights[:, :, self._start : self._stop].sum(dim=0).double().numpy()
            self.question[index] += per_row[: suffix.question_length].mean(axis=0)
            self.suffix[index] += per_row.mean(axis=0)


def attention_baselines(reading: Reading, questions: Sequence[str]) -> list[dict[str, FloatArray]]:
    """Per question the scores [passages of the reading] of raw attention and of ICR, each over all heads."""
    suffixes = [reading.prefilled.template.suffix(question) for question in (*questions, ICR_NULL)]
    mass = TokenMass(reading.passage_map.document, len(suffixes))
    reading.prefilled.observe_packed(suffixes, mass.collect)
    owner, count = reading.passage_map.passage_of_token, reading.passage_map.count
    return [
        {
            "raw attention": np.bincount(owner[owner >= 0], weights=mass.question[place][owner >= 0], minlength=count),
            "ICR": filtered_sums(mass.suffix[place] - mass.suffix[-1], owner, count),
        }
        for place in range(len(questions))
    ]


def filtered_sums(calibrated: FloatArray, owner: npt.NDArray[np.int64], count: int) -> FloatArray:
    """Sum [count] of calibrated token scores per passage without tokens below mean - 2 std of their passage.

    ``owner`` [tokens] is the passage of each token, -1 for none. In-context re-ranking, arXiv 2410.02642; the
    deviation is that of the passage's tokens themselves, since that of a sample is NaN for a single token.
    """
    inside = owner >= 0
    values, owner = calibrated[inside], owner[inside]
    size = np.maximum(1, np.bincount(owner, minlength=count))
    centre = np.bincount(owner, weights=values, minlength=count) / size
    spread = np.sqrt(np.bincount(owner, weights=(values - centre[owner]) ** 2, minlength=count) / size)
    kept = values >= centre[owner] - 2 * spread[owner]
    return np.bincount(owner[kept], weights=values[kept], minlength=count)
