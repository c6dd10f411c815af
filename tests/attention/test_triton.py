"""``impl="triton"``: the kernel in Triton's interpreter and through its compiler, and what is refused without a GPU."""

from __future__ import annotations

import importlib.util
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from softlookup.attention import attention
from softlookup.attention.impl import triton as front
from softlookup.attention.inputs import DTYPES, check_inputs
from softlookup.errors import UsageError

HERE = Path(__file__).resolve().parent
needs_triton = pytest.mark.skipif(
    importlib.util.find_spec("triton") is None, reason="triton is not installed (it comes for Linux)"
)
# bytes of shared memory that a program may use: on sm_86, sm_89 and sm_120, and on sm_90 and sm_100
SMALL, LARGE = 99 * 1024, 227 * 1024


def run_in_own_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Python with the environment set before anything is imported."""
    # a folder with an attention.py (the benchmarks, which other tests import) would hide tests/attention
    folders = [entry for entry in sys.path if entry and not (Path(entry) / "attention.py").exists()]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(HERE.parent), *folders]),
        **environment,
    }
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False, timeout=600
    )


@needs_triton
def test_the_kernel_in_the_interpreter(seed):
    """All tests of interpreted_triton.py; their report is shown on a failure."""
    result = run_in_own_process(
        *("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(HERE / "interpreted_triton.py")),
        TRITON_INTERPRET="1",
        SOFTLOOKUP_TEST_SEED=str(seed),
    )
    assert result.returncode == 0, result.stdout[-20_000:] + result.stderr[-2_000:]
    assert " passed" in result.stdout, result.stdout
    assert "skipped" not in result.stdout, result.stdout


@needs_triton
@pytest.mark.skipif(sys.platform != "linux", reason="triton's assembler comes for Linux")
def test_the_kernel_compiles_for_a_gpu(tmp_path):
    """For sm_90, through the same launch code: tiles fit shared memory and are multiplied by the tensor cores."""
    result = run_in_own_process(str(HERE / "compiled_triton.py"), TRITON_INTERPRET="0", TRITON_CACHE_DIR=str(tmp_path))
    assert result.returncode == 0, result.stderr[-4_000:]
    for call in json.loads(result.stdout):
        assert 0 < call["shared"] <= LARGE
        assert call["wgmma"] > 0


@needs_triton
def test_tensors_on_a_cpu_are_refused():
    query = torch.zeros(1, 1, 2, 8)
    with pytest.raises(UsageError, match=r"needs tensors on a GPU, got cpu; .* TRITON_INTERPRET=1"):
        attention(query, query, query, impl="triton")


def test_a_missing_triton_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("softlookup.attention.impl.triton_")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("softlookup.attention.impl.triton_kernel", raising=False)
    monkeypatch.setitem(sys.modules, "triton", None)
    query = torch.zeros(1, 1, 2, 8)
    with pytest.raises(UsageError, match=r"needs the package triton, .*`pip install triton`"):
        attention(query, query, query, impl="triton")


@pytest.mark.parametrize("limit", [SMALL, LARGE])
@pytest.mark.parametrize("dtype", [dtype for dtype in DTYPES if dtype != torch.float64])
def test_tiles_of_the_table_fit_shared_memory(dtype, limit):
    """A tile of the query, and of keys and values as many as are in flight."""
    for dim in (1, 8, 64, 65, 128, 129, 256):
        for rows in (1, 16, 40, 4096):
            query, key = torch.empty(1, 1, rows, dim, dtype=dtype), torch.empty(1, 1, 9, dim, dtype=dtype)
            blocks = front.choose_blocks(check_inputs(query, key, key), None, limit)
            padded = max(16, 1 << (dim - 1).bit_length())
            assert (blocks.rows + 2 * blocks.stages * blocks.keys) * padded * query.element_size() <= limit
            assert blocks.rows >= 16 <= blocks.keys
            assert blocks.rows & (blocks.rows - 1) == 0 == blocks.keys & (blocks.keys - 1)


def test_the_benchmark_says_when_there_is_no_gpu(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["triton_attention.py"])
    runpy.run_path(str(HERE.parents[1] / "benchmarks" / "triton_attention.py"), run_name="__main__")
    assert capsys.readouterr().out == "not measured: no CUDA device\n"
