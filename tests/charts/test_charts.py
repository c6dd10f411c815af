"""Charts: well-formed SVG with every value, the same bytes each time, hostile text as text, and text that fits."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from rich.cells import cell_len

from softlookup.charts import bar_chart, heat_map, line_chart
from softlookup.charts.scale import Scale, scale_for, tick_text

HOSTILE = '</text><script>alert(1)</script>"\x1b[31m\x00 & 条款'
SVG = "{http://www.w3.org/2000/svg}"


def _line(title="Loss", name=HOSTILE, **more):
    series = {"right": [3.0, None, 1.0], name: [2.0, math.nan, math.inf]}
    return line_chart(title, [1, 2, 4], series, x_label="step", y_label="nats", **more)


def _bars(title="Cost", name=HOSTILE, **more):
    return bar_chart(title, ["a", name], {"one": [1.0, -2.0], "two": [0.5, None]}, y_label="seconds", **more)


def _heat(title="Weights", name=HOSTILE):
    return heat_map(
        title, [[1.0, None], [0.25, 0.75]], row_labels=["q0", name], column_labels=["k0", "k1"], value_format=".2f"
    )


CHARTS = {"line": _line, "bars": _bars, "heat": _heat}


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS.keys())
def test_svg_is_well_formed_and_hostile_text_stays_text(make):
    root = ET.fromstring(make(HOSTILE).svg())
    assert root.tag == f"{SVG}svg"
    assert not [element for element in root.iter() if element.tag.endswith("script")]
    assert root.find(f"{SVG}title").text == HOSTILE.replace("\x1b", "").replace("\x00", "")


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS.keys())
def test_the_same_numbers_give_the_same_bytes(make):
    assert make().svg() == make().svg()
    assert make().text() == make().text()


@pytest.mark.parametrize("make", CHARTS.values(), ids=CHARTS.keys())
@pytest.mark.parametrize("width", [40, 72, 120])
def test_text_keeps_its_width(make, width):
    rows = make("标题", "条款 8.2").text(width).splitlines()
    assert max(map(cell_len, rows)) <= width


def test_values_stand_in_the_svg_where_a_program_can_read_them():
    dots = list(ET.fromstring(_line().svg()).iter(f"{SVG}circle"))
    assert [(dot.get("data-x"), dot.get("data-y")) for dot in dots] == [("1", "3"), ("4", "1"), ("1", "2")]
    cells = [e.get("data-value") for e in ET.fromstring(_heat().svg()).iter(f"{SVG}rect") if e.get("data-value")]
    assert cells == ["1", "0.25", "0.75"]
    bars = [e.get("data-value") for e in ET.fromstring(_bars().svg()).iter(f"{SVG}rect") if e.get("data-value")]
    assert bars == ["1", "0.5", "-2"]


def test_a_value_that_is_missing_breaks_the_line():
    path = next(ET.fromstring(_line().svg()).iter(f"{SVG}path")).get("d")
    assert path.count("M") == 2
    assert "L" not in path


def test_higher_values_are_drawn_higher_and_further_right():
    chart = line_chart("t", [0, 1, 2], {"s": [0.0, 1.0, 5.0]}, x_label="x", y_label="y")
    dots = list(ET.fromstring(chart.svg()).iter(f"{SVG}circle"))
    across, down = ([float(dot.get(name)) for dot in dots] for name in ("cx", "cy"))
    assert across == sorted(across)
    assert down == sorted(down, reverse=True)


def test_log_axes_leave_out_what_has_no_logarithm():
    chart = line_chart("t", [1, 10, 100], {"s": [0.0, 1.0, 1000.0]}, x_label="x", y_label="y", log_x=True, log_y=True)
    assert len(list(ET.fromstring(chart.svg()).iter(f"{SVG}circle"))) == 2
    assert "(log)" in chart.text()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: line_chart("t", [1, 2], {"s": [1.0]}, x_label="", y_label=""), "'s'"),
        (lambda: bar_chart("t", ["a"], {"s": [1.0, 2.0]}, y_label=""), "'s'"),
        (lambda: heat_map("t", [[1.0]], row_labels=[], column_labels=["a"]), "labels"),
        (lambda: heat_map("t", [[1.0, 2.0]], row_labels=["a"], column_labels=["a"]), "2 cells"),
    ],
)
def test_lengths_that_do_not_match_are_refused(make, named):
    with pytest.raises(ValueError, match=named):
        make()


@pytest.mark.parametrize("values", [[], [None], [math.nan], [0.0], [5.0, 5.0], [1e-12, 1e12], [-3.0, 7.0]])
@pytest.mark.parametrize("log", [False, True])
def test_any_values_have_a_range_and_ticks_inside_it(values, log):
    scale = scale_for(values, log=log)
    ticks = scale.ticks()
    assert scale.low < scale.high
    assert all(-1e-6 <= scale.place(tick) <= 1 + 1e-6 for tick in ticks)
    assert len(ticks) <= 24


def test_ticks_are_round_numbers():
    assert [tick_text(value) for value in Scale(0, 1).ticks()] == ["0", "0.2", "0.4", "0.6", "0.8", "1"]
    assert tick_text(131_072) == "131,072"
    assert tick_text(5.15e10) == "5.2e10"


def test_the_darkest_cell_is_the_largest_value():
    chart = heat_map("t", [[0.0, 0.5, 1.0]], row_labels=["r"], column_labels=list("abc"))
    fills = [e.get("fill") for e in ET.fromstring(chart.svg()).iter(f"{SVG}rect") if e.get("data-value")]
    brightness = [sum(int(fill[at : at + 2], 16) for at in (1, 3, 5)) for fill in fills]
    assert brightness == sorted(brightness, reverse=True)
    assert "@" in chart.text()
