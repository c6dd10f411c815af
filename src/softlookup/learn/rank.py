"""Singular values of one head's scores and of its causal weights, for lengths at which [T, T] is not stored.

Scores Q K^T have rank <= D: their singular values are those of a [D, D] matrix. The causal weights have no such form;
they are multiplied by thin blocks [T, k], tile by tile, through :func:`softlookup.attention.attention`, whose value
is the block (a randomised range finder: Halko, Martinsson and Tropp 2011). Not for training or for inference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch

from softlookup.attention import StatsRequest, attention, attention_statistics
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from softlookup.runtime.attention_calls import AttentionCall

# random columns for the fourth powers of the singular values that are not found
_PROBES = 31
_LSE_ALONE = StatsRequest(entropy=False, max_weight=False, argmax=False, sink_mass=None)


@dataclass(frozen=True, slots=True, eq=False)
class LayerInputs:
    """What one layer's attention gets: query and key [H, T, D] after RoPE, value [H, T, D], and the scale.

    Keys and values are repeated for the query heads that share them.
    """

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    scale: float

    def head(self, number: int) -> LayerInputs:
        """The inputs of one head, [1, T, D]."""
        return LayerInputs(self.query[[number]], self.key[[number]], self.value[[number]], self.scale)

    def first(self, rows: int) -> LayerInputs:
        """The first ``rows`` positions: under a causal mask they are what a shorter text would give."""
        return LayerInputs(self.query[:, :rows], self.key[:, :rows], self.value[:, :rows], self.scale)

    def double(self) -> LayerInputs:
        """The same in float64."""
        return LayerInputs(self.query.double(), self.key.double(), self.value.double(), self.scale)


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """The largest singular values [k], descending, of a matrix that has ``size`` of them.

    ``energy``: sum of the squares of all of them, the squared Frobenius norm; ``fourth``: sum of their fourth powers.
    """

    values: torch.Tensor
    size: int
    energy: float
    fourth: float

    @property
    def participation(self) -> float:
        """Participation ratio (sum s^2)^2 / sum s^4, 1 to ``size``: how many equal singular values would do."""
        return self.energy**2 / self.fourth

    def tail(self, rank: int) -> float:
        """Share of the energy outside the ``rank`` largest: what the best approximation of that rank leaves."""
        if rank > len(self.values):
            raise UsageError(f"{len(self.values)} singular values are known, {rank} are asked for", "ask for fewer")
        return max(0.0, 1.0 - float(self.values[:rank].square().sum()) / self.energy)

    def count(self, share: float) -> int | None:
        """How many of the largest hold ``share`` of the energy; None where ``values`` hold less than that."""
        reached = torch.cumsum(self.values.square(), 0) >= share * self.energy * (1.0 - 1e-12)
        return int(reached.nonzero()[0]) + 1 if bool(reached.any()) else None


@dataclass(frozen=True, slots=True, eq=False)
class LowRank:
    """Causal weights A of H heads as ``left`` [H, T, k] @ ``right``^T [H, k, T], best directions first.

    ``left`` = A @ ``right``, and the columns of ``right`` are orthonormal: the first r columns give A_r, which is close
    to the best approximation of rank r. ``alike`` [H]: mean cosine of the angle between two rows of A.
    """

    left: torch.Tensor
    right: torch.Tensor
    spectra: tuple[Spectrum, ...]
    alike: torch.Tensor

    def output(self, value: torch.Tensor, rank: int) -> torch.Tensor:
        """A_r @ value, [H, T, Dv], by two thin products; float32."""
        return self.left[..., :rank] @ (self.right[..., :rank].mT @ value.float())


def spectrum(values: torch.Tensor) -> Spectrum:
    """The spectrum of a matrix of which all singular values [n] that are not zero are known."""
    values = values.double().sort(descending=True).values
    return Spectrum(values, len(values), float(values.square().sum()), float(values.pow(4).sum()))


def entropy_rank(values: torch.Tensor) -> float:
    """Effective rank of Roy and Vetterli (2007): exp of the entropy of s / sum(s), over *all* singular values."""
    share = values.double() / values.double().sum()
    return float(torch.special.entr(share).sum().exp())


def score_spectra(inputs: LayerInputs, *, centred: bool = False) -> tuple[Spectrum, ...]:
    """Spectrum of ``scale`` * Q K^T per head, over all pairs (i, j), those that a causal mask hides included.

    With Q = Q' R and K = K' S (QR) it is that of R S^T [D, D]. ``centred``: the mean key is subtracted first, which
    takes the same number from every score of a row and so changes no weight.
    """
    query, key = inputs.query.double(), inputs.key.double()
    if centred:
        key = key - key.mean(1, keepdim=True)
    small = torch.linalg.qr(query, mode="r").R @ torch.linalg.qr(key, mode="r").R.mT  # [H, D, D]
    return tuple(spectrum(values) for values in torch.linalg.svdvals(small * inputs.scale))


@cache
def low_rank_weights(inputs: LayerInputs, rank: int, *, seed: int = 0) -> LowRank:
    """The ``rank`` largest singular values of causal softmax(scale * Q K^T) per head, and their directions.

    Five products with blocks [T, rank]: A^T A twice, then A. Energy is exact; singular values come from below, the
    last are the least sure; ``fourth`` is exact in expectation. Products in the inputs' dtype, the rest in float64.
    """
    heads, length, _ = inputs.query.shape
    if not 1 <= rank <= length:
        raise UsageError(f"rank must be 1 to T = {length}, got {rank}", "ask for fewer singular values")
    lse, squares = _row_sums(inputs)

    draws = torch.Generator().manual_seed(seed)
    block = torch.randn(heads, length, rank, generator=draws, dtype=torch.float64)
    basis = torch.linalg.qr(_transposed(inputs, lse, _forward(inputs, block))).Q  # W [H, T, rank]
    probes = torch.randn(heads, length, _PROBES, generator=draws, dtype=torch.float64)
    probes -= basis @ (basis.mT @ probes)  # outside W
    unit = squares.rsqrt()[..., None]  # 1 / |row|: A^T of it is the sum of the unit rows
    seen = _forward(inputs, torch.cat((basis, probes), -1))
    back = _transposed(inputs, lse, torch.cat((seen, unit), -1))  # A^T A [W, G], and that sum
    # |A^T A|^2 = |A^T A W|^2 + |A^T A (I - W W^T)|^2, the latter as the mean over random columns (Hutchinson)
    fourths = back[..., :rank].square().sum((-2, -1)) + back[..., rank:-1].square().sum((-2, -1)) / _PROBES
    basis = torch.linalg.qr(back[..., :rank]).Q
    left, values, right = torch.linalg.svd(_forward(inputs, basis), full_matrices=False)
    spectra = tuple(
        Spectrum(own, length, energy, fourth)
        for own, energy, fourth in zip(values, squares.sum(-1).tolist(), fourths.tolist(), strict=True)
    )
    alike = (back[..., -1] / length).square().sum(-1)
    return LowRank((left * values[:, None]).float(), (basis @ right.mT).float(), spectra, alike)


def output_errors(inputs: LayerInputs, approximation: LowRank, ranks: Sequence[int]) -> torch.Tensor:
    """|A_r V - A V| / |A V| (Frobenius) for every r of ``ranks`` and every head: [ranks, H]."""
    return _relative(inputs, [approximation.output(inputs.value, rank) for rank in ranks])


def window_errors(inputs: LayerInputs, windows: Sequence[int]) -> torch.Tensor:
    """The same error of attention to the W latest positions, for every W of ``windows``: [windows, H].

    At T >> W its products cost what those of rank W do.
    """
    tensors = (inputs.query[None], inputs.key[None], inputs.value[None])

    def near(window: int) -> torch.Tensor:
        return attention(*tensors, causal=True, sliding_window=window, scale=inputs.scale).output[0]

    return _relative(inputs, [near(window) for window in windows])


@cache
def layer_inputs(text: str, tokens: int, layers: tuple[int, ...]) -> Mapping[int, LayerInputs]:
    """Attention inputs of some layers of the embedded model, reading the first ``tokens`` tokens of ``text``.

    The later layers are not run. Raises ``UsageError`` for a text that is shorter, ``ModelError`` without a model.
    """
    from softlookup.runtime.attention_calls import observe_calls
    from softlookup.runtime.load import load_model
    from softlookup.runtime.prefilled import StopForward

    loaded = load_model()
    ids = loaded.tokenizer(text, return_tensors="pt").input_ids[:, :tokens]
    if ids.shape[1] < tokens:
        raise UsageError(f"the text has {ids.shape[1]} tokens, {tokens} are asked for", "give a longer text")
    found: dict[int, LayerInputs] = {}

    def keep(call: AttentionCall) -> None:
        if call.layer in layers and call.value is not None:
            group = call.query.shape[0] // call.key.shape[0]
            key, value = (tensor.repeat_interleave(group, 0) for tensor in (call.key, call.value))
            found[call.layer] = LayerInputs(call.query.clone(), key, value, call.scale)
        if call.layer >= max(layers):
            raise StopForward

    try:
        with torch.inference_mode(), observe_calls(loaded.model, keep):
            loaded.model(ids, logits_to_keep=1)
    except StopForward:
        pass
    return found


def _relative(inputs: LayerInputs, outputs: Sequence[torch.Tensor]) -> torch.Tensor:
    exact = _forward(inputs, inputs.value)
    return torch.stack([(output - exact).norm(dim=(-2, -1)) / exact.norm(dim=(-2, -1)) for output in outputs])


def _forward(inputs: LayerInputs, block: torch.Tensor) -> torch.Tensor:
    """A @ block for every head, [H, T, k] in float64."""
    block = block.to(inputs.query.dtype)
    result = attention(inputs.query[None], inputs.key[None], block[None], causal=True, scale=inputs.scale)
    return result.output[0].double()


def _transposed(inputs: LayerInputs, lse: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
    """A^T @ block, [H, T, k] in float64, by attention whose queries are the keys.

    a_ij = exp(s_ij - lse_i): one more dimension carries -lse_i. Read backwards, key j sees the queries i >= j as a
    causal mask shows them. attention() divides column j by its sum, which its own lse gives back.
    """
    dtype = inputs.query.dtype
    ones = inputs.key.new_ones(*inputs.key.shape[:2], 1)
    query = torch.cat((inputs.key * inputs.scale, ones), -1).flip(1)
    key = torch.cat((inputs.query, -lse[..., None].to(dtype)), -1).flip(1)
    value = block.to(dtype).flip(1)
    result = attention(query[None], key[None], value[None], causal=True, scale=1.0, stats=_LSE_ALONE)
    if result.stats is None or result.stats.lse is None:
        raise AssertionError("asked for")
    return (result.output[0].double() * result.stats.lse[0].double().exp()[..., None]).flip(1)


def _row_sums(inputs: LayerInputs) -> tuple[torch.Tensor, torch.Tensor]:
    """For every row its lse and the sum of its squared weights, each [H, T] in float64.

    sum a^2 = exp(lse of the doubled scores - 2 lse).
    """
    found = []
    for factor in (1.0, 2.0):
        stats = attention_statistics(
            inputs.query[None], inputs.key[None], stats=_LSE_ALONE, causal=True, scale=factor * inputs.scale
        )
        if stats.lse is None:
            raise AssertionError("asked for")
        found.append(stats.lse[0].double())
    return found[0], torch.exp(found[1] - 2.0 * found[0])
