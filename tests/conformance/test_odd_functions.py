"""Functions that misbehave are reported as what they are; functions of other shapes and libraries are checked alike."""

import sys
import threading
import types

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from conformance import functions
from softlookup.conformance import Adapter, check_fn
from softlookup.conformance.frameworks import framework_of
from softlookup.conformance.planted import infra
from softlookup.conformance.planted.plain import Plain

RIGHT = Plain()


def one(report):
    assert len(report.findings) == 1, str(report)
    return report.findings[0]


def test_a_function_that_raises_could_not_be_tested():
    def attend(q, k, v):
        raise RuntimeError("expected all tensors to be on cuda")

    report = check_fn(attend)
    assert not report.conforms
    assert not report.findings
    assert "call.raises" in report.problem
    assert "cuda" in report.problem


def test_a_function_that_hangs_is_stopped():
    def attend(q, k, v):
        while True:
            pass

    report = check_fn(attend, budget=0.5)
    assert report.problem.startswith("call.hangs")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda o: o[..., :-1], "call.shape"),
        (lambda o: None, "call.returns"),
        (lambda o: o * np.nan, "call.nan"),
        (lambda o: (o, None), "call.returns=a_tuple_of_2"),
        (lambda o: o.astype(np.float16), "call.dtype=float16(want=float32)"),
    ],
    ids=["shape", "none", "nan", "tuple", "dtype"],
)
def test_odd_outputs(change, code):
    def attend(q, k, v, causal=False):
        return change(RIGHT(q, k, v, causal))

    report = check_fn(attend)
    assert one(report).code == code
    assert report.conforms == (one(report).severity == "info")


def test_randomness_and_memory():
    generator = np.random.default_rng(0)

    def random(q, k, v):
        return RIGHT(q, k, v) + 0.1 * generator.random()

    calls = []

    def remembers(q, k, v):
        calls.append(q.shape)
        return RIGHT(q, k, v) * (1 + 0.1 * (len(set(calls)) > 3))

    assert one(check_fn(random)).code == "call.nondeterministic"
    assert not check_fn(remembers).conforms


def test_a_changed_argument_is_found_wherever_it_is():
    def mask_changed(q, k, v, causal=False, mask=None):
        found = RIGHT(q, k, v, causal, mask)
        if mask is not None:
            np.logical_not(mask, out=mask)
        return found

    assert one(check_fn(mask_changed)).code == "input.mutated(mask)"
    assert one(check_fn(infra.inplace)).code == "input.mutated(query)"


def test_fixed_sizes_are_found_by_trying():
    def attend(q, k, v, causal=False):
        if q.shape[1] != 8 or k.shape[1] != 8 or q.shape[-1] != 64:
            raise ValueError("8 heads of 64")
        return RIGHT(q, k, v, causal)

    assert check_fn(attend).conforms

    def fixed(q, k, v):
        if q.shape != k.shape or q.shape[:2] != (1, 5) or q.shape[-1] != 24 or v.shape != k.shape:
            raise ValueError("one size only")
        return RIGHT(q, k, v)

    assert not check_fn(fixed).conforms
    assert check_fn(fixed, adapter=Adapter(batch=1, heads=5, head_dim=24)).conforms


def test_a_fixed_dtype():
    def attend(q, k, v, is_causal=False):
        if q.dtype != torch.float16:
            raise RuntimeError("only float16")
        q, k, v = q.float(), k.float(), v.float()
        return scaled_dot_product_attention(q, k, v, is_causal=is_causal, enable_gqa=True).half()

    assert check_fn(attend, "torch_sdpa").conforms


def test_other_layouts():
    def swap(x):
        return x.transpose(0, 2, 1, 3)

    def attend(q, k, v, causal=False):
        return swap(RIGHT(swap(q), swap(k), swap(v), causal))

    assert check_fn(attend, adapter=Adapter(layout="bthd")).conforms
    assert one(check_fn(attend)).key == "heads.layout"


def test_masks_and_windows_of_another_form():
    def flat_mask(q, k, v, mask=None):
        if mask is not None and mask.ndim != 2:
            raise ValueError("mask must be [Tq, Tk]")
        return RIGHT(q, k, v, mask=None if mask is None else mask[None, None])

    def pair(q, k, v, causal=False, window=None):
        return RIGHT(q, k, v, causal, window=None if window is None else window[0] + 1)

    def pair_too_wide(q, k, v, causal=False, window=None):
        return RIGHT(q, k, v, causal, window=None if window is None else window[0] + 2)

    report = check_fn(flat_mask)
    asked = {probe.id: probe.status for probe in report.probes}
    assert report.conforms
    assert (asked["dead_row.mask"], asked["mask.padding"]) == ("untestable", "untestable")
    assert asked["hidden.high_mask"] == "pass"
    assert check_fn(pair).conforms
    assert one(check_fn(pair_too_wide)).code == "window.size=W+1"


def test_a_function_that_is_always_causal():
    def attend(q, k, v):
        return RIGHT(q, k, v, causal=True)

    assert check_fn(attend, adapter=Adapter(always_causal=True)).conforms
    assert one(check_fn(attend)).key == "cross_attention.causal"


def test_a_call_of_ones_own():
    """A function with other names and a packed layout, in ten lines."""

    def kernel(qkv, hide):
        q, k, v = qkv
        return RIGHT(q, k, v, mask=None if hide is None else ~hide)

    def call(fn, query, key, value, mask=None):
        return fn((query, key, value), None if mask is None else ~mask)

    def wrong(fn, query, key, value, mask=None):
        return fn((query, key, value), mask)

    assert check_fn(kernel, adapter=Adapter(call=call, framework="numpy")).conforms
    assert one(check_fn(kernel, adapter=Adapter(call=wrong, framework="numpy"))).code == "mask.polarity=inverted"


def test_jax_functions_are_checked_alike():
    jax = pytest.importorskip("jax", reason="jax is not installed")

    def attend(query, key, value, is_causal=False):
        return jax.nn.dot_product_attention(query, key, value, is_causal=is_causal)

    assert check_fn(attend, "jax").conforms


def test_ignored_documents_are_reported_with_a_call_that_can_be_made():
    """The search for the smallest call once cut keys and left queries without a document."""

    def attend(q, k, v, causal=False, segments=None):
        del segments
        return functions.right(q, k, v, causal)

    (finding,) = check_fn(attend, adapter=Adapter(framework="numpy")).serious
    assert finding.code == "packed.leak"
    assert len(finding.input["segments"][0]) == finding.input["query"][2] == finding.input["key"][2]


class _LazyArray:
    """As arrays of mlx since 0.32: numbers are computed when they are read, and only in the thread that asked."""

    def __init__(self, make):
        self.make, self.thread, self.found = make, threading.get_ident(), None

    def settle(self):
        if self.found is None and self.thread != threading.get_ident():
            raise RuntimeError("There is no Stream(cpu, 0) in current thread.")
        self.found = self.make() if self.found is None else self.found
        return self.found

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.settle(), dtype=dtype)

    def astype(self, dtype):
        return _LazyArray(lambda: self.settle().astype(dtype))


def _lazy_library():
    def array(given):
        if any(stride < 0 for stride in given.strides):
            raise ValueError("Cannot convert DLPack arrays with negative strides to mlx array.")
        found = _LazyArray(lambda: given)
        found.settle()
        return found

    return types.SimpleNamespace(array=array, eval=lambda found: found.settle(), float32=np.float32, float16=np.float16)


def test_a_library_that_computes_late_is_read_in_its_own_thread(monkeypatch):
    library = _lazy_library()
    monkeypatch.setitem(sys.modules, "mlx", types.SimpleNamespace(core=library))
    monkeypatch.setitem(sys.modules, "mlx.core", library)

    def attend(q, k, v, causal=False):
        q, k, v = (part.astype(np.float32).settle() for part in (q, k, v))
        return _LazyArray(lambda: functions.right(q, k, v, causal))

    report = check_fn(attend, "mlx")
    assert report.conforms, str(report)
    assert {probe.id: probe.status for probe in report.probes}["batch.neighbours"] == "pass"


def test_a_function_made_inside_another_is_known_by_what_it_closes_over():
    import torch as library

    def attend(q, k, v):
        return library.softmax(q @ k.mT / q.shape[-1] ** 0.5, -1) @ v

    assert framework_of(attend) == "torch"
