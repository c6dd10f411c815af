"""Choose evidence heads by ranking quality on the fit half; prints the tuple for evidence/profile.py.

    python benchmarks/choose_heads.py --contracts 80 --heads 12

A head's quality is the mean reciprocal rank of the right passage when that head alone ranks by its
calibrated mass. Its weight is quality squared over the spread of its calibrated mass.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from cuad import LabelledContract, data_folder, hits, load_contracts


def head_results(session: object, contract: LabelledContract) -> tuple[np.ndarray, np.ndarray]:
    """(reciprocal ranks [answerable questions, heads], spread [heads]) on one contract."""
    from softlookup.evidence.attribution import null_mass
    from softlookup.evidence.profile import HeadProfile
    from softlookup.evidence.question_bank import question_bank
    from softlookup.evidence.reading import Reading

    document = session.open(contract.path)
    plain = document.reading([])
    config = session.loaded.model.config
    heads = tuple(
        (layer, head) for layer in range(config.num_hidden_layers) for head in range(config.num_attention_heads)
    )
    every = HeadProfile(heads, (1.0,) * len(heads), profiled=False)
    reading = Reading(plain.prefilled, plain.context, document.chunks, every)
    questions = [question for question in contract.questions if question.spans]
    null = null_mass(reading.mass(question_bank("en").questions))
    lifted = reading.mass([question.text for question in questions]) - null
    ranks = np.zeros((len(questions), len(heads)))
    for place, question in enumerate(questions):
        gold = np.array([hits(c.span.start, c.span.end, question.spans) for c in reading.chunks])
        if gold.any():
            best = lifted[place][:, gold].max(axis=1, keepdims=True)
            ranks[place] = 1 / (1 + (lifted[place] > best).sum(axis=1))
    return ranks, lifted.std(axis=(0, 2))


def main() -> int:
    """Print the chosen heads and weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data")
    parser.add_argument("--contracts", type=int, default=80)
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = data_folder(options.data)
    if folder is None:
        print("skipped: no CUAD-style data (pass --data, or set SOFTLOOKUP_SHARED)")
        return 0
    from softlookup.session import Options, Session

    session = Session(options=Options(cache=False))
    ranks, spreads = [], []
    for contract in load_contracts(folder, options.contracts, seed=options.seed)[0::2]:
        start = time.perf_counter()
        if not any(question.spans for question in contract.questions):
            continue
        rank, spread = head_results(session, contract)
        ranks.append(rank)
        spreads.append(spread)
        print(f"{contract.path.name[:60]:60} {time.perf_counter() - start:5.1f} s", file=sys.stderr, flush=True)
    quality, spread = np.concatenate(ranks).mean(axis=0), np.mean(spreads, axis=0)
    per_layer = session.loaded.model.config.num_attention_heads
    order = np.argsort(-quality)[: options.heads]
    weights = quality[order] ** 2 / spread[order]
    for index, weight in zip(order, weights / weights.max(), strict=True):
        print(f"(({index // per_layer}, {index % per_layer}), {weight:.3f}),  # MRR {quality[index]:.3f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
