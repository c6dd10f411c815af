"""Evidence on contracts and laws in Chinese or English: questions of our own, with the offsets of their answers.

    python benchmarks/evidence_questions.py --language zh|en [--questions FILE] [--split dev|test] [--limit N]

A line of the question set has file, window ([start, end] of the file, or null for all of it), question, answerable,
kind (lookup, paraphrase, reasoning, near_miss, off_topic; in English definition, too), spans and split; offsets are
characters of the decoded file with its own line ends, which lies beside the set or in the evaluation data. The set
holds no text of others. Questions of one window share one reading. Resumable: a question that is already in --out
under the same method is not asked again. Each split is reported apart, and so are near misses: they are the known
blind spot and must not hide in a mean. Intervals are 95 %, by a bootstrap over windows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import evidence_tables as tables
from alignment import Alignment
from cuad import hits
from evidence_methods import Scorer
from evidence_metrics import answerable_auroc, claimed, interval, mean, recall
from minilm import MiniLM, find_minilm
from results import append_result, load_results, method_digest, shared_data

LABELS = Path(__file__).parent / "labels"
UNANSWERABLE = ("off_topic", "near_miss")


@dataclass(frozen=True)
class Question:
    """One line of the set; ``spans`` are offsets into the file."""

    id: str
    file: str
    window: tuple[int, int] | None
    text: str
    answerable: bool
    kind: str
    spans: tuple[tuple[int, int], ...]
    split: str


def load_questions(path: Path) -> list[Question]:
    """The set, in its order."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [
        Question(
            row.get("id") or f"{row['file']}:{number}",
            row["file"],
            None if row["window"] is None else (row["window"][0], row["window"][1]),
            row["question"],
            bool(row["answerable"]),
            row["kind"],
            tuple((start, end) for start, end in row["spans"]),
            row["split"],
        )
        for number, row in enumerate(rows)
    ]


def find_file(name: str, beside: Path, shared: Path) -> Path | None:
    """The file beside the set, else in the evaluation data; None when it is in neither."""
    return next((path for path in (beside / name, shared / name) if path.is_file()), None)


def chosen_questions(source: Path, split: str | None, limit: int | None) -> tuple[list[Question], dict[str, Path]]:
    """Questions whose file is here, and their files; says which files are not."""
    shared = shared_data()
    questions = [q for q in load_questions(source) if split in (None, q.split)][:limit]
    found = {q.file: find_file(q.file, source.parent, shared) for q in questions}
    for name in sorted(name for name, path in found.items() if path is None):
        print(f"skipped: {name} is neither beside the questions nor in {shared}")
    here = {name: path for name, path in found.items() if path is not None}
    return [question for question in questions if question.file in here], here


def ask_window(session: object, path: Path, questions: Sequence[Question], minilm: MiniLM | None) -> Iterator[dict]:
    """One row per question about one window: ranks, best scores and the p-value."""
    from softlookup.evidence.near_miss import not_mentioned

    with path.open(encoding="utf-8", newline="") as stream:  # offsets count the file's own line ends
        whole = stream.read()
    first, last = questions[0].window or (0, len(whole))
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / f"window{path.suffix}"
        part.write_bytes(whole[first:last].encode("utf-8"))
        document = session.open(part)
    text = document.document.text
    aligned = Alignment(whole[first:last], text)
    scorer = Scorer(document, minilm=minilm)
    for question, scored in zip(questions, scorer.score([q.text for q in questions]), strict=True):
        moved = (aligned.span(start - first, end - first) for start, end in question.spans)
        spans = tuple(span for span in moved if span is not None)
        gold = np.array([hits(start, end, spans) for start, end in scorer.spans])
        best = scored.chunks[scored.decision.best].span
        yield {
            "id": question.id,
            "group": f"{question.file} {question.window}",
            "kind": question.kind,
            "answerable": question.answerable,
            "split": question.split,
            "passages": len(scorer.spans),
            "gold": int(gold.sum()),
            "p": scored.decision.p_value,
            "warned": bool(not_mentioned(question.text, [text[best.start : best.end]], text)),
            "rank": scored.ranks(gold),
            "best": scored.best,
        }


def report(name: str, rows: list[dict], bank: int) -> None:
    """Print one split."""
    answerable = [row for row in rows if row["answerable"]]
    print(f"\n{name}: {len(rows)} questions, {len(answerable)} answerable")
    if not answerable:
        return
    lost = sum(row["gold"] == 0 for row in answerable)
    if lost:
        print(f"  {lost} answerable questions have no right passage in what was read; they count as misses")
    tables.ranking_table(answerable, separation=False)
    alphas = tables.allowed_alphas(bank)
    for kind in dict.fromkeys(row["kind"] for row in answerable):
        of_kind = [row for row in answerable if row["kind"] == kind]
        figures = [f"R@{k} {interval(of_kind, lambda r, k=k: recall(r, 'fused', k))}" for k in (1, 3)]
        figures += [f"evidence found at {a} {interval(of_kind, lambda r, a=a: claimed(r, a))}" for a in alphas]
        print(f"  {kind:11}{len(of_kind):4} questions, fused: " + "  ".join(figures))
    for kind in UNANSWERABLE:
        against = [row for row in rows if row["kind"] == kind]
        if against:
            print(f"  -- answerable against {kind}: {len(against)} questions")
            _separation([*answerable, *against], kind, bank)
    for kind, asked in (("near_miss", [r for r in rows if r["kind"] == "near_miss"]), ("answerable", answerable)):
        found = [row["warned"] for row in asked if row["p"] <= 0.05]
        if found:
            print(f"  near-miss warning among those found at .05, {kind}: {mean(found):.3f} of {len(found)}")


def _separation(rows: list[dict], kind: str, bank: int) -> None:
    names = [name for name in ("BM25", "MiniLM", "attention") if name in tables.methods_of(rows)]
    print("  AUROC: " + "  ".join(f"{n} {interval(rows, lambda r, n=n: answerable_auroc(r, n, kind))}" for n in names))
    tables.coverage_table(rows)
    tables.false_evidence_lines([row for row in rows if row["kind"] == kind], bank, kind)


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=("zh", "en"), default="zh", help="which set and question bank")
    parser.add_argument("--questions", help="another set (JSONL; default: labels/LANGUAGE_questions.jsonl)")
    parser.add_argument("--split", choices=("dev", "test"), help="one split only")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N questions only")
    parser.add_argument("--model", help="another model (default: the embedded one)")
    parser.add_argument("--minilm", metavar="FOLDER", help="all-MiniLM-L6-v2 (default: its package; English only)")
    parser.add_argument("--out", help="one line per question, resumable (default: evidence_LANGUAGE.jsonl)")
    return parser.parse_args()


def main() -> int:
    """Ask what is missing in --out, then print each split."""
    options = parse()
    source = Path(options.questions or LABELS / f"{options.language}_questions.jsonl")
    if not source.is_file():
        print(f"skipped: there is no question set {source}")
        return 0
    minilm: MiniLM | str = "rows with MiniLM are left out: it reads English"
    if options.language == "en" or options.minilm:
        minilm = find_minilm(options.minilm)
    if isinstance(minilm, str):
        print(minilm)
        minilm = None
    questions, here = chosen_questions(source, options.split, options.limit)
    out = Path(options.out or f"evidence_{options.language}.jsonl")
    # the whole set is part of it: in a window that is retrieved, questions share their context
    method = method_digest(options.model, hashlib.sha256(source.read_bytes()).hexdigest(), options.split, options.limit)
    done = load_results(out, method, minilm.digest if minilm else None, key="id")
    from softlookup.evidence.question_bank import question_bank
    from softlookup.session import Options, Session

    session = Session(options.model, options=Options(cache=False))
    missing = sorted((q for q in questions if q.id not in done), key=lambda q: (q.file, q.window or (0, 0)))
    for (name, window), group in groupby(missing, key=lambda q: (q.file, q.window)):
        start = time.perf_counter()
        # kept as a whole: questions of a window may share what is retrieved for them
        for row in list(ask_window(session, here[name], list(group), minilm)):
            done[row["id"]] = row
            append_result(out, {"method": method, "minilm": minilm.digest if minilm else None, **row})
        print(f"{name} {window or ''}  {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    rows = [done[question.id] for question in questions]
    for split in ("dev", "test"):
        part = [row for row in rows if row["split"] == split]
        if part:
            report(split, part, len(question_bank(options.language).off_topic))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
