"""Rotation against complex numbers and against transformers' own modules, and mutants that must be caught."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from softlookup.attention import RotaryEmbedding, rope
from softlookup.attention.rope_scaling import LinearScaling, Llama3Scaling, YarnScaling
from softlookup.errors import UsageError

FAR = torch.tensor([0, 1, 2, 257, 4095, 15962, 60000, 999_999])
LLAMA3 = Llama3Scaling(8.0, 1.0, 4.0, 8192)
YARN = YarnScaling(4.0, 4096)
EMBEDDINGS = {
    "half": RotaryEmbedding(12),
    "interleaved": RotaryEmbedding(12, pairing="interleaved", theta=500_000.0),
    "partial": RotaryEmbedding(20, rotary_dim=8),
    "partial interleaved": RotaryEmbedding(20, rotary_dim=8, pairing="interleaved"),
    "linear": RotaryEmbedding(16, scaling=LinearScaling(2.5)),
    "llama3": RotaryEmbedding(64, theta=500_000.0, scaling=LLAMA3),
    "yarn": RotaryEmbedding(32, theta=1e6, scaling=YARN),
}


def exact_angles(embedding, positions):
    """[..., T, R/2] in the platform's widest floats, reduced to one turn; scalings have tests of their own."""
    size = embedding.rotated
    if embedding.scaling is None:
        frequencies = np.longdouble(embedding.theta) ** (-np.arange(0, size, 2, dtype=np.longdouble) / size)
    else:
        frequencies = embedding.frequencies.numpy().astype(np.longdouble)
    angles = positions.numpy().astype(np.longdouble)[..., None] * frequencies
    turn = 2 * np.arctan2(np.longdouble(0), np.longdouble(-1))
    return torch.from_numpy(np.remainder(angles, turn).astype(np.float64))


def exact_rotation(embedding, x, positions):
    """Pair k as one complex number times exp(i angle)."""
    angles = exact_angles(embedding, positions)
    angles = angles[None, None] if positions.dim() == 1 else angles[:, None]
    size, result = embedding.rotated, x.double().clone()
    if embedding.pairing == "half":
        first, second = range(size // 2), range(size // 2, size)
    else:
        first, second = range(0, size, 2), range(1, size, 2)
    pairs = torch.complex(result[..., list(first)], result[..., list(second)])
    turned = pairs * torch.polar(torch.full_like(angles, embedding.attention_factor), angles)
    result[..., list(first)], result[..., list(second)] = turned.real, turned.imag
    return result


def rounding(x, dtype, factor=1.0, positions=FAR):
    """Bound per call: cos and sin, two products and a sum in the compute dtype; the result rounded to ``dtype``;
    angles are float64 products of positions of up to 1e6."""
    compute = torch.float64 if dtype == torch.float64 else torch.float32
    largest = 2 * factor * float(x.double().abs().max())
    # frequency, product, position: three roundings of an angle
    angle = 3 * float(positions.abs().max()) * torch.finfo(torch.float64).eps
    last = torch.finfo(dtype).eps if dtype in (torch.float16, torch.bfloat16) else 0.0
    return largest * (3 * torch.finfo(compute).eps + angle + last)


def check_rotation(embedding: RotaryEmbedding, generator, dtype=torch.float32, rotate: Callable | None = None) -> None:
    x = torch.randn(2, 3, len(FAR), embedding.head_dim, generator=generator).to(dtype)
    before = x.clone()
    got = (rotate or RotaryEmbedding.apply)(embedding, x, FAR)
    want = exact_rotation(embedding, x, FAR)
    assert got.dtype == dtype
    assert torch.equal(x, before), "the input was changed"
    difference = float((got.double() - want).abs().max())
    assert difference <= rounding(x, dtype, embedding.attention_factor), f"off by {difference}"


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("name", EMBEDDINGS)
def test_rotation_equals_complex_multiplication(name, dtype, generator):
    check_rotation(EMBEDDINGS[name], generator, dtype)


def test_unit_vectors_show_pairing_direction_and_angle():
    """Position 1: cosine on the diagonal, +sine from the first to the second coordinate of each pair."""
    ones = torch.eye(4, dtype=torch.float64)[None, None]  # T = 4 rows, all at position 1
    cos, sin = math.cos(1.0), math.sin(1.0)
    slow = 10000.0**-0.5
    half = RotaryEmbedding(4).apply(ones, torch.ones(4, dtype=torch.int64))[0, 0]
    assert half[0].tolist() == pytest.approx([cos, 0, sin, 0])
    assert half[1].tolist() == pytest.approx([0, math.cos(slow), 0, math.sin(slow)])
    assert half[2].tolist() == pytest.approx([-sin, 0, cos, 0])
    neighbours = RotaryEmbedding(4, pairing="interleaved").apply(ones, torch.ones(4, dtype=torch.int64))[0, 0]
    assert neighbours[0].tolist() == pytest.approx([cos, sin, 0, 0])
    assert neighbours[3].tolist() == pytest.approx([0, 0, -math.sin(slow), math.cos(slow)])


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_scores_depend_on_the_distance_alone(name, generator):
    embedding = EMBEDDINGS[name]
    query, key = (torch.randn(1, 1, 1, embedding.head_dim, generator=generator, dtype=torch.float64) for _ in range(2))

    def score(q_position, k_position):
        at = [torch.tensor([position]) for position in (q_position, k_position)]
        return float((embedding.apply(query, at[0]) * embedding.apply(key, at[1])).sum())

    scale = float(query.norm() * key.norm()) * embedding.attention_factor**2
    bound = scale * (10 * embedding.head_dim + 12 * 60_000) * torch.finfo(torch.float64).eps
    for start in (3, 911, 59_000):
        assert abs(score(start + 17, start) - score(17, 0)) <= bound
    assert abs(score(17, 0) - score(16, 0)) > 1e3 * bound  # and does depend on it


@pytest.mark.parametrize("name", EMBEDDINGS)
def test_inverse_and_rebase(name, generator):
    embedding = EMBEDDINGS[name]
    x = torch.randn(2, 2, len(FAR), embedding.head_dim, generator=generator, dtype=torch.float64)
    bound = 3 * rounding(x, torch.float64, max(1.0, embedding.attention_factor))
    rotated = embedding.apply(x, FAR)
    assert float((embedding.invert(rotated, FAR) - x).abs().max()) <= bound
    shift = torch.tensor([5, -1, 700, -257, 0, 3, -60_000, 1])
    moved = embedding.rebase(rotated, shift)
    assert float((moved - embedding.apply(x, FAR + shift)).abs().max()) <= bound


def test_positions_of_every_row_and_of_all(generator):
    embedding = RotaryEmbedding(8)
    x = torch.randn(2, 3, 5, 8, generator=generator)
    rows = torch.tensor([[0, 1, 2, 3, 4], [9, 9, 10, 40, 41]])
    got = embedding.apply(x, rows)
    for batch in range(2):
        assert torch.equal(got[batch], embedding.apply(x[batch : batch + 1], rows[batch])[0])
    assert torch.equal(embedding.apply(x, rows[:1]), embedding.apply(x, rows[0]))
    assert torch.equal(embedding.apply(x, rows.to(torch.int32)), got)
    assert embedding.apply(x[:, :, :0], rows[0, :0]).shape == (2, 3, 0, 8)


def test_a_strided_view_gives_the_same_and_the_result_is_contiguous(generator):
    embedding = RotaryEmbedding(8)
    x = torch.randn(2, 5, 3, 8, generator=generator).transpose(1, 2)
    got = embedding.apply(x, torch.arange(5))
    assert torch.equal(got, embedding.apply(x.contiguous(), torch.arange(5)))
    assert got.is_contiguous()


def test_coordinates_beyond_rotary_dim_pass_through(generator):
    embedding = EMBEDDINGS["partial"]
    x = torch.randn(1, 2, len(FAR), 20, generator=generator)
    got = embedding.apply(x, FAR)
    assert torch.equal(got[..., 8:], x[..., 8:])
    assert not torch.equal(got[..., :8], x[..., :8])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"head_dim": 0}, "head_dim must be a positive int"),
        ({"head_dim": 8, "rotary_dim": 3}, "rotary_dim must be even and at most head_dim 8, got 3"),
        ({"head_dim": 8, "rotary_dim": 10}, "at most head_dim 8, got 10"),
        ({"head_dim": 7}, "must be even"),
        ({"head_dim": 8, "pairing": "neox"}, "got 'neox'"),
        ({"head_dim": 8, "theta": 1.0}, "theta must be a number above 1"),
        ({"head_dim": 8, "theta": float("nan")}, "theta must be a number above 1"),
    ],
)
def test_wrong_embeddings_are_refused(arguments, message):
    with pytest.raises(UsageError, match=message):
        RotaryEmbedding(**arguments)


@pytest.mark.parametrize(
    ("x", "positions", "message"),
    [
        (torch.zeros(1, 2, 3, 6), torch.arange(3), r"\[B, H, T, 8\], got torch.float32 \[1, 2, 3, 6\]"),
        (torch.zeros(2, 3, 8), torch.arange(3), "x must be a float tensor"),
        (torch.zeros(1, 2, 3, 8, dtype=torch.int64), torch.arange(3), "x must be a float tensor"),
        (torch.zeros(1, 2, 3, 8), torch.arange(3).float(), "positions must be an integer tensor, got torch.float32"),
        (torch.zeros(1, 2, 3, 8), [0, 1, 2], "got list"),
        (torch.zeros(1, 2, 3, 8), torch.arange(4), r"\[T\] = \[3\]"),
        (torch.zeros(2, 2, 3, 8), torch.zeros(3, 2, dtype=torch.int64), r"\[B, T\] = \[2, 3\]"),
    ],
)
def test_wrong_arguments_are_refused(x, positions, message):
    with pytest.raises(UsageError, match=message):
        RotaryEmbedding(8).apply(x, positions)


# --- planted faults


def wrong_pairing(embedding, x, positions):
    other = "half" if embedding.pairing == "interleaved" else "interleaved"
    return replace(embedding, pairing=other).apply(x, positions)


def wrong_direction(embedding, x, positions):
    return embedding.apply(x, -positions)


def wrong_theta(embedding, x, positions):
    return replace(embedding, theta=embedding.theta * 1.001).apply(x, positions)


def scaling_ignored(embedding, x, positions):
    return replace(embedding, scaling=None).apply(x, positions)


def factor_ignored(embedding, x, positions):
    scaling = replace(embedding.scaling, given_attention_factor=1.0)
    return replace(embedding, scaling=scaling).apply(x, positions)


def all_dimensions(embedding, x, positions):
    return replace(embedding, rotary_dim=None).apply(x, positions)


def angles_rounded_to(dtype):
    def rotate(embedding, x, positions):
        """The angle as a product of ``dtype`` numbers, as a model run in that dtype may do."""
        angles = (positions.to(dtype)[:, None] * embedding.frequencies.to(dtype)).double()
        size = embedding.rotated
        result = x.double().clone()
        first, second = x.double()[..., : size // 2], x.double()[..., size // 2 : size]
        result[..., : size // 2] = first * angles.cos() - second * angles.sin()
        result[..., size // 2 : size] = second * angles.cos() + first * angles.sin()
        return result.to(x.dtype)

    return rotate


MUTANTS = {
    "pairing": ("half", wrong_pairing),
    "pairing of neighbours": ("interleaved", wrong_pairing),
    "direction": ("half", wrong_direction),
    "theta": ("half", wrong_theta),
    "theta of a scaled one": ("llama3", wrong_theta),
    "linear ignored": ("linear", scaling_ignored),
    "llama3 ignored": ("llama3", scaling_ignored),
    "yarn ignored": ("yarn", scaling_ignored),
    "yarn factor ignored": ("yarn", factor_ignored),
    "partial ignored": ("partial", all_dimensions),
    "bf16 angles": ("half", angles_rounded_to(torch.bfloat16)),
    "fp32 angles": ("half", angles_rounded_to(torch.float32)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_rotation_is_caught(name, generator):
    kind, mutant = MUTANTS[name]
    with pytest.raises(AssertionError, match="off by"):
        check_rotation(EMBEDDINGS[kind], generator, rotate=mutant)


def test_bf16_angles_are_caught_on_bf16_vectors(generator):
    with pytest.raises(AssertionError, match="off by"):
        check_rotation(EMBEDDINGS["half"], generator, torch.bfloat16, angles_rounded_to(torch.bfloat16))


def test_a_wrong_inverse_is_caught(generator, monkeypatch):
    monkeypatch.setattr(rope.RotaryEmbedding, "invert", rope.RotaryEmbedding.apply)
    with pytest.raises(AssertionError):
        test_inverse_and_rebase("half", generator)
