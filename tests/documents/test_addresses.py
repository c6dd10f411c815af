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
