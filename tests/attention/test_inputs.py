"""What attention refuses, what it takes, and that it changes nothing it is given."""

from __future__ import annotations

import re

import pytest
import torch

from attention.oracle import Case, assert_close_to_oracle, assert_equal
from attention.strategies import every_statistic, numbers, rich_case
from softlookup.attention import AttentionOutput, StatsRequest, attention, attention_statistics
from softlookup.errors import CapacityError, UsageError

IMPLEMENTATIONS = ["reference", "tiled", "probe"]
# the statistics that all of them give
OF_ALL = {"max_weight": False, "argmax": False, "top_k": 0, "max_score": False}


def zeros(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


QUERY, KEY = zeros(1, 4, 3, 8), zeros(1, 2, 5, 8)

# (what is different from a good call, what the message must say, what the remedy must say)
BAD_CALLS = [
    ({"query": zeros(4, 3, 8)}, "query must have 4 dimensions [B, H, T, D], got shape [4, 3, 8]", "unsqueeze"),
    ({"key": zeros(5, 8)}, "key must have 4 dimensions", "unsqueeze"),
    ({"value": zeros(1, 1, 2, 5, 8)}, "value must have 4 dimensions [B, H, T, D], got shape [1, 1, 2, 5, 8]", ""),
    ({"query": [[0.0]]}, "query must be a torch tensor, got list", "convert"),
    ({"query": QUERY.long(), "key": KEY.long(), "value": KEY.long()}, "query must be float32, float64", "convert"),
    ({"key": KEY.double()}, "must share dtype and device, got query torch.float32", "convert"),
    ({"value": KEY.bfloat16()}, "must share dtype and device", "convert"),
    ({"key": zeros(2, 2, 5, 8)}, "batch sizes must be equal, got query [1, 4, 3, 8], key [2, 2, 5, 8]", "expand"),
    ({"value": zeros(1, 2, 6, 8)}, "key and value must have the same heads and length", "cache"),
    ({"value": zeros(1, 4, 5, 8)}, "key and value must have the same heads and length", "cache"),
    ({"key": zeros(1, 2, 5, 7)}, "query and key must have the same D", "projections"),
    ({"key": zeros(1, 3, 5, 8), "value": zeros(1, 3, 5, 8)}, "key has 3 heads, which must divide query's 4", "order"),
    ({"key": zeros(1, 8, 5, 8), "value": zeros(1, 8, 5, 8)}, "key has 8 heads, which must divide query's 4", "order"),
    ({"key": zeros(1, 0, 5, 8), "value": zeros(1, 0, 5, 8)}, "key has 0 heads", ""),
    (
        {"query": zeros(0, 4, 3, 8), "key": zeros(0, 2, 5, 8), "value": zeros(0, 2, 5, 8)},
        "B and D must be at least 1",
        "",
    ),
    ({"query": zeros(1, 4, 3, 0), "key": zeros(1, 2, 5, 0)}, "B and D must be at least 1", ""),
    ({"key": zeros(1, 2, 0, 8), "value": zeros(1, 2, 0, 8)}, "key must hold at least one position", "empty cache"),
    ({"q_offset": 1.0}, "q_offset must be an int, got 1.0", "position of query row 0"),
    ({"q_offset": True}, "q_offset must be an int, got True", ""),
    ({"sliding_window": 0}, "sliding_window must be at least 1 (it counts the query's own position), got 0", "None"),
    ({"sliding_window": -3}, "sliding_window must be at least 1", "None"),
    ({"sliding_window": True}, "sliding_window must be at least 1", "None"),
    ({"scale": float("nan")}, "scale must be finite, got nan", "1 / sqrt(D)"),
    ({"scale": float("inf")}, "scale must be finite", "1 / sqrt(D)"),
    ({"softcap": 0.0}, "softcap must be positive and finite, got 0.0", "None"),
    ({"softcap": -1.0}, "softcap must be positive and finite", "None"),
    ({"mask": torch.zeros(3, 5)}, "mask must be a bool tensor (True = attend), got torch.float32", "additive"),
    ({"mask": True}, "mask must be a bool tensor (True = attend), got bool", ""),
    (
        {"mask": zeros(1, 5, dtype=torch.bool).expand(2, 5)},
        "mask must be broadcastable to [B, Hq, Tq, Tk] = [1, 4, 3, 5], got [2, 5]",
        "mask[:, None, None, :]",
    ),
    ({"mask": zeros(1, 2, 3, 5, dtype=torch.bool)}, "mask must be broadcastable to", ""),
    ({"mask": zeros(1, 1, 4, 3, 5, dtype=torch.bool)}, "mask must be broadcastable to", ""),
    (
        {"sinks": zeros(2)},
        "sinks must be floats [Hq] = [4], one learned logit per query head, got torch.float32 [2]",
        "",
    ),
    ({"sinks": zeros(4, 1)}, "sinks must be floats [Hq] = [4]", "sink_mass"),
    ({"sinks": torch.zeros(4, dtype=torch.long)}, "sinks must be floats", ""),
    ({"sinks": 2}, "sinks must be floats [Hq] = [4], one learned logit per query head, got int", "sink_mass=n"),
    ({"sinks": torch.full((4,), torch.nan)}, "sinks must not be NaN or +inf", "None"),
    ({"sinks": torch.full((4,), torch.inf)}, "sinks must not be NaN or +inf", "None"),
    ({"impl": "flash"}, "impl must be one of reference, tiled, probe, triton, got 'flash'", "leave it out"),
    ({"stats": True}, "stats must be a StatsRequest or None, got bool", "StatsRequest()"),
    ({"stats": StatsRequest(sink_mass=[5])}, "sink_mass keys must lie in 0..4, got 5", ""),
    ({"stats": StatsRequest(sink_mass=[1, 1])}, "sink_mass keys", ""),
    ({"stats": StatsRequest(span_mass=[(0, 6)])}, "spans must be (start, stop) with 0 <= start <= stop <= 5", "clip"),
    ({"stats": StatsRequest(span_mass=[(3, 2)])}, "spans must be (start, stop)", "clip"),
    ({"stats": StatsRequest(span_mass=[(0, 1)], span_rows=[3])}, "span_rows must lie in 0..2, got 3", ""),
    ({"stats": StatsRequest(key_mass=True, key_mass_rows=[-1])}, "key_mass_rows must lie in 0..2, got -1", ""),
]


@pytest.mark.parametrize(("changes", "message", "remedy"), BAD_CALLS, ids=lambda value: str(value)[:40])
def test_a_bad_call_is_refused(changes, message, remedy):
    """The message says what is required and what came, the remedy what to do."""
    with pytest.raises(UsageError) as caught:
        attention(**{"query": QUERY, "key": KEY, "value": KEY, **changes})
    assert message in caught.value.message
    assert remedy in caught.value.remedy
    assert caught.value.remedy
    if not {"value", "impl", "stats"} & changes.keys():
        with pytest.raises(UsageError, match=re.escape(message.replace(", value", "")[:20])):
            attention_statistics(**{"query": QUERY, "key": KEY, **changes})


def test_span_mass_of_every_row_of_a_long_input_is_refused_with_the_bytes():
    long = torch.zeros(1, 1, 1, 1).expand(1, 1, 131072, 1)
    spans = [(start, start + 1) for start in range(1000)]
    with pytest.raises(CapacityError, match=r"131072 rows x 1000 spans x 1 heads needs 524,288,000 bytes") as caught:
        attention(long, long, long, stats=StatsRequest(span_mass=spans))
    assert "span_rows" in caught.value.remedy


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("rows", [1, 5, 20, 40])
@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(bad, name, rows, impl, generator):
    """One element that a query sees, wherever it is; infinite keys such that they are the largest, see below."""
    for dtype in (torch.float32, torch.float64):
        tensors = {
            "query": numbers(generator, (1, 2, rows, 8), dtype),
            "key": numbers(generator, (1, 1, 40, 8), dtype),
            "value": numbers(generator, (1, 1, 40, 8), dtype),
        }
        if name == "key":
            tensors["query"] = tensors["query"].abs() * (-1 if bad == -torch.inf else 1)
        flat = tensors[name].view(-1)
        flat[int(torch.randint(len(flat), (1,), generator=generator))] = bad
        request = StatsRequest(max_weight=False, argmax=False)
        message = f"{name} must be finite, it holds NaN or infinite numbers; zero the padded positions of {name}"
        with pytest.raises(UsageError, match=message):
            attention(**tensors, impl=impl, stats=request)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("rows", [1, 15, 16])
def test_an_infinite_key_of_score_minus_infinity_has_no_weight_or_is_refused(rows, dtype, generator):
    query = numbers(generator, (1, 2, rows, 8), dtype).abs()
    key, value = numbers(generator, (1, 1, 40, 8), dtype), numbers(generator, (1, 1, 40, 8), dtype)
    without = Case(query, key.clone(), value, mask=torch.arange(40) != 7)
    key[:, :, 7, 3] = -torch.inf
    try:
        got = attention(query, key, value)
    except UsageError as error:
        assert "key must be finite" in error.message  # noqa: PT017 - either outcome is right
    else:
        assert rows < 16
        assert_close_to_oracle(AttentionOutput(got.output, None, 0), without)


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_a_query_that_sees_nothing_must_be_finite_too(impl, generator):
    query = numbers(generator, (1, 2, 4, 8), torch.float32)
    query[:, :, 0] = torch.nan
    key = numbers(generator, (1, 1, 3, 8), torch.float32)
    with pytest.raises(UsageError, match="query must be finite"):
        attention(query, key, key, causal=True, impl=impl)  # row 0 stands before key 0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_scores_beyond_the_range_of_numbers_are_refused(dtype):
    """Finite inputs of which the products are not."""
    large = torch.full((1, 1, 2, 4), torch.finfo(dtype).max ** 0.75, dtype=dtype)
    with pytest.raises(UsageError, match=r"scores .*(overflow|exceed)"):
        attention(large, large, large)


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_no_query_rows_give_an_empty_answer(impl):
    got = attention(QUERY[:, :, :0], KEY, KEY[..., :6], impl=impl, causal=True)
    assert got.output.shape == (1, 4, 0, 6)
    assert got.empty_rows == 0


def variants(tensor: torch.Tensor) -> list[torch.Tensor]:
    """The same numbers in other memory layouts."""
    batch, heads, length, dim = tensor.shape
    transposed = tensor.transpose(1, 2).contiguous().transpose(1, 2)
    wide = torch.zeros(batch, heads, length + 2, dim + 3, dtype=tensor.dtype)[:, :, 1:-1, 3:]
    wide.copy_(tensor)
    columns = tensor.transpose(2, 3).contiguous().transpose(2, 3)
    backwards_rows = torch.zeros(batch, heads, 2 * length, dim, dtype=tensor.dtype)[:, :, ::2]
    backwards_rows.copy_(tensor)
    return [transposed, wide, columns, backwards_rows]


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_memory_layout_does_not_matter(dtype, impl, generator):
    case = rich_case(generator, dtype=dtype, softcap=None, sinks=None)
    request = every_statistic(case, **OF_ALL)
    for query, key, value in zip(*map(variants, (case.query, case.key, case.value)), strict=True):
        other = case.changed(query=query, key=key, value=value)
        assert_close_to_oracle(other.run(impl, request), case, request, lse_differences=3)


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
def test_expanded_views_are_taken_as_they_are(impl, generator):
    """Stride 0 in every dimension that may have it: batch, heads, and equal keys."""
    query = numbers(generator, (1, 1, 6, 8), torch.float32).expand(2, 4, 6, 8)
    key = numbers(generator, (1, 1, 9, 8), torch.float32).expand(2, 2, 9, 8)
    value = numbers(generator, (1, 2, 1, 8), torch.float32).expand(2, 2, 9, 8)
    mask = (torch.rand(1, 1, 6, 9, generator=generator) < 0.6).expand(2, 4, 6, 9)
    case = Case(query, key, value, mask=mask)
    copies = Case(query.contiguous(), key.contiguous(), value.contiguous(), mask=mask.contiguous())
    request = every_statistic(case, **OF_ALL)
    assert_close_to_oracle(case.run(impl, request), copies, request, lse_differences=3)


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_nothing_given_is_changed(dtype, impl, generator):
    sinks = {} if impl != "probe" else {"sinks": None, "softcap": None}
    case = rich_case(generator, dtype=dtype, **sinks)
    given = [tensor for tensor in (case.query, case.key, case.value, case.mask, case.sinks) if tensor is not None]
    before = [tensor.clone() for tensor in given]
    case.run(impl, every_statistic(case, **OF_ALL))
    for tensor, copy in zip(given, before, strict=True):
        assert torch.equal(tensor, copy)


def test_the_answer_is_no_view_of_the_inputs(generator):
    """A caller may overwrite a cache after the call."""
    case = Case(*(numbers(generator, (1, 1, 1, 8), torch.float32) for _ in range(3)))
    got = case.run("tiled", StatsRequest())
    copy = got.output.clone()
    case.value.zero_()
    assert_equal("output", got.output, copy)


def test_lazily_negated_views_are_what_they_show(generator):
    """torch keeps a negation as a flag; memory holds the other sign."""
    number = torch.randn(1, 4, 6, 8, dtype=torch.cfloat, generator=generator)
    view = number.conj().imag
    assert view.is_neg()
    other = numbers(generator, (1, 2, 6, 8), torch.float32)
    for query, key in ((view, other), (-other.repeat(1, 2, 1, 1), view[:, :2])):
        plain = attention(query.resolve_neg(), key.resolve_neg(), other)
        assert torch.equal(attention(query, key, other).output, plain.output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"causal": "no"}, "causal must be True or False"),
        ({"q_offset": 10**30}, "q_offset must be within"),
        ({"scale": "x"}, "scale must be a number"),
        ({"scale": True}, "scale must be a number"),
        ({"softcap": True}, "softcap must be a number"),
        ({"softcap": 1e300}, "softcap must be between"),
    ],
)
def test_arguments_of_a_wrong_kind_are_refused(arguments, message, generator):
    key = numbers(generator, (1, 2, 6, 8), torch.float32)
    with pytest.raises(UsageError, match=message):
        attention(key, key, key, **arguments)


def test_tensors_without_numbers_are_refused():
    with pytest.raises(UsageError, match="query must be a dense tensor"):
        attention(*(torch.zeros(1, 1, 4, 8, device="meta") for _ in range(3)))


def test_a_window_beyond_every_key_is_no_window(generator):
    key = numbers(generator, (1, 2, 6, 8), torch.float32)
    wide = attention(key, key, key, causal=True, sliding_window=10**30)
    assert torch.equal(wide.output, attention(key, key, key, causal=True).output)


def test_top_k_beyond_memory_is_refused_with_its_bytes(generator):
    key = numbers(generator, (1, 2, 6, 8), torch.float32)
    with pytest.raises(CapacityError, match="needs 240,000,000,000 bytes"):
        attention(key, key, key, stats=StatsRequest(top_k=10**9))


@pytest.mark.parametrize("span", [(0, 3.5), (False, True), (0, 1, 2)])
def test_spans_are_pairs_of_whole_numbers(span, generator):
    key = numbers(generator, (1, 2, 6, 8), torch.float32)
    with pytest.raises(UsageError, match="spans must be"):
        attention(key, key, key, stats=StatsRequest(span_mass=[span]))
