"""The hand labels of our own Chinese texts: a drop in quality shows without the evaluation data."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from alignment import Alignment
from labelled import LABELS, LabelledFile, load_labels
from references import Tally, measure

# benchmarks/attention.py would hide the tests of that name from processes that get this path
sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]

OWN = [f for f in load_labels("zh") if f.split == "dev" and (LABELS / f.name).exists()]


def total(tallies: dict[str, Tally]) -> Tally:
    whole = Tally()
    for tally in tallies.values():
        whole.add(tally)
    return whole


@pytest.mark.parametrize("labelled", OWN, ids=[f.name for f in OWN])
def test_own_texts_keep_their_quality(labelled: LabelledFile) -> None:
    result = measure(labelled, Path())
    references, definitions = total(result.references), total(result.definitions)
    assert references.labelled > 40
    assert references.right_target >= 0.9 * references.found
    assert references.right_target >= 0.85 * references.labelled
    assert definitions.matched >= 0.9 * max(definitions.found, definitions.labelled)


def test_labels_of_both_languages_and_splits_are_there() -> None:
    files = [*load_labels("en"), *load_labels("zh")]
    for split in ("dev", "test"):
        assert sum(len(f.references) for f in files if f.split == split) >= 200
        assert sum(len(f.definitions) for f in files if f.split == split) >= 100


def test_labels_lie_in_their_windows_and_hold_no_words() -> None:
    for labelled in [*load_labels("en"), *load_labels("zh")]:
        for label in labelled.references:
            assert any(start <= label.start < label.end <= end for start, end in labelled.reference_windows)
        for label in labelled.definitions:
            assert label.kind == "ignored" or any(
                start <= label.start < label.end <= end for start, end in labelled.definition_windows
            )


def test_a_text_that_lost_lines_is_aligned() -> None:
    original = "head head head\nThe Seller delivers the goods\n<PAGE> 7\nin ten days under Section 4.\nend end\n"
    read = "The Seller delivers the goods in ten days under Section 4.\n"
    alignment = Alignment(original, read)
    assert alignment.offset(original.index("Section")) == read.index("Section")
    assert alignment.offset(original.index("Seller")) == read.index("Seller")
    assert Alignment(read, read).offset(7) == 7
