"""Evidence on merger agreements of 200,000 to 800,000 characters (MAUD): answers in one or several pieces.

    python benchmarks/maud.py [--contracts N] [--questions-per-contract M] [--far] [--minilm FOLDER] [--out maud.jsonl]

The set's queries begin with words that name the agreement and its parties ("Consider the Acquisition Agreement
between Parent ... and Target ...;"): they are stripped, since the agreement is the document that is asked. No agreement
fits the model's window: clauses are retrieved, questions in groups, as `ask` does. Every question is answerable.
Intervals are 95 %, by a bootstrap over agreements. Resumable: an agreement that is already in --out under the same
method and with the same questions is not run again.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import evidence_tables as tables
from alignment import Alignment
from cuad import hits
from evidence_methods import Scorer
from evidence_metrics import best_rank, interval, mean
from minilm import MiniLM, find_minilm
from results import append_result, load_results, method_digest, shared_data

FAR = 20_000  # characters between pieces that no passage, and hardly a clause, holds together
KS = (5, 10)
_PREFIX = re.compile(r"^\s*Consider the (?:Acquisition|Merger) Agreement between .*?[\"'];\s*", re.S)


@dataclass(frozen=True)
class Question:
    """One query without its prefix; ``pieces`` are the spans of its answer in ``file``."""

    file: str
    text: str
    pieces: tuple[tuple[int, int], ...]

    @property
    def far(self) -> bool:
        """Whether two of its pieces lie more than 20,000 characters apart."""
        return max(start for start, _ in self.pieces) - min(end for _, end in self.pieces) > FAR


def load_questions(folder: Path) -> dict[str, list[Question]]:
    """Questions by agreement, both in the order of the set."""
    found: dict[str, list[Question]] = {}
    for row in json.loads((folder / "questions.json").read_text("utf-8"))["tests"]:
        file = row["snippets"][0]["file_path"]
        pieces = tuple((s["span"][0], s["span"][1]) for s in row["snippets"] if s["file_path"] == file)
        found.setdefault(file, []).append(Question(file, stripped(row["query"]), pieces))
    return found


def stripped(query: str) -> str:
    """The query without the words that name the agreement."""
    return _PREFIX.sub("", query, count=1).strip()


def chosen(questions: Sequence[Question], most: int | None, seed: int) -> list[Question]:
    """At most ``most`` of them, drawn by ``seed``; in the order of the set."""
    if most is None or most >= len(questions):
        return list(questions)
    places = random.Random(f"{seed} {questions[0].file}").sample(range(len(questions)), most)
    return [questions[place] for place in sorted(places)]


def run_contract(session: object, path: Path, questions: Sequence[Question], minilm: MiniLM | None) -> dict:
    """Rank of every piece of every answer, per method, on one agreement."""
    document = session.open(path)
    scorer = Scorer(document, minilm=minilm)
    with path.open(encoding="utf-8", newline="") as stream:
        aligned = Alignment(stream.read(), document.document.text)
    rows = []
    for question, scored in zip(questions, scorer.score([q.text for q in questions]), strict=True):
        pieces = [aligned.span(*piece) for piece in question.pieces]
        golds = [np.array([piece is not None and hits(*s, (piece,)) for s in scorer.spans]) for piece in pieces]
        fed = np.isfinite(scored.scores["attention"])
        ranks = {name: [best_rank(values, gold) for gold in golds] for name, values in scored.scores.items()}
        rows.append(
            {
                "question": question.text,
                "answerable": True,
                "far": question.far,
                "p": scored.decision.p_value,
                "fed": sum(bool((gold & fed).any()) for gold in golds),
                "pieces": ranks,
                "rank": {name: min(of_pieces) for name, of_pieces in ranks.items()},
            }
        )
    return {"file": path.name, "strategy": document.strategy.strategy, "passages": len(scorer.spans), "questions": rows}


def piece_recall(rows: Sequence[dict], method: str, k: int) -> float:
    """Mean over questions of the share of the answer's pieces that a passage among the first k hits."""
    return mean([mean([rank <= k for rank in row["pieces"][method]]) for row in rows])


def report(name: str, rows: list[dict]) -> None:
    """Print one set of questions."""
    pieces = sum(len(row["pieces"]["BM25"]) for row in rows)
    print(f"\n{name}: {len(rows)} questions with {pieces} pieces, {len({row['group'] for row in rows})} agreements")
    if not rows:
        return
    print(f"  a passage of {sum(row['fed'] for row in rows)} of these pieces was fed to the model")
    tables.ranking_table(rows, KS, separation=False)
    print(f"  {'all pieces':15}" + "".join(f"recall@{k:<15}" for k in KS))
    for method in tables.methods_of(rows):
        figures = [interval(rows, lambda r, k=k, m=method: piece_recall(r, m, k)) for k in KS]
        print(f"  {method:15}" + "".join(f"{figure!s:22}" for figure in figures).rstrip())


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the set (default: maud in SOFTLOOKUP_SHARED or ../shared)")
    parser.add_argument("--contracts", type=int, metavar="N", help="N agreements only")
    parser.add_argument("--questions-per-contract", type=int, metavar="M", help="M questions of each only")
    parser.add_argument("--far", action="store_true", help="only questions whose pieces lie far apart")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minilm", metavar="FOLDER", help="folder of all-MiniLM-L6-v2 (default: its package)")
    parser.add_argument("--out", default="maud.jsonl", help="one line per agreement, resumable")
    return parser.parse_args()


def main() -> int:
    """Run what is missing in --out, then print."""
    options = parse()
    folder = Path(options.data) if options.data else shared_data() / "maud"
    if not (folder / "questions.json").is_file():
        print("skipped: no MAUD data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    minilm = find_minilm(options.minilm)
    if isinstance(minilm, str):
        print(minilm)
        minilm = None
    from softlookup.session import Options, Session

    asked = {
        file: chosen([q for q in questions if q.far or not options.far], options.questions_per_contract, options.seed)
        for file, questions in load_questions(folder).items()
    }
    files = sorted(file for file, questions in asked.items() if questions)
    random.Random(options.seed).shuffle(files)
    files = files[: options.contracts]
    out, weights, session, rows = (
        Path(options.out),
        minilm.digest if minilm else None,
        Session(options=Options(cache=False)),
        [],
    )
    for file in files:
        method = method_digest("maud", asked[file])
        done = load_results(out, method, weights).get(file)
        if done is None:
            start = time.perf_counter()
            done = run_contract(session, folder / "contracts" / file, asked[file], minilm)
            append_result(out, {"method": method, "minilm": weights, **done})
            print(f"{file[:60]:60} {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
        rows += [{"group": file, **question} for question in done["questions"]]
    report("all", rows)
    report("pieces in several places", [row for row in rows if len(row["pieces"]["BM25"]) > 1])
    report(f"pieces more than {FAR:,} characters apart", [row for row in rows if row["far"]])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
