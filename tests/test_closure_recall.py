"""The benchmark of the closure: labels hold, shares are counted right, and a changed file is refused."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pytest

from softlookup.documents.model import Span
from softlookup.session import Options, Session

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import closure_recall as benchmark
from alignment import Alignment
from results import shared_data

# benchmarks/attention.py would hide the tests of that name from processes that get this path
sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]

ROWS = [json.loads(line) for line in benchmark.LABELS.read_text("utf-8").splitlines()]


def test_the_set_has_both_languages_and_all_splits_and_two_pieces_each():
    questions = [row["question"] for row in ROWS]
    chinese = sum(not question.isascii() for question in questions)
    assert chinese >= 20
    assert len(questions) - chinese >= 20
    assert {row["split"] for row in ROWS} == {"dev", "test", "held"}
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert all(len(row["spans"]) == 2 for row in ROWS)


def test_labels_of_our_own_contracts_hold_without_the_evaluation_data(tmp_path, capsys):
    found = list(benchmark.own_questions(benchmark.LABELS, tmp_path))
    assert {question.path.name for question in found} == {f"zh_contract_{n}.txt" for n in range(1, 7)}
    for question in found:
        text = question.path.read_text("utf-8")
        assert all(text[start:end].strip() == text[start:end] != "" for start, end in question.pieces)
    assert "skipped: law_zh" in capsys.readouterr().out


@pytest.mark.shared_data
def test_every_label_holds_in_the_evaluation_data():
    if not shared_data().is_dir():
        pytest.skip(f"no evaluation data at {shared_data()}; set SOFTLOOKUP_SHARED")
    assert len(list(benchmark.own_questions(benchmark.LABELS, shared_data()))) == len(ROWS)


def test_a_file_that_changed_is_refused(tmp_path):
    (tmp_path / "a.txt").write_text("One. Two.", "utf-8")
    row = {"id": "a", "file": "a.txt", "sha256": "0" * 64, "question": "?", "spans": [[0, 4]], "split": "dev"}
    (tmp_path / "q.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    with pytest.raises(SystemExit, match="not the file that was labelled"):
        list(benchmark.own_questions(tmp_path / "q.jsonl", tmp_path))


def test_half_of_the_letters_make_a_piece_fed():
    text = "abcd    efgh"
    assert benchmark.share_fed(text, (0, 12), [Span(0, 4)]) == 0.5
    assert benchmark.share_fed(text, (0, 12), [Span(0, 3), Span(11, 12)]) == 0.5
    assert benchmark.share_fed(text, (0, 12), []) == 0.0
    assert benchmark.share_fed(text, None, [Span(0, 12)]) == 0.0


def test_the_way_with_the_closure_finds_a_definition_that_the_other_does_not(tmp_path, tiny_folder):
    care = "The hirer keeps the boat clean and dry and tells the owner of every scratch on it at once. " * 3
    text = 'AGREEMENT\n\n1. Meaning\n\n1.1 "Losses" means harm and costs of any kind.\n\n'
    text += "".join(f"{n}. Care\n\n{n}.1 {care}\n\n" for n in range(2, 14))
    text += "14. Liability\n\n14.1 The renter indemnifies against all Losses.\n\n"
    path = tmp_path / "boat.txt"
    path.write_text(text, "utf-8")
    pieces = tuple((text.index(words), text.index(words) + 30) for words in ("The renter", '"Losses" means'))
    asked = benchmark.Question("q", path, "own en", "Against what does the renter indemnify?", pieces, "dev")
    options = argparse.Namespace(budgets=[120], bank=False)
    (row,) = benchmark.run_document(Session(tiny_folder, options=Options(cache=False)), path, [asked], options)
    assert row["without"] == [True, False]
    assert row["with"] == [True, True]
    assert max(row["without tokens"], row["with tokens"]) <= 120
    assert benchmark.all_fed([row], "with") - benchmark.all_fed([row], "without") == 1.0
    assert benchmark.pieces_fed([row], "without") == 0.5


def test_a_byte_order_mark_does_not_break_the_alignment():
    text = (
        "AGREEMENT dated May 3 between A and B. " + "The parties agree on nothing. " * 3 + "This AGREEMENT dated May 3."
    )
    aligned = Alignment("\ufeff" + text, text)
    assert aligned.span(1, 10) == (0, 9)
    assert aligned.span(1 + text.index("nothing"), 8 + text.index("nothing")) is not None
