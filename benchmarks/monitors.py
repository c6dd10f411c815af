"""How often monitors raise an alert on healthy runs, and whether planted faults raise one, on the embedded model.

    python benchmarks/monitors.py [--documents 16] [--questions 6] [--seconds 300] [--write-baseline FOLDER]

Healthy runs: openings of contracts of different lengths, English and Chinese, with questions of the bank and questions
of the document's own words. Every second document makes the baseline, the others count alerts against it. Faults are
planted in the model itself, on one document.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LENGTHS = (1500, 700, 3200, 5000, 2200, 11000)  # characters


def texts(count: int, longest: int) -> list[tuple[str, str, str]]:
    """(name, language, text) of openings of contracts, the two languages in turn."""
    shared = Path(os.environ.get("SOFTLOOKUP_SHARED", HERE.parents[1] / "shared")) / "data"
    samples = HERE.parent / "samples"
    english = [samples / "supply-agreement.txt", *sorted((shared / "cuad" / "contracts").glob("*.txt"))]
    chinese = [samples / "caigou-hetong.txt", *sorted((HERE / "labels").glob("zh_contract_*.txt"))]
    found = []
    for number in range(count):
        zh = number // 2 % 3 == 2
        files = chinese if zh else english
        path = files[(number * 7) % len(files)]
        text = path.read_text("utf-8", errors="replace")
        size = min(longest, LENGTHS[number % len(LENGTHS)]) // (2 if zh else 1)
        start = (number * 1800) % max(1, len(text) - size)
        found.append((f"{path.name}@{start}", "zh" if zh else "en", text[start : start + size]))
    return found


def questions_of(language: str, text: str, count: int, seed: int) -> list[str]:
    """Bank questions, and one that quotes words of the text."""
    from softlookup.evidence.question_bank import question_bank

    bank = question_bank(language).questions
    words = " ".join(text[len(text) // 2 :].split())[:40]
    own = f"合同关于“{words[:12]}”是如何约定的？" if language == "zh" else f"What does the contract say about {words}?"
    return [own, *(bank[(seed * 11 + step * 13) % len(bank)] for step in range(count - 1))]


def run_question(session: Any, text: str, questions: list[str], baseline: Any = None) -> list[Any]:
    """One monitor per question, after its run."""
    from softlookup.diagnostics.monitors import AttentionMonitor
    from softlookup.runtime.prefilled import prefill

    prefilled = prefill(session.loaded, session.template, text)
    monitors = []
    for question in questions:
        suffix = session.template.suffix(question)
        monitor = AttentionMonitor(suffix.question_length, session.loaded.model.config, baseline)
        try:
            prefilled.answer(suffix, max_new_tokens=1, callback=monitor, wanted=lambda: False)
        except Exception as error:  # noqa: BLE001 - a planted NaN ends the run; the monitor has seen the layers
            print("   run ended:", str(error)[:70])
        monitors.append(monitor)
    return monitors


def wilson(hits: int, total: int) -> tuple[float, float]:
    """95 % interval of a rate."""
    if not total:
        return 0.0, 1.0
    z, rate = 1.96, hits / total
    centre, spread = rate + z * z / (2 * total), z * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total**2))
    return max(0.0, (centre - spread) / (1 + z * z / total)), min(1.0, (centre + spread) / (1 + z * z / total))


def main() -> int:
    """Print healthy ranges, false alarms, and what each planted fault raises."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=16)
    parser.add_argument("--skip", type=int, default=0, help="leave out the first documents")
    parser.add_argument("--longest", type=int, default=11000, metavar="CHARACTERS")
    parser.add_argument("--stored", action="store_true", help="judge all documents by the stored baseline")
    parser.add_argument("--questions", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=300, help="stop reading documents after this long")
    parser.add_argument("--write-baseline", type=Path, metavar="FOLDER", help="store the baseline of all documents")
    parser.add_argument("--faults", action="store_true", help="also plant faults in the model")
    parser.add_argument("--save-runs", type=Path, help="pickle of the healthy statistics, to study thresholds")
    options = parser.parse_args()

    from softlookup.diagnostics.baseline import baseline_of, load_baseline, save_baseline
    from softlookup.session import Options, Session

    session, begun = Session(options=Options(cache=False)), time.perf_counter()
    runs: list[tuple[str, list[Any]]] = []
    for number, (name, language, text) in enumerate(
        texts(options.skip + options.documents, options.longest)[options.skip :]
    ):
        if time.perf_counter() - begun > options.seconds:
            print(f"stopped after {number} documents")
            break
        asked = questions_of(language, text, options.questions, number)
        monitors = run_question(session, text, asked)
        raised = Counter(alert.monitor for monitor in monitors for alert in monitor.alerts())
        print(f"{time.perf_counter() - begun:5.0f} s {name}: {len(text)} characters, {dict(raised)}", flush=True)
        runs.append((name, monitors))
    if options.save_runs:
        import pickle

        options.save_runs.write_bytes(pickle.dumps([(n, [m.layers for m in ms]) for n, ms in runs]))
    identity = {"model_sha256": session.source.sha256, "template_sha256": session.template.sha256}
    fit = [] if options.stored else [monitor.layers for _, monitors in runs[::2] for monitor in monitors]
    held = [monitor for _, monitors in (runs if options.stored else runs[1::2]) for monitor in monitors]
    baseline = load_baseline(**identity) if options.stored else baseline_of(fit, **identity)
    raised = Counter()
    alarmed = 0
    for monitor in held:
        monitor.baseline = baseline
        names = {alert.monitor for alert in monitor.alerts()}
        raised.update(names)
        alarmed += bool(names)
    low, high = wilson(alarmed, len(held))
    summary = {
        "fit": len(fit), "held": len(held), "alarmed": alarmed, "interval": [round(low, 3), round(high, 3)],
        "by_monitor": dict(raised),
    }  # fmt: skip
    print(json.dumps(summary))
    if options.write_baseline:
        everything = [monitor.layers for _, monitors in runs for monitor in monitors]
        print("written", save_baseline(baseline_of(everything, **identity), options.write_baseline))
    if options.faults:
        plant(session, baseline)
    return 0


def plant(session: Any, baseline: Any) -> None:
    """Each fault in the model, one question."""
    from planted_attention import FAULTS, planted

    sample = (HERE.parent / "samples" / "supply-agreement.txt").read_text("utf-8")[:1200]
    for fault in (None, *FAULTS):
        with planted(session.loaded.model, fault):
            monitor = run_question(session, sample, ["When must invoices be paid?"], baseline)[0]
        raised = Counter(alert.monitor for alert in monitor.alerts())
        print(f"{fault or 'healthy'}: {dict(raised)}", flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent / "tests"))
    sys.exit(main())
