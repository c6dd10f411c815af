"""The labelled contracts of a CUAD-style folder: texts, questions, labelled spans; shared by the benchmarks.

A folder has contracts/*.txt, questions.jsonl and category_descriptions.csv. It is found by --data,
SOFTLOOKUP_SHARED or ../shared, and is not part of the project.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from pathlib import Path

from results import shared_data

# never asked: their answers stand on the title page, and no question is needed to find them
NOT_ASKED = frozenset({"Document Name", "Parties", "Agreement Date"})
MOST_ANSWERABLE, MOST_UNANSWERABLE = 6, 4
# characters of the contracts on which heads and constants were chosen
LOW, HIGH = 6_000, 24_000

# contract-style questions that no commercial contract answers, none of them in the question bank
OFF_TOPIC = (
    "What is the capital of France?",
    "How do I reset the router in my hotel room?",
    "Which medicine lowers blood pressure?",
    "How many calories are in the soup?",
    "Who won the world cup in 1998?",
    "What is the dress code for the gala dinner?",
    "When does the kindergarten close for summer?",
    "How many witnesses must sign the last will?",
    "May the lodger smoke on the balcony?",
    "What is the surgeon's duty during the operation?",
    "Which tyres must the racing car use?",
    "How is the crew of the fishing boat paid for cod?",
    "Is the bride's dowry refundable?",
    "What happens if the patient misses chemotherapy?",
    "How many hours may a minor work in the circus?",
    "Which breed of cattle is covered by the pedigree?",
    "How long may a caravan stay on the campsite?",
    "Who maintains the lighthouse lamp?",
    "What is the pension of a retired firefighter?",
    "How often is blood tested for doping?",
)


@dataclass(frozen=True)
class LabelledQuestion:
    """``spans`` are the labelled answers, empty for a question that the contract does not answer."""

    category: str
    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class LabelledContract:
    """One contract with the questions that are asked of it."""

    path: Path
    questions: tuple[LabelledQuestion, ...]


def data_folder(named: str | None) -> Path | None:
    """The folder given, or ``cuad`` in the shared data; None when it is not there."""
    folder = Path(named) if named else shared_data() / "cuad"
    return folder if (folder / "questions.jsonl").is_file() else None


def contract_order(folder: Path, *, low: int = LOW, high: int = HIGH, seed: int = 0) -> list[str]:
    """File names of all contracts of ``low`` to ``high`` characters, in the order of ``load_contracts``."""
    return [row["file"] for row in _shuffled(folder, low, high, seed)]


def load_contracts(
    folder: Path, count: int, *, low: int = LOW, high: int = HIGH, seed: int = 0
) -> list[LabelledContract]:
    """``count`` contracts of ``low`` to ``high`` characters, with up to 6 answerable and 4 unanswerable questions."""
    texts = _descriptions(folder)
    found = []
    for row in _shuffled(folder, low, high, seed)[:count]:
        asked = [c for c in row["qas"] if c.lower() in texts and c not in NOT_ASKED]
        yes = [c for c in asked if row["qas"][c]["spans"]]
        no = [c for c in asked if row["qas"][c]["is_impossible"]]
        chosen = random.Random(row["file"])
        use = chosen.sample(yes, min(MOST_ANSWERABLE, len(yes))) + chosen.sample(no, min(MOST_UNANSWERABLE, len(no)))
        questions = tuple(
            LabelledQuestion(c, texts[c.lower()], tuple((s[0], s[1]) for s in row["qas"][c]["spans"])) for c in use
        )
        found.append(LabelledContract(folder / "contracts" / row["file"], questions))
    return found


def hits(start: int, end: int, spans: tuple[tuple[int, int], ...]) -> bool:
    """A passage hits when it overlaps a labelled span by 50 characters or by half of the span."""
    return any(min(end, stop) - max(start, begin) >= min(50, (stop - begin) / 2) for begin, stop in spans)


def _shuffled(folder: Path, low: int, high: int, seed: int) -> list[dict]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    rows = [row for row in rows if low < row["chars"] < high]
    random.Random(seed).shuffle(rows)
    return rows


def _descriptions(folder: Path) -> dict[str, str]:
    found = {}
    with (folder / "category_descriptions.csv").open(encoding="utf-8-sig", newline="") as stream:
        for row in csv.reader(stream):
            if row and row[0].startswith("Category:"):
                found[row[0].split(":", 1)[1].strip().lower()] = row[1].split(":", 1)[1].strip()
    return found
