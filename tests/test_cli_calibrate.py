"""``softlookup plan --calibrate`` on the command line: what is printed, stored and used, and what is refused."""

from __future__ import annotations

import json
import re

import pytest

from softlookup.cli import main
from softlookup.evidence.timed_model import bench_and_subject
from timed_machine import IgnoresCache, Machine, Truncates, subject


@pytest.fixture
def timed(monkeypatch):
    """Times a simulated machine instead of the model, under the keys of the model."""

    def timed(machine):
        def simulated(loaded, fingerprint):
            _, given = bench_and_subject(loaded, fingerprint)
            return machine, subject(key=given.key, name=given.name)

        monkeypatch.setattr("softlookup.evidence.timed_model.bench_and_subject", simulated)

    return timed


def run(capsys, *arguments):
    try:
        code = main(["plan", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_tiny_model_is_timed_and_stored(capsys, tiny_folder, isolated_cache, monkeypatch):
    """The real bench from end to end; what a busy machine makes of a model this small is not judged."""
    monkeypatch.setattr("softlookup.runtime.timing._MATRIX", 64)
    monkeypatch.setattr("softlookup.runtime.timing._MEMORY_BYTES", 1 << 16)
    for name in ("check_prefill", "check_decode", "check_cache_is_read", "check_growth", "check_spread"):
        monkeypatch.setattr(f"softlookup.cost.timing.measuring.{name}", lambda *_, **__: [])
    code, out, err = run(capsys, "--calibrate", "--model", tiny_folder, "--json")
    assert code == 0, err
    record = json.loads(out)
    assert record["findings"] == []
    assert record["linear_rate"] > 0
    assert len([timing for timing in record["timings"] if timing["phase"] == "prefill"]) == 4
    assert [path.suffix for path in (isolated_cache / "timings").iterdir()] == [".json"]


def test_later_plans_use_the_rates(capsys, tiny_folder, timed):
    arguments = ("--tokens", 900, "--model", tiny_folder)
    before = json.loads(run(capsys, *arguments, "--json")[1])
    timed(Machine())
    code, out, _ = run(capsys, "--calibrate", "--model", tiny_folder)
    assert code == 0
    for piece in ("150 GFLOP/s of matrix products, 130 of attention", "200 GFLOP/s in a matrix product, 20 GB/s",
                  "96 MB of weights at 9 GB/s", "KV at 14 GB/s", "held out", "Stored in"):  # fmt: skip
        assert piece in out
    assert max(map(len, out.splitlines()[:-1])) <= 120
    code, out, err = run(capsys, *arguments, "--json")
    after = json.loads(out)
    assert code == 0
    assert before["figures"]["prefill_seconds"]["kind"] == "prior"
    assert after["figures"]["prefill_seconds"]["kind"] == "measured"
    assert "seconds from rates measured on 2026-05-02" in err
    assert after["kv_bytes_per_token"] == 2 * before["kv_bytes_per_token"]
    assert "nothing was measured here" not in run(capsys, *arguments)[1]
    other = json.loads(run(capsys, *arguments, "--device", "H100", "--json")[1])
    assert other["figures"]["prefill_seconds"]["kind"] == "prior"


def test_other_threads_are_told_and_not_reused(capsys, tiny_folder, timed, monkeypatch):
    timed(Machine())
    run(capsys, "--calibrate", "--model", tiny_folder)
    monkeypatch.setenv("OMP_NUM_THREADS", "63")
    code, out, err = run(capsys, "--tokens", 900, "--model", tiny_folder, "--json")
    assert code == 0
    assert json.loads(out)["figures"]["prefill_seconds"]["kind"] == "prior"
    assert "the number of threads differs" in err
    assert "OMP_NUM_THREADS=63" in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("machine", "words"), [(Truncates, "the prompt was cut"), (IgnoresCache, "the cache is not read in full")]
)
def test_timings_that_cannot_be_true_are_not_stored(machine, words, capsys, tiny_folder, timed, isolated_cache):
    timed(machine())
    code, out, err = run(capsys, "--calibrate", "--model", tiny_folder)
    assert (code, out) == (1, "")
    assert words in err
    assert "nothing was stored" in err.splitlines()[-1]
    assert not (isolated_cache / "timings").exists()


def test_a_machine_that_has_become_far_slower_is_told(capsys, tiny_folder, timed):
    timed(Machine())
    run(capsys, "--calibrate", "--model", tiny_folder)
    timed(Machine(linear=30e9, attention=25e9))
    code, _, err = run(capsys, "--calibrate", "--model", tiny_folder)
    assert code == 0
    found = re.match(r"note: slow: ([\d,]+) tokens took ([\d.]+) s, calibrated are ([\d.]+) s; check", err)
    tokens, slow, before = (float(text.replace(",", "")) for text in found.groups())
    assert before == pytest.approx(Machine().read(tokens), rel=0.01)
    assert slow > 3 * before


def test_a_damaged_calibration_is_ignored_with_a_notice(capsys, tiny_folder, timed, isolated_cache):
    timed(Machine())
    run(capsys, "--calibrate", "--model", tiny_folder)
    (path,) = (isolated_cache / "timings").iterdir()
    path.write_text(path.read_text()[:200])
    code, out, err = run(capsys, "--tokens", 900, "--model", tiny_folder)
    assert code == 0
    assert "[prior]" in out
    assert "is damaged and ignored" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--calibrate", "--tokens", "5"), 2, "got --tokens and --calibrate"),
        (("a.txt", "--calibrate"), 2, "got FILE and --calibrate"),
        (("--calibrate", "--device", "H100"), 2, "--device belongs to FILE and --tokens"),
        (("--calibrate", "--model", "no-such-model"), 5, "neither a file nor a folder"),
    ],
)
def test_wrong_calls_are_one_line(capsys, arguments, code, message):
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1
