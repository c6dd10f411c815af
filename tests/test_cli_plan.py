"""``softlookup plan --tokens`` and ``--example`` on the command line: output, JSON, exit codes, one line per error."""

from __future__ import annotations

import json

import pytest

from softlookup.cli import main


def run(capsys, *arguments):
    try:
        code = main(["plan", *map(str, arguments)])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_length_on_a_device(capsys):
    code, out, err = run(capsys, "--tokens", 100_000, "--model", "Llama-3.1-8B", "--device", "H100", "--questions", 50)
    assert (code, err) == (0, "")
    for piece in ("8,030,261,248 parameters", "131,072 B per token", "[exact]", "[prior]", "full context *",
                  "50 questions", "=> full_context", "would help most", "7.09 s (6.25 s-10.2 s)"):  # fmt: skip
        assert piece in out
    assert max(map(len, out.splitlines())) <= 120


def test_json(capsys):
    code, out, _ = run(capsys, "--tokens", 8192, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["schema"], found["tokens"], found["parameters"]) == (1, 8192, 134_515_008)
    assert (found["kv_bytes"], found["kv_bytes_per_token"]) == (8192 * 23_040, 23_040)
    assert found["decision"]["strategy"] == "retrieval"  # the answer needs room too
    assert found["figures"]["prefill_seconds"]["low"] < found["prefill_seconds"]


def test_a_length_and_a_file_read_evidence_up_to_the_same_layer(capsys, monkeypatch):
    """19 of the embedded model's 30 layers: planted, all layers take longer in hybrid's windows and in no prefill."""
    from softlookup.evidence import profile_store

    hybrids, prefills = [], []
    for depth in (profile_store.evidence_depth, lambda _, shape: len(shape.layers)):
        monkeypatch.setattr(profile_store, "evidence_depth", depth)
        found = json.loads(run(capsys, "--tokens", 50_000, "--json")[1])
        hybrids.append(found["strategies"][2]["first_answer_seconds"])
        prefills.append(found["prefill_seconds"])
    assert hybrids[0] < 0.8 * hybrids[1]
    assert prefills[0] == prefills[1]


def test_beyond_the_window_is_told_on_stderr(capsys):
    code, out, err = run(capsys, "--tokens", 200_000)
    assert code == 0
    assert "=> hybrid" in out
    assert err.startswith("note: 200,000 tokens beside 768")
    assert len(err.splitlines()) == 1


def test_engine_types_and_answer(capsys):
    arguments = ("--tokens", 131_072, "--model", "gemma-3-27b", "--device", "2xH100", "--json")
    _, plain, _ = run(capsys, *arguments)
    _, out, _ = run(capsys, *arguments, "--engine", "llama.cpp", "--kv-dtype", "q8_0", "--weight-dtype", "q4_0")
    found = json.loads(out)
    assert found["kv_bytes"] == (10 * 131_072 + 52 * 1536) * 16 * 256 * 34 // 32
    assert json.loads(plain)["kv_bytes"] == (10 * 131_072 + 52 * 1024) * 16 * 256 * 2
    assert found["figures"]["kv_bytes"]["kind"] == "version-bound"
    assert found["weight_bytes"] < json.loads(plain)["weight_bytes"] / 3


def test_a_model_of_files(capsys, tiny_folder):
    for model in (tiny_folder, tiny_folder / "config.json"):
        code, out, _ = run(capsys, "--tokens", 500, "--model", model, "--json")
        assert code == 0
        assert json.loads(out)["weight_bytes"] > 0


def test_nothing_fits_is_a_plan_too(capsys):
    code, out, _ = run(capsys, "--tokens", 50_000, "--model", "DeepSeek-V3", "--device", "RTX-4090", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["decision"]["strategy"] == "none"
    assert found["max_concurrency"] == 0
    assert found["kv_bytes"] == 50_000 * 70_272


def test_the_course_page(capsys):
    code, out, err = run(capsys, "--example", "contract-qa")
    assert (code, err) == (0, "")
    for piece in ("6.8e15", "3.38e+15", "twice too high", "T(T+1)/2", "weights forgotten", "26.4 TB", "one layer",
                  "multiply-adds", "right for MHA"):  # fmt: skip
        assert piece in out
    assert max(map(len, out.splitlines())) <= 120
    _, out, _ = run(capsys, "--example", "contract-qa", "--json")
    lines = json.loads(out)["lines"]
    assert len(lines) > 20
    assert all(line["reason"] and "\n" not in line["reason"] for line in lines)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, "needs one of FILE, --tokens, --example and --calibrate, got none"),
        (("a.txt", "--tokens", "5"), 2, "got FILE and --tokens"),
        (("--example", "contract-qa", "--questions", "5"), 2, "--questions belongs to FILE and --tokens"),
        (("--tokens", "5", "--max-seconds", "0"), 2, "--max-seconds must lie between 1 and"),
        (("--tokens", "5", "--max-seconds", "nan"), 2, "--max-seconds must lie between 1 and"),
        (("--tokens", "5", "--max-seconds", "inf"), 2, "--max-seconds must lie between 1 and"),
        (("--tokens", "-5"), 2, "--tokens must lie between 1 and"),
        (("--tokens", "0"), 2, "--tokens must lie between 1 and"),
        (("--tokens", "9" * 30), 2, "--tokens must lie between 1 and"),
        (("--tokens", str(1 << 40)), 2, "--tokens must lie between 1 and 549,755,813,888"),
        (("--tokens", "many"), 2, "invalid int value"),
        (("--tokens", "5", "--questions", "0"), 2, "--questions must lie"),
        (("--tokens", "5", "--answer-tokens", "-1"), 2, "--answer-tokens must lie"),
        (("--tokens", "5", "--concurrency", "-1"), 2, "--concurrency must lie"),
        (("--tokens", "5", "--device", "Z9"), 2, "the device 'Z9' is not in the table"),
        (("--tokens", "5", "--engine", "vLLLM"), 2, "the engine 'vLLLM' is not known"),
        (("--tokens", "5", "--kv-dtype", "q7"), 2, "the storage type 'q7' is not known"),
        (("--tokens", "5", "--model", "no-such-model"), 5, "neither a file, a folder nor a known name"),
        (("--tokens", "5", "--model", "./no.gguf"), 5, "there is no file or folder"),
        (("--tokens", "5", "--max-context-tokens", "900"), 2, "--max-context-tokens belongs to a FILE"),
        (("--tokens", "5", "--ocr"), 2, "--ocr belongs to a FILE; leave it out with --tokens"),
        (("--tokens", "5", "--member", "EX-10"), 2, "--member belongs to a FILE"),
        (("--tokens", "5", "--view", "markup"), 2, "--view belongs to a FILE"),
        (("--calibrate", "--password-env", "P"), 2, "--password-env belongs to a FILE; leave it out with --calibrate"),
        (("--example", "contract-qa", "--encoding", "gbk"), 2, "--encoding belongs to a FILE"),
        (("--example", "contract-qa", "--model", "Qwen3-4B"), 2, "--model belongs to FILE and --tokens"),
        (("--tokens", "5", "--model", ""), 2, "--model needs a name, got an empty one"),
        (("--tokens", "5", "--device", " "), 2, "--device needs a name, got an empty one"),
        (("--tokens", "5", "--model", "/dev/null"), 5, "there is no regular file '/dev/null'"),
        (("--tokens", "5", "--kv-dtype", ""), 2, "the storage type '' is not known"),
        (("--tokens", "5", "--kv-dtype", "Q4_K_M"), 2, "--kv-dtype q4_k_m is a mix of formats"),
        (("--example", "other"), 2, "invalid choice"),
    ],
)  # fmt: skip
def test_wrong_calls_are_one_line(capsys, arguments, code, message):
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_configuration_with_a_missing_field(capsys, tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"model_type": "llama", "hidden_size": 64}', "utf-8")
    code, out, err = run(capsys, "--tokens", 5, "--model", path)
    assert (code, out) == (5, "")
    assert "does not state num_hidden_layers" in err
    assert len(err.splitlines()) == 1


def test_the_dtype_of_a_configuration(capsys, tmp_path):
    """An unknown one is a fault of the model, not of the call, and can be overridden; a missing one is told."""
    from softlookup.cost.model.presets import preset_config

    config = {name: value for name, value in preset_config("Llama-3.1-8B").items() if "dtype" not in name}
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**config, "torch_dtype": "float7" * 100}), "utf-8")
    code, out, err = run(capsys, "--tokens", 5, "--model", path)
    assert (code, out) == (5, "")
    assert "states the unknown dtype 'float7float7" in err
    assert len(err) < 300
    assert run(capsys, "--tokens", 5, "--model", path, "--weight-dtype", "q8_0")[::2] == (0, "")
    path.write_text(json.dumps(config), "utf-8")
    code, _, err = run(capsys, "--tokens", 5, "--model", path)
    assert (code, err) == (0, "note: the weights' dtype is not stated: bf16 assumed\n")


def test_weights_that_do_not_fit_are_named(capsys):
    """Planted before: "its KV needs 0.15 GB, RTX-4090 leaves 0 GB"."""
    call = ("--tokens", 1000, "--model", "Llama-3.1-8B", "--device", "RTX-4090", "--weight-dtype")
    code, out, _ = run(capsys, *call, "f32")
    assert code == 0
    assert "its weights of 32.1 GB leave no room for KV in the 25.2 GB of RTX-4090" in " ".join(out.split())
    assert "leave no room" not in run(capsys, *call, "q8_0")[1]


def test_a_lying_gguf(capsys, tmp_path):
    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF\x03\0\0\0" + b"\xff" * 40)
    code, _, err = run(capsys, "--tokens", 5, "--model", path)
    assert code == 5
    assert "more than it can hold" in err
    assert len(err.splitlines()) == 1


def test_hostile_names_are_escaped(capsys, tmp_path):
    folder = tmp_path / "evil\x1b[31m"
    folder.mkdir()
    (folder / "config.json").write_text(
        '{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4,'
        ' "intermediate_size": 64, "vocab_size": 10}', "utf-8",
    )  # fmt: skip
    for extra in ((), ("--json",)):
        code, out, err = run(capsys, "--tokens", 5, "--model", folder, *extra)
        assert code == 0
        assert "\x1b" not in out + err
