"""``softlookup model profile``: measures, stores and prints; the measuring is ``evidence/profiling.py``."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from softlookup.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from softlookup.evidence.profiling import ProfileReport, Scores


def add_profile_arguments(parser: argparse.ArgumentParser) -> None:
    """What ``softlookup model profile`` offers."""
    parser.add_argument("path", nargs="?", metavar="PATH", help="folder or GGUF file (default: the embedded model)")
    parser.add_argument("--out", metavar="FILE", help="also write the profile to this JSON file")
    parser.add_argument(
        "--questions", type=int, metavar="N", help="at most N planted questions of each language (at least 8)"
    )


def profile_model(options: argparse.Namespace) -> ExitCode:
    """Measure and store; the profile of a model that comes with one is only shown (and written with --out)."""
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.progress import progress_bar
    from softlookup.evidence.profile import has_built_in
    from softlookup.evidence.profile_store import profile_key, profile_object, save_profile, store_profile
    from softlookup.evidence.profiling import check_questions
    from softlookup.evidence.profiling import profile_model as measure
    from softlookup.runtime.load import load_model
    from softlookup.runtime.prompt import PromptTemplate

    out = None if options.out is None else _checked(Path(options.out))
    check_questions(options.questions)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    with progress_bar() as progress:
        loaded = load_model(options.path, progress=progress)
        template = PromptTemplate(loaded.tokenizer)
        report = measure(loaded, template, questions=options.questions, progress=progress)
    content = profile_object(report, profile_key(loaded, template), loaded.source.name)
    stored = None if has_built_in(loaded.source.sha256) else store_profile(content)
    if out is not None:
        save_profile(out, content)
    if options.json:
        sys.stdout.write(json_line({**content, "stored": None if stored is None else str(stored)}) + "\n")
        return ExitCode.OK
    sys.stdout.write("\n".join(_lines(report, printable_line(loaded.source.name))) + "\n")
    if stored is None:
        sys.stdout.write("Not stored: softlookup's built-in profile stays in use for this model.\n")
    else:
        sys.stdout.write(f"Stored in {printable_line(str(stored))}; `softlookup ask` uses it from now on.\n")
    return ExitCode.OK


def _checked(out: Path) -> Path:
    if not out.parent.is_dir() or out.is_dir():
        raise UsageError(f"--out needs a file in a folder that exists, got {out}", "make the folder first")
    return out


def _lines(report: ProfileReport, name: str) -> list[str]:
    heads = report.profile.heads
    if report.kind == "profiled":
        rows = zip(heads, report.profile.weights, report.quality, strict=True)
        lines = [f"{name}: {len(heads)} heads chosen (layer-head from 0, weight, mean reciprocal rank alone):"]
        lines += [f"  {layer:3}-{head:<3} {weight:5.2f} {quality:6.3f}" for (layer, head), weight, quality in rows]
    elif report.kind == "middle layers":
        lines = [f"{name}: no choice of heads beats the middle layers; all {len(heads)} heads there are read"]
    else:
        lines = [f"{name}: attention evidence unavailable for this model: {report.profile.note}"]
        lines.append("`softlookup ask` will order passages by BM25 and leave every decision to a person.")
    if report.kind != "unavailable" and report.profile.note:
        missing = {"en": "Chinese", "zh": "English"}[report.profile.languages[0]]
        lines.append(f"No attention evidence for {missing} questions: {report.profile.note}")
    for title, scores in (
        ("chosen heads, held out", report.chosen),
        ("middle layers", report.middle),
        ("built-in profile", report.built_in),
    ):
        if scores:
            lines.append(f"{title:24} {_scores(scores)}")
    return lines


def _scores(scores: Scores) -> str:
    return "; ".join(
        f"{s.language} R@1 {s.recall_at_1:.3f}, MRR {s.mean_reciprocal_rank:.3f} of {s.questions} "
        f"(chance {s.chance:.3f}, p = {s.p_chance:.2g})"
        for s in scores
    )
