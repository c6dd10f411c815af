"""The model that a document is planned for: its costs, and the tokenizer that counts. Converts and loads nothing.

A preset, a ``config.json`` alone or a GGUF file that was never converted has no tokenizer here: the embedded model's
counts, and the number of tokens becomes a prior.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from softlookup.cost.kv_cache import KVDtypes
from softlookup.cost.model.model_source import CostModel, find_model
from softlookup.cost.plan.document_plan import TokenInterval
from softlookup.cost.plan.request import PlanRequest
from softlookup.cost.plan.strategies import no_room
from softlookup.documents.language import Language, language_of
from softlookup.errors import CapacityError, ModelError
from softlookup.evidence.profile_store import evidence_depth
from softlookup.evidence.question_bank import question_bank
from softlookup.runtime import embedded, store
from softlookup.runtime.load import ModelSource, find_model_source

_TOKENIZER = "tokenizer.json"
# tokens of another model per token of the embedded one's tokenizer (49,152 entries, mostly English): vocabularies of
# 32,000 to 256,000 entries on English text; on Chinese this one spends 1.6 tokens on a character (contracts), one with
# Chinese words in its vocabulary about .6, a small one as many
_OTHERS: dict[Language, tuple[float, float]] = {"en": (0.8, 1.3), "zh": (0.3, 1.2)}


@dataclass(frozen=True, slots=True)
class PlanModel:
    """``source``: whose tokenizer counts; ``own``: whether that is the planned model. ``sha256`` is "" when unknown.

    ``evidence_layers``: layers up to which ``softlookup ask`` reads evidence with this model.
    """

    cost: CostModel
    source: ModelSource
    own: bool
    sha256: str
    evidence_layers: int

    def interval(self, tokens: int, language: Language) -> TokenInterval | None:
        """Limits of ``tokens`` when another tokenizer counted them, None when the model's own did."""
        if self.own:
            return None
        low, high = _OTHERS[language]
        return TokenInterval(
            int(low * tokens), int(high * tokens) + 1, f"counted with the tokenizer of {embedded.NAME}"
        )


def document_request(
    planned: PlanModel, asked: PlanRequest, text: str, count_tokens: Callable[[str], int], *, usual_kv: bool = True
) -> PlanRequest:
    """``asked`` for a document of ``text``: its tokens and language, the bank in that, the model as ``ask`` runs it.

    With ``usual_kv`` a model that runs in fp32 keeps its cache in fp32. A document without text counts as one token.
    Raises ``ModelError`` for an unknown window and ``CapacityError`` for one that leaves no room: ``ask`` could not
    read a word.
    """
    shape, language = planned.cost.shape, language_of(text)
    if shape.context is None:
        raise ModelError(
            f"{shape.name} does not state its trained window",
            "softlookup will not guess a window: add max_position_embeddings to its configuration",
        )
    bank = question_bank(language).questions
    request = replace(
        asked,
        model=planned.cost,
        tokens=max(1, count_tokens(text)),
        language=language,
        kv=KVDtypes("f32", "f32") if usual_kv and planned.cost.dtype == "f32" else asked.kv,
        evidence_layers=planned.evidence_layers,
        bank_questions=len(bank),
        bank_tokens=sum(count_tokens(question) for question in bank),
    )
    if obstacle := no_room(replace(request, language="en")):
        raise CapacityError(obstacle, "use a model with a longer window")
    return request


def find_plan_model(name: str | None, weight_dtype: str | None = None) -> PlanModel:
    """The model that ``name`` stands for, as in ``softlookup plan --tokens``; None is the embedded one.

    Raises ``ModelError`` for what cannot be found or read, and when the embedded model's tokenizer is needed but the
    model is not in the cache; ``UsageError`` for an unknown ``weight_dtype``.
    """
    if name is None or name == embedded.NAME:
        return own_plan_model(find_model_source(None), weight_dtype)
    path = Path(name).expanduser()
    cost = find_model(name, weight_dtype)
    folder = _folder_with_tokenizer(path)
    if folder is not None:
        # a GGUF file is planned as it is stored, its conversion only counts
        return own_plan_model(find_model_source(folder), weight_dtype, cost if cost.origin == "gguf" else None)
    layers = evidence_depth("", cost.shape)
    return PlanModel(cost, find_model_source(None), own=False, sha256="", evidence_layers=layers)


def own_plan_model(source: ModelSource, weight_dtype: str | None = None, cost: CostModel | None = None) -> PlanModel:
    """The model of ``source``, whose own tokenizer counts; ``cost`` where it is not that of its folder."""
    cost = cost or find_model(str(source.folder), weight_dtype)
    cost = replace(cost, shape=replace(cost.shape, name=source.name))
    return PlanModel(
        cost, source, own=True, sha256=source.sha256, evidence_layers=evidence_depth(source.sha256, cost.shape)
    )


def _folder_with_tokenizer(path: Path) -> Path | None:
    """The folder that ``ask`` would load for ``path``, None when it has none with a tokenizer."""
    if path.is_dir():
        return path if (path / _TOKENIZER).is_file() else None
    if not path.is_file():
        return None
    if path.name == "config.json":
        beside = path.parent
        return beside if (beside / _TOKENIZER).is_file() and any(beside.glob("*.safetensors")) else None
    return store.find_model(store.sha256_of(path))
