"""The published cases of the ONNX operator Attention, by every implementation; what cannot be expressed is listed."""

from __future__ import annotations

import functools
import inspect
import warnings

import numpy as np
import onnx
import pytest
import torch

from attention.onnx_adapter import run_node
from softlookup.attention import attention
from softlookup.errors import UsageError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    # collect_testcases() imports the cases of every operator: 10 s against 0.3 s for these alone
    import onnx.backend.test.case.node as onnx_cases
    import onnx.backend.test.case.node.attention

CASES = {
    case.name.removeprefix("test_attention_"): case
    for case in onnx_cases._NodeTestCases
    if case.model.graph.node[0].op_type == "Attention" and not case.name.endswith("_expanded")
}
IMPLEMENTATIONS = ("reference", "tiled", "probe")

# a float mask that does more than forbid; attention() takes bool masks, so the adapter adds a key coordinate per key
BIAS = [
    "3d_attn_mask",
    "3d_diff_heads_sizes_attn_mask",
    "3d_diff_heads_with_past_and_present",
    "3d_gqa_attn_mask",
    "3d_gqa_with_past_and_present",
    "3d_with_past_and_present",
    "3d_with_past_and_present_qk_matmul",
    "3d_with_past_and_present_qk_matmul_bias",
    "3d_with_past_and_present_qk_matmul_softmax",
    "4d_attn_mask",
    "4d_attn_mask_3d",
    "4d_attn_mask_3d_causal",
    "4d_attn_mask_4d",
    "4d_attn_mask_4d_causal",
    "4d_attn_mask_causal_bf16",
    "4d_causal_padded_kv_bf16",
    "4d_diff_heads_mask4d_padded_kv",
    "4d_diff_heads_sizes_attn_mask",
    "4d_diff_heads_with_past_and_present",
    "4d_diff_heads_with_past_and_present_mask3d",
    "4d_diff_heads_with_past_and_present_mask4d",
    "4d_gqa_attn_mask",
    "4d_gqa_with_past_and_present",
    "4d_gqa_with_past_and_present_fp16",
    "4d_padded_kv_bf16",
    "4d_with_past_and_present",
    "4d_with_past_and_present_qk_matmul",
    "4d_with_past_and_present_qk_matmul_bias",
    "4d_with_past_and_present_qk_matmul_bias_3d_mask",
    "4d_with_past_and_present_qk_matmul_bias_3d_mask_causal",
    "4d_with_past_and_present_qk_matmul_bias_4d_mask",
    "4d_with_past_and_present_qk_matmul_bias_4d_mask_causal",
    "4d_with_qk_matmul_bias",
    "4d_with_qk_matmul_softmax",
    "local_window_ext_cache_rank2_mask",
    "local_window_ext_cache_rank3_head_mask",
    "local_window_ext_cache_rank4_batch_mask",
]
# the operator also puts out its [Tq, Tk] scores or weights, which attention() never does; the adapter reads them out
SCORES = [
    "23_fullymasked_qk_matmul_output_mode3_zero",
    "24_fullymasked_qk_matmul_output_mode3_zero",
    "24_qk_matmul_output_mode3_softmax_precision",
    "3d_with_past_and_present_qk_matmul",
    "3d_with_past_and_present_qk_matmul_bias",
    "3d_with_past_and_present_qk_matmul_softmax",
    "4d_with_past_and_present_qk_matmul",
    "4d_with_past_and_present_qk_matmul_bias",
    "4d_with_past_and_present_qk_matmul_bias_3d_mask",
    "4d_with_past_and_present_qk_matmul_bias_3d_mask_causal",
    "4d_with_past_and_present_qk_matmul_bias_4d_mask",
    "4d_with_past_and_present_qk_matmul_bias_4d_mask_causal",
    "4d_with_qk_matmul",
    "4d_with_qk_matmul_bias",
    "4d_with_qk_matmul_softmax",
    "local_window_gqa_rank4_mask",
]
# sliding_window looks back only; the adapter makes the right side a mask
RIGHT_WINDOW = ["bidirectional_window"]
# the bias is added behind the cap: a coordinate of a key would be capped with the rest
NOT_OFFERED = dict.fromkeys(
    ["3d_with_past_and_present_qk_matmul_softcap", "4d_with_qk_matmul_softcap"], "bias after a softcap"
)

# the probe runs torch's kernel, which has no cap
CAPPED = [name for name, case in CASES.items() if any(a.name == "softcap" for a in case.model.graph.node[0].attribute)]


def rewritten_in(name):
    listed = {"additive bias": BIAS, "scores read out": SCORES, "right window": RIGHT_WINDOW}
    return {reason for reason, names in listed.items() if name in names}


def tensor(array):
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).bfloat16()
    return torch.from_numpy(array.copy())


def run_case(name, attend):
    """Outputs, what the suite wants, tolerances, and what was rewritten."""
    case = CASES[name]
    node = case.model.graph.node[0]
    attributes = {item.name: onnx.helper.get_attribute_value(item) for item in node.attribute}
    given, expected = case.data_sets[0]
    inputs = dict(zip((name for name in node.input if name), map(tensor, given), strict=True))
    wanted = dict(zip((name for name in node.output if name), map(tensor, expected), strict=True))
    got, rewritten = run_node(attributes, inputs, list(wanted), attend)
    # the suite's own tolerance is below one rounding of a 16-bit output
    half = inputs["Q"].dtype in (torch.float16, torch.bfloat16)
    tolerance = {"rtol": 2e-2, "atol": 1e-3} if half else {"rtol": case.rtol, "atol": case.atol}
    return got, wanted, tolerance, rewritten


def check_case(name, attend):
    got, wanted, tolerance, rewritten = run_case(name, attend)
    for output, want in wanted.items():
        torch.testing.assert_close(got[output], want, **tolerance)
    return rewritten


@pytest.mark.parametrize("impl", IMPLEMENTATIONS)
@pytest.mark.parametrize("name", sorted(CASES.keys() - NOT_OFFERED))
def test_case(name, impl):
    attend = functools.partial(attention, impl=impl)
    if impl == "probe" and name in CAPPED:
        with pytest.raises(UsageError, match="takes no softcap"):
            check_case(name, attend)
        return
    rewritten = check_case(name, attend)
    assert rewritten == rewritten_in(name), "the lists above no longer say what the adapter rewrites"


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_case_that_cannot_be_expressed(name):
    with pytest.raises(match=f"^{NOT_OFFERED[name]}$"):
        run_case(name, attention)


def test_how_many_cases_there_are():
    rewritten = {name for name in CASES if rewritten_in(name)}
    listed = {*BIAS, *SCORES, *RIGHT_WINDOW}
    assert rewritten == listed, "a listed name is no longer in the suite"
    assert not listed & NOT_OFFERED.keys()
    counts = (len(CASES), len(CASES.keys() - listed - NOT_OFFERED.keys()), len(listed), len(NOT_OFFERED))
    assert counts == (93, 48, 43, 2)
    assert len(set(CAPPED) - NOT_OFFERED.keys()) == 9


def test_attention_has_no_argument_for_what_is_rewritten():
    """Fails when one is added: then ask which lists above it makes unnecessary."""
    assert set(inspect.signature(attention).parameters) == {
        "query", "key", "value", "causal", "q_offset", "sliding_window", "mask", "scale", "softcap", "sinks",
        "stats", "impl",
    }  # fmt: skip


# --- planted faults: each must fail, and leave cases alone that do not touch it


def tiled_heads(attend, query, key, value, **rules):
    """GQA by tiling: head h reads key head h % Hkv."""
    share = query.shape[1] // key.shape[1]
    return attend(query, key.repeat(1, share, 1, 1), value.repeat(1, share, 1, 1), **rules)


def top_left(attend, *tensors, **rules):
    return attend(*tensors, **{**rules, "q_offset": 0})


def lower_right(attend, *tensors, **rules):
    return attend(*tensors, **{**rules, "q_offset": None})


def mask_dropped_when_causal(attend, *tensors, **rules):
    return attend(*tensors, **{**rules, "mask": None if rules["causal"] else rules["mask"]})


def mask_inverted(attend, *tensors, **rules):
    return attend(*tensors, **{**rules, "mask": None if rules["mask"] is None else ~rules["mask"]})


def window_without_self(attend, *tensors, **rules):
    window = rules["sliding_window"]
    return attend(*tensors, **{**rules, "sliding_window": window and window - 1})


def without(rule):
    return lambda attend, *tensors, **rules: attend(*tensors, **{**rules, rule: None})


def causal_ignored(attend, *tensors, **rules):
    return attend(*tensors, **{**rules, "causal": False})


# name: the mutant, and words of which one is in the name of every case that may fail
MUTANTS = {
    "tiled heads": (tiled_heads, ("gqa",)),
    "top-left": (top_left, ("past", "nonpad", "padded_kv", "ext_cache")),
    "lower-right": (lower_right, ("causal", "window")),
    "mask dropped when causal": (mask_dropped_when_causal, ("causal", "window")),
    "mask inverted": (mask_inverted, ("mask", "past", "padded_kv", "window", "qk_matmul")),
    "window without self": (window_without_self, ("window",)),
    "softcap ignored": (without("softcap"), ("softcap", "window_gqa")),
    "scale ignored": (without("scale"), ("scaled", "mask", "past", "padded_kv", "qk_matmul")),
    "causal ignored": (causal_ignored, ("causal", "window")),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_planted_fault_fails_its_cases_and_no_others(name):
    mutant, touched = MUTANTS[name]
    failed = set()
    for case in CASES.keys() - NOT_OFFERED:
        try:
            check_case(case, functools.partial(mutant, functools.partial(attention, impl="reference")))
        except AssertionError:
            failed.add(case)
    assert failed, "no case noticed"
    assert all(any(word in case for word in touched) for case in failed), failed
