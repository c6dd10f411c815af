"""Diagnosis on planted cases: at which rung the ladder stops, and at which the fault was put.

    python benchmarks/diagnosis.py --cases 30 [--seed 1] [--out diagnosis.jsonl] [--kinds needle,misread]

Truth is by construction. Near misses are a known blind spot and stand apart. Resumable: a case that is in --out is
not run again. Answers are planted too, so that what is judged is the diagnosis, not the small model's wit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from planted_contracts import UNRELATED, long_contract, planted_contract, two_hop
from planted_faults import faulty_attention, hidden_keys, scaled_scores, shifted_positions

# kind -> the verdict that is right
EXPECTED = {
    "needle": "no_fault", "two_hop": "no_fault", "misread": "misread", "distractor": "not_selected",
    "unrelated": "not_seen", "removed": "unsupported_claim", "lost": "not_fed", "beyond": "beyond_window",
    "masked": "masked", "position": "implementation_fault", "mask": "implementation_fault",
    "after_softmax": "implementation_fault", "scale": "implementation_fault",
}  # fmt: skip
APART = ("near_miss",)
STRUCTURAL = ("lost", "beyond", "masked", "position", "mask", "after_softmax", "scale")
_LONG = {"en": 48_000, "zh": 9_000}  # characters beyond a window of 8,192 tokens


class Bench:
    """Opens texts with one loaded model."""

    def __init__(self, folder: Path) -> None:
        from softlookup.session import Options, Session

        self.folder = folder
        self.session = Session(options=Options(max_answer_tokens=24, cache=False))
        self.small = Session(options=Options(max_answer_tokens=24, max_context_tokens=256, cache=False))

    def diagnose(self, text: str, question: str, expect: str, answer: str, **options: Any) -> Any:
        """The diagnosis of a planted answer."""
        return self.open(text).diagnose(question, expect, answer=answer, **options)

    def open(self, text: str, *, small: bool = False) -> Any:
        """An open document of ``text``."""
        path = self.folder / "contract.txt"
        path.write_text(text, "utf-8")
        return (self.small if small else self.session).open(path)


def run_case(bench: Bench, kind: str, language: str, seed: int) -> dict:
    """One planted case and what the diagnosis said."""
    planted = planted_contract(language, seed)
    start, cpu = time.perf_counter(), time.process_time()
    found, extra = KINDS[kind](bench, planted, language, seed)
    return {
        "kind": kind, "language": language, "seed": seed, "verdict": found.verdict, "sentence": found.sentence,
        "tests": {test.name: [test.value, test.threshold] for test in found.tests}, **extra,
        "seconds": round(time.perf_counter() - start, 1), "cpu": round(time.process_time() - cpu, 1),
    }  # fmt: skip


def _needle(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    return bench.diagnose(p.text, p.topic.question, p.quote, p.topic.answer.format(v=p.value)), {}


def _misread(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    return bench.diagnose(p.text, p.topic.question, p.quote, p.topic.answer.format(v=p.invented)), {}


def _distractor(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    document = bench.open(p.with_twin)
    found = document.diagnose(p.topic.question, p.quote, answer=p.topic.answer.format(v=p.twin_value))
    at = document.document.text.index(p.twin_quote)
    named = found.distractor is not None and found.distractor.start <= at < found.distractor.end
    return found, {"distractor_named": named}


def _unrelated(bench: Bench, p: Any, language: str, seed: int) -> tuple:
    questions = UNRELATED[language]
    question = questions[seed % len(questions)]
    return bench.diagnose(p.text, question, p.quote, p.topic.answer.format(v=p.invented)), {}


def _removed(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    return bench.diagnose(p.without, p.topic.question, "none", p.topic.answer.format(v=p.value)), {}


def _near_miss(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    return bench.diagnose(p.text, p.topic.near, "none", p.topic.answer.format(v=p.value)), {}


def _two_hop(bench: Bench, _p: Any, language: str, seed: int) -> tuple:
    text, question, quote, answer, _ = two_hop(language, seed)
    return bench.diagnose(text, question, quote, answer), {}


def _lost(bench: Bench, p: Any, language: str, seed: int) -> tuple:
    document = bench.open(long_contract(language, seed, 3000 if language == "en" else 800).text, small=True)
    text, spans = document.document.text, document._readings.retrieve([p.topic.question]).spans
    # truth by construction: a clause that retrieval left out
    lost = [quote for _, quote in p.others if not any(s.start <= text.index(quote) < s.end for s in spans)]
    quote = lost[0] if lost else "2001"
    return document.diagnose(p.topic.question, quote, answer=p.topic.answer.format(v=p.invented)), {}


def _beyond(bench: Bench, p: Any, language: str, seed: int) -> tuple:
    text = long_contract(language, seed, _LONG[language]).text
    return bench.diagnose(text, p.topic.question, p.quote, p.topic.answer.format(v=p.invented), whole=True), {}


def _masked(bench: Bench, p: Any, _language: str, _seed: int) -> tuple:
    prefix = bench.session.template.prefix(p.text)
    at = p.text.index(p.quote)
    inside = [i for i, (a, b) in enumerate(prefix.offsets) if a < at + len(p.quote) and b > at]
    first = prefix.document[0]
    with hidden_keys(first + inside[0], first + inside[-1] + 1):
        return _misread(bench, p, "", 0)


def _faulty(fault: Callable[[Bench, int], contextlib.AbstractContextManager[None]]) -> Callable[..., tuple]:
    def run(bench: Bench, p: Any, language: str, seed: int) -> tuple:
        with fault(bench, seed):
            return _misread(bench, p, language, seed)

    return run


KINDS: dict[str, Callable[..., tuple]] = {
    "needle": _needle, "two_hop": _two_hop, "misread": _misread, "distractor": _distractor, "unrelated": _unrelated,
    "removed": _removed, "near_miss": _near_miss, "lost": _lost, "beyond": _beyond, "masked": _masked,
    "position": _faulty(lambda _b, seed: shifted_positions((1, 2, 7, 97)[seed % 4])),
    "mask": _faulty(lambda _b, seed: faulty_attention(("future", "leak")[seed % 2])),
    "after_softmax": _faulty(lambda _b, _s: faulty_attention("after")),
    "scale": _faulty(lambda b, seed: scaled_scores(b.session.loaded.model, (8.0, 0.125)[seed % 2])),
}  # fmt: skip


def wilson(right: int, total: int) -> tuple[float, float]:
    """95 % Wilson interval of a share."""
    if not total:
        return 0.0, 1.0
    z, share = 1.96, right / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total)) / (1 + z * z / total)
    return max(0.0, middle - half), min(1.0, middle + half)


def macro_f1(rows: list[dict]) -> float:
    """Mean F1 over the verdicts that are expected in ``rows``."""
    scores = []
    for verdict in sorted({EXPECTED[row["kind"]] for row in rows}):
        wanted = [EXPECTED[row["kind"]] == verdict for row in rows]
        given = [row["verdict"] == verdict for row in rows]
        hit = sum(a and b for a, b in zip(wanted, given, strict=True))
        scores.append(2 * hit / (sum(wanted) + sum(given)))
    return sum(scores) / len(scores) if scores else math.nan


def report(rows: list[dict]) -> None:
    """The confusion matrix by kind, macro-F1 of structural and attention verdicts, and what stands apart."""
    for kind in KINDS:
        mine = [row for row in rows if row["kind"] == kind]
        if not mine:
            continue
        counts = ", ".join(f"{verdict} {n}" for verdict, n in Counter(row["verdict"] for row in mine).most_common())
        if kind in APART:
            print(f"{kind:14} {'(apart)':22} {len(mine):3}            {counts}")
            continue
        right = sum(row["verdict"] == EXPECTED[kind] for row in mine)
        low, high = wilson(right, len(mine))
        print(f"{kind:14} {EXPECTED[kind]:22} {right:3}/{len(mine):<3} [{low:.2f}, {high:.2f}]  {counts}")
    scored = [row for row in rows if row["kind"] in EXPECTED]
    for name, some in (
        ("all", scored),
        ("structural", [row for row in scored if row["kind"] in STRUCTURAL]),
        ("attention", [row for row in scored if row["kind"] not in STRUCTURAL]),
        ("English", [row for row in scored if row["language"] == "en"]),
        ("Chinese", [row for row in scored if row["language"] == "zh"]),
    ):
        print(f"macro-F1 {name:10} {macro_f1(some):.3f}  ({len(some)} cases)")
    missed = sum(EXPECTED[r["kind"]] == "implementation_fault" != r["verdict"] for r in scored)
    print(f"faults of the implementation that were called sound: {missed}")
    named = [row["distractor_named"] for row in rows if row["kind"] == "distractor"]
    if named:
        print(f"distractor named: {sum(named)}/{len(named)}")


def main() -> None:
    """Run what is not in --out, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=30, help="per kind and language")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--out", type=Path, default=Path("diagnosis.jsonl"))
    options = parser.parse_args()
    known = options.out.read_text("utf-8").splitlines() if options.out.is_file() else []
    rows = [json.loads(line) for line in known]
    done = {(row["kind"], row["language"], row["seed"]) for row in rows}
    with tempfile.TemporaryDirectory() as folder, options.out.open("a", encoding="utf-8") as out:
        bench = Bench(Path(folder))
        for case in range(options.cases):
            for language in ("en", "zh"):
                for kind in options.kinds.split(","):
                    seed = 1000 * options.seed + case
                    if (kind, language, seed) in done:
                        continue
                    rows.append(run_case(bench, kind, language, seed))
                    out.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
                    out.flush()
    report(rows)


if __name__ == "__main__":
    main()
