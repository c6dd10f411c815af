"""Attention on cached keys equals attention on all keys at once, however they arrive; mutants must be caught."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from softlookup.attention import KVCache, attention, kv_storage
from softlookup.attention import cache as cache_module
from softlookup.attention.kv_storage import LayerStorage
from softlookup.errors import CapacityError, UsageError

BATCH, HEADS, KV_HEADS, DIM, VALUE_DIM = 2, 6, 3, 5, 4  # no two alike
WINDOWS = (None, 4, 1, 7)
LENGTH = 23


class Layers:
    """Random queries, keys and values of every layer, and what attention over all keys at once gives."""

    def __init__(self, generator, windows=WINDOWS, length=LENGTH, batch=BATCH):
        def numbers(heads, dim):
            return torch.randn(batch, heads, length, dim, generator=generator, dtype=torch.float64)

        self.windows, self.length = windows, length
        self.query = [numbers(HEADS, DIM) for _ in windows]
        self.key = [numbers(KV_HEADS, DIM) for _ in windows]
        self.value = [numbers(KV_HEADS, VALUE_DIM) for _ in windows]

    def whole(self, layer, rows=slice(None)):
        tensors = (part[layer][rows] for part in (self.query, self.key, self.value))
        return attention(*tensors, causal=True, sliding_window=self.windows[layer], impl="reference").output

    def step(self, cache, start, stop, *, rows=slice(None), alone=False):
        """Outputs of every layer for positions start..stop-1; ``alone``: without telling attention of the window."""
        outputs = []
        for layer, window in enumerate(self.windows):
            part = slice(start, stop)
            got = cache.append(layer, self.key[layer][rows, :, part], self.value[layer][rows, :, part])
            assert got.positions.tolist() == list(range(stop - got.key.shape[2], stop))
            assert got.q_offset == int(got.positions[-(stop - start)] - got.positions[0])
            outputs.append(
                attention(
                    self.query[layer][rows, :, part], got.key, got.value, causal=True, q_offset=got.q_offset,
                    sliding_window=None if alone else window, impl="reference",
                ).output
            )  # fmt: skip
        return outputs

    @property
    def bound(self):
        """float64 twice: scores of D products, softmax of T terms, a mean of values."""
        eps = torch.finfo(torch.float64).eps
        largest = [max(float(t.abs().max()) for t in part) for part in (self.query, self.key, self.value)]
        score = (DIM + 3) * eps * DIM * largest[0] * largest[1] / math.sqrt(DIM)
        return 2 * largest[2] * (4 * score + (self.length + 8) * eps)


def check_splits(make: Callable[..., KVCache], splits, generator, *, alone=False) -> None:
    layers = Layers(generator)
    cache = make(len(WINDOWS), sliding_window=WINDOWS)
    start, got = 0, []
    for size in splits:
        got.append(layers.step(cache, start, start + size, alone=alone))
        start += size
        assert cache.length == start, "length"
        assert cache.positions.tolist() == list(range(start)), "positions"
    for layer in range(len(WINDOWS)):
        joined = torch.cat([outputs[layer] for outputs in got], 2)
        difference = float((joined - layers.whole(layer)[:, :, :start]).abs().max())
        assert difference <= layers.bound, f"layer {layer} is off by {difference}"


def check_trim(make: Callable[..., KVCache], generator) -> None:
    """Read another text, go back, read on: the same as never having read it."""
    layers, other = Layers(generator), Layers(generator)
    cache = make(len(WINDOWS), sliding_window=WINDOWS, trim_room=6)
    layers.step(cache, 0, 9)
    for start, detour, stop in ((9, 4, 13), (13, 6, 19), (19, 1, LENGTH)):
        other.step(cache, start, start + detour)
        cache.trim(start)
        assert cache.length == start, "length"
        assert cache.positions.tolist() == list(range(start)), "positions"
        for layer, got in enumerate(layers.step(cache, start, stop)):
            difference = float((got - layers.whole(layer)[:, :, start:stop]).abs().max())
            assert difference <= layers.bound, f"layer {layer} is off by {difference}"


def check_reorder(make: Callable[..., KVCache], index, generator) -> None:
    layers = Layers(generator, batch=3)
    cache = make(len(WINDOWS), sliding_window=WINDOWS)
    layers.step(cache, 0, 8)
    cache.reorder(torch.tensor(index))
    got = layers.step(cache, 8, 11, rows=index)
    for layer in range(len(WINDOWS)):
        difference = float((got[layer] - layers.whole(layer)[index][:, :, 8:11]).abs().max())
        assert difference <= layers.bound, f"layer {layer} is off by {difference}"


def check_no_alias(make: Callable[..., KVCache], generator) -> None:
    """Two caches read in turn, and the caller's tensors change afterwards."""
    texts = [Layers(generator), Layers(generator)]
    caches = [make(len(WINDOWS), sliding_window=WINDOWS) for _ in texts]
    bounds = [layers.bound for layers in texts]
    wanted = [[layers.whole(layer).clone() for layer in range(len(WINDOWS))] for layers in texts]
    for start, stop in ((0, 3), (3, 4), (4, LENGTH)):
        for number, (layers, cache) in enumerate(zip(texts, caches, strict=True)):
            for layer, got in enumerate(layers.step(cache, start, stop)):
                difference = float((got - wanted[number][layer][:, :, start:stop]).abs().max())
                assert difference <= bounds[number], f"cache {number}, layer {layer} is off by {difference}"
            for part in (*layers.key, *layers.value):
                part[:, :, start:stop] = torch.nan


SPLITS = {
    "at once": [LENGTH],
    "one by one": [1] * LENGTH,
    "prefill and decode": [LENGTH - 5, 1, 1, 1, 1, 1],
    "chunks above every window": [9, 8, 6],
    "around the window": [3, 4, 1, 5, 4, 3, 2, 1],
}


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("max_length", [None, LENGTH, 40])
def test_every_split_gives_the_same(name, max_length, generator):
    check_splits(lambda *a, **k: KVCache(*a, max_length=max_length, **k), SPLITS[name], generator)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 11), min_size=1, max_size=10), st.integers(0, 2**31))
def test_any_split_gives_the_same(sizes, seed):
    while sum(sizes) > LENGTH:
        sizes.pop()
    check_splits(KVCache, sizes or [1], torch.Generator().manual_seed(seed))


def test_single_tokens_need_no_window_in_attention(generator):
    """A windowed layer returns W keys, no more, for one query."""
    check_splits(KVCache, [1] * LENGTH, generator, alone=True)


def test_trim_equals_a_fresh_cache(generator):
    check_trim(KVCache, generator)


@pytest.mark.parametrize("index", [[2, 0, 1], [1, 1, 1], [0, 2], [2, 2, 0, 1, 1]])
def test_reorder_moves_rows(index, generator):
    check_reorder(KVCache, index, generator)


def test_two_caches_and_the_callers_tensors_share_nothing(generator):
    check_no_alias(KVCache, generator)


def test_tiled_attention_takes_the_views_as_they_are(generator):
    """Storage has room behind every head's keys, so that a view is not contiguous."""
    query, key, value = (torch.randn(2, heads, 9, 8, generator=generator) for heads in (4, 2, 2))
    cache = KVCache(1)
    cache.append(0, key[:, :, :6], value[:, :, :6])
    got = cache.append(0, key[:, :, 6:], value[:, :, 6:])
    assert not got.key.is_contiguous()
    outputs = [
        attention(query[:, :, 6:], *tensors, causal=True, q_offset=got.q_offset, impl="tiled").output
        for tensors in ((got.key, got.value), (key, value))
    ]
    assert torch.equal(*outputs)


OPERATIONS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 9)),
        st.tuples(st.just("trim"), st.integers(0, 12)),
        st.tuples(st.just("reorder"), st.permutations([0, 1])),
        st.tuples(st.just("stop between layers"), st.integers(1, 3)),
    ),
    max_size=14,
)


@settings(max_examples=80, deadline=None)
@given(OPERATIONS, st.sampled_from([(None,), (3,), (None, 5), (1, 4)]), st.integers(0, 5), st.booleans())
def test_any_history_equals_concatenation(operations, windows, room, limited):
    """Bit for bit against lists that are concatenated, and every refusal against the rule for it."""
    cache = KVCache(len(windows), sliding_window=windows, trim_room=room, max_length=150 if limited else None)
    kept = [torch.zeros(2, 1, 0, 1) for _ in windows]  # all positions, as if there were no window
    lowest = [0] * len(windows)  # the first position that a layer still holds
    fresh = 0.0

    def append(layer, size):
        nonlocal fresh
        new = (fresh + torch.arange(2.0 * size)).reshape(2, 1, size, 1)
        fresh += 2.0 * size
        got = cache.append(layer, new, -new)
        window, before = windows[layer], kept[layer].shape[2]
        first = 0 if window is None else max(0, before - window + 1)
        joined = torch.cat([kept[layer], new], 2)
        assert torch.equal(got.key, joined[:, :, first:])
        assert torch.equal(got.value, -joined[:, :, first:])
        if window is not None:
            lowest[layer] = max(lowest[layer], before + size - (window - 1 + room))
        return joined

    def trim(target):
        nonlocal kept, lowest
        before = cache.length
        needed = [0 if window is None else max(0, target - window + 1) for window in windows]
        if target and any(low > need for low, need in zip(lowest, needed, strict=True)):
            with pytest.raises(UsageError, match="is the shortest it can go back to"):
                cache.trim(target)
            assert cache.length == before
            return False
        cache.trim(target)
        kept = [part[:, :, :target] for part in kept]
        lowest = lowest if target else [0] * len(windows)
        return True

    for name, argument in operations:
        length = cache.length
        if name == "append":
            kept = [append(layer, argument) for layer in range(len(windows))]
        elif name == "trim":
            trim(max(0, length - argument))
        elif name == "reorder" and length:
            cache.reorder(argument)
            kept = [part[list(argument)] for part in kept]
        elif name == "stop between layers" and len(windows) > 1:
            append(0, argument)
            if not trim(length):
                assert trim(0)
        assert cache.length == kept[0].shape[2]
        assert cache.positions.tolist() == list(range(cache.length))


# --- storage


def fill(cache, sizes, layers=1, batch=1):
    for size in sizes:
        for layer in range(layers):
            part = torch.zeros(batch, 2, size, 8)
            got = cache.append(layer, part, part[..., :4])
    return got


def test_bytes_in_use_and_reserved():
    cache = KVCache(2, max_length=50)
    assert cache.nbytes == cache.reserved_nbytes == cache.length == 0
    fill(cache, [10, 1], layers=2)
    position = 2 * 2 * (8 + 4) * 4  # layers, heads, D + Dv, fp32
    assert cache.nbytes == 11 * position
    assert cache.reserved_nbytes == 50 * position
    cache.trim(3)
    assert cache.nbytes == 3 * position
    assert cache.reserved_nbytes == 50 * position


def test_storage_is_copied_a_few_times_only(monkeypatch):
    copies = []
    reserved = kv_storage.reserved
    monkeypatch.setattr(kv_storage, "reserved", lambda *a: copies.append(1) or reserved(*a))
    cache = KVCache(1)
    fill(cache, [1] * 3000)
    assert len(copies) <= 2 * (1 + math.ceil(math.log(3000 / 65, 1.5)))
    assert cache.reserved_nbytes <= 1.5 * cache.nbytes + 64 * 2 * 12 * 4
    copies.clear()
    fixed = KVCache(1, max_length=3000)
    pointers = {fill(fixed, [1]).key.data_ptr() for _ in range(3000)}
    assert len(copies) == 2
    assert len(pointers) == 1


@pytest.mark.parametrize("sizes", [[1] * 300, [200, 1, 1], [7] * 50, [16, 16, 17]])
def test_a_windowed_layer_stays_small(sizes):
    cache = KVCache(1, sliding_window=8)
    fill(cache, sizes)
    assert cache.nbytes == 8 * 2 * 12 * 4
    assert cache.reserved_nbytes <= 2 * cache.nbytes


def test_a_window_wider_than_the_text_reserves_for_the_text():
    cache = KVCache(1, sliding_window=4096)
    fill(cache, [10])
    assert cache.reserved_nbytes <= 100 * 2 * 12 * 4


def test_inference_mode_can_be_left_and_no_gradient_flows(generator):
    part = torch.randn(1, 2, 3, 8, generator=generator, requires_grad=True)
    cache = KVCache(1)
    with torch.inference_mode():
        fill(cache, [3])
    got = cache.append(0, part, part[..., :4])
    assert not got.key.requires_grad
    with torch.inference_mode():
        assert fill(cache, [1]).key.shape[2] == 7


def test_dtype_is_kept(generator):
    part = torch.randn(1, 2, 3, 8, generator=generator).bfloat16()
    got = KVCache(1).append(0, part, part)
    assert got.key.dtype == torch.bfloat16
    assert torch.equal(got.value, part)


# --- positions


def test_positions_of_the_caller():
    cache = KVCache(2)
    part = torch.zeros(1, 1, 3, 4)
    first = cache.append(0, part, part, torch.tensor([5, 6, 9], dtype=torch.int32))
    assert first.positions.tolist() == [5, 6, 9]
    assert first.positions.dtype == torch.int64
    assert cache.length == 0  # the step is not complete
    cache.append(1, part, part)
    assert cache.positions.tolist() == [5, 6, 9]
    later = cache.append(0, part[:, :, :1], part[:, :, :1])
    assert later.positions.tolist() == [5, 6, 9, 10]
    assert later.q_offset == 3


def test_an_unfinished_step_is_forgotten_by_trim():
    cache = KVCache(2)
    fill(cache, [4], layers=2)
    part = torch.ones(1, 2, 2, 8)
    cache.append(0, part, part[..., :4])
    with pytest.raises(UsageError, match="layer 1 of 2 is next, got 0"):
        cache.append(0, part, part[..., :4])
    with pytest.raises(UsageError, match="waits for layer 1"):
        cache.reorder([0])
    cache.trim(4)
    got = fill(cache, [1], layers=2)
    assert got.key.shape[2] == cache.length == 5


PART = torch.zeros(1, 2, 3, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, PART, PART), "layer 0 of 2 is next, got 1"),
        ((0, PART[0], PART), "key must be a float tensor"),
        ((0, PART, PART.long()), "value must be a float tensor"),
        ((0, PART, PART[:, :1]), "must share B, Hkv, n"),
        ((0, PART, PART.bfloat16()), "must share B, Hkv, n, dtype"),
        ((0, PART[:, :, :0], PART[:, :, :0]), "at least one position"),
        ((0, PART[..., :4], PART), "got \\(2, 4, 8"),
        ((0, PART.double(), PART.double()), "torch.float64"),
        ((0, PART.expand(3, 2, 3, 8), PART.expand(3, 2, 3, 8)), "for B = 3"),
        ((0, PART, PART, [4, 5, 6]), r"increase from above 4, got \[4, 5, 6\]"),
        ((0, PART, PART, [7, 7, 8]), "positions must increase"),
        ((0, PART, PART, [5, 6]), "positions must be 3 integers"),
        ((0, PART, PART, [5.0, 6.0, 7.0]), "positions must be 3 integers"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(arguments, message):
    cache = KVCache(2)
    for layer in range(2):
        cache.append(layer, PART.repeat(1, 1, 2, 1)[:, :, :5], PART.repeat(1, 1, 2, 1)[:, :, :5])
    with pytest.raises(UsageError, match=message):
        cache.append(*arguments)
    assert cache.length == 5
    assert cache.append(0, PART, PART).key.shape[2] == 8


def test_layers_must_agree():
    cache = KVCache(2)
    cache.append(0, PART, PART)
    with pytest.raises(UsageError, match="brought 3 positions, layer 1 brings 2"):
        cache.append(1, PART[:, :, :2], PART[:, :, :2])
    with pytest.raises(UsageError, match="for B = 2"):
        cache.append(1, PART.repeat(2, 1, 1, 1), PART.repeat(2, 1, 1, 1))
    with pytest.raises(UsageError, match="brings other positions than layer 0 did"):
        cache.append(1, PART, PART, [1, 2, 3])
    cache.append(1, PART, PART, [0, 1, 2])
    assert cache.length == 3


def test_windowed_layers_need_positions_without_gaps():
    cache = KVCache(1, sliding_window=4)
    with pytest.raises(UsageError, match="without gaps"):
        cache.append(0, PART, PART, [0, 1, 3])
    cache.append(0, PART, PART, [7, 8, 9])
    with pytest.raises(UsageError, match=r"without gaps, got \[11, 12, 13\] after 9"):
        cache.append(0, PART, PART, [11, 12, 13])


def test_max_length_is_refused_with_its_bytes():
    cache = KVCache(1, max_length=7)
    cache.append(0, PART, PART)
    cache.append(0, PART, PART)
    with pytest.raises(CapacityError, match=r"max_length 7 positions and holds 6 \(768 bytes\), got 3 more"):
        cache.append(0, PART, PART)
    assert cache.length == 6
    cache.append(0, PART[:, :, :1], PART[:, :, :1])


@pytest.mark.parametrize("length", [-1, 4, 1.0, True])
def test_trim_refuses_other_lengths(length):
    cache = KVCache(1)
    cache.append(0, PART, PART)
    with pytest.raises(UsageError, match="length must be 0 to 3"):
        cache.trim(length)


def test_trim_refuses_what_a_window_dropped():
    cache = KVCache(2, sliding_window=[None, 4], trim_room=2)
    fill(cache, [10], layers=2)
    with pytest.raises(UsageError, match=r"layer 1 with sliding_window=4 .* length of 7 needs; 8 is the shortest"):
        cache.trim(7)
    assert cache.length == 10
    cache.trim(8)
    with pytest.raises(UsageError, match="8 is the shortest"):
        cache.trim(7)
    cache.trim(0)
    assert cache.nbytes == 0


@pytest.mark.parametrize("index", [[0, 2], [-1], [], [[0]], [0.0], [True, False]])
def test_reorder_refuses_other_rows(index):
    cache = KVCache(1)
    cache.append(0, PART.repeat(2, 1, 1, 1), PART.repeat(2, 1, 1, 1))
    with pytest.raises(UsageError, match="integers from 0 to 1"):
        cache.reorder(index)


def test_reorder_refuses_an_empty_cache():
    with pytest.raises(UsageError, match="empty cache"):
        KVCache(1).reorder([0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"num_layers": 0}, "num_layers must be an int of at least 1"),
        ({"num_layers": 2, "max_length": 0}, "max_length"),
        ({"num_layers": 2, "sliding_window": [4]}, "one entry per layer, got 1 for 2"),
        ({"num_layers": 2, "sliding_window": 0}, "sliding_window must be"),
        ({"num_layers": 2, "trim_room": -1}, "trim_room"),
    ],
)
def test_wrong_caches_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        KVCache(**arguments)


# --- planted faults


class WritesOneEarly(LayerStorage):
    def append(self, key, value):
        got = super().append(key, value)
        stop = self._start + self._held
        if self._held > key.shape[2] + 1:
            self._key[:, :, stop - key.shape[2] - 1 : stop - 1] = key
        return got


class RowsAliased(LayerStorage):
    """All rows of the batch write to one."""

    def append(self, key, value):
        keys, values = super().append(key, value)
        return keys[-1:].expand_as(keys), values[-1:].expand_as(values)


class RowsMovedInPlace(LayerStorage):
    def select(self, batch_index):
        if len(batch_index) == self._key.shape[0]:
            for row, source in enumerate(batch_index):  # row 0 is overwritten before it is read
                self._key[row], self._value[row] = self._key[source], self._value[source]


class SeesOneFewer(LayerStorage):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._context = self._context and self._context - 1


class SeesOneMore(LayerStorage):
    def __init__(self, *arguments, **keywords):
        super().__init__(*arguments, **keywords)
        self._context = self._context and self._context + 1


class ForgetsWhenGrowing(LayerStorage):
    def _with_room(self, key, value, new):
        before = self._key
        storage = super()._with_room(key, value, new)
        if before is not None and self._key is not before:
            self._key[:, :, : self._held] = 0
        return storage


def caches_of(storage, monkeypatch):
    monkeypatch.setattr(cache_module, "LayerStorage", storage)
    monkeypatch.setattr(cache_module, "_ROOM", 2)
    return KVCache


@pytest.mark.parametrize("storage", [WritesOneEarly, RowsAliased, SeesOneFewer, ForgetsWhenGrowing])
def test_wrong_storage_is_caught(storage, generator, monkeypatch):
    with pytest.raises(AssertionError):
        check_splits(caches_of(storage, monkeypatch), [3, 4, 1, 5, 4, 3, 2, 1], generator)


def test_one_key_too_many_is_caught(generator, monkeypatch):
    with pytest.raises(AssertionError):
        check_splits(caches_of(SeesOneMore, monkeypatch), [1] * LENGTH, generator, alone=True)


def test_rows_moved_in_place_are_caught(generator, monkeypatch):
    with pytest.raises(AssertionError):
        check_reorder(caches_of(RowsMovedInPlace, monkeypatch), [2, 0, 1], generator)


class TrimsStorageAlone(KVCache):
    def trim(self, length):
        for layer in self._layers:
            layer.truncate(length)


class TrimsPositionsAlone(KVCache):
    def trim(self, length):
        self._length = length


class TrimsTheFirstLayer(KVCache):
    def trim(self, length):
        self._layers[0].truncate(length)
        self._length = length


@pytest.mark.parametrize("mutant", [TrimsStorageAlone, TrimsPositionsAlone, TrimsTheFirstLayer])
def test_a_wrong_trim_is_caught(mutant, generator):
    with pytest.raises(AssertionError):
        check_trim(mutant, generator)


def test_shared_storage_is_caught(generator, monkeypatch):
    """Storage of the same size is handed out twice."""
    pool = {}
    fresh = kv_storage.reserved

    def pooled(used, capacity, dim=2):
        grown = fresh(used, capacity, dim)
        shared = pool.setdefault((*grown.shape, used.dtype), grown)
        shared.copy_(grown)
        return shared

    monkeypatch.setattr(kv_storage, "reserved", pooled)
    with pytest.raises(AssertionError):
        check_no_alias(KVCache, generator)
