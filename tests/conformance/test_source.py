"""Objects written out again as Python: what runs, and what is left alone."""

import sys

import numpy as np

from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.source import defined, importable


def test_functions_with_what_they_name_are_written_out():
    base = 3

    def helper(x):
        return x * base

    def outer(x):
        return helper(np.abs(x)) + sum(y for y in (1, 2))

    made = {}
    exec("\n".join(defined(outer, "fn")), made)
    assert made["fn"](-2) == outer(-2) == 9
    assert defined(lambda x: x + base, "fn") == ["base = 3", "fn = lambda x: x + base"]
    held = object()
    assert defined(lambda x: held, "fn") is None
    assert defined(Plain(), "fn") is None
    assert [importable(name) for name in ("a.b:C.d", "a", "__main__:f", "a; import os:f", "a:f.<locals>.g")] == [
        True, False, False, False, False,
    ]  # fmt: skip


def test_lines_that_two_functions_share_stay_in_both():
    def first(x):
        x += 1
        return x

    def second(x):
        x += 1
        return x

    def both(x):
        return first(x) + second(x)

    made = {}
    exec("\n".join(defined(both, "fn")), made)
    assert made["fn"](1) == 4


def test_what_is_decorated_or_without_a_source_is_left_alone():
    def marked(fn):
        return fn

    @marked
    def attend(x):
        return x

    made = {}
    exec("def bare(x):\n    return x\n", made)
    assert defined(attend, "fn") is None
    assert defined(made["bare"], "fn") is None
    assert defined(np.dot, "fn") is not None


def test_a_module_that_no_longer_holds_the_function_is_not_imported(monkeypatch):
    assert defined(marked_elsewhere, "fn") == [f"from {__name__} import marked_elsewhere as fn"]
    monkeypatch.setattr(sys.modules[__name__], "marked_elsewhere", None)
    assert defined(kept, "fn")[-1] == "fn = marked_elsewhere"


def marked_elsewhere(x):
    return x


kept = marked_elsewhere
