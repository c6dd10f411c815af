"""BM25: the formula, the tokeniser, English and Chinese."""

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softlookup.retrieval.bm25 import BM25Index, stem, tokens


def test_score_is_the_published_formula():
    texts = ["rent rent deposit", "deposit insurance", "notice"]
    index = BM25Index(texts, k1=1.5, b=0.6)
    lengths = [3, 2, 1]
    average = sum(lengths) / 3
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.5 / (2 + 1.5 * (1 - 0.6 + 0.6 * 3 / average))
    assert index.scores("Rent") == pytest.approx([expected, 0, 0])


def test_english_forms_meet():
    assert tokens("The Licensee's licences expired") == ["licensee", "licenc", "expir"]
    assert len({stem(w) for w in ("terminate", "terminated", "terminating", "terminates")}) == 1
    assert stem("business") == "business"
    assert stem("ring") == "ring"
    assert stem("running") == "run"
    assert stem("selling") == "sell"


def test_numbers_and_full_width():
    assert tokens("clause 8.2 and ８．２") == ["claus", "8.2", "8.2"]
    assert tokens("US$1,000") == ["us", "1,000"]


def test_inline_html_is_not_indexed():
    assert tokens('the <span class="link">rent</span> if a < b') == ["rent", "b"]


def test_chinese_bigrams_and_fallback():
    assert tokens("违约金") == ["违约", "约金", "违", "约", "金"]
    assert tokens("的") == []
    index = BM25Index(["承租人支付租金。", "出租人交付房屋。", "甲方负责赔偿。"])
    assert int(np.argmax(index.scores("赔偿由谁承担？"))) == 2
    assert int(np.argmax(index.scores("租金"))) == 0
    assert index.scores("房").argmax() == 1
    assert index.scores("税").tolist() == [0, 0, 0]


def test_words_that_frame_a_question_count_little_but_count():
    index = BM25Index(["This clause of the contract binds a party.", "The rent is due monthly."])
    assert int(np.argmax(index.scores("Which clause of the contract sets the rent?"))) == 1
    assert index.scores("contract party")[0] > 0


def test_stop_words_alone_score_nothing():
    assert BM25Index(["and the or"]).scores("and the").tolist() == [0]


@pytest.mark.parametrize("texts", [[], [""], ["", "rent"]])
def test_empty_input(texts):
    index = BM25Index(texts)
    assert len(index) == len(texts)
    assert index.scores("rent").shape == (len(texts),)
    assert np.isfinite(index.scores("rent")).all()


def test_longer_text_with_the_same_match_scores_lower():
    scores = BM25Index(["rent", "rent " + "filler " * 30]).scores("rent")
    assert scores[0] > scores[1] > 0


@given(st.lists(st.text(alphabet="rent due 租金支付的。1.2", max_size=30), max_size=6), st.text(max_size=20))
def test_scores_are_finite_and_not_negative(texts, query):
    scores = BM25Index(texts).scores(query)
    assert scores.shape == (len(texts),)
    assert (scores >= 0).all()
    assert np.isfinite(scores).all()


@given(st.permutations(["rent is due", "notice of default", "租金按月支付", "违约责任"]))
def test_order_of_texts_does_not_matter(texts):
    index = BM25Index(texts)
    for query in ("rent default", "违约"):
        by_text = dict(zip(texts, index.scores(query).round(9), strict=True))
        again = dict(zip(sorted(texts), BM25Index(sorted(texts)).scores(query).round(9), strict=True))
        assert by_text == again


def test_speed():
    texts = [f"The Buyer shall pay instalment {i} of the purchase price within thirty days after notice." * 4
             for i in range(1000)]  # fmt: skip
    start = time.perf_counter()
    index = BM25Index(texts)
    assert time.perf_counter() - start < 2  # typically well below a tenth of it
    start = time.perf_counter()
    for _ in range(100):
        index.scores("When is instalment 17 due?")
    assert time.perf_counter() - start < 1


def test_the_ceiling_tells_how_much_of_a_question_a_text_holds():
    texts = ["The tenant pays the rent monthly.", "The landlord repairs the roof.", "Notices are in writing."]
    index = BM25Index(texts)
    assert index.scores("rent tenant").max() / index.ceiling("rent tenant") > 0.8
    # words that no text holds lower the share, and leave the scores alone
    assert index.scores("rent payable quarterly").max() / index.ceiling("rent payable quarterly") < 0.5
    assert index.ceiling("") > 0
    chinese = BM25Index(["乙方支付租金", "甲方修理屋顶"])
    assert chinese.scores("租金").max() / chinese.ceiling("租金") > chinese.scores("押金").max() / chinese.ceiling(
        "押金"
    )
