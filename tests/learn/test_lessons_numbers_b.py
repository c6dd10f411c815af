"""Lessons 5 to 7: what their cells define is right, and what their prose claims is what softlookup computes."""

from __future__ import annotations

import re

import pytest
import torch

from softlookup.attention import StatsRequest, attention
from softlookup.cost.course import course_account, requests_on_80_gb
from softlookup.cost.course_shapes import TOKENS, course_shape
from softlookup.cost.flops import crossover_tokens, model_flops
from softlookup.learn.pages import LANGUAGES, Cell, lesson
from softlookup.learn.same import same_code


def _cells(number: int, language: str = "en") -> list[Cell]:
    return [part for part in lesson(number).parts(language) if isinstance(part, Cell)]


def _defined(code: str) -> dict[str, object]:
    found: dict[str, object] = {"__name__": "lesson"}
    exec(compile(code, "<cell>", "exec"), found)
    return found


def _cell_with(number: int, text: str) -> str:
    return next(cell.code for cell in _cells(number) if text in cell.code)


def _prose(number: int, language: str) -> str:
    return lesson(number).path(language).read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [5, 6, 7])
def test_both_languages_run_the_same_code_and_show_the_same_figures(number):
    english, chinese = (_cells(number, language) for language in LANGUAGES)
    assert len(english) == len(chinese)
    for one, other in zip(english, chinese, strict=True):
        assert same_code(one.code, other.code), one.code
    figures = [re.findall(r"\(figures/(\d\d_[a-z]+)", _prose(number, language)) for language in LANGUAGES]
    assert figures[0] == figures[1]
    assert figures[0]


def _gap(code: str, tile: int, factor: float = 1.0) -> float:
    """Largest difference of the lesson's loop from the definition, over output, lse and entropy."""
    generator = torch.Generator().manual_seed(3)
    query, key, value = torch.randn(3, 37, 8, generator=generator, dtype=torch.float64)
    query = factor * query
    online = _defined(code)["online_attention"]
    mine = online(query, key, value, tile)
    right = attention(query[None, None], key[None, None], value[None, None], impl="reference", stats=StatsRequest())
    theirs = (right.output[0, 0], right.stats.lse[0, 0], right.stats.entropy[0, 0])
    return max((one - other).abs().max().item() for one, other in zip(mine, theirs, strict=True))


@pytest.mark.parametrize("tile", [1, 5, 36, 37, 100])
def test_the_loop_of_lesson_5_is_attention_whatever_the_tile(tile):
    code = _cell_with(5, "def online_attention")
    assert _gap(code, tile) < 1e-13
    assert _gap(code, tile, 300.0) < 1e-9


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("total = drop.exp() * total", "total = total"),
        ("output = drop.exp()[:, None] * output", "output = output"),
        ("(centred + drop * total)", "centred"),
        ("maximum = higher", "maximum = scores.amax(-1)"),
    ],
)
def test_each_rescaling_of_the_loop_is_needed(right, wrong):
    code = _cell_with(5, "def online_attention")
    assert code.count(right) == 1
    assert _gap(code.replace(right, wrong), 5) > 1e-3


def test_live_bytes_counts_what_lives_at_once_and_nothing_twice():
    live = _defined("import torch\n" + _cell_with(5, "class LiveBytes"))["LiveBytes"]
    with live() as memory:
        kept = torch.zeros(1000, dtype=torch.float64)
        for _ in range(3):
            torch.zeros(500, dtype=torch.float64)  # gone before the next
        view = kept[:10]
    assert memory.peak == 8 * 1500
    assert view.shape == (10,)
    with live() as memory:
        held = [torch.zeros(500, dtype=torch.float64) for _ in range(3)]
    assert memory.peak == 8 * 1500
    assert len(held) == 3


def _verdicts(text: str) -> list[str]:
    """Rows of the closing table of lesson 6."""
    return [line for line in text.splitlines() if line.startswith("| ")][1:]


def _missing(rows: list[str]) -> list[str]:
    """Figures that the table must give and does not."""
    right = {line.what: line.right for line in course_account()}
    wanted = [
        f"{right['QK^T and AV']:.3g}".replace("e+", "e"), f"{right['total']:.3g}".replace("e+", "e"),
        f"{right['share of attention']:.0%}".replace("%", " %"), f"{right['prefill']:.1f} s",
        f"{1e3 * right['decode per token']:.0f} ms", f"{right['200 tokens of answer']:.2f} s",
        f"1/{right['attention of retrieval, 1 in']:.0f}", f"{right['saving of retrieval']:.1f}",
        f"{right['retrieval, 8 x 4k']:.2g}".replace("e+", "e"),
    ]  # fmt: skip
    return [figure for figure in wanted if not any(figure in row.split("|")[2].replace("H100 上 ", "") for row in rows)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_table_of_lesson_6_gives_the_computed_values(language):
    rows = _verdicts(_prose(6, language))
    assert _missing(rows) == []
    assert _missing([row.replace("3.38e15", "3.83e15") for row in rows]) == ["3.38e15"]
    assert _missing([row.replace("8.8", "9.9") for row in rows]) == ["8.8"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_lesson_6_says_between_its_cells(language):
    text = _prose(6, language)
    shape = course_shape()
    for tokens, growth in ((1024, "2.04"), (TOKENS, "3.45")):
        assert f"{model_flops(shape, 2 * tokens).total / model_flops(shape, tokens).total:.2f}" == growth
        assert growth in text
    assert f"{crossover_tokens(shape):,}" == "49,152"
    assert "49,152" in text
    assert (int(requests_on_80_gb(32)), int(requests_on_80_gb(8))) == (1, 4)


def test_the_decoders_of_lesson_7_are_named_and_the_right_ones_are_not(capsys):
    _defined(_cell_with(7, "class CutAndCount"))
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed["DecodePositionZero"].startswith("decode.position=0")
    assert printed["CropKeepsCount"].startswith("cache.crop_position")
    assert printed["CutAndCount"].startswith("decode.position=?")
    # correct ones, and the one that eleven tokens cannot show
    assert {printed[name] for name in ("Toy", "AllShifted", "CutLater")} == {"no finding"}
