"""Any transformers model, one row at a time: its own modules run, their matrices and their attention are ours.

Inside the block every ``torch.nn.Linear`` multiplies a single row by the compact weights, and SDPA attention of a
single row reads keys and values once; everything else, longer inputs included, is computed as before. The model is
restored when the block ends.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

from softlookup.errors import ModelError, UsageError
from softlookup.kernels.row_attention import PIECE_KEYS, RowShape, row_tasks
from softlookup.kernels.tasks import TaskTeam, phase_of
from softlookup.runtime.observable import ONE_ROW, checked_decoder

if TYPE_CHECKING:
    from softlookup.runtime.compact_weights import CompactWeight, CompactWeights

# arguments that change the scores in a way the kernel does not know
_UNSUPPORTED_ARGUMENTS = ("softcap", "s_aux", "position_bias")
# keys for which an attention makes room at a time, in pieces
_ROOM_PIECES = 8

_attention: ContextVar[OneRowAttention | None] = ContextVar("softlookup_one_row_attention", default=None)


@contextlib.contextmanager
def one_row_modules(model: Any, weights: CompactWeights, team: TaskTeam) -> Iterator[None]:
    """See the module docstring."""
    replaced = []
    configs = _sdpa_configs(model)
    token = _attention.set(OneRowAttention(team))
    try:
        for module in model.modules():
            if module in weights and "forward" not in vars(module):
                module.forward = _product(module, weights[module], team)
                replaced.append(module)
        _register()
        _switch(configs, ONE_ROW)
        yield
    finally:
        _switch(configs, "sdpa")
        for module in replaced:
            del module.forward
        _attention.reset(token)


def _sdpa_configs(model: Any) -> list[Any]:
    """Configurations that choose SDPA for the attention layers; none where another name would change the model."""
    try:
        decoder, implementation = checked_decoder(model)
    except (ModelError, UsageError):
        return []
    if implementation != "sdpa":
        return []
    modules = (module for module in decoder.modules() if getattr(module, "layer_idx", None) is not None)
    used = (decoder.config, model.config.get_text_config(), *(getattr(module, "config", None) for module in modules))
    configs = {id(config): config for config in used if config is not None}
    return [config for config in configs.values() if config._attn_implementation == "sdpa"]


def _switch(configs: list[Any], name: str) -> None:
    for config in configs:
        # set_attn_implementation also checks, and could refuse to go back
        config._attn_implementation_internal = name


def _product(module: Any, weight: CompactWeight, team: TaskTeam) -> Callable[[torch.Tensor], torch.Tensor]:
    """The forward of a linear module."""
    original = module.forward
    bias = 0 if module.bias is None else module.bias.data_ptr()
    tasks = weight.tasks(0, 8, bias=bias)  # x and y are put in by each call
    offsets = tasks[:, 3] - 8
    phases = np.array([phase_of(tasks)], dtype=np.int64)

    def forward(x: torch.Tensor) -> torch.Tensor:
        if x.numel() != weight.inputs or x.dtype != torch.float32:
            result: torch.Tensor = original(x)
            return result
        x = x.contiguous()
        y = torch.empty(*x.shape[:-1], weight.rows)
        tasks[:, 2] = x.data_ptr()
        tasks[:, 3] = offsets + y.data_ptr()
        team.run(phases)
        return y

    return forward


def _register() -> None:
    """In both interfaces of transformers: a name without a mask function silently gets no mask."""
    if ONE_ROW not in ALL_ATTENTION_FUNCTIONS:
        ALL_ATTENTION_FUNCTIONS.register(ONE_ROW, _attention_function)
        ALL_MASK_ATTENTION_FUNCTIONS.register(ONE_ROW, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])


def _attention_function(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **arguments: Any,
) -> Any:
    """One row by the kernel, where it computes what SDPA would; SDPA otherwise."""
    attention = _attention.get()
    if attention is None or not _is_one_plain_row(query, key, value, attention_mask, arguments):
        return ALL_ATTENTION_FUNCTIONS["sdpa"](module, query, key, value, attention_mask, **arguments)
    scale = arguments.get("scaling")
    return attention(query, key, value, attention_mask, query.shape[3] ** -0.5 if scale is None else float(scale)), None


def _is_one_plain_row(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, arguments: dict[str, Any]
) -> bool:
    tensors = (query, key, value)
    return (
        query.shape[0] == query.shape[2] == 1
        and all(tensor.dtype == torch.float32 and tensor.stride(3) == 1 for tensor in tensors)
        and query.shape[3] == key.shape[3] == value.shape[3]
        and query.shape[1] % key.shape[1] == 0
        and (mask is None or (mask.dtype == torch.bool and mask.shape == (1, 1, 1, key.shape[2])))
        and not arguments.get("dropout")
        and all(arguments.get(name) is None for name in _UNSUPPORTED_ARGUMENTS)
    )


class OneRowAttention:
    """Attention of one row; keeps the tasks of each shape, since all layers of a model look alike."""

    def __init__(self, team: TaskTeam) -> None:
        self._team = team
        self._known: dict[tuple[RowShape, int, int], _Row] = {}

    def __call__(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, scale: float
    ) -> torch.Tensor:
        """Output [1, 1, Hq, D] of query [1, Hq, 1, D], key and value [1, Hkv, Tk, D], mask bool [1, 1, 1, Tk]."""
        heads, kv_heads, dim = query.shape[1], key.shape[1], query.shape[3]
        shape = RowShape(dim, heads // kv_heads, masked=mask is not None)
        room = -(-key.shape[2] // (_ROOM_PIECES * PIECE_KEYS)) * _ROOM_PIECES
        place = shape, kv_heads, room
        if place not in self._known:
            self._known[place] = _Row(*place)
        return self._known[place].run(self._team, query, key, value, mask, scale)


class _Row:
    """Tasks of one shape for up to ``pieces`` pieces of keys."""

    def __init__(self, shape: RowShape, kv_heads: int, pieces: int) -> None:
        self._kv_heads, self._heads = kv_heads, kv_heads * shape.group
        self._state = torch.empty(self._heads, pieces, shape.state_floats)
        self._first_and_last = np.zeros(2, dtype=np.int64)  # visible keys; the mask hides others
        self._factor = np.zeros(1, dtype=np.float32)
        cells = int(self._first_and_last.ctypes.data)
        self._tasks, self._joins = row_tasks(
            shape,
            kv_heads,
            pieces,
            state=self._state.data_ptr(),
            first=cells,
            last=cells + 8,
            factor=int(self._factor.ctypes.data),
        )
        self._head = np.tile(np.arange(kv_heads), pieces)
        self._query_offsets, self._output_offsets = self._tasks[:, 1].copy(), self._joins[:, 2].copy()
        self._phases = np.array([phase_of(self._tasks), phase_of(self._joins)], dtype=np.int64)

    def run(
        self,
        team: TaskTeam,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        scale: float,
    ) -> torch.Tensor:
        query = query.contiguous()
        mask = None if mask is None else mask.contiguous()
        output = torch.empty(1, 1, self._heads, query.shape[3])
        self._first_and_last[1] = keys = key.shape[2]
        self._factor[0] = scale * math.log2(math.e)
        tasks = self._tasks
        tasks[:, 1] = query.data_ptr() + self._query_offsets
        tasks[:, 2] = key.data_ptr() + 4 * key.stride(1) * self._head
        tasks[:, 3] = value.data_ptr() + 4 * value.stride(1) * self._head
        tasks[:, 9:11] = key.stride(2), value.stride(2)
        tasks[:, 12] = 0 if mask is None else mask.data_ptr()
        self._joins[:, 2] = output.data_ptr() + self._output_offsets
        self._phases[0, 1] = self._kv_heads * -(-keys // PIECE_KEYS)
        team.run(self._phases)
        return output
