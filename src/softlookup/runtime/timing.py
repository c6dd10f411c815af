"""Times a loaded model as ``softlookup ask`` runs it, and the machine's peaks; decides no lengths and fits nothing.

Prompts are new random tokens every time, so that no cache of any kind helps; clocks stop when the numbers are there
(torch works synchronously on the CPU). What to observe is given by the caller, as for a real question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch

from softlookup.kernels.tasks import TaskTeam
from softlookup.runtime.compact_weights import compact_weights
from softlookup.runtime.decode import decoding
from softlookup.runtime.kv_cache import GrowingLayer
from softlookup.runtime.prefilled import Pack, Prefilled, _greedy, prefill_tokens
from softlookup.runtime.prompt import Prefix, PromptTemplate, Suffix

if TYPE_CHECKING:
    from softlookup.runtime.attention_calls import AttentionCall, Callback
    from softlookup.runtime.load import LoadedModel

# tokens of one observed question
_QUESTION = 16
_MATRIX = 2048
_MEMORY_BYTES = 256 << 20
_PEAK_RUNS = 7


class Observers(Protocol):
    """What the evidence reads of attention; ``layers`` is how many of them a packed pass runs."""

    layers: int

    def pack(self, tokens: int, questions: int) -> Callable[[Pack, AttentionCall], None]:
        """A callback for packed questions behind ``tokens``."""

    def token(self, tokens: int) -> Callback:
        """A callback for the rows of an answer behind ``tokens``."""


class ModelBench:
    """Implements ``softlookup.cost.timing.measuring.Bench`` with a loaded model."""

    def __init__(self, loaded: LoadedModel, template: PromptTemplate, observers: Observers) -> None:
        self._loaded, self._template, self._observers = loaded, template, observers
        self._random = np.random.default_rng()  # new tokens in every process, too
        self._vocabulary = min(len(loaded.tokenizer), loaded.model.get_input_embeddings().num_embeddings)
        self._reading: Prefilled | None = None

    def prefill(self, tokens: int) -> tuple[float, int]:
        """Seconds of reading ``tokens`` new tokens, and the number that the cache holds."""
        ids = self._tokens(tokens)
        prefix = Prefix(ids, (0, tokens), np.zeros((tokens, 2), dtype=np.int64))
        self._reading = None  # frees the cache before: only one is kept in `ask`, too
        start = time.perf_counter()
        self._reading = prefill_tokens(self._loaded, self._template, prefix)
        spent = time.perf_counter() - start
        return spent, int(self._reading._cache.cache.get_seq_length())

    def stretch(self, tokens: int) -> int:
        """Fill the cache up to ``tokens`` with copies of its own keys and values, and return its length then.

        Reading a cache takes as long whatever is in it, so that longer ones need no longer prefill.
        """
        reading = self._held()
        held, layers = len(reading.prefix), reading._cache.cache.layers
        missing = tokens - held
        if missing <= 0 or not all(isinstance(layer, GrowingLayer) and layer.is_initialized for layer in layers):
            return held
        with torch.inference_mode():
            for layer in layers:
                more = (
                    part.repeat(1, 1, -(-missing // held), 1)[:, :, :missing] for part in (layer.keys, layer.values)
                )
                layer.update(*more)
        ids = self._tokens(missing)
        reading._cache.extend(ids)
        prefix = Prefix((*reading.prefix.ids, *ids), (0, tokens), np.zeros((tokens, 2), dtype=np.int64))
        self._reading = Prefilled(self._loaded, self._template, prefix, reading._cache)
        return tokens

    def decode(self, steps: int) -> tuple[float, float]:
        """Seconds per token of ``steps`` tokens, whatever they are, and seconds before the first one."""
        reading = self._held()
        length = len(reading.prefix)
        watch = self._observers.token(length)
        begun = time.perf_counter()
        token = self._tokens(1)[0]
        with (
            reading._scratch(),
            decoding(self._loaded.model, reading._cache, position=length, steps=steps, callback=watch) as step,
        ):
            started = time.perf_counter()
            for _ in range(steps):
                token, _ = _greedy(step(token))
            spent = time.perf_counter() - started
        return spent / steps, started - begun

    def observe(self, rows: int) -> float:
        """Seconds of a packed pass of about ``rows`` rows, observed as the question bank is; exactly that many."""
        reading = self._held()
        sizes = [_QUESTION] * (rows // _QUESTION) + [rows % _QUESTION] * bool(rows % _QUESTION)
        suffixes = [Suffix(self._tokens(size), size) for size in sizes]
        watch = self._observers.pack(len(reading.prefix), len(suffixes))
        start = time.perf_counter()
        reading.observe_packed(suffixes, watch)
        return time.perf_counter() - start

    def peak_flops(self) -> float:
        """FLOP/s of the best of several large matrix products in the model's number format."""
        generator = torch.Generator().manual_seed(int(self._random.integers(1 << 31)))
        left, right = (torch.randn(_MATRIX, _MATRIX, generator=generator).to(self._loaded.model.dtype) for _ in "ab")
        with torch.inference_mode():
            return 2.0 * _MATRIX**3 / _fastest(lambda: left @ right)

    def peak_bandwidth(self) -> float:
        """Bytes/s of the better of copying memory (read and written) and of summing it up (read)."""
        source = torch.ones(_MEMORY_BYTES // 4)
        target = torch.empty_like(source)
        with torch.inference_mode():
            copied = 2.0 * _MEMORY_BYTES / _fastest(lambda: target.copy_(source))
            return max(copied, _MEMORY_BYTES / _fastest(source.sum))

    def _held(self) -> Prefilled:
        if self._reading is None:
            raise ValueError("a prefill must come first")
        return self._reading

    def _tokens(self, count: int) -> tuple[int, ...]:
        return tuple(self._random.integers(0, self._vocabulary, count).tolist())


def weight_bytes_read(model: Any) -> int:
    """Bytes of weights that one decoded token reads: the compact copies where there are some, one embedding row.

    A weight that two modules share counts once. All experts of a mixture are counted.
    """
    with TaskTeam(torch.get_num_threads()) as team:
        compact = compact_weights(model, team)
    embedding = model.get_input_embeddings()
    total = int(embedding.weight[0].nbytes)
    seen: set[int] = set()
    for module in model.modules():
        for name, weight in module.named_parameters(recurse=False):
            if module is embedding or weight.data_ptr() in seen:
                continue
            seen.add(weight.data_ptr())
            total += compact[module].nbytes if name == "weight" and module in compact else int(weight.nbytes)
    return total


def _fastest(run: Callable[[], object]) -> float:
    """Seconds of the fastest of several runs after one that warms up."""
    run()
    seconds = []
    for _ in range(_PEAK_RUNS):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return max(min(seconds), 1e-9)
