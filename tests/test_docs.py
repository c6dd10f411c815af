"""The documentation's Python runs, and its formulas are lines of the reference implementation."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(name):
    return BLOCK.findall((ROOT / "docs" / name).read_text("utf-8"))


def definitions():
    """The block of formulas, which does not run."""
    text = (ROOT / "docs" / "attention.md").read_text("utf-8")
    return re.search(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[1]


def missing_lines(block, source):
    lines = {line.split("  #")[0].strip() for line in source.splitlines()}
    return [line for line in block.splitlines() if line.split("  #")[0].strip() not in lines]


def test_the_formulas_are_lines_of_the_reference():
    source = (ROOT / "src/softlookup/attention/impl/reference.py").read_text("utf-8")
    assert len(definitions().splitlines()) >= 8
    assert missing_lines(definitions(), source) == []


def test_a_formula_that_is_not_the_code_is_found():
    source = (ROOT / "src/softlookup/attention/impl/reference.py").read_text("utf-8")
    changed = definitions().replace("torch.logsumexp", "torch.sum")
    assert missing_lines(changed, source) == ["lse = torch.sum(scores, dim=-1)  # [B, Hq, Tq]"]


def test_the_examples_of_attention_run():
    import torch

    torch.manual_seed(0)  # the examples draw numbers; a tie up to rounding has no right argmax
    names = {}
    for block in blocks("attention.md"):
        exec(compile(block, "docs/attention.md", "exec"), names)
    whole, result = names["whole"], names["result"]
    scale = result.output.abs().max()
    # merging rounds once more than one pass over all keys
    tolerance = 64 * torch.finfo(torch.float32).eps
    assert float((whole.output - result.output).abs().max() / scale) <= tolerance
    assert float((whole.stats.entropy - result.stats.entropy).abs().max()) <= tolerance * 8
    assert torch.equal(whole.stats.argmax, result.stats.argmax)


def test_the_examples_of_observation_run():
    import torch

    torch.manual_seed(0)
    names = {}
    for block in blocks("observation.md"):
        exec(compile(block, "docs/observation.md", "exec"), names)
    layer, rows = names["layer"], names["rows"]
    assert layer.live_rows == 600
    assert layer.entropy.mean.shape == (4,)
    assert rows.span_mass.shape == (1, 4, 40, 2)
    assert names["run"].layers[3].row_positions == tuple(names["question"])
    assert sorted(names["run"].layers) == [2, 3]


def test_the_examples_of_documents_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("documents.md")
    names = {}
    exec(compile(block, "docs/documents.md", "exec"), names)
    document, graph = names["document"], names["ClauseGraph"](names["document"])
    assert [(c.number, c.heading) for c in document.clauses] == [("1", "Terms"), ("2", "Rent"), ("3", "Repairs")]
    found = [(edge.why, edge.edge) for edge in graph.closure([names["rent"].index]).added]
    assert found == [("overrides clause 2", "overrides"), ('defines "Rent"', "defines")]  # as the page says


@pytest.mark.parametrize("name", ["attention.md", "documents.md", "observation.md"])
def test_links_of_a_page_exist(name):
    text = (ROOT / "docs" / name).read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (ROOT / "docs" / target).exists(), target
