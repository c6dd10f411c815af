"""One token through a model of the Llama family in one compiled call: the same steps as transformers' modules.

For models whose layers are norm, attention with rotary positions, norm, and a gated SiLU network, as the classes in
``FAMILY`` compute them, and which nobody has changed by hooks. Weights are the compact ones, keys and values are
written into the cache's own storage, and every layer is a list of tasks (:mod:`softlookup.kernels.tasks`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from softlookup.kernels.row_attention import PIECE_KEYS, RowShape, row_tasks
from softlookup.kernels.tasks import PHASE_WORDS, TaskTeam, phase_of, tasks_of
from softlookup.kernels.token_ops import gate_kernel, norm_kernel, place_kernel
from softlookup.runtime.attention_calls import AttentionCall

if TYPE_CHECKING:
    import numpy.typing as npt

    from softlookup.kernels.compiler import CompiledFunction
    from softlookup.runtime.compact_weights import CompactWeights
    from softlookup.runtime.kv_cache import GrowingLayer

# in transformers.models: module and prefix of the class names
FAMILY = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3"}
# rotary positions that depend on the length of the whole sequence
_MOVING_ROPE = ("dynamic", "longrope")
_PLAIN_ATTENTION = ("sdpa", "eager")
_TORCH_MODULES = (torch.nn.Linear, torch.nn.Embedding, torch.nn.ModuleList, torch.nn.SiLU)

_LOG2E = math.log2(math.e)
# int64 cells: the position to write, and the number of keys; first visible keys follow, one per kind of layer
_SLOT, _KEYS, _FIRST = 0, 1, 2


def is_supported(model: Any) -> bool:
    """Whether the program computes what ``model`` does: a known, unchanged model in float32 on the CPU."""
    kind = getattr(model.config, "model_type", None)
    prefix = FAMILY.get(str(kind))
    home = f"transformers.models.{kind}.modeling_{kind}"
    own = type(model)
    if prefix is None or (own.__module__, own.__name__) != (home, f"{prefix}ForCausalLM"):
        return False
    rope = str((getattr(model.config, "rope_parameters", None) or {}).get("rope_type", "default"))
    return (
        not any(kind in rope for kind in _MOVING_ROPE)
        and not model.training
        and str(model.config._attn_implementation) in _PLAIN_ATTENTION
        and model.config.hidden_act == "silu"
        and all(p.dtype == torch.float32 and p.device.type == "cpu" and p.is_contiguous() for p in model.parameters())
        and all(_is_unchanged(module, home) for module in model.modules())
        and all(_is_regular(layer, model.config) for layer in model.model.layers)
    )


def _is_unchanged(module: Any, home: str) -> bool:
    """Of a class that the program knows, and without hooks."""
    known = type(module) in _TORCH_MODULES or type(module).__module__ in (home, "transformers.activations")
    hooked = module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module)
    return known and not hooked


def _is_regular(layer: Any, config: Any) -> bool:
    """Whether no head has been pruned."""
    part = layer.self_attn
    query, key = config.num_attention_heads * part.head_dim, config.num_key_value_heads * part.head_dim
    projections = (part.q_proj, part.k_proj, part.v_proj, part.o_proj)
    widths = (*(module.out_features for module in projections[:3]), part.o_proj.in_features)
    return all(type(module) is torch.nn.Linear for module in projections) and widths == (query, key, key, query)


class TokenProgram:
    """Decodes up to ``steps`` tokens behind what ``layers`` hold; ``position`` is that of the first."""

    def __init__(
        self,
        model: Any,
        weights: CompactWeights,
        layers: Sequence[GrowingLayer],
        *,
        position: int,
        steps: int,
    ) -> None:
        self._weights, self._layers = weights, layers
        config = model.config
        self._modules = list(model.model.layers[: config.num_hidden_layers])
        attention = self._modules[0].self_attn
        self._dim = int(attention.head_dim)
        self._kv_heads = int(config.num_key_value_heads)
        self._heads = int(config.num_attention_heads)
        self._scale = float(attention.scaling)
        self._storage = [layer.reserve(steps) for layer in layers]
        self._begun = layers[0].get_seq_length()
        self._done = 0
        self._embedding = model.model.embed_tokens.weight
        self._windows = _windows(config, len(self._modules))
        self._kinds = sorted({window or 0 for window in self._windows})
        self._cells = np.zeros(_FIRST + len(self._kinds), dtype=np.int64)
        hidden, middle = int(config.hidden_size), int(config.intermediate_size)
        self._x, self._normed, self._gated = (torch.empty(n) for n in (hidden, hidden, middle))
        self._gate_and_up = torch.empty(2, middle)
        self._attended = torch.empty(self._heads, self._dim)
        self._rows = torch.empty(len(self._modules), self._heads + 2 * self._kv_heads, self._dim)
        self._logits = torch.empty(model.lm_head.out_features)
        with torch.inference_mode():
            places = torch.arange(position, position + steps)[None]
            cos, sin = model.model.rotary_emb(self._x[None, None], position_ids=places)
            self._rope = torch.stack([cos[0], sin[0]], 1).float().contiguous()  # [steps, 2, D]
        self._rope_now = torch.empty(2, self._dim)
        self._factor = torch.tensor([self._scale * _LOG2E])
        self._shape = RowShape(self._dim, self._heads // self._kv_heads)
        self._pieces = -(-(self._begun + steps) // PIECE_KEYS)
        self._state = torch.empty(self._heads, self._pieces, self._shape.state_floats)
        self._kept: list[object] = [model]  # whatever tasks point to
        self._build(model)

    def attention_calls(self) -> Iterator[AttentionCall]:
        """What every layer's attention has seen at the last step."""
        rows, keys = self._rows[:, : self._heads].clone(), self._begun + self._done
        for number, (row, window) in enumerate(zip(rows, self._windows, strict=True)):
            first = 0 if window is None else max(0, keys - window)
            yield AttentionCall(
                layer=int(self._modules[number].self_attn.layer_idx),
                query=row[:, None],
                key=self._storage[number][0][0, :, :keys],
                visible=torch.arange(keys)[None] >= first if first else None,
                scale=self._scale,
                softcap=None,
                sliding_window=window,
            )

    def step(self, team: TaskTeam, token: int) -> torch.Tensor:
        """Logits [V] behind ``token``; the next step overwrites them."""
        if not 0 <= token < self._embedding.shape[0]:
            raise IndexError(f"token {token} is not one of {self._embedding.shape[0]}")
        slot = self._begun + self._done
        keys = slot + 1
        self._cells[_SLOT], self._cells[_KEYS] = slot, keys
        self._cells[_FIRST:] = [max(0, keys - window) if window else 0 for window in self._kinds]
        self._rope_now.copy_(self._rope[self._done])
        self._embed[0, 1] = self._embedding.data_ptr() + 4 * token * self._embedding.shape[1]
        self._phases[self._attention_phases, 1] = self._kv_heads * -(-keys // PIECE_KEYS)
        team.run(self._phases)
        self._done += 1
        return self._logits

    def close(self) -> None:
        """Hand the keys and values of the steps to the cache."""
        for layer in self._layers:
            layer.extend(self._done)

    # --- the list of phases

    def _build(self, model: Any) -> None:
        hidden = self._x.numel()
        self._embed = self._tasks(place_kernel(), 0, _at(self._x), 1, hidden, 0, 0, self._cell(_SLOT), 0, 0)
        phases = [phase_of(self._embed, shared=False)]
        self._attention_phases = []
        for number, layer in enumerate(self._modules):
            phases.append(self._norm(layer.input_layernorm, self._x, self._normed))
            phases.extend(self._project(number, layer.self_attn))
            phases.append(self._place(number))
            self._attention_phases.append(len(phases))
            phases.extend(self._attend(number))
            phases.append(self._matrices((layer.self_attn.o_proj, self._attended, self._x, self._x)))
            phases.append(self._norm(layer.post_attention_layernorm, self._x, self._normed))
            phases.extend(self._network(layer.mlp))
        phases.append(self._norm(model.model.norm, self._x, self._normed))
        phases.append(self._matrices((model.lm_head, self._normed, self._logits, None)))
        self._phases = np.array(phases, dtype=np.int64).reshape(-1, PHASE_WORDS)

    def _tasks(self, kernel: CompiledFunction, *parameters: int) -> npt.NDArray[np.int64]:
        task = tasks_of(kernel, 1)
        task[0, 1 : 1 + len(parameters)] = parameters
        return task

    def _phase(self, tasks: Sequence[npt.NDArray[np.int64]], *, shared: bool) -> tuple[int, int, int]:
        joined = np.concatenate(tasks)
        self._kept.append(joined)
        return phase_of(joined, shared=shared)

    def _cell(self, place: int) -> int:
        return int(self._cells.ctypes.data) + 8 * place

    def _norm(self, module: Any, x: torch.Tensor, y: torch.Tensor) -> tuple[int, int, int]:
        """RMS norm of every row of x [..., size]."""
        epsilon = torch.tensor([module.variance_epsilon])
        self._kept.append(epsilon)
        size = module.weight.numel()
        rows = [
            self._tasks(norm_kernel(), _at(x) + at, _at(module.weight), _at(y) + at, size, _at(epsilon))
            for at in range(0, 4 * x.numel(), 4 * size)
        ]
        return self._phase(rows, shared=False)

    def _matrices(self, *products: tuple[Any, torch.Tensor, torch.Tensor, torch.Tensor | None]) -> tuple[int, int, int]:
        """Products (module, x, y, addend) that do not depend on one another."""
        tasks = []
        for module, x, y, addend in products:
            bias = 0 if module.bias is None else _at(module.bias)
            weight = self._weights[module]
            tasks.append(weight.tasks(_at(x), _at(y), bias=bias, addend=0 if addend is None else _at(addend)))
        return self._phase(tasks, shared=True)

    def _split(self, number: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Query [Hq, D], key and value [Hkv, D] of a layer."""
        rows, behind = self._rows[number], self._heads + self._kv_heads
        return rows[: self._heads], rows[self._heads : behind], rows[behind:]

    def _project(self, number: int, module: Any) -> Iterator[tuple[int, int, int]]:
        query, key, value = self._split(number)
        yield self._matrices(
            (module.q_proj, self._normed, query, None),
            (module.k_proj, self._normed, key, None),
            (module.v_proj, self._normed, value, None),
        )
        if hasattr(module, "q_norm"):
            yield self._norm(module.q_norm, query, query)
            yield self._norm(module.k_norm, key, key)

    def _place(self, number: int) -> tuple[int, int, int]:
        """Turn query and key to their position; key and value into the cache."""
        query, key, value = self._split(number)
        cos, sin, dim = _at(self._rope_now[0]), _at(self._rope_now[1]), self._dim
        stored_key, stored_value = self._storage[number]
        (room, step), slot = stored_key.stride()[1:3], self._cell(_SLOT)
        kernel, kv_heads = place_kernel(), self._kv_heads
        tasks = [
            self._tasks(kernel, _at(query), _at(query), self._heads, dim, dim, 0, slot, cos, sin),
            self._tasks(kernel, _at(key), _at(stored_key), kv_heads, dim, room, step, slot, cos, sin),
            self._tasks(kernel, _at(value), _at(stored_value), kv_heads, dim, room, step, slot, 0, 0),
        ]
        return self._phase(tasks, shared=False)

    def _attend(self, number: int) -> Iterator[tuple[int, int, int]]:
        key, value = self._storage[number]
        tasks, joins = row_tasks(
            self._shape,
            self._kv_heads,
            self._pieces,
            state=_at(self._state),
            first=self._cell(_FIRST + self._kinds.index(self._windows[number] or 0)),
            last=self._cell(_KEYS),
            factor=_at(self._factor),
        )
        head = np.tile(np.arange(self._kv_heads), self._pieces)
        tasks[:, 1] += _at(self._rows[number])
        tasks[:, 2] = _at(key) + 4 * key.stride(1) * head
        tasks[:, 3] = _at(value) + 4 * value.stride(1) * head
        tasks[:, 9:11] = key.stride(2), value.stride(2)
        joins[:, 2] += _at(self._attended)
        yield self._phase([tasks], shared=True)
        yield self._phase([joins], shared=True)

    def _network(self, module: Any) -> Iterator[tuple[int, int, int]]:
        gate, up = self._gate_and_up
        yield self._matrices((module.gate_proj, self._normed, gate, None), (module.up_proj, self._normed, up, None))
        gating = self._tasks(gate_kernel(), _at(gate), _at(up), _at(self._gated), self._gated.numel())
        yield self._phase([gating], shared=False)
        yield self._matrices((module.down_proj, self._gated, self._x, self._x))


def _at(tensor: torch.Tensor) -> int:
    return tensor.data_ptr()


def _windows(config: Any, layers: int) -> list[int | None]:
    """Sliding window of each layer, None where it sees every key."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if window is None:
        return [None] * layers
    if kinds is None:
        return [int(window)] * layers
    return [int(window) if kind == "sliding_attention" else None for kind in kinds]
