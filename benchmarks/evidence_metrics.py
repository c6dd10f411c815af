"""Numbers of the evidence benchmarks: ranks, recall, AUROC, coverage and risk, intervals; no model, no printing.

A row is a dict of one question: ``group`` (what is drawn whole in the bootstrap: a contract, a document, a window),
``answerable``, ``rank`` {method: rank of the right passage from 1, MISSED for none}, ``best`` {method: best score} and
``p`` of the decision.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

MISSED = 999  # rank of a right passage that is not there; lies beyond every k
DRAWS = 400


class Interval(NamedTuple):
    """A value with its 95 % interval; NaN where there is nothing to count."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        if not np.isfinite(self.value):
            return f"{'-':^20}"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


class Curve(NamedTuple):
    """``risk[i]`` is the share of wrong ones among the surest ``coverage[i]`` of all questions."""

    coverage: FloatArray
    risk: FloatArray

    @property
    def area(self) -> float:
        """Mean risk over all coverages, 0 for a method that is never wrong."""
        return float(self.risk.mean()) if len(self.risk) else float("nan")

    def at(self, share: float) -> tuple[float, float]:
        """(coverage, risk) at the smallest coverage of at least ``share``."""
        place = min(int(np.searchsorted(self.coverage, share - 1e-9)), len(self.coverage) - 1)
        return float(self.coverage[place]), float(self.risk[place])


def ranks_of(scores: FloatArray) -> npt.NDArray[np.int64]:
    """Rank [passages] of every passage from 1; equal scores keep document order."""
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks


def best_rank(scores: FloatArray, gold: BoolArray) -> int:
    """Rank of the best right passage from 1; MISSED when no passage is right."""
    return min(MISSED, int(ranks_of(scores)[gold].min())) if gold.any() else MISSED


def standardised(values: FloatArray) -> FloatArray:
    """z-scores over one document; zeros when all are equal."""
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 0 else np.zeros_like(values)


def mean(values: Sequence[float] | Sequence[bool]) -> float:
    """The mean, NaN of nothing."""
    return float(np.mean(values)) if len(values) else float("nan")


def recall(rows: Sequence[dict], method: str, k: int) -> float:
    """Share of answerable questions whose right passage is among the first k."""
    return mean([row["rank"][method] <= k for row in rows if row["answerable"]])


def mean_reciprocal_rank(rows: Sequence[dict], method: str) -> float:
    """Mean of 1 / rank over answerable questions, 0 where no passage was right."""
    ranks = [row["rank"][method] for row in rows if row["answerable"]]
    return mean([0.0 if rank >= MISSED else 1 / rank for rank in ranks])


def auroc(yes: Sequence[float], no: Sequence[float]) -> float:
    """P(one of ``yes`` > one of ``no``), ties half; NaN without both."""
    if not len(yes) or not len(no):
        return float("nan")
    above, below = np.asarray(yes)[:, None], np.asarray(no)[None]
    return float((above > below).mean() + 0.5 * (above == below).mean())


def answerable_auroc(rows: Sequence[dict], method: str, kind: str | None = None) -> float:
    """AUROC of the best score, answerable against unanswerable questions (those of ``kind`` only, if given)."""
    no = [row for row in rows if not row["answerable"] and kind in (None, row.get("kind"))]
    return auroc([row["best"][method] for row in rows if row["answerable"]], [row["best"][method] for row in no])


def claimed(rows: Sequence[dict], alpha: float) -> float:
    """Share of rows for which evidence is claimed at ``alpha``."""
    return mean([row["p"] <= alpha for row in rows])


def wrongly_abstained(rows: Sequence[dict], alpha: float) -> float:
    """Share of answerable questions without a claim of evidence."""
    return mean([row["p"] > alpha for row in rows if row["answerable"]])


def wrongly_answered(rows: Sequence[dict], alpha: float) -> float:
    """Share of unanswerable questions with a claim of evidence."""
    return mean([row["p"] <= alpha for row in rows if not row["answerable"]])


def alpha_refused(alpha: float, off_topic: int) -> str:
    """Why a bank of ``off_topic`` questions cannot decide at ``alpha``; "" when it can."""
    smallest = 1 / (off_topic + 1)
    if alpha >= smallest:
        return ""
    return f"a bank of {off_topic} off-topic questions gives no p-value below {smallest:.3f}"


def coverage_risk(confidence: Sequence[float], correct: Sequence[bool]) -> Curve:
    """Answer the surest questions first; equally sure ones share their errors evenly, so their order is no matter."""
    sure, wrong = np.asarray(confidence, dtype=float), ~np.asarray(correct, dtype=bool)
    order = np.argsort(-sure, kind="stable")
    sure, wrong = sure[order], wrong[order]
    block = np.cumsum(np.concatenate([[0], np.diff(sure) != 0])) if len(sure) else np.zeros(0, dtype=int)
    shared = (np.bincount(block, weights=wrong) / np.maximum(1, np.bincount(block)))[block]
    count = np.arange(1, len(sure) + 1)
    return Curve(count / max(1, len(sure)), np.cumsum(shared) / count)


def answer_curve(rows: Sequence[dict], by: str, first: str = "fused") -> Curve:
    """Coverage and risk over all rows, the surest by ``p`` or by the ``score`` of the evidence.

    An answered question is wrong when it is unanswerable or when ``first`` ranks no right passage first.
    """
    sure = [-row["p"] if by == "p" else row["best"]["attention"] for row in rows]
    return coverage_risk(sure, [row["answerable"] and row["rank"][first] == 1 for row in rows])


def interval(rows: Sequence[dict], statistic: Callable[[Sequence[dict]], float], *, draws: int = DRAWS) -> Interval:
    """Value and 95 % bootstrap interval; whole groups are drawn, since questions of one group are not independent."""
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    value = statistic(rows) if rows else float("nan")
    if not np.isfinite(value):
        return Interval(float("nan"), float("nan"), float("nan"))
    members, random = list(groups.values()), np.random.default_rng(0)
    drawn = [
        statistic([row for place in random.integers(len(members), size=len(members)) for row in members[place]])
        for _ in range(draws)
    ]
    finite = [number for number in drawn if np.isfinite(number)]
    low, high = np.quantile(finite, (0.025, 0.975)) if finite else (float("nan"), float("nan"))
    return Interval(value, float(low), float(high))


def crossed_interval(rows: Sequence[dict], alpha: float, *, draws: int = DRAWS) -> Interval:
    """Share claimed at ``alpha`` with an interval for new groups *and* new questions (rows with ``question``).

    The same questions are asked of every group, and one that sounds like a contract is claimed on many of them: groups
    alone would give an interval for these very questions. Both are drawn anew.
    """
    groups, questions = (sorted({row[key] for row in rows}) for key in ("group", "question"))
    table = np.full((len(groups), len(questions)), np.nan)
    for row in rows:
        table[groups.index(row["group"]), questions.index(row["question"])] = row["p"] <= alpha
    random = np.random.default_rng(0)
    drawn = [
        float(
            np.nanmean(
                table[random.integers(len(groups), size=len(groups))][
                    :, random.integers(len(questions), size=len(questions))
                ]
            )
        )
        for _ in range(draws)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(float(np.nanmean(table)), float(low), float(high))


def wilson(count: int, total: int) -> Interval:
    """Share and 95 % Wilson interval of ``count`` in ``total`` independent cases."""
    if not total:
        return Interval(float("nan"), float("nan"), float("nan"))
    z, share = 1.959964, count / total
    scale = 1 + z * z / total
    centre = (share + z * z / (2 * total)) / scale
    reach = z * float(np.sqrt(share * (1 - share) / total + z * z / (4 * total * total))) / scale
    return Interval(share, max(0.0, centre - reach), min(1.0, centre + reach))


def company(file: str) -> str:
    """The company of a contract: its file name up to the first "_" or digit, in lower case.

    Digits that begin the name belong to it: else all such names would be one company, "".
    """
    found = re.match(r"\d*[^_\d]*", file)
    return found.group().lower() if found else ""


def halves(order: Sequence[str], seen: frozenset[str] = frozenset()) -> tuple[list[str], list[str], list[str]]:
    """(fit half, report half, dropped) of files in shuffled order.

    Even places are the fit half, odd ones the report half, without those whose company occurs in the fit half or in
    ``seen``: two contracts of one company often share their wording.
    """
    fit = list(order[0::2])
    known = {company(file) for file in fit} | seen
    report = [file for file in order[1::2] if company(file) not in known]
    return fit, report, [file for file in order[1::2] if company(file) in known]
