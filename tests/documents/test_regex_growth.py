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
from softlookup.documents.tree.long_blanks import with_marks

from .regex_attacks import ENDS, attacks

PACKAGES = (softlookup.documents, softlookup.retrieval, softlookup.evidence, softlookup.cli)
SIZES = (12, 16, 20, 24, 28, 50, 100, 200, 500, 2000)  # of the last two the growth is taken
SECONDS = 0.2  # far above what any pattern may need for the largest
SUSPECT = 0.05  # and for a smaller one
TOO_SMALL = 0.004  # seconds for the largest size that are not worth a second look
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


def worst(pattern: re.Pattern[str], *, searched: bool = True, guarded: bool = False, most: int = 0) -> Worst:
    """The first attack that shows more than linear growth, else the slowest one; sizes grow while they are quick.

    ``searched`` for a pattern that looks for its place, ``guarded`` for one that sees no long runs of white space,
    ``most`` for one that sees no more than so many characters: then only the time counts.
    """
    found = Worst()
    source = random.Random(1)
    pairs = list(attacks(pattern, source))
    sizes = tuple(size for size in SIZES if not most or size < most) + ((most,) if most else ())
    for prefix, unit in source.sample(pairs, min(len(pairs), ATTACKS)):
        for end in ENDS:
            attack = f"{prefix!r} + {unit!r} * n + {end!r}"
            texts = [prefix + unit * (size // len(unit)) + end for size in sizes]
            texts = [with_marks(text) for text in texts] if guarded else texts
            now = _seconds_of(pattern, texts, searched)
            if now > TOO_SMALL and not most:
                growth = _growth(pattern, texts, searched) if now <= SECONDS else 0.0
                if Worst(now, growth).is_slow:
                    return Worst(now, growth, attack)
            found = max(found, Worst(now, 0.0, attack), key=lambda one: one.seconds)
    return found


def _seconds_of(pattern: re.Pattern[str], texts: list[str], searched: bool) -> float:
    """Seconds for the longest text; when a shorter one is slow already, what the longest needs at least."""
    now = 0.0
    for text in texts:
        now = _seconds(pattern, text, searched)
        if now > SUSPECT and text is not texts[-1]:
            return max(now * len(texts[-1]) / len(text), 2 * SECONDS)
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
    """Whether the source calls anything but ``match`` or ``fullmatch`` of the pattern; a private one in its module."""
    module, _, own = name.rpartition(".")
    texts = [SOURCES[module]] if own.startswith("_") else SOURCES.values()
    used = [use for text in texts for use in re.findall(rf"\b{own}\b(?:\.(\w+))?", text)]
    return not set(used) <= {"", "match", "fullmatch"} or not set(used) - {""}


# more than linear, but their callers give them no more than so many characters
BOUNDED = {
    "documents.tree.candidates._PAGE_TAIL": 160,
    "documents.definitions.find._LEAD": 80,
    "documents.tree.own_paragraphs._NO_PARAGRAPH": 200,
    "documents.readers.pdf.breaks._LEADERS": 400,
    "documents.readers.pdf.hyphens._LAST": 60,
    "retrieval.chunks._ABBREVIATION": 13,
}
FOUND = patterns()
ROOT = Path(softlookup.__file__).parent
SOURCES = {".".join(p.relative_to(ROOT).with_suffix("").parts): p.read_text("utf-8") for p in ROOT.rglob("*.py")}


@pytest.mark.parametrize("name", FOUND)
def test_pattern_is_linear(name):
    guarded = not name.startswith("documents.readers.")
    found = worst(FOUND[name], searched=is_searched(name), guarded=guarded, most=BOUNDED.get(name, 0))
    assert not found.is_slow, found
    assert name not in BOUNDED or found.seconds < SUSPECT, found


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
    assert set(BOUNDED) <= set(FOUND)


def test_a_slow_pattern_passes_only_with_a_bound_that_is_small():
    cubic = re.compile(r"\s*,?\s*x")
    assert not worst(cubic, most=20).is_slow
    assert worst(cubic, most=2000).is_slow
