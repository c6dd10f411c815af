"""The Triton kernel in Triton's interpreter; run by test_triton.py in a process of its own.

TRITON_INTERPRET=1 must be set before triton is first imported, and other tests may import it.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest
import torch

from attention.oracle import Case, assert_close_to_oracle, assert_equal
from attention.strategies import every_statistic, numbers, rich_case
from softlookup.attention import StatsRequest
from softlookup.errors import UsageError

if os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("run by test_triton.py, which sets TRITON_INTERPRET=1", allow_module_level=True)

from softlookup.attention.impl import triton as front
from softlookup.attention.impl import triton_kernel, triton_tiles

# numpy's, of arithmetic that is meant: e^2x of a capped score
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in exp2:RuntimeWarning")

FLOAT32, FLOAT16, BFLOAT16 = torch.float32, torch.float16, torch.bfloat16
# computed by the kernel itself
FIRST_PASS = StatsRequest(normalized_entropy=True, max_score=True, distance=True, sink_mass=[0, 3])


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 16 x 16: several of them, of every kind, in a small call."""
    monkeypatch.setattr(front, "choose_blocks", lambda *_: front.Blocks(16, 16, 4, 2))


@pytest.fixture
def wider_tiles(monkeypatch):
    """Tiles of 32 keys: the columns of a lane are not beside each other."""
    monkeypatch.setattr(front, "choose_blocks", lambda *_: front.Blocks(16, 32, 4, 2))


def drawn(generator, heads, kv_heads, rows, keys, dim, value_dim=None, *, dtype=FLOAT32, layout="plain", **rules):
    shapes = ((1, heads, rows, dim), (1, kv_heads, keys, dim), (1, kv_heads, keys, value_dim or dim))
    return Case(*(numbers(generator, shape, dtype, layout) for shape in shapes), **rules)


def check(case: Case, request: StatsRequest | None = FIRST_PASS) -> None:
    assert_close_to_oracle(case.run("triton", request), case, request)


def test_the_kernel_is_interpreted():
    assert not isinstance(triton_kernel.forward, triton_kernel.triton.JITFunction)


@pytest.mark.parametrize("dtype", [FLOAT32, FLOAT16, BFLOAT16])
def test_everything_at_once(dtype, generator, small_tiles):
    """Mask, window, cap, sinks, offset, GQA, odd layouts, Dv != D, and the statistics of the second pass."""
    case = rich_case(generator, dtype=dtype, q_length=7, kv_length=21)
    case = case.changed(query=case.query[:, :3], key=case.key[:, :1], value=case.value[:, :1], sinks=case.sinks[:3])
    if dtype != FLOAT32:  # one batch entry is enough
        case = case.changed(**{name: getattr(case, name)[1:] for name in ("query", "key", "value", "mask")})
    check(case, every_statistic(case))


SHAPES = {
    "9 heads on 3": ((9, 3, 3, 10, 8), {}),
    "4 heads on 1": ((4, 1, 3, 37, 24, 40), {"causal": True}),
    "more rows than keys": ((1, 1, 40, 20, 8), {"causal": True}),
    "rows before the first key": ((1, 1, 20, 40, 8), {"causal": True, "q_offset": -3}),
    "rows after the last key": ((1, 1, 20, 40, 8), {"causal": True, "q_offset": 60}),
    "far away": ((1, 1, 20, 40, 8), {"causal": True, "q_offset": 2**40}),
    "window": ((1, 1, 40, 90, 8), {"causal": True, "sliding_window": 50}),
    "narrow window": ((1, 1, 40, 40, 8), {"causal": True, "sliding_window": 1}),
    "window that looks ahead": ((1, 1, 40, 60, 8), {"sliding_window": 30}),
    "window past the keys": ((1, 1, 20, 20, 8), {"causal": True, "sliding_window": 5, "q_offset": 20}),
    "cap": ((1, 1, 20, 40, 8), {"causal": True, "softcap": 0.7}),
    "negative scale": ((1, 1, 20, 40, 8), {"causal": True, "scale": -0.5}),
    "no scale": ((1, 1, 20, 40, 8), {"causal": True, "scale": 0.0}),
    "scores of 1e4": ((1, 1, 20, 40, 8), {"causal": True, "scale": 3000.0}),
    "capped scores of 1e4": ((1, 1, 20, 40, 8), {"scale": 3000.0, "softcap": 30.0}),
    "one row": ((3, 1, 1, 100, 8), {"causal": True}),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_and_rules(name, generator, small_tiles):
    shape, rules = SHAPES[name]
    check(drawn(generator, *shape, **rules))


@pytest.mark.parametrize("keys", [1, 15, 16, 17, 31, 33])
def test_keys_around_the_border_of_a_tile(keys, generator, small_tiles):
    request = StatsRequest(max_score=True, distance=True)
    check(drawn(generator, 1, 1, 3, keys, 8), request)
    check(drawn(generator, 1, 1, 3, keys, 8, causal=True), request)


@pytest.mark.parametrize(
    ("dtype", "dim", "value_dim", "keys"),
    [(FLOAT16, 64, 64, 129), (FLOAT16, 80, 24, 130), (FLOAT32, 200, 16, 40)],
)
def test_tiles_of_the_table(dtype, dim, value_dim, keys, generator):
    check(drawn(generator, 2, 1, 17, keys, dim, value_dim, dtype=dtype, causal=True))


@pytest.mark.parametrize("shape", [(1, 1, 1, 40), (1, 2, 1, 40), (20, 1), (20, 40)])
def test_masks_of_every_shape(shape, generator, small_tiles):
    mask = torch.rand(shape, generator=generator) < 0.4
    if shape == (20, 40):
        mask[7] = False
        mask = mask.t().contiguous().t()
    check(drawn(generator, 2, 1, 20, 40, 8, mask=mask), StatsRequest())


@pytest.mark.parametrize("logits", [[0.3, -1.0], [-torch.inf, 40.0], [1e4, -1e4]])
def test_learned_sinks(logits, generator, small_tiles):
    check(drawn(generator, 2, 1, 20, 20, 8, sinks=torch.tensor(logits), q_offset=-2, causal=True))


@pytest.mark.parametrize("layout", ["transposed", "sliced", "strided", "expanded"])
def test_any_strides(layout, generator, small_tiles):
    check(drawn(generator, 2, 2, 5, 20, 8, layout=layout))


def test_offsets_beyond_32_bits(generator, small_tiles):
    """Rows 2^27 elements apart in storage that is never touched in between: row 17 lies past 2^31."""
    stride, rows = 2**27, 18
    far = torch.empty(stride * rows, dtype=FLOAT16).as_strided((1, 1, rows, 8), (0, 0, stride, 1))
    near = numbers(generator, (1, 1, rows, 8), FLOAT16)
    far.copy_(near)
    check(Case(far, far, far, mask=torch.ones(1, 1, rows, rows, dtype=torch.bool)))
    check(Case(near, far, near, causal=True))


def first_largest(case: Case) -> torch.Tensor:
    scores = torch.einsum("bhid,bhjd->bhij", case.query.double(), case.key.double())
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril(scores.shape[-1] - scores.shape[-2])
    return scores.masked_fill(~seen, -torch.inf).argmax(-1)  # on the CPU the first


COPIES = [(0, 1), (2, 8), (5, 6, 37), (3, 20, 38), (17, 33), range(40)]


@pytest.mark.parametrize("copies", COPIES)
def test_equal_scores_give_the_first_key(copies, generator, wider_tiles):
    """Copies of the best key beside each other, in other lanes, in other parts of a tile and in other tiles."""
    check_ties(copies, generator)


def check_ties(copies, generator) -> None:
    case = drawn(generator, 1, 1, 16, 40, 8, causal=True)
    query = case.query.sign()  # products that are exact, so that equal keys have equal scores
    key = torch.zeros_like(case.key)
    key[0, 0, list(copies)] = query[0, 0, -1]
    case = case.changed(query=query, key=key)
    stats = case.run("triton", StatsRequest()).stats
    assert_equal("argmax", stats.argmax, first_largest(case))


def test_distance_of_near_keys_is_exact_in_a_long_call(generator, small_tiles):
    """Row 100000 that looks at itself and its neighbours: a sum of positions would lose two digits."""
    mask = torch.zeros(1, 1, 1, 100_001, dtype=torch.bool)
    mask[..., -3:] = True
    key = torch.zeros(1, 1, 1, 8).expand(1, 1, 100_001, 8)
    query = numbers(generator, (1, 1, 1, 8), FLOAT32)
    # only the last tile is of interest, so the others are cut off by the window
    case = Case(query, key, key, causal=True, sliding_window=16, mask=mask)
    stats = case.run("triton", StatsRequest(distance=True)).stats
    assert abs(float(stats.distance) - 1.0) <= 8 * torch.finfo(FLOAT32).eps


def test_no_statistics_and_only_some(generator, small_tiles):
    case = drawn(generator, 2, 1, 5, 20, 8, causal=True)
    check(case, None)
    nothing = {"lse": False, "entropy": False, "max_weight": False, "argmax": False, "sink_mass": None}
    check(case, StatsRequest(**nothing))
    check(case, StatsRequest(**{**nothing, "sink_mass": []}))
    check(case, StatsRequest(**{**nothing, "argmax": True}))
    check(case, StatsRequest(**{**nothing, "sink_mass": list(range(1, 20))}))


def test_no_rows(generator, small_tiles):
    check(drawn(generator, 2, 1, 0, 20, 8))


@pytest.mark.parametrize("name", ["query", "key", "value"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numpy, of the interpreter's arithmetic
def test_numbers_that_are_not_finite_are_refused_by_name(name, number, generator, small_tiles):
    case = drawn(generator, 1, 1, 3, 20, 8)
    tensor = getattr(case, name).clone()
    tensor[0, 0, -1, 2] = number
    with pytest.raises(UsageError, match=f"{name} must be finite"):
        case.changed(**{name: tensor}).run("triton")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scores_beyond_float32_are_refused(generator, small_tiles):
    case = drawn(generator, 1, 1, 3, 20, 8)
    with pytest.raises(UsageError, match="overflow"):
        case.changed(query=case.query * 1e30, key=case.key * 1e30).run("triton")


def test_what_the_kernel_lacks_is_refused(generator):
    case = drawn(generator, 1, 1, 3, 20, 8)
    with pytest.raises(UsageError, match="got float64; use impl='tiled'"):
        case.changed(query=case.query.double(), key=case.key.double(), value=case.value.double()).run("triton")
    for wide in ((257, 8), (8, 257)):
        with pytest.raises(UsageError, match=r"up to 256, .* have 257; use impl='tiled'"):
            drawn(generator, 1, 1, 3, 20, *wide).run("triton")


# --- planted faults: a line of the kernel, what takes its place

MUTANTS = {
    "heads dealt out in turn": ("_part(key, batch, head // group)", "_part(key, batch, head % (heads // group))"),
    "output without rescale": ("state.output * factor", "state.output"),
    "total without rescale": ("total = factor * state.total + tile_total", "total = state.total + tile_total"),
    "entropy that does not follow the maximum": ("(centred + drop * state.total)", "centred"),
    "causal without the own key": ("keys < rows + limits.stop_shift", "keys + 1 < rows + limits.stop_shift"),
    "a window of one key more": ("keys >= rows + limits.start_shift", "keys + 1 >= rows + limits.start_shift"),
    "diagonal tiles taken as full": (
        "full_stop = tl.minimum(full_stop, first_row + limits.stop_shift)",
        "full_stop = tl.minimum(full_stop, first_row + 15 + limits.stop_shift)",
    ),
    "the start of the window taken as full": ("first_row + config.block_m - 1 + limits.start_shift", "start"),
    "sinks counted where they are not seen": (
        "visible = sees(rows[:, None], keys[None, :], plane, config)",
        "visible = (rows >= 0)[:, None]",
    ),
    "a sink logit in base e": ("logit * _LOG2_E", "logit"),
    "sums of rounded weights": (
        "tile_total = _lane_sums(weights, config)",
        "tile_total = _lane_sums(weights.to(tl.float16).to(tl.float32), config)",
    ),
    "argmax of the last tile": ("tl.where(largest > best, tile", "tl.where(largest >= best, tile"),
    "argmax of the last column": ("tl.where(scores > largest, keys", "tl.where(scores >= largest, keys"),
    "argmax of one group": ("tl.where(numbers[None, :] == number[:, None], 0, waiting)", "waiting * 0"),
    "distance from another row": ("(rows + limits.row_shift - tile)", "(rows + limits.row_shift - tile - 1)"),
}


def mutated(tmp_path: Path, old: str, new: str):
    """The kernel's two modules with one piece replaced."""
    changed = 0
    loaded = None
    for module in (triton_tiles, triton_kernel):
        source = Path(module.__file__).read_text("utf-8")
        changed += source.count(old)
        name = module.__name__.rpartition(".")[2]
        source = source.replace(old, new).replace("softlookup.attention.impl.triton_tiles", "mutant_triton_tiles")
        path = tmp_path / f"mutant_{name}.py"
        path.write_text(source, "utf-8")
        spec = importlib.util.spec_from_file_location(f"mutant_{name}", path)
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[loaded.__name__] = loaded
        spec.loader.exec_module(loaded)
    assert changed == 1, f"{old!r} stands {changed} times in the kernel"
    return loaded


FAULT_REQUEST = StatsRequest(argmax=False, distance=True, sink_mass=[0, 3])


def check_rules(generator) -> None:
    """Windows that start and end inside tiles, rows without sink keys, maxima that grow, a large sink logit."""
    case = drawn(generator, 1, 1, 40, 60, 8, causal=True, sliding_window=45, sinks=torch.tensor([1.5]))
    check(case.changed(key=case.key * torch.linspace(0.5, 2, 60)[:, None]), FAULT_REQUEST)


def check_heads(generator) -> None:
    check(drawn(generator, 4, 2, 3, 10, 8), FAULT_REQUEST)


def check_argmax(generator) -> None:
    for copies in COPIES[:5]:
        check_ties(copies, generator)


CHECK_OF = {
    "heads dealt out in turn": check_heads,
    "argmax of the last tile": check_argmax,
    "argmax of the last column": check_argmax,
    "argmax of one group": check_argmax,
}


@pytest.mark.parametrize("passes", [check_rules, check_heads])  # check_argmax is a test of its own
def test_the_kernel_itself_passes_the_checks_of_the_faults(passes, generator, wider_tiles):
    passes(generator)


@pytest.mark.parametrize("name", MUTANTS)
def test_planted_faults_are_caught(name, generator, wider_tiles, monkeypatch, tmp_path):
    kernel = mutated(tmp_path, *MUTANTS[name])
    monkeypatch.setattr(front, "_kernel", lambda: kernel)
    with pytest.raises(AssertionError, match="must be"):
        CHECK_OF.get(name, check_rules)(generator)
