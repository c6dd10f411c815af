"""Attention of question rows, summed per passage and compared with other questions; no decision here.

Rows: the tokens of the question's content words (the template rows after it look at the template, those of
grammar at anything, see ``question_rows.py``). Per profiled
head and row the mass is summed over the tokens of a passage and tempered (square root), then averaged over
the rows: a passage that many words of the question look at beats one that a single word stares at.
The null is the mean of the same over all questions of the bank on the same document. (In-context
re-ranking, arXiv 2410.02642, used a single content-free question; a bank of ordinary questions measured
better, most of all for abstaining.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from softlookup.evidence.profile import HeadProfile

if TYPE_CHECKING:
    import torch

    from softlookup.runtime.attention_calls import AttentionCall
    from softlookup.runtime.prefilled import Pack

FloatArray = npt.NDArray[np.float64]
Rows = slice | list[int]

# power of the mass of one row in one passage, chosen on the fit half of `benchmarks/evidence.py`
TEMPER = 0.5


@dataclass(frozen=True, slots=True)
class PassageMap:
    """Where the passages lie in the prompt: ``passage_of_token`` [T document tokens], -1 for none.

    ``document`` is the token range of the document in the prefix.
    """

    passage_of_token: npt.NDArray[np.int64]
    document: tuple[int, int]
    count: int


class PassageMass:
    """Collects tempered mass [questions, heads, passages] while the model runs; a callback for ``runtime``.

    ``rows`` are those of each question that count in :meth:`collect_pack`, from its first token; None: all of them.
    With ``accumulate`` later calls of a layer add up (the rows of an answer come one at a time).
    """

    def __init__(
        self,
        profile: HeadProfile,
        passages: PassageMap,
        questions: int,
        *,
        rows: Sequence[Sequence[int]] | None = None,
        accumulate: bool = False,
    ) -> None:
        self._profile = profile
        self._rows = rows
        self._accumulate = accumulate
        self._passages = passages
        self._membership: torch.Tensor | None = None
        self.mass: FloatArray = np.zeros((questions, len(profile.heads), passages.count))

    def collect(self, call: AttentionCall, rows: Sequence[tuple[int, Rows]]) -> None:
        """Add one layer: ``rows`` pairs a question's index with its query rows."""
        heads = self._profile.in_layer(call.layer)
        if not heads:
            return
        import torch

        from softlookup.attention.rows import row_weights

        group_size = call.query.shape[0] // call.key.shape[0]
        # one key/value head at a time: choosing several would copy their keys, most of the work for a single row
        for kv_head in sorted({head // group_size for _, head in heads}):
            members = [(index, head) for index, head in heads if head // group_size == kv_head]
            indices = [index for index, _ in members]
            chosen = torch.tensor([head for _, head in members])
            query, sinks = call.query[chosen], None if call.sinks is None else call.sinks[chosen]
            key = call.key[kv_head : kv_head + 1]
            for question, part in rows:
                visible = None if call.visible is None else call.visible[part]
                weights = row_weights(query[:, part], key, visible, call.scale, call.softcap, sinks)
                mass = self._per_passage(weights)
                before = self.mass[question, indices] if self._accumulate else 0.0
                self.mass[question, indices] = before + (mass**TEMPER).mean(axis=1)

    def collect_pack(self, pack: Pack, call: AttentionCall) -> None:
        """Callback of a packed pass; ends it after the last profiled layer."""
        from softlookup.runtime.prefilled import StopForward

        rows: list[tuple[int, Rows]] = []
        for index, suffix, start in zip(pack.indices, pack.suffixes, pack.starts, strict=True):
            own = range(suffix.question_length) if self._rows is None else self._rows[index]
            rows.append((index, [start + row for row in own]))
        self.collect(call, rows)
        if call.layer >= self._profile.last_layer:
            raise StopForward

    def _per_passage(self, weights: torch.Tensor) -> FloatArray:
        """[heads, rows, passages] from weights [heads, rows, keys]; rounding may leave -0.0, never less."""
        import torch

        start, stop = self._passages.document
        if self._membership is None:
            owner = torch.from_numpy(self._passages.passage_of_token)
            self._membership = torch.zeros(stop - start, self._passages.count)
            inside = torch.nonzero(owner >= 0).squeeze(1)
            self._membership[inside, owner[inside]] = 1.0
        result: FloatArray = (weights[:, :, start:stop] @ self._membership).double().numpy()
        return result


def passage_scores(mass: FloatArray, null: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Calibrated score of every passage: [..., passages].

    ``mass`` [..., heads, passages] tempered, ``null`` [heads, passages] from :func:`null_mass`; heads are
    combined by their weights.
    """
    score: FloatArray = np.einsum("...hp,h->...p", mass - null, np.asarray(weights) / np.sum(weights))
    return score


def head_spread(mass: FloatArray) -> FloatArray:
    """Standard deviation [heads] of the bank's calibrated mass over its questions and passages; 1 where it is 0.

    Divides the mass of a head where contexts are compared: one of similar clauses spreads less than another.
    """
    spread: FloatArray = (mass - mass.mean(axis=0)).std(axis=(0, 2))
    return np.where(spread > 0, spread, 1.0)


def null_mass(mass: FloatArray) -> FloatArray:
    """Null [heads, passages] from the mass [questions, heads, passages] of the whole question bank."""
    null: FloatArray = mass.mean(axis=0)
    return null
