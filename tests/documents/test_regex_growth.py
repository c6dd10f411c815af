"""No regular expression of the package needs more than linear time on attacks made from its own structure.

Four times the text may take nine times as long at most: a quadratic pattern needs sixteen times, a linear one four.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
import re
import time
from dataclasses import dataclass
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
SIZES = (12, 16, 20, 24, 28, 50, 100, 200, 400, 800, 3200)  # of the last two the growth is taken
SECONDS = 0.35  # far above what any pattern may need for any of these
TOO_SMALL = 0.01  # seconds for the largest size that are not worth a second look
GROWTH = 9.0
ATTACKS = 40  # on one pattern, chosen by a seed
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


@dataclass(frozen=True, slots=True)
class Worst:
    """The attack that was noticed, or that took longest; ``growth`` from the last size but one to the last."""

    seconds: float = 0.0
    growth: float = 0.0
    attack: str = ""

    @property
    def is_slow(self) -> bool:
        """True for what no linear pattern does."""
        return self.seconds > SECONDS or self.growth > GROWTH


def worst(pattern: re.Pattern[str], *, searched: bool = True, guarded: bool = False) -> Worst:
    """The first attack that shows more than linear growth, else the slowest one; sizes grow while they are quick.

    ``searched`` for a pattern that looks for its place, ``guarded`` for one that sees no long runs of white space.
    """
    found = Worst()
    source = random.Random(1)
    pairs = list(attacks(pattern, source))
    for prefix, unit in source.sample(pairs, min(len(pairs), ATTACKS)):
        for end in ENDS:
            attack = f"{prefix!r} + {unit!r} * n + {end!r}"
            texts = [prefix + unit * (size // len(unit)) + end for size in SIZES]
            texts = [with_marks(text) for text in texts] if guarded else texts
            now = _seconds_of(pattern, texts, searched)
            if now > TOO_SMALL:
                growth = _growth(pattern, texts, searched) if now <= SECONDS else 0.0
                if Worst(now, growth).is_slow:
                    return Worst(now, growth, attack)
            found = max(found, Worst(now, 0.0, attack), key=lambda one: one.seconds)
    return found


def _seconds_of(pattern: re.Pattern[str], texts: list[str], searched: bool) -> float:
    """Seconds for the longest text, or for the first one that takes too long."""
    now = 0.0
    for text in texts:
        now = _seconds(pattern, text, searched)
        if now > SECONDS:
            break
    return now


def _seconds(pattern: re.Pattern[str], text: str, searched: bool) -> float:
    started = time.process_time()
    for _ in pattern.finditer(text) if searched else ():
        pass
    pattern.match(text)
    return time.process_time() - started


def _growth(pattern: re.Pattern[str], texts: list[str], searched: bool) -> float:
    """How much longer the last text takes than the one before; the best of three, since the machine has other work."""
    small, large = (min(_seconds(pattern, text, searched) for _ in range(3)) for text in texts[-2:])
    return large / max(small, 1e-6)


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
    found = worst(FOUND[name], searched=is_searched(name), guarded=not name.startswith("documents.readers."))
    assert found.seconds < SECONDS, found
    assert name in KNOWN or not found.is_slow, found


@pytest.mark.parametrize(
    "source", [r"\s*,?\s*x", r"a\s*,?\s*b", r"(?:a+)+b", r"\"\s*([^\"]{1,90}?)\s*\"", r"[^\n]*\S[^\n]*"]
)
def test_a_slow_pattern_is_caught(source):
    assert worst(re.compile(source)).is_slow


@pytest.mark.parametrize("source", [r"\d{1,3}(?:\.\d{1,3}){0,5}", r"(?m)^[^\n]*\S[^\n]*", r"a\s*+b", r"[a-z]{1,30}:"])
def test_a_linear_pattern_passes(source):
    assert not worst(re.compile(source)).is_slow


def test_the_patterns_are_found():
    assert len(FOUND) > 60
