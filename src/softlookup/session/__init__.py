"""Wires the parts: document, plan, reading, evidence, answer. No mathematics and no printing here."""

from softlookup.session.open_document import OpenDocument
from softlookup.session.options import DEFAULT_ALPHA, DEFAULT_ANSWER_TOKENS, QUESTIONS_PER_CONTEXT, Options
from softlookup.session.session import Session

__all__ = ["DEFAULT_ALPHA", "DEFAULT_ANSWER_TOKENS", "QUESTIONS_PER_CONTEXT", "OpenDocument", "Options", "Session"]
