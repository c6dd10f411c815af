"""How a cell shows a chart: as text in a terminal, as a file when a page is built."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softlookup.charts import Chart

Receiver = Callable[["Chart", str], None]


def _print(chart: Chart, _name: str) -> None:
    sys.stdout.write(f"{chart.text()}\n")


_receiver: ContextVar[Receiver] = ContextVar("receiver", default=_print)


def show(chart: Chart, name: str) -> None:
    """Show ``chart``; ``name`` is that of its file (``figures/NN_name.svg``). Prints it as text outside of a page."""
    _receiver.get()(chart, name)


@contextmanager
def shown_to(receiver: Receiver) -> Iterator[None]:
    """Within the block ``show`` hands its charts to ``receiver``."""
    token = _receiver.set(receiver)
    try:
        yield
    finally:
        _receiver.reset(token)
