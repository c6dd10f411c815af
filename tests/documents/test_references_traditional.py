"""Chinese in traditional characters, and clauses of other Chinese papers."""

from pathlib import Path

import pytest

from softlookup.documents.model import Document
from softlookup.documents.read import read_document
from softlookup.documents.references.labels import label_key
from softlookup.documents.writing import simplified

TAIWAN = """技術服務契約書
立契約書人：台灣測試股份有限公司（以下簡稱「甲方」）、遠東設計有限公司（下稱「乙方」）

第一條 定義
「機密資訊」係指雙方交付之資料。
本契約所稱關係企業，係指受同一控制之公司。

第二條 付款
甲方應依第一條付款。
乙方遲延者，加計利息：
（一）年息百分之五；
（二）違約金。

第三條 管轄
本契約依第二條第二項第一款、前條第一項辦理，並依民法第二百條，本條不適用於乙方。
"""
AMENDMENT = """补充协议

甲方与乙方签订了《设备供应合约》（以下简称“供应合约”），现补充如下：

第一条 供应合约第三条修改为：
“第三条 付款
甲方应于十日内付款。”

第二条 供应合约第二条不变，本协议第三条适用。

第三条 本协议签字生效。
"""


def read(tmp_path: Path, text: str) -> Document:
    path = tmp_path / "contract.txt"
    path.write_text(text, encoding="utf-8")
    return read_document(path)


def found(document: Document) -> list[tuple[str, list[str], str]]:
    return [
        (document.text[r.span.start : r.span.end], [document.clauses[t].path for t in r.targets], r.status)
        for r in document.references
    ]


def test_references_in_traditional_characters(tmp_path: Path) -> None:
    assert found(read(tmp_path, TAIWAN)) == [
        ("第一條", ["第一條"], "resolved"),
        ("第二條第二項第一款", ["第二條第二款（一）"], "resolved"),
        ("前條第一項", ["第二條第一款"], "resolved"),
        ("第二百條", [], "external"),
        ("本條", ["第三條"], "resolved"),
    ]


def test_terms_in_traditional_characters_are_given_as_printed(tmp_path: Path) -> None:
    document = read(tmp_path, TAIWAN)
    assert [term.term for term in document.terms] == ["甲方", "乙方", "機密資訊", "關係企業"]
    assert all(document.text[t.span.start : t.span.end] == t.term for t in document.terms)


@pytest.mark.parametrize(
    ("printed", "plain"),
    [
        ("第一條第二項第三款", "第一条第二款第三项"),
        ("第一條第二款第三項", "第一条第二款第三项"),
        ("第一條", "第一条"),
        ("clause 1", "clause 1"),
    ],
)
def test_the_units_of_taiwan_are_put_in_order(printed: str, plain: str) -> None:
    assert simplified(printed) == plain
    assert label_key(printed) == label_key(plain)


def test_text_without_traditional_characters_stays_the_same_object() -> None:
    text = "第一条第二项，付款。"
    assert simplified(text) is text


def test_a_quoted_heading_is_no_reference_and_a_defined_paper_is_another_one(tmp_path: Path) -> None:
    references = [r for r in found(read(tmp_path, AMENDMENT)) if r[0][0] == "第"]
    assert references == [
        ("第三条", [], "external"),
        ("第二条", [], "external"),
        ("第三条", ["第三条"], "resolved"),
    ]


def test_a_quoted_english_heading_is_no_reference(tmp_path: Path) -> None:
    text = (
        "1. Change. The following is added:\n\n“Clause 2. Payment of the price.”\n\n"
        "2. Law. English law.\n\n3. End. “Clause 2 ends it”, says clause 2.\n"
    )
    assert [r[0] for r in found(read(tmp_path, text))] == ["Clause 2", "clause 2"]


BILINGUAL = """{0} 定义 {1} Definitions
1.1 款项见第二条。The sum is in Article 2.

{2} 付款 {3} Payment
2.1 依第一条支付。It is paid under Article 1.

{4} 适用 {5} Law
3.1 {4}有效。Article 3 is in force.
"""


@pytest.mark.parametrize("english_first", [False, True])
def test_a_bilingual_heading_is_no_reference_to_itself(tmp_path: Path, english_first: bool) -> None:
    labels = [("第一条", "Article 1"), ("第二条", "Article 2"), ("第三条", "Article 3")]
    if english_first:
        text = BILINGUAL.format(*(label for pair in labels for label in reversed(pair)))
        text = text.replace("3.1 Article 3有效", "3.1 第三条有效")
    else:
        text = BILINGUAL.format(*(label for pair in labels for label in pair))
    words = [r[0] for r in found(read(tmp_path, text))]
    assert words == ["第二条", "Article 2", "第一条", "Article 1", "第三条", "Article 3"]
