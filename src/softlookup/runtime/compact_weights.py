"""Smaller copies of a model's matrices that stand for the same numbers, for decoding; no quantisation.

A model that was dequantised (a converted GGUF file) still lies on the grid of its codes: 16 or 256 values in every
group of 32 or 16 inputs. A checkpoint that was stored in bfloat16 has zeros in the lower half of every float32. Both
are found here by looking at the weights, and checked weight by weight while they are packed; a matrix that is
neither stays as it is. Grid weights may differ from the original by ``GRID_TOLERANCE``, rounding of the last bits
that dequantising did in another order; ``identical`` says that none does.

The copies are made when the first answer is decoded and are kept as long as the model (0.2 s and 96 MB for the
embedded model, beside its 538 MB; half the float32 size of a bfloat16 checkpoint), in at most half of the memory
that is available.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from softlookup.kernels.compiler import converts_half
from softlookup.kernels.matvec import PANEL_ROWS, PanelFormat, panel_matvec, row_matvec
from softlookup.kernels.packing import packing_kernel
from softlookup.kernels.tasks import TaskTeam, phase_of, tasks_of

if TYPE_CHECKING:
    import numpy.typing as npt

# of the largest weight of a group: two units in the last place of float32
GRID_TOLERANCE = 2.0**-22

# weights of one task: enough that taking a task costs little, few enough that all threads end together
_LEAST_TASK, _MOST_TASK = 32_768, 262_144
_TASKS_OF_A_MATRIX = 16
# rows of one task while packing
_PACK_ROWS = 8 * PANEL_ROWS
# groups looked at before a matrix is packed: a few to refuse most matrices, then some more
_FEW, _SOME = 4, 64
_BF16 = PanelFormat(bits=16, group=16)


@dataclass(frozen=True, slots=True)
class Grid:
    """A format, and the whole numbers n in the order in which they shall be tried."""

    form: PanelFormat
    candidates: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompactWeight:
    """A matrix [rows, inputs]: panels of ``form``, or with None the original float32 weight itself.

    ``identical``: every weight is the original bit for bit (but for the sign of zeros).
    """

    rows: int
    inputs: int
    data: torch.Tensor
    form: PanelFormat | None
    identical: bool

    @property
    def nbytes(self) -> int:
        """Bytes read per product."""
        return self.data.numel() * self.data.element_size()

    def tasks(self, x: int, y: int, *, bias: int = 0, addend: int = 0) -> npt.NDArray[np.int64]:
        """Tasks for y = W x + bias + addend on float32 addresses; the vectors have no gaps."""
        wanted = min(max(self.rows * self.inputs // _TASKS_OF_A_MATRIX, _LEAST_TASK), _MOST_TASK)
        step = max(1, wanted // (self.inputs * PANEL_ROWS)) * PANEL_ROWS
        firsts = np.arange(0, self.rows, step)
        kernel = row_matvec() if self.form is None else panel_matvec(self.form)
        tasks = tasks_of(kernel, len(firsts))
        row_bytes = self.nbytes // (-(-self.rows // PANEL_ROWS) * PANEL_ROWS) if self.form else 4 * self.inputs
        tasks[:, 1] = self.data.data_ptr() + firsts * row_bytes
        tasks[:, 2] = x
        for column, address in ((3, y), (4, bias), (5, addend)):
            tasks[:, column] = address + 4 * firsts if address else 0
        tasks[:, 6] = self.inputs
        tasks[:, 7] = np.minimum(step, self.rows - firsts)
        return tasks


class CompactWeights:
    """The compact matrices of one model, by module; a weight that two modules share is packed once."""

    def __init__(self, model: Any, team: TaskTeam) -> None:
        known: list[Grid] = []
        room = _available_bytes() // 2
        shared: dict[tuple[int, ...], CompactWeight] = {}
        self._state = _state(model)
        self._by_module: weakref.WeakKeyDictionary[Any, CompactWeight] = weakref.WeakKeyDictionary()
        for module in _linears(model):
            key = (module.weight.data_ptr(), *module.weight.shape)
            if key not in shared:
                weight = module.weight.detach().contiguous()
                # where memory is short a matrix stays as it is: slower, but the process lives
                fits = weight.numel() * 2 <= room
                shared[key] = compact_weight(weight, team, known) if fits else _unchanged(weight)
                room -= shared[key].nbytes if shared[key].form is not None else 0
            self._by_module[module] = shared[key]
        self.extra_bytes = sum(weight.nbytes for weight in shared.values() if weight.form is not None)

    def __getitem__(self, module: Any) -> CompactWeight:
        return self._by_module[module]

    def __contains__(self, module: Any) -> bool:
        return module in self._by_module

    def fits(self, model: Any) -> bool:
        """Whether the model's weights are still those that were packed."""
        return self._state == _state(model)


_known_models: weakref.WeakKeyDictionary[Any, CompactWeights] = weakref.WeakKeyDictionary()


def compact_weights(model: Any, team: TaskTeam) -> CompactWeights:
    """The compact matrices of ``model``, made at the first call and again when its weights have changed."""
    found = _known_models.get(model)
    if found is None or not found.fits(model):
        found = CompactWeights(model, team)
        _known_models[model] = found
    return found


def compact_weight(weight: torch.Tensor, team: TaskTeam, known: list[Grid] | None = None) -> CompactWeight:
    """The smallest of the forms of ``weight`` [N, K] float32 that keeps its numbers.

    ``known`` lists the grids found so far, tried first; a new one is added.
    """
    weight = weight.contiguous()
    known = [] if known is None else known
    for grid in _grids(weight, known):
        packed = _packed(weight, grid, team)
        if packed is not None:
            if grid in known:
                known.remove(grid)
            known.insert(0, grid)
            return packed
    return _as_bf16(weight) or _unchanged(weight)


def _unchanged(weight: torch.Tensor) -> CompactWeight:
    rows, inputs = weight.shape
    return CompactWeight(rows, inputs, weight, None, identical=True)


def _available_bytes() -> int:
    """Memory that new copies may take: what Linux says is available, elsewhere what is free."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(OSError, ValueError):
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return 1 << 30


def _linears(model: Any) -> Iterator[Any]:
    for module in model.modules():
        if type(module) is not torch.nn.Linear:  # a subclass may compute something else
            continue
        weight = module.weight
        if weight.dtype == torch.float32 and weight.device.type == "cpu" and weight.numel():
            yield module


def _state(model: Any) -> tuple[tuple[int, int], ...]:
    """What changes when a weight is replaced or written to."""
    weights = [module.weight for module in _linears(model)]
    return tuple((weight.data_ptr(), 0 if weight.is_inference() else weight._version) for weight in weights)


def _grids(weight: torch.Tensor, known: Sequence[Grid]) -> Iterator[Grid]:
    inputs = weight.shape[1]
    yield from [grid for grid in known if inputs % grid.form.group == 0]
    for group in (32, 16):
        if inputs % group:
            continue
        groups = weight.view(-1, group)
        for bits, offsets in ((4, False), (4, True), (8, False), (8, True)):
            if _steps(_sample(groups, _FEW), bits, offsets) is None:
                continue
            found = _steps(_sample(groups, _SOME), bits, offsets)
            if found is None:
                continue
            seen, half = found
            # small ones first: a multiple of the right n fits too, but its step may not be exact
            rest = [n for n in range(1, _most(bits, offsets) + 1) if n not in seen]
            candidates = (*sorted(seen), *rest)
            for half_scales in (True, False) if half and converts_half() else (False,):
                yield Grid(PanelFormat(bits, group, half_scales, offsets), candidates)


def _sample(groups: torch.Tensor, count: int) -> torch.Tensor:
    return groups[torch.linspace(0, len(groups) - 1, min(count, len(groups))).long()]


def _most(bits: int, offsets: bool) -> int:
    return (1 << bits) - 1 if offsets else 1 << (bits - 1)


def _steps(groups: torch.Tensor, bits: int, offsets: bool) -> tuple[set[int], bool] | None:
    """The smallest n of each group [M, group] that fits it; whether float16 holds all scales and offsets.

    None when a group fits no grid of these bits.
    """
    groups = groups.double()[:, None]  # [M, 1, group]
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    farthest = torch.where(low.abs() < high, high, low)
    base, span, first = (low, high - low, 0) if offsets else (torch.zeros_like(low), -farthest, -(1 << (bits - 1)))
    n = torch.arange(1, _most(bits, offsets) + 1, dtype=torch.float64)[:, None]
    step = span / n  # [M, n, 1]
    codes = torch.where(step == 0, 0.0, (groups - base) / step).round()
    near = (codes * step + base - groups).abs() <= GRID_TOLERANCE * farthest.abs()
    fits = (near & (codes >= first) & (codes < first + (1 << bits))).all(-1)  # [M, n]
    if not bool(fits.any(-1).all()):
        return None
    smallest = fits.int().argmax(-1)
    steps = step.squeeze(-1).gather(1, smallest[:, None])
    half = all(bool((t.float() == t.half().float()).all()) for t in (steps, base))
    return set((smallest + 1).tolist()), half


def _packed(weight: torch.Tensor, grid: Grid, team: TaskTeam) -> CompactWeight | None:
    """None when a group does not fit."""
    rows, inputs = weight.shape
    form = grid.form
    panels = -(-rows // PANEL_ROWS)
    panel_bytes = inputs // form.group * form.group_bytes
    data = torch.empty(panels * panel_bytes, dtype=torch.uint8)
    data[(panels - 1) * panel_bytes :] = 0  # rows that fill up the last panel
    candidates = np.array(grid.candidates, dtype=np.float32)
    tolerance = np.array([GRID_TOLERANCE], dtype=np.float32)
    failed_and_inexact = np.zeros(2, dtype=np.int64)
    firsts = np.arange(0, rows, _PACK_ROWS)
    tasks = tasks_of(packing_kernel(form), len(firsts))
    tasks[:, 1] = weight.data_ptr() + 4 * inputs * firsts
    tasks[:, 2] = data.data_ptr() + firsts // PANEL_ROWS * panel_bytes
    tasks[:, 3] = inputs
    tasks[:, 4] = np.minimum(_PACK_ROWS, rows - firsts)
    flags = failed_and_inexact.ctypes.data
    tasks[:, 5:10] = candidates.ctypes.data, len(candidates), tolerance.ctypes.data, flags, flags + 8
    team.run(np.array([phase_of(tasks)], dtype=np.int64))
    failed, inexact = failed_and_inexact
    return None if failed else CompactWeight(rows, inputs, data, form, identical=not inexact)


def _as_bf16(weight: torch.Tensor) -> CompactWeight | None:
    """Panels of 16 bits when the lower 16 of every weight are zero."""
    rows, inputs = weight.shape
    bits = weight.view(torch.int32)
    if inputs % _BF16.group or bool((bits[0] & 0xFFFF).any()) or bool((bits & 0xFFFF).any()):
        return None
    panels = -(-rows // PANEL_ROWS)
    half = torch.zeros(panels * PANEL_ROWS, inputs, dtype=torch.bfloat16)
    half[:rows] = weight  # exact
    words = half.view(torch.int32).view(panels, PANEL_ROWS, -1).transpose(1, 2).contiguous()
    return CompactWeight(rows, inputs, words.view(torch.uint8).flatten(), _BF16, identical=True)
