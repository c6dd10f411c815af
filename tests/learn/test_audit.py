"""Verdicts follow from what is computed: every row computes, every planted value changes its verdict."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from softlookup.errors import UsageError
from softlookup.learn.audit import audit_row, audit_rows, audit_table, row_as_dict
from softlookup.learn.audit.render import cell
from softlookup.learn.audit.row import AuditRow, Fact, Reading, Verdict, half_unit, matches, settle
from softlookup.learn.audit.words import verdict_words

PLAIN = [row for row in audit_rows() if not row.needs_model]
QUALIFIED = [row for row in PLAIN if row.reading is not None]


def named(rows):
    return pytest.mark.parametrize("row", rows, ids=lambda row: row.id)


def planted(row):
    """The row with a computation that gives something else."""
    value = settle(row).value
    if isinstance(value, Fact):
        wrong = Fact(not value.holds, value.en, value.zh)
    elif isinstance(value, tuple):
        wrong = tuple(each + 7.0 for each in value)
    elif isinstance(value, str):
        wrong = value + "!"
    else:
        # what the page claims where ours differs, else a third of it
        wrong = value / 3 if matches(row, value) else float(row.page)
    return replace(row, compute=lambda: wrong)


@named(PLAIN)
def test_a_row_computes_and_tells_why(row):
    outcome = settle(row)
    assert outcome.verdict in Verdict
    for language in ("en", "zh"):
        found = row_as_dict(row, language)
        assert found["why"]
        assert found["claim"]
        assert "{" not in found["why"]
        assert "nan" not in json.dumps(found, allow_nan=False)
    assert found["commands"][0] == f"softlookup learn --audit {row.id}"


@named(PLAIN)
def test_a_planted_value_changes_the_verdict(row):
    wrong = replace(planted(row), reading=None)
    right = replace(row, reading=None)
    assert settle(wrong).verdict is not settle(right).verdict


@named(QUALIFIED)
def test_a_planted_other_reading_changes_the_verdict(row):
    """A reading that agrees with the page where it did not, or the other way round, makes another verdict."""
    reading = row.reading
    before = settle(row)
    assert before.verdict is reading.verdict
    agrees = before.factor is not None or (isinstance(before.value, Fact) and not before.value.holds)
    if isinstance(before.other, Fact):
        other = Fact(not agrees, "", "")
    elif isinstance(before.other, str):
        other = row.page + "!" if agrees else row.page
    else:
        other = float("inf") if agrees else float(row.page)
    changed = replace(row, reading=replace(reading, compute=lambda: other))
    assert settle(changed).verdict is not before.verdict


def number(page, value, **more):
    return AuditRow("x", "0", "", "", page, "", lambda: value, "", "", **more)


@pytest.mark.parametrize(
    ("page", "value", "verdict"),
    [
        ("5.5e11", 5.4976e11, Verdict.RIGHT),
        ("5.5e11", 5.56e11, Verdict.FACTOR),
        ("17", 16.51, Verdict.RIGHT),
        ("17", 16.4, Verdict.FACTOR),
        ("0.881", 0.8808, Verdict.RIGHT),
        ("8.0", 8.06, Verdict.FACTOR),
        ("8", float("nan"), Verdict.NOT_TRUE),
        (("1", "2"), (1.0, 2.2), Verdict.RIGHT),
        (("1", "2"), (1.0, 2.6), Verdict.NOT_TRUE),
        (("1", "2"), (1.0,), Verdict.NOT_TRUE),
        ("[T, T]", "[T, T]", Verdict.RIGHT),
        ("[T, T]", "[T, d_k]", Verdict.NOT_TRUE),
    ],
)
def test_digits_say_how_exactly_a_number_is_meant(page, value, verdict):
    assert settle(number(page, value)).verdict is verdict


@pytest.mark.parametrize(
    ("value", "text"), [(4.0, "wrong by a factor 2 (too high)"), (16.0, "wrong by a factor 2 (too low)")]
)
def test_the_factor_is_the_page_over_ours(value, text):
    outcome = settle(number("8", value))
    assert verdict_words(outcome.verdict, outcome.factor, "en") == text


@pytest.mark.parametrize("verdict", [Verdict.ONE_LAYER, Verdict.MHA_ONLY, Verdict.MISLEADING, Verdict.CONVENTION])
@pytest.mark.parametrize(("ours", "other"), [(8.0, 8.0), (8.0, 2.0), (2.0, 8.0), (2.0, 2.0)])
def test_a_reading_qualifies_only_what_it_changes(verdict, ours, other):
    row = number("8", ours, reading=Reading(verdict, lambda: other, "", ""))
    expected = {
        (8.0, 8.0): Verdict.RIGHT,
        (8.0, 2.0): verdict,
        (2.0, 8.0): verdict if verdict is Verdict.CONVENTION else Verdict.FACTOR,
        (2.0, 2.0): Verdict.FACTOR,
    }
    assert settle(row).verdict is expected[ours, other]


def test_half_a_unit_of_the_last_digit():
    assert half_unit("2.1") == pytest.approx(0.05)
    assert half_unit("6710") == 0.5
    with pytest.raises(TypeError, match="no finite number"):
        half_unit("inf")


def test_a_claim_in_words_needs_a_fact():
    with pytest.raises(TypeError, match="must give a Fact"):
        settle(number(None, 3.0))


def test_rows_have_names_of_their_own():
    names = [row.id for row in audit_rows()]
    assert len(set(names)) == len(names) > 100


def test_an_unknown_row_names_the_nearest():
    with pytest.raises(UsageError, match="contract-decode"):
        audit_row("contract-decod")


def test_the_account_of_the_page_is_as_it_was_found():
    """A few verdicts by name, so that a change of the cost model shows here and not only in the documents."""
    found = {name: settle(audit_row(name)).verdict for name in (
        "scene-scores-bytes", "scene-kv", "contract-attention", "contract-ffn", "scene-seconds", "small-flops", "sd-64",
        "offset-far",
    )}  # fmt: skip
    assert list(found.values()) == [
        Verdict.ONE_LAYER, Verdict.MHA_ONLY, Verdict.FACTOR, Verdict.CONVENTION, Verdict.MISLEADING, Verdict.FACTOR,
        Verdict.RIGHT, Verdict.NOT_TRUE,
    ]  # fmt: skip


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_table_has_seven_cells_in_every_line(language):
    lines = [line for line in audit_table(language).splitlines() if line.startswith("|")]
    assert len(lines) > 100
    for line in lines:
        assert line.replace("\\|", "").count("|") == 8, line


def test_cells_are_escaped():
    assert cell("a|b <i> *c* _d_ `e` [f]\n\n# g") == r"a\|b &lt;i&gt; \*c\* \_d\_ \`e\` \[f\] # g"
