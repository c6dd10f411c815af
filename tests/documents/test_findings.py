"""What a careful reader would mark: planted faults are found, healthy contracts give no remark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from softlookup.documents.findings import find_findings
from softlookup.documents.model import Document, Link, Span
from softlookup.documents.read import read_document

LEASE = """Lease of a Workshop

This lease is made between Tarn Holdings Limited (the "Landlord") and Pike Motors Limited (the "Tenant").

1. Definitions

"Premises" means the workshop at 4 Quay Road.

"Rent" means the sum stated in clause 2.1.

2. Rent

2.1 The Tenant pays the Rent of 900 pounds a month to the Landlord for the Premises.

2.2 The Rent is reviewed under clause 3.

3. Review

3.1 The Landlord reviews the Rent once a year. Clause 2.2 stays in force.
"""

LEASE_ZH = """房屋租赁合同

出租人：启岚置业有限公司（以下简称“甲方”）
承租人：澄远商贸有限公司（以下简称“乙方”）

第一条 定义
“租赁物”是指位于青石路4号的房屋。
“租金”是指第二条约定的款项。

第二条 租金
乙方每月向甲方支付租金九百元，租赁物的水费由乙方承担。

第三条 违约
乙方违反第二条的，甲方可以收回租赁物，并要求补交租金。
"""


def read(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "contract.txt"
    path.write_text(text, encoding="utf-8")
    return read_document(path)


def remarks(document: Document) -> list[tuple[str, str]]:
    return [(f.kind, document.text[f.span.start : f.span.end]) for f in find_findings(document)]


@pytest.mark.parametrize("text", [LEASE, LEASE_ZH])
def test_a_healthy_contract_gives_no_remark(tmp_path: Path, text: str) -> None:
    assert remarks(read(tmp_path, text)) == []


@pytest.mark.parametrize(
    ("healthy", "planted", "remark"),
    [
        ("clause 3.\n", "clause 9.\n", ("dangling_reference", "clause 9")),
        ("for the Premises.", "for the site.", ("unused_term", "Premises")),
        (
            "once a year.",
            "once a year. The Tenant pays the Deposit first. The Deposit is paid back.",
            ("undefined_term", "Deposit"),
        ),
        ("3. Review\n", '3. Review\n\n"Rent" means the sum stated in clause 3.1.\n', ("term_defined_twice", "Rent")),
    ],
)
def test_planted_faults_in_english(tmp_path: Path, healthy: str, planted: str, remark: tuple[str, str]) -> None:
    assert healthy in LEASE
    assert remarks(read(tmp_path, LEASE.replace(healthy, planted, 1))) == [remark]


@pytest.mark.parametrize(
    ("healthy", "planted", "remark"),
    [
        ("违反第二条的", "违反第九条的", ("dangling_reference", "第九条")),
        ("，租赁物的水费由乙方承担", "", ("unused_term", "租赁物")),
        ("要求补交租金。", "要求支付“滞纳金”。“滞纳金”按日计算，租金照付。", ("undefined_term", "滞纳金")),
        ("第三条 违约\n", "第三条 违约\n“租金”是指全部款项。\n", ("term_defined_twice", "租金")),
    ],
)
def test_planted_faults_in_chinese(tmp_path: Path, healthy: str, planted: str, remark: tuple[str, str]) -> None:
    assert healthy in LEASE_ZH
    text = LEASE_ZH.replace(healthy, planted, 1)
    if remark[0] == "unused_term":
        text = text.replace("收回租赁物，并", "")
    assert remarks(read(tmp_path, text)) == [remark]


def test_an_ambiguous_number_names_how_many(tmp_path: Path) -> None:
    text = LEASE.replace("\n3. Review", "\n2. Costs\n\nThe Tenant pays for water.\n\n3. Review").replace("2.1.", "2.")
    document = read(tmp_path, text)
    found = [f for f in find_findings(document) if f.kind == "ambiguous_reference"]
    assert [document.text[f.span.start : f.span.end] for f in found] == ["clause 2"]
    assert "2 clauses" in found[0].detail


def test_a_stale_field_tells_the_number_of_its_target(tmp_path: Path) -> None:
    document = read(tmp_path, LEASE)
    at = document.text.index("clause 3.\n")
    link = Link(Span(at, at + 8), document.text.index("3. Review"), computed="4")
    found = [f for f in find_findings(replace(document, links=(link,))) if f.kind == "stale_reference"]
    assert [(document.text[f.span.start : f.span.end], f.detail) for f in found] == [
        ("clause 3", "its target is now numbered 4")
    ]
    current = replace(link, computed="")
    assert not find_findings(replace(document, links=(current,)))


@pytest.mark.parametrize(
    "words",
    [
        "The Securities and Exchange Commission and the Commission agree. The Securities and Exchange Commission acts.",
        "It is filed in the State of Virginia. The State of Virginia and a Virginia company. A Virginia court decides.",
        "The Sections and the Exhibits bind. The Sections and the Exhibits are long.",
        "The RENT is due. The RENT is paid.",
        "See the Quay.com page and the Quay.com list.",
    ],
)
def test_phrases_that_are_no_undefined_terms(tmp_path: Path, words: str) -> None:
    assert remarks(read(tmp_path, LEASE.replace("once a year.", f"once a year. {words}"))) == []


def test_a_term_in_other_capitals_is_used(tmp_path: Path) -> None:
    text = LEASE.replace('"Premises" means', '"PREMISES(S)" means')
    assert ("unused_term", "PREMISES(S)") not in remarks(read(tmp_path, text))


def test_a_pointer_and_its_definition_are_one_definition(tmp_path: Path) -> None:
    text = LEASE.replace(
        '"Premises" means the workshop at 4 Quay Road.', '"Premises" has the meaning given in clause 3.'
    ).replace("Clause 2.2 stays", 'The workshop at 4 Quay Road (the "Premises") is let. Clause 2.2 stays')
    assert [kind for kind, _ in remarks(read(tmp_path, text))] == []


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ('TARN LIMITED ("Tarn" or the "Buyer")', True),  # the other name does the work
        ('TARN LIMITED ("Tarn") and FELL LIMITED (the "Buyer")', False),
        ("TARN LIMITED (“Tarn” or the “Buyer”)", True),
    ],
)
def test_a_second_name_of_a_party_that_nothing_uses_is_told(tmp_path, words, reported):
    text = f"AGREEMENT\n\nMade by {words}.\n\n1. Pay. The Buyer pays nine pounds.\n\n2. Law. The Buyer obeys it.\n"
    assert (("unused_term", "Tarn") in remarks(read(tmp_path, text))) is reported
