"""How large a report is and how long it takes to build, for documents of 10, 150 and 1,000 pages; loads no model.

    python benchmarks/report_size.py [--pages 10 150 1000] [--questions 3] [--out FOLDER]

The documents are made: an English PDF with 3,000 characters on a page, and Chinese text with 1,200. So are the answers:
each has four citations spread over the document, the first question an inspection and a diagnosis.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "documents"), str(ROOT / "tests" / "ui")]

import pdf_builders  # noqa: E402
import report_inputs  # noqa: E402

from softlookup.documents.read import read_document  # noqa: E402
from softlookup.ui.report import ReportInput, build_report  # noqa: E402

CHINESE = "乙方应当按照本合同约定的数量和质量向甲方交付货物，并在交付后三十日内完成安装调试。"


def chinese_text(pages: int) -> bytes:
    """Clauses of 120 characters, ten on a page."""
    clauses = (f"第{number}条 交付\n{CHINESE * 3}\n" for number in range(1, 10 * pages + 1))
    return ("采购合同\n\n" + "\n".join(clauses)).encode()


def measured(path: Path, pages: int, questions: int, out: Path | None) -> str:
    """One row of the table."""
    data = path.read_bytes()
    start = time.perf_counter()
    document = read_document(path)
    read_seconds = time.perf_counter() - start
    clauses = report_inputs.numbered(document)
    records = []
    for number in range(questions):
        step = max(1, len(clauses) // 5)
        vias = ("attention", "attention", "reference", "definition")
        cited = tuple(
            report_inputs.citation(document, clauses[(place + 1) * step + number], via)
            for place, via in enumerate(vias)
        )
        first = number == 0
        record = report_inputs.record(document, f"Question {number + 1}?", inspected=first, diagnosed=first)
        records.append(replace(record, answer=replace(record.answer, citations=cited)))
    source = data if document.source.format == "pdf" else None
    gc.collect()
    start = time.perf_counter()
    text = build_report(ReportInput(document, tuple(records), source=source))
    seconds = time.perf_counter() - start
    if out is not None:
        (out / f"report-{path.stem}.html").write_text(text, "utf-8")
    whole = "all" if 'class="gap"' not in text else "around the citations"
    return (
        f"{path.suffix[1:]:4} {pages:5,} pages {len(document.text):10,} characters {len(document.clauses):7,} clauses "
        f"| {len(text.encode()) / 1e6:5.2f} MB {seconds:6.1f} s (read {read_seconds:5.1f} s), "
        f"{text.count('data:image')} page images, text: {whole}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, nargs="+", default=[10, 150, 1000])
    parser.add_argument("--questions", type=int, default=3)
    parser.add_argument("--out", type=Path, help="keep the reports in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for pages in options.pages:
            path = Path(folder) / f"{pages}.pdf"
            path.write_bytes(pdf_builders.long_contract(pages, 3000))
            print(measured(path, pages, options.questions, options.out), flush=True)
            path = Path(folder) / f"{pages}-zh.txt"
            path.write_bytes(chinese_text(pages))
            print(measured(path, pages, options.questions, options.out), flush=True)


if __name__ == "__main__":
    main()
