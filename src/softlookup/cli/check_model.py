"""``softlookup check --model``: a small random model of the same class first, then the weights where there are any."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.errors import CapacityError, ExitCode, ModelError, UsageError

if TYPE_CHECKING:
    from softlookup.conformance import Report

_IMPLEMENTATIONS = ("eager", "sdpa")
_SECONDS = {"one pass": 60.0, "weights": 600.0}
SCHEMA = "softlookup.conformance.model/1"


def check_model_at(given: str, options: argparse.Namespace, budget: float | None) -> ExitCode:
    """0 conforms, 1 findings, 5 could not test; ``given``: a folder, a GGUF file, a config.json or a model's name."""
    reports = []
    for report in _reports(given, budget, packed=options.packed):
        reports.append(report)
        if not options.json:
            _write(f"{report}\n")
    serious = any(report.serious for report in reports)
    # weights that could not be tested are no pass; a class may well lack one of the two implementations
    tested = [report for report in reports if not report.problem]
    failed = not tested or bool(reports[-1].problem and reports[-1].contract == "weights")
    if options.json:
        found: dict[str, Any] = {"schema": SCHEMA, "subject": given, "conforms": not serious and not failed}
        _write({**found, "reports": [report.to_dict() for report in reports]})
    if serious:
        return ExitCode.ERROR
    return ExitCode.MODEL if failed else ExitCode.OK


def _reports(given: str, budget: float | None, *, packed: bool) -> Iterator[Report]:
    with contextlib.redirect_stdout(sys.stderr):
        folder, config = _found(given)
    for implementation in _IMPLEMENTATIONS:
        with contextlib.redirect_stdout(sys.stderr):
            report = _tiny(config, implementation, budget, packed=packed)
        yield report
    if folder is not None:
        with contextlib.redirect_stdout(sys.stderr):
            report = _weights(given, budget, packed=packed)
        yield report


def _found(given: str) -> tuple[Path | None, Any]:
    """The folder with weights, None for a lone config.json, and the configuration."""
    path = Path(given).expanduser()
    lone = path if path.name == "config.json" else path / "config.json"
    if lone.is_file() and not any(lone.parent.glob("*.safetensors")):
        return None, _config(lone)
    from softlookup.runtime.load import find_model_source

    if path.name == "config.json" and path.is_file():
        path = path.parent
    source = find_model_source(path if path.exists() else given)
    return source.folder, _config(source.folder / "config.json")


def _config(path: Path) -> Any:
    from softlookup.runtime.tiny_config import read_config

    try:
        entries = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path.name} cannot be read ({error})", "it must be a model's configuration") from error
    return read_config(entries)


def _tiny(config: Any, implementation: str, budget: float | None, *, packed: bool) -> Report:
    from softlookup.conformance import Report
    from softlookup.runtime.tiny_config import tiny_model

    name = f"{type(config).__name__}, small and random, {implementation}"
    try:
        model = tiny_model(config, implementation)
    except ModelError as error:
        return Report(name, "one pass", problem=f"model.build: {error}")
    return _checked(model, name, budget, packed=packed)


def _weights(given: str, budget: float | None, *, packed: bool) -> Report:
    from softlookup.conformance import Report
    from softlookup.runtime.load import load_model

    path = Path(given).expanduser()
    if path.name == "config.json":
        path = path.parent
    try:
        loaded = load_model(path if path.exists() else given)
    except (ModelError, CapacityError) as error:
        return Report(f"{given}, its weights", "weights", problem=f"model.load: {error}")
    return _checked(loaded, f"{loaded.source.name}, its weights", budget, packed=packed)


def _checked(model: Any, name: str, budget: float | None, *, packed: bool) -> Report:
    from softlookup.conformance import Report, check_model
    from softlookup.runtime.checked_decoder import CheckedDecoder, capture_decoder
    from softlookup.runtime.quiet import quiet_transformers

    contract = "weights" if name.endswith("its weights") else "one pass"
    with quiet_transformers():
        try:
            decoder = CheckedDecoder(model, packed=packed)
        except ModelError as error:
            return Report(name, contract, problem=f"model.kind: {error}")
        return check_model(decoder, capture=capture_decoder, name=name, contract=contract,
                           budget=budget or _SECONDS[contract])  # fmt: skip


def _write(found: Any) -> None:
    from softlookup.cli.escape import json_line, printable

    sys.stdout.write(json_line(found) + "\n" if isinstance(found, dict) else printable(found))
    sys.stdout.flush()
