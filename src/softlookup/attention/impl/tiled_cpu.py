"""Runs the compiled kernel over all blocks of rows, on the caller's number of threads.

Threads are Python threads that last for one call; the kernel runs without the GIL. torch's own threads and
settings are left alone.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from softlookup.attention.impl.cpu_kernel import PARAMETERS, KernelSpec, attention_kernel
from softlookup.attention.inputs import raise_for_non_finite
from softlookup.attention.masks import key_bounds
from softlookup.attention.row_sums import RowSums
from softlookup.attention.stats import StatsRequest
from softlookup.errors import UsageError
from softlookup.kernels.compiler import VectorShape, host_shape

if TYPE_CHECKING:
    from softlookup.attention.inputs import AttentionInputs
    from softlookup.kernels.compiler import CompiledFunction

KINDS = {torch.float32: "float32", torch.bfloat16: "bfloat16", torch.float16: "float16"}

_LOG2E = math.log2(math.e)
# queries and running outputs of a block stay in the level-2 cache beside a tile of keys and values: 512 KiB on
# AVX2 machines, 1 MiB or more where there is AVX-512
_BLOCK_BYTES = {8: 256 * 1024, 16: 512 * 1024}
# scores of a panel stay in the level-1 cache beside the panel's queries
_TILE_BYTES = 18 * 1024
# fewer multiplications than this are not worth a second thread
_SERIAL_WORK = 2_000_000
_ALIGN = 64


@dataclass(frozen=True, slots=True)
class _Task:
    """Rows first_row..last_row - 1 of one key/value head against keys first_key..last_key - 1."""

    batch: int
    kv_head: int
    first_row: int
    last_row: int
    first_key: int
    last_key: int

    @property
    def work(self) -> int:
        return (self.last_row - self.first_row) * (self.last_key - self.first_key)


def cpu_row_pass(
    inputs: AttentionInputs,
    request: StatsRequest | None,
    *,
    with_output: bool,
    shape: VectorShape | None = None,
    tile: int | None = None,
) -> tuple[RowSums, torch.Tensor | None]:
    """Row sums and the finished output [B, Hq, Tq, Dv] (None without ``with_output``) of float32 or 16-bit inputs.

    ``shape`` and ``tile`` (keys per tile, a multiple of the shape's unroll) are for tests.
    Raises ``UsageError`` where an input holds NaN or infinity.
    """
    shape = shape or host_shape()
    tile = tile or max(1, _TILE_BYTES // (4 * shape.rows * shape.unroll)) * shape.unroll
    call = _Call(inputs, request, with_output, shape, tile)
    tasks = sorted(_tasks(inputs, shape, call.panels), key=lambda task: task.work, reverse=True)
    threads = 1
    if sum(task.work for task in tasks) * inputs.query.shape[3] > _SERIAL_WORK:
        threads = min(torch.get_num_threads(), len(tasks))
    call.run(tasks, threads)
    if call.not_finite:
        raise_for_non_finite(inputs)
        raise UsageError(
            "scores or weighted values of finite inputs exceed float32",
            "scale query, key or value down, or use float64 inputs",
        )
    return call.results()


def _tasks(inputs: AttentionInputs, shape: VectorShape, panels: int) -> Iterator[_Task]:
    rows, step = inputs.q_length * inputs.group, panels * shape.rows
    for first in range(0, rows, step):
        last = min(first + step, rows)
        start, stop = key_bounds(inputs, first // inputs.group, (last - 1) // inputs.group)
        start = min(start, stop)
        for batch in range(inputs.batch):
            for kv_head in range(inputs.kv_heads):
                yield _Task(batch, kv_head, first, last, start, stop)


class _Call:
    """Buffers and parameters of one call."""

    def __init__(
        self, inputs: AttentionInputs, request: StatsRequest | None, with_output: bool, shape: VectorShape, tile: int
    ) -> None:
        self.inputs, self.shape, self.tile = inputs, shape, tile
        width = inputs.value.shape[3] if with_output else 0
        self.spec = _spec(inputs, request, width, shape)
        rows = inputs.q_length * inputs.group
        per_panel = 4 * shape.rows * (inputs.query.shape[3] + width)
        blocks = 8 * torch.get_num_threads()
        fair = -(-rows * inputs.batch * inputs.kv_heads // (shape.rows * blocks))
        self.panels = max(1, min(_BLOCK_BYTES.get(shape.lanes, 256 * 1024) // per_panel, fair))
        size = (inputs.batch, inputs.heads, inputs.q_length)
        self.output = torch.empty(*size, width, dtype=inputs.dtype) if with_output else None
        spec = self.spec
        wanted = {"maximum": True, "total": True, "centred": spec.entropy, "sink": spec.sink_mass,
                  "position": spec.distance, "unscaled": spec.unscaled}  # fmt: skip
        self.stats = {name: torch.empty(size) for name, asked in wanted.items() if asked}
        self.argmax = torch.empty(size, dtype=torch.int64) if spec.argmax else None
        keys = request.sink_keys(inputs.kv_length) if request is not None else None
        self.sink_keys = torch.tensor(keys or (), dtype=torch.int64)
        sinks = inputs.sinks if inputs.sinks is not None else torch.full((inputs.heads,), -math.inf)
        self.sinks = (sinks.detach().float() * _LOG2E).contiguous()
        self.factors = torch.tensor(_factors(inputs), dtype=torch.float32)
        self.mask = inputs.mask
        self.not_finite = False

    def run(self, tasks: list[_Task], threads: int) -> None:
        """All tasks, longest first; the first exception of a thread is raised here."""
        kernel = attention_kernel(self.spec)
        queue = iter(tasks)
        lock = threading.Lock()
        failures: list[BaseException] = []

        def work() -> None:
            try:
                self._worker(kernel, queue, lock)
            except BaseException as error:  # noqa: BLE001 - handed to the calling thread
                failures.append(error)
                with lock:  # nobody needs the rest
                    tuple(queue)

        helpers = [threading.Thread(target=work, daemon=True) for _ in range(threads - 1)]
        for helper in helpers:
            helper.start()
        work()
        for helper in helpers:
            helper.join()
        if failures:
            raise failures[0]

    def _worker(self, kernel: CompiledFunction, queue: Iterator[_Task], lock: threading.Lock) -> None:
        scratch = self._scratch()
        flag = ctypes.c_int64(0)
        values = self._common() | scratch.addresses | {"not_finite": ctypes.addressof(flag)}
        while True:
            with lock:
                task = next(queue, None)
            if task is None:
                break
            parameters = values | self._of_task(task)
            kernel((ctypes.c_int64 * len(PARAMETERS))(*(parameters[name] for name in PARAMETERS)))
        if flag.value:
            self.not_finite = True

    def _common(self) -> dict[str, int]:
        inputs = self.inputs
        compact = inputs.dtype == torch.float32 and all(
            tensor.stride(3) == 1 and tensor.stride(2) == tensor.shape[3] for tensor in self._read()
        )
        unlimited = inputs.kv_length + inputs.q_length + abs(inputs.q_offset) + 1
        window = inputs.sliding_window
        mask = [0, 0, 0, 0] if self.mask is None else _strides(self.mask)
        return {
            "group": inputs.group, "tile": self.tile, "sink_count": len(self.sink_keys), "copy": int(not compact),
            "to_limit": inputs.q_offset if inputs.causal else unlimited,
            "to_low": -unlimited if window is None else inputs.q_offset - window + 1,
            "kv_length": inputs.kv_length, "sink_keys": self.sink_keys.data_ptr(),
            "query_t": inputs.query.stride(2), "query_h": inputs.query.stride(1), "query_d": inputs.query.stride(3),
            "key_t": inputs.key.stride(2), "key_d": inputs.key.stride(3),
            "value_t": inputs.value.stride(2), "value_d": inputs.value.stride(3),
            "output_t": self.spec.value_dim, "output_h": self.spec.value_dim * inputs.q_length,
            "mask_t": mask[2], "mask_h": mask[1], "mask_k": mask[3], "stat_h": inputs.q_length,
            "factors": self.factors.data_ptr(),
        }  # fmt: skip

    def _read(self) -> list[torch.Tensor]:
        return [self.inputs.key, self.inputs.value] if self.spec.value_dim else [self.inputs.key]

    def _of_task(self, task: _Task) -> dict[str, int]:
        inputs = self.inputs
        head = task.kv_head * inputs.group
        row = (task.batch * inputs.heads + head) * inputs.q_length
        addresses = {
            name: self.stats[name].data_ptr() + 4 * row if name in self.stats else 0
            for name in ("maximum", "total", "centred", "sink", "position", "unscaled")
        }
        mask = 0
        if self.mask is not None:
            strides = _strides(self.mask)
            mask = self.mask.data_ptr() + task.batch * strides[0] + head * strides[1]
        size = inputs.query.element_size()
        return addresses | {
            "query": _address(inputs.query, task.batch, head),
            "key": _address(inputs.key, task.batch, task.kv_head),
            "value": _address(inputs.value, task.batch, task.kv_head),
            "output": 0 if self.output is None else self.output.data_ptr() + size * row * self.spec.value_dim,
            "mask": mask, "sinks": self.sinks.data_ptr() + 4 * head,
            "argmax": 0 if self.argmax is None else self.argmax.data_ptr() + 8 * row,
            "first_row": task.first_row, "last_row": task.last_row,
            "panels": -(-(task.last_row - task.first_row) // self.shape.rows),
            "first_key": task.first_key // self.shape.unroll * self.shape.unroll, "last_key": task.last_key,
        }  # fmt: skip

    def _scratch(self) -> _Scratch:
        rows, spec = self.shape.rows, self.spec
        block, keys = self.panels * rows, self.tile + self.shape.unroll
        sizes = {
            "q_panels": 4 * block * spec.dim, "o_panels": 4 * block * spec.value_dim, "scores": 4 * rows * keys,
            "key_tile": 4 * keys * spec.dim, "value_tile": 4 * keys * spec.value_dim,
            "mask_tile": rows * keys if spec.mask else 0, "row_alpha": 4 * 2 * rows,
        }  # fmt: skip
        for name in ("total", "centred", "sink", "position", "mask"):
            sizes["row_" + name] = 8 * block
        for name in ("maximum", "unscaled", "argmax", "limit", "low", "logit"):
            sizes["row_" + name] = 4 * block
        return _Scratch(sizes)

    def results(self) -> tuple[RowSums, torch.Tensor | None]:
        """The kernel works in units of log2; row sums are natural."""
        ln2 = math.log(2.0)
        stats = self.stats
        unscaled = stats.get("unscaled")
        return RowSums(
            maximum=stats["maximum"].mul_(ln2),
            total=stats["total"],
            centred=stats["centred"].mul_(ln2) if "centred" in stats else None,
            argmax=self.argmax,
            sink=stats.get("sink"),
            position=stats.get("position"),
            unscaled=None if unscaled is None else unscaled.div_(abs(float(self.factors[0]))),
        ), self.output


class _Scratch:
    """One allocation, cut into aligned pieces."""

    def __init__(self, sizes: dict[str, int]) -> None:
        padded = {name: -(-size // _ALIGN) * _ALIGN for name, size in sizes.items()}
        self._memory = torch.empty(sum(padded.values()) + _ALIGN, dtype=torch.uint8)
        at = -(-self._memory.data_ptr() // _ALIGN) * _ALIGN
        self.addresses = {}
        for name, size in padded.items():
            self.addresses[name] = at
            at += size


def _spec(inputs: AttentionInputs, request: StatsRequest | None, width: int, shape: VectorShape) -> KernelSpec:
    asked = request or StatsRequest(entropy=False, argmax=False, sink_mass=None)
    return KernelSpec(
        shape=shape,
        kind=KINDS[inputs.dtype],
        dim=inputs.query.shape[3],
        value_dim=width,
        entropy=asked.entropy or asked.normalized_entropy,
        argmax=asked.argmax,
        sink_mass=asked.sink_keys(inputs.kv_length) is not None,
        distance=asked.distance,
        unscaled=asked.max_score,
        softcap=inputs.softcap is not None,
        mask=inputs.mask is not None,
    )


def _factors(inputs: AttentionInputs) -> tuple[float, float]:
    """What the query is multiplied by, and the softcap in units of log2."""
    if inputs.softcap is None:
        return inputs.scale * _LOG2E, 0.0
    return inputs.scale * 2 * _LOG2E / inputs.softcap, inputs.softcap * _LOG2E


def _address(tensor: torch.Tensor, batch: int, head: int) -> int:
    return tensor.data_ptr() + tensor.element_size() * (batch * tensor.stride(0) + head * tensor.stride(1))


def _strides(mask: torch.Tensor) -> list[int]:
    """Strides in elements, 0 along dimensions of size 1."""
    return [0 if size == 1 else stride for size, stride in zip(mask.shape, mask.stride(), strict=True)]
