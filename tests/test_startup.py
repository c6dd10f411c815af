"""Light commands stay light: a fresh process that reads or plans never imports torch or transformers."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("torch", "transformers", "safetensors", "accelerate", "gguf", "rich")

RUN = """
import sys
from softlookup.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
heavy = [name for name in {heavy} if name in sys.modules]
sys.stderr.write("loaded: " + ",".join(heavy))
sys.exit(code)
"""


def run(*arguments):
    command = [sys.executable, "-c", RUN.format(heavy=HEAVY), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("ask", "--help"), ("--version",), ("read", "{contract}"), ("read", "{contract}", "--json"),
     ("plan", "{contract}", "--model", "{model}"),
     ("plan", "{contract}", "--model", "{model}", "--device", "H100", "--questions", "50", "--json"),
     ("plan", "--tokens", "5000", "--json"),
     ("plan", "--tokens", "900", "--model", "{model}"), ("plan", "--example", "contract-qa"),
     ("learn",), ("learn", "--help"), ("learn", "--exercises", "--json"), ("serve", "--help"), ("mcp", "--help"),
     ("model", "list"), ("model", "info", "--model", "{model}")],
    ids=" ".join,
)  # fmt: skip
def test_light_commands_import_nothing_heavy(arguments, contract, tiny_folder):
    result = run(*(text.format(contract=contract, model=tiny_folder) for text in arguments))
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert result.stderr == "loaded: "


def test_a_plan_that_tries_retrieval_imports_nothing_heavy(contract, tiny_folder):
    result = run("plan", contract, "--model", tiny_folder / "config.json", "--max-context-tokens", "256")
    assert result.returncode == 0
    assert "clauses unread" in result.stdout
    assert result.stderr.endswith("\nloaded: ")


def test_an_ask_that_is_refused_early_imports_nothing_heavy(contract, tiny_folder):
    result = run("ask", contract, "why " * 12_500, "--model", tiny_folder)
    assert result.returncode == 6
    assert result.stderr.endswith("loaded: ")


def test_a_heavy_import_is_caught(contract):
    """Planted fault: the same check on a process that has imported torch."""
    command = [sys.executable, "-c", "import torch\n" + RUN.format(heavy=HEAVY), "read", str(contract)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == "loaded: torch"


@pytest.mark.parametrize("module", ["softlookup", "softlookup.session", "softlookup.retrieval.bm25"])
def test_imports_are_light(module):
    code = f"import sys, {module}; sys.exit(any(name in sys.modules for name in ('torch', 'transformers')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_python_m_runs_the_command_line():
    result = subprocess.run(
        [sys.executable, "-m", "softlookup", "--version"], capture_output=True, text=True, check=False
    )
    assert result.stdout.startswith("softlookup ")
