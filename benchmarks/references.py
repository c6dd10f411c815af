"""References and definitions against hand labels: precision and recall, by language, split and kind.

    python benchmarks/references.py [--split dev|test|held] [--language zh] [--data FOLDER] [--misses]

A find matches a label when it covers at least half of the labelled characters, or begins or ends with it. It is
right when its targets are those of the label too: for each labelled offset the innermost clause that contains it, so
that an item printed inside the text of a clause ("(ii)" of 10.01(c)) is found in that clause. A label without target
asks for the status "external" or "dangling". --misses lists what is missed and what is false.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from alignment import Alignment
from labelled import IGNORED, Label, LabelledFile, load_labels
from softlookup.documents.model import CrossReference, DefinedTerm, Document, Span
from softlookup.documents.read import read_document
from softlookup.documents.readers.text import decode, normalise_line_ends

_MARKS = "#>*|_ \t\n　"  # before the label of a clause
_ALIAS_WITHIN = 200  # characters after the first name
_SAME_NAME = 2  # characters by which the start of a defined name may differ: quotation and bold marks


@dataclass
class Tally:
    """Counts of one row of the table."""

    labelled: int = 0
    found: int = 0
    matched: int = 0
    right_target: int = 0
    right_effect: int = 0

    def add(self, other: Tally) -> None:
        """Sum up ``other``."""
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass
class Result:
    """What one file gave: tallies by kind, and lines about misses."""

    references: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    definitions: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    talk: list[str] = field(default_factory=list)


def measure(labelled: LabelledFile, data: Path) -> Result:
    """Read the file and compare."""
    path = labelled.path(data)
    document = read_document(path)
    original, _ = normalise_line_ends(decode(path.read_bytes())[0])
    labelled = labelled.moved(Alignment(original, document.text).offset)
    result = Result()
    _measure_references(document, labelled, result)
    _measure_definitions(document, labelled, result)
    return result


def _measure_references(document: Document, labelled: LabelledFile, result: Result) -> None:
    found = [r for r in document.references if _inside(r.span, labelled.reference_windows)]
    pairs = _pairs(labelled.references, [r.span for r in found])
    for label, place in zip(labelled.references, pairs, strict=True):
        if label.kind == IGNORED:
            continue
        tally = result.references[label.kind]
        tally.labelled += 1
        if place is None:
            result.talk.append(_talk("missed", document, label.start, label.end, label.kind))
            continue
        tally.found += 1
        tally.matched += 1
        right = _right_target(document, label, found[place])
        tally.right_target += right
        tally.right_effect += found[place].effect == label.effect
        if not right:
            result.talk.append(_wrong_target(document, label, found[place]))
        if found[place].effect != label.effect:
            words = f"effect {found[place].effect}, not {label.effect}"
            result.talk.append(_talk(words, document, label.start, label.end, label.kind))
    for place, reference in enumerate(found):
        if place not in pairs:
            result.references[reference.kind].found += 1
            span = reference.span
            result.talk.append(_talk("false", document, span.start, span.end, f"{reference.kind} {reference.status}"))


def _measure_definitions(document: Document, labelled: LabelledFile, result: Result) -> None:
    found = [t for t in document.terms if _inside(t.span, labelled.definition_windows)]
    starts = {start: place for place, term in enumerate(found) for start in _names(document.text, term)}
    taken: set[int] = set()
    for label in labelled.definitions:
        near = (starts.get(label.start + step) for step in sorted(range(-_SAME_NAME, _SAME_NAME + 1), key=abs))
        place = next((p for p in near if p is not None), None)
        taken |= set() if place is None else {place}
        if label.kind == IGNORED:
            continue
        tally = result.definitions[label.kind]
        tally.labelled += 1
        if place is None:
            result.talk.append(_talk("definition missed", document, label.start, label.end, label.kind))
        else:
            tally.found += 1
            tally.matched += 1
    for place, term in enumerate(found):
        if place not in taken:
            result.definitions[term.kind].found += 1
            span = term.span
            result.talk.append(_talk("definition false", document, span.start, span.end, term.kind))


def _names(text: str, term: DefinedTerm) -> Iterator[int]:
    """Where the names of the term are printed: a definition of several names is one term with aliases."""
    yield term.span.start
    for alias in term.aliases:
        at = text.find(alias, term.span.end, term.span.end + _ALIAS_WITHIN)
        if at >= 0:
            yield at


def _inside(span: Span, windows: Sequence[tuple[int, int]]) -> bool:
    return any(start <= span.start and span.end <= end for start, end in windows)


def _pairs(labels: Sequence[Label], spans: Sequence[Span]) -> list[int | None]:
    """For each label the span that matches it best and no other label better."""
    scored = []
    for at, label in enumerate(labels):
        for place, span in enumerate(spans):
            common = min(label.end, span.end) - max(label.start, span.start)
            same_edge = label.start == span.start or label.end == span.end
            if common > 0 and (same_edge or 2 * common >= label.end - label.start):
                scored.append((-common, at, place))
    pairs: list[int | None] = [None] * len(labels)
    taken: set[int] = set()
    for _, at, place in sorted(scored):
        if pairs[at] is None and place not in taken:
            pairs[at] = place
            taken.add(place)
    return pairs


def _right_target(document: Document, label: Label, reference: CrossReference) -> bool:
    if not label.targets:
        return reference.status == "external" or (label.kind != "external" and reference.status == "dangling")
    return {_innermost(document, target) for target in label.targets} == set(reference.targets)


def _innermost(document: Document, offset: int) -> int | None:
    """The clause that is labelled at ``offset``, or whose text prints an item there."""
    try:
        return document.clause_at(_printed_start(document.text, offset)).index
    except IndexError:
        return None


def _printed_start(text: str, offset: int) -> int:
    while offset < len(text) and text[offset] in _MARKS:
        offset += 1
    return offset


def _wrong_target(document: Document, label: Label, reference: CrossReference) -> str:
    got = ", ".join(document.clauses[t].path or document.clauses[t].heading for t in reference.targets)
    starts = {_printed_start(document.text, clause.span.start) for clause in document.clauses}
    wanted = ", ".join(
        repr(document.text[t : t + 12]) + ("" if _printed_start(document.text, t) in starts else " (no clause there)")
        for t in label.targets
    )
    words = f"target {reference.status} [{got}] not [{wanted}]"
    return _talk(words, document, label.start, label.end, label.kind)


def _talk(words: str, document: Document, start: int, end: int, kind: str) -> str:
    before = document.text[max(0, start - 60) : start].replace("\n", "⏎")
    after = document.text[end : end + 50].replace("\n", "⏎")
    return f"  {words} ({kind}) @{start}: …{before}⟦{document.text[start:end]}⟧{after}…"


def _table(title: str, tallies: dict[str, Tally], *, targets: bool) -> None:
    total = Tally()
    for tally in tallies.values():
        total.add(tally)
    print(f"{title}: {total.labelled} labelled")
    for kind, tally in [*sorted(tallies.items()), ("all", total)]:
        line = f"  {kind:18}{tally.labelled:5}  found P {_share(tally.matched, tally.found)}"
        line += f" R {_share(tally.matched, tally.labelled)}"
        if targets:
            line += f"  with target P {_share(tally.right_target, tally.found)}"
            line += f" R {_share(tally.right_target, tally.labelled)}"
            line += f"  target {_share(tally.right_target, tally.matched)}"
            line += f"  effect {_share(tally.right_effect, tally.matched)}"
        print(line)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "  -  "


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED", Path(__file__).parents[2] / "shared"))
    parser.add_argument("--data", type=Path, default=shared / "data")
    parser.add_argument("--split", choices=("dev", "test", "held"))
    parser.add_argument("--language", choices=("en", "zh"))
    parser.add_argument("--misses", action="store_true", help="list misses and false finds")
    arguments = parser.parse_args()
    for language in [arguments.language] if arguments.language else ["en", "zh"]:
        for split in [arguments.split] if arguments.split else ["dev", "test", "held"]:
            _report(language, split, arguments)
    return 0


def _report(language: str, split: str, arguments: argparse.Namespace) -> None:
    references: dict[str, Tally] = defaultdict(Tally)
    definitions: dict[str, Tally] = defaultdict(Tally)
    files: Counter[str] = Counter()
    for labelled in load_labels(language):
        if labelled.split != split:
            continue
        if not labelled.path(arguments.data).exists():
            print(f"not there: {labelled.name}", file=sys.stderr)
            continue
        result = measure(labelled, arguments.data)
        files[labelled.name] += 1
        for all_of_it, part in ((references, result.references), (definitions, result.definitions)):
            for kind, tally in part.items():
                all_of_it[kind].add(tally)
        if arguments.misses:
            print(f"{labelled.name}\n" + "\n".join(result.talk))
    _table(f"{language} {split}, references in {len(files)} files", references, targets=True)
    _table(f"{language} {split}, definitions", definitions, targets=False)


if __name__ == "__main__":
    sys.exit(main())
