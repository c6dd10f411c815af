"""The symptom table: each symptom planted and recognised, healthy answers and runs left alone."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from softlookup.diagnostics.baseline import baseline_of
from softlookup.diagnostics.symptoms import (
    answer_pieces,
    answer_symptoms,
    attention_symptoms,
    phantom_clauses,
    repeated_sentence,
    repetition_loop,
)
from softlookup.documents.read import read_document
from statistics_runs import run_of
from tiny_models import CONTRACT, CONTRACT_ZH, build_tokenizer


@pytest.fixture(scope="module")
def english(tmp_path_factory):
    path = tmp_path_factory.mktemp("symptoms") / "mooring.txt"
    path.write_text(CONTRACT, "utf-8")
    return read_document(path)


@pytest.fixture(scope="module")
def chinese(tmp_path_factory):
    path = tmp_path_factory.mktemp("symptoms") / "cangku.txt"
    path.write_text(CONTRACT_ZH, "utf-8")
    return read_document(path)


def pieces_of(text):
    """Words with their blanks, Chinese characters one by one: close to what tokenizers do."""
    return re.findall(r"\s*[A-Za-z]+|\s*\d|[^\sA-Za-z\d]|\s", text)


LOOPS = (
    "The Owner pays. The Owner pays. The Owner pays. The Owner pays.",
    "fee fee fee fee fee fee fee",
    "It ends when" + " the Keeper fails to pay the fee of" * 3,
    "第一条第一条第一条第一条第一条",
    "乙方应当支付租金，乙方应当支付租金，乙方应当支付租金，乙方应当支付租金",
    "Answer: the notice and the notice and the notice and the notice and the notice and",
)
HEALTHY = (
    "",
    "Ninety days.",
    "The Owner shall repair the jetty within thirty days after a written notice of the Keeper.",
    "The Keeper shall pay the Mooring Fee, and the Keeper shall insure the Barge; the Owner shall repair the jetty.",
    "1. The Owner repairs. 2. The Keeper pays. 3. The Keeper insures. 4. Either party may end it.",
    "The sum is 1,000,000,000 and the account number is 00000000000000.",
    "Signed: ____________________ Date: ..........",
    "甲方应当在收到通知后三十日内修理屋顶。",
    "乙方每月五日前支付租金；逾期支付的，每日按照千分之三支付违约金。",
    "(a) the Owner; (b) the Keeper; (c) the insurer of the Owner; (d) the insurer of the Keeper",
    "yes, yes, the Owner may do so",
)


@pytest.mark.parametrize("text", LOOPS)
def test_a_loop_is_recognised(text, english):
    (alert,) = answer_symptoms(pieces_of(text), text, english)
    assert alert.monitor == "repetition_loop"
    assert alert.value >= 3
    assert alert.detail


@pytest.mark.parametrize("text", HEALTHY)
def test_a_healthy_answer_is_left_alone(text, english, chinese):
    assert repetition_loop(pieces_of(text)) is None
    assert repeated_sentence(text) is None
    assert answer_symptoms(pieces_of(text), text, chinese if "方" in text else english) == ()


def test_the_unit_and_its_repeats_are_told():
    loop = repetition_loop(["x", *[" a", " b", " c", " d", " e"] * 4, " a"])
    assert loop is not None
    assert (loop.repeats, len(loop.unit.split())) == (4, 5)
    assert repetition_loop([" a", " b", " c", " d", " e"] * 2) is None


def test_the_same_sentence_under_other_numbers_is_a_loop():
    text = "1. The Owner shall repair it. 2. The Owner shall repair it. 3. The Owner shall repair it."
    loop = repeated_sentence(text)
    assert loop is not None
    assert loop.repeats == 3
    assert repeated_sentence("一、甲方应当修理屋顶；二、甲方应当修理屋顶；三、甲方应当修理屋顶") is not None
    assert repeated_sentence("Yes. Yes. Yes. No.") is None


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("Under clause 47.3 the Keeper pays.", ("clause 47.3",)),
        ("See clause 2.1 and Section 9.", ("Section 9",)),
        ("Clause 17 says so.\nClause 2.1 does not.", ("Clause 17",)),
        ("clauses 3 to 12", ("clauses 3 to 12",)),
        ("as in Schedule 9 and Article 12", ("Schedule 9", "Article 12")),
        ("clause 4.2, and clauses 1, 5 and 6", ()),
        ("clause 2.1(c)", ()),  # 2.1 exists
        ("Section 302 of the Companies Act 2014", ()),
        ("it ends after 90 days, at a fee of 310", ()),
        ("", ()),
    ],
)
def test_clauses_that_do_not_exist(answer, found, english):
    assert phantom_clauses(answer, english) == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("根据第十七条，乙方应当支付违约金。", ("第十七条",)),
        ("第九十九条第二款", ("第九十九条第二款",)),
        ("见附件三", ("附件三",)),
        ("根据本合同第二条和第三条，乙方支付租金。", ()),
        ("依照《民法典》第五百条", ()),
        ("提前九十日书面通知", ()),
    ],
)
def test_clauses_that_do_not_exist_in_chinese(answer, found, chinese):
    assert phantom_clauses(answer, chinese) == found


def test_a_label_that_the_document_prints_is_not_invented(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1. Fee\nThe fee is in Schedule 9.\n\n2. Term\nThe term is in clause 14.\n", "utf-8")
    document = read_document(path)
    assert phantom_clauses("See Schedule 9 and clause 14.", document) == ()
    assert phantom_clauses("See Schedule 8.", document) == ("Schedule 8",)


def test_a_document_without_numbers_has_no_phantoms(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("The fee is ten.\n\nThe term is a year.\n", "utf-8")
    assert phantom_clauses("See clause 47.", read_document(path)) == ()


def changed(run, **values):
    return {n: dataclasses.replace(layer, **{k: np.full(4, v) for k, v in values.items()}) for n, layer in run.items()}


@pytest.fixture(scope="module")
def baseline():
    return baseline_of([changed(run_of(seed), normalized_entropy=0.4, first_token=0.3) for seed in range(3)])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    ("values", "found"),
    [
        ({"normalized_entropy": 0.4, "first_token": 0.3}, []),
        ({"normalized_entropy": 0.02, "first_token": 0.97}, ["stares_at_first_token"]),
        ({"normalized_entropy": 0.97, "first_token": 0.01}, ["mush"]),
    ],
)
def test_staring_and_mush(values, found, known, baseline):
    alerts = attention_symptoms(changed(run_of(9), **values), baseline if known else None)
    assert [alert.monitor for alert in alerts] == found


def test_nothing_observed_is_no_symptom(baseline):
    assert attention_symptoms({}, baseline) == ()


def test_pieces_are_the_decoded_tokens():
    tokenizer = build_tokenizer()
    ids = tokenizer("the Owner the Owner", add_special_tokens=False)["input_ids"]
    assert "".join(answer_pieces(tokenizer, ids)) == "the Owner the Owner"
