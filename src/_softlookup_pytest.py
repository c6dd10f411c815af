"""pytest plugin: one test per property of an attention function; imports pytest alone until a test asks for it.

::

    @pytest.mark.attention_conformance(function=attend, contract="torch_sdpa")
    def test_attend(attention_property):
        attention_property.check()

Not for running checks outside pytest: that is ``softlookup.conformance.check_fn``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from softlookup.conformance.reporting.marked import MarkedCheck
    from softlookup.conformance.reporting.properties import Property

MARKER = "attention_conformance"
_FIXTURE = "attention_property"
_GONE = pytest.StashKey[dict[str, None]]()


class AttentionProperty:
    """One property; :meth:`check` ends the test as the property says."""

    def __init__(self, marked: MarkedCheck, name: str) -> None:
        self.marked, self.id = marked, name

    @property
    def result(self) -> Property:
        """``status`` "pass", "fail", "accepted", "skipped" or "error", ``findings``, ``reason``."""
        return self.marked.property_of(self.id)

    def check(self) -> None:
        """Pass, fail with numbers and counterexample, skip what cannot be asked, xfail what the baseline accepts."""
        __tracebackhide__ = True
        from softlookup.conformance.reporting.junit import clean

        found = self.result
        if found.status in ("fail", "error"):
            pytest.fail(_told(found), pytrace=False)
        if found.status == "accepted":
            codes = ", ".join(finding.code for finding in found.findings)
            pytest.xfail(clean(f"accepted: {codes} ({found.reason})"))
        if found.status == "skipped":
            pytest.skip(clean(found.reason))

    def __repr__(self) -> str:
        return f"<{self.id} of {self.marked.name}>"


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}(function, contract='standard', adapter=None, baseline=None, budget=30): the fixture {_FIXTURE} is "
        "every property of this attention function in turn (softlookup)",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test per property that the function's arguments allow to ask."""
    if _FIXTURE not in metafunc.fixturenames:
        return
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: {_FIXTURE} needs @pytest.mark.{MARKER}(function=...)")
    from softlookup.conformance.reporting.marked import marked_check
    from softlookup.errors import UsageError

    try:
        marked = marked_check(*marker.args, **marker.kwargs, root=metafunc.config.rootpath)
        names = marked.ids
    except (UsageError, TypeError, ImportError, AttributeError) as error:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: @pytest.mark.{MARKER}: {error}") from error
    metafunc.parametrize(_FIXTURE, [AttentionProperty(marked, name) for name in names], ids=names, indirect=True)


@pytest.fixture
def attention_property(request: pytest.FixtureRequest) -> Iterator[AttentionProperty]:
    """Every property of the function that the marker names, in turn."""
    found: Any = request.param
    yield found
    gone = request.config.stash.setdefault(_GONE, {})
    if "verdict" in vars(found.marked):  # the check has run
        gone.update(dict.fromkeys(f"{found.marked.name}: {entry.code}" for entry in found.marked.verdict.gone))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Entries of baselines that no longer occur."""
    gone = config.stash.get(_GONE, {})
    if gone:
        terminalreporter.section("softlookup: accepted deviations that are no longer found")
        for line in gone:
            terminalreporter.line(line.encode("unicode_escape").decode("ascii"))


def _told(found: Property) -> str:
    from softlookup.conformance.render import finding_lines
    from softlookup.conformance.reporting.junit import clean

    serious = [finding for finding in found.findings if finding.severity != "info"]
    lines = [line for finding in serious for line in finding_lines(finding)] or [found.reason]
    return clean("\n".join(lines))
