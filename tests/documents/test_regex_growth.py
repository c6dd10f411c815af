"""No regular expression of the package needs more than linear time on attacks made from its own structure.

A quadratic one takes about a second for 12,000 characters and a cubic one hours, a linear one milliseconds.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import time
from pathlib import Path

import pytest

import softlookup
import softlookup.cli
import softlookup.documents
import softlookup.evidence
import softlookup.retrieval
from softlookup.documents.long_blanks import with_marks

from .regex_attacks import ENDS, attacks

PACKAGES = (softlookup.documents, softlookup.retrieval, softlookup.evidence, softlookup.cli)
SIZES = (12, 16, 20, 24, 28, 50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800)
SECONDS = 0.35  # far above what a linear pattern needs for the largest size, far below a quadratic one
SUSPECT = 0.05  # so much for a smaller size is an end, because the next size could take hours
OTHER_PROCESS = "pdf_child"  # loads pdfium, which stays out of this process


def patterns() -> dict[str, re.Pattern[str]]:
    """Every compiled pattern of the packages by name."""
    found: dict[str, re.Pattern[str]] = {}
    for package in PACKAGES:
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            if OTHER_PROCESS in module.name:
                continue
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                    found[f"{module.name.removeprefix('softlookup.')}.{name}"] = value
    return found


def slowest(
    pattern: re.Pattern[str], *, searched: bool = True, guarded: bool = False, largest: int = SIZES[-1]
) -> tuple[float, str]:
    """Seconds of the worst attack and its description; sizes grow while they are quick.

    ``searched`` for a pattern that looks for its place, ``guarded`` for one that sees no long runs of white space.
    """
    worst = (0.0, "")
    for prefix, unit in attacks(pattern, random.Random(1)):
        for end in ENDS:
            for size in (size for size in SIZES if size <= largest):
                text = prefix + unit * (size // len(unit)) + end
                text = with_marks(text) if guarded else text
                started = time.process_time()
                for _ in pattern.finditer(text) if searched else ():
                    pass
                pattern.match(text)
                seconds = time.process_time() - started
                if seconds > SUSPECT and size < largest:
                    seconds *= largest / size  # what the largest would need if it were linear
                worst = max(worst, (seconds, f"{prefix!r} + {unit!r} * {size // len(unit)} + {end!r}"))
                if seconds > SECONDS:
                    return worst
    return worst


def is_searched(name: str) -> bool:
    """Whether the source calls anything but ``match`` or ``fullmatch`` of the pattern."""
    used = [use for text in SOURCES for use in re.findall(rf"\b{name.rsplit('.', 1)[-1]}\b(?:\.(\w+))?", text)]
    return not set(used) <= {"", "match", "fullmatch"} or not set(used) - {""}


# quadratic on rows of one sign that end wrongly, about 0.05 s for 1,600 characters: to be made linear one by one
KNOWN = frozenset((
    "documents.candidates._PAGE_TAIL", "documents.definitions._LEAD", "documents.own_paragraphs._NO_PARAGRAPH",
    "documents.readers.docx_links._ABOVE", "documents.readers.pages._LABEL", "documents.readers.pdf_chars._LABEL",
    "documents.readers.pdf_hyphens._LAST", "documents.readers.pdf_layout._LEADERS",
    "documents.reference_mentions._INSIDE", "documents.reference_mentions._MENTION_EN",
    "documents.reference_mentions._NEXT_EN", "documents.reference_mentions._OF_CLAUSE",
    "documents.reference_relative._CALLED",
))  # fmt: skip
FOUND = patterns()
SOURCES = [path.read_text("utf-8") for path in Path(softlookup.__file__).parent.rglob("*.py")]


@pytest.mark.parametrize("name", FOUND)
def test_pattern_is_linear(name):
    guarded = not name.startswith("documents.readers.")
    largest = 1600 if name in KNOWN else SIZES[-1]
    seconds, attack = slowest(FOUND[name], searched=is_searched(name), guarded=guarded, largest=largest)
    assert seconds < SECONDS, f"{seconds:.2f} s for {attack}"


@pytest.mark.parametrize(
    "source", [r"\s*,?\s*x", r"a\s*,?\s*b", r"(?:a+)+b", r"\"\s*([^\"]{1,90}?)\s*\"", r"[^\n]*\S[^\n]*"]
)
def test_a_slow_pattern_is_caught(source):
    assert slowest(re.compile(source))[0] > SECONDS


@pytest.mark.parametrize("source", [r"\d{1,3}(?:\.\d{1,3}){0,5}", r"(?m)^[^\n]*\S[^\n]*", r"a\s*+b", r"[a-z]{1,30}:"])
def test_a_linear_pattern_passes(source):
    assert slowest(re.compile(source))[0] < SECONDS


def test_the_patterns_are_found():
    assert len(FOUND) > 60
