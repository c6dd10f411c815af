"""The rotary part of a Hugging Face ``config.json`` (or ``config.to_dict()``), read without transformers.

Everything that would change the rotation and is not understood here is refused by name: a scaling that is ignored
gives a model that still talks, and worse.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from softlookup.attention.rope_scaling import LinearScaling, Llama3Scaling, RopeScaling, YarnScaling
from softlookup.errors import UsageError

# model types whose code pairs neighbouring coordinates (read in transformers 5.24); a config does not say it
INTERLEAVED_MODELS = frozenset(
    {
        "codegen", "cohere", "cohere2", "cohere2_moe", "ernie4_5", "ernie4_5_moe", "glm", "glm4", "gptj",
        "helium", "llama4_text",
    }
)  # fmt: skip

_KNOWN = frozenset(
    {
        "rope_type", "type", "rope_theta", "partial_rotary_factor", "factor", "original_max_position_embeddings",
        "attention_factor", "beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "low_freq_factor",
        "high_freq_factor",
    }
)  # fmt: skip

_WHY_REFUSED = {
    "dynamic": "its frequencies depend on the longest position seen, so cached keys and new ones disagree",
    "longrope": "it switches between two tables by the length of the text",
    "su": "it switches between two tables by the length of the text",
}


def rotary_arguments(config: Mapping[str, Any], layer_type: str | None) -> dict[str, Any]:
    """head_dim, theta, rotary_dim and scaling of a config, as arguments of :class:`RotaryEmbedding`.

    ``layer_type`` chooses where the config nests parameters by layer, e.g. "sliding_attention".
    Raises ``UsageError`` for what is missing, unknown or of a type that is not offered.
    """
    if config.get("qk_rope_head_dim") is not None:
        raise UsageError(
            "the config is of latent attention (qk_rope_head_dim), which rotates a part of its own",
            "build RotaryEmbedding(head_dim=qk_rope_head_dim, ...) for that part",
        )
    parameters = _parameters(config, layer_type)
    unknown = sorted(key for key, value in parameters.items() if key not in _KNOWN and value is not None)
    scaling = _scaling(parameters, config, unknown)
    head_dim = _head_dim(config)
    rotary_dim = config.get("rotary_dim")  # GPT-J and MiniMax give the number itself
    if rotary_dim is None:
        rotary_dim = int(head_dim * float(_first(parameters, config, "partial_rotary_factor") or 1.0))
    theta = _first(parameters, config, "rope_theta")
    if theta is None:
        raise UsageError(
            "the config names no rope_theta, and its default differs between model types",
            "give transformers' config.to_dict(), or add rope_theta",
        )
    return {"head_dim": head_dim, "theta": float(theta), "rotary_dim": rotary_dim, "scaling": scaling}


def _parameters(config: Mapping[str, Any], layer_type: str | None) -> Mapping[str, Any]:
    """The flat rope parameters; ``rope_scaling`` is the older name and wins, as in transformers."""
    found = config.get("rope_scaling") or config.get("rope_parameters") or {}
    if not isinstance(found, Mapping):
        raise UsageError(f"rope parameters must be a mapping, got {type(found).__name__}", "check the model's config")
    nested = {key: value for key, value in found.items() if isinstance(value, Mapping)}
    if nested:
        if layer_type not in nested:
            raise UsageError(
                f"rope parameters differ by layer type: {', '.join(sorted(nested))}; got layer_type={layer_type!r}",
                "name one of them",
            )
        return nested[layer_type]
    if config.get("rope_local_base_freq") is not None:  # how Gemma 3 wrote it before parameters were nested
        if layer_type not in ("full_attention", "sliding_attention"):
            raise UsageError(
                f"the config has a rotation of its own for sliding layers, got layer_type={layer_type!r}",
                "name full_attention or sliding_attention",
            )
        if layer_type == "sliding_attention":
            return {"rope_theta": config["rope_local_base_freq"]}
    return found


def _scaling(parameters: Mapping[str, Any], config: Mapping[str, Any], unknown: list[str]) -> RopeScaling | None:
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    if kind not in ("default", "linear", "llama3", "yarn"):
        raise UsageError(
            f"rope type {kind!r} is not offered" + (f": {_WHY_REFUSED[kind]}" if kind in _WHY_REFUSED else ""),
            "offered: default, linear, llama3, yarn",
        )
    if unknown:
        raise UsageError(f"rope parameters {', '.join(unknown)} are not known", "remove them if they mean nothing")
    if kind == "default":
        return None
    if kind == "linear":
        return LinearScaling(_required(parameters, "factor", kind))
    # a length beside the rope parameters wins, as in transformers (Phi-3 keeps it there)
    trained = (
        config.get("original_max_position_embeddings")
        or parameters.get("original_max_position_embeddings")
        or config.get("max_position_embeddings")
    )
    if trained is None:
        raise UsageError(f"rope type {kind!r} needs original_max_position_embeddings", "add it to the config")
    if kind == "llama3":
        return Llama3Scaling(
            _required(parameters, "factor", kind),
            _required(parameters, "low_freq_factor", kind),
            _required(parameters, "high_freq_factor", kind),
            trained,
        )
    return _yarn(parameters, config, trained)


def _yarn(parameters: Mapping[str, Any], config: Mapping[str, Any], trained: int) -> YarnScaling:
    factor, longest = parameters.get("factor"), config.get("max_position_embeddings")
    if factor is None and longest is not None:
        factor = longest / trained
    return YarnScaling(
        factor=_required({"factor": factor}, "factor", "yarn"),
        original_max_position_embeddings=trained,
        beta_fast=parameters.get("beta_fast") or 32.0,
        beta_slow=parameters.get("beta_slow") or 1.0,
        given_attention_factor=parameters.get("attention_factor"),
        mscale=parameters.get("mscale"),
        mscale_all_dim=parameters.get("mscale_all_dim"),
        truncate=parameters.get("truncate", True),
    )


def _head_dim(config: Mapping[str, Any]) -> int:
    head_dim = config.get("head_dim")
    if head_dim is None:
        hidden, heads = config.get("hidden_size"), config.get("num_attention_heads")
        if not hidden or not heads:
            raise UsageError("the config names no head_dim, nor hidden_size and num_attention_heads", "add head_dim")
        head_dim = hidden // heads
    return int(head_dim)


def _first(parameters: Mapping[str, Any], config: Mapping[str, Any], name: str) -> Any:
    inner = parameters.get(name)
    return config.get(name) if inner is None else inner


def _required(parameters: Mapping[str, Any], name: str, kind: str) -> Any:
    value = parameters.get(name)
    if value is None:
        raise UsageError(f"rope type {kind!r} needs {name}", "add it to the config")
    return value
