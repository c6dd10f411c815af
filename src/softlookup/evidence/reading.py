"""One context that the model has read, with its calibration: scores any question on it; prints nothing.

The bank of null and off-topic questions runs once per language, packed, on the prefix that all
questions share; each question then costs its own rows only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.documents.language import Language, language_of
from softlookup.documents.model import Span
from softlookup.evidence.abstention import Decision, decide
from softlookup.evidence.attribution import PassageMap, PassageMass, head_spread, null_mass, passage_scores
from softlookup.evidence.calibration_store import calibration_key, find_calibration, keep_calibration
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.profile_store import find_profile
from softlookup.evidence.question_bank import QuestionBank, question_bank
from softlookup.evidence.question_rows import content_rows
from softlookup.retrieval.chunks import Chunk
from softlookup.retrieval.context import SEPARATOR, Context
from softlookup.runtime.progress import Progress, no_progress

if TYPE_CHECKING:
    from softlookup.runtime.attention_calls import AttentionCall
    from softlookup.runtime.prefilled import Decoded, Prefilled

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Calibration:
    """Null [heads, passages] and the scores [M, passages] of the off-topic questions, on one context.

    ``spread`` [heads] divides what a head says where scores of several contexts are compared; ones otherwise.
    """

    null: FloatArray
    off_topic: FloatArray
    spread: FloatArray

    def scores(self, mass: FloatArray, weights: Sequence[float]) -> FloatArray:
        """Calibrated scores [..., passages] of the mass [..., heads, passages]; ``weights`` of the heads."""
        spread = self.spread[:, None]
        return passage_scores(mass / spread, self.null / spread, weights)

    @property
    def off_topic_maxima(self) -> FloatArray:
        """Best score [M] of every off-topic question."""
        maxima: FloatArray = self.off_topic.max(axis=-1)
        return maxima


@dataclass(frozen=True, slots=True)
class QuestionEvidence:
    """Attention evidence of one question: ``scores`` of the passages ``chunks``, and the decision.

    ``answer_span`` is the passage that the rows of the answer single out beyond every off-topic
    question (p <= alpha), None when there is none: where it is not a cited one, question and answer
    point to different clauses.
    """

    chunks: tuple[Chunk, ...]
    scores: FloatArray
    decision: Decision
    answer_span: Span | None = None


class Reading:
    """A prefilled context. ``chunks`` are the passages that the model read, in document order.

    With ``cached`` calibrations are looked up on disk, and kept there (``calibration_store``). ``calibrations`` are
    those of an earlier reading of the same context; new ones are added to them. ``one_scale``: scores can be compared
    with those of other contexts.
    """

    def __init__(
        self,
        prefilled: Prefilled,
        context: Context,
        chunks: Sequence[Chunk],
        profile: HeadProfile | None = None,
        *,
        cached: bool = False,
        calibrations: dict[tuple[Language, int], Calibration] | None = None,
        one_scale: bool = False,
    ) -> None:
        self.prefilled = prefilled
        self.context = context
        self.chunks, self._map = _passage_map(prefilled, context, chunks)
        self.profile = profile or find_profile(prefilled.loaded, prefilled.template)
        self._cached = cached
        self.one_scale = one_scale
        self._calibrations = {} if calibrations is None else calibrations

    @property
    def passage_map(self) -> PassageMap:
        """Which passage every document token belongs to."""
        return self._map

    def calibration(
        self, language: Language, progress: Progress | None = None, *, alpha: float | None = None
    ) -> Calibration:
        """Run the bank of ``language`` that ``alpha`` needs, once; later calls return the same object."""
        bank = question_bank(language, alpha)
        place = (language, len(bank.compared))
        if place not in self._calibrations:
            self._calibrations[place] = self._kept(bank, progress) if self._cached else self._run_bank(bank, progress)
        return self._calibrations[place]

    def _kept(self, bank: QuestionBank, progress: Progress | None) -> Calibration:
        """The calibration on disk, else a new one, which is kept."""
        key = calibration_key(self, bank)
        passages = len(self.chunks)
        known = find_calibration(key, (len(self.profile.heads), passages), (len(bank.compared), passages))
        if known is not None:
            return Calibration(*known)
        result = self._run_bank(bank, progress)
        keep_calibration(key, result.null, result.off_topic, result.spread)
        return result

    def _run_bank(self, bank: QuestionBank, progress: Progress | None) -> Calibration:
        if bank.further:
            first, then = (partial(_half, progress or no_progress, begin) for begin in (0.0, 0.5))
            standard = self.calibration(bank.language, first)
            mass = self.mass(bank.further, then)
            # like the user's question these are no part of the null: no factor
            further = standard.scores(mass, self.profile.weights)
            return replace(standard, off_topic=np.concatenate([standard.off_topic, further]))
        mass = self.mass(bank.questions, progress)
        spread = head_spread(mass) if self.one_scale else np.ones(len(self.profile.heads))
        result = Calibration(null_mass(mass), np.empty((0, mass.shape[-1])), spread)
        off_topic = result.scores(mass[len(bank.ordinary) :], self.profile.weights)
        # each bank question is part of the null; leaving it out of its own null multiplies what is left
        # by N / (N - 1), and makes it comparable with the user's question, which is not part of it
        return replace(result, off_topic=off_topic * (len(mass) / (len(mass) - 1)))

    def mass(self, questions: Sequence[str], progress: Progress | None = None) -> FloatArray:
        """Tempered attention mass [questions, heads, passages], uncalibrated, of many questions in packed passes."""
        suffixes = [self.prefilled.template.question_only(question) for question in questions]
        rows = [self.rows(question) for question in questions]
        collector = PassageMass(self.profile, self.passage_map, len(suffixes), rows=rows)
        self.prefilled.observe_packed(suffixes, collector.collect_pack, progress or no_progress)
        return collector.mass

    def rows(self, question: str) -> list[int]:
        """The rows of a question that are read as evidence: those of its content words, from its first token."""
        return list(content_rows(question, self.prefilled.template.question_offsets(question)))

    def ask(
        self,
        question: str,
        *,
        alpha: float,
        max_new_tokens: int,
        monitor: Callable[[AttentionCall], None] | None = None,
        on_token: Callable[[Sequence[int]], None] | None = None,
        decided: bool = False,
    ) -> tuple[QuestionEvidence, Decoded]:
        """Read ``question``, score its evidence, and decode an answer if there is any, in one pass.

        ``monitor`` sees every layer of the question's rows. ``decided``: evidence was found elsewhere, an answer is
        decoded in any case.
        """
        calibration = self.calibration(language_of(question), alpha=alpha)
        suffix = self.prefilled.template.suffix(question)
        collector = PassageMass(self.profile, self.passage_map, 1)
        rows = [(0, self.rows(question))]

        def callback(call: AttentionCall) -> None:
            collector.collect(call, rows)
            if monitor is not None:
                monitor(call)

        @cache  # asked for once the question's rows are in: before the answer, and for the result
        def scored() -> tuple[FloatArray, Decision]:
            scores = calibration.scores(collector.mass[0], self.profile.weights)
            return scores, decide(scores, calibration.off_topic_maxima, alpha)

        answer_rows = PassageMass(self.profile, self.passage_map, 1, accumulate=True)
        decoded = self.prefilled.answer(
            suffix,
            max_new_tokens=max_new_tokens,
            callback=callback,
            answer_callback=lambda call: answer_rows.collect(call, [(0, slice(0, 1))]),
            wanted=lambda: decided or scored()[1].found,
            on_token=on_token,
        )
        scores, decision = scored()
        answer_span = None
        if decoded.ids:
            mass = answer_rows.mass[0] / len(decoded.ids)
            at_answer = decide(
                calibration.scores(mass, self.profile.weights),
                calibration.off_topic_maxima,
                alpha,
            )
            answer_span = self.chunks[at_answer.best].span if at_answer.found else None
        return QuestionEvidence(self.chunks, scores, decision, answer_span), decoded


def _passage_map(
    prefilled: Prefilled, context: Context, chunks: Sequence[Chunk]
) -> tuple[tuple[Chunk, ...], PassageMap]:
    """Chunks that were fed (at least half of each), and the chunk of every document token."""
    starts = prefilled.prefix.offsets[:, 0]
    ends = prefilled.prefix.offsets[:, 1]
    # a token like " Agreement" starts at the blank before the word: its middle names its passage
    middles = np.minimum((starts + ends) // 2, np.maximum(ends - 1, starts))
    in_document = document_offsets(context, middles)
    fed = tuple(chunk for chunk in chunks if _fed_share(chunk.span, context.spans) >= 0.5)
    if not fed:
        return (), PassageMap(np.full(len(starts), -1), prefilled.prefix.document, 0)
    begins = np.array([chunk.span.start for chunk in fed])
    stops = np.array([chunk.span.end for chunk in fed])
    place = np.searchsorted(begins, in_document, side="right") - 1
    inside = (place >= 0) & (in_document < stops[place])
    owner = np.where(inside, place, -1).astype(np.int64)
    return fed, PassageMap(owner, prefilled.prefix.document, len(fed))


def document_offsets(context: Context, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Document offset of each offset into the context's text, -1 inside separators."""
    result = np.full(len(offsets), -1, dtype=np.int64)
    position = 0
    for span in context.spans:
        inside = (offsets >= position) & (offsets < position + len(span))
        result[inside] = offsets[inside] - position + span.start
        position += len(span) + len(SEPARATOR)
    return result


def _half(progress: Progress, begin: float, phase: str, fraction: float) -> None:
    """Report one of two runs as the half of the whole that starts at ``begin``."""
    progress(phase, begin + fraction / 2)


def _fed_share(span: Span, spans: Sequence[Span]) -> float:
    return sum(span.overlap(other) for other in spans) / max(1, len(span))
