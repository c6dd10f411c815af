"""Hand labels of references and definitions: where they stand in real files, without their words.

``labels/refs_*.tsv``, ``defs_*.tsv`` and ``windows_*.tsv`` name files of the evaluation data (or texts of our own
beside them) and code-point offsets into the decoded text. Rows of kind "ignored" are neither asked for nor held
against a find (a statute named without an article). Rules were first written without a look at the files of the
split "test"; since then its misses were read too, so that both splits now show what the rules were made for. The
split "held" (tables ``*_held.tsv``) was labelled later by someone else, and no rule has seen it.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

LABELS = Path(__file__).parent / "labels"
IGNORED = "ignored"


@dataclass(frozen=True)
class Label:
    """A labelled mention ``[start, end)``; ``targets`` are offsets of clauses, () for none in the file."""

    start: int
    end: int
    kind: str
    effect: str = ""
    targets: tuple[int, ...] = ()


@dataclass(frozen=True)
class LabelledFile:
    """What was labelled in one file: everything inside the windows, nothing outside."""

    name: str
    language: str
    split: str
    references: tuple[Label, ...]
    definitions: tuple[Label, ...]
    reference_windows: tuple[tuple[int, int], ...]
    definition_windows: tuple[tuple[int, int], ...]

    def path(self, data: Path) -> Path:
        """The file itself: in ``data``, or one of our own texts."""
        own = LABELS / self.name
        return own if own.exists() else data / self.name

    def moved(self, offset: Callable[[int], int | None]) -> LabelledFile:
        """The same with every offset mapped; labels and windows whose words are not there are dropped."""
        return replace(
            self,
            references=tuple(label for old in self.references if (label := _moved(old, offset)) is not None),
            definitions=tuple(label for old in self.definitions if (label := _moved(old, offset)) is not None),
            reference_windows=tuple(_moved_window(window, offset) for window in self.reference_windows),
            definition_windows=tuple(_moved_window(window, offset) for window in self.definition_windows),
        )


def _moved(label: Label, offset: Callable[[int], int | None]) -> Label | None:
    start, targets = offset(label.start), tuple(offset(target) for target in label.targets)
    if start is None or None in targets:
        return None
    kept = tuple(target for target in targets if target is not None)
    return replace(label, start=start, end=start + label.end - label.start, targets=kept)


def _moved_window(window: tuple[int, int], offset: Callable[[int], int | None]) -> tuple[int, int]:
    start, end = (next((o for at in range(edge, edge + 400) if (o := offset(at)) is not None), 0) for edge in window)
    return start, end


def load_labels(language: str) -> Iterator[LabelledFile]:
    """Every labelled file of "en" or "zh", in the order of the tables."""
    yield from _labelled(language, language)
    yield from _labelled(language, f"{language}_held")


def _labelled(language: str, tables: str) -> Iterator[LabelledFile]:
    references, definitions = _by_file(f"refs_{tables}.tsv"), _by_file(f"defs_{tables}.tsv")
    for name, rows in _by_file(f"windows_{tables}.tsv").items():
        windows = {
            what: tuple((int(r["start"]), int(r["end"])) for r in rows if r["what"] == what)
            for what in ("refs", "defs")
        }
        yield LabelledFile(
            name,
            language,
            rows[0]["split"],
            tuple(map(_label, references.get(name, ()))),
            tuple(map(_label, definitions.get(name, ()))),
            windows["refs"],
            windows["defs"],
        )


def _by_file(table: str) -> dict[str, list[dict[str, str]]]:
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    with (LABELS / table).open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
            rows[row["file"]].append(row)
    return rows


def _label(row: dict[str, str]) -> Label:
    target = row.get("target", "-")
    targets = () if target == "-" else tuple(sorted(map(int, target.split(","))))
    return Label(int(row["start"]), int(row["end"]), row["kind"], row.get("effect", ""), targets)
