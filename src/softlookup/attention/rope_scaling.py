"""How rotary frequencies are stretched beyond the trained length: linear, Llama 3, YaRN; not for rotating anything.

Every scaling turns the plain frequencies f_k = theta^(-2k/R), k = 0..R/2-1, into float64 frequencies of the
same shape, and may multiply the rotated coordinates by ``attention_factor``. Formulas are those of transformers
5.24 (modeling_rope_utils), in float64 where transformers uses float32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from softlookup.errors import UsageError


def plain_frequencies(theta: float, rotary_dim: int) -> torch.Tensor:
    """Radians per position f_k = theta^(-2k/R), float64 [R/2] (Su et al. 2021, arXiv 2104.09864, section 3.2.2)."""
    return theta ** -(torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)


@dataclass(frozen=True, slots=True)
class LinearScaling:
    """Position interpolation (Chen et al. 2023, arXiv 2306.15595): f_k / factor."""

    factor: float

    def __post_init__(self) -> None:
        _check_positive("linear", factor=self.factor)

    @property
    def attention_factor(self) -> float:
        """1: lengths of vectors stay."""
        return 1.0

    def frequencies(self, theta: float, rotary_dim: int) -> torch.Tensor:
        """float64 [R/2]."""
        return plain_frequencies(theta, rotary_dim) / self.factor


@dataclass(frozen=True, slots=True)
class Llama3Scaling:
    """Llama 3.1's rule (meta-llama/llama-models): by wavelength w_k = 2 pi / f_k, with N the trained length.

    ``w < N / high_freq_factor``: unchanged; ``w > N / low_freq_factor``: f / factor; between: (1 - s) f / factor + s f
    with s = (N / w - low) / (high - low).
    """

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_position_embeddings: int

    def __post_init__(self) -> None:
        _check_positive(
            "llama3",
            factor=self.factor,
            low_freq_factor=self.low_freq_factor,
            high_freq_factor=self.high_freq_factor,
            original_max_position_embeddings=self.original_max_position_embeddings,
        )
        if self.high_freq_factor <= self.low_freq_factor:
            raise UsageError(
                f"llama3 scaling needs high_freq_factor above low_freq_factor, got {self.high_freq_factor} "
                f"and {self.low_freq_factor}",
                "check the order of the two",
            )

    @property
    def attention_factor(self) -> float:
        """1: lengths of vectors stay."""
        return 1.0

    def frequencies(self, theta: float, rotary_dim: int) -> torch.Tensor:
        """float64 [R/2]."""
        plain = plain_frequencies(theta, rotary_dim)
        turns = self.original_max_position_embeddings * plain / (2 * math.pi)  # N / w: full turns within N
        share = (turns - self.low_freq_factor) / (self.high_freq_factor - self.low_freq_factor)
        share = share.clamp(0, 1)  # outside the band the same line, cut off, gives the two other cases
        return (1 - share) * plain / self.factor + share * plain


@dataclass(frozen=True, slots=True)
class YarnScaling:
    """YaRN (Peng et al. 2023, arXiv 2309.00071): NTK-by-parts frequencies and a factor on the rotated coordinates.

    Pair k turns N f_k / 2 pi times within the trained length N. Pairs that turn more than ``beta_fast`` times keep
    f_k, those below ``beta_slow`` get f_k / factor, and between them the share falls linearly in k; ``truncate``
    rounds the two ends outward to whole pairs. ``attention_factor`` None means g(factor, 1), or
    g(factor, mscale) / g(factor, mscale_all_dim) where both are given and not 0, with
    g(s, m) = 0.1 m ln s + 1 for s > 1, else 1.
    """

    factor: float
    original_max_position_embeddings: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    given_attention_factor: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True

    def __post_init__(self) -> None:
        _check_positive(
            "yarn",
            factor=self.factor,
            original_max_position_embeddings=self.original_max_position_embeddings,
            beta_fast=self.beta_fast,
            beta_slow=self.beta_slow,
        )
        if self.given_attention_factor is not None:
            _check_positive("yarn", attention_factor=self.given_attention_factor)
        if self.beta_fast < self.beta_slow:
            raise UsageError(
                f"yarn scaling needs beta_fast at or above beta_slow, got {self.beta_fast} and {self.beta_slow}",
                "check the order of the two",
            )

    @property
    def attention_factor(self) -> float:
        """Multiplies cosine and sine, so that q.k of rotated vectors grows by its square."""
        if self.given_attention_factor is not None:
            return self.given_attention_factor
        if self.mscale and self.mscale_all_dim:
            return self._growth(self.mscale) / self._growth(self.mscale_all_dim)
        return self._growth(1.0)

    def frequencies(self, theta: float, rotary_dim: int) -> torch.Tensor:
        """float64 [R/2]."""
        plain = plain_frequencies(theta, rotary_dim)
        low, high = self._pair(self.beta_fast, theta, rotary_dim), self._pair(self.beta_slow, theta, rotary_dim)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        # the upper end is cut at R - 1 though pairs end at R/2 - 1: published models are trained with that
        low, high = max(low, 0), min(high, rotary_dim - 1)
        width = high - low if high != low else 0.001
        pairs = torch.arange(rotary_dim // 2, dtype=torch.float64)
        slowed = ((pairs - low) / width).clamp(0, 1)
        return slowed * plain / self.factor + (1 - slowed) * plain

    def _pair(self, turns: float, theta: float, rotary_dim: int) -> float:
        """The k, a real number, whose pair turns ``turns`` times within N: N f_k = 2 pi turns solved for k."""
        ratio = self.original_max_position_embeddings / (2 * math.pi * turns)
        return rotary_dim * math.log(ratio) / (2 * math.log(theta))

    def _growth(self, mscale: float) -> float:
        return 0.1 * mscale * math.log(self.factor) + 1.0 if self.factor > 1 else 1.0


RopeScaling = LinearScaling | Llama3Scaling | YarnScaling


def _check_positive(kind: str, **values: float) -> None:
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise UsageError(f"{kind} scaling needs a positive {name}, got {value!r}", "check the model's config")
