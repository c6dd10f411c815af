"""Numbers and dates: one canonical form in both languages, and invented ones are named."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.evidence.values import as_written, unsupported_values, values_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no figures at all, may it be so", []),
        ("USD 2,500,000.00 and 12.50%", ["2500000", "12.5"]),
        ("thirty (30) days", ["30"]),
        ("twenty-one days", ["21"]),
        ("three hundred and sixty-five days", ["365"]),
        ("two thousand five hundred", ["2500"]),
        ("one million two hundred thousand", ["1200000"]),
        ("one party may", []),
        ("on 5 May 2024", ["5", "2024", "month 5"]),
        ("on March 1st, 2025", ["1", "2025", "month 3"]),
        ("Sept. 30", ["30", "month 9"]),
        ("it may end", []),
        ("007", ["7"]),
        ("０．５％", ["0.5"]),
        ("三十日内", ["30"]),
        ("一百零五元", ["105"]),
        ("十五个工作日", ["15"]),
        ("二〇二四年", ["2024"]),
        ("人民币九千元", ["9000"]),
        ("千分之三", ["3"]),
        ("百分之二十", ["20"]),
        ("三千六百万元", ["36000000"]),
        ("一亿二千万元", ["120000000"]),
        ("十二亿三千四百万五千", ["1234005000"]),
        ("一万零二十", ["10020"]),
        ("两万五千", ["25000"]),
        ("壹拾贰万叁仟元", ["123000"]),
        ("一方应当", []),
    ],
)
def test_canonical_values(text, expected):
    found = values_in(text)
    assert {value.lstrip("0") or "0" for value in found} == {value.lstrip("0") or "0" for value in expected}


def spoken(number: int) -> str:
    """English words of 1 to 999,999."""
    units = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    if number >= 1000:
        rest = number % 1000
        return f"{spoken(number // 1000)} thousand" + (f" {spoken(rest)}" if rest else "")
    if number >= 100:
        rest = number % 100
        return f"{units[number // 100]} hundred" + (f" and {spoken(rest)}" if rest else "")
    if number >= 20:
        return tens[number // 10] + (f"-{units[number % 10]}" if number % 10 else "")
    return units[number]


def han(number: int) -> str:
    """Chinese numeral below 10^12, with 零 where digits are left out."""
    digits = "零一二三四五六七八九"

    def section(value: int) -> str:
        text, gap = "", False
        for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = value // scale % 10
            if digit:
                text += ("零" if gap and text else "") + digits[digit] + name
                gap = False
            else:
                gap = True
        return text

    text = ""
    for scale, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        part = number // scale % 10_000
        if part:
            text += ("零" if text and part < 1000 else "") + section(part) + name
    return text


@given(st.integers(2, 999_999))
def test_words_are_read_like_digits(number):
    assert values_in(f"for {spoken(number)} days") == {str(number)}


@given(st.integers(11, 10**12 - 1))
def test_chinese_numerals_are_read_like_digits(number):
    numeral = han(number)
    found = values_in(f"共计{numeral}元")
    assert found == ({str(number)} if len(numeral) > 1 else found)


@given(st.integers(0, 10**12), st.integers(0, 999))
def test_separators_and_trailing_zeros_do_not_matter(whole, part):
    text = f"{whole}.{part:03d}"
    assert values_in(text) == values_in(f"{whole:,}.{part:03d}") == values_in(text + "0")


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(text):
    assert unsupported_values(text, [text]) == ()


@pytest.mark.parametrize(
    ("answer", "source", "invented"),
    [
        ("a cap of 2.5 million", "capped at EUR 2,500,000", ()),
        ("a cap of EUR 2,500,000", "a cap of EUR 2.5 million", ()),
        ("a cap of 2.5 million", "a cap of 2,500", ("2500000",)),
        ("上限3,600万元", "上限为人民币36,000,000元", ()),
        ("上限3,600万元", "上限为三千六百万元", ()),
        ("上限3,600万元", "上限为3,600元", ("36000000",)),
        ("上限1.5亿元", "上限为150,000,000元", ()),
        ("2.5", "2.5 million", ()),
    ],
)
def test_digits_with_a_scale_are_one_number(answer, source, invented):
    assert unsupported_values(answer, [source]) == invented


@pytest.mark.parametrize(
    ("answer", "invented"),
    [
        ("1. Thirty days.\n2) Sixty days.", ("30", "60")),
        ("1.1 The fee is due.\n  1.2 In 7 days.", ("7",)),
        ("12.50 per hour", ("12.5",)),
        ("3 days", ("3",)),
    ],
)
def test_numbers_of_a_list_are_not_values(answer, invented):
    assert unsupported_values(answer, ["nothing"]) == invented


def test_values_are_shown_as_they_are_written():
    assert as_written("定金95万元", ("950000",)) == ("95万",)
    assert as_written("USD 90,000 in thirty days", ("90000", "30", "7")) == ("90,000", "thirty", "7")


def test_invented_values_are_named_in_order():
    passages = ["The cap is EUR 1,000,000.", "Notice of thirty days."]
    assert unsupported_values("The cap is 1000000 after 30 days.", passages) == ()
    assert unsupported_values("The cap is 2,000,000 after 45 days or 7.5%.", passages) == ("2000000", "45", "7.5")
    assert unsupported_values("三十天", passages) == ()
    assert unsupported_values("at once", []) == ()
    assert unsupported_values("9", []) == ("9",)


@pytest.mark.parametrize(
    ("answer", "passage"),
    [
        ("within 10 days", "应当在十日内付款"),
        ("10日内", "应当在十日内付款"),
        ("for 1 year", "for a period of one year"),
        ("1年", "保修期一年"),
        ("2年", "保修期两年"),
    ],
)
def test_a_small_number_written_as_a_word_supports_its_digit(answer, passage):
    assert unsupported_values(answer, [passage]) == ()
