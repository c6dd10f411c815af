"""What evidence costs: `ask` against plain transformers doing the same prefill and the same answer length.

    python benchmarks/cost_of_trust.py [FILE] [--tokens 4000] [--rounds 3]

Both sides run alternately in this process on the same weights, threads and text. The contract is FILE or
the English sample, cut or repeated to --tokens. Ratios are of medians; nothing else may run meanwhile.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

QUESTIONS = (
    "What happens to the fees when the agreement is terminated for cause?",
    "Does the liability cap conflict with the termination right?",
)


def plain_seconds(session: object, text: str, question: str, new_tokens: int) -> float:
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


def text_of_length(session: object, path: Path, tokens: int) -> str:
    """The document's text, repeated and cut at a token border to ``tokens`` tokens."""
    text = session.open(path).document.text
    prefix = session.template.prefix(text)
    while len(prefix.offsets) < tokens:
        text = f"{text}\n{text}"
        prefix = session.template.prefix(text)
    return text[: int(prefix.offsets[tokens - 1][1])]


def main() -> int:
    """Print one line per round, then the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sample = Path(__file__).resolve().parents[1] / "samples" / "supply-agreement.docx"
    parser.add_argument("file", nargs="?", type=Path, default=sample)
    parser.add_argument("--tokens", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    from softlookup.session import Options, Session

    session = Session(options=Options(max_answer_tokens=40))
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
