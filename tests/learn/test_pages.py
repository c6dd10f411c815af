"""Pages are taken apart and put together, run, and told apart from what their cells do."""

from __future__ import annotations

import pytest

from softlookup.charts import bar_chart
from softlookup.errors import SoftlookupError
from softlookup.learn import show
from softlookup.learn.build import page_faults
from softlookup.learn.pages import Cell, FigureLink, Lesson, Prose, page_text, parts_of
from softlookup.learn.run import LessonError, Ran, play
from softlookup.learn.same import same_code, same_figure, same_output

PAGE = """# 1. A page

Some text.

```sh
softlookup learn 1
```python is no cell here
```

```python
from softlookup.charts import bar_chart
from softlookup.learn import show

x = 0.5
print("half", x)
```

```text
half 0.5
```

![bars](figures/01_bars.svg)

```python
show(bar_chart("t", ["a"], {"s": [x]}, y_label="y"), "bars")
```

The end.
"""


def _lesson(folder, page=PAGE):
    (folder / "01_page.md").write_text(page, encoding="utf-8")
    return Lesson(1, "page", folder)


def test_a_page_is_taken_apart_and_put_together():
    parts = parts_of(PAGE)
    assert [type(part) for part in parts] == [Prose, Cell, FigureLink, Cell, Prose]
    assert parts[1].output == "half 0.5"
    assert parts[1].line == PAGE.splitlines().index("from softlookup.charts import bar_chart") + 1
    assert parts[2] == FigureLink("bars", "figures/01_bars.svg")
    assert parts_of(page_text(parts)) == tuple(
        part if not isinstance(part, Cell) else Cell(part.code, again.line, part.output)
        for part, again in zip(parts, parts_of(page_text(parts)), strict=True)
    )


def test_an_open_fence_is_named():
    with pytest.raises(SoftlookupError, match="line 3"):
        parts_of("a\n\n```python\nprint()\n")


def test_cells_run_in_one_namespace_and_charts_are_collected(tmp_path):
    ran = [part for part in play(_lesson(tmp_path), "en") if isinstance(part, Ran)]
    assert [one.printed for one in ran] == ["half 0.5", ""]
    assert [name for name, _ in ran[1].charts] == ["bars"]


def test_a_failing_cell_is_named_with_its_line(tmp_path):
    lesson = _lesson(tmp_path, "# 1. x\n\n```python\nprint(1)\n```\n\n```python\n1 / 0\n```\n")
    with pytest.raises(LessonError, match=r"01_page\.md:8.*ZeroDivisionError"):
        list(play(lesson, "en"))


def test_a_page_that_shows_what_its_cells_do_has_no_fault(tmp_path):
    lesson = _lesson(tmp_path)
    assert page_faults(lesson, "en", write=True) == ["figures/01_bars.svg: is missing"]
    assert page_faults(lesson, "en") == []
    assert page_faults(lesson, "en", exact=True) == []


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("half 0.5\n```", "half 0.7\n```", "the cell prints 'half 0.5'"),
        ("half 0.5\n```", "third 0.5\n```", "the cell prints 'half 0.5'"),
        ("half 0.5\n```", "half 0.5\nmore\n```", "the cell prints '(nothing)'"),
        ("![bars](figures/01_bars.svg)", "", "shows no figures/01_bars.svg"),
        ("![bars](figures/01_bars.svg)", "![b](figures/01_bars.svg)\n![b](figures/01_other.svg)", "no cell draws"),
        ('"s": [x]', '"s": [2 * x]', "drawn otherwise"),
    ],
)
def test_each_planted_difference_is_found(tmp_path, before, after, fault):
    page_faults(_lesson(tmp_path), "en", write=True)
    assert PAGE.count(before) == 1
    faults = page_faults(_lesson(tmp_path, PAGE.replace(before, after)), "en")
    assert any(fault in line for line in faults), faults


def test_writing_mends_the_page(tmp_path):
    lesson = _lesson(tmp_path, PAGE.replace("half 0.5\n```", "half 0.9\n```"))
    assert page_faults(lesson, "en", write=True)
    assert page_faults(lesson, "en", exact=True) == []


def test_show_prints_text_outside_of_a_page(capsys):
    show(bar_chart("title", ["a"], {"s": [1.0]}, y_label="y"), "name")
    assert "title" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("page", "printed", "same"),
    [
        ("loss 1.234", "loss 1.235", True),
        ("loss 1.234", "loss 1.240", False),
        ("1.5e-10", "1.6e-10", True),
        ("1.5e-10", "1.5e-9", False),
        ("7 heads", "8 heads", False),
        ("heads 7", "layers 7", False),
        ("a   9.99 b", "a  10.00 b", True),
        ("-0.5", "0.5", False),
        ("1 2", "1 2 3", False),
    ],
)
def test_last_digits_may_turn_and_nothing_else(page, printed, same):
    assert same_output(page, printed) is same


def test_measured_numbers_may_differ_by_a_factor():
    assert same_output("took 2.0 s", "took 6.1 s", measured=True)
    assert not same_output("took 2.0 s", "took 61 s", measured=True)
    assert not same_output("took 2.0 s", "needs 2.0 s", measured=True)


def test_figures_may_move_by_what_nobody_sees():
    svg = bar_chart("t", ["a", "b"], {"s": [0.5, 1.0]}, y_label="y").svg()
    near = bar_chart("t", ["a", "b"], {"s": [0.5001, 1.0]}, y_label="y").svg()
    far = bar_chart("t", ["a", "b"], {"s": [0.6, 1.0]}, y_label="y").svg()
    assert svg != near
    assert same_figure(svg, near)
    assert not same_figure(svg, far)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("print('a', x)  # why", "print('甲', x)  # 为什么", True),
        ("print(f'{x} of {y}')", "print(f'{y} 之 {x}')", True),
        ("print(f'{x}')", "print(f'{y}')", False),
        ("a = 1", "a = 2", False),
        ("f('a')", "g('a')", False),
    ],
)
def test_languages_run_the_same_code(one, other, same):
    assert same_code(one, other) is same
