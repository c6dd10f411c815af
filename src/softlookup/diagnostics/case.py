"""What the rungs of a diagnosis work on: the document, what was fed, the question, the expected place; no tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.diagnostics.place import Place
from softlookup.documents.model import Document, Span
from softlookup.evidence.reading import document_offsets
from softlookup.retrieval.context import Context

if TYPE_CHECKING:
    from softlookup.evidence.reading import Reading
    from softlookup.runtime.load import LoadedModel
    from softlookup.runtime.prompt import Prefix, PromptTemplate, Suffix


# a longer clause is compared by its passages
_WHOLE_CLAUSE = 1500


@dataclass(frozen=True, slots=True)
class Fed:
    """How the text came to the model: ``context``, whether clauses were chosen (``retrieved``), and token counts.

    ``rank`` of the expected place by the words of the question, from 1; None where there is no order.
    """

    context: Context
    retrieved: bool
    document_tokens: int
    context_tokens: int
    rank: int | None = None


class Case:
    """One question to diagnose. The model reads nothing before ``reading`` is asked for."""

    def __init__(
        self,
        document: Document,
        fed: Fed,
        question: str,
        place: Place | None,
        *,
        loaded: LoadedModel,
        template: PromptTemplate,
        open_reading: Callable[[], Reading],
    ) -> None:
        self.document = document
        self.fed = fed
        self.question = question
        self.place = place
        self.loaded = loaded
        self.template = template
        self._open_reading = open_reading

    @cached_property
    def prefix(self) -> Prefix:
        """Tokens of the prompt before the question, without running the model."""
        return self.template.prefix(self.fed.context.text)

    @cached_property
    def suffix(self) -> Suffix:
        """Tokens of the question."""
        return self.template.suffix(self.question)

    @cached_property
    def reading(self) -> Reading:
        """What was fed, read by the model."""
        return self._open_reading()

    @property
    def span(self) -> Span:
        """The expected place in the document; there must be one."""
        if self.place is None or self.place.span is None:
            raise ValueError("this case has no place in the text")
        return self.place.span

    @cached_property
    def place_columns(self) -> npt.NDArray[np.int64]:
        """Columns of the prompt whose token has its middle in the expected place."""
        offsets = self.prefix.offsets
        middles = np.minimum((offsets[:, 0] + offsets[:, 1]) // 2, np.maximum(offsets[:, 1] - 1, offsets[:, 0]))
        places = document_offsets(self.fed.context, middles)
        inside = np.flatnonzero((places >= self.span.start) & (places < self.span.end))
        columns: npt.NDArray[np.int64] = inside + self.prefix.document[0]
        return columns

    @cached_property
    def passages(self) -> tuple[int, ...]:
        """Passages of the reading that overlap the expected place; of a quote, those that hold most of it."""
        overlaps = [chunk.span.overlap(self.span) for chunk in self.reading.chunks]
        return tuple(i for i, overlap in enumerate(overlaps) if overlap >= max(1, 0.1 * min(len(self.span), 200)))

    @cached_property
    def place_text(self) -> str:
        """What an answer is compared with: the named clause, or the clause (else the passages) around a quote."""
        text = self.document.text
        if self.place is None or not self.place.is_quote:
            return text[self.span.start : self.span.end]
        around = self.document.clause_at(self.span.start).span if self.document.clauses else self.span
        if around.overlap(self.span) == len(self.span) and len(around) <= _WHOLE_CLAUSE:
            return text[around.start : around.end]
        spans = [self.reading.chunks[i].span for i in self.passages]
        return "\n".join(text[span.start : span.end] for span in (*spans, self.span))
