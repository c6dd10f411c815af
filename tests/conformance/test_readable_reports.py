"""What a reader of a report needs: coverage in one line, scripts that run as printed, assumptions, one headline."""

import contextlib
import io
import math
import re
import sys
import types

import numpy as np
import pytest
import torch

from softlookup.cli import main
from softlookup.conformance import Adapter, check_fn, find_contract
from softlookup.conformance.assumptions import rotary
from softlookup.conformance.case import Case
from softlookup.conformance.planted.plain import Plain
from softlookup.conformance.read_off import fitting
from softlookup.conformance.report import Finding, ProbeResult, Report
from softlookup.conformance.rope import wanted_rotation
from softlookup.conformance.script import DOES_NOT_RUN, runs
from softlookup.conformance.subject import Subject
from softlookup.conformance.variant import Variant


def unscaled(q, k, v):
    return (q @ k.mT).softmax(-1) @ v


def merged(q, k, v, heads=4):
    """[B, T, H * D]; values must be as wide as keys."""
    q, k, v = (x.view(*x.shape[:2], heads, q.shape[-1] // heads).transpose(1, 2) for x in (q, k, v))
    return unscaled(q, k, v).transpose(1, 2).flatten(2)


def by_position(fn, query, key, value):
    return fn(query, key, value)


ADAPTER = Adapter(call=by_position, framework="torch")


def printed_by(script):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(script, "script", "exec"), {"__name__": "pasted"})
    got, want = said.getvalue().splitlines()[:2]
    assert got.startswith("got ")
    assert want.startswith("want ")
    return got.removeprefix("got ").strip(), want.removeprefix("want ").strip()


def only(report):
    (finding,) = report.serious
    return finding


def test_a_script_with_an_adapter_runs_as_printed():
    def turned_round(fn, query, key, value):
        return fn(query, key, value) * math.pi / math.pi

    for adapter in (ADAPTER, Adapter(call=turned_round, framework="torch")):
        finding = only(check_fn(unscaled, adapter=adapter))
        got, want = printed_by(finding.script)
        assert got != want
        assert "..." not in finding.script
    assert "def turned_round(" in finding.script
    assert "import math" in finding.script


def test_an_adapter_with_a_name_is_imported(monkeypatch):
    module = types.ModuleType("my_adapters")
    module.adapter = ADAPTER
    monkeypatch.setitem(sys.modules, "my_adapters", module)
    finding = only(check_fn(unscaled, adapter=ADAPTER, adapter_name="my_adapters:adapter"))
    assert "from my_adapters import adapter\nthrough = adapter.call\n" in finding.script
    assert len(set(printed_by(finding.script))) == 2


def test_the_command_line_names_its_adapter(tmp_path, monkeypatch, capsys):
    name = f"adapted_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(
        "from softlookup.conformance import Adapter\n"
        "def wrong(q, k, v):\n    return (q @ k.mT).softmax(-1) @ v\n"
        "adapter = Adapter(call=lambda fn, query, key, value: fn(query, key, value), framework='torch')\n", "utf-8"
    )  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["check", f"{name}:wrong", "--adapter", f"{name}:adapter"]) == 1
    printed = capsys.readouterr().out
    (script,) = re.findall(r"^# ---- reproduces.*?\n(.*?)^# ----$", printed, re.S | re.M)
    assert f"from {name} import adapter\n" in script
    assert len(set(printed_by(script))) == 2


def test_a_script_that_cannot_run_says_so():
    class Held:
        def __call__(self, fn, query, key, value):
            return fn(query, key, value)

    report = check_fn(unscaled, adapter=Adapter(call=Held(), features=(), framework="torch"))
    script = only(report).script
    assert script.startswith(f"{DOES_NOT_RUN}: put the adapter's call in place of the dots")
    assert not runs(script)
    assert "reproduces it" not in str(report)
    assert "# ---- the call that shows it" in str(report)


def test_values_as_wide_as_the_function_takes_them():
    report = check_fn(merged, adapter=Adapter(layout="bte", heads=4, kv_heads=4))
    finding = only(report)
    assert finding.key.startswith("scale.")
    got, want = printed_by(finding.script)
    assert got != want
    assert "query heads 4, key/value heads 4, head dim 2" in finding.script
    assert "# gave " in finding.script
    subject = Subject(merged, find_contract("standard"), Adapter(), 5)
    subject.value_is_free = False
    case = Case(np.zeros((1, 1, 1, 2)), np.zeros((1, 1, 3, 2)), np.eye(3)[None, None])
    assert fitting(case, subject, None, Variant()).value.shape == (1, 1, 3, 2)


def test_cache_positions_and_base_are_told():
    contract = find_contract("standard").but(rope={"head_dim": 8, "rope_theta": 10000.0})

    def bare(fn, query, key, value):
        keep = torch.ones(query.shape[2], key.shape[2]).tril(key.shape[2] - query.shape[2]).bool()
        return (query @ key.mT / math.sqrt(8)).masked_fill(~keep, -torch.inf).softmax(-1) @ value

    report = check_fn(unscaled, contract, adapter=Adapter(call=bare, framework="torch", always_causal=True,
                                                          rotates=True, heads=2, kv_heads=2))  # fmt: skip
    finding = only(report)
    assert re.search(r"# positions: .*queries and new keys are at .*; rotary base 10000, 8 of 8 dims", finding.script)
    assert "cache (3)" in str(report)
    rotation = wanted_rotation({"head_dim": 8, "rope_theta": 500000.0})[0]
    assert rotary(rotation).startswith("rotary base 500000, 8 of 8 dims")


def test_coverage_is_one_line_and_verbose_lists_all():
    report = Report("m:f", "standard", probes=(
        ProbeResult("causal.square", "pass"), ProbeResult("causal.rect", "pass"), ProbeResult("heads.map", "pass"),
        ProbeResult("mask.square", "skipped", "no argument for mask"),
        ProbeResult("bias.mask", "skipped", "no argument for bias, mask"),
        ProbeResult("heads.grouped", "untestable", "RuntimeError: size of tensor a (4)"),
        ProbeResult("numeric.accumulate_float32", "untestable", "refused 375 keys"),
    ))  # fmt: skip
    text = str(report)
    assert "\n  tested: causal (2), heads (1); not asked: mask, bias\n" in text
    assert "CONFORMS  3 probes; vouches for what is listed as tested" in text
    assert "not a fault of yours: grouped heads" in text
    assert "calls of 375 keys are refused" in text
    assert "RuntimeError" not in text
    assert "skipped:" not in text
    assert "untestable: RuntimeError: size of tensor a (4): heads.grouped" in report.text(verbose=True)


def test_why_nothing_was_read_off_is_said():
    def causal(q, k, v):
        keep = torch.ones(q.shape[2], k.shape[2]).tril(k.shape[2] - q.shape[2]).bool()
        return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~keep, -torch.inf).softmax(-1) @ v

    report = check_fn(causal, adapter=Adapter(always_causal=True, framework="torch"))
    assert report.conforms
    assert "operator  scale and sums not read: always causal" in str(report)


def test_the_header_agrees_with_the_finding():
    class Tiled(Plain):
        def spread_key(self, k, h):
            return k[:, [i % k.shape[1] for i in range(h)]]

        spread_value = spread_key

    report = check_fn(Tiled())
    finding = only(report)
    assert finding.key == "gqa.tile"
    assert report.operator["scale"].startswith("0.2887 at D = 12")
    assert finding.rows[0] == "query head reads kv head: 0 1 0 1, want 0 0 1 1"
    assert "plain call, no mask" in str(report)


def masked(q, k, v, mask=None, *, kind):
    scores = q @ k.mT / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores * mask if kind == "multiply" else scores.masked_fill(~mask, 1e-9)
    return scores.softmax(-1) @ v


@pytest.mark.parametrize(
    ("kind", "code"), [("multiply", "mask.multiplied_before_softmax"), ("fill", "mask.finite_fill(value=0)")]
)
def test_large_scores_tell_a_product_from_a_fill(kind, code):
    def attend(q, k, v, mask=None):
        return masked(q, k, v, mask, kind=kind)

    finding = only(check_fn(attend, adapter=Adapter(framework="torch")))
    assert (finding.code, finding.also) == (code, ())
    assert 'True = attend; if True means padding, declare "bool_mask": "true_drops"' in finding.assumed


def test_where_large_scores_do_not_overflow_both_names_stay():
    def wide(q, k, v, mask=None):
        return masked(q.double(), k.double(), v.double(), mask, kind="multiply").float()

    report = check_fn(wide, adapter=Adapter(framework="torch"))
    finding = only(report)
    assert {finding.key, *(code.split("(")[0] for code in finding.also)} == {
        "mask.multiplied_before_softmax", "mask.finite_fill",
    }  # fmt: skip
    assert "LEAK  mask: hidden scores become 0, not -inf\n  one of these, which no call tells apart:" in str(report)


def test_an_always_causal_window_is_not_called_symmetric():
    def local(q, k, v, window=None):
        ahead = torch.arange(k.shape[2]) - torch.arange(k.shape[2] - q.shape[2], k.shape[2])[:, None]
        keep = (ahead <= 0) & (-ahead <= (1000 if window is None else window))
        return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~keep, -torch.inf).softmax(-1) @ v

    finding = only(check_fn(local, adapter=Adapter(always_causal=True, framework="torch")))
    assert (finding.code, finding.also) == ("window.size=W+1", ())
    assert "counts the query itself" in finding.assumed


def test_several_codes_share_a_headline():
    finding = Finding("window.size=W+1", "leak", "x", "1", "2", also=("window.symmetric(size=W+1)",))
    text = str(Report("m:f", "standard", (finding,)))
    assert "LEAK  window: several mistakes fit\n  one of these, which no call tells apart:\n    window.size=W+1" in text
    same = Finding("causal.triangle=wrong", "leak", "x", "1", "2", also=("causal.triangle=wrong(strict)",))
    assert "LEAK  causal.triangle\n" in str(Report("m:f", "standard", (same,)))
