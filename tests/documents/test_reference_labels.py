"""Labels as keys and the index that finds the clause of a key."""

import pytest

from softlookup.documents.positions import ClausePositions
from softlookup.documents.references.label_index import LabelIndex
from softlookup.documents.references.labels import LabelKey, head_length, label_key, number_value

from .outlines import EN, outline


@pytest.mark.parametrize(
    ("printed", "key"),
    [
        ("Section 8.2(a)(ii)", LabelKey("clause", ("8", "2", "a", "ii"))),
        ("ARTICLE IV", LabelKey("article", ("4",))),
        ("Exhibit C", LabelKey("exhibit", ("c",))),
        ("第一百二十条之二", LabelKey("clause", ("120-2",))),
        ("８．２", LabelKey("clause", ("8", "2"))),
        ("八、", LabelKey("clause", ("8",))),
        ("（三）", LabelKey("item", ("3",))),
        ("附件2", LabelKey("附件", ("2",))),
        ("no label here", None),
        ("", None),
    ],
)
def test_label_keys(printed, key):
    assert label_key(printed) == key


def test_number_values():
    assert [number_value(n) for n in ("十五", "一百零五", "XIV", "v", "007")] == ["15", "105", "14", "v", "7"]


def test_positions_agree_with_the_tree():
    text = EN.format("", "")
    clauses = outline(text)
    positions = ClausePositions(clauses)
    for offset in range(len(text)):
        holding = [c.index for c in clauses if c.span.start <= offset < c.span.end]
        assert positions.innermost(offset) == (holding[-1] if holding else None)
    assert positions.innermost(len(text)) is None
    assert sum(len(span) for _, span in positions.own_text()) == len(text)


@pytest.mark.parametrize(
    ("printed", "length"),
    [("Section 5.1(a)", 2), ("第五条第二款", 1), ("第5.2(a)条", 2), ("(b)", 0), ("第（三）款", 0), ("附件一", 1)],
)
def test_head_of_a_label(printed, length):
    assert head_length(printed) == length


def test_a_label_that_repeats_is_taken_from_the_same_schedule():
    text = "Schedule 1\n  1 A.\n  2 B.\n" + "".join(f"Schedule {n}\n  1 C.\n  2 D.\n" for n in range(2, 40))
    clauses = outline(text)
    labels = LabelIndex(text, ClausePositions(clauses))
    source = next(c.index for c in clauses if text[c.span.start :].startswith("Schedule 20"))
    place = labels.find(LabelKey("clause", ("2",)), source + 1)
    assert place is not None
    assert clauses[place.clause].parent == source
    assert place.exact
