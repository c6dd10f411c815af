"""Automatic clause numbers of DOCX: how many labels each library prints right, on the contracts of the tests.

    python benchmarks/docx_numbering.py                    # every tool, each in its own environment
    python benchmarks/docx_numbering.py --tools mammoth    # one tool, and softlookup
    python benchmarks/docx_numbering.py --oracle           # ask LibreOffice for the expected labels again

Environments are made below SOFTLOOKUP_BENCH_ENVS (or ~/.cache/softlookup/bench-envs) and kept. A label is right
when exactly it stands before the marker word of its paragraph; Markdown signs around it are forgiven.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import venv
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.documents.numbering_contracts import build_contracts
from tests.documents.numbering_draft import NumberingContract
from tests.documents.numbering_golden import expected_labels, label_before, regenerate

BULLETS = ("•", "◦", "▪", "–", "-", "*", "--", "·")

_PYTHON_DOCX = """
import docx
from docx.table import Table
def lines(part):
    for block in part.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                for cell in row.cells:
                    yield from lines(cell)
        else:
            yield block.text
text = "\\n".join(lines(docx.Document(source)))
"""
_DOCX2PYTHON = """
from docx2python import docx2python
with docx2python(source) as result:
    text = result.text
"""
_MAMMOTH = """
import mammoth
with open(source, "rb") as file:
    text = mammoth.convert_to_markdown(file).value
"""
_MARKITDOWN = """
from markitdown import MarkItDown
text = MarkItDown().convert(source).text_content
"""
_DOCLING = """
from docling.document_converter import DocumentConverter
text = DocumentConverter().convert(source).document.export_to_markdown()
"""
_RUN = """
import sys
source, target = sys.argv[1:3]
{code}
open(target, "w", encoding="utf-8").write(text)
"""


@dataclass(frozen=True)
class Tool:
    """A library: what to install, in this order, and code that turns ``source`` into ``text``."""

    name: str
    packages: tuple[str, ...]
    code: str


TOOLS = (
    Tool("python-docx", ("python-docx",), _PYTHON_DOCX),
    Tool("docx2python", ("docx2python",), _DOCX2PYTHON),
    Tool("mammoth", ("mammoth",), _MAMMOTH),
    Tool("markitdown", ("markitdown[docx]",), _MARKITDOWN),
    # it does not import without torch, which it does not ask for
    Tool("docling-slim", ("torch==2.13.0", "docling-slim[format-docx]"), _DOCLING),
)


@dataclass
class Score:
    """One row of the table."""

    tool: str
    right: int = 0
    near: int = 0
    labels: int = 0
    lost: int = 0
    crashed: int = 0
    by_contract: dict[str, str] = field(default_factory=dict)
    complaint: str = ""


def environment(tool: Tool, root: Path) -> Path:
    """The Python of the tool's environment, made and filled on the first call."""
    folder = root / tool.name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        for package in tool.packages:
            install = [str(python), "-m", "pip", "install", "--quiet", package]
            subprocess.run(install, check=True, capture_output=True, text=True)
        (folder / "ready").touch()
    return python


def version(python: Path, tool: Tool) -> str:
    """Installed version of the tool."""
    name = tool.packages[-1].split("[")[0]
    code = f"import importlib.metadata as m; print(m.version({name!r}))"
    return subprocess.run([str(python), "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def read_with(python: Path, tool: Tool, contract: NumberingContract, folder: Path) -> tuple[str | None, str]:
    """(text, complaint): None when the tool crashed or took more than five minutes."""
    source, target = folder / f"{contract.name}.docx", folder / f"{contract.name}.{tool.name}.txt"
    source.write_bytes(contract.data)
    command = [str(python), "-c", _RUN.format(code=tool.code), str(source), str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except subprocess.TimeoutExpired:
        return None, "no result in 300 s"
    if done.returncode or not target.exists():
        return None, (done.stderr.strip().splitlines() or ["no output"])[-1][:200]
    return target.read_text("utf-8"), ""


def plain(label: str) -> str:
    """A label without the signs that Markdown and HTML put around text."""
    label = re.sub(r"<[^<>]{0,200}>", "", label).replace("\\", "").replace("**", "").replace("__", "")
    return re.sub(r"^(?:#{1,6} |\|)+|\|$", "", label.strip()).strip()


def is_right(found: str, expected: str) -> bool:
    """Exactly the label, also after a Markdown list sign; any bullet for a bullet."""
    bare = plain(found)
    if expected in BULLETS:
        return bare in BULLETS
    return expected in (found, bare, re.sub(r"^[-*] +", "", bare), "" if bare in ("-", "*") else bare)


def is_near(found: str, expected: str) -> bool:
    """The right number in the wrong signs: "1)" for "1.", but not "1" for "Article 1"."""
    shown, wanted = ("".join(c for c in text if c.isalnum()) for text in (plain(found), expected))
    return shown == wanted != ""


def judge(score: Score, contract: NumberingContract, text: str | None) -> None:
    """Count the labels of one contract."""
    expected = expected_labels(contract)
    score.labels += len(expected)
    if text is None:
        score.crashed += 1
        score.by_contract[contract.name] = "crashed"
        return
    right = 0
    for marker, label in expected.items():
        found = label_before(marker, text.replace("|", "   "))
        score.lost += found is None
        fits = found is not None and is_right(found, label)
        right += fits
        score.near += fits or (found is not None and is_near(found, label))
    score.right += right
    score.by_contract[contract.name] = f"{right}/{len(expected)}"


def measure(tool: Tool, root: Path, contracts: tuple[NumberingContract, ...], folder: Path) -> Score:
    """All contracts through one tool."""
    score = Score(tool.name)
    try:
        python = environment(tool, root)
        score.tool = f"{tool.name} {version(python, tool)}"
    except (subprocess.CalledProcessError, OSError) as error:
        score.complaint = f"could not be installed: {str(getattr(error, 'stderr', '') or error).strip()[-200:]}"
        return score
    for contract in contracts:
        text, complaint = read_with(python, tool, contract, folder)
        score.complaint = score.complaint or complaint
        judge(score, contract, text)
    return score


def own_score(contracts: tuple[NumberingContract, ...]) -> Score:
    """All contracts through softlookup."""
    import softlookup
    from softlookup.documents.readers.docx.reader import read_docx

    score = Score(f"softlookup {softlookup.__version__}")
    for contract in contracts:
        result = read_docx(contract.data)
        text = result.text
        for span in sorted(result.generated, key=lambda s: s.start, reverse=True):
            text = f"{text[: span.start]}\n{text[span.start :]}"  # a cell or a note holds several numbers in a line
        judge(score, contract, text)
    return score


def table(scores: list[Score], contracts: tuple[NumberingContract, ...]) -> str:
    """Markdown tables: the totals, then the contracts."""
    lines = [
        "| tool | labels right | number right, signs aside | paragraphs lost | files crashed |",
        "|---|---|---|---|---|",
    ]
    measured = [s for s in scores if s.labels]
    lines += [f"| {s.tool} | {s.right}/{s.labels} | {s.near}/{s.labels} | {s.lost} | {s.crashed} |" for s in measured]
    lines += [f"| {s.tool} | {s.complaint} | | | |" for s in scores if not s.labels]
    lines += ["", "| contract | " + " | ".join(s.tool for s in measured) + " |", "|---" * (len(measured) + 1) + "|"]
    for contract in contracts:
        lines.append(f"| {contract.name} | " + " | ".join(s.by_contract[contract.name] for s in measured) + " |")
    lines += [f"{s.tool}: {s.complaint}" for s in measured if s.complaint]
    return "\n".join(lines)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", action="store_true", help="write the golden labels again, with LibreOffice")
    parser.add_argument("--tools", nargs="*", choices=[tool.name for tool in TOOLS], default=None)
    parser.add_argument("--keep", type=Path, help="folder for the contracts and what the tools made of them")
    arguments = parser.parse_args()
    if arguments.oracle:
        print(f"{regenerate()} labels written")
        return
    default = Path.home() / ".cache" / "softlookup" / "bench-envs"
    root = Path(os.environ.get("SOFTLOOKUP_BENCH_ENVS", default))
    contracts = build_contracts()
    chosen = [tool for tool in TOOLS if arguments.tools is None or tool.name in arguments.tools]
    with tempfile.TemporaryDirectory() as place:
        folder = arguments.keep or Path(place)
        folder.mkdir(parents=True, exist_ok=True)
        scores = [own_score(contracts)] + [measure(tool, root, contracts, folder) for tool in chosen]
    print(table(scores, contracts))


if __name__ == "__main__":
    main()
