"""Models by name or path: what is refused, with which words, and what identifies a model."""

from __future__ import annotations

import os
import shutil

import pytest
import torch

from softlookup.errors import CapacityError, ExitCode, ModelError
from softlookup.runtime import embedded, load
from softlookup.runtime.load import find_model_source, load_model
from softlookup.runtime.quiet import quiet_transformers
from softlookup.runtime.store import MANIFEST, SCHEMA, StoredModel, publish, publishing
from tiny_models import CHATML, build_tokenizer, edit_config, edit_weights, save_folder


@pytest.fixture
def folder(tiny_folder, tmp_path):
    """A copy of the tiny model that a test may damage."""
    return shutil.copytree(tiny_folder, tmp_path / "model")


def test_a_folder_is_loaded_without_a_word(tiny_folder, capfd):
    seen = []
    loaded = load_model(tiny_folder, progress=lambda *step: seen.append(step))
    assert seen == [("load", 0.0), ("load", 1.0)]
    assert loaded.window == loaded.source.window == 4096
    assert loaded.source.name == "tiny-llama"
    assert not loaded.model.training
    assert loaded.model.dtype == torch.float32
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_the_identity_follows_the_weights(folder, tiny_folder):
    same = find_model_source(folder)
    assert same.sha256 == find_model_source(str(tiny_folder)).sha256
    edit_weights(folder, lambda tensors: {name: tensor + 1 for name, tensor in tensors.items()})
    assert find_model_source(folder).sha256 != same.sha256


@pytest.mark.parametrize("path", ["/nonexistent/model", "no-such-model", "\x1b[31m", ""])
def test_an_unknown_path_is_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert caught.value.exit_code == ExitCode.MODEL


@pytest.mark.parametrize("name", [None, embedded.NAME])
def test_without_the_embedded_model_the_remedy_is_named(name):
    with pytest.raises(ModelError, match="model pull"):
        find_model_source(name)


@pytest.mark.parametrize("weights", ["pytorch_model.bin", "model.pt"])
def test_pickled_weights_are_refused(weights, folder):
    (folder / "model.safetensors").rename(folder / weights)
    with pytest.raises(ModelError, match="pickle can run code"):
        load_model(folder)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no safetensors file;"):
        load_model(tmp_path)


def test_custom_code_is_never_run(folder, tmp_path):
    marker = tmp_path / "ran"
    (folder / "modeling_evil.py").write_text(f"open({str(marker)!r}, 'w')\nclass Evil: pass\n", "utf-8")
    edit_config(folder, auto_map={"AutoModelForCausalLM": "modeling_evil.Evil"}, model_type="evil")
    with pytest.raises(ModelError):
        load_model(folder)
    assert not marker.exists()


def test_a_tokenizer_larger_than_the_embedding_is_refused(tmp_path):
    with pytest.raises(ModelError, match="1100 tokens but the model only 1024 embeddings"):
        load_model(save_folder(tmp_path / "model", extra=100))


def test_a_base_model_has_no_chat_template_and_is_loaded(tmp_path):
    loaded = load_model(save_folder(tmp_path / "model", template=None))
    assert loaded.tokenizer.chat_template is None


def test_a_slow_tokenizer_is_refused(folder, monkeypatch):
    import transformers

    class Slow:
        is_fast = False

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", lambda *_a, **_k: Slow())
    with pytest.raises(ModelError, match="fast tokenizer"):
        load_model(folder)


def drop(tensors):
    del tensors["model.layers.1.mlp.up_proj.weight"]
    return tensors


def cut(tensors):
    tensors["model.layers.1.mlp.up_proj.weight"] = tensors["model.layers.1.mlp.up_proj.weight"][:5].clone()
    return tensors


@pytest.mark.parametrize(("change", "words"), [(drop, "lacks 1 of the model's tensors"), (cut, "cannot be loaded")])
def test_incomplete_weights_are_refused(change, words, folder):
    edit_weights(folder, change)
    with pytest.raises(ModelError, match=words):
        load_model(folder)


@pytest.mark.parametrize("keep", [0, 4, 100, 20_000])
def test_truncated_weights_are_refused(keep, folder):
    path = folder / "model.safetensors"
    os.truncate(path, keep)
    with pytest.raises(ModelError, match="cannot be loaded") as caught:
        load_model(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [None, "", "[]", "{", "\udcff"])
def test_a_damaged_configuration_is_refused(content, folder):
    path = folder / "config.json"
    path.unlink()
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ModelError, match=r"config\.json"):
        find_model_source(folder).window  # noqa: B018 - the property raises
    with pytest.raises(ModelError):
        load_model(folder)


@pytest.mark.parametrize("window", [None, 0, -5, "4096", 1.5, [1]])
def test_a_window_is_never_guessed(window, folder):
    edit_config(folder, max_position_embeddings=window)
    with pytest.raises(ModelError, match="max_position_embeddings"):
        find_model_source(folder).window  # noqa: B018 - the property raises


def test_the_window_of_a_nested_text_configuration_is_found(folder):
    edit_config(folder, max_position_embeddings=None, text_config={"max_position_embeddings": 77})
    assert find_model_source(folder).window == 77


DAMAGES = ("flip", "remove")


def test_without_its_manifest_a_cached_folder_is_a_plain_one(folder):
    stored = stored_copy(folder)
    (stored / MANIFEST).unlink()
    source = load_model(stored).source
    assert (source.name, source.note) == (stored.name, "")
    assert source.sha256 != "ab" * 32


def stored_copy(folder):
    with publishing() as temporary:
        for path in folder.iterdir():
            shutil.copy(path, temporary)
        return publish(temporary, StoredModel(SCHEMA, "Stored", "s.gguf", "ab" * 32, "MIT", "a note", ()))


def test_a_stored_model_carries_its_manifest(folder):
    stored = stored_copy(folder)
    source = load_model(stored).source
    assert (source.name, source.sha256, source.note) == ("Stored", "ab" * 32, "a note")


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        *((name, damage) for name in ("model.safetensors", "config.json", "tokenizer.json") for damage in DAMAGES),
        (MANIFEST, "flip"),
    ],
)
def test_a_damaged_cache_is_a_model_error(name, damage, folder):
    stored = stored_copy(folder)
    path = stored / name
    if damage == "remove":
        path.unlink()
    else:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 0x40
        path.write_bytes(bytes(content))
    with pytest.raises(ModelError) as caught:
        load_model(stored)
    assert caught.value.exit_code == ExitCode.MODEL
    if name != MANIFEST:
        assert f"{name} " in str(caught.value)


def test_running_out_of_memory_is_a_capacity_error(folder, monkeypatch):
    import transformers

    def fail(*_arguments, **_keywords):
        raise MemoryError

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", fail)
    with pytest.raises(CapacityError, match="does not fit in memory"):
        load_model(folder)


def test_large_models_keep_their_dtype(folder, monkeypatch):
    edit_weights(folder, lambda tensors: {name: tensor.bfloat16() for name, tensor in tensors.items()})
    edit_config(folder, dtype="bfloat16")
    assert load_model(folder).model.dtype == torch.float32
    monkeypatch.setattr(load, "_FP32_LIMIT_BYTES", 1000)
    assert load_model(folder).model.dtype == torch.bfloat16


def test_quiet_restores_the_settings_also_after_an_error():
    from transformers.utils import logging

    logging.set_verbosity_info()
    logging.enable_progress_bar()
    try:
        with pytest.raises(RuntimeError, match="x"), quiet_transformers():  # noqa: PT012 - looks inside as well
            assert logging.get_verbosity() == logging.ERROR
            assert not logging.is_progress_bar_enabled()
            raise RuntimeError("x")
        assert logging.get_verbosity() == logging.INFO
        assert logging.is_progress_bar_enabled()
        assert os.environ["HF_HUB_OFFLINE"] == "1"
    finally:
        logging.set_verbosity_warning()


def test_the_tokenizer_of_the_tests_has_the_template_of_the_tests():
    assert build_tokenizer().chat_template == CHATML
