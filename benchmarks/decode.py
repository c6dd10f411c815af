"""Speed of greedy decoding behind a long context: transformers' own `generate`, ours, and llama.cpp if installed.

    python benchmarks/decode.py [--contexts 4096 7800] [--tokens 32] [--rounds 5] [--questions 50]
                                [--gguf FILE] [--no-amx]

The sides take turns in one process, after the same prefill, on the same number of threads; each round decodes
--tokens tokens (no end of text stops them) and the table shows medians. llama.cpp (`llama-cpp-python`, not a
dependency) reads the GGUF file that the embedded model was converted from (--gguf, or fetched by pip); it keeps keys
and values in float16, the other two in float32. Then the answers to --questions questions, spread over contexts of
1,000 tokens and those of the table, are compared with `generate`, token for token. Ratios mean nothing while other
programs run.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cost_of_trust import text_of_length

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
SHORT_CONTEXT = 1000


def filled_cache(reading: Any) -> Any:
    """A DynamicCache of transformers with copies of the document's keys and values."""
    from transformers import DynamicCache

    cache = DynamicCache(config=reading.loaded.model.config)
    for source, target in zip(reading._cache.cache.layers, cache.layers, strict=True):
        target.update(source.keys.clone(), source.values.clone())
    return cache


def generate(model: Any, ids: list[int], cache: Any, tokens: int, *, force: bool) -> list[int]:
    """The ids that transformers' greedy `generate` adds to ``ids``; with ``force`` exactly ``tokens`` of them."""
    import torch

    prompt = torch.tensor([ids])
    least = {"min_new_tokens": tokens} if force else {}
    with torch.inference_mode():
        output = model.generate(
            prompt, attention_mask=torch.ones_like(prompt), cache=cache, max_new_tokens=tokens, do_sample=False, **least
        )
    return output[0, len(ids) :].tolist()


def transformers_side(reading: Any, tokens: int) -> Callable[[], float]:
    """Seconds of one run of `generate` behind the document; copying the cache is not counted."""
    model, ids = reading.loaded.model, list(reading.prefix.ids)

    def run() -> float:
        cache = filled_cache(reading)
        cache.crop(-1)  # `generate` wants to run the last token itself
        start = time.perf_counter()
        generate(model, ids, cache, tokens, force=True)
        return time.perf_counter() - start

    return run


def our_side(reading: Any, tokens: int) -> Callable[[], float]:
    """Seconds of one run of our decoding behind the document, all that an answer starts included."""
    from softlookup.runtime.decode import decoding
    from softlookup.runtime.prefilled import _greedy

    start_token, position = int(reading.prefix.ids[-1]), len(reading.prefix)

    def run() -> float:
        start = time.perf_counter()
        token = start_token
        with (
            reading._scratch(),
            decoding(reading.loaded.model, reading._cache, position=position, steps=tokens) as step,
        ):
            for _ in range(tokens):
                token = _greedy(step(token))[0]
        return time.perf_counter() - start

    return run


def llama_side(reading: Any, tokens: int, gguf: Path, *, amx: bool) -> Callable[[], float]:
    """Seconds of one run of llama.cpp behind the same tokens, prefilled once."""
    import torch
    from llama_cpp import Llama, llama_cpp

    defaults = llama_cpp.llama_model_default_params

    def without_amx() -> Any:
        parameters = defaults()
        parameters.use_extra_bufts = False  # AMX, and layouts of weight types that this file does not have
        return parameters

    if not amx:
        llama_cpp.llama_model_default_params = without_amx
    threads = torch.get_num_threads()
    ids = list(reading.prefix.ids)
    # flash attention stays off, its default: on a Xeon it was 3.6 times slower for one row at 4,096 tokens
    llama = Llama(
        str(gguf),
        n_ctx=len(ids) + tokens + 8,
        n_threads=threads,
        n_threads_batch=threads,
        verbose=False,
    )
    llama_cpp.llama_model_default_params = defaults
    llama.eval(ids)

    def run() -> float:
        llama.n_tokens = len(ids)  # the next eval drops what lies behind
        token = int(ids[-1])
        start = time.perf_counter()
        for _ in range(tokens):
            llama.eval([token])
            token = llama.sample(temp=0.0)
        return time.perf_counter() - start

    return run


def gguf_file(named: Path | None, scratch: Path) -> Path | None:
    """The GGUF file of the embedded model, None when llama-cpp-python is not installed."""
    from importlib.util import find_spec

    if find_spec("llama_cpp") is None:
        return None
    if named is not None:
        return named
    from softlookup.runtime import embedded

    return embedded._extract(embedded._download(scratch), scratch)


def open_context(session: Any, text: str) -> Any:
    """A prefilled text."""
    from softlookup.runtime.prefilled import prefill

    return prefill(session.loaded, session.template, text)


def text_for(session: Any, tokens: int) -> str:
    """Text whose prompt prefix has ``tokens`` tokens, the control tokens of the template included."""
    bare = len(session.template.prefix(" "))
    return text_of_length(session, SAMPLES / "supply-agreement.docx", tokens - bare)


def speed_rows(reading: Any, options: argparse.Namespace, gguf: Path | None) -> dict[str, Any]:
    """Median tokens per second of every side at one context."""
    tokens = options.tokens
    sides = {"transformers": transformers_side(reading, tokens), "softlookup": our_side(reading, tokens)}
    if gguf is not None:
        sides["llama.cpp"] = llama_side(reading, tokens, gguf, amx=not options.no_amx)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(options.rounds + 1):
        for name, run in sides.items():
            spent = run()
            if number:  # the first round pays for page faults, compiled code and the compact weights
                seconds[name].append(spent)
            print(f"{len(reading.prefix)} tokens, round {number}: {name} {spent:.2f} s", file=sys.stderr, flush=True)
    return {name: tokens / statistics.median(runs) for name, runs in seconds.items()}


def questions(count: int) -> Iterator[str]:
    """English questions of the samples, answerable or not, over and over."""
    samples = json.loads((SAMPLES / "questions.json").read_text("utf-8"))["samples"]
    english = next(sample for sample in samples if sample["language"] == "en")
    groups = [value for value in english.values() if isinstance(value, list)]
    texts = [entry["question"] for entry in itertools.chain(*groups)]
    return itertools.islice(itertools.cycle(texts), count)


def equal_answers(readings: list[Any], options: argparse.Namespace) -> int:
    """How many answers have the same tokens as those of `generate` on the same context."""
    equal = 0
    for number, question in enumerate(questions(options.questions)):
        reading = readings[number % len(readings)]
        suffix = reading.template.suffix(question)
        ours = reading.answer(suffix, max_new_tokens=options.answer_tokens).ids
        ids = [*reading.prefix.ids, *suffix.ids]
        theirs = generate(reading.loaded.model, ids, filled_cache(reading), options.answer_tokens, force=False)
        if len(theirs) > len(ours):  # `generate` returns the token that ends the answer, too
            theirs = theirs[: len(ours)] if len(theirs) == len(ours) + 1 else theirs
        equal += list(ours) == theirs
        mark = "equal" if list(ours) == theirs else "differs"
        print(f"question {number + 1}: {mark} ({len(ours)} tokens)", file=sys.stderr, flush=True)
    return equal


def print_table(rows: dict[int, dict[str, Any]], weights: str, equal: str) -> None:
    """One line per context, then what the numbers rest on."""
    print(f"{'context':>8} {'transformers':>14} {'softlookup':>12} {'llama.cpp':>14} {'ratio':>7}")
    for context, speeds in rows.items():
        llama = f"{speeds['llama.cpp']:.1f} tok/s" if "llama.cpp" in speeds else "not installed"
        ours, theirs = speeds["softlookup"], speeds["transformers"]
        print(f"{context:>8} {theirs:>8.1f} tok/s {ours:>6.1f} tok/s {llama:>14} {ours / theirs:>6.2f}x")
    print(f"ratio: softlookup / transformers. Compact weights: {weights}. Equal greedy answers: {equal}.")


def first_use(session: Any) -> str:
    """Makes the compact weights and says what that cost."""
    import torch

    from softlookup.kernels.tasks import TaskTeam
    from softlookup.runtime.compact_weights import compact_weights

    with TaskTeam(torch.get_num_threads()) as team:
        start = time.perf_counter()
        weights = compact_weights(session.loaded.model, team)
        return f"{weights.extra_bytes / 1e6:.0f} MB, made in {time.perf_counter() - start:.2f} s"


def main() -> int:
    """Print the table on stdout, progress on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--contexts", type=int, nargs="+", default=[4096, 7800])
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--questions", type=int, default=50)
    parser.add_argument("--answer-tokens", type=int, default=32)
    parser.add_argument("--gguf", type=Path)
    parser.add_argument("--no-amx", action="store_true", help="for virtual machines in which llama.cpp's AMX code dies")
    options = parser.parse_args()
    from softlookup.session import Options, Session

    session = Session(options=Options(cache=False))
    print(f"loading {session.loaded.source.name}", file=sys.stderr)
    weights = first_use(session)
    rows, readings = {}, []
    with tempfile.TemporaryDirectory() as scratch:
        gguf = gguf_file(options.gguf, Path(scratch))
        for context in options.contexts:
            reading = open_context(session, text_for(session, context))
            rows[len(reading.prefix)] = speed_rows(reading, options, gguf)
            readings.append(reading)
    equal = "not asked"
    if options.questions:
        text = session.open(SAMPLES / "supply-agreement.docx").document.text
        size = len(text_for(session, SHORT_CONTEXT))
        readings += [open_context(session, text[start : start + size]) for start in (0, size, 2 * size)]
        equal = f"{equal_answers(readings, options)} of {options.questions}"
    print_table(rows, weights, equal)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
