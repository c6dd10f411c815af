"""Models on disk are complete or absent: damage is found, death and rivals leave nothing half-written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from softlookup.errors import ExitCode, ModelError
from softlookup.runtime import store
from softlookup.runtime.directories import cache_directory, models_directory
from softlookup.runtime.store import (
    MANIFEST,
    SCHEMA,
    StoredModel,
    find_model,
    list_models,
    publish,
    publishing,
    read_manifest,
    sha256_of,
    verify_in_background,
    verify_model,
)

DIGEST = "ab" * 32


def manifest(digest=DIGEST, name="demo"):
    return StoredModel(SCHEMA, name, "demo.gguf", digest, "MIT", "a note", ())


def store_model(digest=DIGEST, content=b"weights", name="demo"):
    with publishing() as temporary:
        (temporary / "model.safetensors").write_bytes(content)
        (temporary / "config.json").write_text("{}", "utf-8")
        return publish(temporary, manifest(digest, name))


def test_a_published_model_is_found_and_verified(isolated_cache):
    folder = store_model()
    assert folder == isolated_cache / "models" / "demo-abababababab"
    assert find_model(DIGEST) == folder
    assert find_model("cd" * 32) is None
    found = read_manifest(folder)
    assert [(name, size) for name, size, _ in found.files] == [("config.json", 2), ("model.safetensors", 7)]
    assert found.files[1][2] == sha256_of(folder / "model.safetensors")
    assert (found.name, found.note, found.source_sha256) == ("demo", "a note", DIGEST)
    verify_model(folder, found)
    verify_in_background(folder, found).finish()
    assert {path.name for path in models_directory().iterdir()} == {folder.name, ".lock"}


def test_directories_are_private(isolated_cache, monkeypatch):
    monkeypatch.setenv("SOFTLOOKUP_CACHE", str(isolated_cache / "a" / "b"))
    folder = store_model()
    for path in (cache_directory(), models_directory(), folder):
        assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.write_bytes(b"weightz"), "fails its SHA-256"),
        (lambda path: path.write_bytes(b"weigh"), "has 5 bytes, not 7"),
        (lambda path: path.unlink(), "is missing"),
        (lambda path: (path.unlink(), path.mkdir()), "is missing"),
    ],
    ids=["changed", "truncated", "missing", "a folder"],
)
def test_damage_is_found(damage, words):
    folder = store_model()
    damage(folder / "model.safetensors")
    with pytest.raises(ModelError, match=words) as caught:
        verify_model(folder, read_manifest(folder))
    assert caught.value.exit_code == ExitCode.MODEL == 5
    assert "model pull" in caught.value.remedy
    with pytest.raises(ModelError, match=words):
        verify_in_background(folder, read_manifest(folder)).finish()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "null",
        "{}",
        "\xff",
        '{"files": null}',
        '{"files": [["a", 1]]}',
        '{"files": [], "schema": 1, "unknown": 2}',
    ],
)
def test_a_damaged_manifest_is_a_model_error(content):
    folder = store_model()
    (folder / MANIFEST).write_bytes(content.encode("latin-1"))
    with pytest.raises(ModelError, match="no readable manifest"):
        read_manifest(folder)
    assert list_models() == []  # left out, not fatal


def test_another_schema_is_refused():
    folder = store_model()
    fields = json.loads((folder / MANIFEST).read_text("utf-8"))
    (folder / MANIFEST).write_text(json.dumps({**fields, "schema": 99}), "utf-8")
    with pytest.raises(ModelError, match="schema 99, not 1"):
        read_manifest(folder)


def test_publishing_again_replaces_the_old_folder():
    store_model(content=b"damaged")
    folder = store_model(content=b"weights2")
    verify_model(folder, read_manifest(folder))
    assert (folder / "model.safetensors").read_bytes() == b"weights2"
    assert len(list_models()) == 1


def test_an_error_inside_publishes_nothing():
    with pytest.raises(RuntimeError, match="no"), publishing() as temporary:  # noqa: PT012 - half the work first
        (temporary / "model.safetensors").write_bytes(b"half")
        raise RuntimeError("no")
    assert [path.name for path in models_directory().iterdir()] == [".lock"]


def test_a_full_disk_is_a_model_error():
    with pytest.raises(ModelError, match=r"cannot be written \(No space left on device\)"), publishing():
        raise OSError(28, "No space left on device")


def test_stale_folders_of_dead_writers_are_removed(isolated_cache):
    stale = isolated_cache / "models" / ".converting-dead"
    stale.mkdir(parents=True)
    (stale / "model.safetensors").write_bytes(b"half")
    (stale / MANIFEST).write_text("{}", "utf-8")
    assert list_models() == []
    store_model()
    assert not stale.exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from softlookup.runtime import store
from softlookup.runtime.store import StoredModel, publish, publishing

point = sys.argv[1]

def die(*_arguments, **_keywords):
    os.kill(os.getpid(), signal.SIGKILL)

def dying_at(number, function):
    count = 0
    def counted(*arguments, **keywords):
        nonlocal count
        count += 1
        if count == number:
            die()
        return function(*arguments, **keywords)
    return counted

with publishing() as temporary:
    (temporary / "model.safetensors").write_bytes(b"weights")
    if point == "files written":
        die()
    if point == "first sync":
        store._sync = dying_at(1, store._sync)
    if point == "manifest written":
        store._sync = dying_at(2, store._sync)
    if point == "old folder half removed":
        real = store.shutil.rmtree
        store.shutil.rmtree = lambda path, **k: (next(Path(path).glob("model*")).unlink(), die())
    if point == "before the rename":
        Path.rename = die
    if point == "after the rename":
        store._sync = dying_at(4, store._sync)
    publish(temporary, StoredModel(1, "demo", "demo.gguf", "ab" * 32, "MIT", "", ()))
"""


POINTS = ("files written", "first sync", "manifest written", "before the rename", "after the rename")


@pytest.mark.parametrize(
    ("point", "existing"),
    [*((point, existing) for point in POINTS for existing in (False, True)), ("old folder half removed", True)],
)
def test_a_killed_writer_leaves_what_the_next_one_repairs(point, existing, isolated_cache):
    if existing:
        store_model(content=b"damaged")
    died = subprocess.run([sys.executable, "-c", KILLED, point], env=os.environ.copy(), check=False)
    assert died.returncode == -signal.SIGKILL
    for folder, found in list_models():  # what is listed is intact, or known to be damaged
        if point == "after the rename":
            verify_model(folder, found)
    folder = store_model()
    verify_model(folder, read_manifest(folder))
    assert find_model(DIGEST) == folder
    assert {path.name for path in models_directory().iterdir()} == {folder.name, ".lock"}


def test_a_second_writer_waits_for_the_first():
    inside, release, order = threading.Event(), threading.Event(), []

    def first():
        with publishing() as temporary:
            inside.set()
            release.wait(10)
            (temporary / "a").write_bytes(b"1")
            order.append("first")
            publish(temporary, manifest())

    def second():
        inside.wait(10)
        with publishing():
            order.append(find_model(DIGEST) is not None)

    threads = [threading.Thread(target=first), threading.Thread(target=second)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    threads[1].join(0.2)
    assert order == []
    release.set()
    for thread in threads:
        thread.join(10)
    assert order == ["first", True]


def test_without_the_lock_the_second_writer_is_caught(monkeypatch):
    """Planted fault: no lock. The second writer takes the first one's folder for a dead one."""
    monkeypatch.setattr(store.fcntl, "flock", lambda *_: None)
    with publishing() as first:
        with publishing():
            pass
        assert not first.exists()


@pytest.mark.parametrize("blocked", ["cache", "models", "lock"])
def test_a_cache_that_cannot_be_written_is_a_model_error(blocked, tmp_path, monkeypatch):
    cache = tmp_path / "blocked"
    if blocked == "cache":
        cache.write_text("a file", "utf-8")
    elif blocked == "models":
        cache.mkdir()
        (cache / "models").write_text("a file", "utf-8")
    else:
        (cache / "models" / ".lock").mkdir(parents=True)
    monkeypatch.setenv("SOFTLOOKUP_CACHE", str(cache))
    with pytest.raises(ModelError, match="SOFTLOOKUP_CACHE") as caught:
        store_model()
    assert caught.value.exit_code == ExitCode.MODEL
    assert str(Path(cache)) in str(caught.value)
