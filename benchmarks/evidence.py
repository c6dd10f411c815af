"""Evidence on labelled contracts: the right passage first, and "no evidence" said in time.

    python benchmarks/evidence.py --contracts 40 [--data FOLDER] [--out evidence.jsonl]

Every method ranks the same passages (at most 600 characters). Contracts with an even number in the
shuffled order belong to the half on which heads and constants were chosen ("tune"), odd ones are only
reported ("report"). Resumable: a contract that is already in --out is not run again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from cuad import OFF_TOPIC, LabelledContract, data_folder, hits, load_contracts

METHODS = ("random", "raw attention", "BM25", "attention", "fused")


def run_contract(session: object, contract: LabelledContract) -> dict:
    """Ranks, maxima and p-values of every question and method on one contract."""
    from softlookup.evidence.abstention import decide
    from softlookup.evidence.attribution import passage_scores
    from softlookup.evidence.citation import fused_scores

    document = session.open(contract.path)
    texts = [question.text for question in contract.questions]
    reading = document.reading(texts)
    calibration = reading.calibration("en")
    mass = reading.mass([*texts, *OFF_TOPIC])
    scores = passage_scores(mass, calibration.null, reading.profile.weights)
    spans = [(chunk.span.start, chunk.span.end) for chunk in reading.chunks]
    index = [chunk.index for chunk in reading.chunks]
    shuffle = np.random.default_rng(0)
    rows = []
    for place, question in enumerate(contract.questions):
        lexical = document.lexical.scores(question.text)[index]
        by_method = {
            "random": shuffle.random(len(spans)),
            "raw attention": mass[place].sum(axis=0),
            "BM25": lexical,
            "attention": scores[place],
            "fused": fused_scores(scores[place], lexical),
        }
        gold = np.array([hits(start, end, question.spans) for start, end in spans])
        rows.append(
            {
                "category": question.category,
                "answerable": bool(question.spans),
                "p": decide(scores[place], calibration.off_topic_maxima, 0.05).p_value,
                "rank": {name: _rank(values, gold) for name, values in by_method.items()},
                "best": {name: float(values.max()) for name, values in by_method.items()},
            }
        )
    off_topic = [decide(values, calibration.off_topic_maxima, 0.05).p_value for values in scores[len(texts) :]]
    return {"file": contract.path.name, "questions": rows, "off_topic_p": off_topic, "passages": len(spans)}


def method_digest() -> str:
    """Changes whenever heads, weights, constants or the question bank do: older results are then not reused."""
    from softlookup.evidence import attribution, citation, profile, question_bank

    facts = (
        sorted((key, value.heads, value.weights) for key, value in profile._PROFILES.items()),
        attribution.TEMPER,
        citation.LEXICAL_WEIGHT,
        question_bank.question_bank("en").questions,
    )
    return hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


def _rank(values: np.ndarray, gold: np.ndarray) -> int:
    """Rank of the best gold passage from 1; 999 when no passage is gold."""
    order = np.argsort(-values, kind="stable")
    places = np.flatnonzero(gold[order])
    return int(places[0]) + 1 if len(places) else 999


def recall(rows: list[dict], method: str, k: int) -> float:
    """Share of answerable questions whose right passage is among the first k."""
    ranks = [q["rank"][method] for row in rows for q in row["questions"] if q["answerable"]]
    return float(np.mean([rank <= k for rank in ranks]))


def auroc(rows: list[dict], method: str) -> float:
    """P(best score of an answerable question > that of an unanswerable one), ties half."""
    yes = np.array([q["best"][method] for row in rows for q in row["questions"] if q["answerable"]])
    no = np.array([q["best"][method] for row in rows for q in row["questions"] if not q["answerable"]])
    return float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())


def interval(rows: list[dict], statistic: Callable[[list[dict]], float], draws: int = 400) -> tuple[float, float]:
    """95 % bootstrap interval; whole contracts are drawn, since questions of one contract are not independent."""
    rng = np.random.default_rng(0)
    values = [statistic([rows[i] for i in rng.integers(len(rows), size=len(rows))]) for _ in range(draws)]
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def table(name: str, rows: list[dict]) -> None:
    """Print one half."""
    answerable = sum(q["answerable"] for row in rows for q in row["questions"])
    total = sum(len(row["questions"]) for row in rows)
    print(f"\n{name}: {len(rows)} contracts, {answerable} answerable, {total - answerable} unanswerable questions")
    print(f"{'method':15} {'R@1':>6} {'R@3':>6} {'R@5':>6} {'AUROC':>7}")
    for method in METHODS:
        line = " ".join(f"{recall(rows, method, k):6.3f}" for k in (1, 3, 5))
        print(
            f"{method:15} {line} {auroc(rows, method):7.3f}" + ("  (not used to decide)" if method == "fused" else "")
        )
    for k in (1, 3):
        low, high = interval(rows, lambda r, k=k: recall(r, "fused", k) - recall(r, "BM25", k))
        print(
            f"fused - BM25 at R@{k}: {recall(rows, 'fused', k) - recall(rows, 'BM25', k):+.3f}"
            f" [{low:+.3f}, {high:+.3f}]"
        )
    low, high = interval(rows, lambda r: auroc(r, "attention") - auroc(r, "BM25"))
    gain = auroc(rows, "attention") - auroc(rows, "BM25")
    print(f"attention - BM25 in AUROC: {gain:+.3f} [{low:+.3f}, {high:+.3f}]")

    def false_evidence(r: list[dict]) -> float:
        return float(np.mean([p <= 0.05 for row in r for p in row["off_topic_p"]]))

    low, high = interval(rows, false_evidence)
    asked = sum(len(row["off_topic_p"]) for row in rows)
    print(
        f"false evidence on {asked} off-topic questions at alpha .05: {false_evidence(rows):.3f}"
        f" [{low:.3f}, {high:.3f}]"
    )
    for state, word in ((True, "answerable"), (False, "unanswerable, same topics")):
        found = [q["p"] <= 0.05 for row in rows for q in row["questions"] if q["answerable"] is state]
        print(f"evidence claimed on {word}: {np.mean(found):.3f} of {len(found)}")


def main() -> int:
    """Run and print both halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="CUAD-style folder (default: SOFTLOOKUP_SHARED or ../shared)")
    parser.add_argument("--contracts", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", default="evidence.jsonl", help="one line per contract, resumable")
    options = parser.parse_args()
    folder = data_folder(options.data)
    if folder is None:
        print("skipped: no CUAD-style data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    out, digest = Path(options.out), method_digest()
    lines = out.read_text("utf-8").splitlines() if out.is_file() else []
    done = {row["file"]: row for row in map(json.loads, lines) if row.get("method") == digest}
    from softlookup.session import Options, Session

    session = Session(options=Options(cache=False))
    contracts = load_contracts(folder, options.contracts, seed=options.seed)
    for contract in contracts:
        if contract.path.name in done:
            continue
        start = time.perf_counter()
        row = {"method": digest, **run_contract(session, contract)}
        done[row["file"]] = row
        with out.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(row) + "\n")
        print(f"{contract.path.name[:60]:60} {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    rows = [done[contract.path.name] for contract in contracts]
    table("tune half", rows[0::2])
    table("report half", rows[1::2])
    table("all", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
