"""Evidence on labelled contracts: the right passage first, and "no evidence" said in time.

    python benchmarks/evidence.py --contracts 40 [--minilm FOLDER] [--data FOLDER] [--out evidence.jsonl]
    python benchmarks/evidence.py --low 24000 --high 120000 --contracts 10      # retrieved clauses, as `ask` reads them

Contracts in even places of the shuffled order are the half on which heads and constants were chosen (fit), odd ones
are only reported; a contract of a company that occurs in the fit half, here or among the short contracts, is dropped
from the report. Intervals are 95 %, by a bootstrap over contracts. Resumable: a contract that is already in --out
under the same method is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import evidence_tables as tables
from cuad import HIGH, LOW, OFF_TOPIC, LabelledContract, contract_order, data_folder, hits, load_contracts
from evidence_methods import ALPHA, Scored, Scorer, cited
from evidence_metrics import company, halves
from minilm import MiniLM, find_minilm
from results import append_result, load_results, method_digest


def run_contract(
    session: object,
    contract: LabelledContract,
    minilm: MiniLM | None,
    off_topic: int,
    *,
    alpha: float = ALPHA,
    baselines: bool = True,
) -> dict:
    """Ranks, best scores, p-values and citations of every question on one contract."""
    document = session.open(contract.path)
    scorer = Scorer(document, minilm=minilm, baselines=baselines, alpha=alpha)
    texts = [question.text for question in contract.questions]
    raw = None
    if contract.path.suffix == ".txt":
        with contract.path.open(encoding="utf-8", newline="") as stream:
            raw = stream.read()
    rows = []
    for question, scored in zip(contract.questions, scorer.score(texts), strict=True):
        gold = np.array([hits(start, end, question.spans) for start, end in scorer.spans])
        fed = np.isfinite(scored.scores["attention"])
        rows.append(
            {
                "category": question.category,
                "answerable": bool(question.spans),
                "gold": int(gold.sum()),
                "fed_gold": int((gold & fed).sum()),
                "p": scored.decision.p_value,
                "rank": scored.ranks(gold),
                "best": scored.best,
                "cited": citation_counts(document, scored, raw),
            }
        )
    plain = Scorer(document, alpha=alpha).score(OFF_TOPIC[:off_topic])
    return {
        "file": contract.path.name,
        "strategy": document.strategy.strategy,
        "passages": len(scorer.spans),
        "questions": rows,
        "off_topic_p": [scored.decision.p_value for scored in plain],
    }


def citation_counts(document: object, scored: Scored, raw: str | None) -> dict[str, int]:
    """Citations of one question, and how many stand word for word at their offsets in the text and in the file."""
    found = cited(document, scored)
    text = document.document.text
    return {
        "made": len(found),
        "in_text": sum(text[citation.start : citation.end] == citation.quote for citation in found),
        "in_file": sum(raw is not None and raw[c.start : c.end] == c.quote for c in found),
        "plain": len(found) if raw is not None else 0,
    }


def report(name: str, contracts: list[dict], bank: int) -> None:
    """Print one half."""
    rows = [{"group": row["file"], **question} for row in contracts for question in row["questions"]]
    off_topic = [
        {"group": row["file"], "question": place, "p": p}
        for row in contracts
        for place, p in enumerate(row["off_topic_p"])
    ]
    answerable = [row for row in rows if row["answerable"]]
    print(
        f"\n{name}: {len(contracts)} contracts, {len(answerable)} answerable and "
        f"{len(rows) - len(answerable)} unanswerable questions"
    )
    if not rows:
        return
    retrieved = sum(row["strategy"] == "retrieval" for row in contracts)
    if retrieved:
        fed = sum(row["fed_gold"] > 0 for row in answerable)
        print(f"  {retrieved} contracts were read in part; a right passage was fed for {fed} of {len(answerable)}")
    tables.ranking_table(rows)
    tables.gain_lines(rows)
    tables.coverage_table(rows)
    tables.error_lines(rows, bank)
    tables.false_evidence_lines(off_topic, bank)
    tables.citation_line(rows)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="CUAD-style folder (default: SOFTLOOKUP_SHARED or ../shared)")
    parser.add_argument("--contracts", type=int, default=40, metavar="N")
    parser.add_argument("--low", type=int, default=LOW, help="characters of the shortest contract")
    parser.add_argument("--high", type=int, default=HIGH, help="characters of the longest contract")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--off-topic", type=int, default=len(OFF_TOPIC), metavar="N", help="asked of each contract")
    parser.add_argument("--alpha", type=float, default=ALPHA, help="below 1/40 the larger bank is run as well")
    parser.add_argument("--plain", action="store_true", help="leave out random order, raw attention and ICR")
    parser.add_argument("--minilm", metavar="FOLDER", help="folder of all-MiniLM-L6-v2 (default: its package)")
    parser.add_argument("--out", default="evidence.jsonl", help="one line per contract, resumable")
    return parser.parse_args()


def main() -> int:
    """Run what is missing in --out, then print both halves."""
    options = parse()
    folder = data_folder(options.data)
    if folder is None:
        print("skipped: no CUAD-style data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    minilm = find_minilm(options.minilm)
    if isinstance(minilm, str):
        print(minilm)
        minilm = None
    from softlookup.evidence.question_bank import question_bank
    from softlookup.session import Options, Session

    out, method = Path(options.out), method_digest(OFF_TOPIC[: options.off_topic], options.alpha, options.plain)
    weights = minilm.digest if minilm else None
    done, session = load_results(out, method, weights), Session(options=Options(cache=False))
    contracts = load_contracts(folder, options.contracts, low=options.low, high=options.high, seed=options.seed)
    for contract in contracts:
        if contract.path.name in done:
            continue
        start = time.perf_counter()
        row = {
            "method": method,
            "minilm": weights,
            **run_contract(
                session, contract, minilm, options.off_topic, alpha=options.alpha, baselines=not options.plain
            ),
        }
        done[row["file"]] = row
        append_result(out, row)
        print(f"{contract.path.name[:60]:60} {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    short = frozenset(company(file) for file in contract_order(folder, seed=options.seed)[0::2])
    fit, kept, dropped = halves([contract.path.name for contract in contracts], short)
    bank = len(question_bank("en", options.alpha).compared)
    report("fit half", [done[file] for file in fit], bank)
    for file in dropped:
        print(f"dropped from the report half, its company is in the fit half: {file}")
    report("report half", [done[file] for file in kept], bank)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
