"""Every real file that is at hand is read or refused as expected, and its tree tiles its text."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from softlookup.documents.read import read_document
from softlookup.errors import DocumentError

from .test_structure import check_invariants

SHARED = Path(os.environ.get("SOFTLOOKUP_SHARED") or Path(__file__).resolve().parents[3] / "shared") / "data"
SUFFIXES = (".txt", ".md", ".html", ".docx", ".pdf", ".doc")
REFUSED = {
    "all_whitespace.txt": "text",
    "legacy_word97.doc": ".doc",
    "encrypted_user_password.pdf": "password",
    "encrypted_user_password_test.pdf": "password",
}
EXTRACTS = ("awkward", "contracts_en", "contracts_zh", "law_zh")

pytestmark = [
    pytest.mark.shared_data,
    pytest.mark.skipif(not SHARED.is_dir(), reason="evaluation data not found by SOFTLOOKUP_SHARED or ../shared"),
]


def real_files(*folders: str) -> list[Path]:
    found = (p for folder in folders for p in sorted((SHARED / folder).rglob("*")) if p.suffix.lower() in SUFFIXES)
    return [path for path in found if "LICENSE" not in path.name]


@pytest.mark.parametrize("path", real_files(*EXTRACTS), ids=lambda path: path.name)
def test_file_is_read_or_refused_as_expected(path):
    if path.name in REFUSED:
        with pytest.raises(DocumentError, match=REFUSED[path.name]):
            read_document(path)
        return
    document = read_document(path)
    check_invariants(document.text, document.clauses)
    assert all(b.span.end <= len(document.text) for b in document.blocks)
    if path.suffix in (".txt", ".md") and document.source.format != "edgar":
        decoded = path.read_bytes().decode("utf-8-sig", "replace")
        if "\ufffd" not in decoded and "\0" not in decoded:
            expected = decoded.replace("\r\n", "\n").replace("\r", "\n")
            if path.suffix == ".md":  # what a page hides is blanked, so that offsets stay
                expected = re.sub(r"<!--.*?-->", lambda m: re.sub(r"[^\n]", " ", m[0]), expected, flags=re.S)
            assert document.text == expected


def test_contract_texts_have_numbered_clauses():
    paths = real_files("cuad/contracts")[::24] + real_files("maud/contracts")[:2] + real_files("cuad_pdf")[-2:]
    numbered = []
    for path in paths:
        document = read_document(path)
        check_invariants(document.text, document.clauses)
        numbered.append(sum(1 for clause in document.clauses if clause.number))
    assert sum(count >= 10 for count in numbered) >= 0.8 * len(numbered), numbered


def test_word_lists_nest_as_their_levels_say():
    document = read_document(SHARED / "awkward/docx/nvca_model_coi_xrefs_footnotes.docx")
    numbers = [
        [document.clauses[i].number for i in reversed([c.index, *(a.index for a in document.ancestors(c.index))])]
        for c in document.clauses
        if c.label_source == "auto"
    ]
    assert [chain[-4:] for chain in numbers if chain[-1] == "2.3.1"] == [["B", "2", "2.3", "2.3.1"]]
    outer = {chain[-1]: chain[:-1] for chain in numbers if chain[-1] in ("Fourth", "Fifth", "3.3.9", "9", "B")}
    assert outer["Fourth"] == outer["Fifth"]
    assert outer["B"][-1] == "Fourth"
    assert outer["3.3.9"][-3:] == ["B", "3", "3.3"]
