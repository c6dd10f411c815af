"""Search by words and by embeddings; the encoder here is planted."""

from __future__ import annotations

import numpy as np

from softlookup.retrieval.passage_search import PassageSearch

TEXTS = ("The tenant pays rent.", "The landlord repairs the roof.", "Insurance is bought by the tenant.")


class Encoder:
    """Looks at one word: "money" is near to the first text, which does not hold it."""

    def __init__(self):
        self.calls = 0

    def encode(self, texts):
        self.calls += 1
        return np.array([[1.0, 0.0] if "rent" in text or "money" in text else [0.0, 1.0] for text in texts])

    def knows(self, text):
        return "钱" not in text


def test_without_an_encoder_words_alone_rank():
    search = PassageSearch(TEXTS)
    assert search.similarities("rent") is None
    assert np.array_equal(search.ranking("rent"), search.lexical.scores("rent"))


def test_embeddings_find_what_words_do_not():
    encoder = Encoder()
    search = PassageSearch(TEXTS, encoder)
    assert search.lexical.scores("money").max() == 0
    assert search.ranking("money").argmax() == 0
    search.ranking("money of the tenant")
    assert encoder.calls == 3  # the passages once, every question once


def test_a_question_in_unknown_words_is_ranked_by_words():
    search = PassageSearch(TEXTS, Encoder())
    assert search.similarities("钱") is None


def test_no_passages_are_no_fault():
    search = PassageSearch((), Encoder())
    assert search.similarities("rent") is None
    assert len(search.ranking("rent")) == 0
