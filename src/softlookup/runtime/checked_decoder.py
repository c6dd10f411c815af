"""A transformers model as the decoder that `conformance.check_model` asks; judges nothing.

Positions of a padded batch are made as `generate` makes them; everything else is left to the model.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache, StaticCache

from softlookup.attention.decoder import Abilities, Array, Captured
from softlookup.errors import ModelError
from softlookup.runtime.attention_hook import LayerCall, hook_attention
from softlookup.runtime.load import LoadedModel
from softlookup.runtime.observable import TILED
from softlookup.runtime.visibility import VisibilityReader, shown

# scores are multiplied by head_dim^-0.5 and nothing in the configuration can change that
_PLAIN_SCALE = frozenset({
    "llama", "mistral", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "phi3", "gpt_oss", "gpt_neox", "olmo2",
    "cohere", "stablelm", "starcoder2",
})  # fmt: skip
# the rotation of these depends on the length of the sequence
_BY_LENGTH = ("dynamic", "longrope")


@dataclass(frozen=True, eq=False)
class CheckedDecoder:
    """``model``: a causal language model of transformers, in eval mode. Raises ``ModelError`` for another one.

    ``packed``: documents packed by restarting position_ids are promised to be apart; not every class keeps them so.
    """

    model: Any
    packed: bool = False
    abilities: Abilities = field(init=False)

    def __post_init__(self) -> None:
        model = self.model.model if isinstance(self.model, LoadedModel) else self.model
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "abilities", _abilities(model, packed=self.packed))

    def new_cache(self, kind: str, length: int) -> Any:
        """Growing, static with room for ``length``, or "rollback": growing, and every token can be taken back."""
        if kind == "static":
            return StaticCache(config=self.model.config, max_cache_len=length)
        cache = DynamicCache(config=self.model.config)
        if kind == "rollback" and hasattr(cache, "activate_past_recording"):
            cache.activate_past_recording()
        return cache

    def forward(
        self,
        tokens: Array,
        *,
        cache: Any = None,
        positions: Array | None = None,
        padding: Array | None = None,
        documents: Array | None = None,
    ) -> Array:
        """Logits; see the protocol."""
        length = tokens.shape[1]
        given: dict[str, Any] = {"use_cache": cache is not None}
        if padding is not None:
            given["attention_mask"] = torch.from_numpy(padding.astype(np.int64))
            if positions is None:
                positions = np.maximum(padding.cumsum(1) - 1, 0)[:, -length:]
        if documents is not None:
            positions = _within(documents)
        elif positions is not None and padding is None and cache is None:
            # positions that jump, without a mask and a cache, would be taken for packed documents
            given["attention_mask"] = torch.ones(tokens.shape, dtype=torch.int64)
        if positions is not None and self.abilities.positions:
            given["position_ids"] = torch.from_numpy(np.array(positions, dtype=np.int64))
        if cache is not None:
            given["cache" if "cache" in _parameters(self.model) else "past_key_values"] = cache
        with torch.no_grad():
            found = self.model(input_ids=torch.from_numpy(np.array(tokens, dtype=np.int64)), **given).logits
        return np.asarray(found.float().numpy())

    def crop(self, cache: Any, length: int) -> None:
        """Keep the first ``length`` tokens."""
        cache.crop(length - int(cache.get_seq_length()))

    def reorder(self, cache: Any, rows: Array) -> None:
        """As beam search does."""
        cache.reorder_cache(torch.from_numpy(np.array(rows, dtype=np.int64)))

    def slots(self, cache: Any) -> list[tuple[Array, Array]]:
        """Filled slots of every layer."""
        found = []
        for layer in cache.layers:
            stop = min(int(layer.get_seq_length()), layer.keys.shape[-2])
            found.append((_numpy(layer.keys[:, :, :stop]), _numpy(layer.values[:, :, :stop])))
        return found


@contextlib.contextmanager
def capture_decoder(decoder: CheckedDecoder) -> Iterator[list[Captured]]:
    """The attention calls of all passes inside the block. Raises as `hook_attention` and `VisibilityReader`."""
    calls: list[Captured] = []
    reader = VisibilityReader()
    windows = decoder.abilities.windows

    def receive(call: LayerCall) -> None:
        calls.append(_captured(call, reader, windows))

    with hook_attention(decoder.model, receive):
        yield calls


def _captured(call: LayerCall, reader: VisibilityReader, windows: tuple[int | None, ...]) -> Captured:
    rows, keys = call.query.shape[-2], call.key.shape[-2]
    if call.implementation == TILED or call.output is None:
        raise ModelError("tiled attention has no kernel of the model's own", "load the model with sdpa or eager")
    seen = shown(reader.read(call, 0, rows), 0, rows, keys, call.query.device)
    scale, learned = call.arguments.get("scaling"), call.arguments.get("s_aux")
    return Captured(
        call.layer, _numpy(call.query[0]), _numpy(call.key[0]), _numpy(call.value[0]),
        _numpy(call.output[0].transpose(0, 1)), seen[0, 0].expand(rows, keys).numpy(),
        float(scale) if scale is not None else call.query.shape[-1] ** -0.5, call.arguments.get("softcap"),
        windows[call.layer], None if learned is None else _numpy(learned.detach()), call.q_offset, call.kv_offset,
    )  # fmt: skip


def _abilities(model: Any, *, packed: bool) -> Abilities:
    config = getattr(model, "config", None)
    if config is None or not hasattr(model, "generate") or getattr(config, "is_encoder_decoder", False):
        raise ModelError(f"{type(model).__name__} is no causal language model of transformers", "load one of those")
    text = config.get_text_config()
    layers = DynamicCache(config=config).layers
    if len(layers) != text.num_hidden_layers:
        raise ModelError(f"{type(model).__name__} keeps no cache per layer", "only such models are checked")
    windows = tuple(int(layer.sliding_window) if layer.is_sliding else None for layer in layers)
    rope, positions = _rope(text), "position_ids" in _parameters(model)
    reserved = (value for name in ("pad", "eos", "bos") for value in [getattr(text, f"{name}_token_id", None)])
    flat = {token for value in reserved for token in (value if isinstance(value, list) else [value])}
    return Abilities(
        vocabulary=model.get_input_embeddings().num_embeddings,
        windows=windows,
        dtype=str(model.dtype).removeprefix("torch."),
        caches=("growing", "static", "rollback"),
        rotary=bool(getattr(text, "rope_parameters", None)),
        rope=rope,
        scale=_scale(text),
        positions=positions,
        packed="not offered" if not positions else "promised" if packed else "unspecified",
        reserved=frozenset(token for token in flat if isinstance(token, int)),
    )


def _rope(text: Any) -> Mapping[str, Any] | None:
    """The entries of layer 0; None where they do not fix the rotation."""
    entries = dict(text.to_dict())
    given = entries.get("rope_parameters")
    if not given:
        return None
    if all(isinstance(part, dict) for part in given.values()):
        given = given.get((entries.get("layer_types") or [""])[0])
    if not given or given.get("rope_type") in _BY_LENGTH:
        return None
    return MappingProxyType({**entries, "rope_parameters": given})


def _scale(text: Any) -> float | None:
    if getattr(text, "attention_multiplier", None):
        return float(text.attention_multiplier)
    if getattr(text, "query_pre_attn_scalar", None):
        return 1 / math.sqrt(text.query_pre_attn_scalar)
    if text.model_type not in _PLAIN_SCALE:
        return None
    width = getattr(text, "head_dim", None) or text.hidden_size // text.num_attention_heads
    return 1 / math.sqrt(width)


def _within(documents: Array) -> Array:
    """Positions that restart with every document."""
    return np.array([[place - row.tolist().index(name) for place, name in enumerate(row)] for row in documents])


def _parameters(model: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(model.forward).parameters


def _numpy(given: torch.Tensor) -> Array:
    return given.detach().double().cpu().numpy()
