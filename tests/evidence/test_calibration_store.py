"""Calibrations on disk: the same numbers without the bank, no words of the document, and every damage is survived."""

from __future__ import annotations

import os
import pickle
import stat
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from softlookup.documents.read import read_document
from softlookup.evidence import calibration_store as store
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.question_bank import question_bank
from softlookup.evidence.reading import Reading
from softlookup.retrieval.chunks import passages
from softlookup.retrieval.context import full_context
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT, CONTRACT_ZH

QUESTION = "Who repairs the jetty?"
KEY = "ab" * 32
RANDOM = np.random.default_rng(5)
NULL, OFF_TOPIC, SPREAD = RANDOM.normal(size=(4, 6)), RANDOM.normal(size=(9, 6)), RANDOM.uniform(1, 2, size=4)


@pytest.fixture
def folder(isolated_cache):
    return isolated_cache / "calibrations"


@pytest.fixture
def opened(tiny_loaded, tmp_path):
    """A new reading of a text, and the number of bank questions that each of its passes ran."""

    def open_(text=CONTRACT, *, kind="llama", longest=120, profile=None, cached=True):
        path = tmp_path / "contract.txt"
        path.write_text(text, "utf-8")
        document, loaded = read_document(path), tiny_loaded(kind)
        context = full_context(document)
        prefilled = prefill(loaded, PromptTemplate(loaded.tokenizer), context.text)
        reading = Reading(prefilled, context, passages(document, longest), profile, cached=cached)
        runs, real = [], prefilled.observe_packed
        prefilled.observe_packed = lambda *a, **k: (runs.append(len(a[0])), real(*a, **k))
        return reading, runs

    return open_


def files(folder):
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def keep(key=KEY, null=NULL, off_topic=OFF_TOPIC, spread=SPREAD):
    store.keep_calibration(key, null, off_topic, spread)


def find(key=KEY, null=NULL, off_topic=OFF_TOPIC):
    return store.find_calibration(key, null.shape, off_topic.shape)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_a_second_reading_has_the_same_numbers_bit_for_bit_without_the_bank(language, alpha, opened, folder):
    text, question = (CONTRACT, QUESTION) if language == "en" else (CONTRACT_ZH, "谁修理屋顶？")
    first, ran = opened(text)
    before, words = first.ask(question, alpha=alpha, max_new_tokens=3)
    assert ran
    assert files(folder)
    second, ran_again = opened(text)
    after, words_again = second.ask(question, alpha=alpha, max_new_tokens=3)
    assert ran_again == []
    left, right = first.calibration(language, alpha=alpha), second.calibration(language, alpha=alpha)
    assert left.null.tobytes() == right.null.tobytes()
    assert left.off_topic.tobytes() == right.off_topic.tobytes()
    assert before.scores.tobytes() == after.scores.tobytes()
    assert before.decision.p_value == after.decision.p_value
    assert before.decision.passage_p_values.tobytes() == after.decision.passage_p_values.tobytes()
    assert (before.answer_span, words.ids) == (after.answer_span, words_again.ids)


def test_a_reading_without_cache_neither_reads_nor_writes(opened, folder):
    opened(cached=False)[0].calibration("en")
    assert files(folder) == []
    opened()[0].calibration("en")
    reading, runs = opened(cached=False)
    reading.calibration("en")
    assert runs == [len(question_bank("en").questions)]


def test_a_larger_sample_takes_the_standard_one_from_the_cache(opened):
    opened()[0].calibration("en")
    reading, runs = opened()
    reading.calibration("en", alpha=0.01)
    assert runs == [len(question_bank("en", 0.01).further)]


def test_everything_that_changes_the_numbers_changes_the_key(opened, monkeypatch):
    reading, _ = opened()
    heads = reading.profile.heads
    bank = question_bank("en")
    keys = {"as it is": store.calibration_key(reading, bank)}
    assert keys["as it is"] == store.calibration_key(opened()[0], bank)
    keys["text"] = store.calibration_key(opened(CONTRACT.replace("310", "311"))[0], bank)
    keys["passages"] = store.calibration_key(opened(longest=90)[0], bank)
    keys["model"] = store.calibration_key(opened(kind="qwen2")[0], bank)
    keys["heads"] = store.calibration_key(
        opened(profile=HeadProfile(heads[1:], (1.0,) * (len(heads) - 1), profiled=True))[0], bank
    )
    keys["weights of heads"] = store.calibration_key(
        opened(profile=HeadProfile(heads, (2.0, *(1.0,) * (len(heads) - 1)), profiled=True))[0], bank
    )
    keys["language"] = store.calibration_key(reading, question_bank("zh"))
    keys["size"] = store.calibration_key(reading, question_bank("en", 0.01))
    keys["wording"] = store.calibration_key(reading, replace(bank, ordinary=("Who else?", *bank.ordinary[1:])))
    for name, value in (("__version__", "9"), ("TEMPER", 1.0), ("BANK_VERSION", 99), ("CALIBRATION_VERSION", 99)):
        with monkeypatch.context() as patch:
            patch.setattr(store, name, value)
            keys[name] = store.calibration_key(reading, bank)
    model = reading.prefilled.loaded.model
    for name, value in (("rope_scaling_of_test", 2.0), ("_attn_implementation", "eager")):
        with monkeypatch.context() as patch:
            patch.setattr(model.config, name, value, raising=False)
            keys[name] = store.calibration_key(reading, bank)
    with monkeypatch.context() as patch:
        patch.setattr(reading.prefilled.template, "sha256", "0" * 64)
        keys["template"] = store.calibration_key(reading, bank)
    with monkeypatch.context() as patch:
        patch.setattr(reading.prefilled, "loaded", replace(reading.prefilled.loaded, source=replaced_source(reading)))
        keys["weights"] = store.calibration_key(reading, bank)
    with monkeypatch.context() as patch:
        patch.setattr(reading, "rows", lambda question: [0])
        keys["rows"] = store.calibration_key(reading, bank)
    with monkeypatch.context() as patch:
        patch.setattr(type(model), "dtype", "torch.float16")
        keys["number format"] = store.calibration_key(reading, bank)
    assert len(set(keys.values())) == len(keys), keys
    assert store.calibration_key(reading, bank) == keys["as it is"]


def replaced_source(reading):
    return replace(reading.prefilled.loaded.source, sha256="1" * 64)


def test_the_path_of_the_model_is_no_part_of_the_key(opened, monkeypatch):
    reading, _ = opened()
    before = store.calibration_key(reading, question_bank("en"))
    monkeypatch.setattr(reading.prefilled.loaded.model.config, "_name_or_path", "/elsewhere")
    assert store.calibration_key(reading, question_bank("en")) == before


def test_a_key_without_the_text_gives_the_numbers_of_another_document(opened, monkeypatch):
    """Planted fault: what the key keeps apart is told apart by nothing else."""
    monkeypatch.setattr("softlookup.evidence.reading.calibration_key", lambda reading, bank: KEY)
    opened(CONTRACT)[0].calibration("en")
    reading, runs = opened(CONTRACT.replace("310", "311"))
    fault = reading.calibration("en")
    assert runs == []
    right = opened(CONTRACT.replace("310", "311"), cached=False)[0].calibration("en")
    assert not np.array_equal(fault.null, right.null)


def test_a_file_holds_numbers_and_no_words(opened, folder):
    opened()[0].calibration("en")
    (path,) = folder.iterdir()
    assert path.suffix == ".npz"
    with np.load(path, allow_pickle=False) as content:
        kinds = {name: content[name].dtype.kind for name in content}
    assert kinds == {"null": "f", "off_topic": "f", "spread": "f", "digest": "u"}
    raw = path.read_bytes().lower()
    for word in (*CONTRACT.split(), "contract.txt", "mooring"):
        if len(word) > 4:
            assert word.lower().encode() not in raw, word
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_what_was_kept_is_found_and_nothing_else(folder):
    assert find() is None
    keep()
    null, off_topic, spread = find()
    assert np.array_equal(spread, SPREAD)
    assert np.array_equal(null, NULL)
    assert np.array_equal(off_topic, OFF_TOPIC)
    assert find("cd" * 32) is None
    assert files(folder) == [f"{KEY}.npz"]


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def empty(path):
    path.write_bytes(b"")


def flipped(path):
    raw = bytearray(path.read_bytes())
    raw[raw.index(NULL.tobytes()[:16]) + 3] ^= 4
    path.write_bytes(bytes(raw))


def pickled(path):
    path.write_bytes(pickle.dumps({"null": NULL}))


def pickled_inside(path):
    np.savez(
        path,
        null=np.array([NULL, "x"], dtype=object),
        off_topic=OFF_TOPIC,
        spread=SPREAD,
        digest=np.zeros(32, np.uint8),
    )


def of_another_key(path):
    keep("cd" * 32, NULL, OFF_TOPIC)
    (path.parent / f"{'cd' * 32}.npz").replace(path)


def other_numbers(path):
    """A whole archive, whose digest is that of other numbers."""
    with np.load(path) as content:
        np.savez(path, null=NULL + 1e-9, off_topic=OFF_TOPIC, spread=SPREAD, digest=content["digest"])


def other_shape(path):
    keep(KEY, NULL[:, :5], OFF_TOPIC[:, :5])


def other_type(path):
    keep(KEY, NULL.astype(np.float32), OFF_TOPIC)


def plain_array(path):
    with path.open("wb") as stream:
        np.save(stream, NULL)


def missing_member(path):
    np.savez(path, null=NULL, digest=np.zeros(32, np.uint8))


def a_folder(path):
    path.unlink()
    path.mkdir()


DAMAGES = (
    cut, empty, flipped, pickled, pickled_inside, of_another_key, other_numbers, other_shape, other_type, plain_array,
    missing_member,
)  # fmt: skip


@pytest.mark.parametrize("damage", [*DAMAGES, a_folder], ids=lambda damage: damage.__name__)
def test_what_is_damaged_is_not_found(damage, folder):
    keep()
    assert find() is not None
    damage(folder / f"{KEY}.npz")
    assert find() is None


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_is_damaged_is_replaced(damage, folder):
    keep()
    damage(folder / f"{KEY}.npz")
    keep()
    assert np.array_equal(find()[0], NULL)


def test_a_damaged_file_is_computed_again_and_rewritten(opened, folder):
    right = opened()[0].calibration("en")
    (path,) = folder.iterdir()
    cut(path)
    reading, runs = opened()
    again = reading.calibration("en")
    assert len(runs) == 1
    assert np.array_equal(again.off_topic, right.off_topic)
    assert opened_again_runs(opened) == []


def opened_again_runs(opened):
    reading, runs = opened()
    reading.calibration("en")
    return runs


def test_a_digest_that_nobody_compares_lets_other_numbers_in(folder, monkeypatch):
    """Planted fault, to show that the test of damages can fail."""
    keep()
    other_numbers(folder / f"{KEY}.npz")
    with np.load(folder / f"{KEY}.npz") as content:
        trusted = content["digest"].tobytes()
    monkeypatch.setattr(store, "_content_digest", lambda *_: trusted)
    assert find() is not None


def test_a_file_that_is_too_large_is_not_read(folder, monkeypatch):
    keep()
    monkeypatch.setattr(store, "_MOST_BYTES", 100)
    assert find() is None


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("where", [0, 1])
def test_numbers_of_a_failing_run_are_not_kept(value, where, folder):
    arrays = [NULL.copy(), OFF_TOPIC.copy()]
    arrays[where][1, 2] = value
    keep(KEY, *arrays)
    assert files(folder) == []


def unwritable(folder, monkeypatch):
    def refuse(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(store.tempfile, "mkstemp", refuse)


def full_disk(folder, monkeypatch):
    def refuse(stream, **_):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(store.np, "savez", refuse)


def in_the_way(folder, monkeypatch):
    folder.write_text("a file where the folder should be")


def no_cache_at_all(folder, monkeypatch):
    folder.parent.rmdir()
    folder.parent.write_text("a file")


@pytest.mark.parametrize("fault", [unwritable, full_disk, in_the_way, no_cache_at_all], ids=lambda f: f.__name__)
def test_a_cache_that_cannot_be_written_changes_nothing(fault, opened, folder, monkeypatch):
    right = opened(cached=False)[0].calibration("en")
    reading, runs = opened()
    fault(folder, monkeypatch)
    found = reading.calibration("en")
    assert len(runs) == 1
    assert np.array_equal(found.null, right.null)
    assert np.array_equal(found.off_topic, right.off_topic)
    if folder.is_dir():
        assert files(folder) == []


def test_a_writer_that_is_interrupted_leaves_nothing(folder, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.np, "savez", interrupted)
    with pytest.raises(KeyboardInterrupt):
        keep()
    assert files(folder) == []


def aged(path, seconds):
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_the_oldest_go_first_and_what_is_used_stays(folder, monkeypatch):
    monkeypatch.setattr(store, "_MOST_FILES", 3)
    for number in range(3):
        keep(f"{number}" * 64)
        aged(folder / f"{str(number) * 64}.npz", 300 - 100 * number)
    assert find("0" * 64) is not None  # the oldest, used just now
    keep("3" * 64)
    assert files(folder) == [f"{name * 64}.npz" for name in "023"]


def test_the_folder_is_bounded_by_bytes_too(folder, monkeypatch):
    keep("0" * 64)
    aged(folder / f"{'0' * 64}.npz", 100)
    size = (folder / f"{'0' * 64}.npz").stat().st_size
    monkeypatch.setattr(store, "_MOST_BYTES", 2 * size)
    keep("1" * 64)
    assert len(files(folder)) == 2
    aged(folder / f"{'1' * 64}.npz", 50)
    keep("2" * 64)
    assert files(folder) == [f"{name * 64}.npz" for name in "12"]


def test_what_dead_writers_left_is_removed_and_what_runs_is_not(folder):
    keep()
    dead, alive = (folder / f"{store._TEMPORARY_PREFIX}{name}" for name in ("dead", "alive"))
    for path in (dead, alive):
        path.write_bytes(b"half")
    aged(dead, 2 * store._STALE_SECONDS)
    keep()
    assert files(folder) == [alive.name, f"{KEY}.npz"]


def test_a_file_that_another_process_drops_meanwhile_is_no_error(folder, monkeypatch):
    keep("0" * 64)
    keep("1" * 64)
    real = Path.stat

    def gone(self, **arguments):
        if self.name.startswith("0000"):
            raise FileNotFoundError
        return real(self, **arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "stat", gone)
        keep("2" * 64)
    assert find("2" * 64) is not None
