"""How a function is called: which of its arguments mean what, in which layout; usually read off its signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from softlookup.conformance.case import FEATURES
from softlookup.errors import UsageError

# names that libraries and courses use for the same argument
SYNONYMS: dict[str, tuple[str, ...]] = {
    "causal": ("causal", "is_causal", "use_causal_mask"),
    "mask": ("mask", "attn_mask", "attention_mask"),
    "bias": ("bias", "attn_bias", "attention_bias", "additive_mask", "score_bias"),
    "scale": ("scale", "scaling", "softmax_scale", "sm_scale"),
    "softcap": ("softcap", "soft_cap", "logits_soft_cap", "logit_softcap", "attn_logit_softcapping"),
    "sinks": ("sinks", "sink", "s_aux", "sink_logits"),
    "window": ("window", "window_size", "sliding_window", "local_window_size", "local_window"),
    "alibi": ("alibi", "use_alibi"),
    "kv_len": (
        "kv_len", "kv_lens", "kv_length", "kv_lengths", "key_lengths", "key_value_seq_lengths", "cache_seqlens",
        "nonpad_kv_seqlen", "seqlens_k", "seq_lens",
    ),
    "segments": ("segments", "segment_ids", "document_ids", "seq_ids"),
    "dropout": ("dropout", "dropout_p", "attn_dropout"),
}  # fmt: skip

_TRAIN = {"train": False, "training": False, "is_training": False, "deterministic": True}
_TENSORS = (
    ("query", "q", "Q"), ("key", "k", "K"), ("value", "v", "V"),
)  # fmt: skip

Call = Callable[..., Any]


@dataclass(frozen=True)
class Adapter:
    """What :func:`check_fn` cannot read off a signature; every field may be left out.

    ``call(fn, query, key, value, **arguments)`` replaces the call itself; ``arguments`` have canonical names
    (``causal``, ``mask``, ``bias``, ``scale``, ``softcap``, ``sinks``, ``window``, ``alibi``, ``kv_len``,
    ``segments``, ``dropout``). ``names``: the function's keyword per canonical name; "" = it has none.
    ``features``: what ``call`` understands. ``fixed``: keywords that are always given.
    ``heads``, ``kv_heads``, ``head_dim``, ``batch``, ``dtype``: sizes that cannot be chosen.
    ``always_causal``: the function masks the future without being asked.
    ``rotates``: the function turns queries and keys itself, as the contract's ``rope`` says; where Tq < Tk, ``call``
    gives it the first keys as the past.
    ``layout`` and ``framework`` win over those of the contract.
    """

    call: Call | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    features: tuple[str, ...] | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    heads: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    batch: int | None = None
    dtype: str | None = None
    always_causal: bool = False
    rotates: bool = False
    layout: str | None = None
    framework: str | None = None

    def __post_init__(self) -> None:
        unknown = sorted((set(self.names) | set(self.features or ())) - set(FEATURES))
        if unknown:
            raise UsageError(f"unknown argument {', '.join(unknown)}", f"arguments: {', '.join(FEATURES)}")


@dataclass(frozen=True)
class Signature:
    """What was found: keyword per canonical name, whether tensors go by name, the flag that turns dropout off."""

    names: Mapping[str, str]
    train: Mapping[str, Any]
    by_default: Mapping[str, Any]
    tensors: tuple[str, ...] = ()

    @property
    def features(self) -> frozenset[str]:
        """Canonical names that the function has."""
        return frozenset(self.names)


# builtins have no signature that Python can read
_SDPA = {"mask": "attn_mask", "bias": "attn_mask", "causal": "is_causal", "scale": "scale"}


def read_signature(function: Call, adapter: Adapter) -> Signature:
    """Arguments of ``function``; ``UsageError`` for something that cannot be called."""
    if not callable(function):
        raise UsageError(f"a function is required, got {type(function).__name__}", "give module:function")
    if adapter.call is not None:
        offered = adapter.features if adapter.features is not None else _keywords(adapter.call)
        return Signature({name: name for name in offered}, {}, {})
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return Signature({**_SDPA, **adapter.names}, {}, {}) if _is_sdpa(function) else Signature(adapter.names, {}, {})
    found = {}
    for feature, words in SYNONYMS.items():
        named = adapter.names.get(feature)
        name = named if named is not None else next((word for word in words if word in parameters), "")
        if name and (adapter.features is None or feature in adapter.features):
            found[feature] = name
    if "mask" in found and "bias" not in found and adapter.names.get("bias", "x") and found["mask"] == "attn_mask":
        found["bias"] = "attn_mask"  # the one argument of torch that takes both
    train = {name: value for name, value in _TRAIN.items() if name in parameters}
    if not train:
        found.pop("dropout", None)  # without a flag for training, the caller means the dropout it asks for
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    keyword_only = [
        next((word for word in words if word in parameters), "")
        for words in _TENSORS
        if all(parameters[w].kind is inspect.Parameter.KEYWORD_ONLY for w in words if w in parameters)
    ]
    return Signature(found, train, defaults, tuple(filter(None, keyword_only)))


def _keywords(call: Call) -> tuple[str, ...]:
    return tuple(name for name in FEATURES if name in inspect.signature(call).parameters)


def _is_sdpa(function: Call) -> bool:
    return getattr(function, "__name__", "") == "scaled_dot_product_attention"
