"""check_fn: libraries conform, mistakes get their name with a script that shows them; what has no name gets none."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

from softlookup.attention import attention
from softlookup.conformance import Adapter, check_fn, find_contract
from softlookup.conformance.planted import masking, scoring
from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.planted.tiled import AccumulatorNotRescaled, PadKeysCounted
from softlookup.errors import UsageError


def own(implementation):
    def attend(query, key, value, *, causal=False, mask=None, scale=None, softcap=None, sinks=None, window=None):
        return attention(
            query, key, value, causal=causal, mask=mask, scale=scale, softcap=softcap, sinks=sinks,
            sliding_window=window, impl=implementation,
        ).output  # fmt: skip

    return attend


def keys(report):
    return [finding.key for finding in report.serious]


def test_torch_conforms_to_its_contract():
    report = check_fn(scaled_dot_product_attention, "torch_sdpa")
    assert report.conforms, str(report)
    assert report.environment["torch"]


def test_torch_math_conforms():
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def attend(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):
        with sdpa_kernel(SDPBackend.MATH):
            return scaled_dot_product_attention(
                query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale, enable_gqa=enable_gqa
            )

    report = check_fn(attend, "torch_sdpa")
    assert report.conforms, str(report)


def test_torch_does_not_conform_to_another_alignment():
    report = check_fn(scaled_dot_product_attention, find_contract("torch_sdpa").but(causal_align="bottom_right"))
    assert [finding.code for finding in report.serious] == ["causal.align=top_left(want=bottom_right)"]


@pytest.mark.parametrize("implementation", ["reference", "tiled"])
def test_our_own_attention_conforms(implementation):
    report = check_fn(own(implementation), "softlookup")
    assert report.conforms, str(report)
    assert len([probe for probe in report.probes if probe.status == "pass"]) > 40


def course(q, k, v, causal=False):
    """As in many courses: right, but for the corner of the mask."""
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    if causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


def test_a_finding_has_numbers_a_place_and_a_small_case():
    (finding,) = check_fn(course).serious
    assert finding.code == "causal.align=top_left(want=bottom_right)"
    assert finding.measured.startswith("[1, 0]")
    assert finding.expected == "[0.5, 0.5]"
    assert "tril" in finding.likely
    assert finding.input["query"] == [1, 1, 1, 1]
    assert finding.input["key"] == [1, 1, 2, 1]


def test_the_script_shows_the_difference_without_this_package():
    (finding,) = check_fn(course, name=f"{__name__}:course").serious
    assert not re.search(r"import softlookup|from softlookup", finding.script)
    code = re.sub(r"^(from .* import .* as fn|fn = .*)$", "", finding.script, flags=re.M)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "script", "exec"), {"fn": course})
    assert printed.getvalue().splitlines() == ["got  [[[[1.0, 0.0]]]]", "want [[[[0.5, 0.5]]]]"]


def test_what_no_hypothesis_reproduces_is_unknown():
    """A mistake that nobody named: weights to the power of 1.1, normalised again."""

    class Sharpened(Plain):
        def after(self, p, factor):
            p = p**1.5 * (1 + 0.1 * np.arange(p.shape[-1]))
            total = p.sum(-1, keepdims=True)
            return p / np.where(total == 0, 1, total)

    report = check_fn(Sharpened())
    assert keys(report) == ["unknown"]
    assert not report.serious[0].named
    assert report.serious[0].script


def test_a_row_that_leaks_is_one_finding():
    class Mixed(Plain):
        def finish(self, o):
            return o + 0.02 * o.mean(0, keepdims=True)

    assert keys(check_fn(Mixed())) == ["batch.rows_not_independent"]


def test_a_mask_the_wrong_way_round_is_named_though_rows_die():
    """masked_fill with the triangle that is to be kept: the last query sees nothing."""

    def attend(q, k, v, causal=False):
        scores = q @ k.mT * q.shape[-1] ** -0.5
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril().bool(), float("-inf"))
        return scores.softmax(-1) @ v

    contract = find_contract("standard").but(causal_align="top_left")
    assert keys(check_fn(attend, contract)) == ["causal.triangle"]


def test_two_mistakes_are_two_findings():
    class Two(masking.AlignTopLeft):
        def factor(self, scale, d):
            return 1.0 if scale is None else scale

    assert sorted(keys(check_fn(Two()))) == ["causal.align", "scale.missing"]


def test_a_mistake_on_one_path_is_named_with_the_path():
    class WithMask(Plain):
        def __call__(self, q, k, v, causal=False, mask=None, scale=None):
            return super().__call__(q, k, v, causal, mask, scale=1.0 if scale is None and mask is not None else scale)

    assert [finding.code for finding in check_fn(WithMask()).serious] == ["scale.missing(when mask)"]


@pytest.mark.parametrize("block", [8, 24, 100])
def test_block_sizes_are_measured(block):
    assert check_fn(AccumulatorNotRescaled(block)).serious[0].code == f"online.acc_not_rescaled(block={block})"
    assert check_fn(PadKeysCounted(block)).serious[0].code == f"tile.pad_keys_counted(block={block})"


@pytest.mark.parametrize("value", [-1e3, -1e5, -65504.0])
def test_fill_values_are_measured(value):
    class Filled(masking.FiniteFill):
        pass

    Filled.value = value
    assert check_fn(Filled()).serious[0].code == f"mask.finite_fill(value~{value:.3g})"


def test_head_maps_and_slopes_without_a_name_are_measured():
    class Heads(Plain):
        def spread_key(self, k, h):
            return k[:, [(3 * i + 1) % k.shape[1] if i % 2 else 0 for i in range(h)]]

        spread_value = spread_key

    class Slopes(Plain):
        def slopes(self, h):
            return [0.3 / (i + 1) for i in range(h)]

    assert keys(check_fn(Heads())) == ["gqa.map"]
    assert keys(check_fn(Slopes())) == ["alibi.slopes"]


def test_features_that_a_function_lacks_are_skipped_and_said():
    report = check_fn(course, find_contract("standard").but(causal_align="top_left"))
    assert report.conforms
    skipped = {probe.id: probe.reason for probe in report.probes if probe.status == "skipped"}
    assert skipped["softcap.curve"] == "no argument for softcap"
    assert "CONFORMS" in str(report)


def test_dead_rows_follow_the_contract():
    assert [f.code for f in check_fn(masking.UniformDeadRow()).serious] == ["dead_row=uniform(want=zero)"]
    assert check_fn(Plain(), find_contract("standard").but(dead_row="uniform")).serious[0].key == "dead_row"


def test_a_finding_in_json_is_complete():
    found = check_fn(scoring.ScaleMissing()).to_dict()
    assert found["schema"] == "softlookup.conformance/1"
    assert not found["conforms"]
    assert {"code", "severity", "measured", "expected", "named", "input", "script", "likely"} <= set(
        found["findings"][0]
    )


def test_the_example_of_the_documentation_runs(capsys):
    text = (Path(__file__).parents[2] / "docs/conformance.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, "docs/conformance.md", "exec"), {"torch": torch})
    printed = capsys.readouterr().out
    assert printed.startswith("causal.align=top_left(want=bottom_right)")
    assert 'print("got ", np.asarray(got)' in printed


def test_wrong_arguments_are_refused():
    with pytest.raises(UsageError, match="no contract"):
        check_fn(course, "no_such_contract")
    with pytest.raises(UsageError, match="unknown argument"):
        Adapter(names={"colour": "x"})
    with pytest.raises(UsageError, match="function is required"):
        check_fn(3)
