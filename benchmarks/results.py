"""Resumable results of the evidence benchmarks, and the digest of the method under which they hold."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import json
import os
from pathlib import Path

# modules of evidence/ that show a result or measure heads, and decide nothing about a score
_NOT_SCORING = frozenset({"answer", "assembly", "handover", "profile_store", "profiling", "reasons", "values"})


def shared_data() -> Path:
    """The folder of the evaluation data: SOFTLOOKUP_SHARED or ../shared beside the project; it may be missing."""
    shared = os.environ.get("SOFTLOOKUP_SHARED") or Path(__file__).resolve().parents[2] / "shared"
    return Path(shared) / "data"


def code_digest(source: str) -> str:
    """Digest of Python code; comments, docstrings and layout do not enter it."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [
                line
                for line in body
                if not (isinstance(line, ast.Expr) and isinstance(getattr(line.value, "value", None), str))
            ]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def scoring_modules() -> list[Path]:
    """Files that turn a question into scores and a decision: a change of code there makes older results stale.

    Whole folders, so that a new module is not forgotten. How files are read is not among them: start a new --out
    after a change of ``documents``.
    """
    package = Path(importlib.util.find_spec("softlookup").origin).parent
    found = [path for folder in ("evidence", "retrieval") for path in (package / folder).glob("*.py")]
    return [*sorted(path for path in found if path.stem not in _NOT_SCORING), package / "runtime" / "prompt.py"]


def method_digest(*facts: object) -> str:
    """Changes with heads, weights, constants, question bank or scoring code, and with ``facts`` of the caller."""
    here = Path(__file__).parent
    sources = [*scoring_modules(), here / "evidence_methods.py", here / "cuad.py"]
    digests = [code_digest(path.read_text("utf-8")) for path in sources]
    return hashlib.sha256(repr((digests, facts)).encode()).hexdigest()[:16]


def load_results(path: Path, method: str, minilm: str | None, *, key: str = "file") -> dict[str, dict]:
    """Finished rows of ``path`` by ``key``: those of this method, and with this MiniLM when one is wanted."""
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    rows = [row for row in map(json.loads, lines) if row.get("method") == method]
    return {row[key]: row for row in rows if minilm is None or row.get("minilm") == minilm}


def append_result(path: Path, row: dict) -> None:
    """Add one finished row."""
    with path.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")
