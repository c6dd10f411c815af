"""Tables of the evidence benchmarks, printed; the numbers are ``evidence_metrics``'."""

from __future__ import annotations

from collections.abc import Sequence

from evidence_methods import METHODS
from evidence_metrics import (
    alpha_refused,
    answer_curve,
    answerable_auroc,
    claimed,
    crossed_interval,
    interval,
    mean_reciprocal_rank,
    recall,
    wilson,
    wrongly_abstained,
    wrongly_answered,
)

ALPHAS = (0.05, 0.01)
_SHARES = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875, 1.0)


def allowed_alphas(bank: int) -> list[float]:
    """Alphas at which a bank of ``bank`` off-topic questions can decide; says which are skipped, and why."""
    for alpha in ALPHAS:
        if reason := alpha_refused(alpha, bank):
            print(f"  alpha {alpha}: skipped, {reason}")
    return [alpha for alpha in ALPHAS if not alpha_refused(alpha, bank)]


def methods_of(rows: Sequence[dict]) -> list[str]:
    """Methods that every row has, in the order of the tables."""
    return [name for name in METHODS if rows and all(name in row["rank"] for row in rows)]


def ranking_table(rows: Sequence[dict], ks: Sequence[int] = (1, 3, 5), *, separation: bool = True) -> None:
    """R@k, MRR and, with ``separation``, AUROC of every method, with bootstrap intervals over groups."""
    titles = [f"R@{k}" for k in ks] + ["MRR"] + (["AUROC"] if separation else [])
    print(f"  {'method':15}" + "".join(f"{title:22}" for title in titles).rstrip())
    for name in methods_of(rows):
        figures = [interval(rows, lambda r, k=k, m=name: recall(r, m, k)) for k in ks]
        figures.append(interval(rows, lambda r, m=name: mean_reciprocal_rank(r, m)))
        if separation:
            figures.append(interval(rows, lambda r, m=name: answerable_auroc(r, m)))
        print(f"  {name:15}" + "".join(f"{figure!s:22}" for figure in figures).rstrip())


def gain_lines(rows: Sequence[dict]) -> None:
    """Differences to BM25, paired by question."""
    for k in (1, 3):
        gain = interval(rows, lambda r, k=k: recall(r, "fused", k) - recall(r, "BM25", k))
        print(f"  fused - BM25 at R@{k}: {gain}")
    gain = interval(rows, lambda r: answerable_auroc(r, "attention") - answerable_auroc(r, "BM25"))
    print(f"  attention - BM25 in AUROC: {gain}  (attention decides, fused does not)")


def coverage_table(rows: Sequence[dict]) -> None:
    """Risk at eight coverages and the area, for thresholds on p and on the evidence score."""
    print("  coverage and risk: share answered, and share of those without a right first passage (fused order)")
    print(f"  {'threshold on':15}" + "".join(f"{share:7.3f}" for share in _SHARES) + "   area")
    for by in ("p", "score"):
        curve = answer_curve(rows, by)
        area = interval(rows, lambda r, by=by: answer_curve(r, by).area)
        print(f"  {by:15}" + "".join(f"{curve.at(share)[1]:7.3f}" for share in _SHARES) + f"   {area}")


def error_lines(rows: Sequence[dict], bank: int) -> None:
    """Both error rates at every alpha that a bank of ``bank`` off-topic questions allows."""
    for alpha in allowed_alphas(bank):
        lost = interval(rows, lambda r, a=alpha: wrongly_abstained(r, a))
        print(f"  alpha {alpha}: wrongly abstained (answerable, no evidence claimed) {lost}")
        if any(not row["answerable"] for row in rows):
            false = interval(rows, lambda r, a=alpha: wrongly_answered(r, a))
            print(f"  alpha {alpha}: wrongly answered (unanswerable, evidence claimed)   {false}")


def false_evidence_lines(off_topic: Sequence[dict], bank: int, name: str = "off-topic") -> None:
    """False evidence on ``off_topic`` rows (``group`` and ``p``): Wilson interval, and bootstrap over groups."""
    if not off_topic:
        print(f"  false evidence, {name}: none asked")
        return
    for alpha in (alpha for alpha in ALPHAS if not alpha_refused(alpha, bank)):
        count = sum(row["p"] <= alpha for row in off_topic)
        low, high = wilson(count, len(off_topic))[1:]
        drawn = interval(off_topic, lambda r, a=alpha: claimed(r, a))
        print(
            f"  false evidence, {name}, alpha {alpha}: {count} of {len(off_topic)}, {drawn} bootstrap,"
            f" Wilson [{low:.3f}, {high:.3f}]"
        )
        if all("question" in row for row in off_topic):
            print(f"    with the questions drawn anew as well: {crossed_interval(off_topic, alpha)}")


def citation_line(rows: Sequence[dict]) -> None:
    """How many citations were made and how many are verbatim at their offsets."""
    made, in_text, in_file, plain = (sum(row["cited"][name] for row in rows) for name in CITED)
    asked = sum(row["cited"]["made"] > 0 for row in rows)
    print(
        f"  citations: {made} on {asked} questions; verbatim at their offsets in the text read: {in_text},"
        f" in the file itself (plain text): {in_file} of {plain}"
    )


CITED = ("made", "in_text", "in_file", "plain")
