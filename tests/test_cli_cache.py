"""``softlookup cache``: lists and deletes what is kept for further questions, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softlookup.cli import main


@pytest.fixture
def kept(isolated_cache):
    """Two kinds of files, and a model that must stay."""
    for name, size in (("calibrations/a.npz", 3), ("prefixes/b.safetensors", 5), ("models/tiny/config.json", 7)):
        path = isolated_cache / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return isolated_cache


def test_what_is_kept_is_listed(kept, capsys):
    assert main(["cache", "--json"]) == 0
    rows = {row["folder"].rsplit("/", 1)[-1]: row for row in json.loads(capsys.readouterr().out)["kept"]}
    assert {name: (row["files"], row["bytes"]) for name, row in rows.items()} == {
        "calibrations": (1, 3),
        "prefixes": (1, 5),
    }
    assert main(["cache"]) == 0
    assert "as confidential as they are" in capsys.readouterr().out
    assert (kept / "prefixes" / "b.safetensors").exists()


def test_purge_deletes_it_and_leaves_the_models(kept, capsys):
    assert main(["cache", "purge"]) == 0
    assert "deleted 1 files" in capsys.readouterr().out
    assert not (kept / "prefixes").exists()
    assert not (kept / "calibrations").exists()
    assert (kept / "models" / "tiny" / "config.json").exists()
    assert main(["cache", "purge"]) == 0  # nothing left is no error


def test_a_link_is_not_followed(kept, tmp_path, capsys):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("keep")
    (kept / "prefixes" / "b.safetensors").unlink()
    (kept / "prefixes").rmdir()
    (kept / "prefixes").symlink_to(elsewhere)
    assert main(["cache", "purge"]) == 0
    assert (elsewhere / "mine.txt").read_text() == "keep"
    assert not (kept / "prefixes").is_symlink()
    capsys.readouterr()


@pytest.mark.parametrize(("error", "code"), [(FileNotFoundError(2, "gone"), 0), (PermissionError(13, "denied"), 5)])
def test_a_file_that_another_run_dropped_is_not_counted(kept, capsys, monkeypatch, error, code):
    """A folder that cannot be read is a fault of the cache, not of stdout."""
    real = Path.stat

    def stat(self, **keywords):
        if self.name == "b.safetensors":
            raise error
        return real(self, **keywords)

    monkeypatch.setattr(Path, "stat", stat)
    assert main(["cache"]) == code
    out, err = capsys.readouterr()
    assert ("0 files, 0 MB" in out) == (code == 0)
    assert err.count("\n") == (code != 0)
    assert ("cannot be read (denied)" in err) == (code != 0)


def test_an_unknown_action_is_a_usage_error(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["cache", "eat"])
    assert stop.value.code == 2
    assert "purge" in capsys.readouterr().err
