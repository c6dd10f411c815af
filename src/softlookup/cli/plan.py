"""``softlookup plan``: the plan of a file or of a length on a device, or the course page's account."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.cost.plan.request import PlanRequest

# options of the plans of a file or a length, which the course page's account does not take
_COST_OPTIONS = (
    "device", "answer_tokens", "questions", "concurrency", "engine", "kv_dtype", "weight_dtype", "max_seconds",
)  # fmt: skip
# options that say how a document is read
_FILE_OPTIONS = ("encoding", "password_env", "member", "ocr", "max_context_tokens")


def plan(options: argparse.Namespace) -> ExitCode:
    """One of the three plans, by what was asked for."""
    asked = [name for name in ("file", "tokens", "example", "calibrate") if getattr(options, name) is not None]
    if len(asked) != 1:
        got = "none" if not asked else " and ".join("FILE" if name == "file" else f"--{name}" for name in asked)
        raise UsageError(
            f"plan needs one of FILE, --tokens, --example and --calibrate, got {got}", "see `softlookup plan --help`"
        )
    _check_options(options, asked[0])
    if options.calibrate is not None:
        from softlookup.cli.calibrate import calibrate

        return calibrate(options)
    if options.tokens is not None:
        return _plan_tokens(options)
    if options.example is not None:
        return _plan_example(options)
    from softlookup.cli.plan_file import plan_file

    return plan_file(options, _request(options, None, 1))


def _check_options(options: argparse.Namespace, asked: str) -> None:
    """Refuse what the plan that was ``asked`` for would ignore, and names that are empty."""
    for name in ("model", "device"):
        if getattr(options, name) is not None and not getattr(options, name).strip():
            raise UsageError(f"--{name} needs a name, got an empty one", "leave it out for the default")
    given = [name for name in _FILE_OPTIONS if getattr(options, name) not in (None, False)]
    given += ["view"] if options.view != "final" else []
    if asked != "file" and given:
        raise UsageError(f"{_flag(given[0])} belongs to a FILE", f"leave it out with {_flag(asked)}")
    given = [name for name in _COST_OPTIONS if getattr(options, name) is not None]
    if asked == "example" and (given or options.model is not None):
        raise UsageError(
            f"{_flag([*given, 'model'][0])} belongs to FILE and --tokens", "the page's account has its own numbers"
        )
    if asked == "calibrate" and given:
        raise UsageError(f"{_flag(given[0])} belongs to FILE and --tokens", "leave it out to calibrate")


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_plan_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup plan`` alone offers."""
    parser.add_argument("file", nargs="?", help="a document; or leave it out and plan a length with --tokens")
    parser.add_argument("--tokens", type=int, metavar="N", help="costs of N document tokens, without a file")
    parser.add_argument("--device", metavar="NAME", help="H100, RTX-4090, M4-Max, 2xA100 (default: this processor)")
    parser.add_argument("--answer-tokens", type=int, metavar="N", help="longest answer (default 80)")
    parser.add_argument("--questions", type=int, metavar="N", help="questions on the document (default 1)")
    parser.add_argument("--concurrency", type=int, metavar="N", help="requests at once (default 1)")
    parser.add_argument(
        "--max-seconds",
        type=float,
        metavar="N",
        help="retrieve rather than wait longer than N seconds for hybrid's first answer (default 1800)",
    )
    parser.add_argument(
        "--engine",
        metavar="NAME",
        help="whose KV cache: tensors (default; what the model needs), transformers, llama.cpp, vllm",
    )
    parser.add_argument("--kv-dtype", metavar="NAME", help="storage of the KV cache (default bf16; f32 of a FILE whose "
                        "model runs in f32)")  # fmt: skip
    parser.add_argument("--weight-dtype", metavar="NAME", help="storage of the weights, e.g. q4_k_m")
    parser.add_argument("--example", choices=("contract-qa",), help="the course page's account, line by line")
    parser.add_argument(
        "--calibrate",
        action="store_const",
        const=True,
        help="time the model on this machine (about a minute; close other programs) and use its rates in later plans",
    )


def _plan_tokens(options: argparse.Namespace) -> ExitCode:
    """Costs and strategies of a length; that nothing fits is told in the plan and on stderr."""
    from softlookup.cli.calibrate import measured_request
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.render_plan import estimate_text
    from softlookup.cost.plan.estimate import estimate
    from softlookup.evidence.profile_store import evidence_depth
    from softlookup.runtime.embedded import GGUF_SHA256, NAME

    request = _request(options, options.model, options.tokens)
    weights = GGUF_SHA256 if options.model in (None, NAME) else ""
    measured = measured_request(replace(request, evidence_layers=evidence_depth(weights, request.model.shape)), options)
    found = estimate(measured.request)
    sys.stdout.write((json_line(found.to_dict()) if options.json else estimate_text(found)) + "\n")
    for warning in (*found.warnings, *measured.notices):
        sys.stderr.write(f"note: {printable_line(warning)}\n")
    return ExitCode.OK


def _request(options: argparse.Namespace, model: str | None, tokens: int) -> PlanRequest:
    """The request of the options; checks every number and name before a file is read."""
    from softlookup.cost.devices import find_device
    from softlookup.cost.kv_cache import EnginePolicy, KVDtypes
    from softlookup.cost.model.dtypes import dtype_name, is_mix
    from softlookup.cost.model.model_source import find_model
    from softlookup.cost.plan.request import MAX_SECONDS, USUAL_ANSWER_TOKENS, PlanRequest

    kv_dtype = dtype_name("bf16" if options.kv_dtype is None else options.kv_dtype)
    if is_mix(kv_dtype):
        raise UsageError(
            f"--kv-dtype {kv_dtype} is a mix of formats for the weights of a file, a cache has one format",
            "use for example q4_0 or q8_0",
        )
    return PlanRequest(
        find_model(model, options.weight_dtype),
        tokens,
        find_device(options.device or "auto"),
        answer_tokens=USUAL_ANSWER_TOKENS if options.answer_tokens is None else options.answer_tokens,
        questions=1 if options.questions is None else options.questions,
        concurrency=1 if options.concurrency is None else options.concurrency,
        engine=EnginePolicy(options.engine or "tensors"),
        kv=KVDtypes(kv_dtype, kv_dtype),
        max_seconds=MAX_SECONDS if options.max_seconds is None else options.max_seconds,
        max_context_tokens=options.max_context_tokens,
    )


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
