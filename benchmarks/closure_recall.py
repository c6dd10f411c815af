"""Does the closure pay for its room? All pieces of an answer in the fed context, with and without it, at equal budgets.

    python benchmarks/closure_recall.py [--split dev|test|held] [--budgets N ...] [--set NAME] [--cases] [--bank]

The closure adds what the ranked passages need: definitions, clauses they cite, clauses that override them. Its room is
taken from further ranked passages, so both ways get the same tokens of the embedded tokenizer. Two kinds of questions:
those of MAUD whose pieces lie more than 20,000 characters apart, and questions of our own whose answer needs a clause
and the definition or the clause that it cites, elsewhere in the file (labels/closure_questions.jsonl: offsets and the
digest of the file, no text). A piece is fed when half of its letters are in the context. Alone, a question is ranked
by BM25; with --bank as `ask` ranks it, in turn with the off-topic bank. Intervals are 95 %, by a bootstrap over
documents. No model is loaded; not for judging ranks of passages (maud.py, evidence_questions.py).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import maud
from alignment import Alignment
from evidence_metrics import interval, mean
from evidence_questions import find_file
from results import shared_data

LABELS = Path(__file__).parent / "labels" / "closure_questions.jsonl"
BUDGETS = (2000, 4000, 7400)
FED = 0.5  # of the letters of a piece
WAYS = ("without", "with")


@dataclass(frozen=True)
class Question:
    """A question of ``file``; ``pieces`` are offsets of the file that its answer needs, ``kind`` names its set."""

    id: str
    path: Path
    kind: str
    text: str
    pieces: tuple[tuple[int, int], ...]
    split: str
    digest: str = ""


def own_questions(source: Path, shared: Path) -> Iterator[Question]:
    """The labelled set; a file that is not here is skipped with a line, one that differs is an error."""
    rows = [json.loads(line) for line in source.read_text("utf-8").splitlines()]
    paths = {name: find_file(name, source.parent, shared) for name in dict.fromkeys(row["file"] for row in rows)}
    for name in (name for name, path in paths.items() if path is None):
        print(f"skipped: {name} is neither beside the questions nor in {shared}")
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in paths.items() if path}
    for row in rows:
        path = paths[row["file"]]
        if path is None:
            continue
        if digests[row["file"]] != row["sha256"]:
            raise SystemExit(f"{path} is not the file that was labelled ({row['id']}): its offsets do not hold")
        language = "zh" if any("一" <= letter <= "鿿" for letter in row["question"]) else "en"
        pieces = tuple((start, end) for start, end in row["spans"])
        yield Question(row["id"], path, f"own {language}", row["question"], pieces, row["split"])


def far_questions(folder: Path) -> Iterator[Question]:
    """MAUD's questions with pieces far apart; agreements in turn by name are dev and test."""
    found = {file: [q for q in asked if q.far] for file, asked in maud.load_questions(folder).items()}
    for place, file in enumerate(sorted(file for file, asked in found.items() if asked)):
        for number, question in enumerate(found[file]):
            split = ("dev", "test")[place % 2]
            yield Question(
                f"{file}:{number}", folder / "contracts" / file, "MAUD far", question.text, question.pieces, split
            )


def share_fed(text: str, piece: tuple[int, int] | None, spans: Sequence[object]) -> float:
    """Share of the letters of ``text[piece]`` that lie in ``spans``; 0 for a piece that the reader left out."""
    if piece is None:
        return 0.0
    wanted = [at for at in range(*piece) if not text[at].isspace()]
    return mean([any(span.start <= at < span.end for span in spans) for at in wanted]) if wanted else 0.0


def run_document(session: object, path: Path, questions: Sequence[Question], options: argparse.Namespace) -> list[dict]:
    """One row per question and budget: which pieces were fed, by each way."""
    from softlookup.documents.read import read_document
    from softlookup.retrieval.context import select_context
    from softlookup.session.readings import Readings

    document = read_document(path)
    readings = Readings(session, document, 0.0)
    with path.open(encoding="utf-8", newline="") as stream:
        aligned = Alignment(stream.read(), document.text)
    rows = []
    for question in questions:
        pieces = [aligned.span(*piece) for piece in question.pieces]
        rankings = readings.rankings([question.text]) if options.bank else [readings.search.ranking(question.text)]
        for budget in options.budgets:
            row = {"id": question.id, "group": str(path), "kind": question.kind, "split": question.split}
            row |= {"budget": budget, "question": question.text}
            for way in WAYS:
                context = select_context(
                    document,
                    readings.chunks,
                    rankings,
                    count_tokens=session.count_tokens,
                    max_context_tokens=budget,
                    asked=1,
                    closure=way == "with",
                )
                row[way] = [share_fed(document.text, piece, context.spans) >= FED for piece in pieces]
                row[f"{way} tokens"] = context.tokens
            rows.append(row)
    return rows


def all_fed(rows: Sequence[dict], way: str) -> float:
    """Share of questions of which every piece was fed."""
    return mean([all(row[way]) for row in rows])


def pieces_fed(rows: Sequence[dict], way: str) -> float:
    """Mean over questions of the share of pieces fed."""
    return mean([mean(row[way]) for row in rows])


def report(rows: Sequence[dict]) -> None:
    """One line per set, split and budget."""
    print(f"{'':26}{'all pieces fed':^52}{'difference':^24}   {'pieces fed':^16}")
    print(
        f"{'set':10}{'split':6}{'n':>3}{'budget':>7}  {'without':24}  {'with':24}  {'with - without':26}without  with"
    )
    order = sorted(rows, key=lambda row: (row["kind"], row["split"], row["budget"]))
    for (kind, split, budget), group in groupby(order, key=lambda row: (row["kind"], row["split"], row["budget"])):
        part = list(group)
        figures = [str(interval(part, lambda r, w=way: all_fed(r, w))) for way in WAYS]
        gain = interval(part, lambda r: all_fed(r, "with") - all_fed(r, "without"))
        means = "    ".join(f"{pieces_fed(part, way):.3f}" for way in WAYS)
        print(
            f"{kind:10}{split:6}{len(part):3}{budget:7}  {figures[0]:24}  {figures[1]:24}  "
            f"{gain.value:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]   {means}"
        )


def print_cases(rows: Sequence[dict]) -> None:
    """Questions on which the two ways differ: the pieces fed by each."""
    for row in rows:
        if row["with"] != row["without"]:
            marks = {way: "".join("+" if fed else "-" for fed in row[way]) for way in WAYS}
            fed = f"without {marks['without']:12} with {marks['with']:12}"
            print(f"{row['budget']:6} {fed} {row['id']}: {row['question']}")


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "test", "held"), help="one split only")
    parser.add_argument("--budgets", type=int, nargs="+", default=list(BUDGETS), metavar="TOKENS")
    parser.add_argument("--set", choices=("own en", "own zh", "MAUD far"), help="one set only")
    parser.add_argument("--bank", action="store_true", help="rank as `ask` does, in turn with the off-topic bank")
    parser.add_argument("--cases", action="store_true", help="also list the questions that differ")
    return parser.parse_args()


def main() -> int:
    """Measure and print."""
    options = parse()
    shared = shared_data()
    questions = list(own_questions(LABELS, shared))
    if (shared / "maud" / "questions.json").is_file():
        questions += far_questions(shared / "maud")
    else:
        print("skipped: no MAUD data (set SOFTLOOKUP_SHARED)")
    wanted = [q for q in questions if options.split in (None, q.split) and options.set in (None, q.kind)]
    from softlookup.session import Options, Session

    session = Session(options=Options(cache=False))
    rows: list[dict] = []
    for path, group in groupby(sorted(wanted, key=lambda q: str(q.path)), key=lambda q: q.path):
        rows += run_document(session, path, list(group), options)
        print(path.name[:60], file=sys.stderr, flush=True)
    if options.cases:
        print_cases(rows)
    if rows:
        report(rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
