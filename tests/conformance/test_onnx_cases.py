"""The published ONNX cases through the checker's adapter: counts, planted faults, what cannot be said."""

import json
import subprocess
import sys

import numpy as np
import pytest
from torch.nn.functional import scaled_dot_product_attention

from conformance import functions
from conformance.functions import right, shares
from softlookup.cli import main
from softlookup.conformance import Adapter, find_contract
from softlookup.conformance.onnx_cases import run as running
from softlookup.conformance.onnx_cases import run_onnx_cases
from softlookup.conformance.planted.masking import UniformDeadRow

HALF = {"3d_causal_bf16", "4d_attn_mask_causal_bf16", "4d_causal_bf16", "4d_causal_padded_kv_bf16", "4d_padded_kv_bf16"}


def by_status(report, status):
    return {case.name for case in report.cases if case.status == status}


def test_a_full_function_passes_everything_that_numpy_can_hold():
    report = run_onnx_cases(right)
    assert by_status(report, "failed") == set(), str(report)
    assert by_status(report, "not offered") == HALF
    assert (report.passed, report.failed, report.not_offered, len(report.cases)) == (88, 0, 5, 93)


def test_torch_passes_all_that_it_has_arguments_for():
    report = run_onnx_cases(scaled_dot_product_attention, "torch_sdpa")
    assert by_status(report, "failed") == set(), str(report)
    refused = {case.name: case.reason for case in report.cases if case.status == "not offered"}
    assert set(refused.values()) == {"no argument for softcap"}
    assert len(refused) == 11
    rewritten = {case.name: case.rewritten for case in report.cases}
    assert rewritten["4d_causal"] == ()
    assert "causal as a mask" in rewritten["4d_attn_mask_4d_causal"]  # torch refuses both at once


def test_an_alignment_is_said_by_the_argument_only_where_it_is_the_functions_own():
    rows = {case.name: case.rewritten for case in run_onnx_cases(right).cases}
    square = {case.name: case.rewritten for case in run_onnx_cases(functions.top_left, "onnx_attention").cases}
    assert rows["4d_causal"] == ("causal as a mask",)  # 4 queries, 6 keys, top left; `right` means bottom right
    assert square["4d_causal"] == ()


def no_mask(q, k, v, causal=False):
    return right(q, k, v, causal)


def test_what_has_no_argument_is_not_offered():
    report = run_onnx_cases(no_mask)
    reasons = {case.reason for case in report.cases if case.status == "not offered"}
    assert "no argument for mask" in reasons
    assert by_status(report, "failed") == set()
    assert 0 < report.passed < 40


def bias_dropped_with_causal(q, k, v, causal=False, bias=None, **rules):
    return right(q, k, v, causal, bias=None if causal else bias, **rules)


def without(rule):
    def attend(*tensors, **rules):
        rules.pop(rule, None)
        return right(*tensors, **rules)

    return attend


def mask_inverted(q, k, v, mask=None, **rules):
    return right(q, k, v, mask=None if mask is None else ~mask, **rules)


def bias_of_head_0(q, k, v, bias=None, **rules):
    return right(q, k, v, bias=None if bias is None else bias[:, :1], **rules)


def cap_after_bias(q, k, v, mask=None, bias=None, scale=None, softcap=None, **rules):
    if bias is None or softcap is None:
        return right(q, k, v, mask=mask, bias=bias, scale=scale, softcap=softcap, **rules)
    scores = np.repeat(k, q.shape[1] // k.shape[1], 1)
    scores = q @ scores.swapaxes(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale) + bias
    scores = softcap * np.tanh(scores / softcap)
    kept = np.ones((1, 1, 1, 1), dtype=bool) if mask is None else mask
    return (shares(np.where(kept, scores, -np.inf)) @ np.repeat(v, q.shape[1] // k.shape[1], 1)).astype(q.dtype)


FEATURES = ("causal", "mask", "bias", "scale", "softcap", "window")


def called(mistaken):
    """``mistaken`` through an adapter with the arguments of ``right``."""
    return Adapter(call=lambda fn, *tensors, **rules: mistaken(*tensors, **rules), features=FEATURES, framework="numpy")


@pytest.mark.parametrize(
    ("mistaken", "words"),
    [
        (functions.tiled_heads, ("gqa",)),
        (mask_inverted, ("mask", "past", "padded_kv", "window", "causal", "nonpad", "qk_matmul")),
        (bias_of_head_0, ("mask", "past", "window", "qk_matmul")),
        (cap_after_bias, ("softcap",)),
        (bias_dropped_with_causal, ("causal", "window")),
        (without("scale"), ("scaled",)),
        (without("softcap"), ("softcap", "window_gqa")),
        (without("window"), ("window",)),
    ],
    ids=["tiled heads", "inverted", "bias of head 0", "cap after bias", "bias dropped", "scale", "softcap", "window"],
)  # fmt: skip
def test_a_planted_fault_fails_its_cases_and_no_others(mistaken, words):
    failed = by_status(run_onnx_cases(right, adapter=called(mistaken)), "failed")
    assert failed, "no case noticed"
    assert all(any(word in name for word in words) for name in failed), failed


def test_rows_without_keys_are_left_out_where_the_contract_has_another_rule():
    def uniform(q, k, v, mask=None, **rules):
        dead = None if mask is None else ~mask.any(-1, keepdims=True)
        return right(q, k, v, mask=mask if dead is None else mask | dead, **rules)

    assert by_status(run_onnx_cases(right, adapter=called(uniform)), "failed")
    eager = find_contract("standard").but(dead_row="uniform")
    report = run_onnx_cases(right, eager, adapter=called(uniform))
    assert by_status(report, "failed") == set(), str(report)
    assert any("rows without keys left out" in case.rewritten for case in report.cases)


def test_rows_that_causality_leaves_without_keys_count_as_such():
    """A case without a mask has them too: more queries than keys."""
    eager = find_contract("standard").but(dead_row="uniform")
    assert by_status(run_onnx_cases(UniformDeadRow(), eager), "failed") == set()
    assert by_status(run_onnx_cases(UniformDeadRow()), "failed")


def test_a_function_that_cannot_be_called():
    report = run_onnx_cases(functions.broken)
    assert "no GPU" in report.problem
    assert not report.cases


MODULE = "from conformance.functions import right, broken, tiled_heads\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    name = f"cases_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return name


def test_the_command_counts_and_exits(module, capsys):
    assert main(["check", "--onnx", f"{module}:right"]) == 0
    assert capsys.readouterr().out.endswith("88 passed (43 of them rewritten), 0 failed, 5 not offered, of 93\n")
    assert main(["check", "--onnx", f"{module}:tiled_heads", "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "softlookup.onnx_cases/1"
    assert found["failed"] == sum(case["status"] == "failed" for case in found["cases"]) > 0
    assert all("gqa" in case["name"] for case in found["cases"] if case["status"] == "failed")
    assert main(["check", "--onnx", f"{module}:broken"]) == 5
    assert "COULD NOT TEST" in capsys.readouterr().out


def test_the_command_takes_no_report_options_with_it(module, capsys):
    assert main(["check", "--onnx", f"{module}:right", "--junit", "x.xml"]) == 2
    assert "--junit" in capsys.readouterr().err


def test_nothing_run_is_no_success(module, monkeypatch, capsys):
    monkeypatch.setattr(running, "published_cases", list)
    assert main(["check", "--onnx", f"{module}:right"]) == 5


def test_without_onnx_one_line_says_so(module, tmp_path):
    """In a process of its own, where the package cannot be imported."""
    code = "import sys; sys.modules['onnx'] = None; from softlookup.cli import main; sys.exit(main(sys.argv[1:]))"
    (tmp_path / f"{module}.py").write_text("def f(q, k, v):\n    return v\n", "utf-8")
    command = [sys.executable, "-c", code, "check", "--onnx", f"{module}:f"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert result.returncode == 5
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "needs the package onnx" in line
    assert "pip install onnx" in line
