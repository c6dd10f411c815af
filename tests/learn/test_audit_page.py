"""Every number of the page belongs to a row or to the list of numbers that claim nothing, exactly as often."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

import pytest

from softlookup.learn.audit import audit_rows
from softlookup.learn.audit.not_claims import NOT_CLAIMS
from softlookup.learn.audit.rows import SECTIONS

# plain text copies part digits before a power: "1 0^{11}", "102 4^{2}"
SPLIT = re.compile(r"(\d) (\d+)\^\{")
POWER = re.compile(r"(\d+(?:\.\d+)?) \\times 10\^\{(- )?(\d+)\}")
NUMERAL = re.compile(r"\d+(?:\.\d+)?(?:e-?\d+)?")
HEADING = re.compile(r"^(?:(\d{1,2})\. |(\d\.\d) )")


def course_page():
    named = os.environ.get("SOFTLOOKUP_SHARED")
    root = Path(named) if named else Path(__file__).resolve().parents[3] / "shared"
    path = root / "course" / "attention-qkv.txt"
    if not path.is_file():
        pytest.skip("the course page is not found by SOFTLOOKUP_SHARED or ../shared")
    return path.read_text("utf-8")


def numerals(text):
    """Section -> Counter of its numbers."""
    found, section = {}, "head"
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading and (heading[1] or heading[2]) in SECTIONS:
            section = heading[1] or heading[2]
        if line.startswith("随堂测"):
            section = "quiz"
        joined = SPLIT.sub(r"\1\2^{", line)
        joined = POWER.sub(lambda power: f"{power[1]}e{'-' if power[2] else ''}{power[3]}", joined)
        found.setdefault(section, Counter()).update(NUMERAL.findall(joined))
    return {where: counts for where, counts in found.items() if counts}


def covered(rows=None, not_claims=NOT_CLAIMS):
    found = {}
    for row in audit_rows() if rows is None else rows:
        found.setdefault(row.where, Counter()).update(row.on_page.split())
    for each in not_claims:
        found.setdefault(each.where, Counter()).update(each.numerals.split())
    return {where: counts for where, counts in found.items() if counts}


def differences(on_page, in_audit):
    """Section -> (numbers that the audit lacks, numbers that the page lacks)."""
    result = {}
    for where in {*on_page, *in_audit}:
        page, audit = on_page.get(where, Counter()), in_audit.get(where, Counter())
        if page != audit:
            result[where] = (dict(page - audit), dict(audit - page))
    return result


def test_every_number_of_the_page_is_covered():
    assert differences(numerals(course_page()), covered()) == {}


def test_a_number_that_no_row_covers_is_found():
    row = next(row for row in audit_rows() if row.id == "contract-bandwidth")
    without = [each for each in audit_rows() if each is not row]
    assert differences(covered(), covered(without)) == {"5.4": ({"3": 1}, {})}


def test_a_number_that_the_page_lacks_is_found():
    assert differences(numerals("0. x\n7 and 7"), {"0": Counter(["0", "7", "8"])}) == {"0": ({"7": 1}, {"8": 1})}


def test_powers_are_read_as_the_page_prints_them():
    text = "0. x\n$7.2 \\times 1 0^{- 10}$ and $32 \\times 4107 2^{2}$ and $102 4^{2} \\approx 1.05$ M"
    assert sorted(numerals(text)["0"].elements()) == sorted(["0", "7.2e-10", "32", "41072", "2", "1024", "2", "1.05"])


def test_sections_are_those_of_the_audit():
    found = numerals("head 1\n3. x\n3.1 y 5\n5.4 z\n16\t4.0\n随堂测 · 5")
    assert {where: sorted(counts.elements()) for where, counts in found.items()} == {
        "head": ["1"], "3": ["3"], "3.1": ["3.1", "5"], "5.4": ["16", "4.0", "5.4"], "quiz": ["5"],
    }  # fmt: skip
