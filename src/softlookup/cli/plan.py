"""``softlookup plan``: the strategy for a file, the costs of a length on a device, or the course page's account."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from softlookup.cli.read import reading_options
from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.cost.estimate import CostEstimate

# options that belong to --tokens, with what stands for "not given"
_COST_OPTIONS = ("device", "answer_tokens", "questions", "concurrency", "engine", "kv_dtype", "weight_dtype")


def plan(options: argparse.Namespace) -> ExitCode:
    """One of the three plans, by what was asked for."""
    asked = [name for name in ("file", "tokens", "example", "calibrate") if getattr(options, name) is not None]
    if len(asked) != 1:
        got = "none" if not asked else " and ".join("FILE" if name == "file" else f"--{name}" for name in asked)
        raise UsageError(
            f"plan needs one of FILE, --tokens, --example and --calibrate, got {got}", "see `softlookup plan --help`"
        )
    if options.tokens is None and (given := [name for name in _COST_OPTIONS if getattr(options, name) is not None]):
        raise UsageError(f"--{given[0].replace('_', '-')} belongs to --tokens", "plan a length with --tokens N")
    if options.calibrate is not None:
        from softlookup.cli.calibrate import calibrate

        return calibrate(options)
    if options.tokens is not None:
        return _plan_tokens(options)
    return _plan_example(options) if options.example is not None else _plan_file(options)


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup plan`` alone offers."""
    parser.add_argument("file", nargs="?", help="a document; or leave it out and plan a length with --tokens")
    parser.add_argument("--tokens", type=int, metavar="N", help="costs of N document tokens, without a file")
    parser.add_argument("--device", metavar="NAME", help="with --tokens: H100, RTX-4090, M4-Max, 2xA100 (default auto)")
    parser.add_argument("--answer-tokens", type=int, metavar="N", help="with --tokens: longest answer (default 80)")
    parser.add_argument(
        "--questions", type=int, metavar="N", help="with --tokens: questions on the document (default 1)"
    )
    parser.add_argument("--concurrency", type=int, metavar="N", help="with --tokens: requests at once (default 1)")
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help="with --tokens: whose KV cache: tensors (default; what the model needs), transformers, llama.cpp, vllm",
    )
    parser.add_argument("--kv-dtype", metavar="NAME", help="with --tokens: storage of the KV cache (default bf16)")
    parser.add_argument("--weight-dtype", metavar="NAME", help="with --tokens: storage of the weights, e.g. q4_k_m")
    parser.add_argument("--example", choices=("contract-qa",), help="the course page's account, line by line")
    parser.add_argument(
        "--calibrate",
        action="store_const",
        const=True,
        help="time the model on this machine (about a minute; close other programs) and use its rates in later plans",
    )


def _plan_file(options: argparse.Namespace) -> ExitCode:
    """The strategy and its reason, from token counts alone."""
    from softlookup.cli import render
    from softlookup.cli.commands import open_session
    from softlookup.cli.escape import json_line
    from softlookup.runtime.progress import no_progress

    document = open_session(options, no_progress).open(options.file, **reading_options(options))
    if options.json:
        sys.stdout.write(json_line(render.plan_object(document)) + "\n")
    else:
        sys.stdout.write(render.plan_text(document) + "\n")
    return ExitCode.OK if document.document.coverage.complete else ExitCode.DOCUMENT


def _plan_tokens(options: argparse.Namespace) -> ExitCode:
    """Costs and strategies of a length; that nothing fits is told in the plan and on stderr."""
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.render_plan import estimate_text

    found, notices = _estimate(options)
    sys.stdout.write((json_line(found.to_dict()) if options.json else estimate_text(found)) + "\n")
    for warning in (*found.warnings, *notices):
        sys.stderr.write(f"note: {printable_line(warning)}\n")
    return ExitCode.OK


def _estimate(options: argparse.Namespace) -> tuple[CostEstimate, tuple[str, ...]]:
    """The estimate, and what is to be said about measured rates."""
    from softlookup.cli.calibrate import measured_request
    from softlookup.cost.devices import find_device
    from softlookup.cost.dtypes import dtype_name
    from softlookup.cost.estimate import estimate
    from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
    from softlookup.cost.model_source import find_model
    from softlookup.cost.request import USUAL_ANSWER_TOKENS, PlanRequest

    if options.max_context_tokens is not None:
        raise UsageError("--max-context-tokens belongs to a FILE", "leave it out with --tokens")
    kv_dtype = dtype_name(options.kv_dtype or "bf16")
    request = PlanRequest(
        find_model(options.model, options.weight_dtype),
        options.tokens,
        find_device(options.device or "auto"),
        answer_tokens=USUAL_ANSWER_TOKENS if options.answer_tokens is None else options.answer_tokens,
        questions=1 if options.questions is None else options.questions,
        concurrency=1 if options.concurrency is None else options.concurrency,
        engine=EnginePolicy(options.engine or "tensors"),
        kv=KVDtypes(kv_dtype, kv_dtype),
    )
    measured = measured_request(request, options)
    return estimate(measured.request), measured.notices


def _plan_example(options: argparse.Namespace) -> ExitCode:
    """The course page's account beside the right values."""
    from softlookup.cli.escape import json_line
    from softlookup.cli.render_plan import account_text
    from softlookup.cost.course import course_account

    lines = course_account()
    if options.json:
        record = {"schema": 1, "example": options.example, "lines": [line.to_dict() for line in lines]}
        sys.stdout.write(json_line(record) + "\n")
    else:
        sys.stdout.write(account_text(lines) + "\n")
    return ExitCode.OK
