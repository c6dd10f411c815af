"""The bench runs what `ask` runs, on new tokens, and counts the bytes that decoding reads; no claims about speed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from softlookup.cost.model.model_source import find_model
from softlookup.evidence.profile import HeadProfile
from softlookup.evidence.timed_model import TimedRows, bench_and_subject
from softlookup.kernels.tasks import TaskTeam
from softlookup.runtime import timing
from softlookup.runtime.compact_weights import compact_weights
from softlookup.runtime.prefilled import Prefilled
from softlookup.runtime.prompt import PromptTemplate
from softlookup.runtime.timing import ModelBench, weight_bytes_read
from softlookup.runtime.timings_folder import fingerprint_of

KINDS = ("llama", "mistral", "qwen2", "gemma3")


@pytest.fixture
def small_peaks(monkeypatch):
    monkeypatch.setattr(timing, "_MATRIX", 64)
    monkeypatch.setattr(timing, "_MEMORY_BYTES", 1 << 16)


@pytest.fixture
def bench(tiny_loaded):
    def bench(kind="llama"):
        return bench_and_subject(tiny_loaded(kind), "ab" * 32)

    return bench


@pytest.mark.parametrize("kind", KINDS)
def test_every_measurement_of_a_tiny_model(kind, bench, small_peaks):
    timed, subject = bench(kind)
    seconds, held = timed.prefill(60)
    assert held == 60
    assert seconds > 0
    token, start = timed.decode(3)
    assert token > 0
    assert start > 0
    assert timed.observe(40) > 0
    assert timed.peak_flops() > 0
    assert timed.peak_bandwidth() > 0
    assert subject.key.dtype == subject.key.kv_dtype == "f32"
    assert subject.key.attention == "sdpa"
    assert subject.key.model_fingerprint == "ab" * 32
    assert subject.window == 4096
    assert 1 <= subject.observed_layers <= 3


def test_decoding_leaves_the_prefix_alone(bench):
    timed, _ = bench()
    timed.prefill(50)
    reading = timed._held()
    before = [layer.keys.clone() for layer in reading._cache.cache.layers]
    timed.decode(5)
    timed.observe(20)
    assert [layer.get_seq_length() for layer in reading._cache.cache.layers] == [50] * 3
    assert all(torch.equal(a, b.keys) for a, b in zip(before, reading._cache.cache.layers, strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_a_cache_is_stretched_by_copies_of_itself(kind, bench):
    timed, _ = bench(kind)
    timed.prefill(50)
    before = [layer.keys.clone() for layer in timed._held()._cache.cache.layers]
    assert timed.stretch(130) == 130
    layers = timed._held()._cache.cache.layers
    assert [layer.get_seq_length() for layer in layers] == [130] * 3
    for keys, layer in zip(before, layers, strict=True):
        assert torch.equal(layer.keys, torch.cat([keys, keys, keys[:, :, :30]], 2))
    assert timed.decode(3)[0] > 0
    assert timed.observe(20) > 0
    assert [layer.get_seq_length() for layer in layers] == [130] * 3
    assert timed.stretch(100) == 130


def test_every_prompt_is_new(bench):
    """What was read before would come from some cache."""
    timed, _ = bench()
    prompts = []
    for _ in range(4):
        timed.prefill(32)
        prompts.append(timed._held().prefix.ids)
    assert len(set(prompts)) == 4
    assert timed._tokens(32) != bench()[0]._tokens(32)


def test_the_rows_are_observed_as_the_bank_is(bench, monkeypatch):
    timed, subject = bench()
    timed.prefill(300)
    calls = []
    real = Prefilled.observe_packed

    def recorded(self, suffixes, callback, *arguments):
        def watch(pack, call):
            calls.append((call.layer, pack.rows, call.query.shape[1], call.key.shape[1]))
            return callback(pack, call)

        return real(self, suffixes, watch, *arguments)

    monkeypatch.setattr(Prefilled, "observe_packed", recorded)
    timed.observe(40)
    assert [layer for layer, *_ in calls] == list(range(subject.observed_layers))
    assert {(rows, queries, keys) for _, rows, queries, keys in calls} == {(40, 40, 340)}


def test_the_observers_read_what_the_evidence_reads(bench, tiny_loaded):
    observers = TimedRows(HeadProfile(((1, 0), (1, 3)), (1.0, 1.0), profiled=True))
    assert observers.layers == 2
    loaded = tiny_loaded("llama")
    timed = ModelBench(loaded, PromptTemplate(loaded.tokenizer), observers)
    timed.prefill(250)
    watch = observers.pack(250, 3)
    collector = watch.__self__
    timed._observers = type("Given", (), {"layers": 2, "pack": lambda self, tokens, questions: watch})()
    timed.observe(40)
    assert collector.mass.shape == (3, 2, 3)  # 250 tokens are three passages of 110
    assert np.all(collector.mass.sum(axis=(1, 2)) > 0)


def test_a_measurement_without_a_prefill_is_refused(bench):
    timed, _ = bench()
    with pytest.raises(ValueError, match="a prefill must come first"):
        timed.decode(1)


def test_a_prefill_that_loses_tokens_is_told(bench, monkeypatch):
    """Planted fault: the cache holds fewer tokens than were given."""
    from softlookup.errors import ModelError

    timed, _ = bench()
    real = Prefilled._forward
    monkeypatch.setattr(
        Prefilled, "_forward", lambda self, ids, positions, **rest: real(self, ids[:20], list(positions)[:20], **rest)
    )
    with pytest.raises(ModelError, match="holds 20 tokens where 60 were read"):
        timed.prefill(60)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bytes_that_a_token_reads(kind, tiny_loaded):
    """Every weight once, but for the embedding, of which one row is read; tied heads are read in full."""
    model = tiny_loaded(kind).model
    with TaskTeam(1) as team:
        compact = compact_weights(model, team)
    saved = 0
    for module in {module.weight.data_ptr(): module for module in model.modules() if module in compact}.values():
        saved += module.weight.nbytes - compact[module].nbytes
    embedding = model.get_input_embeddings().weight
    all_bytes = sum(weight.nbytes for weight in model.parameters())
    tied = model.get_output_embeddings().weight.data_ptr() == embedding.data_ptr()
    assert weight_bytes_read(model) == all_bytes - (0 if tied else embedding.nbytes) + embedding[0].nbytes - saved


def test_fingerprints_tell_models_apart(tiny_folders, tmp_path):
    one, other = (fingerprint_of(tiny_folders(kind)) for kind in ("llama", "qwen2"))
    assert one is not None
    assert one == fingerprint_of(str(tiny_folders("llama")))
    assert one != other
    assert fingerprint_of("Llama-3.1-8B") is None
    assert fingerprint_of(tiny_folders("llama") / "config.json") is None
    assert fingerprint_of(None) == fingerprint_of("SmolLM2-135M-Instruct-Q4_1")
    path = tmp_path / "model.gguf"
    path.write_bytes(bytes(200_000))
    before = fingerprint_of(path)
    for place in (0, 199_999):
        content = bytearray(200_000)
        content[place] = 1
        path.write_bytes(content)
        assert fingerprint_of(path) != before


def test_the_shape_of_the_subject_is_the_models(bench, tiny_folder):
    _, subject = bench()
    assert subject.shape == find_model(str(tiny_folder)).shape
    assert len(subject.shape.layers) == 3
