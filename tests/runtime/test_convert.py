"""GGUF files: a tiny real one is converted once; damaged, truncated and foreign ones are refused."""

from __future__ import annotations

import json
import resource
import struct
import threading

import pytest
import torch

from softlookup.errors import ExitCode, ModelError
from softlookup.runtime import convert
from softlookup.runtime.convert import check_complete, check_gguf_header, convert_gguf
from softlookup.runtime.load import load_model
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prompt import PromptTemplate
from softlookup.runtime.store import find_model, read_manifest, sha256_of, verify_model
from tiny_models import write_gguf


@pytest.fixture(scope="module")
def gguf_file(tmp_path_factory):
    return write_gguf(tmp_path_factory.mktemp("gguf") / "tiny model.gguf")


def written(calls):
    """A stand-in for the conversion that takes no time."""

    def write(source, target, progress):
        calls.append(source)
        (target / "model.safetensors").write_bytes(b"weights")

    return write


def test_a_gguf_file_becomes_a_model_that_answers(gguf_file, capfd):
    seen = []
    folder = convert_gguf(gguf_file, licence="MIT", note="tiny", progress=lambda *step: seen.append(step))
    assert folder.name == f"tiny-model-{sha256_of(gguf_file)[:12]}"
    found = read_manifest(folder)
    verify_model(folder, found)
    assert (found.licence, found.note, found.source) == ("MIT", "tiny", "tiny model.gguf")
    assert (folder / "model.safetensors").stat().st_mode & 0o077 == 0
    assert "quantization_config" not in json.loads((folder / "config.json").read_text("utf-8"))
    assert [phase for phase, _ in seen] == ["convert"] * len(seen)
    assert seen[-1][1] == 1.0
    loaded = load_model(gguf_file)
    assert loaded.source.folder == folder
    assert loaded.window == 512
    assert loaded.model.dtype == torch.float32
    template = PromptTemplate(loaded.tokenizer)
    reading = prefill(loaded, template, "1. The fee is 310.")
    assert reading.answer(template.suffix("What is the fee?"), max_new_tokens=3).ids
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""  # no bars, no advice
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(convert, "_write_folder", lambda *_: pytest.fail("converted twice"))
        assert convert_gguf(gguf_file) == folder


def test_the_weights_are_those_of_the_file(gguf_file):
    from gguf import GGUFReader
    from safetensors.torch import load_file

    state = load_file(convert_gguf(gguf_file) / "model.safetensors")
    theirs = {tensor.name: torch.from_numpy(tensor.data.copy()) for tensor in GGUFReader(gguf_file).tensors}
    assert torch.equal(state["model.embed_tokens.weight"], theirs["token_embd.weight"])
    assert torch.equal(state["model.layers.1.mlp.down_proj.weight"], theirs["blk.1.ffn_down.weight"])
    # llama.cpp stores each head's rotary pairs interleaved
    query = theirs["blk.0.attn_q.weight"].view(4, 4, 2, 32).transpose(1, 2).reshape(32, 32)
    assert torch.equal(state["model.layers.0.self_attn.q_proj.weight"], query)
    assert len(state) == len(theirs)


def test_a_damaged_conversion_is_made_again(gguf_file, monkeypatch):
    calls = []
    monkeypatch.setattr(convert, "_write_folder", written(calls))
    folder = convert_gguf(gguf_file)
    convert_gguf(gguf_file)
    assert len(calls) == 1
    (folder / "model.safetensors").write_bytes(b"weightz")
    assert convert_gguf(gguf_file) == folder
    assert len(calls) == 2
    verify_model(folder, read_manifest(folder))


def test_a_changed_file_is_another_model(gguf_file, tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(convert, "_write_folder", written(calls))
    other = tmp_path / gguf_file.name
    other.write_bytes(gguf_file.read_bytes() + b"\0")
    assert convert_gguf(gguf_file) != convert_gguf(other)
    assert len(calls) == 2


def test_two_processes_convert_once(gguf_file, monkeypatch):
    calls, folders = [], []
    started = threading.Barrier(2)
    real_digest = convert.sha256_of

    def digest(path):
        started.wait(10)  # both have looked before either writes
        return real_digest(path)

    monkeypatch.setattr(convert, "sha256_of", digest)
    monkeypatch.setattr(convert, "_write_folder", written(calls))
    threads = [threading.Thread(target=lambda: folders.append(convert_gguf(gguf_file))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(folders) == 2
    assert folders[0] == folders[1]
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not a GGUF file"),
        (b"GGUF", "is not a GGUF file"),
        (b"PK\x03\x04" + bytes(100), "is not a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 5, 5), "version 1"),
        (b"GGUF" + struct.pack(">IQQ", 3, 5, 5), "implausible"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 5), "0 tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 5, 2**60), f"{2**60} fields"),
    ],
)
def test_bad_headers_are_refused(content, words, tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=words) as caught:
        convert_gguf(path)
    assert caught.value.exit_code == ExitCode.MODEL
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_a_model_error(tmp_path):
    with pytest.raises(ModelError, match="cannot be read"):
        check_gguf_header(tmp_path / "none.gguf")


@pytest.mark.parametrize("share", [0.0002, 0.01, 0.5, 0.9999])
def test_truncated_files_are_refused(share, gguf_file, tmp_path):
    content = gguf_file.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ModelError) as caught:
        convert_gguf(path)
    assert "\n" not in str(caught.value)
    assert find_model(sha256_of(path)) is None


def test_missing_tensors_are_refused():
    check_complete("m", {"missing_keys": set()})
    with pytest.raises(ModelError, match="lacks 3 of the model's tensors, among them a"):
        check_complete("m", {"missing_keys": {"c", "a", "b"}})


def test_a_disk_that_fills_up_during_the_conversion_is_a_model_error(gguf_file, isolated_cache):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))  # a write beyond it fails like one on a full disk
    try:
        with pytest.raises(ModelError, match="cannot be written"):
            convert_gguf(gguf_file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [path.name for path in (isolated_cache / "models").iterdir()] == [".lock"]
