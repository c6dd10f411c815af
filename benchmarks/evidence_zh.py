"""Evidence on Chinese contracts and laws: questions of our own, with the offsets of their answers.

    python benchmarks/evidence_zh.py [--questions FILE] [--split dev|test] [--limit N] [--out evidence_zh.jsonl]

A line of the question set has file, window ([start, end] of the file, or null for all of it), question, answerable,
kind (lookup, paraphrase, reasoning, near_miss, off_topic), spans and split; offsets are characters of the file, which
lies beside the set or in the evaluation data. The set holds no text of others. Questions of one window share one
reading. Resumable: a question that is already in --out under the same method is not asked again. Each split is
reported apart, and so are near misses: they are the known blind spot and must not hide in a mean.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from alignment import Alignment
from cuad import hits
from evidence import method_digest

LABELS = Path(__file__).parent / "labels"
METHODS = ("BM25", "attention", "fused")


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
    return next((path for path in (beside / name, shared / "data" / name) if path.is_file()), None)


def ask_window(session: object, path: Path, questions: list[Question]) -> Iterator[dict]:
    """One row per question about one window: ranks, best scores and the p-value; the window is read once."""
    from softlookup.evidence.abstention import decide
    from softlookup.evidence.attribution import passage_scores
    from softlookup.evidence.citation import fused_scores
    from softlookup.evidence.near_miss import not_mentioned

    whole = path.read_bytes().decode("utf-8")
    first, last = questions[0].window or (0, len(whole))
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / f"window{path.suffix}"
        part.write_bytes(whole[first:last].encode("utf-8"))
        document = session.open(part)
    aligned = Alignment(whole[first:last], document.document.text)
    texts = [question.text for question in questions]
    reading = document.reading(texts)
    calibration = reading.calibration("zh")
    scores = passage_scores(reading.mass(texts), calibration.null, reading.profile.weights)
    places = [(chunk.span.start, chunk.span.end) for chunk in reading.chunks]
    index = [chunk.index for chunk in reading.chunks]
    for question, values in zip(questions, scores, strict=True):
        spans = tuple(moved for start, end in question.spans if (moved := _moved(aligned, start - first, end - first)))
        lexical = document.lexical.scores(question.text)[index]
        by_method = {"BM25": lexical, "attention": values, "fused": fused_scores(values, lexical)}
        gold = np.array([hits(start, end, spans) for start, end in places])
        decision = decide(values, calibration.off_topic_maxima, 0.05)
        start, end = places[decision.best]
        cited = [document.document.text[start:end]]
        yield {
            "id": question.id,
            "file": question.file,
            "window": question.window,
            "kind": question.kind,
            "answerable": question.answerable,
            "split": question.split,
            "passages": len(places),
            "gold": int(gold.sum()),
            "p": decision.p_value,
            "warned": bool(not_mentioned(question.text, cited, document.document.text)),
            "rank": {name: _rank(found, gold) for name, found in by_method.items()},
            "best": {name: float(found.max()) for name, found in by_method.items()},
        }


def _moved(aligned: Alignment, start: int, end: int) -> tuple[int, int] | None:
    begin, stop = aligned.offset(start), aligned.offset(end - 1)
    return None if begin is None or stop is None or stop < begin else (begin, stop + 1)


def _rank(values: np.ndarray, gold: np.ndarray) -> int:
    """Rank of the best gold passage from 1; 999 when no passage is gold."""
    places = np.flatnonzero(gold[np.argsort(-values, kind="stable")])
    return int(places[0]) + 1 if len(places) else 999


def recall(rows: list[dict], method: str, k: int) -> float:
    """Share of answerable questions whose right passage is among the first k."""
    return float(np.mean([row["rank"][method] <= k for row in rows if row["answerable"]]))


def mean_reciprocal_rank(rows: list[dict], method: str) -> float:
    """Mean of 1 / rank over answerable questions, 0 where no passage was right."""
    ranks = [row["rank"][method] for row in rows if row["answerable"]]
    return float(np.mean([0.0 if rank == 999 else 1 / rank for rank in ranks]))


def auroc(rows: list[dict], method: str, kind: str) -> float:
    """P(best score of an answerable question > that of one of ``kind``), ties half; NaN without both."""
    yes = np.array([row["best"][method] for row in rows if row["answerable"]])
    no = np.array([row["best"][method] for row in rows if row["kind"] == kind])
    if not len(yes) or not len(no):
        return float("nan")
    return float((yes[:, None] > no).mean() + 0.5 * (yes[:, None] == no).mean())


def found_share(rows: list[dict], *kinds: str) -> float:
    """Share of questions of ``kinds`` with p <= .05; NaN without any."""
    found = [row["p"] <= 0.05 for row in rows if row["kind"] in kinds]
    return float(np.mean(found)) if found else float("nan")


def interval(rows: list[dict], statistic: Callable[[list[dict]], float], draws: int = 400) -> str:
    """Value and 95 % bootstrap interval; whole windows are drawn, their questions are not independent."""
    groups: dict[tuple, list[dict]] = {}
    for row in rows:
        groups.setdefault((row["file"], str(row["window"])), []).append(row)
    drawn, random = [], np.random.default_rng(0)
    for _ in range(draws):
        chosen = random.integers(len(groups), size=len(groups))
        drawn.append(statistic([row for place in chosen for row in list(groups.values())[place]]))
    drawn = [value for value in drawn if np.isfinite(value)]
    value = statistic(rows)
    if not drawn or not np.isfinite(value):
        return "   -"
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"


def report(name: str, rows: list[dict]) -> None:
    """Print one split."""
    answerable = [row for row in rows if row["answerable"]]
    print(f"\n{name}: {len(rows)} questions, {len(answerable)} answerable")
    if not answerable:
        return
    lost = sum(row["gold"] == 0 for row in answerable)
    if lost:
        print(f"  {lost} answerable questions have no right passage in what was read; they count as misses")
    for method in METHODS:
        figures = [f"R@{k} {interval(rows, lambda r, m=method, k=k: recall(r, m, k))}" for k in (1, 3, 5)]
        figures.append(f"MRR {interval(rows, lambda r, m=method: mean_reciprocal_rank(r, m))}")
        print(f"  {method:10} " + "  ".join(figures))
    for kind in ("off_topic", "near_miss"):
        figures = [f"{method} {interval(rows, lambda r, m=method, k=kind: auroc(r, m, k))}" for method in METHODS[:2]]
        print(f"  AUROC against {kind:9}  " + "  ".join(figures))
    for kinds in (("lookup",), ("paraphrase",), ("reasoning",), ("off_topic",), ("near_miss",)):
        share = interval(rows, lambda r, k=kinds: found_share(r, *k))
        word = "false evidence" if kinds[0] in ("off_topic", "near_miss") else "evidence found"
        print(f"  {word} at alpha .05, {kinds[0]:10} {share}")
    for kind in ("near_miss", "answerable"):
        asked = [r for r in rows if r["p"] <= 0.05 and (r["answerable"] if kind == "answerable" else r["kind"] == kind)]
        if asked:
            print(
                f"  near-miss warning among those, {kind}: {np.mean([r['warned'] for r in asked]):.3f} of {len(asked)}"
            )


def main() -> int:
    """Ask what is missing in --out, then print each split."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", default=str(LABELS / "zh_questions.jsonl"), help="the set (JSONL)")
    parser.add_argument("--split", choices=("dev", "test"), help="one split only")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N questions only")
    parser.add_argument("--model", help="another model (default: the embedded one)")
    parser.add_argument("--out", default="evidence_zh.jsonl", help="one line per question, resumable")
    options = parser.parse_args()
    source = Path(options.questions)
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED") or Path(__file__).resolve().parents[2] / "shared")
    questions = [q for q in load_questions(source) if options.split in (None, q.split)][: options.limit]
    here = {q.file: find_file(q.file, source.parent, shared) for q in questions}
    for name in sorted(name for name, path in here.items() if path is None):
        print(f"skipped: {name} is neither beside the questions nor in {shared / 'data'}")
    questions = [question for question in questions if here[question.file] is not None]
    facts = f"{method_digest()} {options.model} {hashlib.sha256(source.read_bytes()).hexdigest()}"
    method = hashlib.sha256(facts.encode()).hexdigest()[:16]
    out = Path(options.out)
    lines = out.read_text("utf-8").splitlines() if out.is_file() else []
    done = {row["id"]: row for row in map(json.loads, lines) if row.get("method") == method}
    from softlookup.session import Options, Session

    session = Session(options.model, options=Options(cache=False))
    missing = sorted((q for q in questions if q.id not in done), key=lambda q: (q.file, q.window or (0, 0)))
    for (name, window), group in groupby(missing, key=lambda q: (q.file, q.window)):
        start = time.perf_counter()
        with out.open("a", encoding="utf-8") as stream:
            for row in ask_window(session, here[name], list(group)):
                done[row["id"]] = row
                stream.write(json.dumps({"method": method, **row}, ensure_ascii=False) + "\n")
        print(f"{name} {window or ''}  {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    rows = [done[question.id] for question in questions]
    for split in ("dev", "test"):
        part = [row for row in rows if row["split"] == split]
        if part:
            report(split, part)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
