"""The decision "evidence or none" by a rank test against off-topic questions; no attention here.

The page's rule (largest weight below 2/T) fires for under one row in a hundred on a real model and
carries no signal: softmax has to put its mass somewhere. What is compared instead is the best passage
score of this question with the best passage scores of questions that the document cannot answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decision:
    """``p_value`` of the best passage and ``passage_p_values`` [passages], family-wise over passages."""

    evidence_score: float
    p_value: float
    passage_p_values: FloatArray
    best: int
    found: bool


def decide(scores: FloatArray, off_topic_maxima: FloatArray, alpha: float) -> Decision:
    """Rank test with the max statistic: p = (1 + #{off-topic maxima >= score}) / (M + 1).

    ``scores`` [passages] of this question, ``off_topic_maxima`` [M]. With M off-topic questions the
    smallest p is 1 / (M + 1), so alpha below that can never find evidence: ``ValueError``.
    P(found) <= alpha for a question exchangeable with the off-topic ones; nothing is promised for a
    near miss (same topic, other party), for the passage, or for the answer.
    """
    smallest = 1.0 / (len(off_topic_maxima) + 1)
    if alpha < smallest:
        raise ValueError(
            f"alpha {alpha} is below the smallest p-value {smallest:.4f} of {len(off_topic_maxima)} questions"
        )
    # "not less", so that NaN on either side counts against evidence
    reached = (~(off_topic_maxima[:, None] < scores[None])).sum(axis=0)
    p_values: FloatArray = (1 + reached) / (len(off_topic_maxima) + 1)
    best = int(scores.argmax())
    p_value = float(p_values[best])
    return Decision(float(scores[best]), p_value, p_values, best, p_value <= alpha)
