"""From LLVM IR to a function that Python can call, and what the processor at hand offers.

A compiled function takes one pointer to an array of int64 (addresses, sizes, strides). ctypes calls it without
the GIL. Code lives in memory only and as long as the process.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from llvmlite import binding

# LLVM's own structures are not thread-safe while code is being made
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class VectorShape:
    """Register tile of the matrix kernels: ``vectors`` of ``lanes`` floats x ``unroll`` columns."""

    lanes: int
    vectors: int
    unroll: int

    @property
    def rows(self) -> int:
        """Rows of a panel: lanes x vectors."""
        return self.lanes * self.vectors


@functools.cache
def host_shape() -> VectorShape:
    """The register tile for this processor; correct on any, since LLVM splits vectors that are too wide.

    The accumulators and one vector of each operand must fit the registers: 32 of 16 floats with AVX-512,
    16 of 8 with AVX2; 128-bit machines with 32 registers (NEON) are served by the AVX2 tile.
    """
    binding = _llvm()
    with _LOCK:
        features = binding.get_host_cpu_features()
    return VectorShape(16, 3, 8) if features.get("avx512f") else VectorShape(8, 2, 6)


@functools.cache
def converts_half() -> bool:
    """Whether the processor converts float16 itself; elsewhere LLVM would call a library function that is not there."""
    binding = _llvm()
    with _LOCK:
        return bool(binding.get_host_cpu_features().get("f16c")) or _machine_name() == "aarch64"


@functools.cache
def pause_instruction() -> tuple[str, int | None] | None:
    """LLVM intrinsic that tells the processor that a thread spins, with its operand; None where there is none."""
    return {"x86_64": ("llvm.x86.sse2.pause", None), "aarch64": ("llvm.aarch64.hint", 1)}.get(_machine_name())


class CompiledFunction:
    """Machine code of one function; calling it releases the GIL."""

    def __init__(self, engine: binding.ExecutionEngine, address: int) -> None:
        self._engine = engine  # owns the code
        self.address = address
        self._call: Callable[[object], None] = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)

    def __call__(self, parameters: ctypes.Array[ctypes.c_int64]) -> None:
        """Run it on its parameter array."""
        self._call(parameters)


def compile_function(ir: str, name: str) -> CompiledFunction:
    """Optimised machine code of function ``name`` of the module ``ir``, for this processor."""
    binding = _llvm()
    with _LOCK:
        module = binding.parse_assembly(ir)
        module.verify()
        # LLVM prefers 256-bit vectors on many AVX-512 processors and would split ours
        features = binding.get_host_cpu_features().flatten() + ",-prefer-256-bit"
        machine = binding.Target.from_default_triple().create_target_machine(
            cpu=binding.get_host_cpu_name(), features=features, opt=3, jit=True
        )
        options = binding.create_pipeline_tuning_options(speed_level=2)
        # the loops are written in the shape that they shall have
        options.loop_unrolling = False
        options.loop_vectorization = False
        options.slp_vectorization = False
        builder = binding.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        engine = binding.create_mcjit_compiler(module, machine)
        engine.finalize_object()
        return CompiledFunction(engine, engine.get_function_address(name))


def _machine_name() -> str:
    """First part of the target triple; Apple says arm64 where others say aarch64."""
    name = str(_llvm().get_default_triple()).split("-", maxsplit=1)[0]
    return "aarch64" if name == "arm64" else name


@functools.cache
def _llvm() -> binding:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding
