"""Head profiles of other models on disk: one JSON file per model in the cache, beside the models; measures nothing.

A profile holds for the weights, template, number format and softlookup version with which it was measured. A file
that says otherwise is refused: silently reading other heads, or none, would change what counts as evidence.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.errors import ModelError
from softlookup.evidence.profile import (
    HeadProfile,
    built_in_depth,
    built_in_profile,
    has_built_in,
    local_layers,
    middle_layers,
)
from softlookup.evidence.question_bank import BANK_VERSION
from softlookup.runtime.directories import cache_directory
from softlookup.runtime.store import writable_cache

if TYPE_CHECKING:
    from softlookup.cost.model.shapes import ModelShape
    from softlookup.evidence.profiling import ProfileReport
    from softlookup.runtime.load import LoadedModel, ModelSource
    from softlookup.runtime.prompt import PromptTemplate

SCHEMA = 1
# raised when rows, tempering, null, planted texts or the choice of heads change
PROFILE_VERSION = 1
# a profile of 16 heads takes 3 kB, one of all middle layers of a large model some tens
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class ProfileKey:
    """What a profile belongs to. ``quantisation`` is the number format in which the model runs.

    The quantisation of a GGUF file is part of its weights' digest.
    """

    weights_sha256: str
    template_sha256: str
    quantisation: str
    version: str = f"{PROFILE_VERSION}.{BANK_VERSION}"


_WORDS = {
    "weights_sha256": "other weights",
    "template_sha256": "another prompt template",
    "quantisation": "another number format",
    "version": "another version of the method",
}


def profile_key(loaded: LoadedModel, template: PromptTemplate) -> ProfileKey:
    """Key of a loaded model."""
    packed = getattr(loaded.model.config, "quantization_config", None)
    kind = packed.get("quant_method") if isinstance(packed, dict) else getattr(packed, "quant_method", None)
    numbers = str(loaded.model.dtype).removeprefix("torch.")
    return ProfileKey(loaded.source.sha256, template.sha256, numbers if kind is None else f"{kind} {numbers}")


def find_profile(loaded: LoadedModel, template: PromptTemplate) -> HeadProfile:
    """The built-in profile, else the stored one, else the middle layers.

    Raises ``ModelError`` when the stored profile is damaged or belongs to something else.
    """
    known = built_in_profile(loaded.source.sha256, template.sha256)
    if known is not None:
        return known
    config = loaded.model.config.get_text_config()
    path = profile_path(loaded.source.sha256)
    if not path.is_file():
        return middle_layers(int(config.num_hidden_layers), int(config.num_attention_heads), local_layers(config))
    stored = read_profile(path)
    check_key(path, stored, profile_key(loaded, template))
    return _profile(path, stored, config)


def profile_path(weights_sha256: str) -> Path:
    """Where the profile of these weights lies, whether it exists or not."""
    return cache_directory() / "profiles" / f"{weights_sha256[:16]}.json"


def profile_object(report: ProfileReport, key: ProfileKey, name: str) -> dict[str, Any]:
    """The JSON object of a profile; ``digest`` covers all the rest."""
    profile = report.profile
    content = {
        "schema": SCHEMA,
        "name": name,
        "key": asdict(key),
        "kind": report.kind,
        "languages": list(profile.languages),
        "note": profile.note,
        "heads": [[layer, head, weight] for (layer, head), weight in zip(profile.heads, profile.weights, strict=True)],
        "quality": list(report.quality),
        "held_out": {
            "chosen heads": [asdict(score) for score in report.chosen],
            "middle layers": [asdict(score) for score in report.middle],
            "built-in": [asdict(score) for score in report.built_in],
        },
    }
    return {**content, "digest": _digest(content)}


def save_profile(path: Path, content: dict[str, Any]) -> None:
    """Write atomically, readable by the user alone. Raises ``OSError``."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=".profile-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(content, stream, ensure_ascii=False, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def store_profile(content: dict[str, Any]) -> Path:
    """Put a profile where :func:`find_profile` looks. Raises ``ModelError`` when the cache cannot be written."""
    path = profile_path(content["key"]["weights_sha256"])
    with writable_cache():
        save_profile(path, content)
    return path


def read_profile(path: Path) -> dict[str, Any]:
    """The object in ``path``. Raises ``ModelError`` unless it is whole, in this schema and unchanged."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise _damaged(path, "it is too large")
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(path, "it is no readable JSON") from error
    if not isinstance(content, dict):
        raise _damaged(path, "it is no JSON object")
    if content.get("schema") != SCHEMA:
        raise _damaged(path, f"its schema is not {SCHEMA}")
    digest = content.pop("digest", None)
    if digest != _digest(content):
        raise _damaged(path, "its content does not match its digest")
    return content


def check_key(path: Path, content: dict[str, Any], key: ProfileKey) -> None:
    """Raises ``ModelError`` that names the first part of the key that differs."""
    stored = content.get("key")
    for name, expected in asdict(key).items():
        found = stored.get(name) if isinstance(stored, dict) else None
        if found != expected:
            raise ModelError(
                f"the head profile {path} was measured with {_WORDS[name]} "
                f"({str(found)[:16]}, this model has {expected[:16]})",
                "run `softlookup model profile` for this model again, or delete the file to read its middle layers",
            )


def profile_state(source: ModelSource) -> str:
    """In words, whether and how a model is profiled, from files alone.

    Template and number format are compared when the model is loaded.
    """
    if has_built_in(source.sha256):
        return "built-in profile, chosen on labelled contracts"
    path = profile_path(source.sha256)
    if not path.is_file():
        return "not profiled: the middle layers are read; run `softlookup model profile`"
    try:
        content = read_profile(path)
    except ModelError as error:
        return f"refused: {error}"
    key = content.get("key")
    stated = key.get("version") if isinstance(key, dict) else None
    if stated != ProfileKey("", "", "").version:
        return f"refused: the stored profile {path} is of another version of the method; profile the model again"
    if content["kind"] == "unavailable":
        return f"attention evidence unavailable: {content['note']}"
    which = f"{len(content['heads'])} heads" if content["kind"] == "profiled" else "the middle layers did best"
    found = content["held_out"]["chosen heads" if content["kind"] == "profiled" else "middle layers"]
    scores = ", ".join(f"{row['language']} R@1 {row['recall_at_1']:.2f} (chance {row['chance']:.2f})" for row in found)
    return f"profiled on planted questions: {which}; held out: {scores}"


def evidence_depth(weights_sha256: str, shape: ModelShape) -> int:
    """Layers that run before evidence is complete, from files alone: the last evidence layer and all before it.

    ``weights_sha256`` "" stands for a model whose files are not here. A stored profile that is damaged counts as none.
    """
    known = built_in_depth(weights_sha256)
    if known is not None:
        return known
    path = profile_path(weights_sha256)
    if weights_sha256 and path.is_file():
        with suppress(ModelError, KeyError, TypeError, ValueError):
            last = max(int(layer) for layer, *_ in read_profile(path)["heads"])
            if 0 <= last < len(shape.layers):
                return last + 1
    local = frozenset(index for index, layer in enumerate(shape.layers) if layer.kind not in ("full", "latent"))
    return middle_layers(len(shape.layers), 1, local).last_layer + 1


def _profile(path: Path, content: dict[str, Any], config: Any) -> HeadProfile:
    local, layers, heads = local_layers(config), int(config.num_hidden_layers), int(config.num_attention_heads)
    try:
        rows = [(int(layer), int(head), float(weight)) for layer, head, weight in content["heads"]]
        languages = tuple(language for language in content["languages"] if language in ("en", "zh"))
        profile = HeadProfile(
            tuple((layer, head) for layer, head, _ in rows),
            tuple(weight for *_, weight in rows),
            profiled=True,
            languages=languages,
            note=str(content["note"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path, "its heads cannot be read") from error
    inside = all(0 <= layer < layers and 0 <= head < heads for layer, head in profile.heads)
    sound = all(math.isfinite(w) and w >= 0 for w in profile.weights) and sum(profile.weights) > 0
    if not inside or not sound:
        raise _damaged(path, "it names heads that the model does not have, or weights that are none")
    if languages and any(layer in local for layer, _ in profile.heads):
        raise _damaged(path, "it names heads of sliding-window layers, which cannot see the whole document")
    return profile


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(
        f"the head profile {path} cannot be used: {why}",
        "run `softlookup model profile` for this model again, or delete the file to read its middle layers",
    )


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
