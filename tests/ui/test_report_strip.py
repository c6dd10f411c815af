"""Cells tile the document, scores and attention land on the right ones, the figures hold what they are given."""

from __future__ import annotations

import importlib.util
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from softlookup.diagnostics.inspection_result import PassageWeight
from softlookup.documents.model import Span
from softlookup.documents.read import read_document
from softlookup.evidence.answer import ClauseScore
from softlookup.ui.report.cells import cell_views, densities, document_cells
from softlookup.ui.report.heads import clause_map, entropy_map, head_map_svg, sink_map
from softlookup.ui.report.strip import WIDTH, Row, Shade, strip_svg
from tiny_models import CONTRACT

HERE = Path(__file__).resolve().parent
_SPEC = importlib.util.spec_from_file_location("ui_strip_inputs", HERE / "report_inputs.py")
inputs = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = inputs
_SPEC.loader.exec_module(inputs)


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "c.txt"
    path.write_text(CONTRACT, "utf-8")
    return read_document(path)


@pytest.mark.parametrize("most", [1, 2, 5, 8, 1000])
def test_cells_hold_the_text_once_in_order_and_are_few_enough(document, most):
    cells = document_cells(document, len, most)
    assert len(cells) <= most
    assert all(a.span.end <= b.span.start for a, b in pairwise(cells))
    joined = "".join(document.text[cell.span.start : cell.span.end] for cell in cells)
    assert re.sub(r"\s", "", joined) == re.sub(r"\s", "", document.text)
    assert sorted({i for cell in cells for i in cell.clauses}) == [
        index for index, span in document.own_spans() if document.text[span.start : span.end].strip()
    ]
    assert all(cell.length >= 1 for cell in cells)


def test_deep_clauses_join_their_parents_before_neighbours_join(document):
    alone = document_cells(document, len, 1000)
    joined = document_cells(document, len, len(alone) - 1)
    payment = next(cell for cell in joined if cell.name.startswith("2 "))
    assert {"2", "2.1", "2.2"} <= {document.clauses[i].number for i in payment.clauses}
    law = next(cell for cell in joined if cell.name.startswith("5"))
    assert len(law.clauses) == 1


def test_a_length_is_that_of_the_counter(document):
    cells = document_cells(document, lambda text: 3 * len(text.split()), 1000)
    assert all(cell.length == 3 * len(document.text[cell.span.start : cell.span.end].split()) for cell in cells)


def test_scores_and_weights_land_on_their_clause(document):
    cells = document_cells(document, len, 1000)
    clause = next(clause for clause in document.clauses if clause.number == "4.1")
    score = ClauseScore("4.1", "", clause.span.start, clause.span.end, 0.5, 0.03)
    passages = [PassageWeight(clause.span.start, clause.span.end, 0.2), PassageWeight(0, 10, 0.05)]
    views = cell_views(document, cells, [clause.span], [score], passages)
    place = next(n for n, cell in enumerate(cells) if clause.index in cell.clauses)
    assert [n for n, view in enumerate(views) if view.evidence is not None] == [place]
    assert (views[place].evidence, views[place].p_value) == (0.5, 0.03)
    assert views[place].attention == pytest.approx(0.8)
    assert views[place].fed == 1.0
    assert sum(view.attention for view in views) == pytest.approx(1.0)
    assert densities(cells, views)[place] == 1.0
    assert sum(view.fed for view in views) == pytest.approx(1.0)


def test_the_share_that_was_fed_is_exact_for_overlapping_spans(document):
    cells = document_cells(document, len, 1000)
    first = cells[2].span
    middle = (first.start + first.end) // 2
    spans = [Span(first.start, middle), Span(first.start, middle - 2), Span(0, 1)]
    views = cell_views(document, cells, spans, ())
    assert views[2].fed == pytest.approx((middle - first.start) / len(first))
    assert views[2].attention is None


def test_the_strip_is_as_wide_as_it_says_and_names_every_cell(document):
    cells = document_cells(document, len, 1000)
    titles = [f"title {n} <&>" for n in range(len(cells))]
    shades = tuple(Shade(n / (len(cells) - 1), underlined=n == 3) for n in range(len(cells)))
    svg = strip_svg(document, cells, [Row("evidence", "ev", shades)], titles, "name")
    total = sum(cell.length for cell in cells)
    drawn = re.findall(r'<a href="#cl-(\d+)" data-cell="(\d+)" data-length="(\d+)"[^>]*>(.*?)</a>', svg)
    assert [int(cell) for _, cell, _, _ in drawn] == list(range(len(cells)))
    for first, cell, length, body in drawn:
        assert int(first) == cells[int(cell)].clauses[0]
        assert int(length) == cells[int(cell)].length
        width = float(re.search(r' width="([\d.]+)"', body)[1])
        assert width == pytest.approx(max(0.8, (WIDTH - 92) * int(length) / total - 0.8), abs=0.11)
        assert f"<title>title {cell} &lt;&amp;&gt;</title>" in body
    assert svg.count('class="u"') == 1
    assert 'class="ev v0"' in svg
    assert 'class="ev v6"' in svg
    assert "4</text>" in svg


def test_a_long_strip_wraps_and_no_line_is_too_wide(tmp_path):
    path = tmp_path / "long.txt"
    path.write_text("\n\n".join(f"{n}. The keeper pays. " + "Indeed. " * (n % 9) for n in range(1, 700)), "utf-8")
    document = read_document(path)
    cells = document_cells(document, len, 2000)
    rows = [Row("a", "ev", tuple(Shade(0.5) for _ in cells)), Row("b", "fd", tuple(Shade(1, "fd") for _ in cells))]
    svg = strip_svg(document, cells, rows, [cell.name for cell in cells], "name")
    found = re.findall(r'<rect class="ev v\d" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)"', svg)
    lines = sorted({float(y) for _, y, _ in found})
    assert 3 <= len(lines) <= 12
    assert all(float(x) + float(width) <= WIDTH + 1 for x, _, width in found)
    for y in lines[:-1]:  # full to the edge
        assert max(float(x) + float(width) for x, at, width in found if float(at) == y) > WIDTH - 3
    assert {int(n) for n in re.findall(r'data-cell="(\d+)"', svg)} == set(range(len(cells)))


def test_head_maps_hold_every_head_and_outline_alerted_ones(document):
    found = inputs.inspection(document, "?")
    entropy, sink = entropy_map(found), sink_map(found)
    assert entropy.values[1][2] == pytest.approx(0.2)
    assert sink.values[3][1] == pytest.approx(0.7)
    assert entropy.alerted == {(2, 1)}
    assert sink.alerted == {(1, 0)}
    svg = head_map_svg(entropy, "name", "layer", "head")
    cells = re.findall(r'<rect class="([^"]+)"[^>]*?(?: data-value="([^"]+)")?><title>([^<]+)</title>', svg)
    assert len(cells) == inputs.LAYERS * inputs.HEADS
    outlined = [title for kind, _, title in cells if "ha" in kind.split()]
    assert outlined == ["layer 2, head 1: 0.100"]
    assert ("hv h2", "0.2", "layer 0, head 2: 0.200") in cells


def test_the_clause_map_is_darkest_where_the_mass_is_largest(document):
    found = clause_map(inputs.inspection(document, "?"))
    assert found.rows == ("2.1", "“Prelude”")
    assert found.top == 0.08
    assert [column[0] for column in found.values] == [0.0, 0.02, 0.08, 0.0]
    svg = head_map_svg(found, "name", "layer", "")
    kinds = dict(re.findall(r'<rect class="hv (h\d+)"[^>]*><title>([^<]+)</title>', svg))
    assert kinds["h10"] == "layer 2, 2.1: 0.080"
    assert kinds["h0"].startswith("layer")
    assert ">“Prelude”</text>" in svg


def test_a_head_without_a_number_is_blank(document):
    from dataclasses import replace

    found = inputs.inspection(document, "?")
    layers = (replace(found.layers[0], heads=({"head": 0, "normalized_entropy": None, "first_token": None},)),)
    svg = head_map_svg(entropy_map(replace(found, layers=layers, alerts=())), "name", "层", "头")
    assert '<rect class="hx"' in svg
    assert "层 0, 头 0: -" in svg
    assert head_map_svg(entropy_map(replace(found, layers=(), alerts=())), "name", "layer", "head") == ""
