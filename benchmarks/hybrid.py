"""Long merger agreements (MAUD): windows that see every clause against retrieval, and against BM25 alone.

    python benchmarks/hybrid.py [--contracts 6] [--strategies hybrid retrieval] [--out hybrid.jsonl]
    python benchmarks/hybrid.py --false-evidence 3

The longest agreements of the set, each with all its questions, each strategy in a process of its own, so that its peak
memory is its own. R@5 and R@10: a passage of at most 600 characters among the first k overlaps a piece of the answer.
Memory of full context is computed: weights and the KV cache of all tokens (no agreement fits the model's window).
Intervals are 95 %, by a bootstrap over agreements. Resumable: what is in --out under the same method is not run again.

With --false-evidence the N shortest agreements are asked, in windows, the 80 off-topic questions that the standard bank
does not hold: how often is evidence claimed for what no agreement answers?
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from alignment import Alignment
from cuad import hits
from evidence_methods import Scorer
from evidence_metrics import best_rank, interval, recall
from maud import load_questions, piece_recall
from results import append_result, load_results, method_digest, shared_data

KS = (5, 10)
# what each run contributes to the table: its strategy's own order, and BM25, which needs no model
METHODS = {"hybrid": ("attention", "fused", "BM25"), "retrieval": ("attention", "fused")}


def longest(folder: Path, count: int) -> list[str]:
    """The longest agreements that have questions."""
    files = load_questions(folder)
    return sorted(files, key=lambda file: -(folder / "contracts" / file).stat().st_size)[:count]


def run_one(folder: Path, file: str, strategy: str) -> dict:
    """Ranks of every piece of every answer of one agreement, with seconds and peak memory of this process."""
    from softlookup.session import Options, Session

    path, questions = folder / "contracts" / file, load_questions(folder)[file]
    session = Session(options=Options(cache=False, strategy=strategy))
    start, used = time.perf_counter(), os.times()
    document = session.open(path)
    scorer = Scorer(document)
    scored = list(scorer.score([question.text for question in questions]))
    wall, now = time.perf_counter() - start, os.times()
    with path.open(encoding="utf-8", newline="") as stream:
        aligned = Alignment(stream.read(), document.document.text)
    rows = []
    for question, found in zip(questions, scored, strict=True):
        golds = []
        for piece in (aligned.span(*piece) for piece in question.pieces):
            golds.append(np.array([piece is not None and hits(*span, (piece,)) for span in scorer.spans]))
        ranks = {name: [best_rank(found.scores[name], gold) for gold in golds] for name in METHODS[strategy]}
        rows.append(
            {
                "question": question.text, "far": question.far, "p": found.decision.p_value, "answerable": True,
                "pieces": ranks, "rank": {name: min(places) for name, places in ranks.items()},
            }
        )  # fmt: skip
    return {
        "file": file, "strategy": strategy, "tokens": document.strategy.document_tokens, "passages": len(scorer.spans),
        "seconds": wall, "phases": document.take_seconds(),
        "processor_seconds": (now.user + now.system) - (used.user + used.system),
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, "questions": rows,
    }  # fmt: skip


def run_off_topic(folder: Path, file: str) -> dict:
    """p-values of off-topic questions that are no part of the standard bank, on one agreement read in windows."""
    from softlookup.evidence.question_bank import question_bank
    from softlookup.session import Options, Session

    questions = question_bank("en", 0.01).further
    document = Session(options=Options(cache=False, strategy="hybrid")).open(folder / "contracts" / file)
    found = document.evidence(questions)
    return {"file": file, "p": [evidence.decision.p_value for evidence in found]}


def report_false_evidence(results: Sequence[dict]) -> None:
    """Share of off-topic questions with evidence, at the alphas that the standard bank allows."""
    rows = [{"group": result["file"], "p": p} for result in results for p in result["p"]]
    for alpha in (0.05, 0.025):
        share = interval(rows, lambda r, a=alpha: sum(row["p"] <= a for row in r) / max(1, len(r)))
        print(f"  false evidence at alpha {alpha}: {share} ({len(rows)} questions on {len(results)} agreements)")
    for result in results:
        print(f"  {result['file'][:40]:42}{sum(p <= 0.05 for p in result['p'])} of {len(result['p'])} at .05")


def child(folder: Path, file: str, strategy: str) -> dict:
    """:func:`run_one` in a process of its own."""
    command = [sys.executable, __file__, "--data", str(folder), "--one", file, strategy]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def full_context_bytes(tokens: int) -> int:
    """Weights and KV cache, fp32, of the embedded model on all ``tokens``."""
    from softlookup.cost.kv_cache import KVDtypes, sequence_bytes
    from softlookup.cost.model.model_source import find_model

    model = find_model(None, "fp32")
    return int(model.weight_bytes.value) + sequence_bytes(model.shape, tokens, KVDtypes("fp32", "fp32"))


def merged(results: Sequence[dict]) -> list[dict]:
    """One row per question with the ranks of both strategies: "hybrid attention", "retrieval fused", "BM25" ..."""
    by_question: dict[tuple[str, str], dict] = {}
    for result in results:
        for row in result["questions"]:
            known = by_question.setdefault(
                (result["file"], row["question"]),
                {"group": result["file"], "far": row["far"], "answerable": True, "rank": {}, "pieces": {}},
            )
            for name, places in row["pieces"].items():
                full = name if name == "BM25" else f"{result['strategy']} {name}"
                known["pieces"][full], known["rank"][full] = places, min(places)
    return list(by_question.values())


def report(results: Sequence[dict]) -> None:
    """The tables."""
    rows = merged(results)
    names = sorted({name for row in rows for name in row["rank"]})
    rows = [row for row in rows if set(names) == set(row["rank"])]
    print(f"{len(rows)} questions on {len({row['group'] for row in rows})} agreements")
    print(f"  {'method':22}" + "".join(f"R@{k:<21}" for k in KS) + "".join(f"pieces@{k:<16}" for k in KS))
    for name in names:
        found = [interval(rows, lambda r, k=k, m=name: recall(r, m, k)) for k in KS]
        found += [interval(rows, lambda r, k=k, m=name: piece_recall(r, m, k)) for k in KS]
        print(f"  {name:22}" + "".join(f"{figure!s:23}" for figure in found).rstrip())
    if {"hybrid fused", "BM25"} <= set(names):
        for k in KS:
            gain = interval(rows, lambda r, k=k: recall(r, "hybrid fused", k) - recall(r, "BM25", k))
            print(f"  hybrid fused - BM25 at R@{k}: {gain}")
    print(f"  {'agreement':32}{'tokens':>9}{'strategy':>11}{'seconds':>9}{'CPU s':>8}{'peak':>9}{'full context':>14}")
    for result in results:
        print(
            f"  {result['file'][:30]:32}{result['tokens']:9,}{result['strategy']:>11}{result['seconds']:9.0f}"
            f"{result['processor_seconds']:8.0f}{result['peak_bytes'] / 1e9:6.2f} GB"
            f"{full_context_bytes(result['tokens']) / 1e9:11.2f} GB"
        )


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder of the set (default: maud in SOFTLOOKUP_SHARED or ../shared)")
    parser.add_argument("--contracts", type=int, default=6, metavar="N", help="the N longest agreements (default 6)")
    parser.add_argument("--strategies", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--out", default="hybrid.jsonl", help="one line per agreement and strategy, resumable")
    parser.add_argument("--false-evidence", type=int, metavar="N", help="off-topic questions on the N shortest")
    parser.add_argument("--one", nargs=2, metavar=("FILE", "STRATEGY"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> int:
    """Run what is missing in --out, then print."""
    options = parse()
    folder = Path(options.data) if options.data else shared_data() / "maud"
    if not (folder / "questions.json").is_file():
        print("skipped: no MAUD data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    if options.one:
        print(json.dumps(run_one(folder, *options.one)))
        return 0
    out, method = Path(options.out), method_digest("hybrid")
    if options.false_evidence:
        known = load_results(out, method, None, key="run")
        asked = []
        for file in longest(folder, 1_000)[-options.false_evidence :]:
            done = known.get(f"off-topic {file}")
            if done is None:
                done = {"method": method, "run": f"off-topic {file}", **run_off_topic(folder, file)}
                append_result(out, done)
            asked.append(done)
        report_false_evidence(asked)
        return 0
    results = []
    for file in longest(folder, options.contracts):
        for strategy in options.strategies:
            done = load_results(out, method, None, key="run").get(f"{strategy} {file}")
            if done is None:
                done = {"method": method, "run": f"{strategy} {file}", **child(folder, file, strategy)}
                append_result(out, done)
                print(f"{strategy:10} {file[:50]:50} {done['seconds']:6.0f} s", file=sys.stderr, flush=True)
            results.append(done)
    report(results)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
