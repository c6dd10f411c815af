"""Rotary position embedding on plain tensors: rotate, rotate back, move to another position; knows no model.

Pair k of the first R = ``rotary_dim`` coordinates turns by position x f_k; the other coordinates pass through.
Angles are float64, since a position of 15 962 rounds to 15 968 in bfloat16 and float32 angles of positions near
1e6 are off by about 0.1 radian.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import torch

from softlookup.attention.inputs import DTYPES
from softlookup.attention.rope_config import INTERLEAVED_MODELS, rotary_arguments
from softlookup.attention.rope_scaling import RopeScaling, plain_frequencies
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

Pairing = Literal["half", "interleaved"]

_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8)


@dataclass(frozen=True, slots=True)
class RotaryEmbedding:
    """Rotation of queries and keys by their positions.

    ``pairing`` says which coordinates form pair k: "half" (k, k + R/2) as in Llama and most of Hugging Face,
    "interleaved" (2k, 2k + 1) as in GPT-J, GLM and Cohere; the same weights with the other one give a wrong model.
    ``rotary_dim`` R, even, default ``head_dim`` D. ``scaling`` None: f_k = ``theta``^(-2k/R).
    Raises ``UsageError`` for values that do not fit.
    """

    head_dim: int
    theta: float = 10000.0
    pairing: Pairing = "half"
    rotary_dim: int | None = None
    scaling: RopeScaling | None = None

    def __post_init__(self) -> None:
        if self.pairing not in get_args(Pairing):
            raise UsageError(f'pairing must be "half" or "interleaved", got {self.pairing!r}', "see the model's code")
        if not _is_count(self.head_dim):
            raise UsageError(f"head_dim must be a positive int, got {self.head_dim!r}", "check the model's config")
        if not _is_count(self.rotated) or self.rotated % 2 or self.rotated > self.head_dim:
            raise UsageError(
                f"rotary_dim must be even and at most head_dim {self.head_dim}, got {self.rotated!r}",
                "check partial_rotary_factor",
            )
        if isinstance(self.theta, bool) or not isinstance(self.theta, int | float) or not 1 < self.theta < math.inf:
            raise UsageError(f"theta must be a number above 1, got {self.theta!r}", "10000 is the usual one")

    @classmethod
    def from_config(
        cls, config: Mapping[str, Any], *, pairing: Pairing | None = None, layer_type: str | None = None
    ) -> RotaryEmbedding:
        """From the entries of a Hugging Face config: head_dim, rope_theta, rope_parameters or rope_scaling, ...

        A config does not say the ``pairing``: by default it is "interleaved" for the few model types listed in
        ``rope_config.INTERLEAVED_MODELS`` and "half" for all others. ``layer_type`` is needed where parameters
        differ by layer (Gemma 3: "full_attention", "sliding_attention").
        Raises ``UsageError`` naming a rope type or parameter that is not offered.
        """
        if pairing is None:
            pairing = "interleaved" if config.get("model_type") in INTERLEAVED_MODELS else "half"
        return cls(pairing=pairing, **rotary_arguments(config, layer_type))

    @property
    def rotated(self) -> int:
        """R, the number of coordinates that are rotated."""
        return self.head_dim if self.rotary_dim is None else self.rotary_dim

    @property
    def frequencies(self) -> torch.Tensor:
        """Radians per position of every pair, float64 [R/2] on the CPU."""
        if self.scaling is None:
            return plain_frequencies(self.theta, self.rotated)
        return self.scaling.frequencies(self.theta, self.rotated)

    @property
    def attention_factor(self) -> float:
        """What the rotated coordinates are multiplied by; 1 but for YaRN."""
        return 1.0 if self.scaling is None else self.scaling.attention_factor

    def apply(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Rotate x [B, H, T, D] by integer ``positions`` [T] or [B, T]; the result has x's dtype and is new.

        float16 and bfloat16 are computed in float32 and rounded once. Raises ``UsageError``.
        """
        return self._turn(x, positions, 1, self.attention_factor)

    def invert(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Undo :meth:`apply`: rotate back and divide by ``attention_factor``. Arguments as there."""
        return self._turn(x, positions, -1, 1 / self.attention_factor)

    def rebase(self, x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """Move x, rotated for positions p, to p + ``shift``: integers [T] or [B, T] of any sign.

        One rotation, hence one rounding; ``attention_factor`` is in x already.
        """
        return self._turn(x, shift, 1, 1.0)

    def _turn(self, x: torch.Tensor, positions: torch.Tensor, direction: int, factor: float) -> torch.Tensor:
        self._check(x, positions)
        compute = torch.float64 if x.dtype == torch.float64 else torch.float32
        angles = positions.to(torch.float64)[..., None] * self.frequencies.to(x.device)  # [T or B, T, R/2]
        angles = angles[None, None] if positions.dim() == 1 else angles[:, None]  # [1 or B, 1, T, R/2]
        cos = (factor * angles.cos()).to(compute)
        sin = (factor * direction * angles.sin()).to(compute)
        first, second = self._pairs(x)
        first, second = first.to(compute), second.to(compute)
        result = x.clone(memory_format=torch.contiguous_format)
        to_first, to_second = self._pairs(result)
        to_first.copy_(first * cos - second * sin)
        to_second.copy_(second * cos + first * sin)
        return result

    def _pairs(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Views [B, H, T, R/2] of the first and the second coordinate of every pair."""
        rotated = self.rotated
        if self.pairing == "interleaved":
            return x[..., 0:rotated:2], x[..., 1:rotated:2]
        return x[..., : rotated // 2], x[..., rotated // 2 : rotated]

    def _check(self, x: torch.Tensor, positions: torch.Tensor) -> None:
        if not isinstance(x, torch.Tensor) or x.dim() != 4 or x.dtype not in DTYPES or x.shape[3] != self.head_dim:
            raise UsageError(
                f"x must be a float tensor [B, H, T, {self.head_dim}], got {_came(x)}",
                "check the order of the dimensions",
            )
        if not isinstance(positions, torch.Tensor) or positions.dtype not in _INTEGERS:
            raise UsageError(
                f"positions must be an integer tensor, got {_came(positions)}",
                "floats of low precision cannot hold large positions",
            )
        fits = positions.shape == x.shape[2:3] or positions.shape in ((x.shape[0], x.shape[2]), (1, x.shape[2]))
        if not fits or positions.device != x.device:
            raise UsageError(
                f"positions must be [T] = [{x.shape[2]}] or [B, T] = [{x.shape[0]}, {x.shape[2]}] on {x.device}, "
                f"got {_came(positions)} on {positions.device}",
                "give every row its position",
            )


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _came(value: object) -> str:
    return f"{value.dtype} {list(value.shape)}" if isinstance(value, torch.Tensor) else type(value).__name__
