"""Numbers of rungs 2 to 5: evidence of the expected place, where the answer's rows look, what masking it changes.

Row convention: the row that predicts a token is the one before it, so the rows of an answer begin with the last row
of the question's template. Masking reuses the prefix, whose later tokens have read the place: it is the direct path.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from softlookup.diagnostics.case import Case
from softlookup.documents.language import language_of
from softlookup.evidence.abstention import Decision, decide
from softlookup.evidence.attribution import FloatArray, PassageMass, passage_scores
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime.attention_calls import AttentionCall

if TYPE_CHECKING:
    from softlookup.evidence.reading import Calibration

# off-topic questions whose own answers give the null of answer rows and of the drop
NULL_ANSWERS = 8
NULL_ANSWER_TOKENS = 8
_MOST_ANSWER_TOKENS = 200
# of the drops of off-topic answers: a drop beyond it is one
_QUANTILE = 0.95


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Rows that predict an answer: tempered mass [heads, passages], mean log-prob, and its drop by masking."""

    mass: FloatArray
    logprob: float
    drop: float


class Measures:
    """Lazily measured numbers of one case and one answer."""

    def __init__(self, case: Case, answer: str | None, alpha: float, max_new_tokens: int) -> None:
        self.case = case
        self.alpha = alpha
        self._given = answer
        self._most = max_new_tokens

    @property
    def _calibration(self) -> Calibration:
        return self.case.reading.calibration(language_of(self.case.question), alpha=self.alpha)

    @cached_property
    def scores(self) -> FloatArray:
        """Calibrated evidence [passages] of the question."""
        reading = self.case.reading
        mass = reading.mass([self.case.question])[0]
        return self._calibration.scores(mass, reading.profile.weights)

    @cached_property
    def decision(self) -> Decision:
        """The decision that ``softlookup ask`` would take."""
        return decide(self.scores, self._calibration.off_topic_maxima, self.alpha)

    @cached_property
    def place_p_value(self) -> float:
        """p_g: rank of the place named beforehand among the off-topic questions' scores of the same place."""
        off_topic = self._calibration.off_topic
        passages = list(self.case.passages)
        best = float(self.scores[passages].max())
        reached = int((~(off_topic[:, passages].max(axis=1) < best)).sum())
        return (1 + reached) / (len(off_topic) + 1)

    @cached_property
    def answer_ids(self) -> tuple[int, ...]:
        """Tokens of the answer: the given one, else the model's own greedy one, whatever the evidence."""
        if self._given is not None:
            return tuple(self.case.template.plain_ids(self._given.strip()))[:_MOST_ANSWER_TOKENS]
        return self._own.ids

    @cached_property
    def answer(self) -> str:
        """The answer's text."""
        return self._given.strip() if self._given is not None else self._own.text

    @cached_property
    def _own(self) -> _Greedy:
        decoded = self.case.reading.prefilled.answer(self.case.suffix, max_new_tokens=self._most)
        return _Greedy(decoded.ids, decoded.text)

    @cached_property
    def rows(self) -> AnswerRows:
        """The rows of the answer."""
        return self._answer_rows(self.case.question, self.answer_ids)

    @cached_property
    def null_rows(self) -> tuple[AnswerRows, ...]:
        """The rows of the model's short answers to some off-topic questions, on the same document."""
        bank = question_bank(language_of(self.case.question)).off_topic
        step = max(1, len(bank) // NULL_ANSWERS)
        found = []
        for question in bank[::step][:NULL_ANSWERS]:
            suffix = self.case.template.suffix(question)
            decoded = self.case.reading.prefilled.answer(suffix, max_new_tokens=NULL_ANSWER_TOKENS)
            if decoded.ids:
                found.append(self._answer_rows(question, decoded.ids))
        return tuple(found)

    @cached_property
    def answer_scores(self) -> FloatArray:
        """Evidence [passages] of the answer's rows, less the mean of the off-topic answers' rows."""
        reading = self.case.reading
        if not self.null_rows:
            return np.zeros(len(reading.chunks))
        null = np.mean([rows.mass for rows in self.null_rows], axis=0)
        return passage_scores(self.rows.mass, null, reading.profile.weights)

    @cached_property
    def drop_threshold(self) -> float:
        """tau: the 95th percentile of the change by masking over off-topic answers."""
        return float(np.quantile([abs(rows.drop) for rows in self.null_rows], _QUANTILE)) if self.null_rows else 0.0

    @cached_property
    def _hidden(self) -> list[int]:
        """Columns of the passages of the place: beside a masked quote the rest of its clause would still tell."""
        if self.case.place is None:
            return []
        passages = self.case.reading.passage_map
        inside = np.flatnonzero(np.isin(passages.passage_of_token, self.case.passages))
        return [int(column) for column in inside + passages.document[0]]

    def _answer_rows(self, question: str, ids: tuple[int, ...]) -> AnswerRows:
        reading, suffix = self.case.reading, self.case.template.suffix(question)
        collector = PassageMass(reading.profile, reading.passage_map, 1)
        rows = slice(len(suffix) - 1, len(suffix) - 1 + len(ids))

        def look(call: AttentionCall) -> None:
            collector.collect(call, [(0, rows)])

        logprob = float(reading.prefilled.logprobs(suffix, ids, callback=look).mean())
        hidden = self._hidden
        masked = float(reading.prefilled.logprobs(suffix, ids, hidden=hidden).mean()) if hidden else logprob
        return AnswerRows(collector.mass[0], logprob, logprob - masked)


@dataclass(frozen=True, slots=True)
class _Greedy:
    ids: tuple[int, ...]
    text: str
