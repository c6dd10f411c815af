"""Statistics by torch's own kernel: equal to the oracle, refused where the kernel cannot tell them, O(T) memory."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given

from attention.memory import peak_bytes
from attention.oracle import Case, assert_close_to_oracle
from attention.strategies import DTYPES, cases_with_requests, every_statistic, numbers, property_test, rich_case
from softlookup.attention import StatsRequest, attention
from softlookup.attention.impl import probe
from softlookup.errors import UsageError

OFFERED = {"max_weight": False, "argmax": False, "top_k": 0, "max_score": False}
PLAIN = {"softcap": None, "sinks": None}


def offered(request: StatsRequest) -> StatsRequest:
    return StatsRequest(
        **{name: getattr(request, name) for name in StatsRequest.__dataclass_fields__ if name not in OFFERED}, **OFFERED
    )


def check(case: Case, request: StatsRequest | None) -> None:
    """Statistics are ratios and differences of rounded outputs: three of them on the longest way."""
    assert_close_to_oracle(case.run("probe", request), case, request, lse_differences=3)


@property_test
@given(cases_with_requests(dtypes=(torch.float32, torch.float64), softcaps=(None,), with_sinks=False, max_keys=129))
def test_any_call_equals_the_definition(drawn):
    case, request = drawn
    check(case, offered(request))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mask_elements", [1, 100, probe._MASK_ELEMENTS])
def test_masks_for_some_rows_at_a_time(mask_elements, dtype, generator, monkeypatch):
    monkeypatch.setattr(probe, "_MASK_ELEMENTS", mask_elements)
    for changes in (
        {},
        {"mask": None},
        {"mask": None, "sliding_window": None},
        {"mask": None, "sliding_window": None, "q_offset": 0},
        {"mask": None, "sliding_window": None, "causal": False},
        {"mask": None, "causal": False, "sliding_window": 4, "q_offset": 60},
    ):
        case = rich_case(generator, dtype=dtype, **PLAIN, **changes)
        check(case, every_statistic(case, **OFFERED))
        check(case, None)


def test_more_spans_than_dimensions(generator):
    case = rich_case(generator, **PLAIN)
    spans = [(start, start + 3) for start in range(34)]
    check(case, StatsRequest(span_mass=spans, span_rows=[12, 5, 6], **OFFERED))


def test_what_the_kernel_cannot_tell_is_refused(generator):
    case = rich_case(generator, **PLAIN)
    with pytest.raises(UsageError) as caught:
        case.run("probe", StatsRequest())
    assert 'impl="probe" cannot give max_weight, argmax' in str(caught.value)
    assert "got StatsRequest(max_weight=True, argmax=True)" in str(caught.value)
    assert 'use impl="tiled", or StatsRequest(max_weight=False, argmax=False)' in str(caught.value)
    with pytest.raises(UsageError, match=r"top_k, max_score.*or StatsRequest\(top_k=0, max_score=False\)"):
        case.run("probe", StatsRequest(max_weight=False, argmax=False, top_k=3, max_score=True))
    # exactly the remedy
    case.run("probe", StatsRequest(max_weight=False, argmax=False))
    for name, value in (("softcap", 3.0), ("sinks", torch.zeros(6))):
        with pytest.raises(UsageError, match=f'impl="probe" takes no {name}: .*; use impl="tiled"'):
            case.changed(**{name: value}).run("probe")


def test_no_rows_give_an_empty_answer(generator):
    case = rich_case(generator, mask=None, **PLAIN)
    case = case.changed(query=case.query[:, :, :0])
    check(case, every_statistic(case, **OFFERED))


@pytest.mark.parametrize(
    "rules", [{"causal": True}, {"causal": True, "q_offset": 5}, {"causal": True, "sliding_window": 64}, {}]
)
def test_memory_grows_with_the_length_only(rules, generator, monkeypatch):
    """Less than the 2048 x 2048 scores of one head, 16 MiB, also where D and Dv differ."""
    monkeypatch.setattr(probe, "_MASK_ELEMENTS", 2**17)
    length = 2048
    query = numbers(generator, (1, 2, length, 8), torch.float32)
    case = Case(query, query[:, :1], query[:, :1, :, :3], **rules)
    request = StatsRequest(distance=True, key_mass=True, span_mass=[(0, 9)], span_rows=[7, 2000], **OFFERED)
    assert 0 < peak_bytes(lambda: case.run("probe", request)) <= 4 * 2**20


def alignment_of_torch(monkeypatch):
    """is_causal where the offset is not 0."""
    original = probe._fused

    def wrong(query, key, value, visible, scale, *, causal=False):
        return original(query, key, value, None, scale, causal=visible is not None or causal)

    monkeypatch.setattr(probe, "_fused", wrong)


def scale_forgotten(monkeypatch):
    original = probe._lse
    monkeypatch.setattr(probe, "_lse", lambda inputs, query, key, mean: original(inputs, query / 0.37, key, mean))


def lse_of_the_mean_score(monkeypatch):
    """ln(1 - a) and ln a exchanged."""
    original = probe._one_or_other
    monkeypatch.setattr(probe, "_one_or_other", lambda length, like: original(length, like).flip(-1))


@pytest.mark.parametrize("fault", [alignment_of_torch, scale_forgotten, lse_of_the_mean_score])
def test_a_fault_of_the_probe_is_caught(fault, generator, monkeypatch):
    case = rich_case(generator, **PLAIN)
    request = every_statistic(case, **OFFERED)
    check(case, request)
    fault(monkeypatch)
    with pytest.raises(AssertionError):
        check(case, request)


def test_a_scale_of_zero_weighs_all_visible_keys_alike():
    query = torch.randn(1, 1, 3, 4)
    key, value = torch.randn(1, 1, 3, 4), torch.eye(3)[None, None]
    output = attention(query, key, value, causal=True, scale=0.0, impl="probe").output
    uniform = torch.tensor([[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]])
    assert float((output[0, 0] - uniform).abs().max()) <= 8 * torch.finfo(torch.float32).eps
