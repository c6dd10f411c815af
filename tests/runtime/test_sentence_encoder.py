"""Sentence embeddings on a tiny random encoder: pooling, padding, unknown words, damaged folders."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.errors import ModelError
from softlookup.runtime import sentence_encoder
from softlookup.runtime.sentence_encoder import SentenceEncoder, encoder_folder

WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "rent", "is", "due", "on", "monday", "goods", "are", "insured")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from transformers import BertConfig, BertModel, BertTokenizerFast

    target = tmp_path_factory.mktemp("encoder") / "tiny"
    target.mkdir()
    (target / "vocab.txt").write_text("\n".join(WORDS) + "\n", "utf-8")
    BertTokenizerFast(vocab={word: number for number, word in enumerate(WORDS)}).save_pretrained(target)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    BertModel(config).eval().save_pretrained(target)
    return target


def test_vectors_are_means_over_tokens_of_unit_length(folder):
    encoder = SentenceEncoder(folder)
    ids = torch.tensor([[2, *(WORDS.index(word) for word in ["the", "rent", "is", "due"]), 3]])
    with torch.inference_mode():
        hidden = encoder._model(input_ids=ids).last_hidden_state[0].double().numpy()
    want = hidden.mean(axis=0)
    np.testing.assert_allclose(encoder.encode(["the rent is due"])[0], want / np.linalg.norm(want), atol=1e-5)


def test_padding_and_batches_change_nothing(folder):
    encoder = SentenceEncoder(folder)
    texts = ["the rent is due", "goods are insured on monday"] * 20
    alone = np.concatenate([encoder.encode([text]) for text in texts])
    np.testing.assert_allclose(encoder.encode(texts), alone, atol=1e-5)
    assert not np.allclose(alone[0], alone[1])
    assert encoder.encode([]).shape[0] == 0


def test_words_that_the_vocabulary_lacks_are_noticed(folder):
    encoder = SentenceEncoder(folder)
    assert encoder.knows("the rent is due")
    assert not encoder.knows("租金何时到期")
    assert not encoder.knows("")


def test_damaged_folders_are_refused(folder, tmp_path):
    with pytest.raises(ModelError, match="no safetensors"):
        SentenceEncoder(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(ModelError, match=r"config\.json"):
        SentenceEncoder(tmp_path)
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"], "model_type": "bert"}', "utf-8")
    with pytest.raises(ModelError, match="cannot be loaded"):
        SentenceEncoder(tmp_path)


def test_a_model_that_writes_is_no_encoder(tiny_folders):
    with pytest.raises(ModelError, match="no sentence encoder"):
        SentenceEncoder(tiny_folders("llama"))


def test_missing_weights_are_no_encoder(folder, tmp_path):
    import shutil

    from safetensors.torch import load_file, save_file

    target = tmp_path / "cut"
    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1" not in name}
    save_file(kept, target / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match="lacks weights"):
        SentenceEncoder(target)


def test_what_is_not_there_is_said_with_a_remedy(monkeypatch, tmp_path):
    with pytest.raises(ModelError, match="is not a folder"):
        encoder_folder(str(tmp_path / "nowhere"))
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "no_such_package_here")
    with pytest.raises(ModelError, match=r"softlookup\[embeddings\]"):
        encoder_folder("auto")


def test_the_installed_package_is_found_without_running_it(monkeypatch, tmp_path):
    package = tmp_path / "planted_encoder"
    (package / "model").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('run')", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sentence_encoder, "PACKAGE", "planted_encoder")
    assert encoder_folder("auto") == package / "model"
