"""What a decoder must offer to be checked, in numpy terms: the interface between `conformance` and `runtime`.

Nothing here runs a model: `softlookup.runtime.checked_decoder` wraps those of transformers. Needs no torch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from numpy.typing import NDArray

Array = NDArray[Any]

# keys and values of one layer, [B, Hkv, S, D] each, S slots in the order in which they are kept
Slots = tuple[Array, Array]


@dataclass(frozen=True)
class Abilities:
    """What the decoder promises or offers; what it does not is skipped, and said.

    ``caches``: kinds that ``new_cache`` takes: "growing", "static" (room is fixed), "quantised" (int8, growing),
    "rollback" (growing, and every token can be taken back).
    ``windows``: keys that each layer sees, its own included; None = all.
    ``rotary``: scores depend on the difference of positions alone, so that a common shift changes nothing.
    ``packed``: documents in one row; where that is unspecified a leak between them is told, and is no finding.
    ``rope``: config.json entries of layer 0's rotation; empty where it has none, or none that is known.
    ``scale``: what the configuration multiplies scores by; None = it does not say. ``reserved``: tokens not to be used.
    """

    vocabulary: int
    windows: tuple[int | None, ...]
    dtype: str = "float32"
    caches: tuple[str, ...] = ("growing",)
    rotary: bool = False
    rope: Mapping[str, Any] | None = None
    scale: float | None = None
    positions: bool = True
    padding: bool = True
    packed: Literal["promised", "unspecified", "not offered"] = "not offered"
    crop: bool = True
    reorder: bool = True
    slots: bool = True
    reserved: frozenset[int] = frozenset()

    @property
    def reach(self) -> int | None:
        """How far back a row can see through all layers together; None = to the start."""
        seen = [window for window in self.windows if window is not None]
        return sum(window - 1 for window in seen) if len(seen) == len(self.windows) else None


class Decoder(Protocol):
    """A causal decoder. An exception of any method is an observation, not an error of the check."""

    @property
    def abilities(self) -> Abilities:
        """Sizes and promises."""

    def new_cache(self, kind: str, length: int) -> Any:
        """An empty cache; ``length`` is the room of a static one."""

    def forward(
        self,
        tokens: Array,
        *,
        cache: Any = None,
        positions: Array | None = None,
        padding: Array | None = None,
        documents: Array | None = None,
    ) -> Array:
        """Logits [B, T, V] of tokens [B, T], which continue ``cache`` and are added to it.

        ``positions`` [B, T] are those of the tokens; None leaves them to the decoder. ``padding`` bool
        [B, cached + T], True = a token. ``documents`` integers [B, T]: packed, each sees its own alone.
        """

    def crop(self, cache: Any, length: int) -> None:
        """Keep the first ``length`` tokens."""

    def reorder(self, cache: Any, rows: Array) -> None:
        """Row b of the batch becomes what row ``rows[b]`` was."""

    def slots(self, cache: Any) -> list[Slots]:
        """What every layer's cache holds, filled slots only."""


@dataclass(frozen=True, slots=True, eq=False)
class Captured:
    """One attention call of one layer as its kernel got it, batch entry 0, numpy float64.

    query [H, Tq, D], key [Hkv, Tk, D], value [Hkv, Tk, Dv] after rotation, output [H, Tq, Dv]; ``visible`` bool
    [Tq, Tk], None = every key; ``scale`` and ``softcap`` as handed to the kernel; ``window`` as the layer's
    configuration says; ``sinks`` [H]. Query row i is token ``q_offset`` + i of the sequence, key j ``kv_offset`` + j.
    """

    layer: int
    query: Array
    key: Array
    value: Array
    output: Array
    visible: Array | None
    scale: float
    softcap: float | None = None
    window: int | None = None
    sinks: Array | None = None
    q_offset: int = 0
    kv_offset: int = 0


# a context manager around a forward pass; the list fills with its calls
Capture = Callable[[Any], AbstractContextManager[list[Captured]]]
