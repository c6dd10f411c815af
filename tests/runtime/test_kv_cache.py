"""The growing cache equals transformers' own bit for bit, and is cut back exactly."""

from __future__ import annotations

import pytest
import torch
from transformers import DynamicCache
from transformers.cache_utils import LinearAttentionCacheLayerMixin

from softlookup.attention.kv_storage import LayerStorage
from softlookup.errors import ModelError
from softlookup.runtime import kv_cache
from softlookup.runtime.kv_cache import GrowingLayer, PrefixCache
from tiny_models import KINDS


def states(length, generator, dtype=torch.float32):
    return (
        torch.randn(1, 2, length, 8, generator=generator).to(dtype),
        torch.randn(1, 2, length, 8, generator=generator).to(dtype),
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_layer_equals_the_dynamic_cache(dtype, generator, monkeypatch):
    monkeypatch.setattr(kv_cache, "_ROOM", 6)  # so that the storage grows several times
    ours, theirs = GrowingLayer(), DynamicCache()
    for length in (5, 1, 1, 3, 9, 1):
        new = states(length, generator, dtype)
        got, want = ours.update(*new), theirs.update(*new, 0)
        for left, right in zip(got, want, strict=True):
            assert left.dtype == dtype
            assert torch.equal(left, right)
        assert ours.get_seq_length() == theirs.get_seq_length()
        assert ours.get_mask_sizes(4) == theirs.layers[0].get_mask_sizes(4)


def test_truncation_keeps_the_beginning_and_the_storage(generator):
    layer = GrowingLayer()
    keys, values = states(7, generator)
    layer.update(keys, values)
    storage = layer.keys.data_ptr()
    layer.truncate(4)
    assert layer.get_seq_length() == 4
    assert torch.equal(layer.keys, keys[:, :, :4])
    more = states(2, generator)
    got, _ = layer.update(*more)
    assert torch.equal(got, torch.cat([keys[:, :, :4], more[0]], 2))
    assert layer.keys.data_ptr() == storage
    layer.truncate(100)
    assert layer.get_seq_length() == 6
    GrowingLayer().truncate(3)  # a layer that never ran has nothing to cut


@pytest.mark.parametrize("count", [2, 40])
def test_positions_written_into_reserved_room_are_the_layers_own(count, generator, monkeypatch):
    monkeypatch.setattr(kv_cache, "_ROOM", 6)  # so that 40 positions move the storage
    layer = GrowingLayer()
    keys, values = states(7, generator)
    layer.update(keys, values)
    layer.truncate(5)
    written = states(count, generator)
    for room, new in zip(layer.reserve(count), written, strict=True):
        assert room.shape[2] == 5 + count
        room[:, :, 5:] = new
    assert layer.get_seq_length() == 5  # not before it is said
    layer.extend(count - 1)
    more = states(1, generator)
    got = layer.update(*more)
    for left, before, new, last in zip(got, (keys, values), written, more, strict=True):
        assert torch.equal(left, torch.cat([before[:, :, :5], new[:, :, : count - 1], last], 2))


def test_room_is_reserved_behind_something():
    with pytest.raises(RuntimeError, match="append first"):
        LayerStorage(lambda needed: needed).reserve(1)


def test_a_crop_or_reset_by_transformers_is_followed(generator):
    ours, theirs = GrowingLayer(), DynamicCache()
    for change in (lambda layer: layer.crop(-3), lambda layer: layer.reset(), lambda layer: None):
        new = states(5, generator)
        got, want = ours.update(*new), theirs.update(*new, 0)
        for left, right in zip(got, want, strict=True):
            assert torch.equal(left, right)
        change(ours)
        change(theirs.layers[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_computes_the_same_with_either_cache(kind, tiny_loaded, generator):
    """Pieces of different sizes, past the sliding window; without ``config`` no layer of theirs drops keys."""
    model = tiny_loaded(kind).model
    ours, theirs = PrefixCache(model.config).cache, DynamicCache()
    with torch.inference_mode():
        for length in (40, 1, 6, 1):
            ids = torch.randint(2, 1000, (1, length), generator=generator)
            got = model(ids, cache=ours, use_cache=True).logits
            want = model(ids, cache=theirs, use_cache=True).logits
            assert torch.equal(got, want), f"piece of {length}"


def test_sliding_layers_keep_every_key(tiny_loaded, generator):
    model = tiny_loaded("gemma3").model
    cache = PrefixCache(model.config)
    with torch.inference_mode():
        model(torch.randint(2, 1000, (1, 60), generator=generator), cache=cache.cache, use_cache=True)
    assert [layer.get_seq_length() for layer in cache.cache.layers] == [60, 60, 60]


def test_length_bytes_and_crop(tiny_loaded, generator):
    model = tiny_loaded("llama").model
    cache = PrefixCache(model.config)
    assert cache.length == cache.nbytes == 0
    ids = torch.randint(2, 1000, (1, 10), generator=generator)
    with torch.inference_mode():
        model(ids, cache=cache.cache, use_cache=True)
    cache.extend(ids[0].tolist())
    assert cache.length == 10
    assert cache.nbytes == 3 * 2 * 2 * 10 * 8 * 4  # layers, keys and values, heads, tokens, dim, fp32
    with torch.inference_mode():
        model(ids, cache=cache.cache, use_cache=True)
    cache.crop()
    assert {layer.get_seq_length() for layer in cache.cache.layers} == {10}


def test_a_length_that_does_not_match_is_refused():
    cache = PrefixCache(None)
    with pytest.raises(ModelError, match="holds 0 tokens where 2 were read"):
        cache.extend([5, 6])


def test_recurrent_layers_are_refused():
    class Recurrent(LinearAttentionCacheLayerMixin):
        def __init__(self):
            pass

        lazy_initialization = update_conv_state = update_recurrent_state = reset = None

    with pytest.raises(ModelError, match="recurrent"):
        kv_cache._growing(Recurrent())
    plain = object()
    assert kv_cache._growing(plain) is plain
