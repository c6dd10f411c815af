"""Compact weights are found for what they are, keep every number, and are refused where they would not."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

from softlookup.kernels.matvec import PanelFormat
from softlookup.kernels.tasks import TaskTeam, phase_of
from softlookup.runtime import compact_weights as module
from softlookup.runtime.compact_weights import GRID_TOLERANCE, compact_weight, compact_weights
from softlookup.runtime.load import load_model

ROWS, INPUTS = 40, 64


def per_group(generator, group, *, half=True, whole=None):
    """One number for each group of a row, repeated: float16 unless ``half`` is False; times 1..``whole``."""
    numbers = torch.rand(ROWS, INPUTS // group, generator=generator) + 0.01
    numbers = numbers.half().float() if half else numbers
    if whole is not None:
        numbers = numbers * torch.randint(1, whole, numbers.shape, generator=generator)
    return numbers.repeat_interleave(group, 1)


def codes(generator, levels):
    return torch.randint(0, levels, (ROWS, INPUTS), generator=generator).float()


# the kinds of quantisation of GGUF files as they are dequantised (llama.cpp, ggml-quants.c), what is found,
# and whether every weight is the same bit for bit
def q4_0(g):
    return (codes(g, 16) - 8) * per_group(g, 32)


def q4_1(g):
    return codes(g, 16) * per_group(g, 32) - per_group(g, 32)


def q5_0(g):
    return (codes(g, 32) - 16) * per_group(g, 32)


def q5_1(g):
    return codes(g, 32) * per_group(g, 32) - per_group(g, 32)


def q8_0(g):
    return (codes(g, 255) - 127) * per_group(g, 32)


def q2_k(g):
    return codes(g, 4) * per_group(g, 16, whole=16) - per_group(g, 16, whole=16)


def q3_k(g):
    return (codes(g, 8) - 4) * per_group(g, 16, whole=32)


def q4_k(g):
    return codes(g, 16) * per_group(g, 32, whole=64) - per_group(g, 32, whole=64)


def q6_k(g):
    return (codes(g, 64) - 32) * per_group(g, 16, whole=128)


QUANTISED = {
    q4_0: (4, 32), q4_1: (4, 32), q5_0: (8, 32), q5_1: (8, 32), q8_0: (8, 32),
    q2_k: (4, 16), q3_k: (4, 16), q4_k: (4, 32), q6_k: (8, 16),
}  # fmt: skip


def restored(compact):
    """The weights [N, K] that the panels stand for: each by a product with a unit vector, which has no sum."""
    columns = []
    with TaskTeam(1) as team:
        for column in range(compact.inputs):
            x, y = torch.zeros(compact.inputs), torch.empty(compact.rows)
            x[column] = 1
            tasks = compact.tasks(x.data_ptr(), y.data_ptr())
            team.run(np.array([phase_of(tasks)], dtype=np.int64))
            columns.append(y)
    return torch.stack(columns, 1)


def pack(weight, known=None):
    with TaskTeam(2) as team:
        return compact_weight(weight, team, known)


def check_kept(weight, compact):
    again = restored(compact)
    if compact.identical:
        assert torch.equal(again, weight), "a weight has changed"
    group = compact.form.group
    largest = weight.view(ROWS, -1, group).abs().amax(-1).repeat_interleave(group, 1)
    error = (again.double() - weight.double()).abs()
    assert (error <= GRID_TOLERANCE * largest).all(), "a weight has moved"


@pytest.mark.parametrize("kind", QUANTISED, ids=lambda kind: kind.__name__)
def test_dequantised_weights_are_packed_and_kept(kind, generator):
    weight = kind(generator)
    compact = pack(weight)
    assert (compact.form.bits, compact.form.group) == QUANTISED[kind]
    assert compact.nbytes < weight.numel() * 4 * (0.6 if compact.form.bits == 8 else 0.4)
    check_kept(weight, compact)


@pytest.mark.parametrize("kind", [q4_0, q8_0, q3_k], ids=lambda kind: kind.__name__)
def test_grids_of_one_exact_step_are_identical(kind, generator):
    """scale x code is exact in float32 here, so that nothing is left to rounding."""
    assert pack(kind(generator)).identical


def test_a_negative_step_is_found(generator):
    weight = -q4_0(generator)
    compact = pack(weight)
    assert compact.form.bits == 4
    check_kept(weight, compact)


@pytest.mark.parametrize("rows", [1, 16, 23])
def test_rows_that_fill_no_panel(rows, generator):
    weight = q4_1(generator)[:rows].contiguous()
    assert torch.equal(restored(pack(weight)).half(), weight.half())


def test_bfloat16_weights_take_half(generator):
    weight = torch.randn(ROWS, INPUTS, generator=generator).bfloat16().float()
    compact = pack(weight)
    assert compact.form == PanelFormat(16, 16)
    assert compact.identical
    assert torch.equal(restored(compact), weight)


@pytest.mark.parametrize("inputs", [INPUTS, 37])
def test_other_weights_stay_as_they_are(inputs, generator):
    weight = torch.randn(ROWS, inputs, generator=generator)
    compact = pack(weight)
    assert compact.form is None
    assert compact.data.data_ptr() == weight.data_ptr()
    x, y = torch.randn(inputs, generator=generator), torch.empty(ROWS)
    with TaskTeam(2) as team:
        team.run(np.array([phase_of(compact.tasks(x.data_ptr(), y.data_ptr()))], dtype=np.int64))
    size = weight.double().abs() @ x.double().abs()
    assert ((y - weight.double() @ x.double()).abs() <= inputs * 2.0**-24 * size).all()


@pytest.mark.parametrize("units", [16.0, -16.0, float("nan")])
def test_one_weight_off_the_grid_is_refused(units, generator):
    """Planted fault: 16 units in the last place of the largest weight of a group."""
    weight = q4_1(generator)
    weight[17, 40] += units * 2.0**-23 * weight[17, 32:64].abs().max()
    assert pack(weight).form is None


def test_a_packing_that_drops_a_code_is_caught(generator):
    weight = q8_0(generator)
    compact = pack(weight)
    compact.data[compact.form.scale_bytes + 3] ^= 1
    with pytest.raises(AssertionError, match="weight has"):
        check_kept(weight, compact)


def test_a_grid_found_once_is_tried_first(generator, monkeypatch):
    known, matrix = [], q4_1(generator)
    pack(matrix, known)
    pack(q8_0(generator), known)
    assert [grid.form.bits for grid in known] == [8, 4]
    monkeypatch.setattr(module, "_steps", lambda *_: pytest.fail("looked again"))
    # the same numbers: of other random ones some, rarely, lie on a grid of another form
    assert pack(matrix.clone(), known).form == known[0].form
    assert [grid.form.bits for grid in known] == [4, 8]


def test_a_shared_weight_is_packed_once_and_changes_are_noticed(tiny_loaded):
    model = copy.deepcopy(tiny_loaded("llama").model)
    model.lm_head.weight = model.model.embed_tokens.weight
    with torch.no_grad(), TaskTeam(1) as team:
        for parameter in model.parameters():
            parameter.copy_(parameter.bfloat16())
        first = compact_weights(model, team)
        assert compact_weights(model, team) is first
        linear = sum(m.weight.numel() for m in model.modules() if isinstance(m, torch.nn.Linear))
        assert first.extra_bytes == 2 * linear
        model.model.layers[1].mlp.up_proj.weight[0, 0] = 1.0
        second = compact_weights(model, team)
        assert second is not first
        assert restored(second[model.model.layers[1].mlp.up_proj])[0, 0] == 1.0


def test_copies_stop_where_memory_is_short(monkeypatch):
    model = torch.nn.Sequential(*(torch.nn.Linear(32, 16, bias=False) for _ in range(3)))
    with torch.no_grad(), TaskTeam(1) as team:
        for part in model:
            part.weight.copy_(part.weight.bfloat16())
        monkeypatch.setattr(module, "_available_bytes", lambda: 2 * (2 * 16 * 32 * 2))  # half of it: two matrices
        found = compact_weights(model, team)
    assert [found[part].form is not None for part in model] == [True, True, False]
    monkeypatch.undo()
    assert module._available_bytes() > 1 << 20


def test_only_plain_linear_modules_are_packed():
    class Doubled(torch.nn.Linear):
        def forward(self, x):
            return 2 * super().forward(x)

    model = torch.nn.Sequential(torch.nn.Linear(32, 16), Doubled(32, 16), torch.nn.Linear(32, 16).bfloat16())
    with TaskTeam(1) as team:
        found = compact_weights(model, team)
    assert [part in found for part in model] == [True, False, False]


@pytest.mark.weights
def test_every_matrix_of_the_embedded_model_is_kept_bit_for_bit(weights):
    model = load_model(weights).model
    with TaskTeam(1) as team:
        found = compact_weights(model, team)
    linear = [part for part in model.modules() if type(part) is torch.nn.Linear]
    assert len(linear) == 211
    assert all(found[part].identical for part in linear)
    assert {found[part].form.bits for part in linear[:-1]} == {4}
    assert found.extra_bytes < 100_000_000
    part = model.model.layers[11].self_attn.k_proj
    assert torch.equal(restored(found[part]), part.weight)
