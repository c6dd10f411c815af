"""Compiles the Triton kernel for a GPU that need not be there; run by test_triton.py in a process of its own.

Prints a JSON list: for each call, the bytes of shared memory that a program takes, and how often its PTX multiplies
matrices by the tensor cores' instruction. The interpreter accepts Python that the compiler refuses.
"""

from __future__ import annotations

import json
import sys

import torch
from triton.backends.compiler import GPUTarget
from triton.runtime.driver import driver

from softlookup.attention import StatsRequest
from softlookup.attention.impl import triton as front
from softlookup.attention.impl import triton_kernel
from softlookup.attention.inputs import check_inputs


class Hopper:
    """What triton asks of a driver before it compiles."""

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0


class Compiled:
    """Stands for the kernel: compiles where it would launch."""

    def __init__(self) -> None:
        self.kernel = triton_kernel.forward
        self.result = None

    def __getitem__(self, grid):
        def call(*arguments, **options):
            self.result = self.kernel.warmup(*arguments, grid=grid, **options)

        return call


def compiled(dtype, dim, value_dim, request, **rules) -> dict[str, int]:
    query, key, value = (torch.zeros(1, heads, 256, dim, dtype=dtype) for heads in (4, 2, 2))
    inputs = check_inputs(query, key, value[..., :value_dim], **rules)
    stand_in = Compiled()
    triton_kernel.forward = stand_in
    try:
        front._launch(triton_kernel, inputs, request, interpreted=False)
    finally:
        triton_kernel.forward = stand_in.kernel
    return {"shared": stand_in.result.metadata.shared, "wgmma": stand_in.result.asm["ptx"].count("wgmma.mma_async")}


if __name__ == "__main__":
    driver.set_active(Hopper())
    every = StatsRequest(max_score=True, distance=True, sink_mass=[5])
    mask = torch.ones(1, 1, 1, 256, dtype=torch.bool)
    calls = [
        compiled(torch.bfloat16, 64, 64, StatsRequest(), causal=True),
        compiled(
            torch.float16, 40, 24, every, sliding_window=9, softcap=2.0, sinks=torch.zeros(4), mask=mask, causal=True
        ),
    ]
    sys.stdout.write(json.dumps(calls))
