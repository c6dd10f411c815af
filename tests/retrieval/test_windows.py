"""Windows of a document: whole passages, within the limit, overlapping, and every passage in one of them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.errors import CapacityError
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.windows import OVERLAP, document_windows


def words(text: str) -> int:
    return len(text.split())


def contract(make_document, sizes):
    lines = [f"{number}. " + " ".join(f"w{number}x{i}" for i in range(size)) for number, size in enumerate(sizes, 1)]
    return make_document("\n".join(lines))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(90, 400))
def test_every_passage_is_whole_in_a_window_within_the_limit(make_document, sizes, limit):
    document = contract(make_document, sizes)
    chunks = passages(document, 300)
    windows = document_windows(document, chunks, count_tokens=words, window_tokens=limit)
    assert windows[0].first == 0
    assert windows[-1].last == len(chunks)
    for window in windows:
        assert window.span.start == chunks[window.first].span.start
        assert window.span.end == chunks[window.last - 1].span.end
        assert 0 < words(document.text[window.span.start : window.span.end]) <= limit
    for before, after in pairwise(windows):
        assert before.first < after.first <= before.last < after.last


def test_a_window_begins_with_an_eighth_of_the_one_before(make_document):
    document = contract(make_document, [9] * 200)
    chunks = passages(document, 60)
    windows = document_windows(document, chunks, count_tokens=words, window_tokens=400)
    assert len(windows) > 4
    for before, after in pairwise(windows):
        shared = document.text[after.span.start : before.span.end]
        assert 400 // OVERLAP - 12 <= words(shared) <= 400 // OVERLAP + 12


def test_a_short_document_is_one_window(make_document):
    document = contract(make_document, [5, 5])
    (window,) = document_windows(document, passages(document), count_tokens=words, window_tokens=100)
    assert document.text[window.span.start : window.span.end] == document.text.strip()


def test_a_counter_that_counts_more_for_the_whole_is_obeyed(make_document):
    """Tokens of passages need not add up to those of the window."""
    document = contract(make_document, [9] * 40)
    chunks = passages(document, 60)
    windows = document_windows(document, chunks, count_tokens=lambda text: words(text) ** 2 // 20, window_tokens=90)
    assert all(words(document.text[w.span.start : w.span.end]) ** 2 // 20 <= 90 for w in windows)
    assert windows[-1].last == len(chunks)


def test_a_passage_that_fits_no_window_is_refused(make_document):
    document = contract(make_document, [5, 60])
    with pytest.raises(CapacityError, match=r"a passage of \d+ tokens does not fit a window of 20"):
        document_windows(document, passages(document, 300), count_tokens=words, window_tokens=20)


def test_an_overlap_that_leaves_no_room_for_anything_new_is_given_up(make_document):
    document = contract(make_document, [1, 1, 1, 38, 38, 38])
    chunks = passages(document, 300)
    windows = document_windows(document, chunks, count_tokens=words, window_tokens=42)
    assert windows[-1].last == len(chunks)
    assert len(windows) <= len(chunks)
