"""A Hugging Face ``config.json`` -> :class:`ModelShape`. Counts only: no weights are opened here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softlookup.cost.model.architectures import Family, family_of
from softlookup.cost.model.config_fields import Fields
from softlookup.cost.model.config_layers import LayerPlan, plan_layers
from softlookup.cost.model.config_weights import (
    attention_layer,
    expert_counts,
    feed_forward,
    latent_layer,
    recurrent_layer,
)
from softlookup.cost.model.shapes import MAX_LAYERS, MAX_TOKENS, Layer, ModelShape
from softlookup.errors import ModelError

# the largest public ones have a few hundred kB (long lists of quantised modules)
_MAX_BYTES = 16 << 20


def shape_from_config_file(path: Path) -> ModelShape:
    """The shape of ``path``. Raises ``ModelError`` for a file that is unreadable, no JSON object or incomplete."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise ModelError(f"{path} is larger than {_MAX_BYTES >> 20} MB, no config.json is", "check the path")
        config = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror or error})", "check the path") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not valid JSON", "take the file again from its source") from error
    if not isinstance(config, dict):
        raise ModelError(f"{path} is not a JSON object", "pass the config.json of a Hugging Face model")
    name = path.parent.resolve().name if path.name == "config.json" else path.stem
    return shape_from_config(config, name or "model", where=str(path))


def shape_from_config(config: Mapping[str, Any], name: str, *, where: str | None = None) -> ModelShape:
    """The shape that a configuration describes.

    A nested ``text_config`` is read. Raises ``ModelError`` for a missing or absurd field, naming it.
    """
    inner = config.get("text_config", config)
    if not isinstance(inner, Mapping):
        raise ModelError(f"text_config of {where or name} is not a JSON object", "take the file again from its source")
    fields = Fields(inner, where or f"the configuration of {name}")
    model_type = str(inner.get("model_type") or config.get("model_type") or "")
    family = family_of(model_type)
    layers = _layers(fields, family)
    width, vocabulary = fields.required("hidden_size"), fields.required("vocab_size", high=1 << 26)
    experts = expert_counts(fields)
    return ModelShape(
        name=name,
        hidden_size=width,
        vocab_size=vocabulary,
        tied=_tied(config, fields, family),
        layers=layers,
        other_weights=_other_weights(fields, family, width, len(layers)),
        context=fields.integer("max_position_embeddings", "seq_length", "n_positions", high=MAX_TOKENS),
        expert_count=experts[0] if experts else 0,
        experts_per_token=experts[1] if experts else 0,
        notes=_notes(fields, family, model_type),
        architecture=model_type,
        dtype=_dtype(config, inner),
    )


def _layers(fields: Fields, family: Family) -> tuple[Layer, ...]:
    count = fields.required("num_hidden_layers", high=MAX_LAYERS)
    plans = plan_layers(fields, family, count)
    latent = fields.values.get("kv_lora_rank") is not None
    return tuple(_layer(fields.of_layer(index), family, plan, index, latent=latent) for index, plan in enumerate(plans))


def _layer(fields: Fields, family: Family, plan: LayerPlan, index: int, *, latent: bool) -> Layer:
    ffn = feed_forward(fields, family, index, shared_kv=plan.owner is not None)
    if plan.kind == "recurrent":
        return recurrent_layer(fields, ffn)
    if latent:
        return latent_layer(fields, plan, ffn)
    return attention_layer(fields, family, plan, ffn)


def _other_weights(fields: Fields, family: Family, width: int, layers: int) -> int:
    """The final norm; for Gemma 3n and 4 also the table of per-layer embeddings and its norm."""
    norm = 0 if not family.norms else width * (2 if family.norm_biases else 1)
    inputs = fields.integer("hidden_size_per_layer_input", low=0) or 0
    if not inputs:
        return norm
    return norm + inputs * (layers * fields.required("vocab_size_per_layer_input", high=1 << 26) + 1)


def _tied(config: Mapping[str, Any], fields: Fields, family: Family) -> bool:
    outer = config.get("tie_word_embeddings")
    return fields.flag("tie_word_embeddings", default=outer if isinstance(outer, bool) else family.tied)


def _notes(fields: Fields, family: Family, model_type: str) -> tuple[str, ...]:
    notes = []
    if not family.known:
        notes.append(f"model_type {model_type[:40]!r} is not known: biases and norms are counted as in Llama")
    stated = ("num_key_value_heads", "num_kv_heads", "multi_query", "kv_lora_rank")
    if all(fields.values.get(name) is None for name in stated):
        notes.append("num_key_value_heads is not stated: one per query head assumed")
    if fields.integer("max_position_embeddings", "seq_length", "n_positions", high=MAX_TOKENS) is None:
        notes.append("the trained window is not stated")
    return tuple(notes)


def _dtype(config: Mapping[str, Any], inner: Mapping[str, Any]) -> str | None:
    """Storage type of the weights; that of a quantised checkpoint where its method names one."""
    quantised = config.get("quantization_config") or inner.get("quantization_config")
    if isinstance(quantised, Mapping):
        method = str(quantised.get("quant_method"))
        if method in ("fp8", "mxfp4"):
            return method
        if quantised.get("bits") == 4 or quantised.get("load_in_4bit"):
            return "q4_0"  # 4 bits and a scale per group: 4.1 to 4.5 bits per weight
        return "i8"
    for source in (config, inner):
        for name in ("dtype", "torch_dtype"):
            if isinstance(source.get(name), str):
                return str(source[name])
    return None
