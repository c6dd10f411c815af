"""What --model accepts: names, config.json, folders, GGUF files; weights by file where there is one."""

from __future__ import annotations

import json
import struct

import pytest

from softlookup.cost.model.dtypes import element_bytes, storage_bytes
from softlookup.cost.model.model_source import find_model
from softlookup.cost.model.presets import preset_config, preset_shape
from softlookup.cost.model.safetensors_files import llama_file_bytes, safetensors_totals
from softlookup.errors import ModelError, UsageError

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100,
    "num_key_value_heads": 2, "intermediate_size": 96, "max_position_embeddings": 512, "torch_dtype": "float32",
    "tie_word_embeddings": False,
}  # fmt: skip


def folder(tmp_path, config=CONFIG):
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text(json.dumps(config), "utf-8")
    return path


def safetensors(path, header, data=0):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"\0" * data)
    return path


def entry(shape, start, end, dtype="F32"):
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def test_the_default_is_the_embedded_model():
    assert find_model().shape.parameters == 134_515_008
    assert find_model("SmolLM2-135M-Instruct-Q4_1").dtype == "q4_1"


def test_weights_by_formula_are_exact_for_plain_types_only():
    plain, mixed = find_model("Llama-3.1-8B").weight_bytes, find_model("Llama-3.1-8B", "q4_k_m").weight_bytes
    assert (plain.value, plain.kind) == (16_060_522_496, "exact")
    assert mixed.kind == "prior"
    assert mixed.low < 4.92e9 < mixed.high  # the published file: 4,920,739,232 bytes
    with pytest.raises(UsageError, match="storage type 'q99'"):
        find_model("Llama-3.1-8B", "q99")


def test_a_config_file_and_a_folder(tmp_path):
    path = folder(tmp_path)
    by_file, by_folder = find_model(str(path / "config.json")), find_model(str(path))
    assert by_file.shape == by_folder.shape
    assert by_file.shape.name == "model"
    assert by_file.weight_bytes.value == 4 * by_file.shape.parameters


def test_a_folder_with_weights_is_summed(tmp_path, tiny_folder):
    found = find_model(str(tiny_folder))
    size = sum(file.stat().st_size for file in tiny_folder.glob("*.safetensors"))
    assert found.weight_bytes.kind == "exact"
    assert 0 < size - found.weight_bytes.value < 100_000  # the headers
    assert found.shape.parameters * 4 == found.weight_bytes.value


@pytest.mark.parametrize("name", ["nowhere.gguf", "./nowhere", "nowhere/config.json", "/nowhere"])
def test_paths_that_do_not_exist(name):
    with pytest.raises(ModelError, match="there is no file or folder"):
        find_model(name)


def test_an_unknown_name_and_an_empty_folder(tmp_path):
    with pytest.raises(ModelError, match="neither a file, a folder nor a known name"):
        find_model("some-model-9000")
    with pytest.raises(ModelError, match=r"no config\.json and not exactly one GGUF"):
        find_model(str(tmp_path))


def test_the_size_of_a_safetensors_file_is_predicted():
    """SmolLM2-135M: 8 + 30,528 + 269,030,016 bytes, published as 269,060,552."""
    assert llama_file_bytes(preset_shape("SmolLM2-135M")) == 269_060_552


def test_headers_are_summed(tmp_path):
    one = safetensors(tmp_path / "1.safetensors", {"a": entry([2, 3], 0, 24), "__metadata__": {"x": "y"}}, 24)
    two = safetensors(tmp_path / "2.safetensors", {"b": entry([4], 0, 8, "BF16")}, 8)
    found = safetensors_totals([one, two])
    assert (found.elements, found.bytes, found.plain) == (10, 32, True)
    packed = safetensors(tmp_path / "3.safetensors", {"b": entry([4], 0, 16, "I32")}, 16)
    assert not safetensors_totals([packed]).plain


@pytest.mark.parametrize(
    ("header", "data", "message"),
    [
        (b"{", 0, "is no safetensors file"),
        (b"[]", 0, "no JSON object"),
        ({"a": entry([2], 0, 8)}, 4, "its header describes"),
        ({"a": entry([2], 0, 8)}, 80, "its header describes"),
        ({"a": {"shape": [2]}}, 0, "incompletely"),
        ({"a": entry([-2], 0, 8)}, 8, "impossible shape"),
        ({"a": entry([2], 8, 0)}, 0, "impossible shape"),
    ],
)
def test_damaged_safetensors(tmp_path, header, data, message):
    with pytest.raises(ModelError, match=message):
        safetensors_totals([safetensors(tmp_path / "m.safetensors", header, data)])


def test_a_header_longer_than_the_file(tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    with pytest.raises(ModelError, match="states a header of"):
        safetensors_totals([path])


def test_a_folder_with_one_gguf(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF" + b"\xff" * 40)
    for name in (path, tmp_path):  # the file is found, and its header is refused
        with pytest.raises(ModelError, match="has GGUF version"):
            find_model(str(name))
    (tmp_path / "n.gguf").write_bytes(b"")
    with pytest.raises(ModelError, match="not exactly one GGUF"):
        find_model(str(tmp_path))


def test_a_missing_shard_is_found(tmp_path):
    path = folder(tmp_path)
    safetensors(path / "a.safetensors", {"a": entry([2], 0, 8)}, 8)
    index = path / "model.safetensors.index.json"
    index.write_text('{"metadata": {"total_size": 8}}', "utf-8")
    assert find_model(str(path)).weight_bytes.value == 8
    index.write_text('{"metadata": {"total_size": 16}}', "utf-8")
    with pytest.raises(ModelError, match="holds 8 of the 16 bytes"):
        find_model(str(path))
    index.write_text("[]", "utf-8")
    assert find_model(str(path)).weight_bytes.value == 8


def test_block_scales_are_counted():
    assert storage_bytes(64, "q8_0") == 68  # not 64
    assert float(element_bytes("q4_0")) == 18 / 32
    assert storage_bytes(10, "torch.bfloat16") == 20


def test_presets_are_read_like_files(tmp_path):
    path = folder(tmp_path, dict(preset_config("Qwen3-0.6B")))
    assert find_model(str(path)).shape.parameters == preset_shape("Qwen3-0.6B").parameters
