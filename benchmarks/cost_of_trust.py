"""What evidence costs: `ask` against plain transformers doing the same prefill and the same answer length.

    python benchmarks/cost_of_trust.py [FILE] [--tokens 4000] [--rounds 3]
    python benchmarks/cost_of_trust.py [FILE] --table [--sizes 4000 8000] [--rounds 5]

Both sides run alternately in this process on the same weights, threads and text. The contract is FILE or
the English sample, cut or repeated to --tokens. Ratios are of medians; nothing else may run meanwhile.

--table compares softlookup with itself: bank and evidence of one question, without its answer, as a share of the
prefill; and a further question, without its answer, as a share of the first one with its answer. Numbers that an
earlier run kept on disk are not used.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softlookup.session import Session

QUESTIONS = (
    "What happens to the fees when the agreement is terminated for cause?",
    "Does the liability cap conflict with the termination right?",
)
# most that bank and evidence of one question may cost, as a share of the prefill, by tokens of the document
TRUST_BARS = {4000: 0.40, 8000: 0.15}
# most that a further question may cost until its evidence is known, as a share of the first with its answer
EXTRA_BAR = 0.03
# tokens beside the document: template, a question and an answer of 40 tokens
RESERVED = 160


def plain_seconds(session: Session, text: str, question: str, new_tokens: int) -> float:
    """Prefill and ``new_tokens`` greedy tokens with transformers alone, on the same prompt."""
    import torch

    template, model = session.template, session.loaded.model
    ids = torch.tensor([[*template.prefix(text).ids, *template.suffix(question).ids]])
    start = time.perf_counter()
    with torch.inference_mode():
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            min_new_tokens=new_tokens,
            do_sample=False,
        )
    return time.perf_counter() - start


def text_of_length(session: Session, path: Path, tokens: int) -> str:
    """The document's text, repeated and cut at a token border to ``tokens`` tokens."""
    text = session.open(path).document.text
    prefix = session.template.prefix(text)
    while len(prefix.offsets) < tokens:
        text = f"{text}\n{text}"
        prefix = session.template.prefix(text)
    return text[: int(prefix.offsets[tokens - 1][1])]


def open_session(model: Path | None = None) -> Session:
    """A session that computes everything anew: numbers kept from an earlier run would flatter every time."""
    from softlookup.session import Options, Session

    return Session(model, options=Options(max_answer_tokens=40, cache=False))


@dataclass(frozen=True)
class Costs:
    """Seconds of one round on one document; ``evidence`` and ``extra_question`` without decoding an answer."""

    prefill: float
    calibrate: float
    evidence: float
    answer: float
    first_answer: float
    extra_question: float


def measure(session: Session, path: Path) -> Costs:
    """Ask both questions about ``path``, read as a whole if the window allows it; walls around all that `ask` does."""
    from softlookup.cost.plan.strategy import Strategy

    document = session.open(path)
    # less is reserved than for a user's question, which may be long: 8,000 tokens fit a window of 8,192
    tokens, window = session.count_tokens(document.document.text), session.source.window
    if tokens + RESERVED <= window:
        document._readings.strategy = Strategy("full_context", "fits", tokens, tokens, window)
    _ = session.profile, document.chunks, document.lexical  # made once per model and document, not what is timed
    answers, walls = document.ask_all(QUESTIONS), []
    for _ in QUESTIONS:
        start = time.perf_counter()
        answer = next(answers)
        walls.append((time.perf_counter() - start, answer.seconds))
    (first, spent), (second, later) = walls
    return Costs(
        prefill=spent.prefill,
        calibrate=spent.calibrate,
        evidence=first - spent.prefill - spent.calibrate - spent.answer,
        answer=spent.answer,
        first_answer=first,
        extra_question=second - later.answer,
    )


def cost_row(tokens: int, rounds: Sequence[Costs]) -> dict[str, object]:
    """Medians of the rounds, the ratios of each round's own seconds as a median, and whether these keep their bars."""

    def median(value: Callable[[Costs], float]) -> float:
        return statistics.median(value(costs) for costs in rounds)

    trust = median(lambda c: (c.calibrate + c.evidence) / c.prefill)
    extra = median(lambda c: c.extra_question / c.first_answer)
    bar = TRUST_BARS.get(tokens)
    return {
        "tokens": tokens,
        "rounds": len(rounds),
        **{f"{f.name}_s": round(median(lambda c, f=f: getattr(c, f.name)), 3) for f in fields(Costs)},
        "trust_over_prefill": round(trust, 3),
        "trust_bar": bar,
        "trust_kept": None if bar is None else trust <= bar,
        "extra_over_first": round(extra, 4),
        "extra_bar": EXTRA_BAR,
        "extra_kept": extra <= EXTRA_BAR,
    }


def cost_table(session: Session, file: Path, sizes: Sequence[int], rounds: int) -> list[dict[str, object]]:
    """One row per size; the sizes take turns in every round, and the first round warms up."""
    found: dict[int, list[Costs]] = {size: [] for size in sizes}
    with tempfile.TemporaryDirectory() as folder:
        paths = {size: Path(folder) / f"contract-{size}.txt" for size in sizes}
        for size, path in paths.items():
            path.write_text(text_of_length(session, file, size), encoding="utf-8")
        for number in range(rounds + 1):
            for size, path in paths.items():
                costs = measure(session, path)
                if number:
                    found[size].append(costs)
                    print(f"round {number}, {size} tokens: {costs}", file=sys.stderr, flush=True)
    return [cost_row(size, found[size]) for size in sizes]


def main() -> int:
    """Print one line per round, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sample = Path(__file__).resolve().parents[1] / "samples" / "supply-agreement.docx"
    parser.add_argument("file", nargs="?", type=Path, default=sample)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--table", action="store_true", help="cost of bank and evidence beside the prefill, by size")
    parser.add_argument("--sizes", type=int, nargs="+", default=[4000, 8000], metavar="TOKENS")
    parser.add_argument("--model", type=Path, help="Hugging Face folder or GGUF file (default: the embedded model)")
    options = parser.parse_args()
    session = open_session(options.model)
    if options.table:
        for row in cost_table(session, options.file, options.sizes, options.rounds):
            print(json.dumps(row))
        return 0
    text = text_of_length(session, options.file, options.tokens)
    plain, first, second = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "contract.txt"
        path.write_text(text, encoding="utf-8")
        for number in range(options.rounds + 1):
            document = session.open(path)
            answers = list(document.ask_all(QUESTIONS))
            seconds = [answer.seconds for answer in answers]
            lengths = [session.count_tokens(answer.answer) if answer.answer else 0 for answer in answers]
            bare = plain_seconds(session, document.document.text, QUESTIONS[0], 40)
            if number == 0:  # warm-up: the first run pays for page faults and thread start
                continue
            plain.append(bare)
            first.append(seconds[0].total - seconds[0].load - seconds[0].read)
            second.append(seconds[1].total)
            line = f"round {number}: plain {bare:.2f} s, ask {first[-1]:.2f} s (prefill {seconds[0].prefill:.2f}, "
            line += f"calibrate {seconds[0].calibrate:.2f}, question {seconds[0].question:.2f}, answer "
            line += f"{seconds[0].answer:.2f} for {lengths[0]} tokens), "
            line += f"second question {second[-1]:.2f} s ({lengths[1]} tokens)"
            print(line, file=sys.stderr, flush=True)
    result = {
        "tokens": options.tokens,
        "plain_s": round(statistics.median(plain), 2),
        "ask_s": round(statistics.median(first), 2),
        "second_question_s": round(statistics.median(second), 2),
        "ask_over_plain": round(statistics.median(first) / statistics.median(plain), 3),
        "second_over_first": round(statistics.median(second) / statistics.median(first), 3),
    }
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
