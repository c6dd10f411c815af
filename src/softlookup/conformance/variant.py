"""A variant: one exact description of an attention function, right or wrong; what :mod:`oracle` computes.

Every hypothesis about a bug is a variant, so that naming one means to rebuild its numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from softlookup.conformance.rope_variants import Rotation

if TYPE_CHECKING:
    from softlookup.conformance.contract import Contract


# a rule by name, or (H, Hkv, kv head of every query head) as it was measured
HeadMap = str | tuple[tuple[int, int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """Switches of the computation; the defaults are right. Strings name the alternatives where they are used."""

    # who sees whom
    align: str = "bottom_right"
    causal: str = "lower"  # lower | upper | off
    causal_shift: int = 0  # keys beyond (+) or short of (-) the diagonal
    causal_off_when: str = ""
    causal_unasked: str = ""  # always | rect
    mask: str = "and"  # and | off | invert | or
    mask_off_when: str = ""
    mask_source: str = ""  # batch0 | head0 | row0 | transposed
    window: str = "on"  # on | off | blockwise | complement
    window_shift: int = 0
    window_future: str = "closed"  # closed | open
    window_align: str = "bottom_right"
    window_off_when: str = ""
    segments: str = "equal"  # equal | off | earlier | shift
    segments_shift: int = 0
    kv_len: str = "on"  # on | off | row0 | max
    kv_len_shift: int = 0
    # hiding
    hide: str = "before"  # before | after
    fill: str = ""  # add | fill
    fill_value: float = 0.0
    dead_row: str = "zero"  # zero | uniform | nan | any
    masked_nan: str = "irrelevant"
    # scores
    scale: str = "default"
    scale_factor: float = 1.0
    scale_given: str = "replace"  # replace | ignore | times_default | inverse | square
    scale_after: bool = False
    bias: str = "one"  # one | scale | off | negative | double | multiply | after
    bias_source: str = ""
    softcap: str = "on"
    softcap_value: float = 0.0
    alibi: str = "paper"
    alibi_slopes: tuple[tuple[int, tuple[float, ...]], ...] = ()  # (H, slopes) as measured
    # softmax
    axis: str = "key"  # key | query | head | batch
    empty_axis: float = 0.0  # weights where nothing is visible along a wrong axis
    softmax: str = "safe"
    eps: float = 0.0
    sinks: str = "on"
    tile: str = ""
    block: int = 0
    merge: str = ""
    split: str = ""
    # heads and batch
    key_map: HeadMap = "interleave"
    value_map: HeadMap = "interleave"
    layout: str = ""
    # turned by the function itself
    rotary: Rotation | None = None
    rotary_use: str = ""  # raw_past | restart | new:+1 ...
    rows: str = ""  # key_row0 | reversed ...

    def but(self, **changes: Any) -> Variant:
        """The same with some switches changed."""
        return replace(self, **changes)


def right_variant(contract: Contract) -> Variant:
    """The function that the contract describes."""
    align = contract.causal_align if contract.causal_align != "unspecified" else "bottom_right"
    return Variant(
        align=align,
        window_align=align,
        window_future="closed" if contract.window_closed else "open",
        dead_row=contract.dead_row if contract.dead_row != "unspecified" else "any",
        masked_nan=contract.masked_nan,
    )
