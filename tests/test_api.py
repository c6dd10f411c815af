"""The public names: listed, sorted, loadable, and importing them changes nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import softlookup


def test_all_is_sorted_and_is_what_the_module_offers():
    assert list(softlookup.__all__) == sorted(softlookup.__all__)
    assert dir(softlookup) == softlookup.__all__
    assert set(softlookup.__all__) == {*softlookup._HOMES, "__version__"}


@pytest.mark.parametrize("name", softlookup.__all__)
def test_every_name_loads_and_has_a_docstring(name):
    value = getattr(softlookup, name)
    if name != "__version__":
        assert value.__doc__
        assert value.__module__ == softlookup._HOMES[name]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        softlookup.nothing  # noqa: B018 - the access raises


def test_a_star_import_gives_the_public_names():
    names: dict[str, object] = {}
    exec("from softlookup import *", names)
    assert set(softlookup.__all__) <= set(names)


UNCHANGED = """
import locale, logging, os, signal, sys, threading, warnings
import numpy  # it adds filters of its own to warnings

def state():
    return (
        dict(os.environ), list(warnings.filters), logging.root.level, list(logging.root.handlers), sys.excepthook,
        sys.displayhook, locale.setlocale(locale.LC_ALL), threading.active_count(), os.getcwd(),
        [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGPIPE)], sys.stdout.encoding, list(sys.path),
        sorted(os.listdir(os.environ["SOFTLOOKUP_CACHE"])),
    )

before = state()
import softlookup, softlookup.cli, softlookup.session
for name in softlookup.__all__:
    getattr(softlookup, name)
after = state()
for number, (old, new) in enumerate(zip(before, after)):
    assert old == new, (number, old, new)
"""


def test_importing_changes_nothing():
    result = subprocess.run([sys.executable, "-c", UNCHANGED], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
