"""``impl="triton"``: checks, launches the fused kernel on a GPU and finishes its sums; the kernel is in triton_kernel.

Block sizes come from a table and nothing is timed on the caller's machine, so that two runs compute the same.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from softlookup.attention.inputs import raise_for_non_finite
from softlookup.attention.masks import visible_keys
from softlookup.attention.row_sums import RowSums, finalize, row_lse, with_sinks
from softlookup.attention.stats import AttentionOutput, AttentionStats, StatsRequest
from softlookup.errors import UsageError

if TYPE_CHECKING:
    from types import ModuleType

    from softlookup.attention.inputs import AttentionInputs

# a score tile and a block of outputs live in registers, keys and values in shared memory
MAX_HEAD_DIM = 256
_LOG2_E = 1 / math.log(2)
# a smaller scale could round to 0 in float32
_SMALLEST_FOLDED_SCALE = 1e-30
# bytes of shared memory that a program may use on Hopper and later server GPUs; others have 99 to 163 KiB
_LARGE_SHARED_MEMORY = 200 * 1024


class Blocks(NamedTuple):
    """Rows and keys of a score tile, warps of a program, tiles of keys in flight."""

    rows: int
    keys: int
    warps: int
    stages: int


# Up to the padded head dimension: chosen by what was compiled for sm_80, sm_89 and sm_90, so that the main loop keeps
# its sums in registers (not for float32 and 16-bit beyond D = 128 on the small ones) and tiles fit shared memory.
_LARGE = {64: Blocks(128, 128, 8, 3), 128: Blocks(128, 128, 8, 2), 256: Blocks(128, 64, 8, 2)}
_SMALL = {64: Blocks(128, 64, 8, 3), 128: Blocks(128, 64, 8, 2), 256: Blocks(64, 64, 4, 1)}
_FLOAT32 = {64: Blocks(64, 32, 8, 2), 128: Blocks(64, 32, 8, 2), 256: Blocks(16, 32, 8, 1)}
# keys of a tile where more numbers per score have to stay in registers
_KEYS_OF_HEAVY_CALLS = 64


def triton_attention(inputs: AttentionInputs, request: StatsRequest | None) -> AttentionOutput:
    """Attention of ``inputs`` and the statistics that ``request`` asks for, in one pass on a GPU.

    ``span_mass``, ``key_mass`` and ``top_k`` take a second pass, by torch operations. NaN or infinity in what a
    row sees raises ``UsageError``; in a value that no row sees it may go unnoticed. Raises ``UsageError`` too where
    triton or a GPU is missing, for float64, and for head dimensions above 256.
    """
    kernel = _kernel()
    interpreted = not isinstance(kernel.forward, kernel.triton.JITFunction)
    _check(inputs, interpreted=interpreted)
    output, sums, distance, flag = _launch(kernel, inputs, request, interpreted=interpreted)
    empty_rows = _check_after(inputs, sums, flag)
    stats = None if request is None else _statistics(inputs, request, sums, distance)
    return AttentionOutput(output, stats, empty_rows)


def _kernel() -> ModuleType:
    try:
        from softlookup.attention.impl import triton_kernel
    except ModuleNotFoundError as error:
        if error.name != "triton":
            raise
        raise UsageError(
            "impl='triton' needs the package triton, which is not installed",
            "install it (`pip install triton`), or use impl='tiled'",
        ) from error
    module: ModuleType = triton_kernel
    return module


def _check(inputs: AttentionInputs, *, interpreted: bool) -> None:
    device = inputs.query.device
    if device.type != "cuda" and not interpreted:
        raise UsageError(
            f"impl='triton' needs tensors on a GPU, got {device.type}",
            "move them there, use impl='tiled', or start Python with TRITON_INTERPRET=1 to try the kernel on a CPU",
        )
    if inputs.dtype == torch.float64:
        raise UsageError("impl='triton' computes in float32, got float64", "use impl='tiled', or convert the inputs")
    for name, tensor in (("query and key", inputs.query), ("value", inputs.value)):
        if tensor.shape[-1] > MAX_HEAD_DIM:
            raise UsageError(
                f"impl='triton' takes head dimensions up to {MAX_HEAD_DIM}, {name} have {tensor.shape[-1]}",
                "use impl='tiled'",
            )
    if device.type == "cuda" and torch.version.hip is None and torch.cuda.get_device_capability(device) < (8, 0):
        capability = ".".join(map(str, torch.cuda.get_device_capability(device)))
        raise UsageError(
            f"impl='triton' needs a GPU of compute capability 8.0 or later, got {capability}", "use impl='tiled'"
        )


def choose_blocks(inputs: AttentionInputs, request: StatsRequest | None, shared_memory: int) -> Blocks:
    """Blocks for the dtype, the head dimensions and the bytes of shared memory that a program may use."""
    table = _LARGE if shared_memory >= _LARGE_SHARED_MEMORY else _SMALL
    table = _FLOAT32 if inputs.dtype == torch.float32 else table
    dim = max(inputs.query.shape[-1], inputs.value.shape[-1])
    blocks = next(blocks for limit, blocks in table.items() if dim <= limit)
    heavy = inputs.mask is not None or inputs.softcap is not None
    if heavy or (request is not None and (request.distance or request.max_score)):
        blocks = blocks._replace(keys=min(blocks.keys, _KEYS_OF_HEAVY_CALLS))
    if inputs.q_length <= blocks.rows // 2:  # a tile that is mostly padding costs as much as a full one
        blocks = blocks._replace(rows=max(16, _power_of_two(inputs.q_length)), warps=4)
    return blocks


def _launch(
    kernel: ModuleType, inputs: AttentionInputs, request: StatsRequest | None, *, interpreted: bool
) -> tuple[torch.Tensor, RowSums, torch.Tensor | None, torch.Tensor]:
    """Output, row sums, sum exp(s - m) (i + row_shift - j) and the flag of non-finite outputs."""
    device = inputs.query.device
    shape = (inputs.batch, inputs.heads, inputs.q_length)
    tensors = [inputs.query, inputs.key, inputs.value]
    if interpreted and inputs.dtype == torch.bfloat16:
        # the interpreter multiplies the bits of bfloat16 as integers and converts to it without rounding
        tensors = [tensor.float() for tensor in tensors]
    query, key, value = tensors
    output = query.new_empty((*shape, value.shape[-1]))
    sums, distance = _buffers(inputs, request)
    flag = torch.zeros(1, dtype=torch.int32, device=device)
    positions = None if request is None else request.sink_keys(inputs.kv_length)
    sink_keys = None if positions is None else torch.tensor(positions, dtype=torch.int32, device=device)
    blocks = choose_blocks(inputs, request, _shared_memory(device))
    programs = shape[0] * shape[1] * -(-inputs.q_length // blocks.rows)
    if programs:
        with _on(device):
            kernel.forward[(programs,)](
                *(kernel.Strided(tensor, tensor.stride()) for tensor in (query, key, value)),
                kernel.Strided(*_mask_bytes(inputs.mask)),
                None if inputs.sinks is None else inputs.sinks.to(torch.float32).contiguous(),
                sink_keys,
                0 if positions is None else len(positions),
                output,
                kernel.Sums(
                    sums.maximum, sums.total, sums.centred, sums.argmax, sums.sink, distance, sums.unscaled
                ),
                flag,
                inputs.heads,
                inputs.group,
                *_numbers(inputs),
                _config(kernel, inputs, blocks),
                num_warps=blocks.warps,
                num_stages=blocks.stages,
                enable_fp_fusion=True,
            )  # fmt: skip
    return output.to(inputs.dtype), sums, distance, flag


def _buffers(inputs: AttentionInputs, request: StatsRequest | None) -> tuple[RowSums, torch.Tensor | None]:
    shape = (inputs.batch, inputs.heads, inputs.q_length)

    def empty(*, asked: bool = True, dtype: torch.dtype = torch.float32) -> Any:
        return torch.empty(shape, dtype=dtype, device=inputs.query.device) if asked else None

    if request is None:
        return RowSums(empty(), empty()), None
    sums = RowSums(
        empty(),
        empty(),
        centred=empty(asked=request.entropy or request.normalized_entropy),
        argmax=empty(asked=request.argmax, dtype=torch.int64),
        sink=empty(asked=request.sink_keys(inputs.kv_length) is not None),
        unscaled=empty(asked=request.max_score),
    )
    return sums, empty(asked=request.distance)


def _mask_bytes(mask: torch.Tensor | None) -> tuple[torch.Tensor | None, tuple[int, ...]]:
    """The mask as bytes and its strides over [B, Hq, Tq, Tk]: 0 where it is broadcast."""
    if mask is None:
        return None, (0, 0, 0, 0)
    strides = tuple(0 if size == 1 else stride for size, stride in zip(mask.shape, mask.stride(), strict=True))
    return mask.view(torch.uint8), strides


def _numbers(inputs: AttentionInputs) -> tuple[int, int, int, int, int, float, float]:
    """Lengths, shifts, scale and cap as the kernel takes them; shifts are clipped to where they make a difference."""
    window = inputs.sliding_window
    return (
        inputs.q_length,
        inputs.kv_length,
        _clipped(inputs, inputs.q_offset + 1 - window) if window is not None else 0,
        _clipped(inputs, inputs.q_offset + 1),
        _row_shift(inputs),
        *_scale_and_cap(inputs),
    )


def _clipped(inputs: AttentionInputs, shift: int) -> int:
    """A position relative to the row, within what any row can see: it fits 32 bits."""
    return max(-inputs.q_length, min(shift, inputs.kv_length))


def _row_shift(inputs: AttentionInputs) -> int:
    return _clipped(inputs, inputs.q_offset)


def _scale_and_cap(inputs: AttentionInputs) -> tuple[float, float]:
    """The kernel's constants: scores log2 e = products scale, or cap - 2 cap / (1 + exp2(products scale))."""
    if inputs.softcap is None:
        return inputs.scale * _LOG2_E, 0.0
    return 2 * inputs.scale / inputs.softcap * _LOG2_E, inputs.softcap * _LOG2_E


def _config(kernel: ModuleType, inputs: AttentionInputs, blocks: Blocks) -> Any:
    dim, value_dim = inputs.query.shape[-1], inputs.value.shape[-1]
    return kernel.Config(
        dim=dim,
        value_dim=value_dim,
        block_m=blocks.rows,
        block_n=blocks.keys,
        block_d=max(16, _power_of_two(dim)),
        block_dv=max(16, _power_of_two(value_dim)),
        causal=inputs.causal,
        windowed=inputs.sliding_window is not None,
        folded=inputs.softcap is None and inputs.scale > _SMALLEST_FOLDED_SCALE,
        capped=inputs.softcap is not None,
        precision="ieee",  # float32 products in float32, not TF32
    )


def _power_of_two(number: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << max(number - 1, 0).bit_length()


def _shared_memory(device: torch.device) -> int:
    if device.type != "cuda":
        return _LARGE_SHARED_MEMORY
    return int(getattr(torch.cuda.get_device_properties(device), "shared_memory_per_block_optin", 0))


def _on(device: torch.device) -> AbstractContextManager[Any]:
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def _check_after(inputs: AttentionInputs, sums: RowSums, flag: torch.Tensor) -> int:
    """The number of rows without keys; raises for NaN and infinity. One wait for the device."""
    seen = (visible_keys(inputs) > 0).expand_as(sums.total)
    low, high = torch.aminmax(inputs.key)  # a score of -inf beside finite ones leaves no trace in the sums
    good = (low > -torch.inf) & (high < torch.inf) & (flag[0] == 0) & ((sums.total != 0) == seen).all()
    finite, empty_rows = torch.stack((good.to(torch.int64), (~seen).sum())).tolist()
    if not finite:
        raise_for_non_finite(inputs)
        raise UsageError(
            f"scores and weighted values must fit {inputs.compute_dtype}, they overflow",
            "scale query and value down, or use impl='tiled' with float64",
        )
    return int(empty_rows)


def _statistics(
    inputs: AttentionInputs, request: StatsRequest, sums: RowSums, distance: torch.Tensor | None
) -> AttentionStats:
    later: dict[str, Any] = {}
    if request.top_k or request.span_mass is not None or request.key_mass:
        from softlookup.attention.second_pass import column_sums, span_mass, top_k

        lse = with_sinks(row_lse(sums), inputs.sinks)
        if request.top_k:
            later["top_k"] = top_k(inputs, lse, request.top_k)
        if request.span_mass is not None:
            rows = request.chosen_span_rows(inputs.q_length)
            later["span_mass"] = span_mass(inputs, lse, request.span_mass, rows)
        if request.key_mass:
            later["key_mass"] = column_sums(inputs, lse, request.key_mass_rows)
    stats = finalize(sums, inputs, request, **later)
    if distance is None:
        return stats
    mean = distance / sums.total + (inputs.q_offset - _row_shift(inputs))
    return replace(stats, distance=torch.where(stats.visible_keys > 0, mean, torch.nan))
