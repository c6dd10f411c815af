"""``softlookup check``: which mistake an attention or rotary function makes; printing of reports is their own."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from softlookup.cli.check_reports import add_report_options, given, outputs
from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.conformance import Adapter, Contract
    from softlookup.conformance.self_test import Row, Scoreboard

_COULD_NOT_TEST = ExitCode.MODEL


def add_check(commands: argparse._SubParsersAction[Any]) -> None:
    """Add the command and its arguments."""
    parser = commands.add_parser(
        "check",
        help="which mistake an attention function makes: 0 conforms, 1 findings, 5 could not test",
        description="example: softlookup check mypackage.attention:attend --contract torch_sdpa",
    )
    parser.set_defaults(run=check)
    parser.add_argument("function", nargs="?", metavar="MODULE:FUNCTION", help="attention(query, key, value, ...)")
    parser.add_argument(
        "--contract", default="standard", metavar="NAME|FILE",
        help="what is right: torch_sdpa, flash_attn, onnx_attention, hf_eager, llama, jax, mlx, softlookup, standard, "
        "a JSON file, or a model's config.json",
    )  # fmt: skip
    parser.add_argument(
        "--model", metavar="PATH_OR_NAME",
        help="check a whole model instead: caches, padding, and what each layer attends; a config.json is enough",
    )  # fmt: skip
    parser.add_argument("--packed", action="store_true", help="with --model: packed documents must be kept apart")
    parser.add_argument("--rope", action="store_true", help="the function is rope(x, positions); needs a config.json")
    parser.add_argument("--causal", action="store_true", help="the function masks the future without being asked")
    parser.add_argument(
        "--adapter", metavar="MODULE:OBJECT", help="an Adapter, where the signature does not say enough"
    )
    parser.add_argument(
        "--budget", metavar="TIME", help="for all calls together (default 30s; with --model 60s, for its weights 10m)"
    )
    parser.add_argument(
        "--self-test", action="store_true", help="run the planted bugs instead: found, named, false alarms"
    )
    parser.add_argument(
        "--onnx",
        action="store_true",
        help="run the published ONNX Attention cases instead: pass, fail, not offered",
    )
    add_report_options(parser)
    parser.add_argument("--verbose", action="store_true", help="also list every probe that was not asked, and why")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.add_argument("--debug", action="store_true", help="show tracebacks")


def check(options: argparse.Namespace) -> ExitCode:
    """0 conforms, 1 findings, 5 could not test."""
    if (options.self_test or options.onnx or options.model is not None) and given(options):
        raise UsageError(f"{given(options)[0]} belongs to a check of properties", "leave it out, or use --json")
    if options.self_test:
        return _self_test(as_json=options.json)
    if options.model is not None:
        return _model(options)
    if not options.function:
        raise UsageError("check needs MODULE:FUNCTION", "--model or --self-test")
    from softlookup.cli.escape import printable
    from softlookup.conformance import Adapter, Report, check_fn, check_rope, find_contract

    contract = find_contract(options.contract)
    budget = _seconds(options.budget or "30s")
    results = outputs(options)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the module prints is not the result
            function = _loaded(options.function)
            adapter = _loaded(options.adapter) if options.adapter else Adapter(always_causal=options.causal)
    except (ImportError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        if options.onnx or not given(options):
            sys.stderr.write(printable(f"softlookup: could not test: {problem}\n"))
            return _COULD_NOT_TEST
        return results.finish(
            Report(options.function, contract.name, problem=problem), None, _write, as_json=options.json
        )
    if not isinstance(adapter, Adapter):
        raise UsageError(f"--adapter must name an Adapter, got {type(adapter).__name__}", "see docs/conformance.md")
    if options.onnx:
        return _onnx(function, contract, adapter, options)
    run: Any = check_rope if options.rope else check_fn
    more = {"adapter_name": options.adapter} if options.adapter and not options.rope else {}
    with contextlib.redirect_stdout(sys.stderr):
        report = run(function, contract, adapter=adapter, name=options.function, budget=budget, **more)
    return results.finish(report, function, _write, as_json=options.json)


def _onnx(function: Any, contract: Contract, adapter: Adapter, options: argparse.Namespace) -> ExitCode:
    """0 every case that the function can be asked passes, 1 some fail, 5 no case could be run."""
    from softlookup.conformance.onnx_cases import run_onnx_cases

    with contextlib.redirect_stdout(sys.stderr):
        found = run_onnx_cases(
            function, contract, adapter=adapter, name=options.function, budget=_seconds(options.budget or "30s")
        )
    _write(found.to_dict() if options.json else str(found))
    if found.problem or not found.passed + found.failed:
        return _COULD_NOT_TEST
    return ExitCode.ERROR if found.failed else ExitCode.OK


def _model(options: argparse.Namespace) -> ExitCode:
    if options.function or options.rope or options.adapter or options.onnx:
        raise UsageError("--model takes no function, --rope, --adapter or --onnx", "e.g. check --model FOLDER")
    from softlookup.cli.check_model import check_model_at

    return check_model_at(options.model, options, None if options.budget is None else _seconds(options.budget))


def _loaded(spec: str) -> Any:
    """The object of "module:name"; ``UsageError`` for another form. Modules beside the caller are found."""
    module, colon, path = spec.partition(":")
    if not colon or not module or not path:
        raise UsageError(f"a function is named MODULE:FUNCTION, got {spec!r}", "e.g. mypackage.attention:attend")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except ImportError:
        raise
    except Exception as error:
        raise ImportError(f"importing {module} failed: {type(error).__name__}: {error}") from error
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ms|s|m|min)?", text.strip())
    if not found or float(found[1]) <= 0:
        raise UsageError(f"--budget must be a time like 30s or 2m, got {text!r}", "seconds without a unit")
    return float(found[1]) * {"ms": 0.001, "m": 60.0, "min": 60.0}.get(found[2] or "s", 1.0)


def _write(found: Any) -> None:
    """A dict as one line of JSON, text as text; both escaped."""
    from softlookup.cli.escape import json_line, printable

    sys.stdout.write(json_line(found) + "\n" if isinstance(found, dict) else printable(found))


def _self_test(*, as_json: bool) -> ExitCode:
    from softlookup.conformance.self_test import self_test

    board = self_test(None if as_json else _say)
    _write(board.to_dict() if as_json else _summary(board))
    return ExitCode.OK if board.passed else ExitCode.ERROR


def _say(row: Row) -> None:
    """One line per bug, as it comes."""
    verdict = "named" if row.named else "found" if row.detected else "-"
    if not row.expected:
        verdict = "FALSE ALARM" if row.detected else "silent"
    usual = "allclose sees it" if row.allclose else "allclose blind" if row.expected else ""
    suite = f"onnx {row.onnx}" if row.expected or row.onnx == "sees" else ""
    sys.stdout.write(f"{row.id:32} {verdict:11} {usual:17} {suite:18} {', '.join(row.found)}\n")
    sys.stdout.flush()


def _summary(board: Scoreboard) -> str:
    found = board.to_dict()
    onnx = found["onnx"]
    suite = f"the published ONNX Attention cases were not run: {onnx['missing']}"
    if onnx["cases"]:
        suite = (
            f"the {onnx['cases']} published ONNX Attention cases detect {onnx['detected']} of the {onnx['asked']} in "
            f"attention functions, with {onnx['false_alarms']} false alarms"
        )
    return (
        f"\n{found['total']} planted bugs, {found['covered']} covered: {found['detected']} detected, {found['named']} "
        f"named; {found['false_alarms']} false alarms on {found['controls']} correct functions and decoders\n"
        f"allclose on square random input, or on the logits of one pass, detects {found['allclose_detected']}\n"
        f"{suite}\n"
    )
