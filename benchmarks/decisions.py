"""Which way to read, over 12 scenarios: short, long and 200-page documents, 1 and 50 questions, three devices.

    python benchmarks/decisions.py

Nothing is timed and no model is loaded: seconds are the cost model's, from FLOPs, bytes and usual efficiencies. The
processor is one of two cores, whatever runs this. The table of docs/cost.md is this output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from softlookup.cost.devices import Device, find_device
from softlookup.cost.kv_cache import KVDtypes
from softlookup.cost.model.model_source import find_model
from softlookup.cost.plan.document_plan import plan_document
from softlookup.cost.plan.estimate import CostEstimate
from softlookup.cost.plan.plan_texts import seconds_text
from softlookup.cost.plan.request import PlanRequest

# tokens of contracts: 500 a page
DOCUMENTS = {"short": 6_000, "long": 40_000, "200 pages": 100_000}
CPU = "CPU, 2 cores"
# layers up to which evidence is read: the built-in profile, else the middle layers
EVIDENCE_LAYERS = {"SmolLM2-135M": 19, "SmolLM2-1.7B": 16, "Llama-3.1-8B": 21, "Phi-3-mini": 21}
SCENARIOS = (
    (CPU, "SmolLM2-135M", "short", 1), (CPU, "SmolLM2-1.7B", "short", 50), (CPU, "SmolLM2-135M", "200 pages", 1),
    (CPU, "SmolLM2-1.7B", "200 pages", 1),
    ("RTX-4090", "Phi-3-mini", "short", 1), ("RTX-4090", "Llama-3.1-8B", "long", 50),
    ("RTX-4090", "Llama-3.1-8B", "200 pages", 1), ("RTX-4090", "Phi-3-mini", "200 pages", 50),
    ("A100-80GB", "Llama-3.1-8B", "short", 50), ("A100-80GB", "Phi-3-mini", "long", 1),
    ("A100-80GB", "Phi-3-mini", "200 pages", 50), ("A100-80GB", "Llama-3.1-8B", "200 pages", 50),
)  # fmt: skip


@dataclass(frozen=True)
class Scenario:
    """One row: what is asked, and the plan."""

    device: str
    model: str
    document: str
    questions: int
    plan: CostEstimate

    @property
    def heads(self) -> str:
        """MHA or GQA, with the number of key/value heads."""
        layer = self.plan.request.model.shape.layers[0]
        return f"{'MHA' if layer.kv_heads == layer.query_heads else 'GQA'} {layer.kv_heads}"


def device_of(name: str) -> Device:
    """A device of the table, or the processor of two cores with 16 GB."""
    if name != CPU:
        return find_device(name)
    return Device(CPU, "cpu", 2 * 95e9, 2 * 95e9, 2 * 12e9, 16e9)


def scenarios() -> Iterator[Scenario]:
    """Every scenario with its plan. The processor runs models in fp32, as `softlookup ask` does where they fit."""
    for device, model, document, questions in SCENARIOS:
        request = PlanRequest(
            find_model(model, "f32" if model == "SmolLM2-135M" else None),
            DOCUMENTS[document],
            device_of(device),
            questions=questions,
            evidence_layers=EVIDENCE_LAYERS[model],
        )
        if request.model.dtype == "f32":
            request = replace(request, kv=KVDtypes("f32", "f32"))
        yield Scenario(device, model, document, questions, plan_document(request))


def table() -> list[str]:
    """The rows in Markdown."""
    names = ("Device", "Model", "Document", "Questions", "Strategy", "First answer", "All", "All by retrieval",
             "Break-even", "Would help most")  # fmt: skip
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    for row in scenarios():
        chosen, decision = row.plan.chosen, row.plan.decision
        if chosen is None:
            raise SystemExit(f"nothing is possible: {decision.reason}")
        retrieval = next(each for each in row.plan.strategies if each.name == "retrieval")
        crossing = "never" if decision.break_even is None else f"{decision.break_even:,.0f}"
        cells = [
            row.device, f"{row.model} ({row.heads})", row.document, str(row.questions),
            decision.strategy.replace("_", " "), seconds_text(chosen.first_answer.value),
            seconds_text(chosen.total_seconds(row.questions)), seconds_text(retrieval.total_seconds(row.questions)),
            crossing if chosen.name == "full_context" else "-", decision.change,
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
