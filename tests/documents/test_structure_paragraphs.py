"""Clauses without number: 款, text after a list, definitions, headings, recitals."""

# ruff: noqa: E501  (document fragments are easier to check on one line)

from __future__ import annotations

from softlookup.documents.model import Block, Span
from softlookup.documents.tree.structure import build_clauses

from .trees import by_path, check_invariants, paths, tree, words_of

STATUTE = (
    "第一章 总则\n\n第一条 公司是企业法人。\n\n公司的权益受保护，不受侵犯。\n\n任何人不得侵犯公司的权益。\n\n"
    "第二条 有下列情形之一的，公司解散：\n\n（一）期限届满；\n\n（二）股东会决议。\n\n公司依照前款规定解散的，应当清算。\n\n"
    "第三条 本法自公布之日起施行。\n"
)


def test_paragraphs_of_an_article_are_kuan():
    found = by_path(STATUTE)
    assert [p for p in found if p.startswith("第一条")] == ["第一条", "第一条第二款", "第一条第三款"]
    second = found["第一条第二款"]
    assert words_of(STATUTE, "第一条第二款").strip() == "公司的权益受保护，不受侵犯。"
    assert (second.number, second.label, second.values, second.label_source) == ("", "", (2,), "inferred")


def test_text_after_items_is_the_next_kuan():
    assert words_of(STATUTE, "第二条第二款").strip() == "公司依照前款规定解散的，应当清算。"
    assert words_of(STATUTE, "第二条（二）").strip() == "（二）股东会决议。"


def test_items_of_the_second_kuan_are_inside_it():
    text = "第一条 甲方应当付款。\n乙方应当交付下列物品：\n（一）小船；\n（二）船桨。\n第二条 其他。\n"
    assert "第一条第二款（一）" in by_path(text)


def test_a_kuan_ends_the_list_before_it():
    text = "第一条 价款\n一、甲方应当付款；\n乙方不适用前款：\n（一）小船；\n（二）船桨。\n第二条 其他。\n"
    nested = [path for path in by_path(text) if path.endswith("（一）")]
    assert nested
    assert not any("一、" in path or path.startswith("第一条一") for path in nested)
    for clause in tree(text):
        assert clause.parent is None or clause.span.end <= tree(text)[clause.parent].span.end


def test_text_after_a_list_stays_in_the_kuan_of_the_list():
    text = (
        "第一条 定义\n本合同所称船只，是指小船。\n一、甲方付款；\n二、不适用前款：\n乙方使用下列物品：\n"
        "（一）小船；\n（二）船桨。\n以下简称“物品”。\n第二条 其他。\n"
    )
    assert any(path.endswith("（二）") for path in paths(text))


def test_a_kuan_after_an_inner_list_is_one_clause():
    text = "第二条 价款\n一、甲方付款；\n二、不适用前款：\n（一）小船；\n（二）船桨。\n物品应当完好。\n物品归甲方。\n第三条 其他。\n"
    assert sum(clause.span.start == text.index("物品应当") for clause in tree(text)) == 1


def test_an_article_of_one_paragraph_has_no_kuan():
    text = "第一条 定义\n本合同所称船只，是指小船。\n第二条 价款\n地址：____\n电话：____\n第三条 其他\n无。\n"
    assert not any("款" in path for path in by_path(text) if path != "第二条")
    assert not any(path.endswith("款") for path in by_path(text))


def test_paragraph_of_an_item_in_the_middle_of_a_list_stays_in_it():
    text = "第一条 规则如下：\n（一）甲方出租。\n出租须有书面合同。\n（二）乙方承租。\n第二条 其他。\n"
    assert "出租须有" in words_of(text, "第一条（一）")


ITEMS = "3. Duties. The tenant shall:\n\n(a) paint the boat;\n\n(b) mend the net; and\n\n(c) pay the rent.\n\n"


def test_sentence_after_a_list_belongs_to_the_clause_above():
    text = "2. Use. As before.\n\n" + ITEMS + "The owner may inspect the boat at any time.\n\n4. Law. Norway.\n"
    assert words_of(text, "3(c)").strip() == "(c) pay the rent."
    assert words_of(text, "3 ¶2").strip() == "The owner may inspect the boat at any time."


def test_proviso_after_a_list_belongs_to_the_clause_above():
    text = (
        "2. Use. As before.\n\n"
        + ITEMS.replace("rent.", "rent;")
        + "provided that the boat floats.\n\n4. Law. Norway.\n"
    )
    assert words_of(text, "3 ¶2").strip() == "provided that the boat floats."


def test_indentation_tells_text_after_a_list():
    text = "2. Use. As before.\n\n3. Duties. These:\n\n    (a) First. It is long.\n\n    More of the first.\n\n    (b) Second.\n\nOf all this a list is kept.\n\n4. Law. Norway.\n"
    assert words_of(text, "3(b)").strip() == "(b) Second."
    assert "More of the first" in words_of(text, "3(a)")


def test_page_break_inside_the_last_item_is_no_end_of_it():
    text = (
        "2. Use. As before.\n\n"
        + ITEMS.replace("the rent.\n\n", "the rent of the boat or\n\nof the net in full.\n\n")
        + "4. Law. Norway.\n"
    )
    assert "of the net in full" in words_of(text, "3(c)")


def test_second_paragraph_of_a_last_item_with_long_siblings_stays_in_it():
    text = "1. Rules\n\n(a) First. It is so.\n\nIt has a second paragraph.\n\n(b) Second. It is so.\n\nIt has one too.\n\n2. Law\n\nNorway.\n"
    assert "It has one too." in words_of(text, "1(b)")


def test_definitions_are_clauses_and_their_lists_are_their_own():
    text = (
        "1.1 Definitions. (a) In this loan:\n\n“Boat” means (i) the skiff that lies at the old quay of the harbour with its oars, sails and anchor and (ii) the dory that lies at the new quay of the harbour with all that belongs to it.\n\n"
        "“Gear” means any of:\n\n(a) oars;\n\n(b) sails.\n\n“Term” means one year.\n\n(b) Headings do not count.\n\n1.2 Rent. Ten.\n"
    )
    found = by_path(text)
    gear = next(clause for clause in tree(text) if clause.heading == "Gear")
    assert gear.path.startswith("1.1(a) ¶")
    assert f"{gear.path}(a)" in found
    assert f"{gear.path}(b)" in found
    assert words_of(text, "1.1(b)").strip() == "(b) Headings do not count."
    assert not any(clause.flags for clause in found.values())


def test_two_definitions_are_no_list_of_definitions():
    text = "1. Terms\n\n“Boat” means the skiff.\n\n“Gear” means oars.\n\n2. Rent\n\nTen.\n"
    assert len(tree(text)) == 2


def test_names_before_paragraphs_make_clauses_where_there_are_no_numbers():
    sentence = "The parties agree on this matter in good faith and put it down in writing. "
    text = "LOAN OF A BOAT\n\nThis loan is made today by Alder and Birch of the old harbour.\n\n" + "".join(
        f"{name}: {sentence * 2}\n\n" for name in ("Use of the Boat", "Rent", "Return", "Governing Law")
    )
    assert [c.heading for c in tree(text)][1:] == ["Use of the Boat", "Rent", "Return", "Governing Law"]


def test_headings_in_capitals_make_clauses_where_there_are_no_numbers():
    sentence = "The parties agree on this matter in good faith and put it down in writing. "
    text = "This loan is made today.\n\n" + "".join(
        f"{name}\n\n{sentence * 3}\n\n" for name in ("USE OF THE BOAT", "RENT AND DUES", "RETURN")
    )
    assert [c.heading for c in tree(text)][1:] == ["USE OF THE BOAT", "RENT AND DUES", "RETURN"]


def test_clauses_after_lettered_recitals_are_not_in_the_last_recital():
    text = "LOAN\n\nRECITALS\n\n(A) Alder owns a boat.\n\n(B) Birch wants to use it.\n\nThe parties agree as follows:\n\n1. Use\n\n(A) Birch may sail.\n\n(B) Birch may row.\n\n2. Rent\n\nTen.\n"
    assert paths(text) == ["(A)", "(B)", "1", "1(A)", "1(B)", "2"]


def test_numbered_recitals_do_not_take_the_paths_of_the_clauses():
    text = "LOAN\n\nWHEREAS\n\n1. Alder owns a boat.\n\n2. Birch wants it.\n\nThe parties agree as follows:\n\n1. Use\n\nBirch may sail.\n\n2. Rent\n\nTen.\n"
    assert paths(text) == ["Recitals/1", "Recitals/2", "1", "2"]
    assert not any(clause.flags for clause in tree(text))


def test_outline_of_letters_still_holds_its_numbers():
    text = "A. Boats\n\n1. Skiff. Old.\n\n2. Dory. New.\n\nB. Nets\n\n1. Seine. Long.\n\n2. Trawl. Wide.\n\nC. Rent\n\nTen.\n"
    assert paths(text) == ["A", "A/1", "A/2", "B", "B/1", "B/2", "C"]


def test_an_amendment_goes_on_after_a_quoted_clause():
    text = "1. Change. The loan is changed.\n\n2. New text. Clause 7 now reads:\n\n7.1 Rent. Ten.\n\n7.2 Dues. Five.\n\n3. Rest. The rest stands.\n\n4. Law. Norway.\n"
    assert [p for p in paths(text) if "." not in p] == ["1", "2", "3", "4"]


def test_an_article_inside_an_article_makes_no_second_paragraph_at_one_place():
    rows = [("第一条", "甲方出借船只。", "1"), ("第一条", "乙方归还船只。", "2"), ("", "丙方看守船只。", "")]
    text, blocks = "", []
    for label, words, list_id in rows:
        start = len(text)
        text += f"{label}\t{words}" if label else words
        blocks.append(Block(Span(start, len(text)), "paragraph", label, 0, list_id=list_id))
        text += "\n"
    clauses = build_clauses(text, tuple(blocks))
    check_invariants(text, clauses)
    assert len({clause.span.start for clause in clauses}) == len(clauses) == 3
