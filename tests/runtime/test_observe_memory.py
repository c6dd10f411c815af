"""Observation makes nothing of size Tq x Tk, and a few question rows cost a few rows."""

from __future__ import annotations

import tracemalloc

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from softlookup.attention import StatsRequest
from softlookup.runtime import observed_rows as rows_module
from softlookup.runtime import visibility as visibility_module
from softlookup.runtime.observation_run import ObservationRun
from softlookup.runtime.observe import observe
from tiny_models import HEADS, VOCABULARY, build_model

REQUEST = StatsRequest(normalized_entropy=True, distance=True, max_score=True)


class Made(TorchDispatchMode):
    """Numbers in the largest tensor that is made, not viewed, while it is active in this thread."""

    def __init__(self):
        super().__init__()
        self.numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = {value.untyped_storage().data_ptr() for value in args if isinstance(value, torch.Tensor)}
        result = func(*args, **(kwargs or {}))
        for value in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(value, torch.Tensor) and value.untyped_storage().data_ptr() not in given:
                self.numbers = max(self.numbers, value.untyped_storage().nbytes() // value.element_size())
        return result


def prefill(model, ids, **arguments):
    with torch.inference_mode():
        return model(ids, use_cache=False, logits_to_keep=1, **arguments).logits


def test_a_long_prefill_makes_no_square(generator):
    """SDPA, no mask: nothing in the whole pass, the model's part included, grows with T x T."""
    length = 16384
    model = build_model("llama", VOCABULARY, window=length, num_hidden_layers=1)
    ids = torch.randint(2, 1000, (1, length), generator=generator)
    tracemalloc.start()
    try:
        with Made() as made, observe(model, REQUEST, rows=range(length - 40, length), reductions=True) as run:
            prefill(model, ids)
        numpy_bytes = tracemalloc.get_traced_memory()[1]  # torch's own memory is not in it
    finally:
        tracemalloc.stop()
    # a hidden state, or a statistic of every row, is about a hundred numbers a token
    assert made.numbers <= 256 * length < length * length // 32
    assert numpy_bytes < length * length // 4
    assert run.layers[0].live_rows == length
    assert run.layers[0].entropy.count.tolist() == [length] * HEADS
    assert run.layers[0].rows.visible_keys[0, 0].tolist() == list(range(length - 39, length + 1))


@pytest.mark.parametrize(("kind", "implementation"), [("mistral", "sdpa"), ("llama", "eager")])
def test_a_mask_that_the_model_makes_is_read_in_parts(kind, implementation, generator, monkeypatch):
    """The model itself makes a [T, T] mask here; reading it adds nothing of that size."""
    length = 2560
    monkeypatch.setattr(visibility_module, "_ENTRIES", 64 * length)
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    model = build_model(kind, VOCABULARY, num_hidden_layers=1, attn_implementation=implementation, **heads)
    ids = torch.randint(2, 1000, (2, length), generator=generator)
    padding = torch.ones_like(ids)
    padding[1, :100] = 0
    made, masks = Made(), []
    real = ObservationRun.receive

    def watched(run, call):
        masks.append(tuple(call.mask.shape))
        with made:
            real(run, call)

    monkeypatch.setattr(ObservationRun, "receive", watched)
    with observe(model, REQUEST, rows=[length - 1], reductions=True) as run:
        prefill(model, ids, attention_mask=padding)
    assert masks == [(2, 1, length, length)]
    assert run.layers[0].padded_rows == 100
    # with a mask attention counts the visible keys of 1024 rows at a time
    assert 0 < made.numbers <= 1024 * length < length * length // 2


def test_the_counter_sees_a_square(generator, monkeypatch):
    """Planted fault: the mask is made whole before it is read."""
    length = 512
    real = rows_module.attention_statistics

    def square(query, key, **arguments):
        whole = torch.ones(length, length, dtype=torch.bool).tril()
        return real(query, key, **arguments | {"mask": whole, "causal": False})

    monkeypatch.setattr(rows_module, "attention_statistics", square)
    model = build_model("llama", VOCABULARY, num_hidden_layers=1)
    with Made() as made, observe(model, REQUEST):
        prefill(model, torch.randint(2, 1000, (1, length), generator=generator))
    assert made.numbers >= length * length
