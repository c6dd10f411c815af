"""Rows of content words, in both languages, and what is left when there are none."""

from __future__ import annotations

import pytest

from softlookup.evidence.question_rows import content_rows


def kept(question, offsets):
    return [question[start:end].strip() for start, end in (offsets[row] for row in content_rows(question, offsets))]


def pieces(question, *words):
    """Offsets of ``words``, one after the other, each with the blank before it."""
    found, place = [], 0
    for word in words:
        start = question.index(word, place)
        begin = start - 1 if start > place and question[start - 1] == " " else start
        found.append((begin, start + len(word)))
        place = start + len(word)
    return found


def test_grammar_frame_and_punctuation_are_left_out():
    question = "Which party must insure the goods under this Agreement?"
    offsets = pieces(
        question, "Which", "party", "must", "ins", "ure", "the", "goods", "under", "this", "Agreement", "?"
    )
    assert kept(question, offsets) == ["ins", "ure", "goods"]


def test_numbers_and_names_are_content():
    question = "Does Müller owe 5,000?"
    offsets = pieces(question, "Does", "Müller", "owe", "5", ",", "000", "?")
    assert kept(question, offsets) == ["Müller", "owe", "5", "000"]


def test_every_row_of_a_chinese_question_counts():
    question = "合同中保证金的金额是多少？"
    offsets = [(place, place + 1) for place in range(len(question))]
    assert content_rows(question, offsets) == tuple(range(len(question)))


def test_a_token_that_touches_a_content_word_counts():
    assert content_rows("of rent", [(0, 1), (1, 4), (4, 7)]) == (1, 2)


@pytest.mark.parametrize("question", ["Who is it?", "是否？", "???"])
def test_a_question_without_content_words_keeps_all_rows(question):
    offsets = [(place, place + 1) for place in range(len(question))]
    assert content_rows(question, offsets) == tuple(range(len(question)))


def test_the_rows_fit_the_tokens_of_the_template(tiny_loaded):
    from softlookup.runtime.prompt import PromptTemplate

    template = PromptTemplate(tiny_loaded("llama").tokenizer)
    for question in ("Who pays the rent?", "  Who pays the rent? ", "谁支付租金？"):
        offsets = template.question_offsets(question)
        assert len(offsets) == template.suffix(question).question_length
        assert offsets[-1][1] == len(question.rstrip())
        assert all(0 <= start <= end for start, end in offsets)
