"""The templates of report and page: every string escaped, every invisible character shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.ui.escape import printable

if TYPE_CHECKING:
    from jinja2 import Environment

UI_FOLDER = Path(__file__).resolve().parent


def template_environment() -> Environment:
    """A new environment; a name that is not given is an error, never an empty place."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    def shown(value: object) -> object:
        return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FileSystemLoader(UI_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=shown,
    )
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["fixed"] = lambda value, digits: f"{value:.{digits}f}"
    return environment
