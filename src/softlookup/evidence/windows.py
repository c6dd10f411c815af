"""Attention evidence on a document that is longer than the model's window: read in overlapping windows, one scale.

Every window is read up to the last evidence layer, with its own null; what each head says is divided by the spread of
what it says of the bank's questions there, since a window of similar clauses spreads less than one of different ones.
A passage in two windows gets the mean of both. Off-topic questions are scored in the same way, so that the rank test
holds for the document as a whole. Answers nothing: the context that an answer comes from is chosen by ``retrieval``
with these scores.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.documents.language import Language, language_of
from softlookup.documents.model import Document
from softlookup.evidence.abstention import decide
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.reading import Calibration, QuestionEvidence, Reading
from softlookup.retrieval.chunks import Chunk
from softlookup.retrieval.context import span_context
from softlookup.retrieval.windows import Window
from softlookup.runtime.progress import Progress, no_progress

if TYPE_CHECKING:
    from softlookup.runtime.load import LoadedModel
    from softlookup.runtime.prefix_store import PrefixStore
    from softlookup.runtime.prompt import PromptTemplate

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class WindowReader:
    """How windows are read. ``store`` keeps what was read on disk, ``cached`` the bank's numbers.

    ``spend`` counts the seconds since a time of ``time.perf_counter`` for a phase.
    """

    loaded: LoadedModel
    template: PromptTemplate
    profile: HeadProfile
    store: PrefixStore | None = None
    cached: bool = False
    progress: Progress = no_progress
    spend: Callable[[str, float], None] = lambda _phase, _start: None


class DocumentWindows:
    """The windows of one document. ``chunks`` are the passages that may be evidence, in document order."""

    def __init__(
        self, document: Document, chunks: Sequence[Chunk], windows: Sequence[Window], reader: WindowReader
    ) -> None:
        self.chunks = tuple(chunks)
        self.windows = tuple(windows)
        self._document = document
        self._reader = reader
        self._place = {chunk.index: place for place, chunk in enumerate(chunks)}
        self._calibrations: list[dict[tuple[Language, int], Calibration]] = [{} for _ in windows]

    def evidence(self, questions: Sequence[str], *, alpha: float) -> list[QuestionEvidence]:
        """Scores and decision of every question on all passages; every window is read once for all of them."""
        languages = {language: question_bank(language, alpha) for language in map(language_of, questions)}
        asked = _Means(len(questions), len(self.chunks))
        off_topic = {name: _Means(len(bank.compared), len(self.chunks)) for name, bank in languages.items()}
        for number in range(len(self.windows)):
            reading = self._read(number)
            places = [self._place[chunk.index] for chunk in reading.chunks]
            if not places:  # a table of contents and nothing else
                continue
            start = time.perf_counter()
            known = {name: reading.calibration(name, self._progress(number), alpha=alpha) for name in languages}
            for name, calibration in known.items():
                off_topic[name].add(places, calibration.off_topic)
            self._reader.spend("calibrate", start)
            start = time.perf_counter()
            rows = zip(questions, reading.mass(questions), strict=True)
            weights = reading.profile.weights
            asked.add(places, np.stack([known[language_of(asks)].scores(mass, weights) for asks, mass in rows]))
            self._reader.spend("question", start)
        maxima = {name: means.result().max(axis=1) for name, means in off_topic.items()}
        return [
            QuestionEvidence(self.chunks, row, decide(row, maxima[language_of(question)], alpha))
            for question, row in zip(questions, asked.result(), strict=True)
        ]

    def _read(self, number: int) -> Reading:
        from softlookup.runtime.prefilled import prefill

        reader, start = self._reader, time.perf_counter()
        context = span_context(self._document, self.windows[number].span)
        prefilled = prefill(
            reader.loaded,
            reader.template,
            context.text,
            last_layer=reader.profile.last_layer,
            store=reader.store,
            progress=self._progress(number),
        )
        reader.spend("prefill", start)
        return Reading(
            prefilled,
            context,
            self.chunks,
            reader.profile,
            cached=reader.cached,
            calibrations=self._calibrations[number],
            one_scale=True,
        )

    def _progress(self, number: int) -> Progress:
        count, report = len(self.windows), self._reader.progress

        def progress(phase: str, fraction: float) -> None:
            report(phase, (number + fraction) / count)

        return progress


class _Means:
    """Mean [rows, passages] over the windows that hold a passage; what no window holds is below everything."""

    def __init__(self, rows: int, passages: int) -> None:
        self._sum = np.zeros((rows, passages))
        self._count = np.zeros(passages)

    def add(self, places: Sequence[int], scores: FloatArray) -> None:
        self._sum[:, places] += scores
        self._count[places] += 1

    def result(self) -> FloatArray:
        means: FloatArray = self._sum / np.maximum(1, self._count)
        return np.where(self._count > 0, means, means.min(initial=0.0))
