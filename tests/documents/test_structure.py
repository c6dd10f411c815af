"""The clause tree: numbers, headings, nesting, paths, and spans that tile the text."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.documents.model import Clause, Coverage, Document, Source
from softlookup.documents.readers.text import paragraphs
from softlookup.documents.tree.candidates import MAX_LABELS
from softlookup.documents.tree.structure import build_clauses, build_structure

from .builders import LEASE_EN, SERVICE_ZH


def tree(text: str) -> tuple[Clause, ...]:
    clauses = build_clauses(text, paragraphs(text))
    check_invariants(text, clauses)
    return clauses


def check_invariants(text: str, clauses: tuple[Clause, ...]) -> None:
    for index, clause in enumerate(clauses):
        assert clause.index == index
        if clause.parent is not None:
            parent = clauses[clause.parent]
            assert clause.parent < index
            assert parent.span.start <= clause.span.start
            assert clause.span.end <= parent.span.end
            assert clause.level == parent.level + 1
        else:
            assert clause.level == 0
    document = Document(text, Source("x", "", "text", 0), (), clauses, Coverage(()))
    position = 0
    for _, span in document.own_spans():
        assert span.start == position
        position = span.end
    assert position == len(text)


def paths(text: str) -> list[str]:
    return [clause.path for clause in tree(text) if clause.number]


def by_path(text: str) -> dict[str, Clause]:
    return {clause.path: clause for clause in tree(text)}


def test_english_contract_has_the_tree_a_lawyer_expects():
    assert paths(LEASE_EN) == [
        "1",
        "2",
        "2.1",
        "2.2",
        "2.2(a)",
        "2.2(b)",
        "3",
        "Schedule 1",
        "Schedule 1/1",
        "Schedule 1/2",
    ]
    found = by_path(LEASE_EN)
    assert found["1"].heading == "Definitions"
    assert found["2"].heading == "Rent"
    assert found["3"].heading == "Termination"
    assert found["Schedule 1"].heading == "Furniture"
    assert found["Schedule 1"].parent is None
    assert "Section 9.3 of the Harbour Rules" in LEASE_EN[found["2.2(b)"].span.start : found["2.2(b)"].span.end]


def test_chinese_contract_has_the_tree_a_lawyer_expects():
    found = by_path(SERVICE_ZH)
    assert paths(SERVICE_ZH) == [
        "第一章", "第一条", "第二条", "第二条（一）", "第二条（二）", "第二章", "第三条", "附件一", "附件一/1", "附件一/2",
    ]  # fmt: skip
    assert found["第一章"].heading == "总则"
    assert found["第一条"].heading == "定义"
    assert found["第二条"].heading == "服务内容"
    assert found["附件一"].heading == "设备清单"


def test_text_before_the_first_label_is_a_clause_without_number():
    first = tree(LEASE_EN)[0]
    assert first.number == ""
    assert first.span.start == 0
    assert "Heron Boats" in LEASE_EN[first.span.start : first.span.end]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ARTICLE I\nSCOPE\n\n1.1 First point.\n\n1.2 Second.\n\nARTICLE II\nPRICE\n\n2.1 The price.\n", ["Article I", "1.1", "1.2", "Article II", "2.1"]),
        ("Section 1. Scope. A.\n\nSection 2. Price. B.\n\nSection 3. End. C.\n", ["Section 1", "Section 2", "Section 3"]),
        ("一、范围\n甲方出租房屋。\n二、价格\n每月一千元。\n三、期限\n一年。\n", ["一", "二", "三"]),
        ("第一章 总则\n1、甲方出租。\n2、乙方承租。\n第二章 费用\n3、租金：\n3.1、每月支付。\n3.2、不得拖欠。\n4、押金。\n",
         ["第一章", "1", "2", "第二章", "3", "3.1", "3.2", "4"]),
        ("I. SCOPE\n\nA. The seller sells.\n\nB. The buyer buys.\n\nII. PRICE\n\nA. Ten.\n\nB. Eleven.\n\nIII. END\n\nA. Now.\n\nB. Later.\n",
         ["I", "I/A", "I/B", "II", "II/A", "II/B", "III", "III/A", "III/B"]),
    ],
)  # fmt: skip
def test_label_styles(text, expected):
    assert paths(text) == expected


def test_letter_i_and_roman_i_are_told_apart():
    letters = "".join(f"({c}) The item {c} is due.\n\n" for c in "abcdefghij")
    assert paths("1. List\n\n" + letters + "2. Next\n\nText.\n")[9:11] == ["1(i)", "1(j)"]
    nested = "1. List\n\n(a) First:\n\n(i) one thing;\n\n(ii) another thing;\n\n(b) Second.\n\n2. Next\n\nText.\n"
    assert paths(nested) == ["1", "1(a)", "1(a)(i)", "1(a)(ii)", "1(b)", "2"]


def test_labels_in_collapsed_lines_are_found_by_continuity():
    text = (
        "SUPPLY AGREEMENT   The parties agree:   1. Definitions. Goods means nails.   2. Term. This contract runs one "
        "year.   3. Price. The price is nine.   4. Law. The law of Norway applies. See paragraph 2 above.\n"
    )
    assert paths(text) == ["1", "2", "3", "4"]
    assert [clause.heading for clause in tree(text) if clause.number] == [
        "Definitions",
        "Term",
        "Price",
        "Law",
    ]


def test_wrapped_references_dates_and_amounts_open_no_clause():
    text = (
        "1. Scope. The work described in\n3.2 of the Plan is done by\n2019. The fee is\n12.50 dollars.\n\n"
        "2. Price. As agreed under\nSection 7.1 hereof, payable within\n30 days.\n\n3. End. Done.\n"
    )
    assert paths(text) == ["1", "2", "3"]


def test_table_of_contents_gives_no_numbered_clauses():
    names = ["Scope", "Price", "Delivery", "Law"]
    contents = "TABLE OF CONTENTS\n\n" + "".join(f"{i}. {n} .......... {i}\n" for i, n in enumerate(names, 1))
    body = "".join(
        f"\n{i}. {n}\n\nThe rules on {n.lower()} are as follows and fill a line or two here.\n"
        for i, n in enumerate(names, 1)
    )
    assert paths(contents + body) == ["1", "2", "3", "4"]
    plain = contents.replace(" ..........", "")
    assert paths(plain + body) == ["1", "2", "3", "4"]


def test_gaps_and_duplicates_keep_the_printed_number():
    text = "1. One\n\nText one.\n\n2. Two\n\nText two.\n\n4. Four\n\nText.\n\n4. Again\n\nText.\n\n5. Five\n\nText.\n"
    numbers = [clause.number for clause in tree(text) if clause.number]
    assert numbers[:3] == ["1", "2", "4"]
    assert numbers[-1] == "5"
    assert len({clause.path for clause in tree(text) if clause.number}) == len(numbers)


def test_document_without_labels_is_cut_at_paragraphs():
    text = "\n\n".join(f"Paragraph number words {'and more of the same ' * 15} end." for _ in range(6))
    clauses = tree(text)
    assert len(clauses) == 6
    assert not any(clause.number for clause in clauses)


def test_signature_block_is_no_part_of_the_last_clause():
    text = "1. Scope. All.\n\n2. Law. Norway.\n\nIN WITNESS WHEREOF the parties have signed.\n\nBy: ________\n"
    clauses = tree(text)
    assert clauses[-1].number == ""
    assert clauses[-1].parent is None
    assert "By:" not in text[clauses[-2].span.start : clauses[-2].span.end]


def test_long_clause_without_labels_is_cut_at_its_paragraphs():
    text = (
        "1. Definitions\n\n"
        + "\n\n".join(f'"Term{i}" means {"a thing of some kind " * 20}.' for i in range(8))
        + "\n\n2. Next\n\nText.\n"
    )
    inner = [clause for clause in tree(text) if clause.path.startswith("1 ¶")]
    assert len(inner) >= 6
    assert all(clause.parent is not None for clause in inner)


def test_empty_text_has_no_clause():
    assert build_clauses("", ()) == ()


_PIECES = st.sampled_from(
    ["1. ", "2. ", "2.1 ", "(a) ", "(i) ", "第一条 ", "第二条", "（一）", "一、", "Schedule 1", "ARTICLE I ", "Section 4.2 ", "\n", "\n\n",
     "   ", "the parties agree. ", "合同。", "TABLE OF CONTENTS\n", "IN WITNESS WHEREOF ", "Heading\n", "…", "......... 7\n", "\t", "**"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(_PIECES, max_size=60).map("".join))
def test_any_text_is_tiled(text):
    check_invariants(text, build_clauses(text, paragraphs(text)))


def test_invariant_check_catches_a_planted_gap():
    clauses = tree(LEASE_EN)
    broken = clauses[:1] + clauses[2:]
    with pytest.raises(AssertionError):
        check_invariants(LEASE_EN, broken)


def test_half_a_megabyte_takes_no_quadratic_time():
    text = (
        "".join(f"{i}. Clause\n\n(a) The first thing.\n\n(b) The second thing {'x ' * 200}.\n\n" for i in range(1, 199))
        * 5
    )
    begin = time.process_time()
    build_clauses(text, paragraphs(text))
    assert time.process_time() - begin < 8


def test_short_typed_list_that_comes_again_is_no_table_of_contents():
    text = "第一条 付款\n（一）分四期：\n1．签约；\n2．到货；\n3．验收；\n4．质保。\n（二）单据如下，每期随发票一并交付给甲方财务部门：\n"
    text += "".join(
        f"{n}．第{n}份单据，写明批次、数量、单价和开户银行，由双方代表签字并加盖公章；\n" for n in range(1, 5)
    )
    assert [p for p in paths(text) if "（一）/" in p] == [f"第一条（一）/{n}" for n in range(1, 5)]
    contents = "CONTENTS\n1. Boat\n2. Rent\n3. Term\n4. Law\n\n"
    body = "".join(
        f"{n}. {w}\nThe parties agree on the {w.lower()} in this clause. " * 4 + "\n"
        for n, w in enumerate(["Boat", "Rent", "Term", "Law"], 1)
    )
    assert by_path(contents + body)["1"].span.start >= len(contents)


IN_LINE = (
    "1. Duties. The tenant keeps these things in the boat house and shows them to the owner {first} Oars and sails of every boat "
    "that lies at the quay of the club in summer, with their bags; (ii) Ropes and anchors that belong to the club, with a list of them that the tenant keeps "
    "up to date; (iii) Lamps, horns and flags that the harbour master asks for in the winter, in good order and ready for use; and (iv) "
    "Paint and brushes for the work that the tenant does in the spring of every year.\n2. Law. The law of the harbour governs.\n"
)


def test_list_inside_a_sentence_is_found_whole_or_not_at_all():
    assert paths(IN_LINE.format(first="(i)")) == ["1", "1(i)", "1(ii)", "1(iii)", "1(iv)", "2"]
    assert paths(IN_LINE.format(first="")) == ["1", "2"]  # a list without its beginning
    assert paths(IN_LINE.format(first="(i)").replace("(iii)", "")) == ["1", "2"]


def test_too_many_labels_fall_back_to_paragraphs_and_say_so():
    text = "1. x\n" * (MAX_LABELS + 10)
    structure = build_structure(text, paragraphs(text))
    check_invariants(text, structure.clauses)
    assert not any(clause.number for clause in structure.clauses)
    assert len(structure.notes) == 1
    assert str(MAX_LABELS) in structure.notes[0]
    assert build_structure("1. Boat\n2. Rent\n", paragraphs("1. Boat\n2. Rent\n")).notes == ()


@pytest.mark.parametrize(
    "unit",
    ["(a) ", "1. A ", "; (i) it shall do this ", "Schedule 1\nText.\n", "1. x\n(a) y\n", "TABLE OF CONTENTS\n1. A\n"],
)
def test_hostile_labels_take_bounded_time(unit):
    text = unit * (300_000 // len(unit))
    started = time.process_time()
    clauses = build_clauses(text, paragraphs(text))
    assert time.process_time() - started < 10.0  # about 1 s on an idle core
    assert clauses[-1].span.end == len(text)


@pytest.mark.parametrize("line", [
    '1. <span class="heading_2">Purpose</span>. The parties meet.', "1. **Purpose.** The parties meet.", "1. *Purpose*: The parties meet.",
    "1. __Purpose.__ The parties meet.",
])  # fmt: skip
def test_heading_has_no_markup(line):
    assert tree(line + "\n2. Rent. It is due.\n")[0].heading == "Purpose"


def test_redactions_stay_in_headings():
    assert tree("1. Fee of [***] Boats\n2. Rent\n")[0].heading == "Fee of [***] Boats"
