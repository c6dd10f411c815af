"""How fast and in how much memory documents are read: a 200-page PDF, texts of up to 4,000,000 characters, start-up.

    python benchmarks/reading.py [--rounds 3]

The documents are made here, so nothing but this repository is needed. Every reading runs in a process of its own;
wall and processor seconds are those of the whole process, Python's start included, and of the pdfium child with it.
Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

_SENTENCE = (
    "the Buyer shall pay to the Supplier within thirty days after receipt of an invoice for Goods that were delivered "
    "under an Order unless the parties agree otherwise in writing and no delay in payment releases either party from "
    "its duty to keep the Plant insured against loss and damage of any kind"
)
_WORDS = _SENTENCE.split()
_READ = (
    "import sys\nfrom softlookup.documents.read import read_document\n"
    "d = read_document(sys.argv[1])\nassert 'torch' not in sys.modules\n"
    "print(len(d.text), len(d.clauses), len(d.terms), len(d.references), len(d.lines))\n"
)


def contract(characters: int) -> str:
    """A contract of about that length: articles of five sections with items, definitions and references."""
    pick = random.Random(7)
    pieces: list[str] = ["SUPPLY AGREEMENT\n"]
    length = article = 0
    while length < characters:
        article += 1
        piece = [f"\nARTICLE {article} DELIVERIES OF KIND {article}\n"]
        for section in range(1, 6):
            words = " ".join(pick.choices(_WORDS, k=90))
            piece.append(
                f'\n{article}.{section} Kind {section}. "Lot {article}-{section}" means goods of that kind. Subject to '
                f"Section {article}.{section % 5 + 1}, {words}:\n\n(a) {' '.join(pick.choices(_WORDS, k=25))}; and\n\n"
                f"(b) every Lot {article}-{section} stays at the risk of the Supplier.\n"
            )
        pieces += piece
        length += sum(map(len, piece))
    return "".join(pieces)


def pdf(pages: int) -> bytes:
    """A PDF of lines of Helvetica, about 4,200 characters a page."""
    lines = [line for paragraph in contract(pages * 4600).split("\n") if paragraph for line in _wrapped(paragraph)]
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for page in range(pages):
        rows = lines[page * 58 : page * 58 + 58]
        drawn = "".join(f"({_escaped(row)}) Tj T*\n" for row in rows)
        body = zlib.compress(f"BT /F1 8 Tf 12.5 TL 54 770 Td\n{drawn}ET\n".encode("latin-1"))
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects) + 2} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        head = f"<< /Length {len(body)} /Filter /FlateDecode >>\nstream\n".encode()
        objects.append(head + body + b"\nendstream")
    objects[1] = f"<< /Type /Pages /Count {pages} /Kids [{' '.join(kids)}] >>".encode()
    return _file(objects)


def _wrapped(paragraph: str) -> list[str]:
    found, line = [], ""
    for word in paragraph.split():
        if len(line) + len(word) > 76:
            found.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*found, line]


def _escaped(row: str) -> str:
    return row.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def _file(objects: list[bytes]) -> bytes:
    out, places = bytearray(b"%PDF-1.5\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010} 00000 n \n".encode() for place in places)
    out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)


def measured(command: list[str]) -> tuple[float, float, float, str]:
    """(wall seconds, processor seconds with children, peak MB, what it printed) of one run."""
    start, reader, writer = time.perf_counter(), *os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(writer, f"{usage.ru_utime + usage.ru_stime} {usage.ru_maxrss} {done.stdout}".encode())
        os._exit(0)
    os.close(writer)
    told = os.read(reader, 10_000).decode()
    os.close(reader)
    os.waitpid(child, 0)
    seconds, peak, printed = told.split(" ", 2)
    return time.perf_counter() - start, float(seconds), int(peak) / 1024, printed.strip()


def row(name: str, command: list[str], rounds: int) -> None:
    """Print medians over the rounds."""
    runs = [measured(command) for _ in range(rounds)]
    wall, cpu, peak = (statistics.median(run[place] for run in runs) for place in range(3))
    print(f"{name:28} {wall:6.2f} {cpu:6.2f} {peak:6.0f}   {runs[0][3]}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    print(f"{'':28} {'wall s':>6} {'cpu s':>6} {'MB':>6}   characters, clauses, terms, references, lines")
    row("python -c pass", [sys.executable, "-c", "print()"], rounds)
    row("softlookup --help", [sys.executable, "-m", "softlookup", "--version"], rounds)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contract.pdf"
        path.write_bytes(pdf(200))
        row("PDF, 200 pages", [sys.executable, "-c", _READ, str(path)], rounds)
        for size in (500_000, 1_000_000, 2_000_000, 4_000_000):
            path = Path(folder) / f"{size}.txt"
            path.write_text(contract(size), encoding="utf-8")
            row(f"text, {size:,}", [sys.executable, "-c", _READ, str(path)], rounds)


if __name__ == "__main__":
    main()
