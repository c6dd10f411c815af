"""Comparing planners: a wrong tool is shown wrong, a failing one with its line; none is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

import cost_peer_tools as tools
import cost_peers as peers

# benchmarks/attention.py would hide the tests of that name from processes that get this path
sys.path[:] = [entry for entry in sys.path if Path(entry).name != "benchmarks"]

FACTS = {"config": {"num_hidden_layers": 2}, "path": "x", "tokens": 8, "device": "", "parameters": 5}
RIGHT = tools.Peer("right", "a program", "answer(bytes=config['num_hidden_layers'] * tokens * 2 ** 30)")
HALF = tools.Peer("half", "a program", "answer(bytes=config['num_hidden_layers'] * tokens * 2 ** 29)")
BROKEN = tools.Peer("broken", "a program", "raise SystemExit('model_type x is not supported')")
SILENT = tools.Peer("silent", "a program", "pass")


@pytest.mark.parametrize(("peer", "cell"), [(RIGHT, "16.00 (+0.0 %)"), (HALF, "8.00 (-50.0 %)"), (BROKEN, "failed")])
def test_a_wrong_tool_shows_its_error(peer, cell):
    assert peers.kv_cell(tools.ask(sys.executable, peer.kv, FACTS), 16.0 * 2**30) == cell


def test_a_failing_tool_tells_its_last_line():
    assert tools.ask(sys.executable, BROKEN.kv, FACTS) == {"error": "model_type x is not supported"}
    assert tools.ask(sys.executable, SILENT.kv, FACTS) == {"error": "no output"}
    assert "No such file" in tools.ask("/nowhere/python", RIGHT.kv, FACTS)["error"]
    assert tools.run([sys.executable, "-c", "import time; time.sleep(60)"], limit=0.1)[1]


def test_truth_comes_from_the_log_and_else_from_the_tensors():
    logged = {"kv-14": {"value": 10240.0, "engine": "llama.cpp"}, "kv-15": {"value": 624.0, "engine": "llama.cpp"}}
    assert peers.truth(logged, "Gemma-3-27B") == (10864 * 2**20, "log of llama.cpp")
    full, windows = 10 * 131072, 52 * 1024
    assert peers.truth({}, "Gemma-3-27B") == (2 * 2 * 16 * 128 * (full + windows), "tensors")
    assert peers.truth({}, "DeepSeek-V3") == (61 * 131072 * 576 * 2, "tensors")
    assert peers.truth({}, "Qwen3-30B-A3B") == (12 * 2**30, "tensors")


@pytest.mark.parametrize("model", ["Qwen3-30B-A3B", "DeepSeek-V3"])
def test_our_own_row_is_asked_of_the_command(tmp_path, model):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(peers.MODELS[model]), "utf-8")
    true, _ = peers.truth({}, model)
    assert peers.kv_cell(peers.own_kv(path, model), true).endswith("(+0.0 %)")
    low_mid_high = peers.own_ttft(path, 10_000, "tensors")
    assert 0 < low_mid_high["low"] <= low_mid_high["best"] <= low_mid_high["high"]


def test_every_peer_answers_by_a_program_and_no_figure_is_written_down():
    assert {peer.package for peer in tools.PEERS} == {"hf-mem", "modelinfo-cli", "ggufit", "ridgepoint", "servcalc"}
    assert all("answer(" in peer.kv for peer in tools.PEERS)
    for peer in tools.PEERS:
        compile(peer.kv, peer.package, "exec")
        compile(peer.ttft, peer.package, "exec")
