"""Small charts as SVG and as text: lines, bars, heat maps. The same numbers give the same bytes on every machine.

For figures in lessons and reports; not a plotting library: no interaction, no dates, no styles to choose.
"""

from __future__ import annotations

from softlookup.charts.bars import BarChart, bar_chart
from softlookup.charts.chart import Chart
from softlookup.charts.heat import HeatMap, heat_map
from softlookup.charts.lines import LineChart, line_chart

__all__ = ["BarChart", "Chart", "HeatMap", "LineChart", "bar_chart", "heat_map", "line_chart"]
