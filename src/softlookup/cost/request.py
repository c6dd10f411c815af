"""What is to be planned: a length, a model, a device, and how it is asked. Validated here, computed elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field

from softlookup.cost.devices import Device, find_device
from softlookup.cost.efficiency import Efficiency, efficiency_of
from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
from softlookup.cost.model_source import CostModel
from softlookup.cost.shapes import MAX_TOKENS
from softlookup.cost.strategy import RESERVED_TOKENS
from softlookup.errors import CapacityError, UsageError

# the usual answer of `softlookup ask`, which RESERVED_TOKENS includes
USUAL_ANSWER_TOKENS = 80
# a question with the words around it; RESERVED_TOKENS leaves room for a longer one
QUESTION_TOKENS = 64
# half of what caches are sized for: question and answer come on top
_MAX_DOCUMENT_TOKENS = MAX_TOKENS // 2
_MAX_ANSWER_TOKENS = 1 << 20
_MAX_QUESTIONS = 10**9


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """A document of ``tokens``, asked ``questions`` times with answers of ``answer_tokens``.

    ``concurrency``: requests that have to run at once. ``utilisation``: share of the device's memory that may be used.
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
    measured: Efficiency | None = None

    def __post_init__(self) -> None:
        for value, most, name in (
            (self.tokens, _MAX_DOCUMENT_TOKENS, "--tokens"),
            (self.answer_tokens, _MAX_ANSWER_TOKENS, "--answer-tokens"),
            (self.questions, _MAX_QUESTIONS, "--questions"),
            (self.concurrency, 1_000_000, "--concurrency"),
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
        """Document tokens that the trained window holds; None when the window is unknown."""
        context = self.model.shape.context
        return None if context is None else context - self.reserved

    @property
    def fits_window(self) -> bool:
        """Whether the whole document, a question and an answer fit the trained window."""
        return self.room is None or self.tokens <= self.room


def require_window(request: PlanRequest) -> None:
    """Raise ``CapacityError`` when the document exceeds the trained window, one line with the figures."""
    if not request.fits_window:
        raise CapacityError(window_line(request), "read it in windows or by retrieval, or use a longer-window model")


def window_line(request: PlanRequest) -> str:
    """The figures of a document that exceeds the window."""
    context = request.model.shape.context or 0
    return (
        f"{request.tokens:,} tokens beside {request.reserved:,} for question and answer exceed the trained window of "
        f"{context:,} ({request.model.shape.name})"
    )
