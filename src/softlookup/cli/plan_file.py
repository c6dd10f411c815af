"""``softlookup plan FILE``: counts the document's tokens and plans them; the printing is ``render_plan.py``."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from softlookup.cli.read import reading_options
from softlookup.errors import ExitCode

if TYPE_CHECKING:
    from softlookup.cost.plan.estimate import CostEstimate
    from softlookup.cost.plan.request import PlanRequest
    from softlookup.documents.model import Document
    from softlookup.session.plan_source import PlanModel


def plan_file(options: argparse.Namespace, asked: PlanRequest) -> ExitCode:
    """The plan of a document; ``asked`` holds all that was asked for but the model and the tokens."""
    from softlookup.cli.calibrate import measured_request
    from softlookup.cli.escape import json_line, printable_line
    from softlookup.cli.render_plan import estimate_text
    from softlookup.cost.plan.document_plan import plan_document
    from softlookup.cost.plan.plan_texts import say
    from softlookup.documents.read import read_document
    from softlookup.session import OpenDocument, Options, Session
    from softlookup.session.plan_source import document_request, find_plan_model

    settings = Options(max_context_tokens=options.max_context_tokens)
    document = read_document(options.file, **reading_options(options))
    planned = find_plan_model(options.model, options.weight_dtype)
    session = Session(planned.source.folder, options=settings)
    counted = document_request(planned, asked, document.text, session.count_tokens, usual_kv=options.kv_dtype is None)
    measured = measured_request(counted, options)
    request = measured.request
    tokens, language = request.tokens if document.text else 0, request.language
    outline = OpenDocument(session, document, 0.0).outline if tokens else None
    found = plan_document(request, outline, interval=planned.interval(tokens, language) if tokens else None)
    if not tokens:
        found = replace(found, warnings=(*found.warnings, say(language, "no_text")))
    if options.json:
        sys.stdout.write(json_line(_record(found, document, planned, tokens)) + "\n")
    else:
        sys.stdout.write(estimate_text(found, document) + "\n")
    for warning in (*found.warnings, *measured.notices):
        sys.stderr.write(f"note: {printable_line(warning)}\n")
    return ExitCode.OK if document.coverage.complete else ExitCode.DOCUMENT


def _record(found: CostEstimate, document: Document, planned: PlanModel, tokens: int) -> dict[str, Any]:
    """JSON: the estimate, and how this document is read."""
    full, estimate, chosen = document.to_dict(), found.to_dict(), found.chosen
    return {
        **estimate,
        "tokens": tokens,
        "plan": {
            "strategy": found.decision.strategy, "reason": found.decision.reason, "document_tokens": tokens,
            "context_tokens": 0 if chosen is None else min(chosen.fed, tokens),
            "window": found.request.model.shape.context, "counted_by": planned.source.name,
        },
        "document": {**full["document"], "clauses": len(full["clauses"]), "characters": full["characters"],
                     "language": found.request.language},
        "coverage": full["coverage"],
        "model": {**estimate["model"], "sha256": planned.sha256 or None, "evidence_layers": planned.evidence_layers},
    }  # fmt: skip
