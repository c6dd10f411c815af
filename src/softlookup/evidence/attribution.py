"""Attention of question rows, summed per passage and compared with ordinary questions; no decision here.

Rows: the tokens of the question itself (the template rows after it look at the template). Mean over
rows, sum over the tokens of a passage, per profiled head. The null is the mean over all questions of
the bank on the same document (in-context re-ranking, arXiv 2410.02642, used a single
content-free question; a bank of ordinary questions measured better, most of all for abstaining).
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

    from softlookup.runtime.observe import AttentionCall
    from softlookup.runtime.prefilled import Pack

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PassageMap:
    """Where the passages lie in the prompt: ``passage_of_token`` [T document tokens], -1 for none.

    ``document`` is the token range of the document in the prefix.
    """

    passage_of_token: npt.NDArray[np.int64]
    document: tuple[int, int]
    count: int


class PassageMass:
    """Collects mass [questions, heads, passages] while the model runs; a callback for ``runtime``.

    With ``accumulate`` later calls of a layer add up (the rows of an answer come one at a time).
    """

    def __init__(self, profile: HeadProfile, passages: PassageMap, questions: int, *, accumulate: bool = False) -> None:
        self._profile = profile
        self._accumulate = accumulate
        self._passages = passages
        self.mass: FloatArray = np.zeros((questions, len(profile.heads), passages.count))

    def collect(self, call: AttentionCall, rows: Sequence[tuple[int, slice]]) -> None:
        """Add one layer: ``rows`` pairs a question's index with its query rows."""
        heads = self._profile.in_layer(call.layer)
        if not heads:
            return
        import torch

        from softlookup.attention.rows import grouped_key_mass

        groups = torch.zeros(len(rows), call.query.shape[1])
        for line, (_, part) in enumerate(rows):
            groups[line, part] = 1.0 / (part.stop - part.start)
        chosen = torch.tensor([head for _, head in heads])
        group_size = call.query.shape[0] // call.key.shape[0]
        mass = grouped_key_mass(
            call.query[chosen],
            call.key[chosen // group_size],
            call.visible,
            call.scale,
            groups,
            softcap=call.softcap,
        )
        summed = self._per_passage(mass)
        indices = [index for index, _ in heads]
        for line, (question, _) in enumerate(rows):
            before = self.mass[question, indices] if self._accumulate else 0.0
            self.mass[question, indices] = before + summed[:, line]

    def collect_pack(self, pack: Pack, call: AttentionCall) -> None:
        """Callback of a packed pass; ends it after the last profiled layer."""
        from softlookup.runtime.prefilled import StopForward

        rows = [
            (index, slice(start, start + suffix.question_length))
            for index, suffix, start in zip(pack.indices, pack.suffixes, pack.starts, strict=True)
        ]
        self.collect(call, rows)
        if call.layer >= self._profile.last_layer:
            raise StopForward

    def _per_passage(self, mass: torch.Tensor) -> FloatArray:
        import torch

        start, stop = self._passages.document
        tokens = mass[:, :, start:stop].double()
        owner = torch.from_numpy(self._passages.passage_of_token)
        inside = owner >= 0
        sums = torch.zeros(*tokens.shape[:2], self._passages.count, dtype=torch.float64)
        sums.index_add_(2, owner[inside], tokens[:, :, inside])
        result: FloatArray = sums.numpy()
        return result


def passage_scores(mass: FloatArray, null: FloatArray, weights: Sequence[float]) -> FloatArray:
    """Calibrated score of every passage: [..., passages].

    ``mass`` [..., heads, passages], ``null`` [heads, passages] from :func:`null_mass`. The square root
    tames passages that many rows look at; heads are combined by their weights.
    """
    lifted = np.sqrt(mass) - null
    score: FloatArray = np.einsum("...hp,h->...p", lifted, np.asarray(weights) / np.sum(weights))
    return score


def null_mass(mass: FloatArray) -> FloatArray:
    """Null [heads, passages] from the mass [questions, heads, passages] of the whole question bank."""
    null: FloatArray = np.sqrt(mass).mean(axis=0)
    return null
