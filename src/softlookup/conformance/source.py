"""Python lines that define an object again: an import where that works, its source where it can be read.

Not a serialiser: what hangs on objects that only the running program has gives None, and the caller says so.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
import textwrap
from types import FunctionType, ModuleType
from typing import Any

_DEEPEST = 4  # functions that call functions
_LONGEST = 120  # lines; beyond it an import is what a reader wants
_PLAIN = (bool, int, float, str, bytes, type(None))


def defined(value: Any, word: str, depth: int = 0) -> list[str] | None:
    """Statements after which ``word`` is ``value``; None where there are none that would run."""
    if isinstance(value, _PLAIN):
        return [f"{word} = {value!r}"]
    if isinstance(value, ModuleType):
        return [f"import {value.__name__}" if value.__name__ == word else f"import {value.__name__} as {word}"]
    imported = _import(value, word)
    if imported:
        return imported
    if depth >= _DEEPEST or not isinstance(value, FunctionType | type):
        return None
    return _inlined(value, word, depth)


def _import(value: Any, word: str) -> list[str]:
    """An import, tried on the modules that are loaded; empty where it would fail."""
    module, path = getattr(value, "__module__", "") or "", getattr(value, "__qualname__", "") or ""
    found: Any = sys.modules.get(module)
    if module == "__main__" or found is None or not isinstance(path, str):
        return []
    for part in path.split("."):
        found = getattr(found, part, None) if part.isidentifier() else None
    return import_lines(f"{module}:{path}", word) if found is value else []


def importable(name: str) -> bool:
    """Whether "module:path" can stand in an import; what its caller says about it is believed."""
    module, colon, path = name.partition(":")
    return bool(colon) and module != "__main__" and all(part.isidentifier() for part in f"{module}.{path}".split("."))


def import_lines(name: str, word: str) -> list[str]:
    """``word`` from "module:path"; a method through its class."""
    module, _, path = name.partition(":")
    first, _, rest = path.partition(".")
    if rest:
        return [f"from {module} import {first}", f"{word} = {path}"]
    return [f"from {module} import {path}" + ("" if path == word else f" as {word}")]


def _inlined(value: Any, word: str, depth: int) -> list[str] | None:
    """The source, after everything that it names."""
    node, text = _source(value)
    if node is None or len(text.splitlines()) > _LONGEST:
        return None
    known = _surroundings(value)
    local = _bound(node)
    lines: list[str] = []
    for name in sorted(_read(node) - local):
        if name in known and known[name] is not value:
            more = defined(known[name], name, depth + 1)
            if more is None:
                return None
            lines += [line for line in more if line not in lines]
        elif name not in known and not hasattr(builtins, name):
            return None
    if isinstance(node, ast.Lambda):
        return [*lines, f"{word} = {text}"]
    alias = [] if node.name == word else [f"{word} = {node.name}"]
    return [*lines, text, *alias]


def _source(value: Any) -> tuple[ast.FunctionDef | ast.ClassDef | ast.Lambda | None, str]:
    """The one definition in what ``inspect`` finds, and its text; nothing for decorated or doubtful ones."""
    try:
        text = textwrap.dedent(inspect.getsource(value))
        tree = ast.parse(text)
    except (OSError, TypeError, SyntaxError, ValueError):
        return None, ""
    if getattr(value, "__name__", "") == "<lambda>":
        lambdas = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
        return (lambdas[0], ast.get_source_segment(text, lambdas[0]) or "") if len(lambdas) == 1 else (None, "")
    node = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.decorator_list:
        return None, ""
    return node, text.rstrip()


def _surroundings(value: Any) -> dict[str, Any]:
    """Names that the source can mean: globals, then variables of the function around it."""
    if isinstance(value, FunctionType):
        found = dict(value.__globals__)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return found
    return dict(vars(sys.modules.get(value.__module__, builtins)))


def _read(node: ast.AST) -> set[str]:
    return {entry.id for entry in ast.walk(node) if isinstance(entry, ast.Name) and isinstance(entry.ctx, ast.Load)}


def _bound(node: ast.AST) -> set[str]:
    """Names made inside: arguments, assignments, definitions, imports."""
    found: set[str] = {"__class__"}
    for entry in ast.walk(node):
        if isinstance(entry, ast.arg):
            found.add(entry.arg)
        elif isinstance(entry, ast.Name) and not isinstance(entry.ctx, ast.Load):
            found.add(entry.id)
        elif isinstance(entry, ast.FunctionDef | ast.ClassDef):
            found.add(entry.name)
        elif isinstance(entry, ast.alias):
            found.add((entry.asname or entry.name).split(".")[0])
        elif isinstance(entry, ast.ExceptHandler) and entry.name:
            found.add(entry.name)
    return found
