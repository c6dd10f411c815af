"""softlookup check: exit codes and what is printed."""

import json

import pytest

from softlookup.cli import main

MODULE = """
import numpy as np

def right(q, k, v, causal=False):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        n, m = s.shape[-2:]
        s = np.where(np.tril(np.ones((n, m), bool), m - n), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v

def wrong(q, k, v, causal=False):
    print("noise")
    return right(q * np.sqrt(q.shape[-1]).astype(q.dtype), k, v, causal)

def broken(q, k, v):
    raise RuntimeError("no GPU")

def rope(x, positions):
    return x
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"checked_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_a_right_function_conforms(module, capsys):
    assert main(["check", f"{module}:right"]) == 0
    assert "CONFORMS" in capsys.readouterr().out


def test_a_wrong_function_is_named_with_a_script(module, capsys):
    assert main(["check", f"{module}:wrong"]) == 1
    printed = capsys.readouterr().out
    assert "WRONG  scale.missing" in printed
    assert f"from {module} import wrong as fn" in printed


def test_json_holds_the_finding(module, capsys):
    assert main(["check", f"{module}:wrong", "--json", "--budget", "20s"]) == 1
    found = json.loads(capsys.readouterr().out)
    serious = [finding["code"] for finding in found["findings"] if finding["severity"] != "info"]
    assert serious == ["scale.missing"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nocolon"],
        [],
        ["{m}:right", "--contract", "nothing"],
        ["{m}:right", "--budget", "soon"],
        ["{m}:rope", "--rope"],
    ],
)
def test_wrong_usage(module, arguments, capsys):
    assert main(["check", *(text.replace("{m}", module) for text in arguments)]) == 2
    assert capsys.readouterr().err


@pytest.mark.parametrize("function", ["{m}:broken", "{m}:missing", "no_such_module:f"])
def test_what_cannot_be_tested(module, function, capsys):
    assert main(["check", function.replace("{m}", module)]) == 5
    printed = "".join(capsys.readouterr())
    assert "COULD NOT TEST" in printed or "could not test" in printed


def test_a_rotary_function_against_a_config(module, tmp_path, capsys):
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"head_dim": 8, "rope_theta": 10000.0}), "utf-8")
    assert main(["check", f"{module}:rope", "--rope", "--contract", str(config)]) == 1
    assert "rope.not_applied" in capsys.readouterr().out
