"""Decoding one token at a time behind a cache: the fastest way that computes what the model computes.

Models of the Llama family run as one compiled call per token (:mod:`softlookup.runtime.decode_program`); other
models in float32 run their own modules with our matrices and attention
(:mod:`softlookup.runtime.decode_modules`). Weights keep their numbers (:mod:`softlookup.runtime.compact_weights`), so
logits differ from transformers' by the order of float32 sums only, and observation changes nothing.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch

from softlookup.kernels.tasks import TaskTeam
from softlookup.runtime.attention_calls import Callback, observe_calls
from softlookup.runtime.compact_weights import compact_weights
from softlookup.runtime.decode_modules import one_row_modules
from softlookup.runtime.decode_program import TokenProgram, is_supported
from softlookup.runtime.kv_cache import GrowingLayer

if TYPE_CHECKING:
    from softlookup.runtime.kv_cache import PrefixCache

# more threads than tasks of a matrix have nothing to do
_MOST_THREADS = 16

Step = Callable[[int], torch.Tensor]


@contextlib.contextmanager
def decoding(
    model: Any, cache: PrefixCache, *, position: int, steps: int, callback: Callback | None = None
) -> Iterator[Step]:
    """A function that runs one token behind what ``cache`` holds, and returns logits [V] valid until its next call.

    The first token stands at ``position``; at most ``steps`` may follow. ``callback`` sees every layer of every
    token, as :func:`~softlookup.runtime.attention_calls.observe_calls` shows it. The first use for a model makes its
    compact weights.
    """
    with TaskTeam(min(torch.get_num_threads(), _MOST_THREADS)) as team:
        weights = compact_weights(model, team)
        layers = cache.cache.layers
        if is_supported(model) and all(isinstance(layer, GrowingLayer) for layer in layers):
            program = TokenProgram(model, weights, layers, position=position, steps=steps)
            try:
                yield _program_step(program, team, callback)
            finally:
                program.close()
            return
        observed = contextlib.nullcontext() if callback is None else observe_calls(model, callback)
        with one_row_modules(model, weights, team), observed:
            yield _module_step(model, cache, position)


def _program_step(program: TokenProgram, team: TaskTeam, callback: Callback | None) -> Step:
    @torch.inference_mode()
    def step(token: int) -> torch.Tensor:
        logits = program.step(team, token)
        if callback is not None:
            for call in program.attention_calls():
                callback(call)
        return logits

    return step


def _module_step(model: Any, cache: PrefixCache, position: int) -> Step:
    places = itertools.count(position)

    @torch.inference_mode()
    def step(token: int) -> torch.Tensor:
        ids, where = torch.tensor([[token]]), torch.tensor([[next(places)]])
        output = model(ids, position_ids=where, cache=cache.cache, use_cache=True, logits_to_keep=1)
        logits: torch.Tensor = output.logits[0, -1]
        return logits

    return step
