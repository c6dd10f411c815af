"""Products of a matrix and one vector, from rows and from panels, against float64."""

from __future__ import annotations

import numpy as np
import pytest

from softlookup.kernels.compiler import converts_half, host_shape
from softlookup.kernels.matvec import PANEL_ROWS, PanelFormat, panel_matvec, row_matvec
from softlookup.kernels.tasks import TaskTeam, phase_of, tasks_of

# half a unit in the last place of float32
U = 2.0**-24
FORMATS = [
    PanelFormat(4, 32, half_scales=True, offsets=True),
    PanelFormat(4, 32, half_scales=False, offsets=False),
    PanelFormat(4, 16, half_scales=True, offsets=False),
    PanelFormat(8, 32, half_scales=True, offsets=False),
    PanelFormat(8, 16, half_scales=False, offsets=True),
    PanelFormat(16, 16),
]


def panels(form, rows, inputs, random):
    """Random panels, and the float64 matrix that they stand for; written from the description of the layout."""
    if form.half_scales and not converts_half():
        pytest.skip("this processor does not convert float16")
    filled = -(-rows // PANEL_ROWS) * PANEL_ROWS
    groups = inputs // form.group
    kind = np.float16 if form.half_scales else np.float32
    data = np.zeros((filled // PANEL_ROWS, groups, form.group_bytes), dtype=np.uint8)
    matrix = np.zeros((filled, inputs))
    for row in range(rows):
        panel, lane = divmod(row, PANEL_ROWS)
        for group in range(groups):
            part = slice(group * form.group, (group + 1) * form.group)
            target = data[panel, group]
            if form.bits == 16:
                numbers = random.normal(size=form.group).astype(np.float32).view(np.uint32) & 0xFFFF0000
                matrix[row, part] = numbers.view(np.float32)
                codes = numbers >> 16
            else:
                codes = random.integers(0, 1 << form.bits, form.group)
                scale, offset = (kind(number) for number in random.normal(size=2))
                target[: form.scale_bytes].view(kind)[lane] = scale
                if form.offsets:
                    target[: form.scale_bytes].view(kind)[PANEL_ROWS + lane] = offset
                base = float(offset) if form.offsets else -float(scale) * (1 << (form.bits - 1))
                matrix[row, part] = float(scale) * codes + base
            words = target[form.scale_bytes :].view(np.uint32).reshape(-1, PANEL_ROWS)
            for place, code in enumerate(codes):
                word, bit = divmod(place * form.bits, 32)
                words[word, lane] |= np.uint32(int(code) << bit)
    return data, matrix[:rows]


def product(kernel, data, rows, x, *, bias=None, addend=None):
    """y of one task; ``addend`` is y itself before the call."""
    y = np.zeros(rows + 1, dtype=np.float32)  # the last must stay as it is
    y[:-1] = 0 if addend is None else addend
    y[-1] = 77
    address = [0 if part is None else part.ctypes.data for part in (bias, None if addend is None else y)]
    task = tasks_of(kernel, 1)
    task[0, 1:8] = data.ctypes.data, x.ctypes.data, y.ctypes.data, *address, len(x), rows
    with TaskTeam(1) as team:
        team.run(np.array([phase_of(task)], dtype=np.int64))
    assert y[-1] == 77
    return y[:-1]


def check(form, kernel, data, matrix, random, *, chains):
    rows, inputs = matrix.shape
    x, bias, addend = (random.normal(size=n).astype(np.float32) for n in (inputs, rows, rows))
    y = product(kernel, data, rows, x, bias=bias, addend=addend)
    exact = matrix @ x.astype(np.float64) + bias + addend
    size = np.abs(matrix) @ np.abs(x.astype(np.float64)) + np.abs(bias) + np.abs(addend)
    # one rounding per input of a chain, then the chains are added, then bias and addend; decoding a weight is one more
    roundings = inputs / chains + chains + 4
    assert (np.abs(y - exact) <= roundings * U * size).all(), f"off by {np.abs(y - exact).max()}, {form}"
    assert np.array_equal(product(kernel, data, rows, x, bias=bias, addend=addend), y)
    plain = product(kernel, data, rows, x)
    assert (np.abs(plain - matrix @ x.astype(np.float64)) <= roundings * U * size).all()


@pytest.mark.parametrize(("rows", "inputs"), [(16, 32), (40, 96), (1, 64), (33, 160)])
@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_panels_equal_the_exact_product(form, rows, inputs, seed):
    random = np.random.default_rng(seed)
    data, matrix = panels(form, rows, inputs, random)
    check(form, panel_matvec(form), data, matrix, random, chains=4)


@pytest.mark.parametrize(("rows", "inputs"), [(4, 64), (7, 37), (1, 3), (33, 160)])
def test_rows_equal_the_exact_product(rows, inputs, seed):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(rows, inputs)).astype(np.float32)
    lanes = host_shape().lanes
    check("rows", row_matvec(), matrix, matrix.astype(np.float64), random, chains=lanes if inputs >= lanes else 1)


@pytest.mark.parametrize("form", FORMATS, ids=str)
def test_one_input_gives_the_weights_themselves(form, seed):
    """A product with a unit vector has no sum in it: the decoded weight, rounded once."""
    random = np.random.default_rng(seed)
    data, matrix = panels(form, 20, 64, random)
    for column in (0, 31, 63):
        x = np.zeros(64, dtype=np.float32)
        x[column] = 1
        got = product(panel_matvec(form), data, 20, x)
        exact = matrix[:, column]
        if form.half_scales or form.bits == 16:  # scale and offset are added without further rounding
            assert np.array_equal(got, exact.astype(np.float32))
        else:
            largest = np.abs(matrix).max()
            assert (np.abs(got - exact) <= 2.0**form.bits * U * largest).all()


def test_a_flipped_code_is_caught(seed):
    form = FORMATS[0]
    random = np.random.default_rng(seed)
    data, matrix = panels(form, 32, 64, random)
    data[1, 0, form.scale_bytes + 5] ^= 0x40
    with pytest.raises(AssertionError, match="off by"):
        check(form, panel_matvec(form), data, matrix, random, chains=4)


def test_nan_comes_through(seed):
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(8, 40)).astype(np.float32)
    matrix[5, 33] = np.nan
    y = product(row_matvec(), matrix, 8, random.normal(size=40).astype(np.float32))
    assert np.isnan(y).tolist() == [row == 5 for row in range(8)]
