"""The three strategies as planned and as run: seconds, and whether the stated loss is real.

    python benchmarks/strategies.py [FILE ...] [--calibrate]

Every file is asked two questions by every strategy that is possible, without cache and with one token per answer, so
that the length of an answer does not blur the comparison (decoding is timed by `plan_accuracy.py`). Printed: predicted
and measured seconds of both answers without loading model and file, and the clauses that the plan says an answer is
made without beside those that it was made without. The strategy that the plan chooses is marked; the last line says
whether it was the fastest of those that lose nothing. Files: the English sample, and where the evaluation data is
there a commercial agreement of 13,000 tokens and the beginning of a merger agreement (25,000). Close other programs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from results import shared_data

QUESTIONS = ("Which law governs this agreement?", "How can this agreement be terminated?")
_LONG_CHARACTERS = 112_000
_TARGET = 0.20


@dataclass(frozen=True)
class Run:
    """One strategy on one file; seconds of both answers, clauses left out of the first answer's context."""

    name: str
    predicted: float
    measured: float
    low: float
    high: float
    clauses_predicted: int | None
    clauses_measured: int | None  # None: no evidence was found, so nothing was fed
    chosen: bool
    loses: bool

    @property
    def error(self) -> float:
        """Relative error of the prediction."""
        return self.predicted / self.measured - 1


def run_strategy(path: Path, name: str) -> Run | None:
    """Plan and ask; None where the strategy is not possible."""
    from softlookup.cost.plan.document_plan import plan_document
    from softlookup.session import Options, Session

    session = Session(options=Options(max_answer_tokens=1, cache=False, strategy=name))
    document = session.open(path)
    free = Session(options=Options(max_answer_tokens=1)).open(path)
    free.expect(len(QUESTIONS))
    document.expect(len(QUESTIONS))
    rows = {row.name: row for row in free.plan.strategies}
    if rows[name].obstacle:
        return None
    plan = plan_document(document.plan.request, document.outline, strategy=name)
    row = next(row for row in plan.strategies if row.name == name)
    _ = session.loaded, session.profile, session.template, document.chunks, document.lexical
    start = time.perf_counter()
    # by retrieval questions of one call would share a context: the plan counts one for each
    together = [QUESTIONS] if name != "retrieval" else [(question,) for question in QUESTIONS]
    answers = [answer for group in together for answer in document.ask_all(group)]
    measured = time.perf_counter() - start
    left_out = [len(answer.coverage.clauses_not_fed) for answer in answers if answer.coverage.tokens_read]
    final = sum(1 for answer in answers if answer.coverage.tokens_read)
    # the plan assumes that evidence is found: without it hybrid reads no final context
    skipped = (len(QUESTIONS) - final) * (row.next_answer.value - question_seconds(plan.request, row))
    total = row.total_seconds(len(QUESTIONS))
    low, high = (
        (row.first_answer.low + row.next_answer.low) / total,
        (row.first_answer.high + row.next_answer.high) / total,
    )
    predicted = total - (skipped if name == "hybrid" else 0.0)
    whole = row.fed >= plan.request.tokens
    unread = 0 if whole else None if row.loss is None else row.loss.unread_clauses
    return Run(
        name, predicted, measured,
        predicted * low, predicted * high,
        unread, round(statistics.mean(left_out)) if left_out else None,
        free.plan.decision.strategy == name, not whole,
    )  # fmt: skip


def question_seconds(request: object, row: object) -> float:
    """Seconds of one question in all windows: what hybrid's further answer costs without its final context."""
    from softlookup.cost.plan.steps import suffix_seconds
    from softlookup.cost.plan.strategies import last_window

    last = last_window(request.tokens, row.window_tokens) if row.windows > 1 else row.window_tokens
    whole = suffix_seconds(request, row.window_tokens, evidence=True).value
    return (row.windows - 1) * whole + suffix_seconds(request, last, evidence=True).value


def report(path: Path, tokens: int, runs: list[Run]) -> float:
    """Print one file; the worst error."""
    print(f"\n{path.name[:60]}: {tokens:,} tokens, {len(QUESTIONS)} questions")
    titles = f"{'predicted':>10}{'measured':>10}{'error':>8}{'interval':>20}{'clauses left out: plan, run':>30}"
    print(f"  {'strategy':16}{titles}")
    for run in runs:
        plan, left = ("-" if n is None else str(n) for n in (run.clauses_predicted, run.clauses_measured))
        mark = " *" if run.chosen else ""
        print(
            f"  {run.name + mark:16}{run.predicted:8.1f} s{run.measured:8.1f} s{run.error:+8.0%}"
            f"{f'{run.low:.1f} to {run.high:.1f} s':>20}{f'{plan}, {left}':>30}"
        )
    whole = [run for run in runs if not run.loses]
    chosen = next((run for run in runs if run.chosen), None)
    if chosen is None:
        return max(abs(run.error) for run in runs)
    if chosen.loses:
        print(f"  {chosen.name} leaves clauses out of the answer's context, as the plan says; no other loses nothing")
    else:
        fastest = min(whole, key=lambda run: run.measured)
        print(f"  {chosen.name} loses nothing; the fastest of those was {fastest.name}")
    return max(abs(run.error) for run in runs)


def files(folder: Path) -> list[Path]:
    """The sample, and two longer files where the evaluation data is there."""
    found = [Path(__file__).resolve().parents[1] / "samples" / "supply-agreement.docx"]
    cuad = sorted((shared_data() / "cuad" / "contracts").glob("*.txt"), key=lambda path: path.stat().st_size)
    found += [path for path in cuad if path.stat().st_size > 59_000][:1]
    maud = sorted((shared_data() / "maud" / "contracts").glob("*.txt"), key=lambda path: path.stat().st_size)
    if maud:
        part = folder / "merger-agreement-beginning.txt"
        part.write_text(maud[0].read_text("utf-8")[:_LONG_CHARACTERS], "utf-8")
        found.append(part)
    return found


def main() -> int:
    """Run everything; 1 when a prediction misses by more than a fifth."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="documents (default: three of different lengths)")
    parser.add_argument("--calibrate", action="store_true", help="run `softlookup plan --calibrate` first")
    options = parser.parse_args()
    if options.calibrate:
        subprocess.run([sys.executable, "-m", "softlookup", "plan", "--calibrate"], check=True)
    from softlookup.session import Session

    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for path in options.files or files(Path(folder)):
            document = Session().open(path)
            found = [run_strategy(path, name) for name in ("full_context", "retrieval", "hybrid")]
            tokens = document.session.count_tokens(document.document.text)
            worst = max(worst, report(path, tokens, [run for run in found if run is not None]))
    print(f"\nworst error {worst:.0%} (target {_TARGET:.0%})")
    return int(worst > _TARGET)


if __name__ == "__main__":
    raise SystemExit(main())
