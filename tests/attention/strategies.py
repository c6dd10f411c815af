"""Hypothesis strategies of attention calls, shared by the tests of every implementation.

Shapes and rules are drawn and shrink; the numbers come from a drawn seed.
"""

from __future__ import annotations

import math

import torch
from hypothesis import settings
from hypothesis import strategies as st

from attention.oracle import Case
from softlookup.attention import StatsRequest

# print_blob: what repeats a failure is printed with it
property_test = settings(max_examples=60, deadline=None, print_blob=True)

# around the sizes of vectors, tiles and panels
EDGES = (1, 2, 3, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 255, 256, 257)
DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
# D and Dv
DIMS = ((1, 1), (3, 3), (8, 8), (17, 5), (16, 33), (40, 40))
SIZES = ("usual", "usual", "extreme", "tiny", "equal")


def numbers(generator: torch.Generator, shape, dtype, layout: str = "plain") -> torch.Tensor:
    """Normal numbers [B, H, T, D] in memory as a caller may have them."""
    batch, heads, length, dim = shape
    if layout == "transposed":  # projections come as [B, T, H, D]
        return torch.randn(batch, length, heads, dim, generator=generator).to(dtype).transpose(1, 2)
    if layout == "sliced":  # part of a longer cache, and of a wider row
        whole = torch.randn(batch, heads, length + 3, dim + 2, generator=generator).to(dtype)
        return whole[:, :, 1 : length + 1, 2:]
    if layout == "strided":  # even the last dimension
        return torch.randn(batch, heads, dim, length, generator=generator).to(dtype).transpose(2, 3)
    if layout == "expanded":
        return torch.randn(batch, 1, length, dim, generator=generator).to(dtype).expand(shape)
    return torch.randn(shape, generator=generator).to(dtype)


LAYOUTS = ("plain", "plain", "transposed", "sliced", "strided", "expanded")


@st.composite
def cases(
    draw, *, dtypes=DTYPES, dims=DIMS, softcaps=(None, None, 0.7, 30.0), masked=True, with_sinks=True, max_keys=257
) -> Case:
    """Any call: GQA, Tq != Tk, offsets that leave rows without keys, windows, masks, caps, sinks, extreme scores."""
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31 - 1), label="seed of the numbers"))
    dtype = draw(st.sampled_from(dtypes))
    batch, kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    kv_length = draw(st.one_of(st.integers(1, 40), st.sampled_from([size for size in EDGES if size <= max_keys])))
    q_length = draw(st.one_of(st.integers(1, 20), st.just(kv_length).filter(lambda rows: rows <= 65)))
    dim, value_dim = draw(st.sampled_from(dims))
    query, key, value = (
        numbers(generator, shape, dtype, draw(st.sampled_from(LAYOUTS)))
        for shape in (
            (batch, kv_heads * group, q_length, dim),
            (batch, kv_heads, kv_length, dim),
            (batch, kv_heads, kv_length, value_dim),
        )
    )
    size = draw(st.sampled_from(SIZES))
    scale = draw(st.sampled_from((None, None, 0.37, -0.5, 1.3)))
    # scores of about 1e4, as of outliers in trained models; the default scale is undone
    scale = {"usual": scale, "extreme": 1e4 / math.sqrt(dim), "tiny": 1e-6, "equal": 0.0}[size]
    causal = draw(st.booleans())
    return Case(
        query,
        key,
        value,
        causal=causal,
        q_offset=draw(st.one_of(st.none(), st.integers(-q_length - 1, kv_length + 2))),
        sliding_window=draw(st.one_of(st.none(), st.integers(1, kv_length + 3))),
        mask=draw(masks(generator, batch, kv_heads * group, q_length, kv_length)) if masked else None,
        scale=scale,
        softcap=draw(st.sampled_from(softcaps)),
        sinks=draw(sinks(generator, kv_heads * group, dtype)) if with_sinks else None,
    )


@st.composite
def masks(draw, generator, batch: int, heads: int, q_length: int, kv_length: int) -> torch.Tensor | None:
    """Bool masks of every broadcast shape, with rows and keys that are masked altogether; or None."""
    kind = draw(st.sampled_from(("none", "none", "padding", "2d", "heads", "full", "rows", "nothing")))
    if kind == "none":
        return None
    if kind == "nothing":
        return torch.zeros(1, 1, 1, 1, dtype=torch.bool)
    shape = {
        "padding": (batch, 1, 1, kv_length),
        "2d": (q_length, kv_length),
        "heads": (1, heads, q_length, kv_length),
        "full": (batch, heads, q_length, kv_length),
        "rows": (batch, 1, q_length, 1),
    }[kind]
    mask = torch.rand(shape, generator=generator) < draw(st.sampled_from((0.1, 0.5, 0.9)))
    if draw(st.booleans()) and kind != "padding":
        mask = mask.clone()
        mask[..., draw(st.integers(0, q_length - 1)), :] = False
    return mask


@st.composite
def sinks(draw, generator, heads: int, dtype: torch.dtype) -> torch.Tensor | None:
    kind = draw(st.sampled_from(("none", "none", "usual", "large", "without weight")))
    if kind == "none":
        return None
    values = torch.randn(heads, generator=generator) * (40 if kind == "large" else 1)
    if kind == "without weight":
        values[0] = -torch.inf
    return values.to(dtype)


@st.composite
def requests(draw, q_length: int, kv_length: int) -> StatsRequest:
    """Any statistics; spans overlap, nest, touch and may be empty."""
    keys, rows = st.integers(0, kv_length - 1), st.integers(0, q_length - 1)
    ends = st.integers(0, kv_length)
    spans = draw(st.none() | st.lists(st.tuples(ends, ends).map(lambda pair: (min(pair), max(pair))), max_size=6))
    key_mass = draw(st.booleans())
    return StatsRequest(
        lse=draw(st.booleans()),
        entropy=draw(st.booleans()),
        normalized_entropy=draw(st.booleans()),
        max_weight=draw(st.booleans()),
        argmax=draw(st.booleans()),
        top_k=draw(st.integers(0, 5)),
        max_score=draw(st.booleans()),
        sink_mass=draw(st.none() | st.integers(0, 6) | st.lists(keys, unique=True, max_size=5)),
        distance=draw(st.booleans()),
        span_mass=spans,
        span_rows=None if spans is None else draw(st.none() | st.lists(rows, unique=True, max_size=4)),
        key_mass=key_mass,
        key_mass_rows=draw(st.none() | st.lists(rows, unique=True, max_size=4)) if key_mass else None,
    )


@st.composite
def cases_with_requests(draw, **limits) -> tuple[Case, StatsRequest]:
    case = draw(cases(**limits))
    return case, draw(requests(case.query.shape[2], case.key.shape[2]))


def every_statistic(case: Case, **changes) -> StatsRequest:
    """All statistics at once."""
    rows, keys = case.query.shape[2], case.key.shape[2]
    asked = {
        "normalized_entropy": True,
        "top_k": 4,
        "max_score": True,
        "sink_mass": sorted({0, keys // 2}),
        "distance": True,
        "span_mass": [(0, keys), (0, keys // 2), (keys // 3, keys - keys // 4), (keys // 2, keys // 2)],
        "span_rows": sorted({rows - 1, rows // 2, 0}, reverse=True) if rows else [],
        "key_mass": True,
        "key_mass_rows": sorted({0, rows // 3, rows - 1}) if rows else [],
    }
    return StatsRequest(**{**asked, **changes})


def rich_case(generator: torch.Generator, *, dtype=torch.float32, q_length=13, kv_length=37, **changes) -> Case:
    """One call with everything on, of which every part changes the result."""
    query = numbers(generator, (2, 6, q_length, 17), dtype, "transposed")
    key = numbers(generator, (2, 2, kv_length, 17), dtype, "sliced")
    value = numbers(generator, (2, 2, kv_length, 5), dtype)
    mask = torch.rand(2, 1, q_length, kv_length, generator=generator) < 0.7
    mask[:, :, q_length // 2] = False
    case = Case(
        query, key, value, causal=True, q_offset=kv_length - q_length - 2, sliding_window=kv_length * 2 // 3, mask=mask,
        scale=0.37, softcap=3.0, sinks=torch.randn(6, generator=generator).to(dtype),
    )  # fmt: skip
    return case.changed(**changes)
