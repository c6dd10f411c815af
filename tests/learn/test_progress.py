"""The file of a learner's progress: whole or not at all, private, and never a reason to crash."""

from __future__ import annotations

import json
import os
import stat

import pytest

from softlookup.errors import SoftlookupError
from softlookup.learn import progress as module
from softlookup.learn.progress import Progress, Score, forget_progress, progress_file, read_progress, write_progress


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    folder = tmp_path / "state"
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(folder))
    return folder


FULL = Progress((1, 3), {2: Score(1.0, 0.5)}, {4: Score(0.75, 0.75)}, ("mask-late",))


def test_what_is_written_is_read_back(state):
    assert write_progress(FULL) == ""
    assert read_progress() == (FULL, "")
    assert [path.name for path in state.iterdir()] == ["learn.json"]


def test_nothing_kept_is_an_empty_start(state):
    assert read_progress() == (Progress(), "")
    assert not state.exists()


def test_the_file_is_private_and_holds_numbers_and_ids_alone(state):
    write_progress(FULL)
    assert stat.S_IMODE(progress_file().stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert json.loads(progress_file().read_text()) == {
        "schema": 1,
        "lessons_done": [1, 3],
        "quiz": {"2": {"best": 1.0, "last": 0.5}},
        "exercises": {"4": {"best": 0.75, "last": 0.75}},
        "wrong": ["mask-late"],
    }


def test_scores_keep_the_best_and_the_last():
    one = Progress().with_quiz({2: 0.5}, {"a": False, "b": True})
    two = one.with_quiz({2: 1.0, 3: 0.0}, {"a": True, "c": False})
    three = two.with_quiz({2: 0.25}, {})
    assert one.wrong == ("a",)
    assert two.wrong == ("c",)
    assert three.quiz == {2: Score(1.0, 0.25), 3: Score(0.0, 0.0)}
    assert Progress().with_lesson(3).with_lesson(1).with_lesson(3).lessons_done == (1, 3)
    assert Progress().with_exercises({1: 0.5}).with_exercises({1: 0.25}).exercises == {1: Score(0.5, 0.25)}


def good():
    return FULL.to_dict()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no json",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 5000,
        b'{"schema": 1}',
        json.dumps(good() | {"schema": 2}).encode(),
        json.dumps(good() | {"schema": True}).encode(),
        json.dumps(good() | {"name": "Ada"}).encode(),
        json.dumps(good() | {"lessons_done": ["1"]}).encode(),
        json.dumps(good() | {"lessons_done": [True]}).encode(),
        json.dumps(good() | {"lessons_done": 1}).encode(),
        json.dumps(good() | {"wrong": ["\x1b[2J"]}).encode(),
        json.dumps(good() | {"wrong": [1]}).encode(),
        json.dumps(good() | {"quiz": {"2": {"best": 2, "last": 0}}}).encode(),
        json.dumps(good() | {"quiz": []}).encode(),
        json.dumps(good() | {"quiz": {"2": {"best": float("nan"), "last": 0}}}).encode(),
        json.dumps(good() | {"quiz": {"x": {"best": 1, "last": 0}}}).encode(),
        json.dumps(good() | {"quiz": {"2": {"best": 1}}}).encode(),
        b" " * ((1 << 20) + 1),
        b"9" * 10_000,
    ],
)
def test_a_damaged_or_foreign_file_is_moved_aside(state, content):
    state.mkdir()
    progress_file().write_bytes(content)
    progress, message = read_progress()
    assert progress == Progress()
    assert "moved to" in message
    assert "\n" not in message
    assert not progress_file().exists()
    assert (state / "learn.json.damaged-1").read_bytes() == content
    assert write_progress(FULL) == ""
    assert read_progress() == (FULL, "")


def test_a_second_damaged_file_does_not_replace_the_first(state):
    state.mkdir()
    for text in ("one", "two"):
        progress_file().write_text(text)
        read_progress()
    assert [(state / f"learn.json.damaged-{n}").read_text() for n in (1, 2)] == ["one", "two"]


def test_a_link_is_moved_and_not_followed(state, tmp_path):
    state.mkdir()
    elsewhere = tmp_path / "elsewhere.json"
    elsewhere.write_text(json.dumps(good()))
    progress_file().symlink_to(elsewhere)
    progress, message = read_progress()
    assert progress == Progress()
    assert "no regular file" in message
    assert write_progress(FULL) == ""
    assert json.loads(elsewhere.read_text()) == good()
    assert not progress_file().is_symlink()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_does_not_block(state):
    state.mkdir()
    os.mkfifo(progress_file())
    assert "no regular file" in read_progress()[1]


def test_a_folder_in_its_place_is_moved(state):
    progress_file().mkdir(parents=True)
    assert "moved to" in read_progress()[1]
    assert write_progress(FULL) == ""


def test_a_state_directory_that_cannot_be_used_is_a_message(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(blocked / "below"))
    assert "SOFTLOOKUP_STATE" in write_progress(FULL)
    assert read_progress()[0] == Progress()
    assert forget_progress() == ()


def test_a_write_that_fails_leaves_the_old_file_and_no_other(state, monkeypatch):
    write_progress(FULL)

    def broken(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", broken)
    assert "No space left" in write_progress(Progress())
    monkeypatch.undo()
    monkeypatch.setenv("SOFTLOOKUP_STATE", str(state))
    assert read_progress() == (FULL, "")
    assert [path.name for path in state.iterdir()] == ["learn.json"]


def test_forgetting_deletes_all_of_it_and_nothing_else(state):
    write_progress(FULL)
    (state / "learn.json.damaged-1").write_text("x")
    (state / "other.txt").write_text("keep")
    assert [path.name for path in forget_progress()] == ["learn.json", "learn.json.damaged-1"]
    assert [path.name for path in state.iterdir()] == ["other.txt"]
    assert forget_progress() == ()


def test_a_file_that_cannot_be_deleted_is_a_typed_error(state, monkeypatch):
    write_progress(FULL)

    def denied(self, **keywords):
        raise PermissionError(13, "denied")

    monkeypatch.setattr(module.Path, "unlink", denied)
    with pytest.raises(SoftlookupError, match="cannot be deleted"):
        forget_progress()
