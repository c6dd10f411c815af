"""Clauses by the names that people give them, and the advice for names that fit none."""

from __future__ import annotations

from pathlib import Path

import pytest

from softlookup.documents.addresses import clauses_named
from softlookup.documents.model import Document
from softlookup.documents.read import read_document
from softlookup.errors import UsageError

AGREEMENT = """Supply Agreement

ARTICLE IV
SUPPLY

Section 4.1 Orders. The Buyer orders goods in writing.

Section 4.2 Delivery. The Seller delivers:

(a) within ten days of the order; and

(b) at the depot of the Buyer.

ARTICLE V
PAYMENT

Section 5.1 Price. The Buyer pays the price in Schedule 2.

Section 5.2 Interest. Late sums bear interest.

Schedule 2

1. Goods. The goods are pumps and valves of any size.

2. Prices. The following prices apply.

2.1 A pump costs ninety pounds.

2.2 A valve costs nine pounds.
"""

ZH = """租赁合同

第一条 租金
（一）租金每月九百元。
（二）租金按月支付。

第二条 押金
押金为两个月租金。

第三条 期限
租期两年。

第四条 其他
本合同自签字之日起生效。
"""


def read(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "contract.txt"
    path.write_text(text, encoding="utf-8")
    return read_document(path)


def begins(document: Document, wanted: str) -> list[str]:
    return [" ".join(document.text[c.span.start :].split())[:16] for c in clauses_named(document, wanted)]


@pytest.mark.parametrize(
    ("wanted", "beginning"),
    [
        ("4.2", "Section 4.2 Deli"),
        ("Section 4.2", "Section 4.2 Deli"),
        ("section  4.2.", "Section 4.2 Deli"),
        ("clause 4.2", "Section 4.2 Deli"),
        ("§ 4.2", "Section 4.2 Deli"),
        ("４．２", "Section 4.2 Deli"),
        ("Section 4.2(b)", "(b) at the depot"),
        ("4.2 (b)", "(b) at the depot"),
        ("ARTICLE IV", "ARTICLE IV SUPPL"),
        ("article 4", "ARTICLE IV SUPPL"),
        ("Section 5", "ARTICLE V PAYMEN"),
        ("Schedule 2", "Schedule 2 1. Go"),
        ("schedule 2/2.1", "2.1 A pump costs"),
        ("Schedule 2/1", "1. Goods. The go"),
        ("Interest", "Section 5.2 Inte"),
        ("payment", "ARTICLE V PAYMEN"),
    ],
)
def test_names_of_english_clauses(tmp_path: Path, wanted: str, beginning: str) -> None:
    assert begins(read(tmp_path, AGREEMENT), wanted) == [beginning]


@pytest.mark.parametrize(
    ("wanted", "beginning"),
    [
        ("第二条", "第二条 押金 押金为两个月租金"),
        ("第2条", "第二条 押金 押金为两个月租金"),
        ("2", "第二条 押金 押金为两个月租金"),
        ("第一条第二款", "（二）租金按月支付。"),
        ("第一条（二）", "（二）租金按月支付。"),
        ("押金", "第二条 押金 押金为两个月租金"),
    ],
)
def test_names_of_chinese_clauses(tmp_path: Path, wanted: str, beginning: str) -> None:
    (found,) = begins(read(tmp_path, ZH), wanted)
    assert found.startswith(beginning[:8])


def test_a_number_that_is_printed_twice_gives_both(tmp_path: Path) -> None:
    text = (
        "Terms\n\n1. Price. The price is nine pounds.\n\n2. Place. The depot of the Buyer.\n\n2. Time. In ten days.\n"
    )
    assert [b[:8] for b in begins(read(tmp_path, text), "2")] == ["2. Place", "2. Time."]


@pytest.mark.parametrize("wanted", ["9.9", "Section 4.2(z)", "Schedule 7", "第九条", "no such heading", "Schedule 7/1"])
def test_a_name_that_fits_no_clause_is_refused(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        clauses_named(read(tmp_path, AGREEMENT), wanted)
    assert wanted in str(caught.value)


def test_the_refusal_suggests_near_names(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean .*4\.2"):
        clauses_named(read(tmp_path, AGREEMENT), "4.3")


@pytest.mark.parametrize("wanted", ["", "  ", ".", "section"])
def test_an_empty_name_is_refused(tmp_path: Path, wanted: str) -> None:
    with pytest.raises(UsageError, match="required"):
        clauses_named(read(tmp_path, AGREEMENT), wanted)


OUTLINE = """SERVICE DEED

BACKGROUND

(A) Tarn owns the land.

(B) Fell wants to use it.

1. Use. Fell uses the land:

(a) by day; and

(b) by night.

2. Rent. Fell pays.

2. Time. One year.

Schedule 1

1. Land. A field.

2. Gate. A gate.

2. Key. A key.

Schedule 2

1. Rent. Nine pounds.

3. Tax. None.
"""
ROMAN = """I. GRANT

A. Rights. Rights are granted.

B. Term. As follows:

1. One year.

2. Two years.

II. FEES

A. Fees are due.

B. Costs are due.
"""


@pytest.mark.parametrize("text", [AGREEMENT, ZH, OUTLINE, ROMAN])
def test_every_path_that_is_printed_is_accepted(tmp_path: Path, text: str) -> None:
    document = read(tmp_path, text + "\n\nSigned by both.\n")
    for clause in document.clauses:
        if clause.path:
            assert clause in clauses_named(document, clause.path)
            if "#" in clause.path:
                assert clauses_named(document, clause.path) == (clause,)


def test_the_second_of_two_numbers_is_found_alone(tmp_path: Path) -> None:
    document = read(tmp_path, OUTLINE)
    assert begins(document, "2#2") == ["2. Time. One yea"]
    assert begins(document, "Schedule 1/2#2") == ["2. Key. A key. S"]
    assert [b[:8] for b in begins(document, "Schedule 1/2")] == ["2. Gate.", "2. Key. "]
    with pytest.raises(UsageError):
        clauses_named(document, "2#3")


@pytest.mark.parametrize(
    ("wanted", "beginning"),
    [
        ("paragraph 3 of Schedule 2", "3. Tax. None."),
        ("para. 3 of the Schedule 2", "3. Tax. None."),
        ("Schedule 2, paragraph 3", "3. Tax. None."),
        ("Sch 2/3", "3. Tax. None."),
        ("Sch. 2", "Schedule 2 1. Re"),
        ("Clause 1(b)", "(b) by night. 2."),
        ("cl. 1(b)", "(b) by night. 2."),
        ("Recital A", "(A) Tarn owns th"),
        ("recital (B)", "(B) Fell wants t"),
    ],
)
def test_names_as_people_write_them(tmp_path: Path, wanted: str, beginning: str) -> None:
    assert begins(read(tmp_path, OUTLINE), wanted) == [beginning]


@pytest.mark.parametrize(
    ("wanted", "beginning"),
    [
        ("I.B", "B. Term. As foll"),
        ("I/B", "B. Term. As foll"),
        ("Section I(B)", "B. Term. As foll"),
        ("Paragraph I.B.2", "2. Two years. II"),
        ("Article II", "II. FEES A. Fees"),
        ("Paragraph II", "II. FEES A. Fees"),
    ],
)
def test_names_in_an_outline(tmp_path: Path, wanted: str, beginning: str) -> None:
    assert begins(read(tmp_path, ROMAN), wanted) == [beginning]


@pytest.mark.parametrize("wanted", ["Recital Z", "Sch 9/1", "paragraph 9 of Schedule 2", "I.Z", "x" * 5000, "(" * 5000])
def test_a_name_that_looks_right_and_fits_none_is_refused(tmp_path: Path, wanted: str) -> None:
    for text in (OUTLINE, ROMAN):
        with pytest.raises(UsageError, match="no clause"):
            clauses_named(read(tmp_path, text), wanted)


def test_a_wrong_type_is_refused(tmp_path: Path) -> None:
    document = read(tmp_path, AGREEMENT)
    for given in (None, 4, b"4.2", ["4.2"]):
        with pytest.raises(UsageError, match="required, got"):
            clauses_named(document, given)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="required, got str"):
        clauses_named("contract.txt", "4.2")  # type: ignore[arg-type]
