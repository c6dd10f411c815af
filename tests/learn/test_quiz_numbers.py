"""Numbers as people type them, in both languages; hostile text is refused, not evaluated."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.learn.quiz.numbers import parse_amount, parse_amounts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.05M", 1.05e6),
        ("1048576", 1048576),
        ("1,048,576", 1048576),
        ("1 048 576", 1048576),
        ("1_048_576", 1048576),
        ("2^20", 2**20),
        ("2**20", 2**20),
        ("2²⁰", 2**20),
        ("１０４８５７６", 1048576),
        ("6.7e7", 6.7e7),
        ("6.7E+7", 6.7e7),
        ("1.34×10^8", 1.34e8),
        ("1.34x10^8", 1.34e8),
        ("1.34 * 10^8", 1.34e8),
        ("1024^2*64", 2**26),
        ("3/8", 0.375),
        ("1/sqrt(64)", 0.125),
        ("√2", math.sqrt(2)),
        ("-5", -5),
        ("−0.5", -0.5),
        (".5", 0.5),
        ("5.", 5),
        ("67 million", 6.7e7),
        ("= 12", 12),
        ("≈0.67", 0.67),
        ("~1e3", 1e3),
        ("2^-3", 0.125),
        ("六千七百万", 6.7e7),
        ("六千七百一十万", 67_100_000),
        ("6.7千万", 6.7e7),
        ("1.34亿", 1.34e8),
        ("6710万", 6.71e7),
        ("一百零五万", 1_050_000),
        ("一亿三千四百万", 1.34e8),
        ("一点三四亿", 1.34e8),
        ("1.1万亿", 1.1e12),
        ("十万", 1e5),
        ("二十", 20),
        ("两千", 2000),
        ("三分之一", 1 / 3),
        ("百分之五", 0.05),
        ("一千零二十四", 1024),
        ("约6.7e7次", 6.7e7),
        ("大约1.34亿", 1.34e8),
        ("零", 0),
    ],
)
def test_a_number_is_read(text, value):
    amount = parse_amount(text)
    assert amount is not None
    assert amount.value == pytest.approx(value, rel=1e-12)
    assert amount.unit == ""


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1.34e8 FLOPs", 1.34e8, "FLOPs"),
        ("134 MFLOP", 1.34e8, "FLOPs"),
        ("6.7e7 MACs", 6.7e7, "multiply-adds"),
        ("六千七百万次乘加", 6.7e7, "multiply-adds"),
        ("67,108,864 multiply-adds", 67108864, "multiply-adds"),
        ("51.5 GB", 51.5e9, "bytes"),
        ("48GiB", 48 * 2**30, "bytes"),
        ("1.1TB", 1.1e12, "bytes"),
        ("8 bits", 1, "bytes"),
        ("17ms", 17, "ms"),
        ("0.017 s", 17, "ms"),
        ("17毫秒", 17, "ms"),
        ("5%", 0.05, "share"),
    ],
)
def test_a_unit_is_read(text, value, unit):
    amount = parse_amount(text)
    assert (amount.value, amount.unit) == (pytest.approx(value), unit)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "3 apples",
        "9^9999",
        "1/0",
        "1e999",
        "(-8)^0.5",
        "-8^0.5",
        "6,7",
        "1.2.3",
        "__import__('os')",
        "2^",
        "2^^3",
        "*5",
        "5*",
        "9" * 500,
        "nan",
        "inf",
        "1e5e5",
        "万",
        "分之",
        "零分之一",
        "1;2",
        "１e９９９",
        "\x00",
        "\ud800",
    ],
)
def test_what_is_no_number_is_refused(text):
    assert parse_amount(text) is None


def test_several_numbers_are_read_in_any_brackets():
    assert parse_amounts("[0.67, 0.33]", 2) == (0.67, 0.33)
    assert parse_amounts("(2/3 1/3)", 2) == (pytest.approx(2 / 3), pytest.approx(1 / 3))
    assert parse_amounts("[[1, 0], [0, 1]]", 4) == (1, 0, 0, 1)
    assert parse_amounts("0.67，0.33", 2) == (0.67, 0.33)
    assert parse_amounts("67%; 33%", 2) == (pytest.approx(0.67), pytest.approx(0.33))
    assert parse_amounts("1, 2, 3", 2) is None
    assert parse_amounts("1, x", 2) is None
    assert parse_amounts("1 " * 5000, 2) is None


@settings(deadline=None)  # a busy machine is no fault
@given(st.integers(0, 10**15))
def test_every_whole_number_is_read_back(number):
    for text in (str(number), f"{number:,}", f"{number}e0"):
        assert parse_amount(text).value == number


@settings(deadline=None)  # a busy machine is no fault
@given(st.text(max_size=60) | st.text("0123456789.e^*/x万亿千百十一二三点分之 ,√()-+", max_size=60))
def test_no_text_breaks_the_reader(text):
    amount = parse_amount(text)
    assert amount is None or math.isfinite(amount.value)
    found = parse_amounts(text, 2)
    assert found is None or len(found) == 2
