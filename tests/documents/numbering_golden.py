"""The expected labels of the numbering contracts: golden files, their writer, and the reading of labels.

``golden/docx_numbering.json`` is what LibreOffice printed. ``golden/docx_numbering_word.json`` lists by hand the
few labels where LibreOffice departs from Word, each with what it printed, the reason and the source.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .numbering_contracts import build_contracts, build_twins
from .numbering_draft import NumberedRow, NumberingContract

GOLDEN = Path(__file__).parent / "golden"
_PRINTED = GOLDEN / "docx_numbering.json"
_WORD = GOLDEN / "docx_numbering_word.json"
_MARKER = re.compile(r"Q\d{3} \S{1,80}")


@dataclass(frozen=True, slots=True)
class WordLabel:
    """A label that Word prints and LibreOffice does not."""

    contract: str
    case: str
    label: str
    libreoffice: str
    reason: str
    source: str


def word_labels() -> tuple[WordLabel, ...]:
    """The labels that are Word's against LibreOffice."""
    return tuple(WordLabel(**row) for row in json.loads(_WORD.read_text("utf-8")))


def printed_labels(contract: str) -> dict[str, str]:
    """What LibreOffice printed: marker -> label."""
    return dict(json.loads(_PRINTED.read_text("utf-8"))["contracts"][contract])


def expected_labels(contract: NumberingContract) -> dict[str, str]:
    """Marker -> label: LibreOffice's, and Word's where the two differ."""
    corrected = {row.case: row.label for row in word_labels() if row.contract == contract.name}
    printed = printed_labels(contract.name)
    return {row.marker: corrected.get(row.case, printed.get(row.marker, "?")) for row in contract.rows}


def label_before(marker: str, text: str) -> str | None:
    """What stands before ``marker`` in its line, without the cells before it; None when it does not occur."""
    line = next((line for line in text.split("\n") if marker in line), None)
    if line is None:
        return None
    before = _MARKER.split(line[: line.index(marker)])[-1].strip()
    return re.split(r"\s{3,}", before)[-1] if before else ""


def _convert(folder: Path, target: str, names: Iterable[str]) -> None:
    """Have LibreOffice convert files of ``folder`` in place."""
    command = ["soffice", f"-env:UserInstallation=file://{folder}/profile", "--headless", "--convert-to", target]
    subprocess.run(
        [*command, "--outdir", str(folder), *(str(folder / name) for name in names)],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip


def _witnessed(folder: Path, contract: NumberingContract, row: NumberedRow) -> str:
    if row.witness == "print":
        pdf = folder / f"{contract.name}.pdf"
        shown = subprocess.run(["pdftotext", "-layout", str(pdf), "-"], check=True, capture_output=True).stdout
        text = shown.decode("utf-8")
    else:
        name = f"twin {contract.name}" if row.witness == "twin" else contract.name
        text = (folder / f"{name}.txt").read_text("utf-8-sig")
    label = label_before(row.marker, text)
    if label is None:
        raise ValueError(f"LibreOffice must show every marker, {row.marker} of {contract.name!r} is missing")
    return label


def regenerate() -> int:
    """Ask LibreOffice for every label and write the golden file; the number of labels."""
    contracts = build_contracts()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for prefix, group in (("", contracts), ("twin ", build_twins())):
            for contract in group:
                (folder / f"{prefix}{contract.name}.docx").write_bytes(contract.data)
        names = sorted(path.name for path in folder.glob("*.docx"))
        _convert(folder, "txt:Text (encoded):UTF8", names)
        printed = {f"{c.name}.docx" for c in contracts if any(row.witness == "print" for row in c.rows)}
        _convert(folder, "pdf", sorted(printed))
        labels = {c.name: {row.marker: _witnessed(folder, c, row) for row in c.rows} for c in contracts}
    version = subprocess.run(["soffice", "--version"], check=True, capture_output=True, text=True).stdout
    content = {"source": " ".join(version.split()[:2]), "contracts": labels}
    _PRINTED.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
    return sum(map(len, labels.values()))
