"""Evidence on ContractNLI: 17 hypotheses about every agreement, used as questions.

    python benchmarks/contract_nli.py [--documents N] [--minilm FOLDER] [--data dev.json] [--out contract_nli.jsonl]

Entailed and contradicted hypotheses have evidence (labelled spans), those not mentioned have none. All hypotheses are
about confidentiality agreements, and so is every document: nothing here is off topic. Intervals are 95 %, by a
bootstrap over documents. Resumable: a document that is already in --out under the same method is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import evidence_tables as tables
from alignment import Alignment
from cuad import hits
from evidence_methods import Scorer
from evidence_metrics import answerable_auroc, claimed, interval, mean
from minilm import MiniLM, find_minilm
from results import append_result, load_results, method_digest, shared_data

CLASSES = ("Entailment", "Contradiction", "NotMentioned")


def run_document(session: object, document: dict, labels: dict, minilm: MiniLM | None) -> dict:
    """Ranks, best scores and p-values of every hypothesis on one document."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "agreement.txt"
        path.write_bytes(document["text"].encode("utf-8"))
        opened = session.open(path)
        scorer = Scorer(opened, minilm=minilm)
        annotations = document["annotation_sets"][0]["annotations"]
        names = sorted(annotations)
        aligned = Alignment(document["text"], opened.document.text)
        rows = []
        found = scorer.score([labels[name]["hypothesis"] for name in names])
        for name, scored in zip(names, found, strict=True):
            spans = tuple(
                moved
                for place in annotations[name]["spans"]
                if (moved := aligned.span(*document["spans"][place])) is not None
            )
            gold = np.array([hits(start, end, spans) for start, end in scorer.spans])
            rows.append(
                {
                    "hypothesis": name,
                    "kind": annotations[name]["choice"],
                    "answerable": annotations[name]["choice"] != "NotMentioned",
                    "gold": int(gold.sum()),
                    "p": scored.decision.p_value,
                    "rank": scored.ranks(gold),
                    "best": scored.best,
                }
            )
    strategy = opened.strategy.strategy
    return {"file": str(document["id"]), "strategy": strategy, "passages": len(scorer.spans), "questions": rows}


def mean_document_auroc(rows: Sequence[dict], method: str) -> float:
    """Mean over documents of the AUROC within one; documents of a single class are left out."""
    groups: dict[str, list[dict]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    within = [answerable_auroc(members, method) for members in groups.values()]
    return mean([value for value in within if np.isfinite(value)])


def report(documents: list[dict], bank: int) -> None:
    """Print the tables."""
    rows = [{"group": row["file"], **question} for row in documents for question in row["questions"]]
    counts = {kind: sum(row["kind"] == kind for row in rows) for kind in CLASSES}
    print(f"{len(documents)} documents, " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    if not rows:
        return
    retrieved = sum(row["strategy"] == "retrieval" for row in documents)
    if retrieved:
        print(f"  {retrieved} documents did not fit the window: clauses were retrieved")
    lost = sum(row["answerable"] and not row["gold"] for row in rows)
    if lost:
        print(f"  {lost} hypotheses with evidence have no right passage in what was read; they count as misses")
    tables.ranking_table(rows, separation=False)
    print(f"  {'AUROC':15}{'over all documents':22}mean within a document")
    for name in tables.methods_of(rows):
        pooled = interval(rows, lambda r, m=name: answerable_auroc(r, m))
        within = interval(rows, lambda r, m=name: mean_document_auroc(r, m))
        print(f"  {name:15}{pooled!s:22}{within}")
    alphas = tables.allowed_alphas(bank)
    for kind in CLASSES:
        of_kind = [row for row in rows if row["kind"] == kind]
        for alpha in alphas:
            print(f"  evidence found at alpha {alpha}, {kind:13} {interval(of_kind, lambda r, a=alpha: claimed(r, a))}")
    tables.coverage_table(rows)


def main() -> int:
    """Run what is missing in --out, then print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="a ContractNLI file (default: dev.json in SOFTLOOKUP_SHARED or ../shared)")
    parser.add_argument("--documents", type=int, metavar="N", help="the first N documents only")
    parser.add_argument("--minilm", metavar="FOLDER", help="folder of all-MiniLM-L6-v2 (default: its package)")
    parser.add_argument("--out", default="contract_nli.jsonl", help="one line per document, resumable")
    options = parser.parse_args()
    source = Path(options.data) if options.data else shared_data() / "contractnli" / "dev.json"
    if not source.is_file():
        print("skipped: no ContractNLI data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    minilm = find_minilm(options.minilm)
    if isinstance(minilm, str):
        print(minilm)
        minilm = None
    from softlookup.evidence.question_bank import question_bank
    from softlookup.session import Options, Session

    data = json.loads(source.read_text("utf-8"))
    out, method = Path(options.out), method_digest("contract_nli")
    weights = minilm.digest if minilm else None
    done, session = load_results(out, method, weights), Session(options=Options(cache=False))
    documents = data["documents"][: options.documents]
    for document in documents:
        if str(document["id"]) in done:
            continue
        start = time.perf_counter()
        row = {"method": method, "minilm": weights, **run_document(session, document, data["labels"], minilm)}
        done[row["file"]] = row
        append_result(out, row)
        print(f"{document['file_name'][:60]:60} {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    report([done[str(document["id"])] for document in documents], len(question_bank("en").off_topic))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
