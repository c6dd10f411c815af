"""What is read first: the needs of good passages before middling passages, and no needs of passages for comparison."""

import numpy as np
import pytest

from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import select_context
from softlookup.retrieval.reading_queue import ReadingQueue

CARE = "The hirer keeps the boat clean and dry and tells the owner of every scratch on it at once. " * 3
TEXT = (
    '1 Meaning\n  1.1 "Losses" means harm and costs.\n  1.2 "Gear" means ropes and sails.\n'
    + "".join(f"{n} Care\n  {n}.1 {CARE}\n" for n in range(2, 14))
    + "14 Liability\n  14.1 The hirer pays the owner for all Losses.\n"
    + "15 Storage\n  15.1 The hirer stores all Gear.\n"
    + "16 Cap\n  16.1 Notwithstanding Section 14.1, the sum is capped at 10.\n"
)


def words(text):
    return len(text.split())


@pytest.fixture
def boat(make_document):
    document = make_document(TEXT)
    return document, passages(document)


def holding(document, chunks, words_inside):
    return next(i for i, c in enumerate(chunks) if words_inside in document.text[c.span.start : c.span.end])


def ranking(document, chunks, *first):
    """Scores that put the passages with these words first, and then every other one in the order of the document."""
    best = [holding(document, chunks, text) for text in first]
    rest = [i for i in range(len(chunks)) if i not in best]
    scores = np.zeros(len(chunks))
    scores[best + rest] = np.arange(len(chunks), 0, -1)
    return scores


def popped(queue, document, chunks):
    """Texts in the order in which they come when everything fits."""
    found = []
    while (candidate := queue.pop()) is not None:
        span = chunks[candidate.passage].span if candidate.need is None else candidate.need.span
        found.append(document.text[span.start : span.end].strip())
        if candidate.need is None:
            queue.took(candidate.passage)
    return found


def test_what_the_best_passage_needs_comes_before_the_tenth_passage(boat):
    document, chunks = boat
    scores = ranking(document, chunks, "pays the owner")
    texts = popped(ReadingQueue(document, chunks, [scores], None), document, chunks)
    assert "pays the owner" in texts[0]
    assert any(text.startswith("16.1 Notwithstanding") for text in texts[:7])
    assert any(text.startswith('1.1 "Losses"') for text in texts[:9])


def test_a_need_waits_for_the_passage_that_needs_it(boat):
    document, chunks = boat
    scores = np.zeros(len(chunks))
    scores[holding(document, chunks, "pays the owner")] = 1.0
    queue = ReadingQueue(document, chunks, [scores], None)
    assert queue.pop().need is None
    assert queue.pop() is None
    assert queue.needs == ()
    queue.took(holding(document, chunks, "pays the owner"))
    assert {need.why for need in queue.needs} == {"overrides clause 14.1", 'defines "Losses"'}


def test_needs_of_passages_for_comparison_are_left_out(boat):
    document, chunks = boat
    asked, compared = ranking(document, chunks, "pays the owner"), ranking(document, chunks, "stores all Gear")
    for count, wanted in ((1, False), (2, True), (None, True)):
        queue = ReadingQueue(document, chunks, [asked, compared], count)
        popped(queue, document, chunks)
        assert ('defines "Gear"' in {need.why for need in queue.needs}) is wanted
        assert 'defines "Losses"' in {need.why for need in queue.needs}


def test_questions_take_turns(boat):
    document, chunks = boat
    rankings = [ranking(document, chunks, "pays the owner"), ranking(document, chunks, "stores all Gear")]
    texts = popped(ReadingQueue(document, chunks, rankings, None), document, chunks)
    assert "pays the owner" in texts[0]
    assert "stores all Gear" in texts[1]


def test_a_dangling_reference_of_a_passage_that_was_read_is_told(make_document):
    document = make_document("1 Rent\n  1.1 The rent follows Section 99.\n2 Use\n  2.1 The boat is used with care.\n")
    chunks = passages(document)
    queue = ReadingQueue(document, chunks, [ranking(document, chunks, "Section 99")], None)
    assert queue.dangling == ()
    popped(queue, document, chunks)
    assert [document.text[r.span.start : r.span.end] for r in queue.dangling] == ["Section 99"]


def test_the_closure_does_not_take_the_room_of_good_passages(boat):
    """Of fixed shares, needs of middling passages took the room of the third passage."""
    document, chunks = boat
    scores = [ranking(document, chunks, "pays the owner", "stores all Gear", "2.1 ")]
    context = select_context(document, chunks, scores, count_tokens=words, max_context_tokens=130)
    for needed in ("pays the owner", "stores all Gear", "keeps the boat clean", '"Losses" means', "capped at 10"):
        assert needed in context.text


def test_without_closure_only_ranked_passages_are_read(boat):
    document, chunks = boat
    scores = np.zeros(len(chunks))
    scores[holding(document, chunks, "pays the owner")] = 1.0
    for closure, wanted in ((True, True), (False, False)):
        context = select_context(
            document, chunks, [scores], count_tokens=words, max_context_tokens=130, closure=closure
        )
        assert "pays the owner" in context.text
        assert ('"Losses" means' in context.text) is wanted
        assert ("capped at 10" in context.text) is wanted
