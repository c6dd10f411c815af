"""What a model read, on disk: the same numbers without reading, every damage survived, room kept, nobody else reads."""

from __future__ import annotations

import os
import stat
import time

import pytest
import torch
from safetensors import SafetensorError

from softlookup.runtime import prefilled
from softlookup.runtime.kv_cache import PrefixCache
from softlookup.runtime.prefilled import prefill
from softlookup.runtime.prefix_store import PrefixStore, prefix_key
from softlookup.runtime.prompt import PromptTemplate
from tiny_models import CONTRACT


@pytest.fixture
def read(tiny_loaded, monkeypatch):
    """Reads a text with a store; ``read.passes`` counts the passes through the model."""
    loaded = tiny_loaded("llama")
    template = PromptTemplate(loaded.tokenizer)
    real = prefilled.Prefilled._forward

    def run(text=CONTRACT, *, store=None, last_layer=1):
        return prefill(loaded, template, text, last_layer=last_layer, store=store)

    run.passes = 0

    def counted(self, *arguments, **keywords):
        run.passes += 1
        return real(self, *arguments, **keywords)

    monkeypatch.setattr(prefilled.Prefilled, "_forward", counted)
    return run


def new_store(**limits):
    return PrefixStore(**{"least_free_bytes": 0, **limits})


def files(cache):
    folder = cache / "prefixes"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def same(left, right):
    pairs = zip(left.cache.held(), right.cache.held(), strict=True)
    return all(torch.equal(a, b) for pair, other in pairs for a, b in zip(pair, other, strict=True))


@pytest.mark.parametrize("last_layer", [None, 0, 1])
def test_a_text_is_read_once_and_the_numbers_are_the_same(read, last_layer, isolated_cache):
    first = read(store=new_store(), last_layer=last_layer)
    assert read.passes == 1
    again = read(store=new_store(), last_layer=last_layer)
    assert read.passes == 1
    assert same(first, again)
    assert len(first.cache.held()) == (3 if last_layer is None else last_layer + 1)
    (path,) = files(isolated_cache)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_questions_on_a_restored_prefix_see_the_same(read):
    scores = []
    for _ in range(2):
        result = read(store=new_store())
        seen = {}
        suffix = result.template.question_only("Who repairs the jetty?")
        result.observe_packed([suffix], lambda _pack, call, seen=seen: seen.update({call.layer: call.key.clone()}))
        scores.append(seen)
    assert list(scores[0]) == [0, 1]  # no layer above has read anything
    assert all(torch.equal(scores[0][layer], scores[1][layer]) for layer in scores[0])


def test_a_shallow_reading_answers_nothing(read):
    shallow = read()
    with pytest.raises(RuntimeError, match="layers 0 to 1"):
        shallow.answer(shallow.template.suffix("Who?"), max_new_tokens=1)
    with pytest.raises(RuntimeError, match="no logits"):
        shallow.logprobs(shallow.template.suffix("Who?"), [5])


def test_the_layers_that_were_read_are_those_of_a_whole_reading(read):
    whole, shallow = read(last_layer=None), read(last_layer=1)
    for pair, other in zip(whole.cache.held()[:2], shallow.cache.held(), strict=True):
        assert all(torch.equal(a, b) for a, b in zip(pair, other, strict=True))


def test_another_text_or_depth_or_model_is_another_file(read, tiny_loaded, isolated_cache):
    read(store=new_store())
    read(CONTRACT + "\n7. More.\n", store=new_store())
    read(store=new_store(), last_layer=0)
    assert read.passes == 3
    assert len(files(isolated_cache)) == 3
    ids = [1, 2, 3]
    keys = {prefix_key(tiny_loaded(kind), ids, 1) for kind in ("llama", "qwen2")}
    assert len(keys) == 2


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "text", "renamed"])
def test_a_damaged_file_is_read_anew_and_replaced(read, damage, isolated_cache):
    good = read(store=new_store())
    (path,) = files(isolated_cache)
    content = bytearray(path.read_bytes())
    if damage == "cut":
        path.write_bytes(content[:-40])
    elif damage == "flipped":
        content[-5] ^= 0x40
        path.write_bytes(content)
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_bytes(b"not a tensor\n" * 99)
    else:  # the file of another text
        read(CONTRACT + "\n7. More.\n", store=new_store())
        other = next(each for each in files(isolated_cache) if each != path)
        path.write_bytes(other.read_bytes())
        read.passes -= 1
    assert same(good, read(store=new_store()))
    assert read.passes == 2
    assert same(good, read(store=new_store()))
    assert read.passes == 2


def test_a_crash_while_writing_leaves_no_half_file(read, monkeypatch, isolated_cache):
    import safetensors.torch

    def broken(*_arguments, **_keywords):
        raise KeyboardInterrupt

    monkeypatch.setattr(safetensors.torch, "save_file", broken)
    with pytest.raises(KeyboardInterrupt):
        read(store=new_store())
    assert files(isolated_cache) == []


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), SafetensorError("I/O error: No space left on device")]
)
def test_a_full_disk_is_no_error(read, monkeypatch, isolated_cache, error):
    """The writer's own error as well, which is no ``OSError``."""
    import safetensors.torch

    def full(*_arguments, **_keywords):
        raise error

    monkeypatch.setattr(safetensors.torch, "save_file", full)
    assert read(store=new_store()).kv_bytes > 0
    assert files(isolated_cache) == []


def test_the_limit_is_kept_and_the_oldest_go(read, isolated_cache):
    size = read().kv_bytes
    for number in range(5):
        read(CONTRACT + "x" * number, store=new_store(most_bytes=int(3.5 * size)))
        newest = max(files(isolated_cache), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number, number))
    kept = files(isolated_cache)
    assert len(kept) == 3
    assert {path.stat().st_mtime_ns for path in kept} == {2, 3, 4}


def test_what_was_used_last_stays(read, isolated_cache):
    size = read().kv_bytes
    texts = [CONTRACT + "x" * number for number in range(3)]
    for number, text in enumerate(texts):
        read(text, store=new_store())
        newest = max(files(isolated_cache), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, ns=(number, number))
    read.passes = 0
    read(texts[0], store=new_store())  # the oldest, used just now
    assert read.passes == 0
    read(CONTRACT + "other", store=new_store(most_bytes=int(3.5 * size)))
    read.passes = 0
    read(texts[0], store=new_store())
    assert read.passes == 0
    read(texts[1], store=new_store())
    assert read.passes == 1


def test_nothing_is_kept_where_space_is_short(read, isolated_cache):
    size = read().kv_bytes
    read(store=new_store(most_bytes=size - 1))
    read(store=new_store(least_free_bytes=1 << 62))
    assert files(isolated_cache) == []


@pytest.mark.parametrize("prefix", [".prefix-", ".tmp"])
def test_what_a_writer_that_died_left_behind_goes(read, isolated_cache, prefix):
    """Ours, and that of safetensors, which holds the keys and values."""
    read(store=new_store())
    stale, fresh = (isolated_cache / "prefixes" / f"{prefix}{name}" for name in ("stale", "fresh"))
    for path in (stale, fresh):
        path.write_bytes(b"half")
    os.utime(stale, (time.time() - 7200,) * 2)
    read(CONTRACT + "y", store=new_store())
    assert not stale.exists()
    assert fresh.exists()


def test_tensors_of_another_shape_are_refused(read):
    result = read()
    config = result.loaded.model.config.get_text_config()
    with pytest.raises(ValueError, match="of 3 tokens"):
        PrefixCache.restored(config, [1, 2, 3], result.cache.held())
    with pytest.raises(ValueError, match="layers"):
        PrefixCache.restored(config, result.prefix.ids, result.cache.held() * 4)
