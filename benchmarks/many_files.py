"""Ask every given file one question in a fresh process each: strategy, outcome, seconds, peak memory.

    python benchmarks/many_files.py FILE [FILE ...] [--out many_files.jsonl] [--question TEXT]

Chinese files get a Chinese question. Resumable: a file that is already in --out is not run again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ENGLISH, CHINESE = "How can a party terminate the agreement?", "一方如何解除合同？"


def run_file(path: Path, question: str | None) -> dict:
    """One row of the table; ``kib`` is the peak resident memory of the process."""
    asked = question or (CHINESE if any("\u3400" <= c <= "\u9fff" for c in str(path)) or "zh" in str(path) else ENGLISH)
    command = [sys.executable, "-m", "softlookup", "ask", str(path), asked, "--json"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    output, complaint = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    row = {
        "file": str(path),
        "exit": os.waitstatus_to_exitcode(status),
        "seconds": round(time.perf_counter() - start, 1),
        "kib": usage.ru_maxrss,
        "traceback": "Traceback" in complaint,
    }
    if output.strip():
        answer = json.loads(output.splitlines()[0])
        row |= {
            "strategy": answer["plan"]["strategy"],
            "tokens": answer["plan"]["document_tokens"],
            "read": answer["coverage"]["tokens_read"],
            "pages": answer["coverage"]["pages"],
            "outcome": answer["outcome"],
            "p": answer["p_value"],
            "first": answer["citations"][0]["clause"] if answer["citations"] else "",
        }
    else:
        row["error"] = complaint.strip().splitlines()[-1][:150] if complaint.strip() else ""
    return row


def main() -> int:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("many_files.jsonl"))
    parser.add_argument("--question")
    options = parser.parse_args()
    lines = options.out.read_text("utf-8").splitlines() if options.out.is_file() else []
    done = {row["file"]: row for row in map(json.loads, lines)}
    for path in options.files:
        if str(path) not in done:
            done[str(path)] = row = run_file(path, options.question)
            with options.out.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            print(row, file=sys.stderr, flush=True)
    print("| file | pages | tokens | read | strategy | outcome | exit | first clause | s | peak MB |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for path in options.files:
        row = done[str(path)]
        cells = [Path(row["file"]).name[:48], row.get("pages") or "", row.get("tokens", ""), row.get("read", "")]
        cells += [row.get("strategy", row.get("error", "")), row.get("outcome", ""), row["exit"], row.get("first", "")]
        print("|", " | ".join(str(c) for c in [*cells, row["seconds"], row["kib"] // 1000]), "|")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
