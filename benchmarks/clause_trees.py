"""Read every file of a data folder in a process of its own: clauses, references, terms, coverage, time, memory.

    python benchmarks/clause_trees.py [--data FOLDER] [--out clause_trees.jsonl] [--csv] [--cuad 100]

FOLDER is ``$SOFTLOOKUP_SHARED/data``, with awkward/, contracts_en/, contracts_zh/, law_zh/, cuad_pdf/, cuad/contracts/
and maud/contracts/. The table goes to stdout as Markdown, or as CSV with --csv. Resumable: a file that is already in
--out is not read again. Seconds and memory are those of ``read_document``; the start of the interpreter is left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_PARTS = ("awkward", "contracts_en", "contracts_zh", "law_zh", "cuad_pdf", "cuad/contracts", "maud/contracts")
_NO_DOCUMENT = ("LICENSE_NOTE.txt", "MANIFEST.tsv", "LICENSE")
_PASSWORD = "test"
_LONGEST = 300  # seconds for one file
_COLUMNS = (
    "file", "format", "characters", "clauses", "numbered", "deepest", "flagged", "references", "resolved", "dangling",
    "terms", "pages", "read", "aside", "skipped", "seconds", "peak_mb", "error",
)  # fmt: skip


def files_of(data: Path, cuad: int) -> Iterator[Path]:
    """The files to read, in a fixed order; the first ``cuad`` of the CUAD texts."""
    for part in _PARTS:
        found = sorted(p for p in (data / part).rglob("*") if p.is_file() and p.name not in _NO_DOCUMENT)
        yield from found[:cuad] if part.startswith("cuad/") else found


def read_here(path: Path) -> dict[str, object]:
    """One row for ``path``, read in this process; call it once per process, or the memory is not its own."""
    from softlookup.documents.read import read_document
    from softlookup.errors import SoftlookupError

    before = time.perf_counter()
    try:
        document = read_document(path, password=_PASSWORD if "password" in path.name else None)
    except SoftlookupError as error:
        return {"error": str(error)[:160], "seconds": round(time.perf_counter() - before, 2)}
    statuses = [reference.status for reference in document.references]
    return {
        "format": document.source.format,
        "characters": len(document.text),
        "clauses": len(document.clauses),
        "numbered": sum(bool(clause.number) for clause in document.clauses),
        "deepest": max((clause.level for clause in document.clauses), default=0),
        "flagged": sum(bool(clause.flags) for clause in document.clauses),
        "references": len(statuses),
        "resolved": sum(status in ("resolved", "inferred", "ambiguous") for status in statuses),
        "dangling": statuses.count("dangling"),
        "terms": len(document.terms),
        "pages": document.coverage.pages,
        "read": sum(row.characters for row in document.coverage.rows if row.state in ("read", "ocr")),
        "aside": sum(len(aside.text) for aside in document.aside),
        "skipped": len(document.coverage.skipped),
        "seconds": round(time.perf_counter() - before, 2),
    }


def read_apart(path: Path, data: Path) -> dict[str, object]:
    """The row of ``path`` from a process of its own; a crash or a timeout is a row with an error."""
    command = [sys.executable, __file__, "--one", str(path)]
    row: dict[str, object] = {"file": str(path.relative_to(data))}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LONGEST, check=False)
    except subprocess.TimeoutExpired:
        return row | {"error": f"no result after {_LONGEST} s"}
    if done.returncode:
        return row | {"error": (done.stderr.strip().splitlines() or ["died"])[-1][:160]}
    return row | json.loads(done.stdout.splitlines()[-1])


def one(path: Path) -> None:
    """Print the row of ``path`` as JSON, with the peak memory of this process and its children."""
    row = read_here(path)
    used = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(json.dumps(row | {"peak_mb": used // 1024}, ensure_ascii=False))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("SOFTLOOKUP_SHARED", ".")) / "data")
    parser.add_argument("--out", type=Path, default=Path("clause_trees.jsonl"))
    parser.add_argument("--cuad", type=int, default=100, help="how many CUAD texts")
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one)
        return 0
    lines = options.out.read_text("utf-8").splitlines() if options.out.is_file() else []
    done = {row["file"]: row for row in map(json.loads, lines)}
    rows = []
    for path in files_of(options.data, options.cuad):
        name = str(path.relative_to(options.data))
        if name not in done:
            done[name] = read_apart(path, options.data)
            with options.out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(done[name], ensure_ascii=False) + "\n")
        rows.append(done[name])
    _print(rows, as_csv=options.csv)
    return 0


def _print(rows: list[dict[str, object]], *, as_csv: bool) -> None:
    if as_csv:
        writer = csv.writer(sys.stdout)
        writer.writerow(_COLUMNS)
        writer.writerows([row.get(column, "") for column in _COLUMNS] for row in rows)
        return
    print("| " + " | ".join(_COLUMNS) + " |")
    print("|" + "---|" * len(_COLUMNS))
    for row in rows:
        cells = ("" if row.get(column) is None else str(row[column]) for column in _COLUMNS)
        print("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")


if __name__ == "__main__":
    raise SystemExit(main())
