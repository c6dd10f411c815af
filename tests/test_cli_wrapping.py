"""Wrapped lines: nothing is lost, only a longer word exceeds the width, wide characters count two columns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.cli import wrapping
from softlookup.cli.wrapping import columns, wrapped_wide

WORDS = st.text(st.sampled_from("ab ，。条款窗口（）:;"), max_size=80)


def bare(text):
    return "".join(text.split())


@given(WORDS, st.integers(12, 40), st.integers(0, 8))
def test_no_character_is_lost_and_lines_fit(text, width, indent):
    lines = wrapped_wide("=> ", text, width, indent)
    assert bare("".join(lines)) == bare("=> " + text)
    longest = max((columns(part.rstrip()) for part in wrapping._PART.findall(text)), default=0)
    assert all(columns(line) <= max(width, indent + longest, 3 + longest) for line in lines)
    assert all(line.startswith(" " * indent) for line in lines[1:])


def test_chinese_breaks_between_characters_but_not_before_punctuation():
    lines = wrapped_wide("", "条款之一，条款之二。条款", 10, 2)
    assert all(line.strip()[0] not in "，。" for line in lines)
    assert all(columns(line) <= 10 for line in lines)


def test_words_stay_whole():
    assert wrapped_wide("a: ", "one two three", 9, 2) == ["a: one", "  two", "  three"]


@pytest.mark.parametrize(("text", "expected"), [("abc", 3), ("条款", 4), ("a条", 3), ("", 0), ("（一）", 6)])
def test_columns(text, expected):
    assert columns(text) == expected


def test_punctuation_that_begins_a_line_is_found(monkeypatch):
    """Planted fault: parts that leave punctuation on its own."""
    import re

    monkeypatch.setattr(wrapping, "_PART", re.compile(r"[^\s]|\s+"))
    lines = wrapped_wide("", "条款条款条，条款", 10, 0)
    assert any(line.startswith("，") for line in lines)
