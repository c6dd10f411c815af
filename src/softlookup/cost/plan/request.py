"""What is to be planned: a length, a model, a device, and how it is asked. Validated here, computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from softlookup.cost.devices import Device, find_device
from softlookup.cost.efficiency import Efficiency, efficiency_of
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
from softlookup.cost.model.model_source import CostModel
from softlookup.cost.model.shapes import MAX_TOKENS, ModelShape
from softlookup.cost.plan.plan_texts import PlanLanguage, say
from softlookup.cost.plan.strategy import RESERVED_TOKENS
from softlookup.errors import CapacityError, UsageError

# the usual answer of `softlookup ask`, which RESERVED_TOKENS includes
USUAL_ANSWER_TOKENS = 80
# a question with the words around it; RESERVED_TOKENS leaves room for a longer one
QUESTION_TOKENS = 64
# the bank of `softlookup ask` (`evidence/question_bank.py`): its questions, and the tokens of all of them where nobody
# counts them: between those of the English and the Chinese list
BANK_QUESTIONS = 55
BANK_TOKENS = 900
# a first answer that takes longer than this is not waited for: half an hour
MAX_SECONDS = 1800.0
# half of what caches are sized for: question and answer come on top
_MAX_DOCUMENT_TOKENS = MAX_TOKENS // 2
_MAX_ANSWER_TOKENS = 1 << 20
_MAX_QUESTIONS = 10**9
# a hundred years: beyond, a number is a slip
MOST_SECONDS = 3_200_000_000


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A document of ``tokens``, asked ``questions`` times with answers of ``answer_tokens``.

    ``concurrency``: requests that have to run at once. ``utilisation``: share of the device's memory that may be used.
    ``evidence_layers``: layers up to which evidence is read, None for all; ``bank_questions`` of ``bank_tokens`` in all
    run once on every context that is read (0 tokens: none). ``max_seconds``: longest wait for a first answer by hybrid.
    ``max_context_tokens``: document tokens that may be read at most. ``language``: of the words of the plan.
    ``measured``: shares that were timed on ``device``.
    Raises ``UsageError`` for numbers that are negative or absurd.
    """

    model: CostModel
    tokens: int
    device: Device = field(default_factory=find_device)
    answer_tokens: int = USUAL_ANSWER_TOKENS
    questions: int = 1
    concurrency: int = 1
    engine: EnginePolicy = field(default_factory=EnginePolicy)
    kv: KVDtypes = field(default_factory=KVDtypes)
    question_tokens: int = QUESTION_TOKENS
    utilisation: float = 0.9
    evidence_layers: int | None = None
    bank_questions: int = BANK_QUESTIONS
    bank_tokens: int = BANK_TOKENS
    max_seconds: float = MAX_SECONDS
    max_context_tokens: int | None = None
    language: PlanLanguage = "en"
    measured: Efficiency | None = None

    def __post_init__(self) -> None:
        for value, most, name in (
            (self.tokens, _MAX_DOCUMENT_TOKENS, "--tokens"),
            (self.answer_tokens, _MAX_ANSWER_TOKENS, "--answer-tokens"),
            (self.questions, _MAX_QUESTIONS, "--questions"),
            (self.concurrency, 1_000_000, "--concurrency"),
            (self.max_seconds, MOST_SECONDS, "--max-seconds"),
            (_or_one(self.evidence_layers), len(self.model.shape.layers), "evidence_layers"),
            (_or_one(self.max_context_tokens), _MAX_DOCUMENT_TOKENS, "--max-context-tokens"),
            (self.bank_tokens + 1, 1 << 20, "bank_tokens"),
            (self.bank_questions, 1 << 20, "bank_questions"),
        ):
            if not 1 <= value <= most:
                raise UsageError(f"{name} must lie between 1 and {most:,}, got {value:,}", "correct the number")
        if not 0 < self.utilisation <= 1:
            raise UsageError(f"the utilisation must lie between 0 and 1, got {self.utilisation}", "use 0.9")

    @property
    def efficiency(self) -> Efficiency:
        """Shares of the device's rates under the engine: measured ones (``calibrated``), else from the tables."""
        if self.measured is not None:
            return self.measured
        name = self.engine.name
        return efficiency_of(self.device, "" if name == "tensors" else name)

    @property
    def reserved(self) -> int:
        """Tokens of the window that question, template and answer need."""
        return RESERVED_TOKENS + max(0, self.answer_tokens - USUAL_ANSWER_TOKENS)

    @property
    def room(self) -> int | None:
        """Document tokens that trained window and ``max_context_tokens`` allow; None when the window is unknown."""
        context = self.model.shape.context
        limits = [] if context is None else [context - self.reserved]
        limits += [] if self.max_context_tokens is None else [self.max_context_tokens]
        return min(limits, default=None)

    @property
    def evidence_shape(self) -> ModelShape:
        """The model up to the last evidence layer; what is counted or stored of the whole model is not."""
        shape = self.model.shape
        depth = len(shape.layers) if self.evidence_layers is None else self.evidence_layers
        return replace(shape, layers=shape.layers[:depth], counted=None)

    @property
    def fits_window(self) -> bool:
        """Whether the whole document, a question and an answer fit the trained window."""
        return self.room is None or self.tokens <= self.room


def _or_one(value: int | None) -> int:
    return 1 if value is None else value


def require_window(request: PlanRequest) -> None:
    """Raise ``CapacityError`` when the document exceeds the trained window, one line with the figures."""
    if not request.fits_window:
        raise CapacityError(window_line(request), "read it in windows or by retrieval, or use a longer-window model")


def window_line(request: PlanRequest) -> str:
    """The figures of a document that exceeds the window, or the limit that was asked for."""
    limit, context = request.max_context_tokens, request.model.shape.context
    values = {"tokens": request.tokens, "reserved": request.reserved, "name": request.model.shape.name}
    if limit is not None and request.tokens > limit and (context is None or limit < context - request.reserved):
        return say(request.language, "over_limit", limit=limit, **values)
    return say(request.language, "over_window", window=context or 0, **values)
