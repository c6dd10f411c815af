"""Does the model that runs compute what its files say? Compared with a fresh copy that runs plainly; explains nothing.

The reference is the model's own class with the same weights, built anew from the folder's configuration, with
eager attention, in one pass, without cache, without positions and masks of ours. Everything that lies between it and
an answer is tested by it: attention kernel, scale, mask, positions, cache, decoding. What it cannot show: a fault
of the class itself, and damaged weights, which the digests of the files are for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from softlookup.errors import ModelError
from softlookup.runtime.attention_hook import LayerCall, hook_attention
from softlookup.runtime.decode import decoding
from softlookup.runtime.kv_cache import PrefixCache
from softlookup.runtime.prefilled import Prefilled
from softlookup.runtime.prompt import Prefix

if TYPE_CHECKING:
    from softlookup.runtime.load import LoadedModel
    from softlookup.runtime.prompt import Suffix


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """One plain pass: ``logits`` [V] of the last row, ``keys`` [Hkv, T, D] and ``scales`` per layer."""

    logits: torch.Tensor
    keys: tuple[torch.Tensor, ...]
    scales: tuple[float | None, ...]


class Reference:
    """A fresh copy of a loaded model that shares its weights. Raises ``ModelError`` where none can be built."""

    def __init__(self, loaded: LoadedModel) -> None:
        from transformers import AutoConfig
        from transformers.initialization import no_init_weights

        try:
            config = AutoConfig.from_pretrained(str(loaded.source.folder), local_files_only=True)
            config._attn_implementation = "eager"
            with no_init_weights():
                model = type(loaded.model)(config)
            model.load_state_dict(loaded.model.state_dict(), assign=True)
            model.tie_weights()
        except Exception as error:  # whatever the model's class makes of its own configuration
            raise ModelError(
                f"no reference can be built for {loaded.source.name} ({type(error).__name__})",
                "compare it with transformers by hand",
            ) from error
        self._model = model.eval()

    def run(self, ids: Sequence[int]) -> ReferenceRun:
        """One pass over ``ids``; memory grows with the square of their number."""
        calls: dict[int, LayerCall] = {}

        def receive(call: LayerCall) -> None:
            calls[call.layer] = call

        with torch.inference_mode(), hook_attention(self._model, receive):
            output = self._model(torch.tensor([list(ids)]), use_cache=False, logits_to_keep=1)
        layers = [calls[layer] for layer in sorted(calls)]
        return ReferenceRun(
            output.logits[0, -1].float(),
            tuple(call.key[0] for call in layers),
            tuple(call.arguments.get("scaling") for call in layers),
        )


def shortened(prefilled: Prefilled, tokens: int) -> Prefilled:
    """The same prompt with at most ``tokens`` tokens of the document, read anew by the ordinary path."""
    prefix = prefilled.prefix
    start, stop = prefix.document
    kept = min(stop, start + tokens)
    short = Prefix((*prefix.ids[:kept], *prefix.ids[stop:]), (start, kept), prefix.offsets[: kept - start])
    cache = PrefixCache(prefilled.loaded.model.config.get_text_config())
    result = Prefilled(prefilled.loaded, prefilled.template, short, cache)
    result._forward(short.ids, range(len(short)), base=True)
    cache.extend(short.ids)
    return result


def suffix_logits(prefilled: Prefilled, suffix: Suffix) -> torch.Tensor:
    """Logits [V] of the last row of ``suffix`` behind the cached prefix, by the path of an answer."""
    start = len(prefilled.prefix)
    with prefilled._scratch():
        return prefilled._forward(suffix.ids, range(start, start + len(suffix))).float()


def decoded_logits(prefilled: Prefilled, suffix: Suffix, last: int) -> torch.Tensor:
    """The same logits where the ``last`` tokens of the suffix come one at a time, by the path of decoding."""
    start, first = len(prefilled.prefix), max(1, len(suffix) - last)
    with prefilled._scratch():
        prefilled._forward(suffix.ids[:first], range(start, start + first))
        with decoding(
            prefilled.loaded.model, prefilled._cache, position=start + first, steps=len(suffix) - first
        ) as step:
            logits = None
            for token in suffix.ids[first:]:
                logits = step(token)
            if logits is None:
                raise ValueError("a suffix of two tokens is needed")
            return logits.float().clone()


def relative_difference(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Largest difference as a share of the largest expected value; infinite where a number is not finite."""
    if not bool(torch.isfinite(found).all()):
        return float("inf")
    return float((found.float() - expected.float()).abs().max() / expected.float().abs().max().clamp(min=1e-9))


def keys_difference(prefilled: Prefilled, reference: ReferenceRun, count: int) -> float:
    """Largest relative difference of the first ``count`` cached keys over all layers: positions and inputs of all."""
    held = prefilled.cached_keys(count)
    return max(relative_difference(mine, theirs[:, :count]) for mine, theirs in zip(held, reference.keys, strict=True))


@contextlib.contextmanager
def watched_positions(model: Any) -> Iterator[list[int]]:
    """A list that gets, for every pass of ``model``, how far its positions are from the columns of the sequence."""
    gaps: list[int] = []

    def before(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = args[0] if args else kwargs.get("input_ids")
        positions, cache = kwargs.get("position_ids"), kwargs.get("cache", kwargs.get("past_key_values"))
        if positions is None or ids is None:
            return
        first = 0 if cache is None else int(cache.get_seq_length())
        columns = torch.arange(first, first + ids.shape[-1])
        gaps.append(int((positions[0] - columns).abs().max()))

    handle = model.base_model.register_forward_pre_hook(before, with_kwargs=True)
    try:
        yield gaps
    finally:
        handle.remove()
