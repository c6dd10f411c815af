"""A document that the model has read once: questions, null questions and answers reuse its KV cache.

Every suffix starts at position ``len(prefix)``, whichever way it runs, so that positions are exact.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from softlookup.errors import CapacityError, ModelError
from softlookup.runtime.attention_calls import AttentionCall, Callback, observe_calls
from softlookup.runtime.decode import decoding
from softlookup.runtime.kv_cache import PrefixCache
from softlookup.runtime.load import LoadedModel
from softlookup.runtime.prefix_store import PrefixStore, prefix_key
from softlookup.runtime.progress import Progress, no_progress
from softlookup.runtime.prompt import Prefix, PromptTemplate, Suffix

# suffix tokens of one packed pass: bounds the mask and the weights of a layer at 8k keys to tens of MiB
_PACK_TOKENS = 768


class StopForward(Exception):  # noqa: N818 - a signal, not an error
    """Raised by a callback when it has seen the last layer it wants."""


@dataclass(frozen=True, slots=True)
class Pack:
    """Suffixes that ran in one pass. ``starts[i]`` is the row where suffix i begins."""

    indices: tuple[int, ...]
    suffixes: tuple[Suffix, ...]
    starts: tuple[int, ...]

    @property
    def rows(self) -> int:
        """Number of query rows of the pass."""
        return sum(len(suffix) for suffix in self.suffixes)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Greedy answer: token ids, their text, mean log-probability (nats), and whether it ended by itself.

    ``question_seconds`` is the time of the question's rows, ``answer_seconds`` that of decoding.
    """

    ids: tuple[int, ...]
    text: str
    mean_logprob: float
    finished: bool
    question_seconds: float
    answer_seconds: float


class Prefilled:
    """See the module docstring. Make it with :func:`prefill`.

    With ``last_layer`` the layers above it have read nothing: suffixes can be observed up to it, and not answered.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        template: PromptTemplate,
        prefix: Prefix,
        cache: PrefixCache,
        last_layer: int | None = None,
    ) -> None:
        self.loaded = loaded
        self.template = template
        self.prefix = prefix
        self.last_layer = last_layer
        self._cache = cache

    @property
    def cache(self) -> PrefixCache:
        """The keys and values of the prefix."""
        return self._cache

    @property
    def kv_bytes(self) -> int:
        """Bytes of the document's KV cache."""
        return self._cache.nbytes

    def observe_packed(
        self,
        suffixes: Sequence[Suffix],
        callback: Callable[[Pack, AttentionCall], None],
        progress: Progress = no_progress,
    ) -> None:
        """Run many suffixes, each seeing the prefix and itself only; no logits.

        The callback may raise :class:`StopForward` to skip the layers it does not need.
        """
        done = 0
        for pack in _packs(suffixes):
            ids, positions, mask = self._pack_inputs(pack)

            def forward(call: AttentionCall, pack: Pack = pack) -> None:
                callback(pack, call)
                if call.layer == self.last_layer:
                    raise StopForward

            with self._scratch(), contextlib.suppress(StopForward), observe_calls(self.loaded.model, forward):
                self._forward(ids, positions, mask=mask, base=True)
            done += len(pack.suffixes)
            progress("calibrate", done / len(suffixes))

    def answer(
        self,
        suffix: Suffix,
        *,
        max_new_tokens: int,
        callback: Callback | None = None,
        answer_callback: Callback | None = None,
        wanted: Callable[[], bool] | None = None,
        on_token: Callable[[Sequence[int]], None] | None = None,
    ) -> Decoded:
        """Run one suffix (observed by ``callback``) and decode greedily (observed by ``answer_callback``).

        ``on_token`` gets the tokens so far, after each. Nothing is decoded when ``wanted``, called after the suffix,
        says False.
        Raises ``CapacityError`` when suffix and answer do not fit the window, ``ModelError`` when the
        logits are not finite: no answer is made from NaN.
        """
        self._require_all_layers()
        begun = time.perf_counter()
        start = len(self.prefix)
        if start + len(suffix) + max_new_tokens > self.loaded.window:
            raise CapacityError(
                f"{start} document + {len(suffix)} question + {max_new_tokens} answer tokens exceed the model's "
                f"window of {self.loaded.window}",
                "shorten the question or lower --max-answer-tokens",
            )
        stop = _stop_ids(self.loaded)
        chosen: list[int] = []
        logprobs: list[float] = []
        with self._scratch():
            with self._observed(callback):
                logits = self._forward(suffix.ids, range(start, start + len(suffix)))
            token, logprob = _greedy(logits)
            asked = time.perf_counter()
            most = max_new_tokens if wanted is None or wanted() else 0
            if most and token not in stop:
                with decoding(
                    self.loaded.model,
                    self._cache,
                    position=start + len(suffix),
                    steps=most,
                    callback=answer_callback,
                ) as step:
                    while token not in stop and len(chosen) < most:
                        chosen.append(token)
                        logprobs.append(logprob)
                        if on_token is not None:
                            on_token(tuple(chosen))
                        # the last allowed token runs as well: the next one tells whether the answer ended
                        token, logprob = _greedy(step(token))
        # an answer that is cut may end inside a character
        text = self.loaded.tokenizer.decode(chosen, skip_special_tokens=True).rstrip("\ufffd").strip()
        mean = sum(logprobs) / len(logprobs) if logprobs else 0.0
        return Decoded(
            tuple(chosen),
            text,
            mean,
            token in stop,
            asked - begun,
            answer_seconds=time.perf_counter() - asked,
        )

    def logprobs(
        self,
        suffix: Suffix,
        answer: Sequence[int],
        *,
        hidden: Sequence[int] = (),
        callback: Callback | None = None,
    ) -> npt.NDArray[np.float64]:
        """Log-probability (nats) of every token of a given ``answer`` after ``suffix``, in one pass.

        No row of the pass sees the columns ``hidden`` of the prefix. What the prefix itself took from them stays:
        this masks the direct path only. ``callback`` sees the layers; the row that predicts answer token i is
        ``len(suffix) - 1 + i``. Raises ``CapacityError`` when it does not fit the window.
        """
        self._require_all_layers()
        start, ids = len(self.prefix), (*suffix.ids, *answer)
        if not answer:
            raise ValueError("an answer needs a token")
        if start + len(ids) > self.loaded.window:
            raise CapacityError(
                f"{start + len(ids)} tokens exceed the model's window of {self.loaded.window}", "shorten the answer"
            )
        mask = None
        positions = torch.arange(start, start + len(ids))
        if hidden:
            visible = torch.arange(start + len(ids))[None] <= positions[:, None]
            visible[:, list(hidden)] = False
            mask = self._planes(visible, positions)
        with self._scratch(), self._observed(callback):
            # the last row predicts what follows the answer: one row more is kept
            logits = self._forward(ids, positions.tolist(), mask=mask, keep=len(answer) + 1)[:-1]
        chosen = torch.log_softmax(logits.double(), dim=-1)[torch.arange(len(answer)), list(answer)]
        result: npt.NDArray[np.float64] = chosen.numpy()
        return result

    def cached_keys(self, count: int) -> tuple[torch.Tensor, ...]:
        """Keys [Hkv, count, D] after RoPE of the first ``count`` columns, per layer; views, not to be changed."""
        return tuple(layer.keys[0, :, :count] for layer in self._cache.cache.layers)

    def _require_all_layers(self) -> None:
        if self.last_layer is not None:
            raise RuntimeError(f"only layers 0 to {self.last_layer} have read the text: no logits can be computed")

    def _observed(self, callback: Callback | None) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext() if callback is None else observe_calls(self.loaded.model, callback)

    def _forward(
        self,
        ids: Sequence[int],
        positions: Iterable[int],
        *,
        mask: Any = None,
        base: bool = False,
        keep: int = 1,
    ) -> torch.Tensor:
        """Logits [V] of the last row ([keep, V] of more), or the hidden states with ``base`` (no LM head)."""
        model = self.loaded.model
        arguments: dict[str, Any] = {"cache": self._cache.cache, "use_cache": True, "attention_mask": mask}
        arguments["position_ids"] = torch.tensor([list(positions)])
        with torch.inference_mode():
            if base:
                hidden: torch.Tensor = model.base_model(torch.tensor([list(ids)]), **arguments)[0]
                return hidden
            logits: torch.Tensor = model(torch.tensor([list(ids)]), logits_to_keep=keep, **arguments).logits[0]
            return logits[-1] if keep == 1 else logits

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[None]:
        """Everything that runs inside is cut off the cache afterwards, also after an error."""
        try:
            yield
        finally:
            self._cache.crop()

    def _pack_inputs(self, pack: Pack) -> tuple[list[int], list[int], Any]:
        start = len(self.prefix)
        ids = [token for suffix in pack.suffixes for token in suffix.ids]
        offsets = [offset for suffix in pack.suffixes for offset in range(len(suffix))]
        positions = torch.tensor([start + offset for offset in offsets])
        owner = torch.repeat_interleave(
            torch.arange(len(pack.suffixes)), torch.tensor([len(suffix) for suffix in pack.suffixes])
        )
        own = (owner[:, None] == owner[None]) & (positions[None] <= positions[:, None])
        visible = torch.cat([torch.ones(len(ids), start, dtype=torch.bool), own], dim=1)
        return ids, positions.tolist(), self._planes(visible, positions)

    def _planes(self, visible: torch.Tensor, positions: torch.Tensor) -> Any:
        """The mask in the form that the model's attention takes, of ``visible`` [rows, prefix + rows]."""
        keys = torch.cat([torch.arange(len(self.prefix)), positions])
        model = self.loaded.model
        planes = _masks(model.config, visible, positions, keys)
        if "eager" in str(model.config._attn_implementation):  # adds its mask to the scores: a bool would mask nothing
            if isinstance(planes, dict):
                planes = {kind: _additive(plane, model.dtype) for kind, plane in planes.items()}
            else:
                planes = _additive(planes, model.dtype)
        return planes


def prefill(
    loaded: LoadedModel,
    template: PromptTemplate,
    text: str,
    *,
    last_layer: int | None = None,
    store: PrefixStore | None = None,
    progress: Progress = no_progress,
) -> Prefilled:
    """Read ``text`` once, up to ``last_layer`` only where it is given; ``store`` keeps what was read for another run.

    Raises ``CapacityError`` when the text exceeds the model's window or memory.
    """
    prefix = template.prefix(text)
    return prefill_tokens(loaded, template, prefix, last_layer=last_layer, store=store, progress=progress)


def prefill_tokens(
    loaded: LoadedModel,
    template: PromptTemplate,
    prefix: Prefix,
    *,
    last_layer: int | None = None,
    store: PrefixStore | None = None,
    progress: Progress = no_progress,
) -> Prefilled:
    """Read the tokens of ``prefix`` once, as :func:`prefill` does."""
    if len(prefix) > loaded.window:
        raise CapacityError(
            f"the text has {len(prefix)} tokens with the template, the model's window {loaded.window}",
            "let softlookup retrieve clauses, or use a model with a longer window",
        )
    config = loaded.model.config.get_text_config()
    key = "" if store is None else prefix_key(loaded, prefix.ids, last_layer)
    known = None if store is None else store.find(key, prefix.ids, config)
    if known is not None:
        return Prefilled(loaded, template, prefix, known, last_layer)
    cache = PrefixCache(config)
    result = Prefilled(loaded, template, prefix, cache, last_layer)
    with _layers(loaded.model, last_layer, progress), contextlib.suppress(StopForward):
        try:
            result._forward(prefix.ids, range(len(prefix)), base=True)
        except (MemoryError, RuntimeError) as error:
            if "memory" not in str(error).lower() and not isinstance(error, MemoryError):
                raise
            raise CapacityError(
                f"reading {len(prefix)} tokens needs more memory than this machine has",
                "use a smaller context",
            ) from error
    cache.extend(prefix.ids)
    if store is not None:
        store.keep(key, cache)
    return result


def _packs(suffixes: Sequence[Suffix]) -> Iterable[Pack]:
    batch: list[int] = []
    used = 0
    for index, suffix in enumerate(suffixes):
        if batch and used + len(suffix) > _PACK_TOKENS:
            yield _pack(batch, suffixes)
            batch, used = [], 0
        batch.append(index)
        used += len(suffix)
    if batch:
        yield _pack(batch, suffixes)


def _pack(indices: Sequence[int], suffixes: Sequence[Suffix]) -> Pack:
    chosen = tuple(suffixes[index] for index in indices)
    starts, row = [], 0
    for suffix in chosen:
        starts.append(row)
        row += len(suffix)
    return Pack(tuple(indices), chosen, tuple(starts))


def _masks(config: Any, visible: torch.Tensor, rows: torch.Tensor, keys: torch.Tensor) -> Any:
    """Bool mask [1, 1, Tq, Tk], or one per layer type; window W: the key and the W - 1 before it."""
    config = config.get_text_config()
    window = getattr(config, "sliding_window", None)
    kinds = set(getattr(config, "layer_types", None) or ())
    full = visible[None, None]
    if window is None or not (kinds - {"full_attention"} or not kinds):
        return full
    near = (visible & (keys[None] > rows[:, None] - window))[None, None]
    if not kinds:
        return near
    return {kind: full if kind == "full_attention" else near for kind in kinds}


def _additive(visible: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """0 where ``visible``, else the lowest number of ``dtype``."""
    mask = torch.full(visible.shape, torch.finfo(dtype).min, dtype=dtype)
    return mask.masked_fill_(visible, 0.0)


def _greedy(logits: torch.Tensor) -> tuple[int, float]:
    # numpy: torch would wake its threads for one vector, and they stay awake where decoding wants the processor
    values = logits.float().numpy()
    if not np.isfinite(values).all():
        raise ModelError(
            "the model computes NaN or infinite logits", "its weights are damaged or overflow: fetch it again"
        )
    token = int(values.argmax())
    return token, -float(np.log(np.exp(values - values[token]).sum(dtype=np.float64)))


def _stop_ids(loaded: LoadedModel) -> frozenset[int]:
    configured = getattr(loaded.model.generation_config, "eos_token_id", None)
    ids = configured if isinstance(configured, list) else [configured]
    return frozenset(int(i) for i in (*ids, loaded.tokenizer.eos_token_id) if i is not None)


@contextlib.contextmanager
def _layers(model: Any, last_layer: int | None, progress: Progress) -> Iterator[None]:
    """Reports every layer that has run, and ends the pass behind ``last_layer``."""
    layers = list(getattr(model.base_model, "layers", ()))
    count = len(layers) if last_layer is None else last_layer + 1
    handles = []
    for number, layer in enumerate(layers[:count], 1):

        def report(*_: object, number: int = number) -> None:
            progress("prefill", number / count)
            if number == count and last_layer is not None:
                raise StopForward

        handles.append(layer.register_forward_hook(report))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
