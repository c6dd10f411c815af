"""The hybrid strategy: evidence from all windows of a document, and the context that an answer is made from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.evidence.citation import fused_scores
from softlookup.retrieval.chunks import without_contents
from softlookup.retrieval.context import Context, select_context
from softlookup.retrieval.windows import document_windows

if TYPE_CHECKING:
    from softlookup.evidence.reading import QuestionEvidence
    from softlookup.evidence.windows import DocumentWindows
    from softlookup.runtime.prefix_store import PrefixStore
    from softlookup.session.readings import Readings


class HybridReadings:
    """Windows of one document; what they say of a question is kept, so that it is not read twice."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings
        self._known: dict[str, QuestionEvidence] = {}
        self._store: PrefixStore | None = None

    @property
    def kept_bytes(self) -> int:
        """Bytes of what the model read that this object has put on disk."""
        return 0 if self._store is None else self._store.kept_bytes

    @property
    def found_on_disk(self) -> bool:
        """Whether a window was there from an earlier run."""
        return self._store is not None and self._store.found > 0

    @cached_property
    def windows(self) -> DocumentWindows:
        """The windows; nothing is read yet but the model."""
        from softlookup.evidence.windows import DocumentWindows, WindowReader
        from softlookup.runtime.prefix_store import PrefixStore

        readings, session = self._readings, self._readings.session
        profile = readings.profile()
        cached = session.options.cache
        self._store = PrefixStore() if cached else None

        def heard(phase: str, fraction: float) -> None:  # by whoever listens then, not when the windows were made
            session.progress(phase, fraction)

        return DocumentWindows(
            readings.document,
            without_contents(readings.document, readings.chunks),
            document_windows(
                readings.document,
                readings.chunks,
                count_tokens=session.count_tokens,
                window_tokens=readings.strategy.window_tokens,
            ),
            WindowReader(
                session.loaded,
                session.template,
                profile,
                store=self._store,
                cached=cached,
                progress=heard,
                spend=readings.spend,
            ),
        )

    def evidence(self, questions: Sequence[str]) -> list[QuestionEvidence]:
        """Evidence of every question on the whole document; the windows are read once for those that are new."""
        new = [question for question in dict.fromkeys(questions) if question not in self._known]
        if new:
            found = self.windows.evidence(new, alpha=self._readings.session.options.alpha)
            self._known.update(zip(new, found, strict=True))
        return [self._known[question] for question in questions]

    def order(self, question: str) -> npt.NDArray[np.float64]:
        """Scores [all passages of the document], positive, in the order in which clauses enter the context."""
        readings = self._readings
        (evidence,) = self.evidence([question])
        places = [chunk.index for chunk in evidence.chunks]
        fused = fused_scores(evidence.scores, readings.search.scores(question).of(places))
        result = np.zeros(len(readings.chunks))
        result[places] = fused - fused.min() + 1.0
        return result

    def context(self, question: str) -> Context:
        """The best clauses for ``question`` with what they need, in document order."""
        readings = self._readings
        return select_context(
            readings.document,
            readings.chunks,
            [self.order(question)],
            count_tokens=readings.session.count_tokens,
            max_context_tokens=readings.strategy.context_tokens,
            ranked_by="attention",
        )
