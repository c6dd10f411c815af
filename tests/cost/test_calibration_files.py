"""Calibrations on disk: found again, refused for any other setting by name, and every damage is survived and told."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import fields, replace

import pytest

from softlookup.cost.timing import calibration_files as files
from softlookup.cost.timing.calibration import CalibrationKey, calibration_from_dict
from softlookup.cost.timing.measuring import measure
from softlookup.errors import SoftlookupError
from timed_machine import KEY, Machine, subject


@pytest.fixture(scope="module")
def calibration():
    return measure(Machine(), subject()).calibration


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "timings"


def kept(folder, calibration, **changes):
    return files.keep_calibration(folder, replace(calibration, key=replace(KEY, **changes)))


def test_what_was_kept_is_found_again_to_the_last_bit(folder, calibration):
    path = files.keep_calibration(folder, calibration)
    found = files.find_calibration(folder, KEY)
    assert (found.calibration, found.same_model, found.notices) == (calibration, True, ())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [each.name for each in folder.iterdir()] == [path.name]


def test_nothing_kept_is_nothing_said(folder):
    assert files.find_calibration(folder, KEY) == files.Found(None, same_model=False, notices=())


@pytest.mark.parametrize("name", [field.name for field in fields(CalibrationKey) if field.name != "model_fingerprint"])
def test_any_other_setting_is_refused_by_name(name, folder, calibration):
    kept(folder, calibration, **{name: "something else"})
    found = files.find_calibration(folder, KEY)
    assert found.calibration is None
    (notice,) = found.notices
    assert files._NAMES[name] in notice
    assert "'something else' then" in notice
    assert f"{getattr(KEY, name)!r} now" in notice
    assert "--calibrate` again" in notice


def test_a_key_that_nobody_compares_would_be_reused(folder, calibration, monkeypatch):
    """Planted fault, to show that the test above can fail."""
    kept(folder, calibration, threads="OMP_NUM_THREADS=8")
    monkeypatch.setattr(CalibrationKey, "differing", lambda self, wanted: [])
    assert files.find_calibration(folder, KEY).calibration is not None


def test_what_is_not_known_yet_is_not_compared(folder, calibration):
    files.keep_calibration(folder, calibration)
    assert files.find_calibration(folder, replace(KEY, dtype="", kv_dtype="")).same_model


def test_another_model_on_the_same_machine_lends_its_rates(folder, calibration):
    kept(folder, calibration)
    for wanted in (replace(KEY, model_fingerprint="cd" * 32), replace(KEY, model_fingerprint="")):
        found = files.find_calibration(folder, wanted)
        assert found.calibration == calibration
        assert not found.same_model
    kept(folder, calibration, model_fingerprint="cd" * 32)
    assert files.find_calibration(folder, KEY).same_model


def test_the_own_model_under_old_versions_is_told_beside_borrowed_rates(folder, calibration):
    kept(folder, calibration, engine_version="softlookup 0")
    kept(folder, calibration, model_fingerprint="cd" * 32)
    found = files.find_calibration(folder, KEY)
    assert not found.same_model
    assert found.calibration is not None
    assert "the engine's version differs" in found.notices[0]


def test_a_new_calibration_replaces_the_old_one(folder, calibration):
    files.keep_calibration(folder, calibration)
    newer = replace(calibration, linear_rate=2 * calibration.linear_rate)
    files.keep_calibration(folder, newer)
    assert files.find_calibration(folder, KEY).calibration == newer
    assert len(list(folder.iterdir())) == 1


def cut(path):
    path.write_text(path.read_text()[:-30])


def empty(path):
    path.write_text("")


def binary(path):
    path.write_bytes(bytes(range(256)))


def nested(path):
    path.write_text("[" * 100_000)


def list_of(path):
    path.write_text("[1, 2]")


def digit_changed(path):
    text = path.read_text()
    place = text.index('"linear_rate": ') + len('"linear_rate": ')
    path.write_text(text[:place] + ("2" if text[place] == "1" else "1") + text[place + 1 :])


def huge(path):
    path.write_text(path.read_text() + " " * (files._MOST_BYTES + 1))


@pytest.mark.parametrize("damage", [cut, empty, binary, nested, list_of, digit_changed, huge], ids=lambda d: d.__name__)
def test_damage_is_ignored_with_a_notice(damage, folder, calibration):
    path = files.keep_calibration(folder, calibration)
    damage(path)
    found = files.find_calibration(folder, KEY)
    assert found.calibration is None
    (notice,) = found.notices
    assert path.name in notice
    assert "is damaged and ignored" in notice
    assert len(notice) < 300
    files.keep_calibration(folder, calibration)
    assert files.find_calibration(folder, KEY).calibration == calibration


def test_a_digest_that_nobody_compares_lets_a_changed_digit_in(folder, calibration, monkeypatch):
    """Planted fault, to show that the test of damages can fail."""
    digit_changed(files.keep_calibration(folder, calibration))
    monkeypatch.setattr(files, "_digest", lambda content: json.loads(next(folder.iterdir()).read_text())["sha256"])
    assert files.find_calibration(folder, KEY).calibration is not None


CHANGES = (
    {"linear_rate": float("nan")}, {"linear_rate": float("inf")}, {"linear_rate": -1.0}, {"linear_rate": 0.0},
    {"linear_rate": "fast"}, {"linear_rate": True}, {"weight_bytes_read": 1.5}, {"schema": 2}, {"timings": []},
    {"timings": [{"phase": "dance"}]}, {"key": {}}, {"one_rate": 1}, {"more": 1}, {"model": "x" * 1001}, {"model": 7},
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_records_that_are_no_calibration_are_refused(change, calibration):
    content = json.loads(json.dumps(calibration.to_dict()))
    assert calibration_from_dict(content) == calibration
    with pytest.raises(ValueError, match=r"."):
        calibration_from_dict({**content, **change})


def test_a_missing_entry_is_refused(calibration):
    for name in calibration.to_dict():
        content = json.loads(json.dumps(calibration.to_dict()))
        del content[name]
        with pytest.raises(ValueError, match=r"."):
            calibration_from_dict(content)


def test_a_folder_that_cannot_be_written_is_an_error_with_a_remedy(folder, calibration, monkeypatch):
    folder.write_text("a file where the folder should be")
    with pytest.raises(SoftlookupError, match=r"cannot be written to .*; free some space"):
        files.keep_calibration(folder, calibration)
    assert files.find_calibration(folder, KEY).calibration is None


def test_a_writer_that_is_interrupted_leaves_nothing(folder, calibration, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "fdopen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        files.keep_calibration(folder, calibration)
    assert list(folder.iterdir()) == []


def test_the_oldest_go_first(folder, calibration, monkeypatch):
    monkeypatch.setattr(files, "_MOST_FILES", 3)
    for number in range(4):
        path = kept(folder, calibration, threads=str(number))
        os.utime(path, (1000 + number, 1000 + number))
    kept(folder, calibration, threads="4")
    known, notices = files.read_calibrations(folder)
    assert (sorted(each.key.threads for each in known), notices) == (["2", "3", "4"], ())
